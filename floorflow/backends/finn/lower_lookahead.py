"""What lowering must know before it meets it: thresholds that follow a layer, and one-bit streams for XNOR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.network.datatype import BIPOLAR
from floorflow.network.model import Network, Operation

LAYER_TYPES = ("conv", "fully_connected")

_MOVERS = ("max_pool", "flatten")
"""Operations that choose or rename values but compute none."""


@dataclass(frozen=True)
class Lookahead:
    """``thresholds`` maps layers to the quantiser whose thresholds follow them at once.

    ``absorbed`` names the operations that these thresholds take over, the quantiser among them, and ``xnor`` the
    quantisers whose -1 and 1 are sent as 0 and 1 because only XNOR units read them.
    """

    thresholds: Mapping[str, Operation]
    absorbed: frozenset[str]
    xnor: frozenset[str]


def look_ahead(network: Network) -> Lookahead:
    """Find the thresholds and one-bit streams of a network."""
    thresholds: dict[str, Operation] = {}
    absorbed: set[str] = set()
    xnor: set[str] = set()
    for operation in network.operations:
        if operation.type in LAYER_TYPES:
            path = _path_to_quantiser(network, operation)
            if path:
                thresholds[operation.name] = path[-1]
                absorbed.update(step.name for step in path if step.type not in _MOVERS)
        elif operation.type == "quantise" and _only_xnor_reads(network, operation):
            xnor.add(operation.name)
    return Lookahead(thresholds, frozenset(absorbed), frozenset(xnor))


def next_operation(network: Network, operation: Operation) -> Operation | None:
    """Return the one reader of an operation's one output, None if there are others or it leaves the network."""
    if len(operation.outputs) != 1 or operation.outputs[0] in network.outputs:
        return None
    consumers = network.consumers(operation.outputs[0])
    return consumers[0] if len(consumers) == 1 else None


def _path_to_quantiser(network: Network, layer: Operation) -> tuple[Operation, ...]:
    """Return the operations from a layer up to its quantiser, empty if there is none.

    Thresholds may move before a max pool or flattening, since they keep the order of values; a scale behind the
    pool may not, for it can be negative (FINN's MoveMaxPoolPastMultiThreshold has the same effect).
    """
    path: list[Operation] = []
    moved = False
    step = next_operation(network, layer)
    while step is not None:
        path.append(step)
        if step.type == "quantise":
            return tuple(path)
        if step.type not in ("affine", "relu", *_MOVERS) or (moved and step.type == "affine"):
            return ()
        moved = moved or step.type in _MOVERS
        step = next_operation(network, step)
    return ()


def _only_xnor_reads(network: Network, quantiser: Operation) -> bool:
    """Whether -1 and 1 flow from a quantiser to layers with weights of -1 and 1, and to nothing else."""
    if network.tensor(quantiser.outputs[0]).datatype != BIPOLAR:
        return False
    waiting = list(quantiser.outputs)
    while waiting:
        tensor = waiting.pop()
        if tensor in network.outputs:
            return False
        for reader in network.consumers(tensor):
            if reader.type in _MOVERS:
                waiting += reader.outputs
            elif reader.type not in LAYER_TYPES or network.weights(reader).datatype != BIPOLAR:
                return False
    return True
