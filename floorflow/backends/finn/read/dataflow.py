"""Turn a FINN graph into a Network, which says what was read, and into a Dataflow, engine by engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.lower.integer_form import listed
from floorflow.backends.finn.names import family, is_specialised
from floorflow.backends.finn.read import ports
from floorflow.backends.finn.read.graph import Graph, GraphEngine, require_fitting
from floorflow.backends.finn.read.variant import finn_of, variant
from floorflow.backends.finn.roles import described
from floorflow.backends.finn.version import VERSION_NAMES, FinnVersion
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.errors import InputError
from floorflow.network.model import Network, Operation, Tensor, Value
from floorflow.network.onnx_file import Node
from floorflow.technology import Technology


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

    Raises
    ------
    InputError
        If the host would have to compute something between two engines, names node and operator; or if engines do
        not agree on what flows between them.

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
