"""The Plan of a network in phases that one device runs one after another: names, buffers and the schedule."""

from __future__ import annotations

from math import isfinite

from floorflow.backends.backend import Source
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.record.network import plain_name
from floorflow.record.part import MAIN, Part, PhaseRun, alone
from floorflow.record.run import record_runs
from floorflow.record.values import statistics
from floorflow.schema import Plan, ScheduleEntry, ScheduleStep
from floorflow.search.in_time import MEMORY_PREFIX
from floorflow.search.phases import InPhases, PlannedPhase


def record_in_time(
    source: Source, found: InPhases, objective: str, frames: int, measured: Measurements = NO_MEASUREMENTS
) -> Plan:
    """Return the Plan of partitions in time; ``frames`` are those of a batch."""
    names = _names(found)
    runs = [
        _run(source, phase, f"p{number}" if len(found.phases) > 1 else MAIN, names, measured)
        for number, phase in enumerate(found.phases)
    ]
    return record_runs([source], runs, _schedule(found, runs, objective, frames), (), measured)


def _names(found: InPhases) -> dict[str, str]:
    """Return what the plan calls engines and buffers, by the names in the whole network before kinds were chosen.

    The back end numbers the engines of all phases together; a buffer is named after the port that fills it.
    """
    options = {
        name: option for phase in found.phases for name, option in phase.result.candidate.folding.options.items()
    }
    whole = found.whole.dataflow
    finished = found.whole.backend.finished(FoldedDataflow(whole, options)).dataflow
    names = renamings(whole, finished)
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


def _schedule(found: InPhases, runs: list[PhaseRun], objective: str, frames: int) -> ScheduleEntry:
    clock_mhz, several = found.whole.platform.clock_mhz, len(runs) > 1
    steps = [
        ScheduleStep(
            phase=run.name,
            load_us=found.reconfiguration_us if number else 0.0,
            run_us=frames * phase.interval_cycles / clock_mhz,
        )
        for number, (run, phase) in enumerate(zip(runs, found.phases, strict=True))
    ]
    entry = {
        "kind": "reconfigure",
        "objective": objective,
        "batch": frames,
        "period_us": sum(step.load_us + step.run_us for step in steps),
        "reload_us": found.reconfiguration_us if several else 0.0,
        "memory_gbps": found.memory.gbps,
        "alone_us": found.alone_us if isfinite(found.alone_us) else None,
        "stats": statistics(found.stats),
        "steps": steps,
    }
    return ScheduleEntry.model_validate(entry)
