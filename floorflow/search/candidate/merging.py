"""Merge modules of a candidate that stand in one slot; the assignment to slots stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import networkx as nx

from floorflow.channels import Channel
from floorflow.channels.cost_allocation import modules_between
from floorflow.dataflow.modules import Joined, Module, joins_without_cycle, merge, module_of
from floorflow.errors import Refusal
from floorflow.partition import (
    PartitionFailure,
    PartitionSolution,
)
from floorflow.resources import Resources, largest_share, total
from floorflow.search.candidate.candidate import Candidate, realised
from floorflow.search.candidate.context import PlanningContext


def by_slot(
    context: PlanningContext, candidate: Candidate, slots: Sequence[str], keep: int
) -> Candidate | PartitionFailure:
    """Merge neighbouring modules of ``slots`` until at most ``keep`` are left in each; the assignment stays.

    Where granularity is ``slot``, all of a slot become one, neighbours or not: they may feed each other in a ring then.
    """
    modules, slot_of = candidate.modules, dict(candidate.slot_of)
    if context.request.granularity == "slot":
        return merge_groups(context, candidate, [[m for m in slot_of if slot_of[m] == slot] for slot in slots])
    for slot in slots:
        while len(inside := {m.name for m in modules if slot_of[m.name] == slot}) > keep:
            pair = _smallest_pair(inside, modules, candidate, context.limits[slot])
            if pair is None:
                return PartitionFailure((Refusal("merge", place=slot),))
            modules = merge(modules, pair, candidate.folded.dataflow)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    return _remerged(context, candidate, modules, slot_of)


def merge_groups(
    context: PlanningContext, candidate: Candidate, groups: Collection[Collection[str]]
) -> Candidate | PartitionFailure:
    """Merge modules of one slot by groups of names; the assignment stays."""
    modules, slot_of = candidate.modules, dict(candidate.slot_of)
    for group in groups:
        if len(group) > 1:
            slot = slot_of[min(group)]
            modules = merge(modules, sorted(group), candidate.folded.dataflow)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    if crowded_rings(modules, slot_of, candidate.channels):
        return PartitionFailure((Refusal("merged cycle"),))
    return _remerged(context, candidate, modules, slot_of)


def join_slot(context: PlanningContext, candidate: Candidate, slot: str, why: str) -> Candidate:
    """Make all modules of a slot one, whose pblock is what the slot has free; it may feed itself over other slots."""
    inside = sorted(name for name, place in candidate.slot_of.items() if place == slot)
    modules = merge(candidate.modules, inside, candidate.folded.dataflow)
    slot_of = {m.name: candidate.slot_of.get(m.name, slot) for m in modules}
    engine = next(m.engines[0] for m in candidate.modules if m.name in inside)
    earlier = tuple(joined for joined in candidate.joined if joined.slot != slot)
    index = {s.name: i for i, s in enumerate(candidate.problem.slots)}
    answer = PartitionSolution({name: index[place] for name, place in slot_of.items()}, candidate.partition.stats)
    joined = (*earlier, Joined(module_of(modules)[engine], tuple(inside), slot, why))
    return realised(context, candidate.folding, modules, candidate.channels, answer, joined=joined)


def crowded_rings(
    modules: Sequence[Module], slot_of: Mapping[str, str], channels: Sequence[Channel]
) -> tuple[str, ...]:
    """Return the slots of modules that feed each other in a ring and are not alone there: only whole slots may."""
    held = Counter(slot_of.values())
    graph = _module_graph(modules, channels)
    graph.remove_nodes_from([name for name in list(graph) if held[slot_of.get(name, "")] == 1])
    rings = (ring for ring in nx.strongly_connected_components(graph) if len(ring) > 1)
    return tuple(sorted({slot_of[name] for ring in rings for name in ring}))


def merges_without_cycle(candidate: Candidate) -> Callable[[Collection[str]], bool]:
    """Return a test whether modules, by name, can become one: no path between two of them leads through another.

    They are of one network.
    """
    graph = _module_graph(candidate.modules, candidate.channels)
    after = {name: nx.descendants(graph, name) for name in graph}
    before = {name: nx.ancestors(graph, name) for name in graph}

    engine_of = {module.name: module.engines[0] for module in candidate.modules}
    networks = candidate.folded.dataflow.networks

    def may_merge(group: Collection[str]) -> bool:
        if len({next((n for n in networks if engine_of[name].startswith(f"{n}/")), "") for name in group}) > 1:
            return False
        between = set().union(*(after[name] for name in group)) & set().union(*(before[name] for name in group))
        return between <= set(group)

    return may_merge


def _module_graph(modules: Sequence[Module], channels: Sequence[Channel]) -> nx.DiGraph:
    """Return which modules, and ends at the host, feed which others."""
    graph = nx.DiGraph(pair for pair in modules_between(modules, channels).values() if pair[0] != pair[1])
    graph.add_nodes_from(module.name for module in modules)
    return graph


def _remerged(
    context: PlanningContext, candidate: Candidate, modules: Sequence[Module], slot_of: Mapping[str, str]
) -> Candidate | PartitionFailure:
    """Return the candidate with merged modules in the same slots."""
    index = {slot.name: i for i, slot in enumerate(candidate.problem.slots)}
    placed = {name: index[slot] for name, slot in slot_of.items()}
    stats = replace(
        candidate.partition.stats, method=f"{candidate.partition.stats.method.split(',')[0]}, modules merged"
    )
    merged = realised(context, candidate.folding, modules, candidate.channels, PartitionSolution(placed, stats))
    if not merged.problem.is_legal(placed):
        return PartitionFailure((Refusal("merged limit"),))
    return merged


def _smallest_pair(
    inside: Collection[str], modules: Sequence[Module], candidate: Candidate, limit: Resources
) -> tuple[str, str] | None:
    """Return the two neighbours of a slot whose union is smallest, wide streams first; None if all close a cycle."""
    ends = modules_between(modules, candidate.channels)
    graph = _module_graph(modules, candidate.channels)
    size = {
        m.name: total(candidate.folded.options[e].resources for e in m.engines) for m in modules if m.name in inside
    }
    pairs = sorted(
        (largest_share(size[a] + size[b], limit), -channel.width_bits, a, b)
        for channel in candidate.channels
        for a, b in [ends[channel.name]]
        if a != b and a in inside and b in inside
    )
    return next(((a, b) for *_, a, b in pairs if joins_without_cycle(graph, a, b)), None)
