"""Turn every stream of a folded Dataflow into a channel with hardware and a price.

A FIFO belongs to its producer and a width converter to its narrow side, so the wires that leave the producer
have the larger of the two widths.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Protocol

from floorflow.channels.window_fill import Balance, balance, waits
from floorflow.dataflow.fifo import FifoChoice, of_style
from floorflow.dataflow.model import CUT_PREFIX, Dataflow, FoldedDataflow, Stream, is_outside
from floorflow.dataflow.options import OptionGroup
from floorflow.hardware import Route, padded_width_bits, stream_wires
from floorflow.resources import ZERO, Resources

INSIDE_DEPTH_WORDS = 2
"""FIFO depth between two engines of one module."""
BETWEEN_DEPTH_WORDS = 32
"""FIFO depth between two modules."""


class ChannelCosts(Protocol):
    """What a cost model says of converters and FIFOs."""

    @property
    def registers_ports(self) -> bool:
        """Whether a stream has a register slice on either side wherever it enters or leaves a module."""
        return False

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        """Cost of one FIFO in the tool's own memory."""

    def fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        """Memories of one FIFO, the tool's own first."""
        return (FifoChoice("", self.fifo_resources(width_bits, depth_words)),)

    def end_fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        """Return the same of a FIFO at an end of the network, which a tool may build otherwise."""
        return self.fifo_choices(width_bits, depth_words)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        """Cost of one width converter."""

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        """Whether a converter between the two widths can be built at all."""

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        """Kind of the converter between two different widths."""


@dataclass(frozen=True)
class Channel:
    """A realised stream. ``width_bits`` is the width of the wires between the two holders, un-padded.

    ``needed_words``: the FIFO depth that the full rate needs, 0 if it is not known; the FIFO is no shallower.
    ``fifo_style``: its memory, in the back end's own word.
    """

    stream: Stream
    source_width_bits: int
    target_width_bits: int
    converter: str | None
    fifo_depth_words: int
    converter_resources: Resources
    fifo_resources: Resources
    needed_words: int = 0
    fifo_style: str = ""
    registers_ports: bool = False

    @property
    def port_resources(self) -> Resources:
        """What a module takes for its port of the stream: a slice of two words, where ports are registered."""
        return Resources(lut=self.sll_wires, ff=2 * self.sll_wires) if self.registers_ports else ZERO

    @property
    def name(self) -> str:
        """``producer.port->consumer.port``."""
        return self.stream.channel

    @property
    def resources(self) -> Resources:
        """Converter and FIFO together."""
        return self.converter_resources + self.fifo_resources

    @property
    def width_bits(self) -> int:
        """Width on the wires that leave the producer's module."""
        return max(self.source_width_bits, self.target_width_bits)

    @property
    def words_per_frame(self) -> int:
        """Words of ``width_bits`` that one frame needs."""
        return words_per_frame(self.stream, self.width_bits)

    @property
    def wire_bits_per_frame(self) -> int:
        """Bits that wires and links carry for one frame: words are padded to whole bytes."""
        return self.words_per_frame * padded_width_bits(self.width_bits)

    @property
    def sll_wires(self) -> int:
        """Wires that the channel takes of an SLR boundary: padded data, valid and ready."""
        return stream_wires(self.width_bits)

    @property
    def fifo_engine(self) -> str:
        """Engine whose module holds the FIFO: the producer, or the consumer of a stream from the host."""
        return self.stream.target if self.stream.from_outside else self.stream.source

    @property
    def converter_engine(self) -> str:
        """Engine on the converter's narrow side."""
        return self.stream.source if self.source_width_bits < self.target_width_bits else self.stream.target


@dataclass(frozen=True)
class PartialPlacement:
    """What is known of a design so far: modules of engines, routes of channels by name (left out: inside a slot).

    ``least_words``: the depths, by channel, that the full rate needs where nothing lies on the routes.
    """

    module_of: Mapping[str, str]
    routes: Mapping[str, Route]
    least_words: Mapping[str, int] = field(default_factory=dict)


def connect(
    folded: FoldedDataflow, costs: ChannelCosts, placed_so_far: PartialPlacement | None = None
) -> tuple[Channel, ...]:
    """Realise every stream, FIFOs in the tool's own memories; without a layout all engines count as one module."""
    shares, interval = waits(folded.dataflow), folded.interval_cycles
    least = {} if placed_so_far is None else _least_words(folded, placed_so_far)
    channels = []
    for stream in folded.dataflow.streams:
        needed = least.get(stream.channel, 0)
        # What waits at a join may wait in FIFOs before it, too: where the full rate's depths are known, they count.
        wait = Fraction(0) if needed else shares.get(stream, Fraction(0))
        channel = channel_of_widths(stream, *port_widths_bits(stream, folded), costs, wait)
        if placed_so_far is not None:
            more = _words_for_its_route(channel, placed_so_far, interval)
            depth = max(channel.fifo_depth_words + more, needed)
            channel = _with_fifo(channel, depth, choices_of(stream, channel.width_bits, depth, costs)[0])
            channel = replace(channel, needed_words=needed)
        channels.append(channel)
    return tuple(channels)


def with_depths(channels: Sequence[Channel], costs: ChannelCosts, depths: Mapping[str, int]) -> tuple[Channel, ...]:
    """Return channels with FIFOs of these depths in words, by channel, in the tool's own memories."""
    every = ((c, depths[c.name], choices_of(c.stream, c.width_bits, depths[c.name], costs)) for c in channels)
    return tuple(_with_fifo(channel, depth, choices[0]) for channel, depth, choices in every)


def with_styles(channels: Sequence[Channel], costs: ChannelCosts, styles: Mapping[str, str]) -> tuple[Channel, ...]:
    """Return channels with FIFOs in memories of these styles, by channel, or the tool's own where there is no other."""
    every = ((c, choices_of(c.stream, c.width_bits, c.fifo_depth_words, costs)) for c in channels)
    return tuple(_with_fifo(c, c.fifo_depth_words, of_style(choices, styles[c.name], ())) for c, choices in every)


def channel_of_widths(
    stream: Stream, source_bits: int, target_bits: int, costs: ChannelCosts, wait: Fraction
) -> Channel:
    """Return a stream between two ports, inside a module; ``wait`` is the share of a frame held back at a join."""
    converts = source_bits != target_bits
    channel = Channel(
        stream=stream,
        source_width_bits=source_bits,
        target_width_bits=target_bits,
        converter=costs.converter_kind(source_bits, target_bits) if converts else None,
        fifo_depth_words=0,
        converter_resources=costs.converter_resources(source_bits, target_bits) if converts else ZERO,
        fifo_resources=ZERO,
        registers_ports=costs.registers_ports,
    )
    depth = least_depth_words(stream, channel.width_bits, wait)
    return _with_fifo(channel, depth, choices_of(stream, channel.width_bits, depth, costs)[0])


def choices_of(stream: Stream, width_bits: int, depth_words: int, costs: ChannelCosts) -> tuple[FifoChoice, ...]:
    """Return the memories of a stream's FIFO."""
    if ends_network(stream):
        return costs.end_fifo_choices(width_bits, depth_words)
    return costs.fifo_choices(width_bits, depth_words)


def ends_network(stream: Stream) -> bool:
    """Whether an end of a stream is outside the network, and not only outside the segment that it was cut for."""
    return any(is_outside(end) and not end.startswith(CUT_PREFIX) for end in (stream.source, stream.target))


def least_depth_words(stream: Stream, width_bits: int, wait: Fraction) -> int:
    """Return the depth inside a module; ``wait`` is the share of a frame held back at a join."""
    return INSIDE_DEPTH_WORDS + ceil(wait * words_per_frame(stream, width_bits))


def words_per_frame(stream: Stream, width_bits: int) -> int:
    """Return the words of a width that one frame needs."""
    return -(-stream.elements * stream.element_bits // width_bits)


def _with_fifo(channel: Channel, depth_words: int, fifo: FifoChoice) -> Channel:
    return replace(channel, fifo_depth_words=depth_words, fifo_resources=fifo.resources, fifo_style=fifo.style)


def _words_for_its_route(channel: Channel, placed_so_far: PartialPlacement, interval_cycles: int) -> int:
    """Words of FIFO beyond the least depth: between modules, and for the registers and links on the route."""
    homes = placed_so_far.module_of
    inside = homes.get(channel.stream.source) == homes.get(channel.stream.target)
    route = placed_so_far.routes.get(channel.name, Route())
    between = 0 if inside else BETWEEN_DEPTH_WORDS - INSIDE_DEPTH_WORDS
    return between + route.words_in_flight(channel.words_per_frame, interval_cycles)


def _least_words(folded: FoldedDataflow, placed_so_far: PartialPlacement) -> dict[str, int]:
    """Depths that the full rate needs with what lies on the routes: on a route itself, and beside it up to a join."""
    if not placed_so_far.least_words:
        return {}
    more = balance_of(folded, placed_so_far.routes).words
    return {name: words + more.get(name, 0) for name, words in placed_so_far.least_words.items()}


def balance_of(folded: FoldedDataflow, routes: Mapping[str, Route]) -> Balance:
    """Return what FIFOs hold more for what lies on routes, with least bits where branches meet."""
    widths = {s.channel: max(port_widths_bits(s, folded)) for s in folded.dataflow.streams}
    return balance(folded.dataflow, routes, widths)


def port_widths_bits(stream: Stream, folded: FoldedDataflow) -> tuple[int, int]:
    """Width the producer emits and width the consumer takes; a host end takes whatever the engine has."""
    if stream.from_outside:
        width = folded.options[stream.target].input_widths_bits[stream.target_port]
        return width, width
    source = folded.options[stream.source].output_widths_bits[stream.source_port]
    if stream.to_outside:
        return source, source
    return source, folded.options[stream.target].input_widths_bits[stream.target_port]


def not_convertible(dataflow: Dataflow, groups: Sequence[OptionGroup], costs: ChannelCosts) -> Iterator[str]:
    """Yield the channels, with their two widths, that no converter can join; ``groups`` have a row each."""
    options = {name: option for group in groups for name, option in zip(group.engines, group.rows[0], strict=True)}
    folded = FoldedDataflow(dataflow, options)
    for stream in dataflow.streams:
        if not (stream.from_outside or stream.to_outside):
            source, target = port_widths_bits(stream, folded)
            if not costs.convertible(source, target):
                yield f"{stream.channel} ({source} to {target} bit)"
