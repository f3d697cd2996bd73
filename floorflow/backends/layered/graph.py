"""Engines of a network's operations, joined as its tensors are; a tensor that several read is copied by an engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from floorflow.dataflow.model import HOST_PREFIX, Dataflow, Engine, Stream
from floorflow.errors import InputError
from floorflow.network import Network, Tensor

End = tuple[str, int]
Reader = tuple[End, str]
"""An input port, and the operation of its engine; empty for the host."""
Copier = Callable[[str, Tensor, int, int], Engine]
"""From name, tensor, bits of an element and number of readers to the engine that copies it."""


@dataclass(frozen=True)
class Wires:
    """Tensors of a network under the name of the one that an engine, or the host, makes: ``maker`` by every name."""

    network: Network
    maker: Mapping[str, str]
    float_bits: int

    @classmethod
    def of(
        cls, network: Network, without_engine: frozenset[str], float_bits: int, merged: frozenset[str] = frozenset()
    ) -> Wires:
        """Return the wires where operations of some types, and some by name (``merged``), have no engine.

        ``float_bits``: of what no one quantised.
        """
        maker = {name: name for name in network.inputs}
        for operation in network.operations:
            for output in operation.outputs:
                passes = operation.type in without_engine or operation.name in merged
                maker[output] = maker[operation.inputs[0]] if passes else output
        return cls(network, maker, float_bits)

    def tensor(self, name: str) -> Tensor:
        """Return the tensor as it is made."""
        return self.network.tensor(self.maker[name])

    def bits(self, name: str) -> int:
        """Return the bits of an element: of its widest quantiser, if it has any."""
        alike = [t for t, maker in self.maker.items() if maker == self.maker[name] and t not in self.network.inputs]
        types = [self.network.tensor(t).datatype for t in alike]
        return max((each.bits for each in types if each.is_integer), default=self.float_bits)


def joined(wires: Wires, engines: Mapping[str, Engine], copier: Copier) -> Dataflow:
    """Return the dataflow of engines by the names of their operations, all others having none.

    Engines are in the order of operations, each copier behind what it copies.

    Raises
    ------
    InputError
        If there is no engine.

    """
    network = wires.network
    if not engines:
        raise InputError(f"{network.name}: no operation of it is a layer", hint="there is nothing to plan")
    made, readers = _Made(wires, copier), _readers(wires, engines)
    for number, name in enumerate(network.inputs):
        # An input that is an output as it came, and nothing else, stays with the host.
        if any(operation for _, operation in readers.get(name, [])):
            made.read(name, (f"{HOST_PREFIX}in{number}", 0), readers[name])
    for operation in network.operations:
        if operation.name in engines:
            engine, output = engines[operation.name], operation.outputs[0]
            made.engines.append(engine)
            made.read(output, (engine.name, 0), readers.get(output, []), operation.name)
    return Dataflow(network.name, tuple(made.engines), tuple(made.streams), network.notes)


def _readers(wires: Wires, engines: Mapping[str, Engine]) -> dict[str, list[Reader]]:
    found: dict[str, list[Reader]] = {}
    for operation in wires.network.operations:
        if operation.name in engines:
            for port, name in enumerate(operation.inputs):
                end = engines[operation.name].name, port
                found.setdefault(wires.maker[name], []).append((end, operation.name))
    for number, name in enumerate(wires.network.outputs):
        found.setdefault(wires.maker[name], []).append(((f"{HOST_PREFIX}out{number}", 0), ""))
    return found


@dataclass
class _Made:
    """Engines and streams so far."""

    wires: Wires
    copier: Copier
    engines: list[Engine] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)

    def read(self, name: str, source: End, readers: list[Reader], operation: str = "") -> None:
        """Join a tensor's maker to all that read it; a copier belongs to the operation, or to the first reader's."""
        tensor, bits = self.wires.tensor(name), self.wires.bits(name)
        stream = Stream(*source, "", 0, tensor.elements, tensor.shape[1], bits)
        sources = [source] * len(readers)
        if len(readers) > 1:
            plain = re.sub(r"\W", "_", source[0])
            copy = self.copier(f"{plain}_copy", tensor, bits, len(readers))
            self.engines.append(replace(copy, operation=operation or readers[0][1]))
            self.streams.append(replace(stream, target=copy.name))
            sources = [(copy.name, port) for port in range(len(readers))]
        for (start, port), ((end, end_port), _) in zip(sources, readers, strict=True):
            self.streams.append(replace(stream, source=start, source_port=port, target=end, target_port=end_port))


def plain_names(names: list[str]) -> dict[str, str]:
    """Return a name of letters, digits and ``_`` for each, once."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"\W", "_", name) or "layer"
        plain = plain if plain[0].isalpha() else f"layer_{plain}"
        number, made = 0, plain
        while made in found.values():
            number += 1
            made = f"{plain}_{number}"
        found[name] = made
    return found
