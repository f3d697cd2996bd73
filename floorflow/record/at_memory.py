"""The Plan of networks that share the external memory: their engines as any others, and the schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from floorflow.backends.backend import Source
from floorflow.bandwidth.slots import BURST_BEATS
from floorflow.facts import MemoryScheduleEntry, Plan, TransferEntry
from floorflow.facts.memory_schedule import JointFrontEntry, SharingNetwork
from floorflow.facts.values import engine_id
from floorflow.record.part import Part, alone
from floorflow.record.run import record_runs
from floorflow.record.several import record_several
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
    return MemoryScheduleEntry.of(
        asked,
        burst_beats=BURST_BEATS,
        slots_total=choice.table.slots_total,
        period_us=choice.table.period_us,
        error=choice.error,
        error_bound=min(choice.bound, choice.error),
        limits_share=choice.chosen.limits_share,
        choice=choice.chosen.joint.stats,
        schedule=choice.period.answer.stats,
        networks=[_network(choice, number, engines[name]) for number, name in enumerate(choice.names)],
        transfers=list(_transfers(choice)),
        front=[
            JointFrontEntry.of(point, fps=dict(zip(choice.names, point.frames_per_s, strict=True)))
            for point in choice.front
        ],
    )


def _network(choice: MemoryChoice, number: int, engine: str) -> SharingNetwork:
    name, wish, scheduled = choice.names[number], choice.wishes[number], choice.period.problem.networks[number]
    return SharingNetwork.of(
        scheduled,
        network=name,
        engine=engine,
        asked_fps=choice.known.asked.fps.get(name),
        target_fps=wish.target_fps,
        least_fps=wish.least_fps,
        must=name in choice.known.asked.least_fps,
        alone_fps=choice.known.alone_fps[number],
        fps=choice.frames_per_s[number],
        unaware_fps=choice.unaware_fps[number],
        latency_us=_latency_us(choice, number),
        starved=number in choice.starved,
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
        demand = float(problem.demands[entry.network][entry.run])
        yield TransferEntry.of(
            entry,
            network=network.name,
            subgraph=network.in_order[entry.run % len(network.in_order)].name,
            # At full speed 1: its bytes over what it would move in the time.
            speed=entry.traffic_bytes / ((entry.end_us - entry.start_us) * demand),
        )
