"""Lower a Network to FINN's engines: which engines, with which attributes, joined by which streams.

The walk follows the operations in order and keeps, for every tensor, the wire that carries it. Scale, bias and
batch norm wait on their wire until thresholds absorb them or the network ends, when they stay on the host. The order of
lowered engines is that of qonnx's SortGraph, by which FINN numbers them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.lower import joins, layers, pools
from floorflow.backends.finn.lower.integer_form import listed, settled
from floorflow.backends.finn.lower.joins import forked
from floorflow.backends.finn.lower.rewrite import LAYERS, left_to_host, look_ahead, nearest_quantiser, next_operation
from floorflow.backends.finn.lower.state import Lowering, Wire
from floorflow.backends.finn.lower.windows import channels_last
from floorflow.backends.finn.names import FINN_VERSIONS, VERSION_NAMES, FinnVersion, numbered
from floorflow.dataflow.model import HOST_PREFIX, Dataflow, is_outside
from floorflow.errors import InputError, some
from floorflow.network.datatype import integer, named
from floorflow.network.model import Network, Operation
from floorflow.network.obstacles import Obstacles
from floorflow.network.operations import operators
from floorflow.network.shaping import keeps_places
from floorflow.technology import Technology


def in_levels(dataflow: Dataflow) -> Dataflow:
    """Return the engines level by level, those of a level as they were, numbered anew; the same object if none moves.

    An engine's level is one more than the highest of those it reads from. On parallel branches engines then stand side
    by side: a projection's window directly behind the first one of the other branch.
    """
    level: dict[str, int] = {}
    before: dict[str, list[str]] = {engine.name: [] for engine in dataflow.engines}
    for stream in dataflow.streams:
        if not is_outside(stream.source) and not is_outside(stream.target):
            before[stream.target].append(stream.source)
    for name, sources in before.items():
        level[name] = 1 + max((level[source] for source in sources), default=-1)
    engines = sorted(dataflow.engines, key=lambda engine: level[engine.name])
    if engines == list(dataflow.engines):
        return dataflow
    names = dict(zip((e.name for e in engines), numbered(engine.kind for engine in engines), strict=True))
    return replace(
        dataflow,
        engines=tuple(replace(engine, name=names[engine.name]) for engine in engines),
        streams=tuple(
            replace(
                stream, source=names.get(stream.source, stream.source), target=names.get(stream.target, stream.target)
            )
            for stream in dataflow.streams
        ),
    )


def lower(
    network: Network,
    technology: Technology,
    label_select: bool = False,
    finn: FinnVersion = "main",
    *,
    apart: bool = False,
) -> Dataflow:
    """Return the engines that FINN would build for a network, before folding.

    ``label_select`` ends each output in LabelSelect_hls even without TopK or ArgMax in the network. ``apart``: no
    thresholds are fused into matrix and vector units.

    Raises InputError if operations could not be read or have no engine; names all of them, with operator and reason.
    """
    settled_network = settled(network)
    lowering = Lowering(settled_network, technology, look_ahead(settled_network), finn, apart)
    obstacles = Obstacles(list(network.obstacles))
    for index, name in enumerate(network.inputs):
        shape = _input_shape(settled_network, name)
        wire = Wire(f"{HOST_PREFIX}in{index}", shape, settled_network.tensor(name).datatype, shape[-1])
        _offer(lowering, (name,), _reader_of(lowering, name), wire)
    for operation in settled_network.operations:
        handler, guess = _HANDLERS[operation.type], partial(_guessed, lowering, operation)
        obstacles.tried(partial(_check_engine, lowering, operation, handler), lambda: None)
        _offer_all(lowering, operation, obstacles.tried(partial(handler.lower, lowering, operation), guess))
    makers = {tensor: operation for operation in settled_network.operations for tensor in operation.outputs}
    for index, name in enumerate(network.outputs):
        if name not in makers:
            raise InputError(f"{network.name}: output '{name}' is an input of the network", "Remove that output.")
        finish = partial(_finish, lowering, makers[name], lowering.take(name), index, label_select=label_select)
        obstacles.tried(finish, lambda: None)
    obstacles.check(f"Supported with {VERSION_NAMES[finn]}: {', '.join(supported_operators(finn))}.")
    if not lowering.engines:
        raise InputError(f"{network.name}: the network has no layer that an engine computes")
    remarks = (f"{sentence}: {listed(names)}" for sentence, names in lowering.remarks.items())
    notes = (*settled_network.notes, *dict.fromkeys(lowering.notes), *remarks)
    engines, streams = tuple(lowering.engines.values()), tuple(lowering.streams)
    return in_levels(Dataflow(network.name, engines, streams, notes, unspecialised=True))


def _check_engine(lowering: Lowering, operation: Operation, handler: "_Handler") -> None:
    """Refuse an operation whose engine this FINN lacks; it is lowered all the same, for what else may be wrong."""
    if not handler.is_in(lowering.finn):
        others = [name for name in FINN_VERSIONS if handler.is_in(name)]
        raise lowering.refuse(
            operation,
            f"{VERSION_NAMES[lowering.finn]} has no engine for it ({handler.engine})",
            f"Use --finn {' or '.join(others)}, which {'have' if len(others) > 1 else 'has'} one.",
            unsupported=True,
        )


def _guessed(lowering: Lowering, operation: Operation) -> list[Wire]:
    """Return wires as if an operation that has no engine had one, so that lowering goes on to the next obstacle."""
    wires = []
    for name in operation.outputs:
        tensor, quantiser = lowering.network.tensor(name), lowering.lookahead.thresholds.get(name)
        made = lowering.network.tensor(quantiser.outputs[0]) if quantiser else tensor
        datatype = made.datatype if made.datatype.is_integer else integer(8, signed=False)
        shape = channels_last(tensor.shape)
        wires.append(Wire(f"no engine for {operation.name}", shape, datatype, shape[-1]))
    return wires


def _offer_all(lowering: Lowering, operation: Operation, wires: Wire | list[Wire]) -> None:
    """Offer one wire that carries all outputs of an operation, or one wire for each."""
    if isinstance(wires, Wire):
        _offer(lowering, operation.outputs, operation, wires)
        return
    for name, wire in zip(operation.outputs, wires, strict=True):
        _offer(lowering, (name,), operation, wire)


def _offer(lowering: Lowering, tensors: tuple[str, ...], maker: Operation, wire: Wire) -> None:
    """Keep a wire for each reader of the tensors that it carries; more than one need duplicates."""
    network = lowering.network
    readers = {name: len(network.consumers(name)) + network.outputs.count(name) for name in tensors}
    wires = forked(lowering, maker, wire, sum(readers.values()))
    for name, count in readers.items():
        lowering.wires[name], wires = wires[:count], wires[count:]


def _reader_of(lowering: Lowering, tensor: str) -> Operation:
    """Return an operation that reads an input, for an engine that forks it."""
    return next(iter(lowering.network.consumers(tensor)), lowering.network.operations[0])


def _input_shape(network: Network, name: str) -> tuple[int, ...]:
    """Return an input's shape with channels last; what a product of vectors reads has them there already."""
    shape, tensor = network.tensor(name).shape, name
    while len(network.tensor(tensor).shape) == len(shape) and (readers := network.consumers(tensor)):
        if readers[0].type in LAYERS:
            return shape if readers[0].type == "fully_connected" else channels_last(shape)
        tensor = readers[0].outputs[0]
    return channels_last(shape)


def _finish(lowering: Lowering, maker: Operation, wire: Wire, index: int, *, label_select: bool) -> None:
    """End an output at the host, which computes what still waits on its wire."""
    if label_select and not wire.source.startswith("LabelSelect"):
        blocking = _blocking(wire)
        if blocking:
            raise lowering.refuse(
                blocking,
                "it may change which value is largest, so LabelSelect cannot stand before it",
                _NO_LABELS,
            )
        wire = layers.label_select(lowering, maker, wire, 1)
    if wire.pending:
        names = some(map(left_to_host, wire.pending))
        count = f"of {prod(wire.shape):,} values a frame, which no rate counts"
        lowering.notes.append(f"computed on the host, behind the last engine: {names}, {count}")
    lowering.to_host(wire, index)


_NO_LABELS = "Leave --label-select out: the host then selects the label."


def _blocking(wire: Wire) -> Operation | None:
    """Return the first waiting operation that may reorder the values; one scale or bias for all does not."""
    return next(
        (step for step in wire.pending if step.type != "softmax" and step.attributes.get("elements") != 1),
        None,
    )


def _waiting(lowering: Lowering, operation: Operation) -> Wire:
    """Let a float operation wait on its wire, unless the thresholds before have absorbed it."""
    wire = lowering.input_of(operation)
    if operation.attributes.get("operator") == "Selu":
        _check_selu(lowering, operation)
    elif operation.type == "clip" and nearest_quantiser(lowering.network, operation):
        lowering.stops(
            "Clip ahead of a quantiser; a ReLU does as well where the quantiser ends at the bound", operation
        )
    return wire if operation.outputs[0] in lowering.lookahead.absorbed else wire.then(operation)


def _check_selu(lowering: Lowering, operation: Operation) -> None:
    """Refuse a Selu whose thresholds FINN does not compute; behind the last layer the host does."""
    quantiser = nearest_quantiser(lowering.network, operation)
    if quantiser is None:
        return
    made = lowering.network.tensor(quantiser.outputs[0]).datatype
    is_next = next_operation(lowering.network, operation) == quantiser
    if not is_next or not made.signed or made != named(made.name):
        reason = f"FINN makes thresholds of Selu right ahead of a signed quantiser of full range, here is {made.name}"
        raise lowering.refuse(operation, reason, "Put a signed quantiser that is not narrow right behind it.")


def _quantise(lowering: Lowering, operation: Operation) -> Wire:
    if operation.outputs[0] in lowering.lookahead.absorbed:
        return lowering.input_of(operation)
    return layers.thresholds(lowering, operation, lowering.input_of(operation))


def _truncate(lowering: Lowering, operation: Operation) -> Wire:
    """Pass on what the average pool before has truncated; elsewhere dropping bits is what thresholds do."""
    wire = lowering.input_of(operation)
    maker = lowering.engines.get(wire.source)
    if maker and maker.attributes.get("Function") == "QuantAvgPool" and not wire.pending:
        return wire
    return layers.thresholds(lowering, operation, wire)


def _flatten(lowering: Lowering, operation: Operation) -> Wire:
    """Rename the dimensions of a wire; the order of elements is the next layer's weights' concern."""
    wire = lowering.input_of(operation)
    if wire.host_only:
        return wire.then(operation)
    target = lowering.network.tensor(operation.outputs[0]).shape
    _check_flatten(lowering, operation, wire, target)
    features = prod(target)
    shape = (1, features) if features == target[-1] else channels_last(target)
    return replace(wire, shape=shape, last_dimension=shape[-1] if wire.from_host else wire.last_dimension)


_FEW_CHANNELS = 4


def _check_flatten(lowering: Lowering, operation: Operation, wire: Wire, target: tuple[int, ...]) -> None:
    """Refuse to regroup values that flow already, and say where few channels keep the engines around narrow."""
    source = lowering.network.tensor(operation.inputs[0]).shape
    if wire.from_host:
        return
    if not keeps_places(source, target):
        raise lowering.refuse(operation, f"only flattening is supported, not {source} to {target}")
    if wire.last_dimension < min(_FEW_CHANNELS, target[-1]):
        lowering.remark(
            f"PE and SIMD around it divide {wire.last_dimension}, the innermost size of the stream that it flattens",
            operation,
        )


def _top_k(lowering: Lowering, operation: Operation) -> Wire:
    """Lower TopK and ArgMax to LabelSelect if only labels are asked for and nothing before can reorder them."""
    wire = lowering.input_of(operation)
    only_labels = operation.outputs == (operation.text("indices"),)
    if only_labels and not wire.from_host and _blocking(wire) is None:
        return layers.label_select(lowering, operation, replace(wire, pending=()), operation.integer("k"))
    return wire.then(operation)


@dataclass(frozen=True)
class _Handler:
    """How a type of operation becomes engines: ``lower`` returns the wire that carries its outputs, or one for each.

    ``engine``: what it cannot do without, where not every FINN has it. ``on_host``: no engine computes it.
    """

    lower: Callable[[Lowering, Operation], Wire | list[Wire]]
    engine: str = ""
    on_host: bool = False

    def is_in(self, finn: FinnVersion) -> bool:
        """Whether that FINN can build it."""
        return not self.engine or finn in KINDS[self.engine].versions


_HANDLERS: Mapping[str, _Handler] = {
    "add": _Handler(joins.add),
    "affine": _Handler(_waiting),
    "average_pool": _Handler(pools.average_pool),
    "clip": _Handler(_waiting),
    "concat": _Handler(joins.concat),
    "conv": _Handler(layers.conv),
    "flatten": _Handler(_flatten),
    "fully_connected": _Handler(layers.fully_connected),
    "function": _Handler(_waiting, on_host=True),
    "max_pool": _Handler(pools.max_pool),
    "mean": _Handler(_waiting, on_host=True),
    "multiply": _Handler(joins.multiply, engine="ElementwiseMul_hls"),
    "pad": _Handler(pools.pad),
    "quantise": _Handler(_quantise),
    "relu": _Handler(_waiting),
    "softmax": _Handler(_waiting, on_host=True),
    "split": _Handler(joins.split, engine="StreamingSplit_hls"),
    "top_k": _Handler(_top_k),
    "truncate": _Handler(_truncate),
    "unread": _Handler(_guessed, on_host=True),
    "upsample": _Handler(pools.upsample),
}


def supported_operators(finn: FinnVersion) -> list[str]:
    """Return ONNX's operators that become engines of that FINN, or vanish into those around them."""
    return operators([name for name, handler in _HANDLERS.items() if handler.is_in(finn) and not handler.on_host])
