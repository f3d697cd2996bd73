"""Few streams over links: where branches begin, and how full slots may be for it.

Stages end behind the engine that forks a stream, so that a fork lies with what feeds it. Where all that it feeds lies
in a later FPGA every branch would take a link of its own; with one of them it takes one. So for the partition of
several FPGAs each fork is a module of its own, which joins a neighbour afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import networkx as nx

from floorflow.dataflow.model import renamings
from floorflow.dataflow.modules import Module, merge, module_of, taken_out
from floorflow.errors import Refusal
from floorflow.folding.least_full import within
from floorflow.partition.bounds import card_cuts, whole_cards
from floorflow.partition.infeasibility import STREAMS
from floorflow.partition.problem import PartitionProblem, PartitionSolution
from floorflow.resources import Resources
from floorflow.search.candidate.assignment import assign, improved
from floorflow.search.candidate.candidate import Candidate, realised
from floorflow.search.candidate.context import PlanningContext

FULLER = (Fraction(6, 10), Fraction(3, 4), Fraction(22, 25), Fraction(9, 10))
"""Shares of their limits up to which slots may be full for fewer streams over links, the last if need be."""
MOST_CUTS = 8
"""Assignments to FPGAs that are tried at most, cheapest on links first: most that do not come apart fail in seconds."""
CUT_WORK = 3.0
"""CP-SAT's work units in which each is sought: those of 600 modules on four FPGAs take one."""


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

    FPGAs first: of what whole FPGAs may hold, streams over links are fewest and narrowest. Those assignments are tried
    one after the other until one comes apart into slots, which become no fuller than that takes.
    """
    if len(context.platform.fpgas) == 1:
        return improved(context, candidate)
    *_, widest = _wider(context)
    forks = tuple(_forks(candidate))
    apart = _taken_out(widest, candidate, forks)
    cards, card_of_slot = whole_cards(apart.problem)
    owner = module_of(apart.modules)
    for card_of in _assignments_to_cards(context, cards):
        if cards.paid_on_links(card_of) >= paid_on_links(candidate):
            break
        found = _in_slots(context, candidate, forks, {e: card_of[module] for e, module in owner.items()}, card_of_slot)
        if found is not None:
            return found
    return improved(context, candidate)


def _assignments_to_cards(context: PlanningContext, cards: PartitionProblem) -> Iterator[Mapping[str, int]]:
    """Yield the FPGAs of modules, cheapest on links first; where links are a ring only one that is cheap."""
    if cards.is_tree:
        yield from (cut.card_of for cut in islice(card_cuts(cards, context.request.seed, CUT_WORK), MOST_CUTS))
    elif isinstance(answer := context.solvers.partition(cards, None, True), PartitionSolution):  # noqa: FBT003
        yield answer.slot_of


def _taken_out(context: PlanningContext, candidate: Candidate, forks: Sequence[tuple[str, ...]]) -> Candidate:
    """Return the candidate with each fork as a module of its own, in the slot where it was."""
    modules, home = taken_out(candidate.modules, forks, candidate.folded.dataflow), module_of(candidate.modules)
    slot_of = {module.name: candidate.partition.slot_of[home[module.engines[0]]] for module in modules}
    answer = replace(candidate.partition, slot_of=slot_of)
    return realised(context, candidate.folding, modules, candidate.channels, answer)


def _in_slots(
    context: PlanningContext,
    candidate: Candidate,
    forks: Sequence[tuple[str, ...]],
    card_of: Mapping[str, int],
    card_of_slot: Sequence[int],
) -> Candidate | None:
    """Assign modules to slots of the FPGAs that their engines get, as even as they can be; None if none hold."""
    modules = _with_forks_moved(candidate, forks, card_of)
    contexts = [_on_cards(wider, candidate, card_of, card_of_slot) for wider in _wider(context)]
    first = assign(contexts[-1], candidate.folding, modules)
    if not isinstance(first, Candidate):
        return None
    tried = (improved(each, first) for each in contexts)
    return next((found for found in tried if found is not first), None)


def _with_forks_moved(
    candidate: Candidate, forks: Sequence[tuple[str, ...]], card_of: Mapping[str, int]
) -> tuple[Module, ...]:
    """Return modules in which each fork that lies in another FPGA than what feeds it is part of what it feeds there.

    Of several it joins the first, which closes no circle: nothing else that the fork feeds lies before it.
    """
    dataflow, pairs = candidate.folded.dataflow, [(c.stream.source, c.stream.target) for c in candidate.channels]
    modules = candidate.modules
    for fork in forks:
        feeds = next(a for a, b in pairs if b == fork[0])
        if card_of[feeds] == card_of[fork[0]]:
            continue
        fed = {b for a, b in pairs if a in fork and card_of.get(b) == card_of[fork[0]]}.difference(fork)
        modules = taken_out(modules, [fork], dataflow)
        first = next((m.name for m in modules if not fed.isdisjoint(m.engines)), None)
        if first is not None:
            modules = merge(modules, (module_of(modules)[fork[0]], first), dataflow)
    return modules


def _on_cards(
    context: PlanningContext, candidate: Candidate, card_of: Mapping[str, int], card_of_slot: Sequence[int]
) -> PlanningContext:
    """Return the context in which each engine lies in its FPGA."""
    homes = dict(context.engine_limits.homes)
    places = list(zip(context.limits, card_of_slot, strict=True))
    slots = {card: frozenset(name for name, own in places if own == card) for card in card_of_slot}
    for old, new in renamings(context.dataflow, candidate.folded.dataflow).items():
        here = slots[card_of[new]]
        homes[old] = homes.get(old, here) & here
    return replace(context, engine_limits=replace(context.engine_limits, homes=homes))


def _wider(context: PlanningContext) -> Iterator[PlanningContext]:
    """Yield contexts in which slots may be ever fuller, from that which is given on."""
    limits: dict[str, Resources] | None = None
    for share in (Fraction(0), *FULLER):
        least = {slot: within(limit, share) for slot, limit in context.allowed.items()}
        wider = {slot: limit.most(context.limits[slot]) for slot, limit in least.items()}
        if wider != limits:
            yield replace(context, narrowed=wider)
        limits = wider


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
