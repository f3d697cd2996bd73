"""What every dialect needs to rewrite a graph: new nodes and constants, and the element types of tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx
from onnx import TensorProto, helper

from floorflow.network.datatype import DataType, integer
from floorflow.network.obstacles import Obstacle, ObstacleError, Obstacles
from floorflow.network.onnx_file import Node, OnnxFile, rewritten
from floorflow.network.shapes import QONNX_DOMAIN
from floorflow.network.soundness import STANDARD_DOMAINS

_LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")

_WIDTHS = {
    "INT2": integer(2, signed=True),
    "UINT2": integer(2, signed=False),
    "INT4": integer(4, signed=True),
    "UINT4": integer(4, signed=False),
    "INT8": integer(8, signed=True),
    "UINT8": integer(8, signed=False),
    "INT16": integer(16, signed=True),
    "UINT16": integer(16, signed=False),
    "INT32": integer(32, signed=True),
}
_INTEGERS: Mapping[int, DataType] = {
    TensorProto.DataType.Value(name): datatype
    for name, datatype in _WIDTHS.items()
    if name in TensorProto.DataType.keys()  # noqa: SIM118 - a protobuf enumeration; older onnx has no 2-bit types
}


@dataclass
class Rewriting:
    """A graph while it is rewritten: the nodes and constants made so far, and what the user should know."""

    source: OnnxFile
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initialisers: list[onnx.TensorProto] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    obstacles: Obstacles = field(default_factory=Obstacles)

    def keep(self, node: Node) -> None:
        """Keep a node as it is."""
        self.nodes.append(node.proto)

    def add(self, name: str, op_type: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node of ONNX's own and return its output."""
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def like(self, node: Node, op_type: str, inputs: list[str], output: str, drop: tuple[str, ...] = ()) -> str:
        """Add a node of ONNX's own with the name and attributes of another, and return its output."""
        made = helper.make_node(op_type, inputs, [output], name=node.name)
        made.attribute.extend(a for a in node.proto.attribute if a.name not in drop)
        self.nodes.append(made)
        return output

    def changed(self, node: Node, inputs: list[str] | None = None, **attributes: Any) -> None:
        """Add a node as it is but for its inputs and some attributes; None leaves one out."""
        made = onnx.NodeProto()
        made.CopyFrom(node.proto)
        del made.attribute[:]
        made.attribute.extend(attribute for attribute in node.proto.attribute if attribute.name not in attributes)
        made.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items() if v is not None)
        if inputs is not None:
            del made.input[:]
            made.input.extend(inputs)
        self.nodes.append(made)

    def quant(self, name: str, inputs: list[str], output: str, datatype: DataType) -> str:
        """Add a QONNX Quant of (data, scale, zero point) to a datatype and return its output."""
        bits = self.constant(f"{output} bits", float(datatype.bits))
        narrow = datatype.min == -datatype.max if datatype.signed else datatype.max < 2**datatype.bits - 1
        node = helper.make_node("Quant", [*inputs, bits], [output], name=name, domain=QONNX_DOMAIN)
        flags = {"narrow": int(narrow and datatype.bits > 1), "signed": int(datatype.signed)}
        node.attribute.extend(helper.make_attribute(key, value) for key, value in flags.items())
        self.nodes.append(node)
        return output

    def constant(self, name: str, value: float) -> str:
        """Add a float constant and return its name."""
        self.initialisers.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
        return name

    def integers(self, name: str, values: tuple[int, ...]) -> str:
        """Add a list of integers, such as a shape, and return its name."""
        self.initialisers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def floats(self, name: str, values: list[float]) -> str:
        """Add a list of floats and return its name."""
        self.initialisers.append(helper.make_tensor(name, TensorProto.FLOAT, [len(values)], values))
        return name

    def unknown(self, name: str, count: int = 2) -> str:
        """Add a constant that stands for one nobody knows; of two elements or more no two such count as equal."""
        self.initialisers.append(helper.make_tensor(name, TensorProto.FLOAT, [count], [1.0] * count))
        return name

    def finish(self) -> OnnxFile:
        """Return the rewritten file."""
        imported = {entry.domain for entry in self.source.model.opset_import}
        if QONNX_DOMAIN not in imported:
            self.source.model.opset_import.append(helper.make_opsetid(QONNX_DOMAIN, 1))
        return rewritten(self.source, self.nodes, self.initialisers, self.notes, self.obstacles.met)

    def refuse(self, node: Node, reason: str, hint: str) -> ObstacleError:
        """Return the error for a node that cannot be rewritten."""
        return ObstacleError(Obstacle(self.source.path, "node", node.name, node.op_type, reason, hint))


def require_inputs(source: OnnxFile, counts: Mapping[str, int], domains: tuple[str, ...]) -> None:
    """Check that every node of a dialect's operators has the inputs that its rewriting reads, and an output.

    InputError names file and nodes.
    """
    obstacles = Obstacles()
    for node in source.nodes:
        least = counts.get(node.op_type, 0) if node.domain in domains else 0
        if least and (len(node.inputs) < least or "" in node.inputs[:least] or not node.outputs):
            reason = f"expected {least} inputs and an output, found {len(list(filter(None, node.inputs)))}"
            hint = "Check the file with onnx.checker, and export it again."
            obstacles.met.append(Obstacle(source.path, "node", node.name, node.op_type, reason, hint))
    obstacles.check()


def makers_of(source: OnnxFile) -> dict[str, Node]:
    """Return the node that makes each tensor."""
    return {name: node for node in source.nodes for name in node.outputs}


def integer_type(source: OnnxFile, makers: Mapping[str, Node], name: str) -> DataType | None:
    """Return the type that a tensor of integers is stored in; None if that is not said."""
    seen: set[str] = set()
    while name in makers and name not in seen:
        seen.add(name)
        node = makers[name]
        if isinstance(node.attributes.get("value"), onnx.TensorProto):
            return _INTEGERS.get(node.attributes["value"].data_type)
        if node.op_type == "Cast":
            return _INTEGERS.get(node.attributes.get("to", TensorProto.UNDEFINED))
        name = node.optional(0)
    if name in source.initialisers:
        return _INTEGERS.get(source.initialisers[name].data_type)
    declared = (value.type.tensor_type.elem_type for value in source.inputs if value.name == name)
    return _INTEGERS.get(next(declared, TensorProto.UNDEFINED))


def weights_of(node: Node) -> str:
    """Return the name of a layer's weights, empty for other nodes."""
    return node.optional(1) if node.domain in STANDARD_DOMAINS and node.op_type in _LAYERS else ""
