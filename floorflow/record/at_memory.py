"""The Plan of networks that share the external memory: their engines as any others, and the schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from floorflow.backends.backend import Source
from floorflow.bandwidth.slots import BURST_BEATS, SlotEntry
from floorflow.facts import (
    JointFrontEntry,
    MemoryScheduleEntry,
    Plan,
    SharingNetwork,
    SubgraphEntry,
    TransferEntry,
)
from floorflow.facts.values import engine_id
from floorflow.record.part import Part, alone
from floorflow.record.run import record_runs
from floorflow.record.several import record_several
from floorflow.record.values import statistics
from floorflow.search.many.at_memory import AtMemory
from floorflow.search.many.sharing_memory import MemoryChoice


def record_at_memory(sources: Sequence[Source], found: AtMemory) -> Plan:
    """Return the Plan of engines that were chosen and placed."""
    placed, choice = found.placed, found.choice
    networks = placed.networks.priced
    engines = {name: one.dataflow.engines[0].name for name, one in zip(choice.names, networks, strict=True)}
    several = len(networks) > 1
    shared = memory_schedule(choice, {name: engine_id(name, own, several=several) for name, own in engines.items()})
    told = [*found.tried, *_starved(choice)]
    if several:
        return record_several(sources, placed, told, shared)
    cycles = placed.result.candidate.interval_cycles
    own = replace(placed.result, ended_by=placed.ended_by, bound_cycles=cycles, joint_bound_cycles=None)
    part = Part(choice.names[0], placed.context, own)
    return record_runs(sources, [alone(part)], None, told, shared=shared)


def _starved(choice: MemoryChoice) -> list[str]:
    """Name the networks that miss their least rates."""
    told = [
        f"{choice.names[n]} ({choice.frames_per_s[n]:.4g} of at least {choice.wishes[n].least_fps:.4g} frames/s)"
        for n in choice.starved
    ]
    return [f"starved, as not all were found to reach their least rates together: {', '.join(told)}"] if told else []


def memory_schedule(choice: MemoryChoice, engines: Mapping[str, str]) -> MemoryScheduleEntry:
    """Return the schedule of a choice; ``engines``: the id of each network's engine in the plan."""
    asked = choice.known.asked
    return MemoryScheduleEntry(
        memory_gbs=asked.memory_gbs,
        bandwidth_gbs=asked.bandwidth_gbs,
        fairness=asked.fairness,
        two_sided=asked.two_sided,
        burst_beats=BURST_BEATS,
        slots_total=choice.table.slots_total,
        period_us=choice.table.period_us,
        error=choice.error,
        error_bound=min(choice.bound, choice.error),
        limits_share=choice.chosen.limits_share,
        choice=statistics(choice.chosen.joint.stats),
        schedule=statistics(choice.period.answer.stats),
        networks=[_network(choice, number, engines[name]) for number, name in enumerate(choice.names)],
        transfers=list(_transfers(choice)),
        front=[
            JointFrontEntry(
                share=point.share,
                fps=dict(zip(choice.names, point.frames_per_s, strict=True)),
                stats=statistics(point.stats),
            )
            for point in choice.front
        ],
    )


def _network(choice: MemoryChoice, number: int, engine: str) -> SharingNetwork:
    name, wish, scheduled = choice.names[number], choice.wishes[number], choice.period.problem.networks[number]
    return SharingNetwork(
        network=name,
        engine=engine,
        repetitions=scheduled.repetitions,
        first=scheduled.first,
        asked_fps=choice.known.asked.fps.get(name),
        target_fps=wish.target_fps,
        least_fps=wish.least_fps,
        must=name in choice.known.asked.least_fps,
        alone_fps=choice.known.alone_fps[number],
        fps=choice.frames_per_s[number],
        unaware_fps=choice.unaware_fps[number],
        latency_us=_latency_us(choice, number),
        starved=number in choice.starved,
        subgraphs=[
            SubgraphEntry(name=each.name, latency_us=each.latency_us, traffic_bytes=each.traffic_bytes)
            for each in scheduled.subgraphs
        ],
    )


def _latency_us(choice: MemoryChoice, number: int) -> float:
    """Return the longest time from the start of a frame's first subgraph to the end of its last, in later periods."""
    network, period_us = choice.period.problem.networks[number], choice.table.period_us
    own = [entry for entry in choice.table.entries if entry.network == number]
    starts = {entry.run: entry.start_us for entry in reversed(own)}
    ends = {entry.run: entry.end_us for entry in own}
    count, times = len(network.subgraphs), []
    for first in range(-network.first % count, network.jobs, count):
        periods, last = divmod(first + count - 1, network.jobs)
        times.append(ends[last] + periods * period_us - starts[first])
    return max(times)


def _transfers(choice: MemoryChoice) -> Iterator[TransferEntry]:
    """Yield the table's entries, network by network in the order of their time."""
    problem = choice.period.problem
    for entry in choice.table.entries:
        network = problem.networks[entry.network]
        yield TransferEntry(
            network=network.name,
            run=entry.run,
            subgraph=network.in_order[entry.run % len(network.in_order)].name,
            start_us=entry.start_us,
            end_us=entry.end_us,
            traffic_bytes=entry.traffic_bytes,
            slots=entry.slots,
            speed=_speed(entry, float(problem.demands[entry.network][entry.run])),
        )


def _speed(entry: SlotEntry, demand: float) -> float:
    """Return how fast the engine works, 1 at full speed: its bytes over what it would move in the time."""
    return entry.traffic_bytes / ((entry.end_us - entry.start_us) * demand)
