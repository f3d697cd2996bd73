"""What differs between two plans: quantities, both ways, and whether what is required holds."""

import json
import re
from itertools import combinations, islice
from pathlib import Path

import pytest

import floorflow as ff
from floorflow.facts import read_plan
from floorflow.facts.text import WIDTH
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.plans import PLANS


@pytest.fixture
def zynq(planned: Planned) -> Path:
    return planned(PLANS["TFC on a Zynq"])


@pytest.fixture
def kintex(planned: Planned) -> Path:
    return planned(PLANS["TFC on a Kintex"])


def require_mirror(a: Path, b: Path) -> None:
    there, back = ff.diff(a, b), ff.diff(b, a)
    assert {row.name: (row.a, row.b) for row in there.rows} == {row.name: (row.b, row.a) for row in back.rows}
    assert [row.name for row in there.rows] == [row.name for row in back.rows]
    assert [row.name for row in there.equal] == [row.name for row in back.equal]
    assert all(
        row.change in (None, -held.change) for row, held in zip(there.rows, back.rows, strict=True) if held.change
    )


def test_a_plan_does_not_differ_from_itself(zynq: Path) -> None:
    found = ff.diff(zynq, zynq / "plan.json")
    assert found.rows == ()
    assert "The plans are equal." in found.text
    assert len(found.equal) == len(found.quantities) > 50


def test_the_other_way_round_is_the_mirror(zynq: Path, kintex: Path) -> None:
    require_mirror(zynq, kintex)


@pytest.mark.slow
def test_twenty_pairs_are_mirrors(planned: Planned, branches_on_two_u250: Path) -> None:
    folders = [branches_on_two_u250, *map(planned, islice(PLANS.values(), 6))]
    pairs = list(combinations(folders, 2))
    assert len(pairs) >= 20
    for a, b in pairs:
        require_mirror(a, b)
        assert "options and inputs" in ff.diff(a, b).text


def test_no_line_is_wider_than_120_characters_but_for_a_name(zynq: Path, branches_on_two_u250: Path) -> None:
    lines = ff.diff(zynq, branches_on_two_u250).text.splitlines()
    wide = [line for line in lines if len(line) > WIDTH]
    assert all(line.startswith(("A  ", "B  ", "floorplans: ")) or " " not in line.strip() for line in wide)
    assert any(line.startswith("  A       ") for line in lines)


def test_figures_are_those_of_plan_json(zynq: Path, kintex: Path) -> None:
    held = json.loads((kintex / "plan.json").read_text())
    rows = ff.diff(zynq, kintex).quantities
    summary, phase = held["summary"], held["phases"][0]
    network = summary["networks"][0]
    for name in ("fps", "latency_us", "interval_cycles", "bound_cycles", "joint_bound_cycles"):
        assert rows[name] == network[name]
    assert rows["wire_length"] == sum(entry["hpwl"] for entry in phase["floorplan"].values())
    full, slots = summary["fullness"], held["platform"]["fpgas"][0]["slots"]
    assert rows["fullest_share"] == phase["partition"]["utilisation"][full["slot"]][full["resource"]]
    for name in ("LUT", "FF", "BRAM18", "URAM", "DSP"):
        used = {s["name"]: phase["partition"]["utilisation"][s["name"]][name] * s["available"][name] for s in slots}
        assert rows[name] == round(sum(used.values()))
        assert all(rows[f"{slot}.{name}"] == round(amount) for slot, amount in used.items())


def test_what_an_engine_is_and_where_it_lies_stands_beside_its_layer(zynq: Path) -> None:
    plan = ff.load(zynq)
    content = plan.plan.model_dump(by_alias=True)
    phase = content["phases"][0]
    engine, folded = next((n, e) for n, e in phase["networks"][0]["folding"]["engines"].items() if "MVAU" in n)
    module = next(module["name"] for module in phase["modules"] if engine in module["engines"])
    folded["cycles"] += 7
    folded["attributes"]["PE"] *= 2
    content["options"]["seed"] = 3
    content["warnings"].append("cannot be built yet: the moon is full")
    other = type(plan.plan).model_validate(content)
    moved = other.phases[0].partition.assignment | {module: "fpga1.SLR3"}
    phase_then = other.phases[0].model_copy(
        update={"partition": other.phases[0].partition.model_copy(update={"assignment": moved})}
    )
    found = ff.diff(plan, ff.Plan(other.model_copy(update={"phases": [phase_then]}), {}, plan._platform))
    rows = {row.name: row for row in found.rows}
    layer = plan.plan.layer_of(engine)
    assert layer
    assert rows[f"{engine}.cycles"].change == 7
    assert (rows[engine].a, rows[engine].b, rows[engine].layer) == ("fpga0.SLR0", "fpga1.SLR3", layer)
    assert rows["options.seed"].b == 3
    assert rows["unbuilt"].change == 1
    told = found.text
    assert "cannot be built yet, B alone: the moon is full" in told
    assert f"{engine} ({layer})" in told
    assert "PE +100.0%" in told


def test_engines_are_compared_by_their_layers_where_numbers_moved_on(zynq: Path, tmp_path: Path) -> None:
    """FINN counts engines of a kind: one that is built otherwise takes a number less for all behind it."""
    text = (zynq / "plan.json").read_text(encoding="utf-8")
    moved = {"MVAU_hls_0": "MVAU_rtl_0", **{f"MVAU_hls_{n}": f"MVAU_hls_{n - 1}" for n in (1, 2, 3)}}
    other = tmp_path / "plan.json"
    other.write_text(re.sub("MVAU_hls_[0-3]", lambda found: moved[found[0]], text), encoding="utf-8")
    found = ff.diff(zynq, other)
    folded = {row.name: (row.a, row.b) for row in found.rows if row.group == "folding"}
    assert folded == {f"Gemm_{n}/MVAU.engine": (f"MVAU_hls_{n}", moved[f"MVAU_hls_{n}"]) for n in range(4)}
    assert not [row for row in found.rows if row.group == "moved"]
    require_mirror(zynq, other)


def test_a_rate_that_is_not_known_meets_nothing(zynq: Path) -> None:
    plan = ff.load(zynq)
    content = plan.plan.model_dump(by_alias=True)
    estimates = content["phases"][0]["networks"][0]["estimates"]
    shallow = [{"channel": content["phases"][0]["channels"][0]["name"], "planned": 2, "needed": 9}]
    estimates["sustained_fps"] = None
    estimates["throughput"] |= {"interval_cycles": None, "deadlock": [], "shallow": shallow}
    unknown = ff.diff(plan, ff.Plan(type(plan.plan).model_validate(content), {}, plan._platform))
    assert unknown.unmet("fps>=0", "fps<1e12") == ["fps>=0: fps is not known", "fps<1e12: fps is not known"]


def test_requirements_decide_the_exit_code(zynq: Path, kintex: Path) -> None:
    fps = read_plan(kintex / "plan.json").summary.networks[0].fps
    wanted = ("--require", f"fps>={fps / 2}", "--require", "fullest_share <= 99%", "--require", f"fps=={fps!r}")
    done = floorflow("diff", zynq, kintex, *wanted)
    assert done.returncode == 0, done.stderr
    assert "all that is required holds" in done.stdout
    done = floorflow("diff", zynq, kintex, "--require", f"fps>={2 * fps}", "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["unmet"] == ff.diff(zynq, kintex).unmet(f"fps>={2 * fps}")
    assert "less (50.00%)" in told["unmet"][0]
    assert {"name", "group", "a", "b", "change", "layer"} == told["rows"][0].keys()
    done = floorflow("diff", zynq, kintex, "--require", f"fps<{fps!r}", "--markdown")
    assert done.returncode == 1
    assert "| the whole | A | B | change |" in done.stdout
    assert "required, does not hold: fps<" in done.stdout


@pytest.mark.parametrize(
    ("required", "message"),
    [
        ("speed>=3", "the plan has no speed"),
        ("fps>=fast", "expected a name"),
        ("fps=3", "expected a name"),
        ("fps>=inf", "expected a name"),
        ("interval_cycles<5%", "interval_cycles is no share"),
        ("platform==3", "platform is no number"),
    ],
)
def test_what_cannot_be_required_is_refused(required: str, message: str, zynq: Path) -> None:
    done = floorflow("diff", zynq, zynq, "--require", required)
    assert done.returncode == 2
    assert message in done.stderr
    assert "hint:" in done.stderr
    assert "it has" not in done.stderr or "interval_cycles" in done.stderr


def test_what_is_no_plan_is_refused(zynq: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    for other in (tmp_path, tmp_path / "plan.json", tmp_path / "none"):
        done = floorflow("diff", zynq, other)
        assert (done.returncode, done.stdout) == (2, "")
        assert str(other.name) in done.stderr


def test_floorplans_are_named_where_they_are(zynq: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn"
    (drawn / "plots").mkdir(parents=True)
    for name in ("plan.json", "plots/floorplan_fpga0.png", "plots/folding.png"):
        (drawn / name).write_bytes((zynq / "plan.json").read_bytes())
    assert f"floorplans: {drawn}/plots/floorplan_fpga0.png" in ff.diff(zynq, drawn).text
    assert ff.diff(drawn, zynq).pictures == (f"{drawn}/plots/floorplan_fpga0.png", "")
