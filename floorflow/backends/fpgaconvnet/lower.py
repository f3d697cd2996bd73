"""From a network's operations to fpgaConvNet's layers and engines.

Source: ``fpgaconvnet-model`` 0.1.4, ``parser/onnx``: batch norm is fused into the convolution before it, a fully
connected layer takes the feature map as it is. Words are 16 bits, a stream is as many of them as the folding says.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from floorflow.backends.fpgaconvnet.layers import BITS, KINDS, WITH_WEIGHTS, Layer
from floorflow.backends.layered.graph import (
    LayerSource,
    Wires,
    check_read,
    has_square_kernel,
    joined,
    refuse_others,
    window_fill,
    without_host_tail,
)
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine
from floorflow.facts.names import plain_names
from floorflow.network import Network, Operation, Tensor

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


def layers_of(network: Network) -> dict[str, Layer]:
    """Return the layers of a network by the names of their operations.

    Raises InputError if operations have no layer; all of them are named.
    """
    operations = [operation for operation in network.operations if operation.type not in NO_HARDWARE]
    hint = "fpgaConvNet's layers are read from conv and pools (square), fully_connected and relu"
    refuse_others(network, operations, lambda operation: _has_layer(network, operation), "fpgaConvNet", hint)
    source = {operation.outputs[0]: operation for operation in network.operations}
    return {operation.name: _layer(network, operation, source) for operation in operations}


def _has_layer(network: Network, operation: Operation) -> bool:
    """Whether there is one: a fully connected layer sums the whole map, not each of its pixels."""
    one_vector = operation.type != "fully_connected" or prod(network.tensor(operation.inputs[0]).shape[2:]) == 1
    return operation.type in _KINDS and has_square_kernel(operation) and one_vector


def _layer(network: Network, operation: Operation, source: Mapping[str, Operation]) -> Layer:
    shape, after = _map_before(network, operation, source), _map(network.tensor(operation.outputs[0]).shape)
    window: dict[str, Any] = {}
    if "kernel" in operation.attributes:
        top, left, bottom, right = operation.integers("pads")
        window = {"kernel": operation.integers("kernel")[0], "padding": (top + bottom, left + right)}
    if operation.type == "conv":
        window["groups"] = operation.integer("group")
    has_bias = bool(operation.attributes.get("bias", 1))
    return Layer(_KINDS[operation.type], shape[0], after[0], *shape[1:], *after[1:], has_bias=has_bias, **window)


def _map(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return channels, rows and columns; a vector is one pixel, and what has one axis behind the channels one row."""
    return shape[1], prod(shape[2:-1]), prod(shape[2:][-1:])


def _map_before(network: Network, operation: Operation, source: Mapping[str, Operation]) -> tuple[int, int, int]:
    """Return the feature map that an operation reads, before it is flattened."""
    tensor = operation.inputs[0]
    while tensor in source and source[tensor].type in NO_HARDWARE:
        tensor = source[tensor].inputs[0]
    return _map(network.tensor(tensor).shape)


def lowered(source: LayerSource) -> Dataflow:
    """Return the engines.

    Raises InputError if operations could not be read or have no layer; all of them are named.
    """
    check_read(source.network)
    network = _sixteen_bits(without_host_tail(source.network, ON_HOST, NO_HARDWARE))
    layers = layers_of(network)
    wires, names = Wires.of(network, NO_HARDWARE, BITS), plain_names([*layers], reserved=())
    operations = {operation.name: operation for operation in network.operations}
    engines = {name: _engine(names[name], operations[name], each) for name, each in layers.items()}
    return joined(wires, engines, _copier)


def _sixteen_bits(network: Network) -> Network:
    """Return the network with every tensor as wide as fpgaConvNet's words."""
    note = f"fpgaConvNet has words of {BITS} bits, whatever the model's quantisers say"
    tensors = tuple(replace(t, datatype=replace(t.datatype, bits=BITS)) for t in network.tensors)
    kept = tuple(each for each in network.notes if "quantised" not in each and "quantisers" not in each)
    return replace(network, tensors=tensors, notes=(*kept, note))


def _engine(name: str, operation: Operation, layer: Layer) -> Engine:
    attributes = attributes_of(layer)
    if layer.op == "EltWiseLayer":
        attributes["ports_in"] = len(operation.inputs)
    if "strides" in operation.attributes:
        top, left, bottom, right = operation.integers("pads")
        attributes |= {"stride": operation.integers("strides")[0], "pads": (top, left, bottom, right)}
    if layer.op == "PoolingLayer":
        attributes["pool_type"] = "max" if operation.type == "max_pool" else "avg"
    kind = KINDS[layer.op]
    weights = BITS if layer.op in WITH_WEIGHTS else 0
    fill = _fill(layer.op, attributes)
    return Engine(name, layer.op, operation.name, attributes, weights, BITS, BITS, {}, kind.role, fill, kind.label)


def attributes_of(layer: Layer) -> dict[str, AttributeValue]:
    """Return a layer as the attributes of an engine, by fpgaConvNet's names."""
    sizes: dict[str, AttributeValue] = {
        "channels_in": layer.channels_in,
        "channels_out": layer.channels_out,
        "rows_in": layer.rows_in,
        "cols_in": layer.columns_in,
        "rows_out": layer.rows_out,
        "cols_out": layer.columns_out,
    }
    if layer.op in {"ConvolutionLayer", "PoolingLayer"}:
        sizes["kernel_size"] = layer.kernel
    if layer.op == "ConvolutionLayer":
        sizes["groups"] = layer.groups
    if layer.op in WITH_WEIGHTS:
        sizes["has_bias"] = int(layer.has_bias)
    return sizes


def layer_of(engine: Engine) -> Layer:
    """Return the layer of an engine."""
    sizes = {key: value for key, value in engine.attributes.items() if isinstance(value, int)}
    pads = engine.attributes.get("pads", (0, 0, 0, 0))
    top, left, bottom, right = (int(pad) for pad in pads)  # type: ignore[union-attr]
    return Layer(
        engine.kind,
        sizes["channels_in"],
        sizes["channels_out"],
        sizes["rows_in"],
        sizes["cols_in"],
        sizes["rows_out"],
        sizes["cols_out"],
        kernel=sizes.get("kernel_size", 1),
        groups=sizes.get("groups", 1),
        padding=(top + bottom, left + right),
        has_bias=bool(sizes.get("has_bias", 1)),
    )


def _fill(op: str, sizes: Mapping[str, AttributeValue]) -> Fraction:
    """Return the share of a frame up to the last pixel of the first window; a dense layer needs all."""
    if op == "InnerProductLayer":
        return Fraction(1)
    pads = sizes.get("pads", ())
    if not pads or not isinstance(pads, tuple):
        return Fraction(0)
    rows, columns, high, wide = (int(sizes[key]) for key in ("rows_in", "cols_in", "kernel_size", "kernel_size"))  # type: ignore[arg-type]
    return window_fill((rows, columns), (high, wide), tuple(map(int, pads)))


def _copier(name: str, tensor: Tensor, bits: int, readers: int) -> Engine:
    rows, columns = tensor.shape[2:4] if len(tensor.shape) == 4 else (1, 1)
    layer = Layer("SplitLayer", tensor.shape[1], tensor.shape[1], rows, columns, rows, columns)
    kind = KINDS[layer.op]
    attributes = {**attributes_of(layer), "ports_out": readers}
    return Engine(name, layer.op, name, attributes, 0, bits, bits, role=kind.role, label=kind.label)
