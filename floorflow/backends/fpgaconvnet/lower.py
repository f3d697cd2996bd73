"""From a network's operations to fpgaConvNet's layers.

Source: ``fpgaconvnet-model`` 0.1.4, ``parser/onnx``: batch norm is fused into the convolution before it, a fully
connected layer takes the feature map as it is. Words are 16 bits, a stream is as many of them as the folding says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from floorflow.backends.fpgaconvnet.kinds import KINDS, WITH_WEIGHTS
from floorflow.backends.fpgaconvnet.layers import BITS, Layer
from floorflow.backends.fpgaconvnet.read_layers import NO_HARDWARE, ON_HOST, layers_of
from floorflow.backends.layered.graph import Wires, joined, plain_names
from floorflow.backends.layered.named import NamedLayer, without_host_tail
from floorflow.backends.layered.source import LayerSource, check_read
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine
from floorflow.network import Network, Operation, Tensor


def lowered(source: LayerSource) -> Dataflow:
    """Return the engines.

    Raises
    ------
    InputError
        If operations could not be read or have no layer; all of them are named.

    """
    check_read(source.network)
    network = _sixteen_bits(without_host_tail(source.network, ON_HOST, NO_HARDWARE))
    layers = {each.name: each for each in layers_of(network)}
    wires, names = Wires.of(network, NO_HARDWARE, BITS), plain_names([*layers])
    operations = {operation.name: operation for operation in network.operations}
    engines = {name: _engine(names[name], operations[name], each) for name, each in layers.items()}
    return joined(wires, engines, _copier)


def _sixteen_bits(network: Network) -> Network:
    """Return the network with every tensor as wide as fpgaConvNet's words."""
    note = f"fpgaConvNet has words of {BITS} bits, whatever the model's quantisers say"
    tensors = tuple(replace(t, datatype=replace(t.datatype, bits=BITS)) for t in network.tensors)
    kept = tuple(each for each in network.notes if "quantised" not in each and "quantisers" not in each)
    return replace(network, tensors=tensors, notes=(*kept, note))


def _engine(name: str, operation: Operation, named: NamedLayer[Layer]) -> Engine:
    layer = named.layer
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
    rows, columns, kernel = (int(sizes[key]) for key in ("rows_in", "cols_in", "kernel_size"))  # type: ignore[arg-type]
    row = min(max(kernel - int(pads[0]), 1), rows) - 1
    return Fraction(row * columns + min(max(kernel - int(pads[1]), 1), columns), rows * columns)


def _copier(name: str, tensor: Tensor, bits: int, readers: int) -> Engine:
    rows, columns = tensor.shape[2:4] if len(tensor.shape) == 4 else (1, 1)
    layer = Layer("SplitLayer", tensor.shape[1], tensor.shape[1], rows, columns, rows, columns)
    kind = KINDS[layer.op]
    attributes = {**attributes_of(layer), "ports_out": readers}
    return Engine(name, layer.op, name, attributes, 0, bits, bits, role=kind.role, label=kind.label)
