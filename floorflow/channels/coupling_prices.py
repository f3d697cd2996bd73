"""What each stream will cost, for every pair of foldings at its ends, before any folding is chosen.

Folding prices channels by these tables: width converters and FIFOs of the least depth, those of branches included.
What modules, SLR boundaries and links add to a FIFO is known only after partition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce

import numpy as np
from numpy.typing import NDArray

from floorflow.channels.realise import ChannelCosts, ends_network, least_depth_words
from floorflow.channels.window_fill import waits
from floorflow.dataflow.fifo import Prices, cheapest
from floorflow.dataflow.model import Dataflow, Stream
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup, OptionTable
from floorflow.resources import ZERO, Resources

DEEPER_WORDS = 65
"""A FIFO this deep may be in a memory, and then take fewer LUTs than a shallow one in as many registers."""

_Array = NDArray[np.int64]
_Widths = tuple[int, ...]
_Key = tuple[_Widths, _Widths | None, int, Fraction, int, bool]
"""Widths at both ends, bits of a frame, the share of it that waits at a join, bits that the FIFO is to hold."""


def couplings(dataflow: Dataflow, groups: Sequence[OptionGroup], costs: ChannelCosts) -> tuple[Coupling, ...]:
    """Return the price of every stream by the rows of the groups at its ends, in the order of the streams."""
    return StreamPrices(costs).couplings(dataflow, groups)


@dataclass(frozen=True)
class _Joint:
    """Converters between two ports for each pair of their widths, (n_source, n_target, 5), and widths of wires."""

    converters: _Array
    convertible: NDArray[np.bool_]
    widths: _Widths
    width_class: NDArray[np.intp]
    at_target: _Array
    """The converters that belong to the target, the narrow side, (n_source, n_target, 5)."""


class StreamPrices:
    """Prices streams of one network and of its parts; streams and ports that repeat share their arrays.

    ``held_bits``: what FIFOs hold, by channel (words x width when they were sized), so that they are as deep at other
    widths too; never shallower than without. ``prices``: of a unit of each resource, in the order of RESOURCE_NAMES;
    each FIFO is in the memory of least price. Without any (``()``) it is in the tool's own; with None it costs the
    least of each resource over all memories, which is a lower bound for every choice. ``joins``: whether FIFOs hold at
    joins what waits there while windows fill; not where the rate analysis tells in which FIFOs it waits.
    """

    def __init__(
        self,
        costs: ChannelCosts,
        held_bits: Mapping[str, int] | None = None,
        prices: Prices | None = (),
        *,
        joins: bool = True,
    ) -> None:
        self.costs, self.held_bits, self.prices, self.joins = costs, dict(held_bits or {}), prices, joins
        self._ports: dict[tuple[int, int], tuple[OptionTable, _Widths, _Array]] = {}
        self._tables: dict[_Key, _Array] = {}
        self._joints: dict[tuple[_Widths, _Widths | None], _Joint] = {}
        self._converter, self._fifo = cache(self._made_converter), cache(self._made_fifo)

    def couplings(self, dataflow: Dataflow, groups: Sequence[OptionGroup]) -> tuple[Coupling, ...]:
        """Return the price of every stream by the rows of the groups at its ends, in the order of the streams."""
        home = {engine: position for position, group in enumerate(groups) for engine in group.engines}
        shares = waits(dataflow) if self.joins else {}
        return tuple(self._coupling(s, home, groups, shares.get(s, Fraction(0))) for s in dataflow.streams)

    def _coupling(
        self, stream: Stream, home: Mapping[str, int], groups: Sequence[OptionGroup], wait: Fraction
    ) -> Coupling:
        source, target = home.get(stream.source), home.get(stream.target)
        if source is None or target is None:
            # What lies outside takes and gives whatever width the engine has.
            inside = target if source is None else source
            if inside is None:
                raise ValueError(f"{stream.channel}: no group has an engine of it")
            widths, classes = self._port(groups[inside], stream, outputs=target is None)
            return Coupling(inside, inside, classes, np.zeros_like(classes), self._table(stream, widths, None, wait))
        source_widths, source_class = self._port(groups[source], stream, outputs=True)
        target_widths, target_class = self._port(groups[target], stream, outputs=False)
        use = self._table(stream, source_widths, target_widths, wait)
        at_source = use - self._joint(source_widths, target_widths).at_target
        return Coupling(source, target, source_class, target_class, use, at_source)

    def _port(self, group: OptionGroup, stream: Stream, *, outputs: bool) -> tuple[_Widths, _Array]:
        """Return the widths in bits of a stream's end over a group's rows, ascending, and which each row has."""
        options = group.options_of(stream.source if outputs else stream.target)
        port = stream.source_port + options.inputs if outputs else stream.target_port
        if (id(options), port) not in self._ports:
            widths, classes = np.unique(options.widths_bits[port], return_inverse=True)
            # The table is kept, for its id would be given to another.
            self._ports[id(options), port] = options, tuple(widths.tolist()), classes
        return self._ports[id(options), port][1:]

    def _table(self, stream: Stream, source_widths: _Widths, target_widths: _Widths | None, wait: Fraction) -> _Array:
        """Return the resources for each pair of widths, (n_source, n_target, 5); without a target for its own width."""
        # The words that wait at a join depend on the size of the frame as well.
        frame_bits = stream.elements * stream.element_bits if wait else 0
        at_end = ends_network(stream)
        key = (source_widths, target_widths, frame_bits, wait, self.held_bits.get(stream.channel, 0), at_end)
        if key not in self._tables:
            joint = self._joint(source_widths, target_widths)
            depths = [(w, self._depth_words(stream, w, wait)) for w in joint.widths]
            fifos = np.array([self._fifo(*each, at_end) for each in depths], dtype=np.int64)
            use = joint.converters + fifos[joint.width_class]
            use[~joint.convertible] = UNBUILDABLE
            self._tables[key] = use
        return self._tables[key]

    def _joint(self, source_widths: _Widths, target_widths: _Widths | None) -> _Joint:
        """Return what all streams between ports of these widths have in common."""
        key = source_widths, target_widths
        if key not in self._joints:
            pairs = [[(w, t) for t in (target_widths or (w,))] for w in source_widths]
            widths, width_class = np.unique(np.max(pairs, axis=2), return_inverse=True)
            made = [[self._converter(*pair) for pair in row] for row in pairs]
            convertible = np.array([[each is not None for each in row] for row in made])
            converters = np.array([[each or (0,) * 5 for each in row] for row in made], dtype=np.int64)
            width_class = width_class.reshape(convertible.shape)
            narrow = np.array([[target < source for source, target in row] for row in pairs])
            at_target = np.where(narrow[..., None], converters, 0)
            self._joints[key] = _Joint(converters, convertible, tuple(widths.tolist()), width_class, at_target)
        return self._joints[key]

    def _made_converter(self, source_bits: int, target_bits: int) -> tuple[int, ...] | None:
        """Return a converter's resources; None if it cannot be built."""
        if not self.costs.convertible(source_bits, target_bits):
            return None
        differs = source_bits != target_bits
        return (self.costs.converter_resources(source_bits, target_bits) if differs else ZERO).as_tuple()

    def _depth_words(self, stream: Stream, width_bits: int, wait: Fraction) -> int:
        """Return the least depth that holds what waits at a join and what the FIFO held when it was sized."""
        held = self.held_bits.get(stream.channel, 0)
        return max(least_depth_words(stream, width_bits, wait), -(-held // width_bits))

    def _made_fifo(self, width_bits: int, depth_words: int, at_end: bool) -> tuple[int, ...]:
        """Return the resources of a FIFO by the rule of the prices; whether it is at an end of the network."""
        choices_of = self.costs.end_fifo_choices if at_end else self.costs.fifo_choices
        choices = choices_of(width_bits, depth_words)
        if self.prices is not None:
            return cheapest(choices, self.prices).resources.as_tuple()
        # One word more may be shift registers, of fewer flip-flops than registers.
        for depth in (depth_words + 1, max(depth_words, DEEPER_WORDS)):
            choices += choices_of(width_bits, depth)
        return reduce(Resources.least, (choice.resources for choice in choices)).as_tuple()
