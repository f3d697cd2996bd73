"""A network's operations as fpgaConvNet's layers."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from floorflow.backends.fpgaconvnet.layers import Layer
from floorflow.backends.layered.named import NamedLayer, has_square_kernel, refuse_others
from floorflow.network import Network, Operation

_KINDS: Mapping[str, str] = {
    "conv": "ConvolutionLayer",
    "fully_connected": "InnerProductLayer",
    "relu": "ReLULayer",
    "max_pool": "PoolingLayer",
    "average_pool": "PoolingLayer",
    "add": "EltWiseLayer",
}
NO_HARDWARE = frozenset({"quantise", "flatten", "affine"})
"""Types are fixed, a fully connected layer takes the feature map as it is, and batch norm is a convolution's."""

ON_HOST = frozenset({"clip", "function", "mean", "softmax", "top_k"})
"""What has no layer, and is the host's behind the last one."""


def layers_of(network: Network) -> tuple[NamedLayer[Layer], ...]:
    """Return the layers of a network.

    Raises
    ------
    InputError
        If operations have no layer; all of them are named.

    """
    operations = [operation for operation in network.operations if operation.type not in NO_HARDWARE]
    hint = "fpgaConvNet's layers are read from conv and pools (square), fully_connected and relu"
    refuse_others(network, operations, lambda operation: _has_layer(network, operation), "fpgaConvNet", hint)
    source = {operation.outputs[0]: operation for operation in network.operations}
    return tuple(_named(network, operation, source) for operation in operations)


def _has_layer(network: Network, operation: Operation) -> bool:
    """Whether there is one: a fully connected layer sums the whole map, not each of its pixels."""
    one_vector = operation.type != "fully_connected" or prod(network.tensor(operation.inputs[0]).shape[2:]) == 1
    return operation.type in _KINDS and has_square_kernel(operation) and one_vector


def _named(network: Network, operation: Operation, source: Mapping[str, Operation]) -> NamedLayer[Layer]:
    shape, after = _map_before(network, operation, source), _map(network.tensor(operation.outputs[0]).shape)
    window: dict[str, Any] = {}
    if "kernel" in operation.attributes:
        top, left, bottom, right = operation.integers("pads")
        window = {"kernel": operation.integers("kernel")[0], "padding": (top + bottom, left + right)}
    if operation.type == "conv":
        window["groups"] = operation.integer("group")
    has_bias = bool(operation.attributes.get("bias", 1))
    layer = Layer(_KINDS[operation.type], shape[0], after[0], *shape[1:], *after[1:], has_bias=has_bias, **window)
    words = [network.tensor(name).elements for name in (operation.inputs[0], operation.outputs[0])]
    return NamedLayer(operation.name, layer, *words)


def _map(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return channels, rows and columns; a vector is one pixel, and what has one axis behind the channels one row."""
    return shape[1], prod(shape[2:-1]), prod(shape[2:][-1:])


def _map_before(network: Network, operation: Operation, source: Mapping[str, Operation]) -> tuple[int, int, int]:
    """Return the feature map that an operation reads, before it is flattened."""
    tensor = operation.inputs[0]
    while tensor in source and source[tensor].type in NO_HARDWARE:
        tensor = source[tensor].inputs[0]
    return _map(network.tensor(tensor).shape)
