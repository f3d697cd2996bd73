"""Turn every stream of a folded Dataflow into a channel with hardware and a price.

A FIFO belongs to its producer and a width converter to its narrow side (FINN's floorplan rule), so the wires that
leave the producer have the larger of the two widths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from floorflow.dataflow.model import FoldedDataflow, Stream
from floorflow.resources import ZERO, Resources

INSIDE_DEPTH_WORDS = 2
"""FIFO depth between two engines of one module."""
BETWEEN_DEPTH_WORDS = 32
"""FIFO depth between two modules."""
CROSSING_DEPTH_WORDS = 4
"""Extra words for each SLR boundary crossed: what is in flight in the crossing registers."""


class ChannelCosts(Protocol):
    """What a cost model says of converters and FIFOs."""

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        """Cost of one FIFO."""

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        """Cost of one width converter."""

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        """FINN op type of the converter between two different widths."""


@dataclass(frozen=True)
class Channel:
    """A realised stream. ``width_bits`` is the width of the wires between the two holders, un-padded."""

    stream: Stream
    source_width_bits: int
    target_width_bits: int
    converter: str | None
    fifo_depth_words: int
    converter_resources: Resources
    fifo_resources: Resources

    @property
    def name(self) -> str:
        """``producer.port->consumer.port``."""
        stream = self.stream
        return f"{stream.source}.{stream.source_port}->{stream.target}.{stream.target_port}"

    @property
    def width_bits(self) -> int:
        """Width on the wires that leave the producer's module."""
        return max(self.source_width_bits, self.target_width_bits)

    @property
    def words_per_frame(self) -> int:
        """Words of ``width_bits`` that one frame needs."""
        return -(-self.stream.elements * self.stream.element_bits // self.width_bits)

    @property
    def sll_wires(self) -> int:
        """Wires that the channel takes of an SLR boundary: padded data, valid and ready."""
        return padded_width_bits(self.width_bits) + 2

    @property
    def fifo_engine(self) -> str:
        """Engine whose module holds the FIFO: the producer, or the consumer of a stream from the host."""
        return self.stream.target if self.stream.from_host else self.stream.source

    @property
    def converter_engine(self) -> str:
        """Engine on the converter's narrow side."""
        return self.stream.source if self.source_width_bits < self.target_width_bits else self.stream.target


def padded_width_bits(width_bits: int) -> int:
    """Round up to whole bytes, as AXI streams are on wires."""
    return -(-width_bits // 8) * 8


def connect(
    folded: FoldedDataflow,
    costs: ChannelCosts,
    module_of: Mapping[str, str] | None = None,
    boundaries_crossed: Mapping[str, int] | None = None,
) -> tuple[Channel, ...]:
    """Realise every stream.

    ``module_of`` maps engines to modules once they are known: channels between modules get deeper FIFOs.
    ``boundaries_crossed`` maps channel names to the SLR boundaries that they cross once slots are known.
    """
    crossed = boundaries_crossed or {}
    return tuple(_realise(stream, folded, costs, module_of, crossed) for stream in folded.dataflow.streams)


def _realise(
    stream: Stream,
    folded: FoldedDataflow,
    costs: ChannelCosts,
    module_of: Mapping[str, str] | None,
    crossed: Mapping[str, int],
) -> Channel:
    source_bits, target_bits = _widths(stream, folded)
    inside = module_of is None or module_of.get(stream.source) == module_of.get(stream.target)
    converts = source_bits != target_bits
    bare = Channel(
        stream=stream,
        source_width_bits=source_bits,
        target_width_bits=target_bits,
        converter=costs.converter_kind(source_bits, target_bits) if converts else None,
        fifo_depth_words=0,
        converter_resources=costs.converter_resources(source_bits, target_bits) if converts else ZERO,
        fifo_resources=ZERO,
    )
    depth = (INSIDE_DEPTH_WORDS if inside else BETWEEN_DEPTH_WORDS) + CROSSING_DEPTH_WORDS * crossed.get(bare.name, 0)
    return _with_fifo(bare, depth, costs)


def _with_fifo(channel: Channel, depth_words: int, costs: ChannelCosts) -> Channel:
    return Channel(
        stream=channel.stream,
        source_width_bits=channel.source_width_bits,
        target_width_bits=channel.target_width_bits,
        converter=channel.converter,
        fifo_depth_words=depth_words,
        converter_resources=channel.converter_resources,
        fifo_resources=costs.fifo_resources(channel.width_bits, depth_words),
    )


def _widths(stream: Stream, folded: FoldedDataflow) -> tuple[int, int]:
    """Width the producer emits and width the consumer takes; a host end takes whatever the engine has."""
    if stream.from_host:
        width = folded.options[stream.target].input_widths_bits[stream.target_port]
        return width, width
    source = folded.options[stream.source].output_widths_bits[stream.source_port]
    if stream.to_host:
        return source, source
    return source, folded.options[stream.target].input_widths_bits[stream.target_port]
