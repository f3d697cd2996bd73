"""QuantizeLinear, Clip and DequantizeLinear (QDQ, QCDQ): the pair is one Quant, a Clip between them its bit width.

A DequantizeLinear of data only says that the integers stand for scaled numbers, so it becomes Identity; one of stored
integers is the quantiser of those weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.errors import some
from floorflow.network.datatype import DataType, integer, smallest
from floorflow.network.dialects.rewriting import Rewriting, integer_type, makers_of, require_inputs
from floorflow.network.facts import Facts, find_constants
from floorflow.network.onnx_file import Node, OnnxFile
from floorflow.network.soundness import STANDARD_DOMAINS

_DOMAINS = (*STANDARD_DOMAINS, "com.microsoft")
_OPERATORS = {"QuantizeLinear": 2, "DequantizeLinear": 2, "DynamicQuantizeLinear": 1}
"""The quantisers, and the inputs that each must have."""
_UINT8 = integer(8, signed=False)
"""What QuantizeLinear makes without a zero point."""
_HINT = "Give QuantizeLinear and DequantizeLinear a zero point of an integer type, or export QONNX."


@dataclass(frozen=True)
class _Graph:
    """The file before it is rewritten."""

    facts: Facts
    makers: Mapping[str, Node]
    readers: Mapping[str, list[Node]]

    @property
    def source(self) -> OnnxFile:
        return self.facts.source

    def quantises(self, name: str) -> Node | None:
        node = self.makers.get(name)
        return node if node and _is(node, "QuantizeLinear") else None

    def only_clipped(self, name: str) -> bool:
        """Whether nothing but Clips with constant bounds reads a quantised tensor."""
        readers = self.readers.get(name, [])
        return bool(readers) and name not in self.source.outputs and all(map(self.narrows, readers))

    def narrows(self, node: Node) -> bool:
        """Whether a node is the C of QCDQ."""
        return _is(node, "Clip") and self.facts.constants.issuperset(filter(None, node.inputs[1:]))


def rewrite(source: OnnxFile) -> OnnxFile:
    """Return the file with a Quant for each quantiser.

    InputError if a quantiser does not say to which integers; names file and node.
    """
    if not any(_is(node, *_OPERATORS) for node in source.nodes):
        return source
    require_inputs(source, {**_OPERATORS, "Clip": 1}, _DOMAINS)
    readers: dict[str, list[Node]] = {}
    for node in source.nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node)
    graph = _Graph(Facts(source, {}, find_constants(source)), makers_of(source), readers)
    rewriting = Rewriting(source)
    for node in source.nodes:
        _rewrite_or_collect(rewriting, graph, node)
    rewriting.notes += _notes(graph)
    return rewriting.finish()


def _rewrite_or_collect(rewriting: Rewriting, graph: _Graph, node: Node) -> None:
    """Rewrite a node; one that cannot be is collected, and an 8-bit quantiser stands for it."""

    def stand_in() -> None:
        data = (graph.quantises(node.inputs[0]) or node).inputs[0]
        one = rewriting.constant(f"{node.outputs[0]} scale", 1.0)
        rewriting.quant(node.name, [data, one, one], node.outputs[0], _UINT8)

    rewriting.obstacles.tried(lambda: _rewrite(rewriting, graph, node), stand_in)


def _rewrite(rewriting: Rewriting, graph: _Graph, node: Node) -> None:
    quantiser = graph.quantises(node.inputs[0]) if node.inputs and graph.narrows(node) else None
    if quantiser:
        datatype = _clipped(rewriting, graph, node, _made_by(rewriting, graph, quantiser))
        rewriting.quant(quantiser.name, _quant_inputs(quantiser), node.outputs[0], datatype)
    elif _is(node, "QuantizeLinear"):
        if not graph.only_clipped(node.outputs[0]):
            datatype = _made_by(rewriting, graph, node)
            rewriting.quant(node.name, _quant_inputs(node), node.outputs[0], datatype)
    elif _is(node, "DequantizeLinear"):
        _dequantise(rewriting, graph, node)
    elif _is(node, "DynamicQuantizeLinear"):
        parameters = [rewriting.constant(name, 1.0) for name in node.outputs[1:] if name]
        one = rewriting.constant(f"{node.outputs[0]} scale", 1.0)
        rewriting.quant(node.name, [node.inputs[0], *parameters[:2], one, one][:3], node.outputs[0], _UINT8)
    else:
        rewriting.keep(node)


def _dequantise(rewriting: Rewriting, graph: _Graph, node: Node) -> None:
    """Read stored integers as quantised weights, and pass on data or what a quantiser has made."""
    name = node.inputs[0]
    maker = graph.makers.get(name)
    clip = maker if maker and graph.narrows(maker) else None
    if name not in graph.facts.constants or graph.quantises(clip.inputs[0] if clip else name):
        rewriting.add(node.name, "Identity", [name], node.outputs[0])
        return
    stored = integer_type(graph.source, graph.makers, node.optional(2)) or integer_type(
        graph.source, graph.makers, name
    )
    if stored is None:
        raise rewriting.refuse(node, f"the type of the integers in '{name}' is not known", _HINT)
    datatype = _clipped(rewriting, graph, clip, stored) if clip else stored
    rewriting.quant(node.name, _quant_inputs(node), node.outputs[0], datatype)


def _made_by(rewriting: Rewriting, graph: _Graph, node: Node) -> DataType:
    """Return the type that a QuantizeLinear makes: its zero point's."""
    zero = node.optional(2)
    if not zero:
        return _UINT8
    datatype = integer_type(graph.source, graph.makers, zero)
    if datatype is None:
        raise rewriting.refuse(node, f"its zero point '{zero}' is of no integer type", _HINT)
    return datatype


def _clipped(rewriting: Rewriting, graph: _Graph, node: Node, datatype: DataType) -> DataType:
    """Return the type that a Clip of integers leaves: bounds of -1 and 1 are those of a narrow INT2."""
    low, high = (
        _bound(graph, node, position, key, default)
        for position, key, default in ((1, "min", datatype.min), (2, "max", datatype.max))
    )
    full = smallest(low, high)
    if full.signed and full.bits > 1 and (low, high) == (full.min + 1, full.max):
        return integer(full.bits, signed=True, narrow=True)
    if not full.signed and (low, high) == (0, full.max - 1):
        return integer(full.bits, signed=False, narrow=True)
    if low > high:
        raise rewriting.refuse(node, f"its bounds {low} and {high} leave no values", "Export the network again.")
    return full


def _bound(graph: _Graph, node: Node, position: int, attribute: str, default: int) -> int:
    name = node.optional(position)
    if name:
        return int(graph.facts.number(name, node, f"the {attribute} of its bounds"))
    return int(node.attributes.get(attribute, default))


def _quant_inputs(node: Node) -> list[str]:
    """Return data, scale and zero point; Quant takes a scale for an absent zero point just as well."""
    return [node.inputs[0], node.inputs[1], node.optional(2) or node.inputs[1]]


def _is(node: Node, *op_types: str) -> bool:
    return node.domain in _DOMAINS and node.op_type in op_types


def _notes(graph: _Graph) -> list[str]:
    """Say what Quant cannot: zero points and scales that engines do not keep as they are."""
    notes = []
    shifted = [node for node in graph.source.nodes if _is(node, "QuantizeLinear") and _is_shifted(graph, node)]
    if shifted:
        few = some(f"'{node.name}'" for node in shifted)
        notes.append(f"zero points other than 0 are left to the thresholds and biases behind: {few}")
    dynamic = [f"'{node.name}'" for node in graph.source.nodes if _is(node, "DynamicQuantizeLinear")]
    if dynamic:
        notes.append(f"quantised with a scale computed from the data, planned with a fixed one: {some(dynamic)}")
    return notes


def _is_shifted(graph: _Graph, node: Node) -> bool:
    value = graph.facts.value(node.optional(2)) if node.optional(2) else None
    return value is not None and bool(value.any())
