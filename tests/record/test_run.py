"""What a plan says beside its figures, where it holds several networks: each by name, the platform once."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from floorflow.backends.backend import Source
from floorflow.dataflow.measured import Measurements
from floorflow.facts.schedule import ScheduleEntry, ScheduleStep
from floorflow.record.part import Part, PhaseRun, alone
from floorflow.record.phase import phase
from floorflow.record.run import _calibration, _warnings, record_runs
from floorflow.request import Request
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.given_pblocks import read_previous
from floorflow.search.candidate.preparing import read
from tests.plans import TFC


@pytest.fixture(scope="module")
def runs(tfc_on_pynq: SearchResult) -> list[PhaseRun]:
    """Return two networks, each in a phase of its own."""
    context = tfc_on_pynq.context
    fpgas = tuple(replace(f, board=f.board.model_copy(update={"unstated": ("shell",)})) for f in context.platform.fpgas)
    context = replace(context, platform=replace(context.platform, fpgas=fpgas))
    found = replace(tfc_on_pynq, repair="fewer pblocks")
    names = ("left", "right")
    parts = [Part(name, context, found, prefix=f"{name}/", measured=["Thresholding_rtl_0"]) for name in names]
    return [replace(alone(part), name=name) for part, name in zip(parts, ("p0", "p1"), strict=True)]


def named(name: str) -> Source:
    """Return the source of a network that is called so."""
    source = read(Request(TFC, "pynq-z1"))
    return replace(source, network=replace(source.network, name=name))  # type: ignore[type-var]


def test_every_network_has_its_model_its_trace_and_its_place_in_the_summary(runs: list[PhaseRun]) -> None:
    steps = [ScheduleStep(phase=run.name, load_us=1.0, run_us=2.0) for run in runs]
    schedule = ScheduleEntry(kind="reconfigure", batch=1, period_us=6.0, steps=steps)
    plan = record_runs([named("left"), named("right")], runs, schedule)
    assert [row.path for row in plan.inputs] == plan.options.models == [TFC.name, TFC.name]
    assert [row.network for row in plan.summary.networks] == [n.name for n in plan.networks] == ["left", "right"]
    assert [{row.phase for row in network.trace} for network in plan.networks] == [{"p0"}, {"p1"}]
    assert plan.schedule == schedule


def test_the_plan_to_stay_near_is_an_input_with_its_digest(runs: list[PhaseRun], tmp_path: Path) -> None:
    run = runs[0]
    earlier = tmp_path / "plan.json"
    earlier.write_text(record_runs([named("left")], [run], None).to_json(), encoding="utf-8")
    context = run.context
    near = replace(context, previous=read_previous(tmp_path, context.platform))
    parts = [replace(part, context=near) for part in run.parts]
    plan = record_runs([named("left")], [replace(run, parts=parts)], None)
    assert [row.path for row in plan.inputs] == [TFC.name, "plan.json"]
    assert plan.inputs[1].sha256 == sha256(earlier.read_bytes()).hexdigest()


def test_several_phases_need_a_schedule(runs: list[PhaseRun]) -> None:
    with pytest.raises(ValueError, match="2 phases without a schedule"):
        record_runs([named("left"), named("right")], runs, None)


def test_measured_engines_go_by_their_ids(runs: list[PhaseRun]) -> None:
    assert _calibration(Measurements(), runs).measured == ["left/Thresholding_rtl_0", "right/Thresholding_rtl_0"]


def test_warnings_name_network_and_phase_and_doubts_of_a_board_stand_once(runs: list[PhaseRun]) -> None:
    told = list(_warnings(runs, [phase(run) for run in runs]))
    assert sum("says nothing of shell" in line for line in told) == 1
    assert [line for line in told if "fewer pblocks" in line] == [
        "left, phase p0: to place the design: fewer pblocks",
        "right, phase p1: to place the design: fewer pblocks",
    ]


def test_warnings_of_a_plan_with_one_network_name_none(runs: list[PhaseRun]) -> None:
    told = list(_warnings(runs[:1], [phase(runs[0])]))
    assert "to place the design: fewer pblocks" in told
