"""The state of one lowering: wires of the growing dataflow, and the engines and streams made so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from math import prod

from floorflow.backends.finn.lower_lookahead import Lookahead
from floorflow.backends.finn.lower_types import rounded_to_bytes
from floorflow.dataflow.model import HOST_PREFIX, Attributes, Engine, Stream
from floorflow.errors import InputError
from floorflow.network.datatype import DataType
from floorflow.network.model import Network, Operation
from floorflow.technology import Technology

_SUPPORTED_HINT = "FINN's engines cover chains of conv, fully connected and pool layers with quantised activations."


@dataclass(frozen=True)
class Wire:
    """One end of a stream: the engine that drives it and what flows, channels last.

    ``shape`` is (1, height, width, channels) or (1, features). ``last_dimension`` is that of the producer's
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


@dataclass(frozen=True)
class Output:
    """What an engine sends: shape with channels last, and datatype."""

    shape: tuple[int, ...]
    datatype: DataType
    xnor: bool = False


@dataclass
class Lowering:
    """A network on its way into engines; ``wires`` maps tensors to what carries them."""

    network: Network
    technology: Technology
    lookahead: Lookahead
    wires: dict[str, Wire] = field(default_factory=dict)
    engines: dict[str, Engine] = field(default_factory=dict)
    streams: list[Stream] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def refuse(self, operation: Operation, reason: str, hint: str = _SUPPORTED_HINT) -> InputError:
        """Return the error for an operation that has no engine."""
        return InputError(f"{self.network.name}: operation '{operation.name}' ({operation.type}): {reason}", hint)

    def input_of(self, operation: Operation) -> Wire:
        """Return what feeds an operation's one data input.

        Raises
        ------
        InputError
            If the operation joins branches, or others read the same tensor.

        """
        tensor = operation.inputs[0]
        readers = len(self.network.consumers(tensor)) + self.network.outputs.count(tensor)
        if len(operation.inputs) != 1:
            raise self.refuse(operation, f"it joins {len(operation.inputs)} branches, which is not supported yet")
        if readers > 1:
            raise self.refuse(
                operation,
                f"tensor '{tensor}' branches: it is read {readers} times, which is not supported yet",
            )
        return self.wires[tensor]

    def add(
        self,
        kind: str,
        operation: Operation,
        attributes: Attributes,
        wire: Wire,
        output: Output,
        *,
        weight_bits: int = 0,
    ) -> Wire:
        """Make an engine fed by ``wire``, named ``<kind>_<i>`` as FINN does, and return what it drives."""
        name = f"{kind}_{self._counts[kind]}"
        self._counts[kind] += 1
        bits = wire.datatype.bits, output.datatype.bits
        self.engines[name] = Engine(name, kind, operation.name, attributes, weight_bits, *bits)
        self._connect(wire, name)
        return Wire(name, output.shape, output.datatype, output.shape[-1], xnor=output.xnor)

    def to_host(self, wire: Wire, index: int) -> None:
        """Send a wire out of the network as ``host:out<index>``; a last accumulator is padded to whole bytes."""
        last = self.engines.get(wire.source)
        if last and last.attributes.get("noActivation") == 1:
            wire = replace(wire, datatype=rounded_to_bytes(wire.datatype))
            types = {"accDataType": wire.datatype.name, "outputDataType": wire.datatype.name}
            attributes = {**last.attributes, **types}
            self.engines[last.name] = replace(last, attributes=attributes, output_bits=wire.datatype.bits)
        self._connect(wire, f"{HOST_PREFIX}out{index}")

    def _connect(self, wire: Wire, target: str) -> None:
        elements, bits = prod(wire.shape), wire.datatype.bits
        self.streams.append(Stream(wire.source, wire.port, target, 0, elements, wire.last_dimension, bits))
