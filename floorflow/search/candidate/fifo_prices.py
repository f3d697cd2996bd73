"""What folding pays for FIFOs: prices between ports, by what FIFOs had to hold in the last folding that was analysed.

How deep FIFOs must be is known only of a folded network; yet their memory is a part of every folding. So what each held
at full rate, in bits, is carried over to the next folding: at other widths it is as many bits in fewer or more words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from floorflow.channels import StreamPrices, port_widths_bits
from floorflow.dataflow.fifo import Prices
from floorflow.dataflow.model import CUT_PREFIX, Dataflow, FoldedDataflow, Stream
from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.folding import FoldingProblem
from floorflow.rates.schedule_depths import SHALLOW_WORDS
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.context import PlanningContext

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


def is_cut_off(stream: Stream) -> bool:
    """Whether a segment's stream comes from a producer in another segment, which pays for its FIFO."""
    return stream.source.startswith(CUT_PREFIX)


class FifoPricing:
    """Prices the streams of a network and of its segments, with what FIFOs hold and a price of each resource."""

    def __init__(self, context: PlanningContext, held: HeldBits, prices: Prices | None) -> None:
        """``prices``: None for the least of each resource over a FIFO's memories, as if it were in all of them."""
        self.held, self.prices = held, prices
        names = with_cut_names(context.dataflow, held)
        self._streams = StreamPrices(context.costs, names, prices, joins=not context.costs.sizes_fifos)

    def couplings(self, dataflow: Dataflow, groups: Sequence[OptionGroup]) -> tuple[Coupling, ...]:
        """Return the price of every stream, in the order of the streams; one that is cut off costs nothing."""
        priced = self._streams.couplings(dataflow, groups)
        return tuple(
            replace(coupling, use=np.zeros_like(coupling.use)) if is_cut_off(stream) else coupling
            for stream, coupling in zip(dataflow.streams, priced, strict=True)
        )

    def problem(self, context: PlanningContext) -> FoldingProblem:
        """Return the context's folding problem at these prices."""
        groups = context.problem.groups
        ties = (*self.couplings(context.dataflow, groups), *context.balance.bars(groups))
        return replace(context.problem, couplings=ties)
