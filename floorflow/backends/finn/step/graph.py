"""A built dataflow graph as FINN saves it: its engines, and what lies on each stream between two of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx
from onnx import helper

PASSING = ("CheckSum", "IODMA", "StreamingDataWidthConverter", "StreamingFIFO", "TLastMarker")
"""Kinds that pass on what they get."""
MARK = "floorflow_engine"
"""Under this key a node remembers its engine, which alone tells apart branches that are alike in all else."""


def family(op_type: str) -> str:
    """Return an op type without ``_hls`` or ``_rtl``."""
    return op_type.removesuffix("_hls").removesuffix("_rtl")


@dataclass(eq=False)
class BuiltNode:
    """A node; ``kernel`` is the number of the kernel that holds it, -1 outside of kernels.

    ``inputs`` are tensors that carry data, parameters left out; ``positions`` say which inputs of the node they are.
    """

    name: str
    op_type: str
    attributes: dict[str, Any]
    inputs: list[str]
    outputs: list[str]
    positions: list[int] = field(default_factory=list)
    kernel: int = -1
    proto: Any = None
    is_transparent: bool = False
    """Whether it passes on what it gets although other plans have it as an engine: a Reshape."""

    @property
    def family(self) -> str:
        """The op type without ``_hls`` or ``_rtl``."""
        return family(self.op_type)

    @property
    def passes(self) -> bool:
        """Whether the node only passes on what it gets."""
        return self.is_transparent or self.family in PASSING

    @property
    def mark(self) -> str:
        """The engine that floorflow_fold took the node for; empty if it has not seen it."""
        found = getattr(self.proto, "metadata_props", ())
        return next((str(entry.value) for entry in found if entry.key == MARK), "")

    @property
    def is_fifo(self) -> bool:
        """Whether the node is a FIFO."""
        return self.family == "StreamingFIFO"

    @property
    def is_dma(self) -> bool:
        """Whether the node is a DMA engine."""
        return self.family == "IODMA"

    @property
    def is_converter(self) -> bool:
        """Whether the node is a width converter."""
        return self.family == "StreamingDataWidthConverter"


@dataclass(eq=False)
class BuiltStream:
    """A stream between two engines, None for what is outside; ``chain`` is what it passes, from source to target."""

    source: BuiltNode | None
    source_port: int
    target: BuiltNode | None
    target_port: int
    chain: list[BuiltNode]


@dataclass
class BuiltGraph:
    """All nodes in order, and the streams between engines: those into engines first, in the engines' order."""

    nodes: list[BuiltNode]
    streams: list[BuiltStream]

    @property
    def engines(self) -> list[BuiltNode]:
        """The nodes that compute."""
        return [node for node in self.nodes if not node.passes]


def attributes_of(proto: onnx.NodeProto) -> dict[str, Any]:
    """Return a node's attributes with texts as ``str``."""
    found = {}
    for attribute in proto.attribute:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            value = [item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in value]
        found[attribute.name] = value
    return found


def read_nodes(
    graph: onnx.GraphProto, inside: str = "", outer_names: Mapping[str, str] | None = None
) -> list[BuiltNode]:
    """Return a graph's nodes; tensors that are no input or output of the graph are called ``<inside>/<tensor>``.

    ``outer_names`` is what tensors at the graph's ends are called outside, where that is something else.
    """
    outside = outer_names or {}
    made = {name for node in graph.node for name in node.output}
    constants = {tensor.name for tensor in graph.initializer}
    given = {value.name for value in graph.input} - constants
    outer = given | {value.name for value in graph.output}

    def called(tensor: str) -> str:
        return outside.get(tensor, tensor) if not inside or tensor in outer else f"{inside}/{tensor}"

    nodes = []
    for proto in graph.node:
        flows = [index for index, name in enumerate(proto.input) if name in made or name in given]
        nodes.append(
            BuiltNode(
                proto.name,
                proto.op_type,
                attributes_of(proto),
                [called(proto.input[index]) for index in flows],
                [called(name) for name in proto.output],
                flows,
                proto=proto,
            )
        )
    return nodes


def joined(nodes: Iterable[BuiltNode]) -> BuiltGraph:
    """Return the graph of some nodes, of one file or of many that share the names of tensors between them."""
    nodes = list(nodes)
    maker = {tensor: (node, port) for node in nodes for port, tensor in enumerate(node.outputs)}
    readers = {tensor for node in nodes for tensor in node.inputs}
    streams = []
    for node in nodes:
        if not node.passes:
            streams += [_arriving(node, port, tensor, maker) for port, tensor in enumerate(node.inputs)]
    streams += list(_leaving(nodes, maker, readers))
    return BuiltGraph(nodes, streams)


def read_graph(graph: onnx.GraphProto) -> BuiltGraph:
    """Return the graph in one file."""
    return joined(read_nodes(graph))


def as_planned(graph: BuiltGraph, engines: Sequence[Mapping[str, Any]]) -> BuiltGraph:
    """Return the graph as some engines' plan knows it: with FINN+'s Reshape as an engine, or as wires alone."""
    return graph if any(family(str(engine["kind"])) == "Reshape" for engine in engines) else without_reshapes(graph)


def without_reshapes(graph: BuiltGraph) -> BuiltGraph:
    """Return the graph with FINN+'s Reshape as something that streams pass, for plans that have none as engines."""
    reshapes = [node for node in graph.nodes if node.family == "Reshape"]
    for node in reshapes:
        node.is_transparent = True
    return joined(graph.nodes) if reshapes else graph


def _arriving(node: BuiltNode, port: int, tensor: str, maker: dict[str, tuple[BuiltNode, int]]) -> BuiltStream:
    source, source_port, chain = _back(tensor, maker)
    return BuiltStream(source, source_port, node, port, chain)


def _leaving(
    nodes: list[BuiltNode], maker: dict[str, tuple[BuiltNode, int]], readers: set[str]
) -> Iterator[BuiltStream]:
    """Yield the streams to outside: from tensors that nothing reads back to the engines."""
    ends = [tensor for node in nodes for tensor in node.outputs if tensor not in readers]
    for port, tensor in enumerate(ends):
        source, source_port, chain = _back(tensor, maker)
        if source is not None:
            yield BuiltStream(source, source_port, None, port, chain)


def _back(tensor: str, maker: dict[str, tuple[BuiltNode, int]]) -> tuple[BuiltNode | None, int, list[BuiltNode]]:
    """Return the engine and port that a tensor comes from, and what is between, from there on."""
    chain: list[BuiltNode] = []
    node, port = maker.get(tensor, (None, 0))
    while node is not None and node.passes:
        chain.append(node)
        node, port = maker.get(node.inputs[0], (None, 0)) if node.inputs else (None, 0)
    return node, port, chain[::-1]
