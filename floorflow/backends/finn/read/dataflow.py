"""Read any model file: a FINN graph as Network, which says what was read, and as Dataflow, engine by engine.

Everything else is a network to be lowered. A generic layer is hls or rtl as FINN's SpecializeLayers makes it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from onnx import numpy_helper

from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.lower.integer_form import listed
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.names import FINN_VERSIONS, VERSION_NAMES, FinnVersion, family, is_specialised
from floorflow.backends.finn.read import ports
from floorflow.backends.finn.read.file import is_dataflow_graph
from floorflow.backends.finn.read.graph import Graph, GraphEngine, read_graph, require_fitting
from floorflow.backends.finn.read.ports import input_type, weight_type
from floorflow.backends.finn.roles import described
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.errors import InputError
from floorflow.network import EIGHT_BITS, FloatBits, partial_network
from floorflow.network.model import Network, Operation, Tensor, Value
from floorflow.network.onnx_file import Node, load
from floorflow.technology import Technology

_ALWAYS_RTL = ("ConvolutionInputGenerator", "FMPadding", "Thresholding")
"""Layers that FINN makes RTL unless told otherwise."""
_WITHOUT_HLS: Mapping[str, tuple[FinnVersion, ...]] = {
    "ConvolutionInputGenerator": ("plus",),
    "FMPadding": ("plus",),
    "Reshape": ("plus",),
}
"""Versions of FINN in which a layer has no HLS engine."""
_ATTRIBUTES: Mapping[str, frozenset[FinnVersion]] = {
    **dict.fromkeys(("inShape", "outShape", "bodies", "address_offset", "debug_log_path"), frozenset({"plus"})),
    **dict.fromkeys(("io_chrc_in", "io_chrc_out", "io_chrc_period"), frozenset({"main", "dev"})),
    **dict.fromkeys(("pumpedMemory", "mlo_max_iter"), frozenset({"dev", "plus"})),
}
"""Attributes of nodes that not every FINN writes."""
_CONVERTERS_SHAPE: frozenset[FinnVersion] = frozenset({"main", "dev"})
"""Whose width converters have one attribute ``shape``."""
_MOST_BITS = 8
_PREFERRED_BITS = 4
"""Below, FINN takes the RTL matrix unit only if told to."""


def variant(engine: GraphEngine, graph: Graph, technology: Technology, finn: FinnVersion = "main") -> str:
    """Return an engine's op type with ``_hls`` or ``_rtl``."""
    if is_specialised(engine.kind):
        return engine.kind
    if finn in _WITHOUT_HLS.get(engine.kind, ()):
        return f"{engine.kind}_rtl"
    preferred = str(engine.node.attributes.get("preferred_impl_style", ""))
    return f"{engine.kind}_{'rtl' if _is_rtl(engine, graph, technology, preferred) else 'hls'}"


def _is_rtl(engine: GraphEngine, graph: Graph, technology: Technology, preferred: str) -> bool:
    if engine.kind == "ConvolutionInputGenerator" and preferred == "hls":
        return not _window_has_hls(engine)
    if engine.kind in _ALWAYS_RTL:
        return preferred != "hls"
    if engine.kind not in ("MVAU", "VVAU") or preferred == "hls":
        return False
    least = 1 if preferred == "rtl" else _PREFERRED_BITS
    return _unit_has_rtl(engine, graph, technology, least)


def _window_has_hls(engine: GraphEngine) -> bool:
    """Whether the HLS window can do it: square, without dilation and not dynamic, or one-dimensional."""
    attributes = engine.attributes
    if attributes.get("is1D"):
        return True
    square = all(len(set(_pair(attributes.get(key)))) == 1 for key in ("ConvKernelDim", "IFMDim", "Stride"))
    return square and prod(_pair(attributes.get("Dilation"))) == 1 and not attributes.get("dynamic_mode")


def _pair(value: object) -> tuple[int, ...]:
    return tuple(v for v in value if isinstance(v, int)) if isinstance(value, tuple) else (1,)


def _unit_has_rtl(engine: GraphEngine, graph: Graph, technology: Technology, least_bits: int) -> bool:
    """Whether the RTL matrix or vector unit can do it: no thresholds, signed weights, at most 8 bits.

    DSP48E1 needs weights without their most negative value, and the vector unit exists for DSP58 only.
    """
    attributes, data, weights = engine.attributes, input_type(engine.attributes, 0), weight_type(engine.attributes)
    if attributes.get("noActivation", 0) != 1 or attributes.get("binaryXnorMode", 0) or weights is None:
        return False
    fits = data.bits <= _MOST_BITS + data.signed and weights.signed and weights.bits <= _MOST_BITS
    if not fits or min(data.bits, weights.bits) < least_bits:
        return False
    if engine.kind == "VVAU":
        return technology.dsp_block == "DSP58"
    return technology.dsp_block != "DSP48E1" or _is_narrow(engine, graph, weights.min)


def _is_narrow(engine: GraphEngine, graph: Graph, least: int) -> bool:
    """Whether the weights that the file holds leave out the most negative value; unknown weights may have it."""
    tensors = [graph.flat.initialisers[name] for name in engine.node.inputs if name in graph.flat.initialisers]
    weights = next((tensor for tensor in tensors if tensor.data_location != tensor.EXTERNAL), None)
    return weights is not None and bool(numpy_helper.to_array(weights).min() > least)


def finn_of(nodes: Iterable[Node]) -> FinnVersion | None:
    """Return the one FINN that has all kinds and attributes of a graph: main where dev has them as well; else None."""
    left: set[FinnVersion] = set(FINN_VERSIONS)
    for node in nodes:
        kind = KINDS.get(node.op_type)
        left &= left if kind is None else kind.versions
        for name in node.attributes:
            left &= _ATTRIBUTES.get(name, left)
        if "shape" in node.attributes and node.op_type.startswith("StreamingDataWidthConverter"):
            left &= _CONVERTERS_SHAPE
    if left == _CONVERTERS_SHAPE:
        return "main"
    return left.pop() if len(left) == 1 else None


def network_of(graph: Graph) -> Network:
    """Return a graph's engines as operations, of FINN's generic types (``MVAU``), on tensors with channels last."""
    tensors: dict[str, Tensor] = {}
    operations = []
    engines = {engine.name: engine for engine in graph.engines}
    for graph_stream in graph.streams:
        maker, reader = engines.get(graph_stream.stream.source), engines.get(graph_stream.stream.target)
        if maker is not None:
            datatype = ports.output_type(maker.kind, maker.attributes)
        elif reader is not None:
            datatype = ports.input_type(reader.attributes, reader.stream_inputs[graph_stream.stream.target_port])
        tensors[graph_stream.tensor] = Tensor(graph_stream.tensor, graph_stream.shape, datatype)
    for engine in graph.engines:
        weights = _weights(engine)
        if weights is not None:
            tensors[weights.name] = weights
        operations.append(_operation(graph, engine, weights))
    inputs = (graph_stream.tensor for graph_stream in graph.streams if graph_stream.stream.from_outside)
    outputs = (graph_stream.tensor for graph_stream in graph.streams if graph_stream.stream.to_outside)
    return Network(
        graph.name,
        tuple(dict.fromkeys(inputs)),
        tuple(dict.fromkeys(outputs)),
        tuple(operations),
        tuple(tensors.values()),
        tuple(_notes(graph)),
    )


def dataflow_of(graph: Graph, technology: Technology, finn: FinnVersion = "main") -> Dataflow:
    """Return a graph's engines, generic ones as FINN's SpecializeLayers makes them for the part.

    Raises InputError if the host would have to compute something between two engines, names node and operator; or if
    engines do not agree on what flows between them.
    """
    if graph.between:
        node = graph.between[0]
        message = f"{graph.flat.path}: node '{node.name}' ({node.op_type}) stands between engines and is none of FINN's"
        raise InputError(message, "FINN did not convert it to hardware: look at its step_convert_to_hw.")
    require_fitting(graph)
    engines = tuple(_engine(engine, variant(engine, graph, technology, finn)) for engine in graph.engines)
    notes = (*_notes(graph), *_other_versions(graph, engines, finn))
    return Dataflow(graph.name, engines, tuple(graph_stream.stream for graph_stream in graph.streams), notes)


def _engine(engine: GraphEngine, kind: str) -> Engine:
    weights = ports.weight_type(engine.attributes)
    made = Engine(
        engine.name,
        kind,
        engine.name,
        engine.attributes,
        weights.bits if weights else 0,
        ports.input_type(engine.attributes, engine.stream_inputs[0] if engine.stream_inputs else 0).bits,
        ports.output_type(kind, engine.attributes).bits,
        engine.folding,
    )
    return described(made)


def _operation(graph: Graph, engine: GraphEngine, weights: Tensor | None) -> Operation:
    attributes: dict[str, Value] = {"weights": weights.name} if weights else {}
    return Operation(
        engine.name,
        family(engine.kind),
        tuple(graph_stream.tensor for graph_stream in graph.streams if graph_stream.stream.target == engine.name),
        tuple(graph_stream.tensor for graph_stream in graph.streams if graph_stream.stream.source == engine.name),
        attributes,
        ports.macs(engine.kind, engine.attributes),
    )


def _weights(engine: GraphEngine) -> Tensor | None:
    """Return the weights that a layer multiplies with."""
    shape, datatype = ports.weight_shape(engine.kind, engine.attributes), ports.weight_type(engine.attributes)
    return Tensor(f"{engine.name} weights", shape, datatype) if shape and datatype else None


def _notes(graph: Graph) -> Iterator[str]:
    """Say what is not as the file has it."""
    if graph.host_nodes:
        yield f"computed on the host: {_named(graph.host_nodes)}"
    generic = [engine.node for engine in graph.engines if not is_specialised(engine.kind)]
    if generic:
        yield (
            "FINN has not chosen HLS or RTL yet, planned as its SpecializeLayers would for this part, under the names "
            f"in the file: {_named(generic)}"
        )
    if graph.flat.old:
        yield "the graph is from before FINN 0.10: planned with the present names of its HLS engines"


def _other_versions(graph: Graph, engines: Sequence[Engine], finn: FinnVersion) -> Iterator[str]:
    """Say which engines that FINN does not have, for its estimates and rules are asked all the same."""
    foreign = {engine.kind: KINDS[engine.kind].versions for engine in engines if engine.kind in KINDS}
    absent = sorted(kind for kind, versions in foreign.items() if finn not in versions)
    if absent:
        having = [name for name in VERSION_NAMES if all(name in foreign[kind] for kind in absent)]
        option = f": plan with --finn {' or '.join(having)}" if having else ""
        yield f"{VERSION_NAMES[finn]} has no {listed(absent)}{option}"
        return
    told = finn_of(graph.flat.nodes)
    if told is not None and told != finn and {told, finn} != {"main", "dev"}:
        yield f"its nodes' attributes are {VERSION_NAMES[told]}'s, priced as {VERSION_NAMES[finn]}'s: --finn {told}"


def _named(nodes: Sequence[Node]) -> str:
    return listed([f"'{node.name}' ({node.op_type})" for node in nodes])


@dataclass(frozen=True)
class Source:
    """A model that was read, as far as it could be; ``graph`` is None unless the file holds FINN's engines already.

    ``sha256`` is of the file as it was read, which may change.
    """

    network: Network
    graph: Graph | None = None
    sha256: str = ""

    def lower(
        self, technology: Technology, label_select: bool = False, finn: FinnVersion = "main", *, apart: bool = False
    ) -> Dataflow:
        """Return the engines as that FINN makes them; ``apart``: with all thresholds apart, of what is no graph yet.

        Raises InputError if something could not be read or has no engine; names all of it, with node, operator and
        reason.
        """
        if self.graph is not None:
            return dataflow_of(self.graph, technology, finn)
        return lower(self.network, technology, label_select, finn, apart=apart)


def read_source(path: str | Path, bits: FloatBits = EIGHT_BITS) -> Source:
    """Read a model file; ``bits`` are for a network without quantisers. Lowering tells what could not be read.

    Raises InputError if the file is missing, broken or not understood at all; names file and nodes.
    """
    file = load(Path(path))
    if is_dataflow_graph(file):
        graph = read_graph(file)
        return Source(network_of(graph), graph, file.sha256)
    return Source(partial_network(file, bits), sha256=file.sha256)
