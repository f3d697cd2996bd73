"""What lowering must know before it meets it: thresholds that follow a layer, and one-bit streams for XNOR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.backends.finn.lower.equal_channels import equal_channels
from floorflow.backends.finn.lower.rewrite import BENDS, LAYERS, MOVERS, next_operation
from floorflow.network.datatype import BIPOLAR
from floorflow.network.model import Network, Operation

_CARRIERS = (*MOVERS, "concat")
"""Operations through which -1 and 1 flow as they are."""


@dataclass(frozen=True)
class Lookahead:
    """``thresholds`` maps a layer's output to the quantiser whose thresholds follow it at once.

    ``absorbed`` holds the outputs of the operations that these thresholds take over, the quantiser's among them, and
    ``xnor`` those of quantisers whose -1 and 1 are sent as 0 and 1 because only XNOR units read them. ``equal`` are
    the tensors with one scale for all channels.
    """

    thresholds: Mapping[str, Operation]
    absorbed: frozenset[str]
    xnor: frozenset[str]
    equal: frozenset[str]


def look_ahead(network: Network) -> Lookahead:
    """Find the thresholds and one-bit streams of a network."""
    thresholds: dict[str, Operation] = {}
    absorbed: set[str] = set()
    for operation in network.operations:
        path = _path_to_quantiser(network, operation) if operation.type in LAYERS else ()
        if path:
            thresholds[operation.outputs[0]] = path[-1]
            absorbed.update(step.outputs[0] for step in path)
    return Lookahead(thresholds, frozenset(absorbed), _xnor(network), equal_channels(network))


def _path_to_quantiser(network: Network, layer: Operation) -> tuple[Operation, ...]:
    """Return the operations from a layer up to its quantiser, empty if there is none."""
    path: list[Operation] = []
    step = next_operation(network, layer)
    while step is not None:
        path.append(step)
        if step.type == "quantise":
            return tuple(path)
        if step.type not in ("affine", *BENDS):
            return ()
        step = next_operation(network, step)
    return ()


def _xnor(network: Network) -> frozenset[str]:
    """Return the outputs of quantisers whose -1 and 1 only layers with weights of -1 and 1 read.

    Where a concat joins several of them, all must be so or none is: a stream has one type.
    """
    quantisers = [o for o in network.operations if o.type == "quantise"]
    good = {o.outputs[0] for o in quantisers if network.tensor(o.outputs[0]).datatype == BIPOLAR}
    while True:
        flowing = _flowing(network, good)
        bad = {name for name in good if not _all_readers_take(network, name, flowing)}
        if not bad:
            return frozenset(good)
        good -= bad


def _flowing(network: Network, good: set[str]) -> set[str]:
    """Return the tensors that nothing but the outputs in ``good`` reaches, and only moved."""
    found = set(good)
    for operation in network.operations:
        if operation.type in _CARRIERS and found.issuperset(operation.inputs):
            found.update(operation.outputs)
    return found


def _all_readers_take(network: Network, tensor: str, flowing: set[str]) -> bool:
    """Whether a tensor only reaches XNOR layers, through tensors in ``flowing``."""
    if tensor in network.outputs or tensor not in flowing:
        return False
    for reader in network.consumers(tensor):
        if reader.type in _CARRIERS:
            if not _all_readers_take(network, reader.outputs[0], flowing):
                return False
        elif reader.type not in LAYERS or network.weights(reader).datatype != BIPOLAR:
            return False
    return True
