"""What is told of a plan of several networks and phases: every row, line and figure says which it is of."""

from __future__ import annotations

import pytest

import floorflow as ff
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
    before = mission.engines[0]
    rows = with_attributes(mission, cycles=7, LUT=8, folding_LUT=9).engines
    assert len({tuple(row) for row in rows}) == 1
    assert {name: rows[0][name] for name in before} == before
    added = {name: rows[0][name] for name in rows[0] if name not in before}
    assert added == {"folding_cycles": 7, "folding_folding_LUT": 8, "folding_LUT": 9}


def test_slots_say_their_slr() -> None:
    assert [slot["slr"] for slot in ff.platform("u250").slots] == ["SLR0", "SLR1", "SLR2", "SLR3"]
