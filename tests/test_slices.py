"""Plans with streams beyond a reach that is made short: slices in the plan, in what FINN is told, and judged."""

import json
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from floorflow.facts import Plan, figures
from floorflow.facts.closing import closing
from floorflow.hardware import reach
from floorflow.verify.rules import routing
from floorflow.verify.rules import slices as judged
from tests.conftest import made_once
from tests.plans import TFC

CLOCK_MHZ = 300.0
SHORT_REACH = 8
"""Columns and rows, in the place of 200."""


def planned(out: Path, **options: Any) -> Path:
    chosen = {"fps": 20_000, "clock_mhz": CLOCK_MHZ, "effort": "fast", "plots": False} | options
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((reach, "REACH_TILES_MHZ"), (judged, "TILES_AND_MHZ"), (routing, "TILES_AND_MHZ")):
            patch.setattr(module, name, SHORT_REACH * CLOCK_MHZ)
        ff.plan(TFC, "alveo-u250", **chosen).save(out / "plan")
        assert not ff.check(out / "plan").violations
    return out / "plan"


def read(folder: Path) -> Plan:
    return Plan.model_validate_json((folder / "plan.json").read_text())


@pytest.fixture(scope="session")
def sliced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "sliced", planned)


def test_long_streams_have_slices_that_count_in_their_slots_and_lose_no_rate(sliced: Path) -> None:
    plan = read(sliced)
    phase, throughput = plan.phases[0], plan.phases[0].networks[0].estimates.throughput
    found = [channel for channel in phase.channels if channel.slices]
    assert len(found) > 1
    assert throughput is not None
    assert throughput.interval_cycles == throughput.full_rate_cycles
    spent = sum(entry.FF for channel in found for entry in channel.slice_resources.values())
    assert spent >= sum(2 * channel.slices * channel.width_bits * 0.9 for channel in found)
    (rows,) = [floorplan.longest for floorplan in phase.floorplan.values()]
    assert rows[0].unsliced_tiles > SHORT_REACH >= rows[0].way_tiles
    assert phase.slices_built
    assert not any("register slices are missing" in warning for warning in plan.warnings)


def test_finn_is_told_where_each_slice_lies_and_has_a_place_for_it(sliced: Path) -> None:
    plan = read(sliced)
    told = {
        s["name"]: s["slices"] for s in json.loads((sliced / "finn" / "floorflow_plan.json").read_text())["streams"]
    }
    slr = {slot.name: int(slot.slr[3:]) for slot in plan.platform.slots}
    assert told == {c.name: [[0, slr[slot]] for slot in c.slice_slots] for c in plan.phases[0].channels}
    places = json.loads((sliced / "finn" / "floorplan.json").read_text())
    fifos = sum(name.startswith("StreamingFIFO_rtl") for name in places)
    channels = plan.phases[0].channels
    assert fifos == len(channels) + sum(c.converter is not None for c in channels) + sum(c.slices for c in channels)


def test_a_slice_that_finn_is_not_told_of_is_found(
    sliced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (judged, routing):
        monkeypatch.setattr(module, "TILES_AND_MHZ", SHORT_REACH * CLOCK_MHZ)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in sliced.rglob("*"):
        target = copy / path.relative_to(sliced)
        target.mkdir(parents=True, exist_ok=True) if path.is_dir() else target.write_bytes(path.read_bytes())
    file = copy / "finn" / "floorflow_plan.json"
    content = json.loads(file.read_text())
    next(stream for stream in content["streams"] if stream["slices"])["slices"].pop()
    file.write_text(json.dumps(content))
    assert {violation.name for violation in ff.check(copy).violations} == {"finn-slices-differ"}


def test_slices_that_no_tool_builds_are_missing_and_their_streams_hard(tmp_path: Path) -> None:
    """With FINN's own costs nothing is known of FIFOs, and no step sets them."""
    plan = read(planned(tmp_path, costs="finn"))
    phase = plan.phases[0]
    assert not phase.slices_built
    assert any(channel.slices for channel in phase.channels)
    assert any(warning.startswith("register slices are missing: FINN") for warning in plan.warnings)
    (item,) = [item for item in closing(plan, phase) if item.what == "longest stream"]
    assert item.is_hard
    assert f"{plan.longest_streams(phase)[0].tiles:,.0f} columns and rows between registers" in item.found
    assert " (missing)" in item.found
    assert f"  hard      longest stream: {item.where}, {item.found}" in "\n".join(figures(plan))
    assert "which are missing" in (tmp_path / "plan" / "report.txt").read_text(encoding="utf-8")


def test_without_long_streams_there_are_none(tmp_path: Path) -> None:
    ff.plan(TFC, "alveo-u250", fps=20_000, effort="fast", plots=False).save(tmp_path / "plan")
    phase = read(tmp_path / "plan").phases[0]
    assert not any(channel.slices or channel.slice_resources for channel in phase.channels)
    (item,) = [item for item in closing(read(tmp_path / "plan"), phase) if item.what == "longest stream"]
    assert not item.is_hard
