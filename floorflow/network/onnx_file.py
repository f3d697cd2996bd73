"""Bring an ONNX file into plain nodes, initialisers and inputs, with one clear error for each broken file."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import helper, numpy_helper

from floorflow.errors import InputError
from floorflow.network import soundness
from floorflow.network.obstacles import Obstacle
from floorflow.reading import read_bytes

EXPORT_HINT = "Export the network as QONNX, for example with Brevitas' export_qonnx."

SMALL_ELEMENTS = 64
"""Larger tensors are weights, whose values are never looked at."""

_DEFAULT_OPSET = 13
"""For files that forget to import ONNX's own operators."""

_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED_BYTES = {1: 8, 5: 4}
"""Sizes of protobuf's fixed wire types."""

_FIRST_BYTE = 0x08
"""Field 1 (``ir_version``) as a varint: how every ONNX writer begins."""


@dataclass(frozen=True)
class Node:
    """One ONNX node with a unique name and decoded attributes; names of absent inputs are empty."""

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    proto: onnx.NodeProto

    def optional(self, position: int) -> str:
        """Return an input that may be absent, then an empty name."""
        return self.inputs[position] if len(self.inputs) > position else ""

    def integers(self, key: str) -> tuple[int, ...]:
        """Return an attribute of integers, empty if it is absent or none."""
        value = self.attributes.get(key)
        return tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else ()

    def integer(self, key: str, default: int) -> int:
        """Return an attribute that is one integer, the default if it is absent or none."""
        value = self.attributes.get(key, default)
        return value if isinstance(value, int) else default


@dataclass(frozen=True)
class OnnxFile:
    """What a file holds: its nodes in file order, and the true inputs (initialisers are none)."""

    path: str
    model: onnx.ModelProto
    nodes: tuple[Node, ...]
    initialisers: Mapping[str, onnx.TensorProto]
    inputs: tuple[onnx.ValueInfoProto, ...]
    outputs: tuple[str, ...]
    sha256: str = ""
    notes: tuple[str, ...] = ()
    """What was assumed while a dialect was brought into QONNX."""
    obstacles: tuple[Obstacle, ...] = ()
    """What could not be brought into QONNX."""
    file_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Shapes in the file of tensors that a dialect has given another, for messages."""
    activation_bits: int = 0
    """Width that activations of a network without quantisers were given, else 0."""

    @property
    def name(self) -> str:
        """The file's name without folders and without ``.onnx``."""
        return Path(self.path).name.removesuffix(".onnx")

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        return _opset(self.model)


def load(path: Path) -> OnnxFile:
    """Read a file; weights kept outside the file are not needed and not read.

    InputError if the file is missing, empty, cut off, not ONNX or holds no graph.
    """
    data = read_bytes(path, "model", "Give the path of the .onnx file itself.")
    if not data:
        raise InputError(f"{path}: the file is empty", EXPORT_HINT)
    model = _parse(path, data)
    graph = model.graph
    if not graph.node or not graph.output:
        raise InputError(f"{path}: the file holds no graph with nodes and outputs", EXPORT_HINT)
    soundness.check(str(path), model, _opset(model))
    initialisers = {tensor.name: tensor for tensor in graph.initializer}
    for tensor in initialisers.values():
        # A small initialiser, whose value may matter, has to hold what it declares.
        try:
            if is_small(tensor):
                numpy_helper.to_array(tensor)
        except (TypeError, ValueError, KeyError) as error:
            raise InputError(f"{path}: initialiser '{tensor.name}' is damaged: {error}", EXPORT_HINT) from None
    _check_makers(path, graph)
    inputs = tuple(value for value in graph.input if value.name not in initialisers)
    outputs = tuple(value.name for value in graph.output)
    return OnnxFile(
        str(path), model, tuple(_nodes(graph)), initialisers, inputs, outputs, hashlib.sha256(data).hexdigest()
    )


def _opset(model: onnx.ModelProto) -> int:
    versions = (entry.version for entry in model.opset_import if entry.domain in soundness.STANDARD_DOMAINS)
    return next(versions, _DEFAULT_OPSET)


def rewritten(
    source: OnnxFile,
    nodes: Iterable[onnx.NodeProto],
    initialisers: Iterable[onnx.TensorProto] = (),
    notes: Iterable[str] = (),
    obstacles: Iterable[Obstacle] = (),
) -> OnnxFile:
    """Return the file with other nodes, more initialisers, notes and obstacles.

    The model is changed in place: its weights may be large, and the reader alone holds it.
    """
    graph, protos = source.model.graph, list(nodes)
    del graph.node[:]
    graph.node.extend(protos)
    graph.initializer.extend(initialisers)
    return replace(
        source,
        nodes=tuple(_nodes(graph)),
        initialisers={tensor.name: tensor for tensor in graph.initializer},
        notes=(*source.notes, *notes),
        obstacles=(*source.obstacles, *obstacles),
    )


def _parse(path: Path, data: bytes) -> onnx.ModelProto:
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(data)
    except DecodeError:
        if _is_cut_off(data):
            raise InputError(
                f"{path}: the ONNX file is truncated after {len(data)} bytes",
                "Copy or export the file again.",
            ) from None
        raise InputError(f"{path}: the file is not an ONNX model", EXPORT_HINT) from None
    if not all(isinstance(text, str) for text in _texts(model)):
        raise InputError(f"{path}: the ONNX file is damaged: a name in it is not text", EXPORT_HINT)
    if not model.HasField("graph"):
        raise InputError(f"{path}: the file is not an ONNX model: it holds no graph", EXPORT_HINT)
    return model


def _texts(model: onnx.ModelProto) -> Iterator[str]:
    """Yield every name in a model; protobuf gives bytes for one that is not valid UTF-8."""
    graph = model.graph
    yield graph.name
    yield from (entry.domain for entry in model.opset_import)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    yield from (tensor.name for tensor in graph.initializer)


def _is_cut_off(data: bytes) -> bool:
    """Whether the outermost protobuf fields are sound up to one that promises more bytes than there are."""
    if data[0] != _FIRST_BYTE:
        return False
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire_type = key & 7
        if wire_type == _VARINT:
            _, position = _varint(data, position)
        elif wire_type == _LENGTH_DELIMITED:
            length, position = _varint(data, position)
            position += length
        elif wire_type in _FIXED_BYTES:
            position += _FIXED_BYTES[wire_type]
        else:
            return False
    return position > len(data)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Decode a protobuf varint; a cut one ends beyond the data."""
    value = shift = 0
    while position < len(data):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
    return value, position + 1


def _check_makers(path: Path, graph: onnx.GraphProto) -> None:
    """Refuse a tensor that two nodes make: which of them a reader means cannot be known."""
    makers: dict[str, onnx.NodeProto] = {}
    for node in graph.node:
        for name in filter(None, node.output):
            if name in makers:
                both = f"node '{makers[name].name}' ({makers[name].op_type}) and by node '{node.name}' ({node.op_type})"
                raise InputError(f"{path}: tensor '{name}' is made by {both}", EXPORT_HINT)
            makers[name] = node


def is_small(tensor: onnx.TensorProto) -> bool:
    """Whether a tensor may be a shape or a bit width, and lies in the file."""
    return tensor.data_location != onnx.TensorProto.EXTERNAL and prod(tensor.dims) <= SMALL_ELEMENTS


def _nodes(graph: onnx.GraphProto) -> Iterator[Node]:
    """Yield the nodes; one without a name, or with a name already taken, is called ``<op type>_<index>``."""
    taken: set[str] = set()
    for index, node in enumerate(graph.node):
        name = node.name if node.name and node.name not in taken else f"{node.op_type}_{index}"
        while name in taken:
            name = f"{name}_{index}"
        taken.add(name)
        node.name = name
        attributes = {attribute.name: _attribute(attribute) for attribute in node.attribute}
        yield Node(name, node.op_type, node.domain, tuple(node.input), tuple(node.output), attributes, node)


def _attribute(attribute: onnx.AttributeProto) -> Any:
    """Return a value with text as ``str`` and lists as tuples."""
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if attribute.type == onnx.AttributeProto.INTS:
        return tuple(value)
    return value
