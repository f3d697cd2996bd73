"""The Plan of several networks that share a platform: each network's part of the one design, and what it reaches.

Where they share the external memory their engines stand there as any others, beside the schedule.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from floorflow.backends.backend import Source
from floorflow.bandwidth.slots import BURST_BEATS
from floorflow.channels import Channel
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Module
from floorflow.facts import MemoryScheduleEntry, Plan, TransferEntry
from floorflow.facts.memory_schedule import JointFrontEntry, SharingNetwork
from floorflow.facts.targets import TargetEntry, TargetsEntry
from floorflow.facts.values import engine_id
from floorflow.folding import FoldingSolution
from floorflow.folding.least_full import fullness
from floorflow.folding.selection import Evaluator
from floorflow.record.part import MAIN, Part, PhaseRun, alone
from floorflow.record.run import record_runs
from floorflow.resources import total
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import Fullness, HostWeights, SearchResult
from floorflow.search.candidate.members import Member, Together
from floorflow.search.many.at_memory import AtMemory
from floorflow.search.many.several import SeveralFound, Target
from floorflow.search.many.sharing_memory import MemoryChoice
from floorflow.several import LEAST_SHARE_OF_TARGET
from floorflow.stats import SolveStats


def record_several(
    sources: Sequence[Source],
    found: SeveralFound,
    tried: Sequence[str] = (),
    shared: MemoryScheduleEntry | None = None,
) -> Plan:
    """Return the Plan of a finished search; ``tried`` says why fewer FPGAs would not do.

    ``shared``: the schedule of the memory where that decides on rates and holds what was asked for.
    """
    result, context = found.result, found.context
    together = _together(context)
    folded = together.apart(result.candidate.folding.options)
    parts = tuple(_part(found, place, own) for place, own in enumerate(folded))
    rates = {part.prefix: part.frames_per_s for part in parts}
    whole = Part("", context, result, rates=rates)
    candidate = result.candidate
    problem, slot_of = candidate.problem, candidate.partition.slot_of
    cost, full = problem.crossing_cost(slot_of), result.fullness.slots
    stats = problem.of_crossings(candidate.partition.stats, slot_of)
    run = PhaseRun(MAIN, parts, cost, stats, dict(result.placements), full, whole=whole)
    repaired = [f"to place the design: {result.repair}"] if result.repair else []
    told = [*tried, *_starved(found), *repaired]
    if shared is not None:
        return record_runs(sources, [run], None, told, shared=shared)
    return record_runs(sources, [run], None, [*told, *_not_charged(found)], targets=_targets(found))


def _together(context: PlanningContext) -> Together:
    if context.together is None:
        raise ValueError("a search of several networks has them together")
    return context.together


def _part(found: SeveralFound, place: int, folded: FoldedDataflow) -> Part:
    """Return what runs of a network: its own part of the design, under its own names and in its own cycles."""
    networks, together = found.networks, _together(found.context)
    member, target = together.members[place], networks.targets[place]
    own = replace(networks.own[place], max_hops=found.context.max_hops)
    request = networks.request.each[place]
    result = _result(found, place, own, folded)
    prefix = member.prefix
    return Part(target.network, replace(own, request=request), result, prefix=prefix)


def _result(found: SeveralFound, place: int, own: PlanningContext, folded: FoldedDataflow) -> SearchResult:
    """Return the search as a network sees it: the one design's part that is its own."""
    result, target = found.result, found.networks.targets[place]
    member = _together(found.context).members[place]
    folding = _folding(own, found, member, folded)
    share = float(fullness(folding.resources, total(cap_limits(own).values())))
    interval = folding.interval_cycles
    trace = tuple(row for tried in found.tried for row in tried.rows_of(place))
    return replace(
        result,
        candidate=_candidate(result.candidate, member, folding, folded),
        placements={},
        bound_cycles=_bound(target, interval),
        joint_bound_cycles=None,
        ended_by=found.ended_by,
        ended_at=None,
        trace=trace,
        whole_budget_bound=None,
        fullness=Fullness(SolveStats("not sought", "heuristic", share), result.fullness.slots),
        repair="",
        exempt={(member.bare(e), name): why for (e, name), why in result.exempt.items() if e.startswith(member.prefix)},
        host_weights=_host_weights(result.host_weights, member, interval),
        without_balance=None,
    )


def _bound(target: Target, interval: int) -> int:
    """Return the shortest interval that a network could have, as none is sought that is shorter than its target's."""
    least = max(target.alone, target.cycles) if target.is_asked else target.alone
    return min(interval, least)


def _folding(own: PlanningContext, found: SeveralFound, member: Member, folded: FoldedDataflow) -> FoldingSolution:
    """Return a network's folding as its own problem counts it."""
    problem = replace(own.unlimited, budget=found.context.problem.budget)
    named = dict(zip((e.name for e in member.dataflow.engines), folded.dataflow.engines, strict=True))
    options = {name: folded.options[engine.name] for name, engine in named.items()}
    rows = [group.rows.index(tuple(options[name] for name in group.engines)) for group in problem.groups]
    return Evaluator(problem).solution(rows, found.result.candidate.folding.stats.method, "heuristic")


def _candidate(whole: Candidate, member: Member, folding: FoldingSolution, folded: FoldedDataflow) -> Candidate:
    """Return a network's part of a candidate; a module that it shares holds here its own engines only."""
    modules = [Module(m.name, tuple(map(member.bare, m.engines))) for m in _own_modules(whole, member)]
    slots = {module.name: whole.slot_of[module.name] for module in modules}
    own = [channel for channel in whole.channels if channel.stream.source.startswith(member.prefix)]
    channels = tuple(_bare(channel, member) for channel in own)
    return replace(
        whole,
        folding=folding,
        folded=folded,
        modules=tuple(modules),
        channels=channels,
        slot_of=slots,
        joined=(),
        slices=whole.slices.renamed({one.name: bare.name for one, bare in zip(own, channels, strict=True)}),
    )


def _own_modules(whole: Candidate, member: Member) -> list[Module]:
    """Return the modules in which engines of a network lie, with those alone."""
    own = [
        Module(module.name, tuple(name for name in module.engines if name.startswith(member.prefix)))
        for module in whole.modules
    ]
    return [module for module in own if module.engines]


def _bare(channel: Channel, member: Member) -> Channel:
    source, target = member.bare(channel.stream.source), member.bare(channel.stream.target)
    return replace(channel, stream=replace(channel.stream, source=source, target=target))


def _host_weights(found: HostWeights | None, member: Member, interval: int) -> HostWeights | None:
    """Return what is known of engines that the host writes, in a network's own cycles; bounds are of all together."""
    if found is None:
        return None

    def own(cycles: int | None) -> int | None:
        if cycles is None or member.pace is None:
            return None if cycles is None else 0
        return member.pace.own_cycles(cycles)

    bound = own(found.bound_cycles)
    bound = None if bound is None else min(bound, interval)
    return HostWeights(0, bound, own(found.without_bound_cycles), own(found.without_cycles), found.sought)


def _targets(found: SeveralFound) -> TargetsEntry:
    pairs = list(zip(found.networks.targets, found.intervals, strict=True))
    return TargetsEntry.of(
        found,
        networks=[
            TargetEntry.of(
                target,
                fps=target.asked_fps,
                target_cycles=target.cycles,
                alone_cycles=min(target.alone, interval),
                share=float(target.share(interval)),
                starved=target.starves(interval),
            )
            for target, interval in pairs
        ],
    )


def _not_charged(found: SeveralFound) -> list[str]:
    """Say what several networks need and the infrastructure holds once: in a fixed place, or on several cards."""
    more = len(found.networks.targets) - 1
    held = [item.name for item in found.context.platform.infrastructure if "dma" in item.name.lower()]
    alone = len(found.context.platform.fpgas) == 1
    if not held or (alone and len({*held}) < len(held)):
        return []
    of = f"{more} more network{'s' * (more > 1)}"
    return [f"infrastructure holds the DMA engines of one network ({', '.join(held)}); those of {of} are not charged"]


def _starved(found: SeveralFound) -> list[str]:
    """Name the networks that get less than half of what was asked for."""
    pairs = zip(found.networks.targets, found.intervals, strict=True)
    names = [f"{t.network} ({float(t.share(cycles)):.0%})" for t, cycles in pairs if t.starves(cycles)]
    if not names:
        return []
    return [f"starved: less than {LEAST_SHARE_OF_TARGET:.0%} of the rate that was asked for: {', '.join(names)}"]


def record_at_memory(sources: Sequence[Source], found: AtMemory) -> Plan:
    """Return the Plan of engines that were chosen and placed."""
    placed, choice = found.placed, found.choice
    networks = placed.networks.priced
    engines = {name: one.dataflow.engines[0].name for name, one in zip(choice.names, networks, strict=True)}
    several = len(networks) > 1
    shared = memory_schedule(choice, {name: engine_id(name, own, several=several) for name, own in engines.items()})
    told = [*found.tried, *_starved_by_schedule(choice)]
    if several:
        return record_several(sources, placed, told, shared)
    cycles = placed.result.candidate.interval_cycles
    own = replace(placed.result, ended_by=placed.ended_by, bound_cycles=cycles, joint_bound_cycles=None)
    part = Part(choice.names[0], placed.context, own)
    return record_runs(sources, [alone(part)], None, told, shared=shared)


def _starved_by_schedule(choice: MemoryChoice) -> list[str]:
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
