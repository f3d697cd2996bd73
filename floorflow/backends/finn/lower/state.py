"""The state of one lowering: wires of the growing dataflow, engines and streams made so far, and their datatypes."""

from collections import Counter
from dataclasses import dataclass, field, replace
from math import prod

from floorflow.backends.finn.lower.rewrite import Lookahead
from floorflow.backends.finn.names import FinnVersion
from floorflow.backends.finn.roles import described
from floorflow.dataflow.model import HOST_PREFIX, Attributes, AttributeValue, Engine, Stream
from floorflow.facts.plan import UNBUILT
from floorflow.network.datatype import BINARY, BIPOLAR, TERNARY, DataType, integer, named, smallest
from floorflow.network.model import Network, Operation
from floorflow.network.obstacles import Obstacle, ObstacleError
from floorflow.technology import Technology

THRESHOLD_BITS = 8
"""FINN turns quantisers of up to 8 bits into thresholds (``max_multithreshold_bit_width``)."""

_TWO_BITS = integer(2, signed=True)
_LEAST_RTL_BITS, _MOST_RTL_BITS = 2, 8
"""Widths for which the RTL unit exists; signed data may have one bit more."""
_PREFERRED_RTL_BITS = 4
"""From this width on SpecializeLayers prefers the RTL unit."""


def stored_weights(weights: DataType, *, xnor: bool) -> DataType:
    """Return the type that weights are stored in: BIPOLAR is BINARY for XNOR and INT2 otherwise.

    FINN's ``minimize_weight_bit_width`` on values -1 and 1, or -1, 0 and 1.
    """
    if xnor:
        return BINARY
    return _TWO_BITS if weights in (BIPOLAR, TERNARY) else weights


def accumulator(count: int, data: DataType, weights: DataType, *, xnor: bool) -> DataType:
    """Return the type of a sum of ``count`` products, for any weights of their type.

    FINN's ``minimize_accumulator_width`` with worst-case weights. The XNOR unit counts 0 to ``count`` ones; FINN
    calls the type of these bits INT because it takes the weights as -1 and 1.
    """
    if xnor:
        return integer(max(count.bit_length(), 2), signed=True)
    products = [a * b for a in (data.min, data.max) for b in (weights.min, weights.max)]
    return smallest(count * min(products), count * max(products))


def pool_sum(data: DataType, pixels: int) -> DataType:
    """Return the type of GlobalAccPool's sum (``get_output_datatype``)."""
    full = named(data.name)
    return smallest(0 if full.min >= 0 else full.min * pixels, full.max * pixels)


def rounded_to_bytes(datatype: DataType) -> DataType:
    """Return the type widened to a multiple of 8 bits, as FINN does for the last accumulator of a network."""
    return integer(-(-datatype.bits // 8) * 8, signed=datatype.signed)


def activation_value(datatype: DataType) -> int:
    """Return ``ActVal``, the value below the first threshold; one-bit types are encoded from 0."""
    return 0 if datatype.bits == 1 else datatype.min


def is_rtl(data: DataType, weights: DataType, technology: Technology, *, depthwise: bool) -> bool:
    """Whether SpecializeLayers makes the RTL unit unless told otherwise, given that no thresholds are fused."""
    return min(data.bits, weights.bits) >= _PREFERRED_RTL_BITS and has_rtl(
        data, weights, technology, depthwise=depthwise
    )


def has_rtl(data: DataType, weights: DataType, technology: Technology, *, depthwise: bool) -> bool:
    """Whether there is an RTL unit, given that no thresholds are fused.

    DSP48E1 needs narrow weights (no ``-2^(bits-1)``), and the RTL depthwise unit exists on Versal only.
    """
    if not weights.signed or weights.bits > _MOST_RTL_BITS or data.bits > _MOST_RTL_BITS + data.signed:
        return False
    if min(data.bits, weights.bits) < _LEAST_RTL_BITS:
        return False
    if depthwise:
        return technology.architecture == "versal"
    narrow = weights.min > -(2 ** (weights.bits - 1))
    return narrow or technology.dsp_block != "DSP48E1"


_HINT = "Change the network or its export at that operation."

NEEDS_NEWER_FINN = "built by FINN's development version only, whose engines of this kind fold"

ABSORBABLE = ("affine", "clip", "conv", "fully_connected", "relu")
"""Operations that thresholds compute if they wait on a wire; a layer waits there with its bias."""


@dataclass(frozen=True)
class Wire:
    """One end of a stream: the engine that drives it and what flows, channels last.

    ``shape`` is (1, height, width, channels) or (1, ..., features). ``last_dimension`` is that of the producer's
    output. ``xnor`` says that 0 and 1 stand for -1 and 1. ``pending`` are float operations that no engine has
    computed: thresholds further on absorb them, or they stay on the host.
    """

    source: str
    shape: tuple[int, ...]
    datatype: DataType
    last_dimension: int
    port: int = 0
    xnor: bool = False
    pending: tuple[Operation, ...] = ()

    @property
    def from_host(self) -> bool:
        """Whether no engine drives the wire."""
        return self.source.startswith(HOST_PREFIX)

    @property
    def is_one_bit(self) -> bool:
        """Whether it carries -1 and 1."""
        return self.xnor or self.datatype == BIPOLAR

    @property
    def attributes(self) -> dict[str, AttributeValue]:
        """What FINN's engines of channels say of the stream that they read."""
        return {
            "NumChannels": self.shape[-1],
            "inputDataType": self.datatype.name,
            "numInputVectors": self.shape[:-1],
        }

    @property
    def host_only(self) -> Operation | None:
        """The first waiting operation that only the host can compute."""
        return next((step for step in self.pending if step.type not in ABSORBABLE), None)

    def then(self, *operations: Operation) -> "Wire":
        """Return the wire with more operations waiting on it."""
        return replace(self, pending=(*self.pending, *operations))


@dataclass(frozen=True)
class Output:
    """What an engine sends: shape with channels last, and datatype."""

    shape: tuple[int, ...]
    datatype: DataType
    xnor: bool = False


@dataclass
class Lowering:
    """A network on its way into engines; ``wires`` holds for each tensor a wire for each reader to come.

    ``remarks`` collects, under a sentence for the user, the names of the operations that it is about.
    """

    network: Network
    technology: Technology
    lookahead: Lookahead
    finn: FinnVersion = "main"
    thresholds_apart: bool = False
    """Whether units of HLS, too, leave thresholds to an engine behind them."""
    wires: dict[str, list[Wire]] = field(default_factory=dict)
    engines: dict[str, Engine] = field(default_factory=dict)
    streams: list[Stream] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def newer(self) -> bool:
        """Whether that FINN has the newer engines: operands of any type, concatenations and upsampling that fold."""
        return self.finn != "main"

    def refuse(
        self, operation: Operation, reason: str, hint: str = _HINT, *, unsupported: bool = False
    ) -> ObstacleError:
        """Return the error for an operation that has no engine; ``unsupported`` if none of its type has."""
        is_named = operation.type in ("clip", "function") and "operator" in operation.attributes
        operator = operation.text("operator") if is_named else operation.type
        met = Obstacle(self.network.name, "operation", operation.name, operator, reason, hint, unsupported)
        return ObstacleError(met)

    def remark(self, sentence: str, operation: Operation) -> None:
        """Note something that may hold for many operations."""
        self.remarks.setdefault(sentence, []).append(f"'{operation.name}'")

    def stops(self, sentence: str, operation: Operation) -> None:
        """Note what FINN+'s own steps stop at, though it has the engines; docs/finn.md has the table."""
        if self.finn == "plus":
            self.remark(f"{UNBUILT}FINN+ 1.6.1's steps stop at {sentence}", operation)

    def take(self, tensor: str) -> Wire:
        """Return the wire that is meant for the next reader of a tensor."""
        return self.wires[tensor].pop(0)

    def inputs_of(self, operation: Operation) -> list[Wire]:
        """Return what feeds an operation, one wire an input."""
        return [self.take(tensor) for tensor in operation.inputs]

    def input_of(self, operation: Operation) -> Wire:
        """Return what feeds an operation's one data input."""
        (wire,) = self.inputs_of(operation)
        return wire

    def add(
        self,
        kind: str,
        operation: Operation,
        attributes: Attributes,
        wires: Wire | list[Wire],
        output: Output,
        *,
        weight_bits: int = 0,
    ) -> Wire:
        """Make an engine fed by one wire a port, named ``<kind>_<i>`` as FINN does, and return what it drives."""
        inputs = [wires] if isinstance(wires, Wire) else wires
        name = f"{kind}_{self._counts[kind]}"
        self._counts[kind] += 1
        bits = inputs[0].datatype.bits, output.datatype.bits
        self.engines[name] = described(Engine(name, kind, operation.name, attributes, weight_bits, *bits))
        for port, wire in enumerate(inputs):
            self._connect(wire, name, port)
        return Wire(name, output.shape, output.datatype, output.shape[-1], xnor=output.xnor)

    def widened(self, wire: Wire, datatype: DataType) -> Wire | None:
        """Let a matrix or vector unit send its accumulators in a wider type; None if something else drives the wire."""
        last = self.engines.get(wire.source)
        if last is None or last.attributes.get("noActivation") != 1:
            return None
        types = {"accDataType": datatype.name, "outputDataType": datatype.name}
        attributes = {**last.attributes, **types}
        self.engines[last.name] = replace(last, attributes=attributes, output_bits=datatype.bits)
        return replace(wire, datatype=datatype)

    def to_host(self, wire: Wire, index: int) -> None:
        """Send a wire out of the network as ``host:out<index>``; a last accumulator is padded to whole bytes."""
        padded = self.widened(wire, rounded_to_bytes(wire.datatype))
        self._connect(padded or wire, f"{HOST_PREFIX}out{index}", 0)

    def _connect(self, wire: Wire, target: str, port: int) -> None:
        elements, bits = prod(wire.shape), wire.datatype.bits
        self.streams.append(Stream(wire.source, wire.port, target, port, elements, wire.last_dimension, bits))
