"""The Plan of a network in phases that one device runs one after another: names, buffers and the schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from floorflow.backends.backend import Source
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.facts import Plan
from floorflow.facts.region import ReconfigurableEntry, RegionEntry
from floorflow.facts.schedule import ScheduleEntry, ScheduleStep
from floorflow.hardware import Fpga
from floorflow.placement.region import ChosenRegion, RegionChoice, RegionProblem
from floorflow.record.part import MAIN, Part, PhaseRun, alone
from floorflow.record.run import record_runs
from floorflow.request import Objective
from floorflow.resources import Resources
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.many.in_regions import InRegions
from floorflow.search.many.phases import InPhases, PlannedPhase
from floorflow.search.many.regions import load_us
from floorflow.segments.in_time import MEMORY_PREFIX
from floorflow.several import plain_name

REGION_CELL = "top_i/{region}"
"""What a region's cell is called in the design that stays, which the user makes."""


def record_in_time(
    source: Source, found: InPhases, objective: Objective, frames: int, measured: Measurements = NO_MEASUREMENTS
) -> Plan:
    """Return the Plan of partitions in time; ``frames`` are those of a batch."""
    runs = _runs(source, found.whole, found.phases, measured)
    schedule = _one_after_another(found, runs, objective, frames)
    return record_runs([source], runs, schedule, (), measured, whole=found.whole)


def record_in_regions(
    source: Source, found: InRegions, objective: Objective, frames: int, measured: Measurements = NO_MEASUREMENTS
) -> Plan:
    """Return the Plan of parts that are swapped by partial reconfiguration."""
    runs = _runs(source, found.whole, found.phases, measured)
    schedule = _in_turns(found, runs, objective, frames)
    sized, regions = found.sized, None
    if sized is not None:
        runs = _loaded(runs, [sized.names[step.region] for step in found.steps])
        fpga, cells = found.whole.platform.fpgas[0], {name: REGION_CELL.format(region=name) for name in sized.names}
        needs = {need.name: need.resources for need in sized.problem.needs}
        regions = reconfigurable_entry(sized.choice, sized.problem, fpga, cells, needs)
    return record_runs([source], runs, schedule, (), measured, whole=found.whole, regions=regions)


def _loaded(runs: Sequence[PhaseRun], regions: Sequence[str]) -> list[PhaseRun]:
    """Return the phases with their regions, and after which phase each is loaded."""
    last: dict[str, str] = {}
    loaded = []
    for run, region in zip(runs, regions, strict=True):
        loaded.append(replace(run, region=region, loads_after=last.get(region)))
        last[region] = run.name
    return loaded


def _runs(
    source: Source, whole: PlanningContext, phases: Sequence[PlannedPhase], measured: Measurements
) -> list[PhaseRun]:
    names, several = _names(whole, phases), len(phases) > 1
    return [
        _run(source, phase, f"p{number}" if several else MAIN, names, measured) for number, phase in enumerate(phases)
    ]


def _names(whole: PlanningContext, phases: Sequence[PlannedPhase]) -> dict[str, str]:
    """Return what the plan calls engines and buffers, by the names in the whole network before kinds were chosen.

    The back end numbers the engines of all phases together; a buffer is named after the port that fills it.
    """
    options = {name: option for phase in phases for name, option in phase.result.candidate.folding.options.items()}
    finished = whole.backend.finished(FoldedDataflow(whole.dataflow, options)).dataflow
    names = renamings(whole.dataflow, finished)
    for number, stream in enumerate(finished.streams):
        names[f"{MEMORY_PREFIX}s{number}"] = f"{MEMORY_PREFIX}{stream.source}.{stream.source_port}"
    return names


def _run(source: Source, phase: PlannedPhase, name: str, names: dict[str, str], measured: Measurements) -> PhaseRun:
    candidate = phase.result.candidate
    own = renamings(phase.context.dataflow, candidate.folded.dataflow)
    ends = {end for s in candidate.folded.dataflow.streams for end in (s.source, s.target) if end in names}
    renamed = {new: names[old] for old, new in own.items()} | {
        end: names[end] for end in ends if end.startswith(MEMORY_PREFIX)
    }
    changed = {old: new for old, new in renamed.items() if old != new}
    known = [own[engine] for engine in measured.among(candidate.folding.options)]
    part = Part(plain_name(source.network.name), phase.context, phase.result, measured=known, renamed=changed)
    return alone(part, name)


def _one_after_another(found: InPhases, runs: Sequence[PhaseRun], objective: Objective, frames: int) -> ScheduleEntry:
    clock_mhz, several = found.whole.platform.clock_mhz, len(runs) > 1
    steps = [
        ScheduleStep(
            phase=run.name,
            load_us=found.reconfiguration_us if number else 0.0,
            run_us=frames * phase.interval_cycles / clock_mhz,
        )
        for number, (run, phase) in enumerate(zip(runs, found.phases, strict=True))
    ]
    period_us = sum(step.load_us + step.run_us for step in steps)
    reload_us = found.reconfiguration_us if several else 0.0
    return _schedule(found, steps, objective, frames, period_us=period_us, reload_us=reload_us)


def _in_turns(found: InRegions, runs: Sequence[PhaseRun], objective: Objective, frames: int) -> ScheduleEntry:
    steps = [
        ScheduleStep(
            phase=run.name,
            load_us=step.load_end_us - step.load_start_us,
            run_us=step.run_end_us - step.run_start_us,
            load_start_us=step.load_start_us,
            run_start_us=step.run_start_us,
        )
        for run, step in zip(runs, found.steps, strict=True)
    ]
    period_us = max(step.run_end_us for step in found.steps)
    return _schedule(found, steps, objective, frames, period_us=period_us, reload_us=0.0)


def _schedule(
    found: InPhases | InRegions,
    steps: Sequence[ScheduleStep],
    objective: Objective,
    frames: int,
    *,
    period_us: float,
    reload_us: float,
) -> ScheduleEntry:
    entry = {
        "kind": "reconfigure",
        "objective": objective,
        "batch": frames,
        "period_us": period_us,
        "reload_us": reload_us,
        "memory_gbps": found.memory.gbps,
        "alone_us": found.alone_us if isfinite(found.alone_us) else None,
        "stats": found.stats,
        "steps": steps,
    }
    return ScheduleEntry.model_validate(entry)


def reconfigurable_entry(
    choice: RegionChoice, problem: RegionProblem, fpga: Fpga, cells: Mapping[str, str], needs: Mapping[str, Resources]
) -> ReconfigurableEntry:
    """Return the regions of an FPGA as the plan holds them.

    By their names ``cells`` are their cells in the design, and ``needs`` what the planned phases in them turned out to
    need at most: no more than they were chosen for.

    Raises InputError if the board's file does not say at what rate a part of the device is loaded.
    """
    return ReconfigurableEntry.of(
        choice,
        regions=[_region(region, fpga, cells[region.name], needs[region.name]) for region in choice.regions],
        static=problem.static,
        fill=problem.fill,
    )


def _region(region: ChosenRegion, fpga: Fpga, cell: str, need: Resources) -> RegionEntry:
    (slot,) = (slot for slot in fpga.slots if slot.region.contains(region.rect))
    return RegionEntry.of(
        region,
        fpga=fpga.name,
        slot=slot.name,
        cell=cell,
        rectangle=region.rect,
        need=need,
        bitstream_bytes=region.bytes,
        load_us=load_us(fpga.board, region.bytes),
        snapping_mode="ROUTING" if region.snapping_mode == "ROUTING" else "ON",
    )
