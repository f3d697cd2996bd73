"""Lower a Network to FINN's engines: which engines, with which attributes, joined by which streams.

The walk follows the operations in order and keeps, for every tensor, the wire that carries it. Scale, bias and
batch norm wait on their wire until thresholds absorb them or the network ends, when they stay on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from floorflow.backends.finn import lower_layers as layers
from floorflow.backends.finn.lower_graph import Lowering, Wire
from floorflow.backends.finn.lower_lookahead import look_ahead
from floorflow.backends.finn.lower_windows import average_pool, channels_last, max_pool
from floorflow.dataflow.model import HOST_PREFIX, Dataflow
from floorflow.errors import InputError
from floorflow.network.model import Network, Operation
from floorflow.technology import Technology


def lower(network: Network, technology: Technology, label_select: bool = False) -> Dataflow:
    """Return the engines that FINN would build for a network, before folding.

    ``label_select`` ends each output in LabelSelect_hls even without TopK or ArgMax in the network.

    Raises
    ------
    InputError
        If an operation has no engine; names node, operator and reason.

    """
    lowering = Lowering(network, technology, look_ahead(network))
    for index, name in enumerate(network.inputs):
        tensor = network.tensor(name)
        shape = channels_last(tensor.shape)
        lowering.wires[name] = Wire(f"{HOST_PREFIX}in{index}", shape, tensor.datatype, shape[-1])
    for operation in network.operations:
        wire = _HANDLERS[operation.type](lowering, operation)
        lowering.wires.update(dict.fromkeys(operation.outputs, wire))
    if not lowering.engines:
        raise InputError(f"{network.name}: the network has no layer that an engine computes")
    makers = {tensor: operation for operation in network.operations for tensor in operation.outputs}
    for index, name in enumerate(network.outputs):
        _finish(lowering, makers[name], lowering.wires[name], index, label_select=label_select)
    notes = (*network.notes, *lowering.notes)
    return Dataflow(network.name, tuple(lowering.engines.values()), tuple(lowering.streams), notes)


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
        names = ", ".join(f"'{step.name}'" for step in wire.pending)
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
    if operation.name in lowering.lookahead.absorbed:
        return wire
    return replace(wire, pending=(*wire.pending, operation))


def _quantise(lowering: Lowering, operation: Operation) -> Wire:
    if operation.name in lowering.lookahead.absorbed:
        return lowering.input_of(operation)
    return layers.quantise(lowering, operation)


def _truncate(lowering: Lowering, operation: Operation) -> Wire:
    """Pass on what the average pool before has truncated."""
    wire = lowering.input_of(operation)
    maker = lowering.engines.get(wire.source)
    if maker and maker.attributes.get("Function") == "QuantAvgPool":
        return wire
    raise lowering.refuse(operation, "Trunc is supported right behind an average pool only")


def _flatten(lowering: Lowering, operation: Operation) -> Wire:
    """Rename the dimensions of a wire; the order of elements is the next layer's weights' concern."""
    wire = lowering.input_of(operation)
    shape = lowering.network.tensor(operation.outputs[0]).shape
    return replace(wire, shape=shape, last_dimension=shape[-1] if wire.from_host else wire.last_dimension)


def _top_k(lowering: Lowering, operation: Operation) -> Wire:
    """Lower TopK and ArgMax to LabelSelect if only labels are asked for and nothing before can reorder them."""
    wire = lowering.input_of(operation)
    only_labels = operation.outputs == (operation.text("indices"),)
    if only_labels and not wire.from_host and _blocking(wire) is None:
        return layers.label_select(lowering, operation, replace(wire, pending=()), operation.integer("k"))
    return replace(wire, pending=(*wire.pending, operation))


def _join(lowering: Lowering, operation: Operation) -> Wire:
    return lowering.input_of(operation)


_HANDLERS: Mapping[str, Callable[[Lowering, Operation], Wire]] = {
    "add": _join,
    "affine": _waiting,
    "average_pool": average_pool,
    "concat": _join,
    "conv": layers.conv,
    "flatten": _flatten,
    "fully_connected": layers.fully_connected,
    "max_pool": max_pool,
    "quantise": _quantise,
    "relu": _waiting,
    "softmax": _waiting,
    "top_k": _top_k,
    "truncate": _truncate,
}
"""How each type of operation becomes engines; a handler returns the wire that carries its outputs."""
