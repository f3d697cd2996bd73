"""A network in the form that plan.json holds: operations, engines, and how its folding was searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from floorflow.dataflow.model import Engine
from floorflow.facts import (
    EndedAtEntry,
    EngineEntry,
    EstimatesEntry,
    NetworkEntry,
    OperationEntry,
    RefusalEntry,
    SearchEntry,
    TraceEntry,
    WithoutBalanceEntry,
)
from floorflow.network import Network
from floorflow.record.part import Part
from floorflow.record.values import plain
from floorflow.request import Objective
from floorflow.search.candidate.context import RATE_TOLERANCE
from floorflow.search.candidate.findings import SearchResult, TraceRow


def network_entry(network: Network, parts: Sequence[tuple[str, Part, EstimatesEntry]]) -> NetworkEntry:
    """Return a network that runs in these phases, by name, with what is promised of it in each."""
    searched = [_search(part, estimates) for _, part, estimates in parts]
    return NetworkEntry(
        name=parts[0][1].network,
        operations=[
            OperationEntry(name=o.name, type=o.type, inputs=list(o.inputs), outputs=list(o.outputs), macs=o.macs)
            for o in network.operations
        ],
        engines=_engines([part for _, part, _ in parts]),
        search=max(searched, key=lambda entry: entry.interval_cycles),
        trace=[TraceEntry(phase=phase, **asdict(row)) for phase, part, _ in parts for row in part.result.trace],
    )


def _engines(parts: Sequence[Part]) -> list[EngineEntry]:
    """Return the engines of all phases, each once."""
    engines = {
        part.renamed.get(engine.name, engine.name): engine
        for part in parts
        for engine in part.candidate.folded.dataflow.engines
    }
    return [engine_entry(engine, name) for name, engine in engines.items()]


def engine_entry(engine: Engine, name: str = "") -> EngineEntry:
    """Return an engine by its own name, or as the plan calls it."""
    return EngineEntry(
        name=name or engine.name,
        kind=engine.kind,
        label=engine.label or engine.kind,
        role=engine.role,
        operation=engine.operation,
        attributes={name: plain(value) for name, value in sorted(engine.attributes.items())},
        weight_bits=engine.weight_bits,
        input_bits=engine.input_bits,
        output_bits=engine.output_bits,
    )


def _search(part: Part, estimates: EstimatesEntry) -> SearchEntry:
    result, interval = part.result, part.candidate.interval_cycles
    joint = _joint_bound_cycles(result, part.context.request.goal)
    bound = max(result.bound_cycles, joint or 0)
    if bound > interval:
        raise ValueError(f"an interval of {interval} cycles was found below its bound of {bound}")
    return SearchEntry(
        interval_cycles=interval,
        bound_cycles=result.bound_cycles,
        joint_bound_cycles=joint,
        gap=round((interval - result.bound_cycles) / interval, 6),
        ended_by=result.ended_by + _missed(part.context.request.fps, estimates),
        ended_at=None if result.ended_at is None else _ended_at(result.ended_at),
        without_balance=_without_balance(part),
    )


def _without_balance(part: Part) -> WithoutBalanceEntry | None:
    """Return what folding could do if rates were not balanced; None if they are not."""
    found, options = part.result.without_balance, part.candidate.folding.options
    if not part.context.balance.is_kept({name: option.cycles for name, option in options.items()}):
        raise ValueError(f"rates are not balanced to {part.context.balance.epsilon:g}")
    return None if found is None else WithoutBalanceEntry(**asdict(found))


def _joint_bound_cycles(result: SearchResult, goal: Objective) -> int | None:
    """Return the joint bound of a search for the shortest interval, None of any other or where it is not known.

    The folding bound is one too: the joint bound is never below it.
    """
    if goal != "throughput" or result.joint_bound_cycles is None:
        return None
    return max(result.joint_bound_cycles, result.bound_cycles)


def _ended_at(row: TraceRow) -> EndedAtEntry:
    refusals = [RefusalEntry(**asdict(refusal)) for refusal in row.refusals]
    return EndedAtEntry(interval_cycles=row.interval_cycles, stage=row.stage, refusals=refusals)


def _missed(fps: float | None, estimates: EstimatesEntry) -> str:
    """Say that a rate is met by the engines alone, where the planned FIFOs keep less, or less than all is known."""
    kept = estimates.sustained_fps
    if fps is None or (kept is not None and kept >= fps * (1 - RATE_TOLERANCE)):
        return ""
    if kept is not None:
        return f", by the engines; the planned FIFOs keep {kept:,.1f} frames/s"
    shallow = estimates.throughput is not None and estimates.throughput.shallow
    return ", by the engines; the planned FIFOs are too shallow, and what they keep is not known" if shallow else ""
