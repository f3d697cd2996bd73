"""From a network's operations to hls4ml's layers, with streams of whole pixels (``io_stream``).

Sources: hls4ml 1.3.0, ``converters/onnx``, ``backends/vivado`` and ``templates/vivado/nnet_utils/*_stream.h``. A word
holds all channels of a pixel, or a dense layer's whole result. Flattening moves nothing (``inplace_stream_flatten``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, log2, prod

from floorflow.backends.hls4ml.kinds import KINDS, WEIGHTED
from floorflow.backends.layered.graph import Wires, joined, plain_names
from floorflow.backends.layered.named import has_square_kernel
from floorflow.backends.layered.source import LayerSource, check_read
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine
from floorflow.errors import InputError
from floorflow.network import Network, Operation, Tensor

DEFAULT_BITS = 16
"""Of hls4ml's own default, ``fixed<16,6>``."""
WITHOUT_ENGINE = frozenset({"quantise", "flatten"})
Attributes = Mapping[str, AttributeValue]
Reading = Callable[[Wires, Operation], Attributes]


def lowered(source: LayerSource, float_bits: int) -> Dataflow:
    """Return the engines.

    Raises
    ------
    InputError
        If operations could not be read or have no layer; all of them are named.

    """
    network = source.network
    check_read(network)
    operations = [each for each in network.operations if each.type not in WITHOUT_ENGINE]
    kinds = {operation.name: _kind(network, operation) for operation in operations}
    missing = [f"'{o.name}' ({o.type})" for o in operations if not kinds[o.name]]
    if missing:
        hint = (
            "hls4ml's layers are read from conv (square; one group, or as many as channels), fully_connected, affine, "
            "relu, pools, flatten and add"
        )
        raise InputError(f"{network.name}: no layer of hls4ml for {', '.join(missing)}", hint=hint)
    wires, names = Wires.of(network, WITHOUT_ENGINE, float_bits), plain_names([o.name for o in operations])
    engines = {o.name: _engine(source, wires, o, kinds[o.name], names[o.name]) for o in operations}
    return joined(wires, engines, _copier)


def _kind(network: Network, operation: Operation) -> str:
    """Return the class of hls4ml's layer; empty if there is none."""
    before = network.tensor(operation.inputs[0]).shape
    kernel = operation.attributes.get("kernel", (1, 1))
    if not isinstance(kernel, tuple) or not has_square_kernel(operation) or {*_pair(operation, "dilations")} != {1}:
        return ""
    if operation.type == "conv":
        group = operation.integer("group")
        after = network.tensor(operation.outputs[0]).shape
        depthwise = group == before[1] == after[1]
        return "Conv2D" if group == 1 else "DepthwiseConv2D" if depthwise else ""
    if operation.type in {"max_pool", "average_pool"}:
        after = network.tensor(operation.outputs[0]).shape
        return "GlobalPooling2D" if kernel == before[2:] and prod(after[2:]) == 1 else "Pooling2D"
    if operation.type == "fully_connected":
        return "Dense" if prod(before[2:]) == 1 else ""
    simple = {"affine": "BatchNormalization", "relu": "Activation", "clip": "Activation", "add": "Merge"}
    return simple.get(operation.type, "")


def _pair(operation: Operation, key: str) -> tuple[int, ...]:
    value = operation.attributes.get(key, (1, 1))
    return value if isinstance(value, tuple) else (value,) if isinstance(value, int) else ()


def _engine(source: LayerSource, wires: Wires, operation: Operation, kind: str, name: str) -> Engine:
    attributes = {
        **_sizes(wires, operation, kind),
        "layer": source.clean_names.get(operation.name, operation.name),
    }
    weights = wires.network.tensor(operation.text("weights")).datatype.bits if "weights" in operation.attributes else 0
    bits_in = max(wires.bits(name) for name in operation.inputs)
    if kind == "BatchNormalization":
        weights = wires.float_bits
    if kind in WEIGHTED:
        # hls4ml's default type is that of sums, too; quantisers make it as wide as sums can be.
        whole = bits_in + weights + ceil(log2(max(_summed(attributes, kind), 2)))
        attributes["accum_bits"] = whole if source.has_quantisers else wires.float_bits
    return Engine(
        name,
        kind,
        operation.name,
        attributes,
        weights,
        bits_in,
        wires.bits(operation.outputs[0]),
        role=KINDS[kind].role,
        window_fill=_fill(kind, attributes),
        label=KINDS[kind].label,
    )


def _sizes(wires: Wires, operation: Operation, kind: str) -> dict[str, AttributeValue]:
    before, after = wires.network.tensor(operation.inputs[0]), wires.network.tensor(operation.outputs[0])
    if kind == "Dense":
        word = wires.tensor(operation.inputs[0]).shape[1]
        return {"n_in": prod(before.shape[1:]), "n_out": after.shape[1], "n_pack": word}
    sizes: dict[str, AttributeValue] = {"n_chan": before.shape[1], "n_filt": after.shape[1]}
    sizes["in_height"], sizes["in_width"] = _image(before)
    sizes["out_height"], sizes["out_width"] = _image(after)
    if "kernel" in operation.attributes:
        sizes["filter"] = operation.integers("kernel")[0]
        sizes["stride"] = operation.integers("strides")[0]
        sizes["pads"] = operation.integers("pads")
    if kind == "Merge":
        sizes["n_inputs"] = len(operation.inputs)
        sizes["operand_bits"] = tuple(wires.bits(name) for name in operation.inputs)
    return sizes


def _summed(sizes: Mapping[str, AttributeValue], kind: str) -> int:
    """Return the products of a sum."""
    if kind == "Dense":
        return int(sizes["n_in"])  # type: ignore[arg-type]
    channels = 1 if kind == "DepthwiseConv2D" else int(sizes["n_chan"])  # type: ignore[arg-type]
    return channels * int(sizes["filter"]) ** 2  # type: ignore[arg-type]


def _image(tensor: Tensor) -> tuple[int, int]:
    """Return rows and columns; a vector is one pixel."""
    return (tensor.shape[2], tensor.shape[3]) if len(tensor.shape) == 4 else (1, prod(tensor.shape[2:]))


def _fill(kind: str, sizes: Mapping[str, AttributeValue]) -> Fraction:
    """Return the share of a frame up to the last pixel of the first window."""
    if kind in {"Dense", "GlobalPooling2D"}:
        return Fraction(1)
    pads = sizes.get("pads", ())
    if not pads or not isinstance(pads, tuple):
        return Fraction(0)
    rows, columns, kernel = (int(sizes[key]) for key in ("in_height", "in_width", "filter"))  # type: ignore[arg-type]
    row = min(max(kernel - int(pads[0]), 1), rows) - 1
    return Fraction(row * columns + min(max(kernel - int(pads[1]), 1), columns), rows * columns)


def _copier(name: str, tensor: Tensor, bits: int, readers: int) -> Engine:
    rows, columns = _image(tensor)
    sizes = {"n_chan": tensor.shape[1], "n_filt": tensor.shape[1], "in_height": rows, "in_width": columns}
    sizes |= {"out_height": rows, "out_width": columns, "copies": readers}
    kind = KINDS["Clone"]
    return Engine(name, "Clone", name, {**sizes, "layer": ""}, 0, bits, bits, role=kind.role, label=kind.label)
