"""A network's operations as hls4ml's layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from floorflow.backends.hls4ml.layers import Layer
from floorflow.backends.layered.named import NamedLayer, has_square_kernel, refuse_others
from floorflow.network import Network, Operation


def layers_of(network: Network) -> tuple[NamedLayer[Layer], ...]:
    """Return the layers of a network; quantisers are none, for hls4ml's types stand on layers.

    Raises
    ------
    InputError
        If operations have no layer; all of them are named.

    """
    operations = [operation for operation in network.operations if operation.type != "quantise"]
    hint = "hls4ml's layers are read from conv (square, one group), fully_connected, relu, pools and flatten"
    refuse_others(network, operations, _has_layer, "hls4ml", hint)
    return tuple(_named(network, operation) for operation in operations)


def _has_layer(operation: Operation) -> bool:
    return operation.type in _KINDS and operation.attributes.get("group", 1) == 1 and has_square_kernel(operation)


def _named(network: Network, operation: Operation) -> NamedLayer[Layer]:
    before, after = (network.tensor(ends[0]) for ends in (operation.inputs, operation.outputs))
    op, kernel = _KINDS[operation.type]
    pixels = prod(before.shape[2:])
    layer = Layer(op, before.shape[1], after.shape[1], kernel(operation), pixels)
    return NamedLayer(operation.name, layer, before.elements, after.elements)


def _one(_: Operation) -> int:
    return 1


def _side(operation: Operation) -> int:
    return operation.integers("kernel")[0]


_KINDS: Mapping[str, tuple[str, Callable[[Operation], int]]] = {
    "conv": ("Conv2D", _side),
    "fully_connected": ("Dense", _one),
    "relu": ("Activation", _one),
    "max_pool": ("Pooling2D", _one),
    "average_pool": ("Pooling2D", _one),
    "flatten": ("Reshape", _one),
}
"""By type of operation: hls4ml's, and the side of the kernel that counts in products."""
