"""Lower a Network to FINN's engines: which engines, with which attributes, joined by which streams.

The walk follows the operations in order and keeps, for every tensor, the wire that carries it. Scale, bias and
batch norm wait on their wire until thresholds absorb them or the network ends, when they stay on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from floorflow.backends.finn.lower import joins, layers, pools
from floorflow.backends.finn.lower.fused_thresholds import look_ahead
from floorflow.backends.finn.lower.integer_form import listed, settled
from floorflow.backends.finn.lower.joins import forked
from floorflow.backends.finn.lower.rewrite import LAYERS
from floorflow.backends.finn.lower.state import Lowering, Wire
from floorflow.backends.finn.lower.windows import channels_last
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import HOST_PREFIX, Dataflow
from floorflow.errors import InputError
from floorflow.network.model import Network, Operation
from floorflow.technology import Technology
from floorflow.text.lists import some


def lower(network: Network, technology: Technology, label_select: bool = False, finn: FinnVersion = "main") -> Dataflow:
    """Return the engines that FINN would build for a network, before folding.

    ``label_select`` ends each output in LabelSelect_hls even without TopK or ArgMax in the network.

    Raises
    ------
    InputError
        If an operation has no engine; names node, operator and reason.

    """
    settled_network = settled(network)
    lowering = Lowering(settled_network, technology, look_ahead(settled_network), finn)
    for index, name in enumerate(network.inputs):
        shape = _input_shape(settled_network, name)
        wire = Wire(f"{HOST_PREFIX}in{index}", shape, network.tensor(name).datatype, shape[-1])
        _offer(lowering, (name,), _reader_of(lowering, name), wire)
    for operation in settled_network.operations:
        _offer(lowering, operation.outputs, operation, _HANDLERS[operation.type](lowering, operation))
    if not lowering.engines:
        raise InputError(f"{network.name}: the network has no layer that an engine computes")
    makers = {tensor: operation for operation in settled_network.operations for tensor in operation.outputs}
    for index, name in enumerate(network.outputs):
        if name not in makers:
            raise InputError(f"{network.name}: output '{name}' is an input of the network", "Remove that output.")
        _finish(lowering, makers[name], lowering.take(name), index, label_select=label_select)
    remarks = (f"{sentence}: {listed(names)}" for sentence, names in lowering.remarks.items())
    notes = (*settled_network.notes, *dict.fromkeys(lowering.notes), *remarks)
    return Dataflow(network.name, tuple(lowering.engines.values()), tuple(lowering.streams), notes, unspecialised=True)


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
        names = some(f"'{step.name}'" for step in wire.pending)
        lowering.notes.append(f"computed on the host, behind the last engine: {names}")
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
    return wire if operation.outputs[0] in lowering.lookahead.absorbed else wire.then(operation)


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
    features = prod(target)
    shape = (1, features) if features == target[-1] else channels_last(target)
    return replace(wire, shape=shape, last_dimension=shape[-1] if wire.from_host else wire.last_dimension)


def _top_k(lowering: Lowering, operation: Operation) -> Wire:
    """Lower TopK and ArgMax to LabelSelect if only labels are asked for and nothing before can reorder them."""
    wire = lowering.input_of(operation)
    only_labels = operation.outputs == (operation.text("indices"),)
    if only_labels and not wire.from_host and _blocking(wire) is None:
        return layers.label_select(lowering, operation, replace(wire, pending=()), operation.integer("k"))
    return wire.then(operation)


_HANDLERS: Mapping[str, Callable[[Lowering, Operation], Wire]] = {
    "add": joins.add,
    "affine": _waiting,
    "average_pool": pools.average_pool,
    "clip": _waiting,
    "concat": joins.concat,
    "conv": layers.conv,
    "flatten": _flatten,
    "fully_connected": layers.fully_connected,
    "function": _waiting,
    "max_pool": pools.max_pool,
    "mean": _waiting,
    "multiply": joins.multiply,
    "pad": pools.pad,
    "quantise": _quantise,
    "relu": _waiting,
    "softmax": _waiting,
    "top_k": _top_k,
    "truncate": _truncate,
    "upsample": pools.upsample,
}
"""How each type of operation becomes engines; a handler returns the wire that carries its outputs."""
