"""What each stream will cost, for every pair of foldings at its ends, before any folding is chosen.

Folding prices channels by these tables: width converters and FIFOs of the least depth, those of branches included.
What modules, SLR boundaries and links add to a FIFO is known only after partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from floorflow.channels.realise import ChannelCosts, channel_of_widths
from floorflow.channels.window_fill import waits
from floorflow.dataflow.model import Dataflow, Stream
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup

_Widths = tuple[int, ...]
_Key = tuple[_Widths, _Widths, int, Fraction]


def couplings(dataflow: Dataflow, groups: Sequence[OptionGroup], costs: ChannelCosts) -> tuple[Coupling, ...]:
    """Return the price of every stream by the rows of the groups at its ends, in the order of the streams."""
    pricer = _Pricer(groups, costs)
    shares = waits(dataflow)
    return tuple(pricer.coupling(stream, shares.get(stream, Fraction(0))) for stream in dataflow.streams)


class _Pricer:
    """Prices streams; those that repeat share a table."""

    def __init__(self, groups: Sequence[OptionGroup], costs: ChannelCosts) -> None:
        self.groups, self.costs = groups, costs
        self.home = {engine: position for position, group in enumerate(groups) for engine in group.engines}
        self.tables: dict[_Key, NDArray[np.int64]] = {}

    def coupling(self, stream: Stream, wait: Fraction) -> Coupling:
        target = self.home[stream.source if stream.to_outside else stream.target]
        source = target if stream.from_outside else self.home[stream.source]
        leaving = _widths(self.groups[source], stream.source, stream.source_port, outputs=True)
        arriving = _widths(self.groups[target], stream.target, stream.target_port, outputs=False)
        if stream.from_outside or stream.to_outside:
            # The host takes and gives whatever width the engine has.
            leaving = arriving = arriving if stream.from_outside else leaving
        source_widths, source_class = np.unique(leaving, return_inverse=True)
        target_widths, target_class = np.unique(arriving, return_inverse=True)
        widths = tuple(source_widths.tolist()), tuple(target_widths.tolist())
        # The words that wait at a join depend on the size of the frame as well.
        key = (*widths, stream.elements * stream.element_bits if wait else 0, wait)
        if key not in self.tables:
            self.tables[key] = _table(stream, *widths, self.costs, wait)
        return Coupling(source, target, source_class, target_class, self.tables[key])


def _widths(group: OptionGroup, engine: str, port: int, *, outputs: bool) -> NDArray[np.int64]:
    """Return the width in bits of one port in each row; zeros if the engine is not of the group."""
    if engine not in group.engines:
        return np.zeros(len(group.rows), dtype=np.int64)
    options = group.options_of(engine)
    return np.asarray((options.output_widths_bits if outputs else options.input_widths_bits)[port])


def _table(
    stream: Stream, source_widths: _Widths, target_widths: _Widths, costs: ChannelCosts, wait: Fraction
) -> NDArray[np.int64]:
    """Return the resources for each pair of widths, (n_source, n_target, 5)."""
    table = np.full((len(source_widths), len(target_widths), 5), UNBUILDABLE, dtype=np.int64)
    for i, source_bits in enumerate(source_widths):
        for j, target_bits in enumerate(target_widths):
            if costs.convertible(source_bits, target_bits):
                table[i, j] = channel_of_widths(stream, source_bits, target_bits, costs, wait).resources.as_tuple()
    return table
