"""What is told of a plan of several networks and phases: every row, line and figure says which it is of."""

import pytest

import floorflow as ff
from floorflow.api.pictures import pictures_of
from floorflow.facts import figures
from tests.plans import ROOT
from tests.verify.two_by_two import write_two_by_two


@pytest.fixture(scope="module")
def mission(tmp_path_factory: pytest.TempPathFactory) -> ff.Plan:
    return ff.load(write_two_by_two(tmp_path_factory.mktemp("several") / "out"))


def with_attributes(plan: ff.Plan, **attributes: int) -> ff.Plan:
    """Let the first engine's folding have these attributes, too."""
    data = plan.plan.model_dump(by_alias=True)
    engines = data["phases"][0]["networks"][0]["folding"]["engines"]
    next(iter(engines.values()))["attributes"] |= attributes
    return ff.Plan(type(plan.plan).model_validate(data), plan.files, plan._platform)


def test_rows_name_network_and_phase(mission: ff.Plan) -> None:
    for rows in (mission.engines, mission.channels, mission.modules):
        assert {row["network"] for row in rows} == {"camera", "radar"}
        assert {row["phase"] for row in rows} == {"p0", "p1"}
    assert {row["module"]: row["network"] for row in mission.modules} == {
        "front": "camera",
        "track": "radar",
        "back": "camera",
        "fuse": "radar",
    }
    assert all(row["source"].startswith(f"{row['network']}/") for row in mission.channels)


def test_an_attribute_named_as_a_column_does_not_take_its_place(mission: ff.Plan) -> None:
    rows = with_attributes(mission, cycles=7, LUT=8, folding_LUT=9).engines
    assert len({tuple(row) for row in rows}) == 1
    before, after = next(pair for pair in zip(mission.engines, rows, strict=True) if pair[1]["folding_LUT"] == 9)
    assert {name: after[name] for name in before} == before
    added = {name: after[name] for name in after if name not in before}
    assert added == {"folding_cycles": 7, "folding_folding_LUT": 8, "folding_LUT": 9}


def test_slots_say_their_slr() -> None:
    assert [slot["slr"] for slot in ff.platform("u250").slots] == ["SLR0", "SLR1", "SLR2", "SLR3"]


def test_the_rate_over_the_schedule_is_told_apart_from_that_while_a_phase_runs(mission: ff.Plan) -> None:
    lines = figures(mission.plan)
    assert (
        "radar on alveo-u250: 1,977 frames/s over the schedule (bottleneck radar/MVAU_hls_0 (op) in phase p0)" in lines
    )
    assert "  schedule  batch 1,000 frames, period 505.760 ms, loading takes 98.9% of the time" in lines
    running = (
        "    radar while it runs: 694,444 frames/s (interval 288 cycles at 200 MHz, bottleneck radar/MVAU_hls_0 (op))"
    )
    assert lines[lines.index("  phase p0: camera, radar") + 2] == running


def test_the_summary_tells_both_rates_and_where_the_bottleneck_is(mission: ff.Plan) -> None:
    camera, radar = mission.summary["networks"]
    assert (camera["bottleneck_phase"], radar["bottleneck_phase"]) == ("p0", "p0")
    assert [(entry["phase"], entry["interval_cycles"]) for entry in camera["phases"]] == [("p0", 864), ("p1", 72)]
    assert radar["phases"][1]["fps"] == pytest.approx(200e6 / 288)
    schedule = mission.summary["schedule"]
    assert radar["fps"] == pytest.approx(schedule["batch"] * 1e6 / schedule["period_us"])
    assert schedule["loading_share"] == pytest.approx(500_000 / 505_760)


def test_pictures_of_networks_and_phases_have_the_documented_names(mission: ff.Plan) -> None:
    drawn = pictures_of(mission.plan.model_dump(by_alias=True), mission._platform)
    assert set(drawn) == {
        *("search_camera", "search_radar", "timeline"),
        *("folding_camera_p0", "folding_radar_p0", "folding_radar_p1"),  # the camera's second phase is one engine
        *("partition_p0", "floorplan_p0", "floorplan_p1"),  # the second phase lies in one SLR
        *(f"{name}_fpga0_{phase}" for name in ("floorplan", "routing") for phase in ("p0", "p1")),
    }
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in ("search_camera", "folding_camera_p0", "floorplan_p0", "timeline"))
