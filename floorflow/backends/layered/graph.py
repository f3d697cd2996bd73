"""A model file as layers of a tool, and their engines, joined as the network's tensors are.

A tensor that several read is copied by an engine.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from floorflow.dataflow.model import HOST_PREFIX, Dataflow, Engine, Stream
from floorflow.errors import InputError, some
from floorflow.facts.names import underscored
from floorflow.network import FloatBits, Network, Operation, Tensor, partial_network
from floorflow.network.obstacles import Obstacles
from floorflow.network.onnx_file import OnnxFile, load

_AFTER_CLEAN_UP: Mapping[str, str] = {"Gemm": "MatMul"}
"""Operators that QONNX makes of others before it numbers them."""
_EIGHT_BIT_INPUT = re.compile(r"input '.*' has no quantiser before ")
"""The reader's note that it takes such an input as 8 bits; here it has the bits of the other activations."""
_FLOAT = "the network has no quantisers"
_BITS_OPTIONS = ("weight_bits", "activation_bits")


@dataclass(frozen=True)
class LayerSource:
    """A model that was read; ``clean_names`` are nodes' names after ``qonnx.util.cleanup``, by their own.

    ``has_quantisers``: whether it says itself which bits values have.
    """

    network: Network
    sha256: str
    clean_names: Mapping[str, str]
    has_quantisers: bool


def read_layers(path: Path, bits: FloatBits) -> LayerSource:
    """Read ONNX of any dialect; ``bits`` are for one without quantisers.

    Raises InputError if the file is missing, broken or not understood at all.
    """
    return layers_from(load(path), bits)


def layers_from(file: OnnxFile, bits: FloatBits) -> LayerSource:
    """Return the same of a file that was loaded; its model is changed in place."""
    names, sha256 = _clean_names(file), file.sha256  # before dialects rewrite the model in place
    network = partial_network(file, bits)
    notes = tuple(_own_spelling(note) for note in network.notes if not _EIGHT_BIT_INPUT.match(note))
    return LayerSource(replace(network, notes=notes), sha256, names, _FLOAT not in " ".join(network.notes))


def check_read(network: Network) -> None:
    """Refuse a network of which not everything could be read; all obstacles are named."""
    Obstacles(list(network.obstacles)).check("The back end reads networks of convolutions, dense layers and pools.")


def _clean_names(file: OnnxFile) -> dict[str, str]:
    counted: Counter[str] = Counter()
    names = {}
    for node in file.nodes:
        op = _AFTER_CLEAN_UP.get(node.op_type, node.op_type)
        names[node.name] = f"{op}_{counted[op]}"
        counted[op] += 1
    return names


def _own_spelling(note: str) -> str:
    for name in _BITS_OPTIONS:
        note = note.replace(f"--{name.replace('_', '-')}", f"--backend-option {name}")
    return note


_IMAGE = 2
"""Dimensions of an image: these tools' layers of sequences, and of volumes, are others."""


def refuse_others(
    network: Network, operations: Sequence[Operation], has_layer: Callable[[Operation], bool], tool: str, hint: str
) -> None:
    """Refuse a network with operations that a tool has no layer for.

    Raises InputError if there are any; all of them are named.
    """
    missing = [f"'{operation.name}' ({operation.type})" for operation in operations if not has_layer(operation)]
    if missing:
        raise InputError(f"{network.name}: no layer of {tool} for {', '.join(missing)}", hint=hint)


def without_host_tail(network: Network, on_host: AbstractSet[str], passing: AbstractSet[str]) -> Network:
    """Return the network without what the host computes behind the last layer; a note names it.

    ``on_host``: types of operations that no layer computes; ``passing``: those that need none and may follow.
    """
    tail: set[str] = set()
    for operation in reversed(network.operations):
        readers = (reader.name for name in operation.outputs for reader in network.consumers(name))
        if operation.type in on_host | passing and tail.issuperset(readers):
            tail.add(operation.name)
    source: dict[str, str] = {}
    for operation in network.operations:
        first = operation.inputs[0]
        starts = operation.type in on_host and operation.name in tail and first not in network.inputs
        if first in source or starts:
            source |= dict.fromkeys(operation.outputs, source.get(first, first))
    gone = [operation for operation in network.operations if operation.outputs[0] in source]
    if not gone:
        return network
    names = some([f"'{operation.name}'" for operation in gone])
    return replace(
        network,
        outputs=tuple(dict.fromkeys(source.get(name, name) for name in network.outputs)),
        operations=tuple(operation for operation in network.operations if operation not in gone),
        notes=(*network.notes, f"computed on the host, behind the last layer: {names}"),
    )


def has_square_kernel(operation: Operation) -> bool:
    """Whether its kernel, if it has one, is of an image, as high as it is wide, and slides over the image as it is."""
    if "spread" in operation.attributes:
        return False
    kernel = operation.attributes.get("kernel", (1, 1))
    return isinstance(kernel, tuple) and len(kernel) == _IMAGE and len({*kernel}) == 1


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
    ) -> "Wires":
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

    Raises InputError if there is no engine.
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
            plain = underscored(source[0])
            copy = self.copier(f"{plain}_copy", tensor, bits, len(readers))
            self.engines.append(replace(copy, operation=operation or readers[0][1]))
            self.streams.append(replace(stream, target=copy.name))
            sources = [(copy.name, port) for port in range(len(readers))]
        for (start, port), ((end, end_port), _) in zip(sources, readers, strict=True):
            self.streams.append(replace(stream, source=start, source_port=port, target=end, target_port=end_port))


def window_fill(image: tuple[int, int], kernel: tuple[int, int], pads: tuple[int, ...]) -> Fraction:
    """Return the share of a frame up to the last pixel of the first window; ``pads`` are those above and left first."""
    (rows, columns), (high, wide) = image, kernel
    row = min(max(high - pads[0], 1), rows) - 1
    return Fraction(row * columns + min(max(wide - pads[1], 1), columns), rows * columns)
