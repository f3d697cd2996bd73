"""The Dataflow: engines joined by streams, before folding, and the options that fold them.

Engines carry the attribute names and values of their back end, so that what a user sees here is what the back end's
own files say. What a folding chooses is not in ``Engine.attributes``: it is an `Option`.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Literal

from floorflow.errors import InputError, some
from floorflow.resources import Resources

Role = Literal["core", "front", "behind"]
"""``core``: a stage has one; ``front``: joins what follows it; ``behind``: joins what comes before it."""
AttributeValue = int | str | tuple[int, ...] | tuple[str, ...]
Attributes = Mapping[str, AttributeValue]


HOST_PREFIX = "host:"
"""The host's ends of channels are ``host:in0``, ``host:out0``, ..."""
CUT_PREFIX = "cut:"
"""Where a segment ends: ``cut:<channel>`` stands for the engines on the other side of a stream that was cut."""
_OUTSIDE = re.compile(r"(?:[^/:]+/)?(?:host|memory|phase|cut):")


def is_outside(end: str) -> bool:
    """Return whether a channel's end is no engine: the host, a buffer in memory, another phase or a cut.

    With several networks on a platform their names stand before it: ``net/host:in0``.
    """
    return _OUTSIDE.match(end) is not None


@dataclass(frozen=True)
class Engine:
    """One hardware engine of the pipeline.

    ``kind`` is a name of the back end's; ``operation`` names the Network operation that it computes. Bit widths are of
    one stream element; ``weight_bits`` is 0 for kinds without weights. ``folding`` is what the model file has chosen
    already, empty for a network.

    What others ask of a kind the back end says here: ``role``; ``window_fill``, the share of a frame that goes in
    before the first word comes out (0 for most); ``label``, a short word for people.
    """

    name: str
    kind: str
    operation: str
    attributes: Attributes
    weight_bits: int
    input_bits: int
    output_bits: int
    folding: Attributes = field(default_factory=dict)
    role: Role = "behind"
    window_fill: Fraction = Fraction(0)
    label: str = ""

    @property
    def operand_bits(self) -> int:
        """Width of the wider operand of its products, weights or data."""
        return max(self.weight_bits, self.input_bits)


@dataclass(frozen=True)
class Stream:
    """A stream of tensor elements from one engine's output port to another's input port, or to the host.

    ``elements`` is the number of tensor elements a frame, ``last_dimension`` the innermost size that folding
    must divide, ``element_bits`` the width of one element. ``fifo_bits`` is what the FIFOs that the model file has on
    this stream hold, ``fifo_words`` the depth that it asks for without having one; both 0 for a network.
    """

    source: str
    source_port: int
    target: str
    target_port: int
    elements: int
    last_dimension: int
    element_bits: int
    fifo_bits: int = 0
    fifo_words: int = 0

    @property
    def channel(self) -> str:
        """Name of the channel that the stream becomes: ``producer.port->consumer.port``."""
        return f"{self.source}.{self.source_port}->{self.target}.{self.target_port}"

    def kept_fifo_depth(self, width_bits: int) -> int:
        """Return the depth that the model file gives the FIFO, in words of ``width_bits``; 0 if it gives none."""
        return max(ceil(self.fifo_bits / width_bits), self.fifo_words)

    def cut(self, inside: Collection[str]) -> "Stream":
        """Return the stream as the engines ``inside`` see it, of which one is an end: the other may be cut off."""
        end = f"{CUT_PREFIX}{self.channel}"
        if self.source not in inside and not self.from_outside:
            return replace(self, source=end, source_port=0)
        if self.target not in inside and not self.to_outside:
            return replace(self, target=end, target_port=0)
        return self

    @property
    def from_outside(self) -> bool:
        """Whether the stream enters the network, or the part of it that this is about."""
        return is_outside(self.source)

    @property
    def to_outside(self) -> bool:
        """Whether the stream leaves the network, or the part of it that this is about."""
        return is_outside(self.target)


@dataclass(frozen=True)
class Dataflow:
    """Engines in topological order and the streams between them."""

    name: str
    engines: tuple[Engine, ...]
    streams: tuple[Stream, ...]
    notes: tuple[str, ...] = ()
    """What was assumed while reading and lowering, for `inspect` and the plan's warnings."""

    unspecialised: bool = False
    """Whether kinds are still open (FINN: hls or rtl): those of ``engines`` are what the back end itself chooses."""

    networks: tuple[str, ...] = ()
    """Of several networks their names: each stands, with a slash, before those of its engines and ends."""

    @property
    def engine_pairs(self) -> tuple[tuple[str, str], ...]:
        """Return source and target of every stream between two engines."""
        return tuple((s.source, s.target) for s in self.streams if not (s.from_outside or s.to_outside))

    def engine(self, name: str) -> Engine:
        """Return the engine of that name."""
        return next(engine for engine in self.engines if engine.name == name)

    def segment(self, engines: Collection[str]) -> "Dataflow":
        """Return the part of the network that some engines make, in the network's order, with the streams at them.

        A stream that is cut ends outside, at ``cut:<its channel>``.

        InputError if no engine is named, one that the network has not, or one twice.
        """
        inside = self._named(engines)
        near = (stream for stream in self.streams if stream.source in inside or stream.target in inside)
        streams = tuple(stream.cut(inside) for stream in near)
        return replace(self, engines=tuple(e for e in self.engines if e.name in inside), streams=streams)

    def _named(self, engines: Collection[str]) -> frozenset[str]:
        """Return the engines of a segment, if that is what they are."""
        known = {engine.name for engine in self.engines}
        unknown = [repr(name) for name in engines if name not in known]
        twice = [repr(name) for name, count in Counter(engines).items() if count > 1]
        if not engines or unknown:
            hint = "Name at least one of its engines, as `floorflow inspect` shows them."
            raise InputError(f"'{self.name}' has no engine {some(unknown) or 'in an empty segment'}", hint)
        if twice:
            raise InputError(f"a segment of '{self.name}' names {some(twice)} twice", "Name each engine once.")
        return frozenset(engines)


@dataclass(frozen=True)
class Option:
    """One legal folding of one engine: the attributes it sets, what it costs and how wide its ports are.

    ``folding`` holds names and values of the back end. ``cycles`` is the initiation interval for one frame. Widths are
    in bits, un-padded, one entry a port. ``kind`` is that which the engine becomes where it is not its own (FINN: hls
    instead of rtl, or the other way), else empty.
    """

    folding: Attributes
    cycles: int
    resources: Resources
    input_widths_bits: tuple[int, ...]
    output_widths_bits: tuple[int, ...]
    kind: str = ""


@dataclass(frozen=True)
class FoldedDataflow:
    """A Dataflow in which every engine has an option."""

    dataflow: Dataflow
    options: Mapping[str, Option]

    @property
    def interval_cycles(self) -> int:
        """Initiation interval of the pipeline: the slowest engine's cycles."""
        return max(option.cycles for option in self.options.values())


def renamings(before: Dataflow, after: Dataflow) -> dict[str, str]:
    """Return the new name of every engine by its old one; both dataflows have the same engines in the same order."""
    return {old.name: new.name for old, new in zip(before.engines, after.engines, strict=True)}
