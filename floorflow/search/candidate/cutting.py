"""Contiguous cuts on a platform: which slot gets which segment of the network, and each slot's own folding.

Slots are filled in the order of their chain, up or down the SLRs of each FPGA, or there and back (`routes`). The
network's parts (stages) stand in one of a few linear orders. What lies in a slot is folded for that slot alone, under
its own limits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from math import ceil, inf

import numpy as np

from floorflow.channels import StreamPrices, port_widths_bits
from floorflow.dataflow.fifo import Prices
from floorflow.dataflow.model import CUT_PREFIX, Dataflow, FoldedDataflow, Option, Stream
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.errors import Refusal, Refused, outcome_of
from floorflow.folding.problem import FoldingAnswer, FoldingProblem, FoldingSolution
from floorflow.rates.schedule_depths import SHALLOW_WORDS
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.routes import hops_of, shares, slot_orders
from floorflow.segments.cuts import CutFound, CutRefused, Cuts
from floorflow.segments.hops import CutHops, Hops
from floorflow.segments.parts import orders_of, parts_of
from floorflow.segments.problems import Segments, Space
from floorflow.segments.table import SpaceTable

LEAST_LEFT = 0.02
"""Share of a budget that counts as left at least, so that nothing becomes infinitely dear."""

HeldBits = Mapping[str, int]
"""What FIFOs hold at full rate, by channel of the network before its kinds were chosen; others are shallow."""


def prices_of(budget: Resources, used: Resources) -> Prices:
    """Return a price of each resource: the dearer the less of it is left. FF are never scarce (`Resources`)."""
    prices = []
    for name, have, use in zip(RESOURCE_NAMES, budget.as_tuple(), used.as_tuple(), strict=True):
        left = max(have - use, LEAST_LEFT * have)
        prices.append(0.0 if name == "FF" else 1 / left if left else 1e9)
    return tuple(prices)


def held_bits(dataflow: Dataflow, folded: FoldedDataflow, depths: Mapping[str, int]) -> dict[str, int]:
    """Return what FIFOs hold, by channel of ``dataflow``, at the depths (words) that the folded network needs."""
    held = {}
    for stream, own in zip(dataflow.streams, folded.dataflow.streams, strict=True):
        words = depths.get(own.channel, 0)
        if words > SHALLOW_WORDS:
            held[stream.channel] = words * max(port_widths_bits(own, folded))
    return held


def with_cut_names(dataflow: Dataflow, held: HeldBits) -> dict[str, int]:
    """Return the same also by the names that channels have in segments that end at them.

    A FIFO stands beside its producer: at the end of a consumer it holds nothing.
    """
    names = dict(held)
    for stream in dataflow.streams:
        bits = held.get(stream.channel, 0)
        if bits and not (stream.from_outside or stream.to_outside):
            names[stream.cut({stream.source}).channel] = bits
    return names


class FifoPricing:
    """Prices the streams of a network and of its segments, with what FIFOs hold and a price of each resource."""

    def __init__(self, context: PlanningContext, held: HeldBits, prices: Prices | None) -> None:
        """``prices``: None for the least of each resource over a FIFO's memories, as if it were in all of them."""
        self.held, self.prices = held, prices
        names = with_cut_names(context.dataflow, held)
        self._streams = StreamPrices(context.costs, names, prices, joins=not context.costs.sizes_fifos)

    def couplings(self, dataflow: Dataflow, groups: Sequence[OptionGroup]) -> tuple[Coupling, ...]:
        """Return the price of every stream, in their order; where one comes from another segment, that pays for it."""
        priced = self._streams.couplings(dataflow, groups)
        return tuple(
            replace(coupling, use=np.zeros_like(coupling.use)) if stream.source.startswith(CUT_PREFIX) else coupling
            for stream, coupling in zip(dataflow.streams, priced, strict=True)
        )

    def problem(self, context: PlanningContext) -> FoldingProblem:
        """Return the context's folding problem at these prices."""
        groups = context.problem.groups
        ties = (*self.couplings(context.dataflow, groups), *context.balance.bars(groups))
        return replace(context.problem, couplings=ties)


SlotOf = dict[str, str]
"""Slot of every engine, by its name before its kind was chosen."""


@dataclass(frozen=True)
class CutInOrder:
    """Cuts of one order of the parts, in one order of the slots."""

    cuts: Cuts
    slots: tuple[str, ...]

    def slot_of(self, parts_of_slots: Iterable[Iterable[int]]) -> SlotOf:
        """Return the slot of every engine, from the parts that each slot has."""
        order = self.cuts.segments.order
        ends = zip(self.slots, parts_of_slots, strict=True)
        return {engine: slot for slot, parts in ends for part in parts for engine in order[part]}


class Cutter:
    """Cuts of a network for the slots of a platform, at one pricing of FIFOs and with ``reserve`` kept back by slot."""

    def __init__(
        self,
        context: PlanningContext,
        pricing: FifoPricing,
        reserve: Mapping[str, Resources],
        earlier: "Cutter | None" = None,
    ) -> None:
        """``earlier``: a cutter at other prices, near whose cuts these will be."""
        self.context, self.pricing, self.reserve = context, pricing, reserve
        self._table = SpaceTable()
        self._found: dict[int, tuple[tuple[int, int] | None, ...]] = {} if earlier is None else dict(earlier._found)  # noqa: SLF001

    @cached_property
    def in_orders(self) -> tuple[CutInOrder, ...]:
        """Return the cuts for each order of parts and of slots; first the network's own order, upwards."""
        dataflow, problem, wishes = self.context.dataflow, self.context.problem, self.context.wishes
        parts, names = parts_of(dataflow, problem.groups), list(self.context.limits)
        found: list[CutInOrder] = []
        for place, order in enumerate(orders_of(dataflow, parts)):
            prices, bars, fits = self.pricing.couplings, self.context.balance.bars, self.context.engine_limits.fitting
            segments = Segments(dataflow, problem.groups, prices, order, problem.memo, fitting=fits, bars=bars)
            for slots in slot_orders(self.context.platform, self.context.max_hops)[: 1 if place else None]:
                passes = _Links(self.context, segments.order, slots).passes
                spaces = [self.space(slot, share) for slot, share in zip(slots, shares(slots), strict=True)]
                numbers = [names.index(slot) for slot in slots]
                hops = CutHops(segments, self._hops, numbers, wishes.joined(()), wishes.apart)
                guess = self._found.get(len(found), ())
                most = self.context.search_limits.cuts_tried
                cuts = Cuts(segments, spaces, self._table, passes, guess, hops=hops, most_tried=most)
                found.append(CutInOrder(cuts, slots))
        return tuple(found)

    @cached_property
    def _hops(self) -> Hops:
        return hops_of(self.context)

    def space(self, slot: str, share: float = 1.0) -> Space:
        """Return what a segment may use of a slot, or of a share of it."""
        limit = (self.context.limits[slot] - self.reserve.get(slot, ZERO)).most(ZERO)
        limit = limit if share == 1 else Resources(*(int(share * have) for have in limit.as_tuple()))
        places = self.context.engine_limits.place(slot, self.context.problem.groups)
        return Space(limit, self.context.platform.silicon, places)

    def at(self, interval_cycles: int) -> SlotOf | Refusal:
        """Return slots for all engines at which each slot has a folding of its own, by the first order that has any."""
        refusal: Refusal | None = None
        for place, cut in enumerate(self.in_orders):
            answer = cut.cuts.at(interval_cycles)
            if isinstance(answer, CutFound):
                self._found[place] = answer.parts
                return cut.slot_of(_ranges(answer))
            refusal = refusal or self._refusal(cut, answer)
        if refusal is None:
            raise ValueError("a platform has at least one slot")
        return refusal

    def _refusal(self, cut: CutInOrder, answer: CutRefused) -> Refusal:
        names = tuple(cut.cuts.segments.order[answer.reached][:1])
        resource = answer.refusal.resource if answer.refusal is not None else ""
        return Refusal("segments", resource, cut.slots[answer.place], names=names)

    def folded(self, slot_of: SlotOf, interval_cycles: int) -> dict[str, Option] | Refusal:
        """Fold every slot for itself, each with the widths that its neighbours got before; return all options."""
        segments = self.in_orders[0].cuts.segments
        if any(len({slot_of[engine] for engine in group.engines}) > 1 for group in segments.groups):
            # Engines that are folded alike lie in several slots: none of these folds for itself.
            return Refusal("each slot")
        options: dict[str, Option] = {}
        for slot in dict.fromkeys(slot_of.values()):
            segment = segments.of([engine for engine, place in slot_of.items() if place == slot])
            problem = outcome_of(partial(segment.problem, self.space(slot)))
            if isinstance(problem, Refused):
                return replace(problem.refusals[0], place=slot, proven=False)
            answer = self._fold(problem, segment.dataflow, options, interval_cycles)
            if not isinstance(answer, FoldingSolution):
                return replace(answer.refusal, place=slot, proven=False)
            options |= answer.options
        return options

    def _fold(
        self, problem: FoldingProblem, dataflow: Dataflow, options: Mapping[str, Option], interval_cycles: int
    ) -> FoldingAnswer:
        """Fold one slot, beside others with these options.

        Prices put like FIFOs into one memory, of which a slot may not have enough. Then each is taken at its least, and
        styles are chosen when the candidate is made.
        """
        priced = _beside(self.context, problem, dataflow, options)
        answer = self.context.solvers.fold_nearly(priced, interval_cycles)
        if isinstance(answer, FoldingSolution):
            return answer
        streams = self._least_pricing.couplings(dataflow, problem.groups)
        least = replace(problem, couplings=(*streams, *self.context.balance.bars(problem.groups)))
        return self.context.solvers.fold_nearly(_beside(self.context, least, dataflow, options), interval_cycles)

    @cached_property
    def _least_pricing(self) -> FifoPricing:
        return FifoPricing(self.context, self.pricing.held, None)


def _ranges(answer: CutFound) -> list[range]:
    """Return the parts that a cut gives each slot."""
    return [range(0) if ends is None else range(ends[0], ends[1] + 1) for ends in answer.parts]


@dataclass(frozen=True)
class _Links:
    """What the links between the FPGAs of consecutive slots carry."""

    context: PlanningContext
    order: Sequence[Sequence[str]]
    slots: tuple[str, ...]

    @cached_property
    def bits(self) -> tuple[tuple[int, int], ...]:
        """Bits a frame, there and back, over a cut before each part, and behind the last."""
        place = {engine: index for index, part in enumerate(self.order) for engine in part}
        count = len(self.order)
        there, back = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
        for stream in self.context.dataflow.streams:
            source = -1 if stream.from_outside else place[stream.source]
            target = count if stream.to_outside else place[stream.target]
            low, high = sorted((source, target))
            bits = stream.elements * stream.element_bits
            together = self.context.together
            bits = bits if together is None else ceil(bits * together.weight(stream))
            (there if source < target else back)[low + 1 : high + 1] += bits
        return tuple(zip(there.tolist(), back.tolist(), strict=True))

    @cached_property
    def gbps(self) -> tuple[float, ...]:
        """What the links between each slot and the next carry; infinite where there is none."""
        platform = self.context.platform
        rates = {link.name: link.payload_gbps for link in platform.links}
        routes = (platform.route_steps(*pair) for pair in pairwise(self.slots))
        return tuple(min((rates[s.link] for s in steps if s.link is not None), default=inf) for steps in routes)

    def passes(self, position: int, place: int, interval_cycles: int) -> bool:
        """Whether the cut before a part can lie between two consecutive slots."""
        frames_per_s = self.context.platform.clock_mhz * 1e6 / interval_cycles
        return max(self.bits[position]) * frames_per_s <= self.gbps[place] * 1e9


def _beside(
    context: PlanningContext,
    problem: FoldingProblem,
    dataflow: Dataflow,
    options: Mapping[str, Option],
) -> FoldingProblem:
    """Return a segment's problem in which streams to segments that are folded already cost what they will.

    A converter stands on the narrow side, a FIFO beside its producer and as wide as the wider end. Layers are balanced
    with those that are folded already.
    """
    whole = {stream.channel: stream for stream in context.dataflow.streams}
    couplings = list(problem.couplings)
    for place, stream in enumerate(dataflow.streams):
        other = _cut_stream(stream, whole)
        if other is None:
            continue
        outwards = stream.target.startswith(CUT_PREFIX)
        far = other.target if outwards else other.source
        if far in options:
            width = options[far].input_widths_bits[other.target_port] if outwards else None
            width = width or options[far].output_widths_bits[other.source_port]
            couplings[place] = _at_a_cut(context, problem, couplings[place], other, outwards=outwards, far_bits=width)
    known = {name: option.cycles for name, option in options.items()}
    return replace(problem, couplings=(*couplings, *context.balance.beside(problem.groups, known)))


def _cut_stream(stream: Stream, whole: Mapping[str, Stream]) -> Stream | None:
    """Return the stream of the whole network that a segment's stream is a cut of."""
    end = next((end for end in (stream.source, stream.target) if end.startswith(CUT_PREFIX)), None)
    return None if end is None else whole[end.removeprefix(CUT_PREFIX)]


def _at_a_cut(
    context: PlanningContext,
    problem: FoldingProblem,
    coupling: Coupling,
    stream: Stream,
    *,
    outwards: bool,
    far_bits: int,
) -> Coupling:
    """Add the converter to each width of the near end, and forbid widths that none can join."""
    group = problem.groups[coupling.source]
    near, port = (stream.source, stream.source_port) if outwards else (stream.target, stream.target_port)
    table = group.options_of(near)
    own = table.widths_bits[port + table.inputs if outwards else port]
    widths, first, classes = np.unique(own, return_index=True, return_inverse=True)
    use = np.array([coupling.use[c, 0] for c in coupling.source_class[first].tolist()])
    for index, own_bits in enumerate(widths.tolist()):
        ends = (own_bits, far_bits) if outwards else (far_bits, own_bits)
        if not context.costs.convertible(*ends):
            use[index] = UNBUILDABLE
        elif own_bits < far_bits:
            use[index] += np.array(context.costs.converter_resources(*ends).as_tuple())
    return replace(coupling, source_class=classes, target_class=np.zeros_like(classes), use=use[:, None, :])
