"""Read a FINN dataflow graph: its engines under their own names, and the streams between them.

FIFOs, width converters, DMA engines and markers are no engines here: floorflow makes its own, so they are folded back
into the streams that they are part of. What the host computes before and after the engines stays with the host.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import onnx

from floorflow.backends.finn import names
from floorflow.backends.finn.attributes import is_known
from floorflow.backends.finn.kinds.thresholding import EQUAL_THRESHOLDS
from floorflow.backends.finn.read import ports
from floorflow.backends.finn.read.file import FlatGraph, flatten, in_topological_order
from floorflow.dataflow.model import HOST_PREFIX, AttributeValue, Stream
from floorflow.errors import InputError
from floorflow.network.onnx_file import Node, OnnxFile
from floorflow.network.soundness import MOST_ELEMENTS, MOST_PIXELS, MOST_SIZE, expected_size, is_size

MOST_LETTERS = 100
"""Of the name of an engine: FINN and Vivado make folders after it, with more around it."""
_CELL = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{MOST_LETTERS - 1}}}")
_BUFFERS = ("StreamingFIFO", "StreamingDataWidthConverter")
_SAVE_AGAIN = "The nodes of this graph do not fit together; save it again with FINN's InferShapes and InferDataTypes."


@dataclass(frozen=True)
class GraphEngine:
    """One engine of the graph: ``attributes`` without the folding, ``folding`` as the graph carries it.

    ``kind`` is today's op type, without ``_hls`` or ``_rtl`` if FINN has yet to choose. ``stream_inputs`` are the
    positions of the node's inputs that are streams, not parameters.
    """

    node: Node
    kind: str
    attributes: Mapping[str, AttributeValue]
    folding: Mapping[str, AttributeValue]
    stream_inputs: tuple[int, ...]

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.name


@dataclass(frozen=True)
class GraphStream:
    """A stream, and the tensor that flows through it, channels last."""

    stream: Stream
    tensor: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """A dataflow graph: engines in topological order, streams, and what the host computes.

    ``between`` are host nodes that read what one engine makes and feed another: no stream leads through them.
    """

    name: str
    flat: FlatGraph
    engines: tuple[GraphEngine, ...]
    streams: tuple[GraphStream, ...]
    host_nodes: tuple[Node, ...]
    between: tuple[Node, ...]

    @cached_property
    def passed(self) -> dict[str, tuple[Node, ...]]:
        """The FIFOs, converters, DMA engines and markers on each stream by its channel, from producer to consumer."""
        makers = {name: node for node in self.flat.nodes for name in node.outputs}
        engines = {engine.name: engine for engine in self.engines}
        read_by_host = (name for node in self.host_nodes for name in node.inputs)
        leaving: dict[str, list[Node]] = {}
        for name in (*self.flat.outputs, *read_by_host):
            chain = list(_passing(name, makers))
            leaving[chain[-1].inputs[0] if chain else name] = chain
        chains: dict[str, tuple[Node, ...]] = {}
        for one in self.streams:
            reader = engines.get(one.stream.target)
            if reader is None:
                chain = leaving[one.tensor]
            else:
                chain = list(_passing(reader.node.inputs[reader.stream_inputs[one.stream.target_port]], makers))
            chains[one.stream.channel] = tuple(reversed(chain))
        return chains


def _passing(tensor: str, makers: Mapping[str, Node]) -> Iterator[Node]:
    """Yield the nodes that pass a tensor on, from the last back to what makes it."""
    node = makers.get(tensor)
    while node is not None and passes(node):
        yield node
        node = makers.get(node.inputs[0])


def read_graph(file: OnnxFile) -> Graph:
    """Read a dataflow graph.

    Raises InputError if a child is missing, a stream has several readers, a shape is not stored, a FIFO passes on
    something else than what reaches it, or a name cannot be a cell's.
    """
    flat = flatten(file)
    wiring = _Wiring(flat, in_topological_order(flat))
    if not wiring.engines:
        hint = "Give a graph that FINN saved after step_create_dataflow_partition."
        raise InputError(f"{flat.path}: the graph holds no engine", hint)
    wiring.require_passing()
    streams = (*wiring.into_engines(), *wiring.to_host())
    host = tuple(node for node in wiring.nodes if not names.is_dataflow(node))
    return Graph(file.name, flat, tuple(wiring.engines.values()), streams, host, tuple(wiring.between(host)))


@dataclass(frozen=True)
class _Wiring:
    """Which engine makes and reads each tensor, once everything that only passes it on is left out."""

    flat: FlatGraph
    nodes: tuple[Node, ...]

    @cached_property
    def makers(self) -> dict[str, Node]:
        return {name: node for node in self.nodes for name in node.outputs}

    @cached_property
    def engines(self) -> dict[str, GraphEngine]:
        """The engines by name."""
        found = [node for node in self.nodes if names.is_dataflow(node) and not passes(node)]
        for node in found:
            if not _CELL.fullmatch(node.name):
                message = f"{self.flat.path}: node {node.name!r:.120} ({node.op_type}) has a name that no cell can have"
                hint = f"Expected at most {MOST_LETTERS} letters, digits and _; FINN's GiveUniqueNodeNames gives such."
                raise InputError(message, hint)
        return {node.name: self._engine(node) for node in found}

    def _engine(self, node: Node) -> GraphEngine:
        attributes = names.hardware(node)
        if names.family(names.present_name(node.op_type, old=self.flat.old)) == "Thresholding" and self._equal(node):
            attributes[EQUAL_THRESHOLDS] = 1
        folding = {key: attributes.pop(key) for key in names.FOLDING_ATTRIBUTES if key in attributes}
        kind = names.present_name(node.op_type, old=self.flat.old)
        inputs = tuple(i for i, tensor in enumerate(node.inputs) if self._flows(tensor))
        problem = _nonsense({**attributes, **folding}) if inputs else "none of its inputs is data that flows"
        if problem:
            hint = "A node may be missing: save the graph again with FINN."
            raise InputError(f"{self.flat.path}: node '{node.name}' ({node.op_type}): {problem}", hint)
        return GraphEngine(node, kind, attributes, folding, inputs)

    def _equal(self, node: Node) -> bool:
        """Whether the thresholds, channels by steps, are known to be the same in all channels."""
        tensor = self.flat.initialisers.get(node.inputs[1]) if len(node.inputs) > 1 else None
        if tensor is None or tensor.data_location == onnx.TensorProto.EXTERNAL or not tensor.dims:
            return False
        if tensor.dims[0] == 1:
            return True
        rows = onnx.numpy_helper.to_array(tensor)
        return bool((rows == rows[:1]).all())

    def source(self, tensor: str) -> tuple[str, int]:
        """Return the tensor that an engine or the host makes, and the bits that FIFOs on the way to it hold."""
        fifo_bits = 0
        node = self.makers.get(tensor)
        while node is not None and passes(node):
            fifo_bits += _capacity_bits(node)
            tensor = node.inputs[0]
            node = self.makers.get(tensor)
        return tensor, fifo_bits

    def require_passing(self) -> None:
        """Refuse a FIFO, or whatever else passes a stream on, of which the two ends differ."""
        for node in self.nodes:
            if not passes(node) or not self._flows(node.inputs[0]):
                continue
            origin, _ = self.source(node.outputs[0])
            before, behind = (self.flat.shapes.get(tensor) for tensor in (origin, node.outputs[0]))
            maker, stated = self._maker(origin), node.attributes.get("dataType")
            sent = ports.output_type(maker.kind, maker.attributes).name if maker else stated
            differs = [f"{prod(shape):,} elements" for shape in (before, behind) if shape]
            types = [str(sent), str(stated)] if node.op_type.startswith(_BUFFERS) and stated and sent != stated else []
            if len({*differs}) > 1 or types:
                one, other = types or differs
                where = f"{self.flat.path}: node '{node.name}' ({node.op_type})"
                message = f"{where} passes on {other}, but what reaches it, tensor '{origin}', is {one}"
                raise InputError(
                    message, "It reads another tensor than it was made for; save the graph again with FINN."
                )

    def _flows(self, tensor: str) -> bool:
        """Whether a tensor is data: parameters are constant, or were stripped from the file."""
        origin, _ = self.source(tensor)
        return origin in self.makers or (origin in self.flat.inputs and origin not in self.flat.constants)

    def _maker(self, tensor: str) -> GraphEngine | None:
        """Return the engine that makes a tensor, None if the host does."""
        node = self.makers.get(tensor)
        return self.engines.get(node.name) if node else None

    def into_engines(self) -> Iterator[GraphStream]:
        """Yield the streams into engines, in their order; what the host makes enters as ``host:in<i>``."""
        from_host = 0
        taken: set[str] = set()
        for engine in self.engines.values():
            for port, position in enumerate(engine.stream_inputs):
                tensor, fifo_bits = self.source(engine.node.inputs[position])
                words = names.fifo_depth(engine.node, "inFIFODepths", port)
                maker = self._maker(tensor)
                if maker is None:
                    bits = ports.input_type(engine.attributes, position).bits
                    source, from_host = (f"{HOST_PREFIX}in{from_host}", 0), from_host + 1
                else:
                    self._take(tensor, taken)
                    source, asked = _output(maker, tensor)
                    words, bits = max(words, asked), ports.output_type(maker.kind, maker.attributes).bits
                yield self._stream((*source, engine.name, port), tensor, bits, fifo_bits, words)

    def to_host(self) -> Iterator[GraphStream]:
        """Yield the streams that leave: outputs of the graph and what the host reads of engines."""
        readers = [name for node in self.nodes if not names.is_dataflow(node) for name in node.inputs]
        leaving = dict(self.source(name) for name in (*self.flat.outputs, *readers) if name in self.makers)
        made = [(tensor, maker) for tensor in leaving if (maker := self._maker(tensor))]
        for index, (tensor, maker) in enumerate(made):
            source, words = _output(maker, tensor)
            bits = ports.output_type(maker.kind, maker.attributes).bits
            yield self._stream((*source, f"{HOST_PREFIX}out{index}", 0), tensor, bits, leaving[tensor], words)

    def _stream(
        self, ends: tuple[str, int, str, int], tensor: str, bits: int, fifo_bits: int, fifo_words: int
    ) -> GraphStream:
        shape = self.flat.shapes.get(tensor)
        if not shape:
            message = f"{self.flat.path}: the shape of tensor '{tensor}' between '{ends[0]}' and '{ends[2]}' is missing"
            raise InputError(message, "Save the graph after FINN's InferShapes.")
        if not is_size(shape) or prod(shape[:-1]) > MOST_PIXELS:
            message = f"{self.flat.path}: tensor '{tensor}' has the shape {shape}; {expected_size()}"
            raise InputError(message, f"Give frames of up to {MOST_PIXELS:,} pixels.")
        return GraphStream(Stream(*ends, prod(shape), shape[-1], bits, fifo_bits, fifo_words), tensor, shape)

    def _take(self, tensor: str, taken: set[str]) -> None:
        if tensor in taken:
            message = f"{self.flat.path}: several engines read tensor '{tensor}', but a stream has one reader"
            raise InputError(message, "Put DuplicateStreams there (FINN's InferDuplicateStreamsLayer).")
        taken.add(tensor)

    def between(self, host: tuple[Node, ...]) -> Iterator[Node]:
        """Yield host nodes through which data of an engine reaches another engine."""
        reached: dict[str, Node] = {}
        for node in host:
            origins = [self.source(name)[0] for name in node.inputs]
            if any(self._maker(origin) or origin in reached for origin in origins):
                reached |= dict.fromkeys(node.outputs, node)
        feeding = (self.source(name)[0] for engine in self.engines.values() for name in engine.node.inputs)
        yield from {reached[name].name: reached[name] for name in feeding if name in reached}.values()


def require_fitting(graph: Graph) -> None:
    """Refuse a graph in which a stream is missing, leads nowhere, or is not what its two engines say.

    Raises InputError: with the engine, the stream and what each says.
    """
    into = {(one.stream.target, one.stream.target_port): one for one in graph.streams}
    out_of = {(one.stream.source, one.stream.source_port): one for one in graph.streams}
    for engine in graph.engines:
        sizes = ports.sizes(engine.kind, engine.attributes)
        if sizes is None:
            continue
        where = f"{graph.flat.path}: node '{engine.name}' ({engine.node.op_type})"
        given = (len(engine.stream_inputs), sum(bool(name) for name in engine.node.outputs))
        for side, expected, found in zip(("input", "output"), sizes, given, strict=True):
            if len(expected) != found:
                raise InputError(f"{where}: {found} streams at its {side}s, its kind has {len(expected)}", _SAVE_AGAIN)
        for side, expected, ends in zip(("input", "output"), sizes, (into, out_of), strict=True):
            for port, elements in enumerate(expected):
                one = ends.get((engine.name, port))
                if one is None:
                    raise InputError(f"{where}: nothing reads its {side} {port}", _SAVE_AGAIN)
                if one.stream.elements != elements:
                    held = f"tensor '{one.tensor}' there has {one.stream.elements:,}"
                    raise InputError(f"{where}: {elements:,} elements a frame at {side} {port}, {held}", _SAVE_AGAIN)
    _require_types(graph)


def _require_types(graph: Graph) -> None:
    """Refuse a stream of which producer and consumer state different datatypes."""
    engines = {engine.name: engine for engine in graph.engines}
    for one in graph.streams:
        maker, reader = engines.get(one.stream.source), engines.get(one.stream.target)
        if maker is None or reader is None:
            continue
        sent = ports.output_type(maker.kind, maker.attributes)
        taken = ports.input_type(reader.attributes, one.stream.target_port)
        if sent.name != taken.name:
            message = (
                f"{graph.flat.path}: node '{maker.name}' sends {sent.name}, node '{reader.name}' takes {taken.name}"
            )
            raise InputError(message, _SAVE_AGAIN)


def _nonsense(attributes: Mapping[str, AttributeValue]) -> str:
    """Say which attribute of an engine no FINN would have written; empty if none."""
    for key, value in attributes.items():
        held = value if isinstance(value, tuple) else (value,)
        most = _MOST_OFFSET if key == _OFFSET else MOST_SIZE
        numbers = [abs(one) for one in held if isinstance(one, int)]
        if any(one > most for one in numbers):
            return f"{key} is {value}, expected up to {most:,}"
        whole = sum(numbers) if key in _OF_EACH_STREAM else prod(numbers)
        if whole > (MOST_ELEMENTS if key.lower().endswith("shape") else max(most, MOST_PIXELS)):
            return f"{key} is {value}, which no image is as large as"
        if key.lower().endswith(_TYPES) and not all(isinstance(one, str) and is_known(one) for one in held):
            return f"{key} is {value!r:.60}, expected a type such as INT8"
    return ""


_OFFSET, _MOST_OFFSET = "ActVal", 2**40
"""What thresholds count from, which may be as low as an accumulator."""
_OF_EACH_STREAM = ("ChannelsPerStream", "ElemsPerStream")
"""Attributes that hold a size for each stream, and not the sides of an image."""
_TYPES = ("datatype", "datatypes", "datatype0", "datatype1", "dtype", "inputtype", "embeddingtype")


def passes(node: Node) -> bool:
    """Whether a node is no engine, but only passes on what it gets."""
    kind = names.family(names.present_name(node.op_type, old=False))
    return names.is_dataflow(node) and kind in names.PASSING and bool(node.inputs)


def _output(maker: GraphEngine, tensor: str) -> tuple[tuple[str, int], int]:
    """Return the engine's name and port that make a tensor, and the FIFO depth that is asked for there."""
    port = maker.node.outputs.index(tensor)
    return (maker.name, port), names.fifo_depth(maker.node, "outFIFODepths", port)


def _capacity_bits(node: Node) -> int:
    """Return what a FIFO holds: depth x width; other nodes hold nothing that counts."""
    if not node.op_type.startswith("StreamingFIFO") or "depth" not in node.attributes:
        return 0
    elements = ports.numbers(node.attributes, "folded_shape")[-1:]
    datatype = ports.datatype(str(node.attributes.get("dataType")))
    return prod(ports.numbers(node.attributes, "depth")) * prod(elements) * datatype.bits
