"""Few streams over links: where branches begin, and how full slots may be for it.

Stages end behind the engine that forks a stream, so that a fork lies with what feeds it. Where all that it feeds lies
in a later FPGA every branch would take a link of its own; with one of them it takes one. So for the partition of
several FPGAs each fork is a module of its own, which joins a neighbour afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import networkx as nx

from floorflow.dataflow.model import renamings
from floorflow.dataflow.modules import module_of, taken_out
from floorflow.errors import Refusal
from floorflow.folding.least_full import within
from floorflow.partition.infeasibility import STREAMS
from floorflow.resources import Resources
from floorflow.search.candidate.assignment import improved, merge_groups
from floorflow.search.candidate.candidate import Candidate, naming_of, realised
from floorflow.search.candidate.context import PlanningContext

FULLER = (Fraction(6, 10), Fraction(3, 4), Fraction(22, 25), Fraction(9, 10))
"""Shares of their limits up to which slots may be full for fewer streams over links, the last if need be."""
MOST_FORKS = 24
"""Forks that are modules of their own at most: a partition of hundreds of modules takes minutes, and finds less."""


def paid_on_links(candidate: Candidate) -> int:
    """Return what streams over links and their wires cost beside the crossing cost."""
    return candidate.problem.paid_on_links(candidate.partition.slot_of)


def too_many_link_streams(context: PlanningContext, candidate: Candidate) -> Refusal | None:
    """Say that a link would carry more streams in one direction than it may."""
    carried = candidate.problem.streams_over(candidate.partition.slot_of)
    links = [max(both) for both, e in zip(carried, candidate.problem.edges, strict=True) if e.crossing.kind == "link"]
    most, needed = context.link_streams, max(links, default=0)
    return Refusal("link streams", STREAMS, "", needed, most) if most is not None and needed > most else None


def with_few_link_streams(context: PlanningContext, candidate: Candidate) -> Candidate:
    """Return the cheapest assignment that is found, forks where they save streams over links.

    FPGAs first: whatever slots may hold tells where streams over links are fewest and narrowest. Each FPGA keeps what
    it has then, and its slots become no fuller than that takes.
    """
    if len(context.platform.fpgas) == 1:
        return improved(context, candidate)
    if context.narrowed is None or context.narrowed == context.allowed:
        return with_forks_anywhere(context, candidate)
    few = with_forks_anywhere(replace(context, narrowed=dict(context.allowed)), candidate)
    if paid_on_links(few) >= paid_on_links(candidate):
        return improved(context, candidate)
    tried = (improved(_on_its_fpgas(wider, few), few) for wider in _wider(context))
    kept = next((one for one in tried if one is not few), None)
    return kept or with_forks_anywhere(context, candidate)


def _wider(context: PlanningContext) -> Iterator[PlanningContext]:
    """Yield contexts in which slots may be ever fuller, from that which is given on."""
    limits: dict[str, Resources] | None = None
    for share in (Fraction(0), *FULLER):
        least = {slot: within(limit, share) for slot, limit in context.allowed.items()}
        wider = {slot: limit.most(context.limits[slot]) for slot, limit in least.items()}
        if wider != limits:
            yield replace(context, narrowed=wider)
        limits = wider


def _on_its_fpgas(context: PlanningContext, candidate: Candidate) -> PlanningContext:
    """Return the context in which each engine stays in the FPGA that it has."""
    fpga_of, homes = context.platform.fpga_of, dict(context.engine_limits.homes)
    earlier = {new: old for old, new in renamings(context.dataflow, candidate.folded.dataflow).items()}
    for module in candidate.modules:
        here = frozenset(slot.name for slot in fpga_of[candidate.slot_of[module.name]].slots)
        for engine in module.engines:
            homes[earlier[engine]] = homes.get(earlier[engine], here) & here
    return replace(context, engine_limits=replace(context.engine_limits, homes=homes))


def with_forks_anywhere(context: PlanningContext, candidate: Candidate) -> Candidate:
    """Assign modules and forks, each for itself, or the modules alone where some fork has no neighbour in its slot."""
    forks = nearest_to_links(candidate, tuple(_forks(candidate)))
    if not forks:
        return improved(context, candidate)
    naming, home = naming_of(context, candidate.folded), module_of(candidate.modules)
    modules = taken_out(candidate.modules, forks, naming)
    slot_of = {module.name: candidate.partition.slot_of[home[module.engines[0]]] for module in modules}
    answer = replace(candidate.partition, slot_of=slot_of)
    apart = improved(context, realised(context, candidate.folding, modules, candidate.channels, answer))
    return _joined(context, apart, forks) or improved(context, candidate)


def nearest_to_links(candidate: Candidate, forks: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the forks that lie nearest to streams over links, along the network, as many as are tried; else none.

    Where all that a fork feeds lies in its FPGA it saves nothing, but the partition has one module more for it.
    """
    problem, slot_of = candidate.problem, candidate.partition.slot_of
    order, home = {module.name: n for n, module in enumerate(candidate.modules)}, module_of(candidate.modules)
    passed = (s for s in problem.streams if problem.graph.links_between(*problem.ends(s, slot_of)))
    ends = {order[name] for s in passed for name in (s.source, s.target) if name is not None}
    away = {fork: min(abs(order[home[fork[0]]] - end) for end in ends) for fork in forks} if ends else {}
    nearest = sorted(away, key=away.__getitem__)[:MOST_FORKS]
    return tuple(fork for fork in forks if fork in nearest)


def _forks(candidate: Candidate) -> Iterator[tuple[str, ...]]:
    """Yield of each module the last engine that forks its one stream in, with what comes behind it there.

    Several streams leave these, and only the one in comes from the rest of the module.
    """
    pairs = [(c.stream.source, c.stream.target) for c in candidate.channels]
    graph = nx.DiGraph(pairs)
    for module in candidate.modules:
        inside = graph.subgraph(module.engines)
        for fork in reversed(module.engines):
            if fork not in inside or graph.out_degree(fork) < 2:
                continue
            group = {fork, *nx.descendants(inside, fork)}
            entered = [pair for pair in pairs if pair[1] in group and pair[0] not in group]
            left = [pair for pair in pairs if pair[0] in group and pair[1] not in group]
            if len(entered) == 1 and entered[0][0] in inside and entered[0][1] == fork and len(left) > 1:
                yield tuple(engine for engine in module.engines if engine in group)
                break


def _joined(context: PlanningContext, candidate: Candidate, forks: Sequence[Sequence[str]]) -> Candidate | None:
    """Join each fork with what feeds it, or with what it feeds, in its slot; None where one cannot be.

    All at once with the first that there is: each merger sizes all FIFOs anew. Where that is refused, one by one.
    """
    choices = [_near(candidate, group) for group in forks]
    if not all(choices):
        return None
    pairs = nx.Graph([(own, others[0]) for own, *others in choices])
    joined = merge_groups(context, candidate, sorted(map(sorted, nx.connected_components(pairs))))
    if isinstance(joined, Candidate):
        return joined
    for group in forks:
        own, *others = _near(candidate, group) or [""]
        tried = (merge_groups(context, candidate, [[own, other]]) for other in others)
        found = next((one for one in tried if isinstance(one, Candidate)), None)
        if found is None:
            return None
        candidate = found
    return candidate


def _near(candidate: Candidate, group: Sequence[str]) -> list[str]:
    """Return the module of a fork and, in its slot, that which feeds it and those that it feeds; none without these."""
    owner = module_of(candidate.modules)
    before = [c.stream.source for c in candidate.channels if c.stream.target == group[0]]
    behind = [c.stream.target for c in candidate.channels if c.stream.source in group]
    near = dict.fromkeys(owner[engine] for engine in (*before, *behind) if engine in owner and engine not in group)
    own = owner[group[0]]
    others = [other for other in near if other != own and candidate.slot_of[other] == candidate.slot_of[own]]
    return [own, *others] if others else []
