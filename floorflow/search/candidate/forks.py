"""Few streams over links: which FPGA has what, where branches begin, and how full slots may be for it.

Stages end behind the engine that forks a stream, so that a fork lies with what feeds it. Where all that it feeds lies
in a later FPGA every branch would take a link of its own; with one of them it takes one. So assignments to whole FPGAs
have each fork as a module of its own, which joins what it feeds where that saves something.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import networkx as nx

from floorflow.channels import PartialPlacement
from floorflow.channels.cost_allocation import module_resources
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.dataflow.modules import Module, Naming, merge, module_of, taken_out
from floorflow.errors import Refusal
from floorflow.folding.least_full import within
from floorflow.folding.problem import FoldingSolution
from floorflow.hardware.slot_graph import LINK_COST
from floorflow.partition.arrays import arrays_of
from floorflow.partition.bounds import card_cuts, whole_cards
from floorflow.partition.exact import solve
from floorflow.partition.infeasibility import STREAMS
from floorflow.partition.problem import PartitionFailure, PartitionProblem, PartitionSolution
from floorflow.resources import Resources, total
from floorflow.search.candidate.assignment import Unassigned, assign, clustered, complete, improved
from floorflow.search.candidate.candidate import Candidate, folded_by, in_styles, least_words, naming_of
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.slot_problem import partition_problem

FULLER = (Fraction(6, 10), Fraction(3, 4), Fraction(22, 25), Fraction(9, 10))
"""Shares of their limits up to which slots may be full for fewer streams over links, the last if need be."""
MOST_CUTS = 8
"""Assignments to FPGAs that are tried at most, cheapest on links first."""
CUTS_OF_FOLDING = 2
"""The same where the modules of one of many foldings find no slots."""
CUT_WORK = 3.0
"""CP-SAT's work units in which each is sought at most; 74 modules on two FPGAs take 0.1 s."""


def paid_on_links(candidate: Candidate) -> int:
    """Return what streams over links and their wires cost beside the crossing cost."""
    return candidate.problem.paid_on_links(candidate.partition.slot_of)


def too_many_link_streams(context: PlanningContext, candidate: Candidate) -> Refusal | None:
    """Say that a link would carry more streams in one direction than it may."""
    links = candidate.problem.over_links(candidate.partition.slot_of)
    most, needed = context.link_streams, max((max(both) for both, _ in links), default=0)
    return Refusal("link streams", STREAMS, "", needed, most) if most is not None and needed > most else None


def with_few_link_streams(context: PlanningContext, candidate: Candidate) -> Candidate:
    """Return the cheapest assignment that is found, forks where they save streams over links.

    FPGAs first: of what whole FPGAs may hold, streams over links are fewest and narrowest. Those assignments are tried
    one after the other until one comes apart into slots, which become no fuller than that takes.
    """
    if len(context.platform.fpgas) == 1:
        return improved(context, candidate)
    *_, widest = _wider(context)
    for cut in islice(_cuts(widest, candidate.folding, candidate.modules), MOST_CUTS):
        if cut.paid >= paid_on_links(candidate):
            break
        contexts = [cut.within(wider) for wider in _wider(context)]
        first = assign(contexts[-1], candidate.folding, cut.modules)
        tried = (improved(each, first) for each in contexts) if isinstance(first, Candidate) else ()
        found = next((one for one in tried if one is not first), None)
        if found is not None:
            return found
    return improved(context, candidate)


def completed(
    context: PlanningContext,
    folding: FoldingSolution,
    share: float,
    slot_of: Mapping[str, str] | None,
    *,
    stay: bool = False,
) -> Candidate | Unassigned:
    """Run connect, cluster and partition on one folding, on several FPGAs with forks where links need them.

    Where links cannot carry what any assignment of whole modules to FPGAs sends, each branch of a fork for itself, none
    to slots is looked for.
    """
    alone = len(context.platform.fpgas) == 1 or context.request.granularity == "slot"
    if alone or share < 1 or slot_of is not None:
        return complete(context, folding, share, slot_of, stay=stay)
    folded = folded_by(context, folding)
    modules = clustered(context, folded, {})
    overloaded = overloaded_links(context, folded, modules)
    if overloaded is None:
        return complete(context, folding)
    forks = tuple(_forks(modules, folded.dataflow.engine_pairs))
    apart = taken_out(modules, forks, naming_of(context, folded))
    overloaded = overloaded_links(context, folded, apart) or overloaded
    cuts = islice(_cuts(context, folding, modules), CUTS_OF_FOLDING)
    tried = (assign(cut.within(context), folding, cut.modules) for cut in cuts)
    found = next((one for one in tried if isinstance(one, Candidate)), None)
    return found or Unassigned(PartitionFailure((overloaded,)))


@dataclass(frozen=True)
class _Cut:
    """FPGAs of engines, by their names before kinds are chosen, as slots; modules for that, and what links cost."""

    slots: Mapping[str, frozenset[str]]
    modules: tuple[Module, ...]
    paid: int

    def within(self, context: PlanningContext) -> PlanningContext:
        """Return the context in which each engine lies in its FPGA."""
        homes = dict(context.engine_limits.homes)
        homes |= {engine: homes.get(engine, here) & here for engine, here in self.slots.items()}
        return replace(context, engine_limits=replace(context.engine_limits, homes=homes))


def _cuts(context: PlanningContext, folding: FoldingSolution, modules: tuple[Module, ...]) -> Iterator[_Cut]:
    """Yield assignments to FPGAs, cheapest on links first; where links are a ring only one that is cheap."""
    folded = folded_by(context, folding)
    forks = tuple(_forks(modules, folded.dataflow.engine_pairs))
    naming = naming_of(context, folded)
    apart = taken_out(modules, forks, naming)
    cards, card_of_slot = _whole_cards(context, folded, apart)
    owner = module_of(apart)
    places = list(zip(context.limits, card_of_slot, strict=True))
    slots = {card: frozenset(name for name, own in places if own == card) for card in card_of_slot}
    for found in _assignments(context, cards):
        card_of = {engine: found[module] for engine, module in owner.items()}
        moved = _with_forks_moved(modules, naming, forks, card_of)
        renamed = renamings(context.dataflow, folded.dataflow)
        yield _Cut({old: slots[card_of[new]] for old, new in renamed.items()}, moved, cards.paid_on_links(found))


def _whole_cards(
    context: PlanningContext, folded: FoldedDataflow, modules: tuple[Module, ...]
) -> tuple[PartitionProblem, tuple[int, ...]]:
    """State the assignment of modules to FPGAs, FIFOs as without crossings; return the FPGA of each slot, too."""
    known = PartialPlacement(module_of(modules), {}, least_words(context, folded))
    everywhere = dict.fromkeys(known.module_of, "")
    channels = in_styles(context, folded, known, everywhere, {"": total(context.limits.values())})
    demands = module_resources(modules, folded, channels)
    return whole_cards(partition_problem(context, modules, demands, channels, folded=folded))


def overloaded_links(context: PlanningContext, folded: FoldedDataflow, modules: tuple[Module, ...]) -> Refusal | None:
    """Say that links carry less than the fewest bits of any cut between modules that whole FPGAs hold.

    FIFOs at crossings are left out: what is refused here no assignment to slots carries.
    """
    cards, _ = _whole_cards(context, folded, modules)
    links = [(edge.crossing.gbps, cards.allowed_bits(edge)) for edge in cards.edges]
    if not links or not cards.is_tree or None in [bits for _, bits in links]:
        return None
    # Where streams may go back a link carries as much again that way.
    allowed = sum(bits or 0 for _, bits in links) * (1 if cards.order else 2)
    streams = tuple(replace(stream, wires=stream.bits_per_frame) for stream in cards.streams)
    free = replace(cards, streams=streams, frames_per_s=0.0, link_stream_cost=0, link_wire_cost=0)
    answer = solve(free, arrays_of(free), None, context.request.seed, CUT_WORK)
    needed = answer.bound // LINK_COST
    if answer.status == "infeasible" or needed <= allowed:
        return None
    gbps = sum(gbps or 0 for gbps, _ in links)
    names = ", ".join(edge.name for edge in cards.edges)
    return Refusal("link", "Gb/s", names, needed / allowed * gbps, gbps, names=(f"{needed:,} bits a frame",))


def _assignments(context: PlanningContext, cards: PartitionProblem) -> Iterator[Mapping[str, int]]:
    if cards.is_tree:
        yield from (cut.card_of for cut in card_cuts(cards, context.request.seed, CUT_WORK))
    elif isinstance(answer := context.solvers.partition(cards, None, True), PartitionSolution):  # noqa: FBT003
        yield answer.slot_of


def _with_forks_moved(
    modules: tuple[Module, ...], naming: Naming, forks: Sequence[tuple[str, ...]], card_of: Mapping[str, int]
) -> tuple[Module, ...]:
    """Return modules in which each fork that lies in another FPGA than what feeds it is part of what it feeds there.

    Of several it joins the first, which closes no circle: nothing else that the fork feeds lies before it.
    """
    pairs = naming.dataflow.engine_pairs
    for fork in forks:
        feeds = next(a for a, b in pairs if b == fork[0])
        if card_of[feeds] == card_of[fork[0]]:
            continue
        fed = {b for a, b in pairs if a in fork and card_of[b] == card_of[fork[0]]}.difference(fork)
        modules = taken_out(modules, [fork], naming)
        first = next((m.name for m in modules if not fed.isdisjoint(m.engines)), None)
        if first is not None:
            modules = merge(modules, (module_of(modules)[fork[0]], first), naming)
    return modules


def _wider(context: PlanningContext) -> Iterator[PlanningContext]:
    """Yield contexts in which slots may be ever fuller, from that which is given on."""
    limits: dict[str, Resources] | None = None
    for share in (Fraction(0), *FULLER):
        least = {slot: within(limit, share) for slot, limit in context.allowed.items()}
        wider = {slot: limit.most(context.limits[slot]) for slot, limit in least.items()}
        if wider != limits:
            yield replace(context, narrowed=wider)
        limits = wider


def _forks(modules: Sequence[Module], pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    """Yield of each module the last engine that forks its one stream in, with what comes behind it there.

    Several streams leave these, and only the one in comes from the rest of the module.
    """
    graph = nx.DiGraph(pairs)
    for module in modules:
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
