"""From a network's operations to hls4ml's layers, with streams of whole pixels (``io_stream``).

Sources: hls4ml 1.3.0, ``converters/onnx``, ``backends/vivado`` and ``templates/vivado/nnet_utils/*_stream.h``. A word
holds all channels of a pixel, or a dense layer's whole result. Flattening moves nothing (``inplace_stream_flatten``). A
sequence is an image of one column: its pixels come one after another, as rows do. Without quantisers scales and
biases right behind a layer with weights are part of it (``fuse_biasadd``, ``bn_fuse``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log2, prod
from pathlib import Path

from floorflow.backends.hls4ml.foldings import BY_OPERATOR, DEPTHWISE, GLOBAL_POOLS, JOINS, KINDS, POOLS, WEIGHTED
from floorflow.backends.hls4ml.weights import DEFAULT_FRACTION, Constants, Weights, fraction_bits
from floorflow.backends.layered.graph import LayerSource, Wires, check_read, joined, window_fill
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine
from floorflow.errors import InputError, some
from floorflow.facts.names import plain_names
from floorflow.network import Network, Operation, Tensor

DEFAULT_BITS = 16
"""Of hls4ml's own default, ``fixed<16,6>``: inputs and sums of a network without quantisers have it."""
WITHOUT_ENGINE = frozenset({"quantise", "flatten"})
_HINT = (
    "hls4ml's layers are read from conv (of images and sequences; one group, or as many as channels), fully_connected, "
    "affine, relu, pools, flatten, softmax of a vector, add, multiply and concat of two, and the activations "
    f"{', '.join(sorted(BY_OPERATOR))}"
)
Attributes = Mapping[str, AttributeValue]


@dataclass(frozen=True)
class Hls4mlSource(LayerSource):
    """A model with the values of its weights, by the names of their nodes, and the project of hls4ml that it is in."""

    weights: Mapping[str, Weights] = field(default_factory=dict)
    project: Path | None = None


def lowered(source: Hls4mlSource, weight_bits: int | None) -> Dataflow:
    """Return the engines; ``weight_bits`` if the user chose them for a network without quantisers.

    Raises InputError if operations could not be read or have no layer; all of them are named.
    """
    network = source.network
    check_read(network)
    merged = frozenset() if source.has_quantisers else _merged(network)
    operations = [each for each in network.operations if each.type not in WITHOUT_ENGINE and each.name not in merged]
    kinds = {operation.name: _kind(source, operation) for operation in operations}
    missing = [f"'{o.name}' ({o.type})" for o in operations if not kinds[o.name]]
    if missing:
        raise InputError(f"{network.name}: no layer of hls4ml for {', '.join(missing)}", hint=_HINT)
    wires = Wires.of(network, WITHOUT_ENGINE, DEFAULT_BITS, merged)
    names = plain_names([o.name for o in operations], reserved=())
    lowering = _Lowering(source, wires, weight_bits)
    engines = {o.name: lowering.engine(o, kinds[o.name], names[o.name]) for o in operations}
    found = joined(wires, engines, _copier)
    return Dataflow(found.name, found.engines, found.streams, (*found.notes, *_notes(found)))


def _merged(network: Network) -> frozenset[str]:
    """Return the scales and biases that become part of the layer with weights before them."""
    makers = {output: operation for operation in network.operations for output in operation.outputs}
    found: set[str] = set()
    for operation in network.operations:
        before = makers.get(operation.inputs[0])
        if operation.type != "affine" or before is None or len(network.consumers(operation.inputs[0])) > 1:
            continue
        if before.type in ("conv", "fully_connected") or before.name in found:
            found.add(operation.name)
    return frozenset(found)


def _kind(source: Hls4mlSource, operation: Operation) -> str:
    """Return the class of hls4ml's layer; empty if there is none."""
    shapes = [source.network.tensor(name).shape for name in operation.inputs]
    if operation.type in {"conv", "max_pool", "average_pool"}:
        return _window_kind(source, operation)
    is_vector = prod(shapes[0][2:]) == 1
    # The type is that of LogSoftmax, too, which hls4ml has not.
    is_softmax = source.clean_names.get(operation.name, "").startswith("Softmax")
    is_read = operation.attributes.get("operator") in BY_OPERATOR
    are_two = len(shapes) == 2
    has_layer = {
        "fully_connected": ("Dense", is_vector),
        "softmax": ("Softmax", is_vector and is_softmax),
        "function": ("Activation", is_read),
        "clip": ("Activation", is_read),
        "relu": ("Activation", True),
        "affine": ("BatchNormalization", True),
        "concat": ("Concatenate", are_two),
        "add": ("Merge", are_two and len({*shapes}) == 1),
        "multiply": ("Merge", are_two and len({*shapes}) == 1),
    }
    kind, applies = has_layer.get(operation.type, ("", False))
    return kind if applies else ""


def _window_kind(source: Hls4mlSource, operation: Operation) -> str:
    """Return the class of what slides a window over a sequence or an image."""
    ends = tuple(source.network.tensor(names[0]) for names in (operation.inputs, operation.outputs))
    dimensions = len(ends[0].shape) - 2
    if dimensions not in (1, 2) or {*_tuple(operation, "dilations")} != {1} or "spread" in operation.attributes:
        return ""
    found = _window_class(operation, source.clean_names.get(operation.name, ""), (ends[0], ends[1]))
    return f"{found}{dimensions}D" if found else ""


def _window_class(operation: Operation, node: str, ends: tuple[Tensor, Tensor]) -> str:
    """Return the class of what slides a window, without its dimensions; ``node``: its name after QONNX's clean-up."""
    if operation.type == "conv":
        group = operation.integer("group")
        depthwise = group == ends[0].shape[1] == ends[1].shape[1]
        return "Conv" if group == 1 else "DepthwiseConv" if depthwise else ""
    # A MaxPool over the whole image is no global pool for hls4ml.
    return "GlobalPooling" if node.startswith(("Global", "Reduce")) else "Pooling"


def _tuple(operation: Operation, key: str) -> tuple[int, ...]:
    value = operation.attributes.get(key, (1, 1))
    return value if isinstance(value, tuple) else (value,) if isinstance(value, int) else ()


@dataclass(frozen=True)
class _Lowering:
    source: Hls4mlSource
    wires: Wires
    weight_bits: int | None

    def engine(self, operation: Operation, kind: str, name: str) -> Engine:
        """Return the engine of an operation."""
        attributes = dict(_sizes(self.wires, operation, kind))
        if self._is_quantised(operation):
            attributes["quantised_output"] = 1
        attributes["layer"] = self.source.clean_names.get(operation.name, operation.name)
        network = self.wires.network
        weights = network.weights(operation).datatype.bits if "weights" in operation.attributes else 0
        bits_in = max(self.wires.bits(name) for name in operation.inputs)
        if kind == "BatchNormalization":
            weights = DEFAULT_BITS
        if kind in WEIGHTED:
            # hls4ml's default type is that of sums, too; quantisers make it as wide as sums can be.
            whole = bits_in + weights + ceil(log2(max(_summed(attributes, kind), 2)))
            attributes["accum_bits"] = whole if self.source.has_quantisers else DEFAULT_BITS
            attributes |= self._constants(operation, weights)
        return Engine(
            name,
            kind,
            operation.name,
            attributes,
            weights,
            bits_in,
            self.wires.bits(operation.outputs[0]),
            role=KINDS[kind].role,
            window_fill=_fill(kind, attributes),
            label=KINDS[kind].label,
        )

    def _is_quantised(self, operation: Operation) -> bool:
        """Whether a quantiser of the model follows: no configuration says of how many bits the result is."""
        network = self.wires.network
        types = [reader.type for name in operation.outputs for reader in network.consumers(name)]
        return self.source.has_quantisers and types == ["quantise"]

    def _constants(self, operation: Operation, bits: int) -> Attributes:
        """Return what the weights are as constants, and how many of their bits lie behind the point (-1: scaled)."""
        count = self.wires.network.weights(operation).elements
        weights = self.source.weights.get(operation.name)
        if weights is None:
            usual = None if self.source.has_quantisers or self.weight_bits is not None else DEFAULT_FRACTION
            told = counted(Constants.unknown(count, bits, usual))
            point = {} if self.source.has_quantisers else {"weight_fraction": bits - 1 if usual is None else usual}
            return {**told, "weights_read": 0, **point}
        fraction = DEFAULT_FRACTION if self.weight_bits is None else fraction_bits(weights.values, bits)
        told = counted(weights.constants(bits, fraction))
        return {**told, "weights_read": 1, **({} if weights.scaled else {"weight_fraction": fraction})}


def counted(constants: Constants) -> dict[str, AttributeValue]:
    """Return constants as attributes of their engine."""
    return {
        "nonzero_weights": constants.nonzero,
        "two_digit_weights": constants.two,
        "many_digit_weights": constants.many,
        "weight_digits": constants.digits,
    }


def _sizes(wires: Wires, operation: Operation, kind: str) -> Attributes:
    before, after = wires.network.tensor(operation.inputs[0]), wires.network.tensor(operation.outputs[0])
    if kind == "Dense":
        word = wires.tensor(operation.inputs[0]).shape[1]
        return {"n_in": prod(before.shape[1:]), "n_out": after.shape[1], "n_pack": word}
    sizes: dict[str, AttributeValue] = {"n_chan": before.shape[1], "n_filt": after.shape[1]}
    sizes["in_height"], sizes["in_width"] = _image(before)
    sizes["out_height"], sizes["out_width"] = _image(after)
    if "kernel" in operation.attributes:
        sizes |= _window(operation)
    if kind in JOINS:
        sizes["n_inputs"] = len(operation.inputs)
        sizes["operand_bits"] = tuple(wires.bits(name) for name in operation.inputs)
    if kind == "Concatenate":
        sizes["operand_channels"] = tuple(wires.network.tensor(name).shape[1] for name in operation.inputs)
    operator = operation.attributes.get("operator", operation.type)
    if kind in {"Activation", "BatchNormalization", "Merge"} | POOLS | GLOBAL_POOLS:
        sizes["operator"] = operator
    return sizes


def _window(operation: Operation) -> Attributes:
    kernel, strides = (_rows_and_columns(operation.integers(key)) for key in ("kernel", "strides"))
    pads = operation.integers("pads")
    return {
        "filt_height": kernel[0],
        "filt_width": kernel[1],
        "stride_height": strides[0],
        "stride_width": strides[1],
        "pads": pads if len(pads) == 4 else (pads[0], 0, pads[1], 0),
    }


def _rows_and_columns(sizes: tuple[int, ...]) -> tuple[int, int]:
    """Return the sizes of an image; a sequence has one column."""
    return (sizes[0], sizes[1]) if len(sizes) > 1 else (sizes[0], 1)


def _summed(sizes: Mapping[str, AttributeValue], kind: str) -> int:
    if kind == "Dense":
        return int(sizes["n_in"])  # type: ignore[arg-type]
    channels = 1 if kind in DEPTHWISE else int(sizes["n_chan"])  # type: ignore[arg-type]
    return channels * int(sizes["filt_height"]) * int(sizes["filt_width"])  # type: ignore[arg-type]


def _image(tensor: Tensor) -> tuple[int, int]:
    """Return rows and columns; a vector is one pixel, a sequence one column."""
    return _rows_and_columns(tensor.shape[2:]) if len(tensor.shape) > 2 else (1, 1)


def _fill(kind: str, sizes: Mapping[str, AttributeValue]) -> Fraction:
    """Return the share of a frame up to the last pixel of the first window."""
    if kind in GLOBAL_POOLS | {"Dense"}:
        return Fraction(1)
    pads = sizes.get("pads", ())
    if not pads or not isinstance(pads, tuple):
        return Fraction(0)
    rows, columns, high, wide = (int(sizes[key]) for key in ("in_height", "in_width", "filt_height", "filt_width"))  # type: ignore[arg-type]
    return window_fill((rows, columns), (high, wide), tuple(map(int, pads)))


def _copier(name: str, tensor: Tensor, bits: int, readers: int) -> Engine:
    rows, columns = _image(tensor)
    sizes = {"n_chan": tensor.shape[1], "n_filt": tensor.shape[1], "in_height": rows, "in_width": columns}
    sizes |= {"out_height": rows, "out_width": columns, "copies": readers}
    kind = KINDS["Clone"]
    return Engine(name, "Clone", name, {**sizes, "layer": ""}, 0, bits, bits, role=kind.role, label=kind.label)


def _notes(dataflow: Dataflow) -> list[str]:
    """Return what hls4ml 1.3.0 does not take as it is planned, and what was assumed of weights."""
    overlap = [e.name for e in dataflow.engines if e.kind in POOLS and _overlaps(e.attributes)]
    average = [e.name for e in dataflow.engines if e.kind == "Pooling2D" and e.attributes["operator"] == "average_pool"]
    sequence = [e.name for e in dataflow.engines if e.kind == "Pooling1D"]
    unread = [e.name for e in dataflow.engines if e.attributes.get("weights_read") == 0]
    told = {
        "hls4ml's streaming pools take windows side by side, without padding, alone; others are planned: ": overlap,
        "hls4ml 1.3.0 has average pools, but reads none from ONNX (QONNX has none with channels last): ": average,
        "hls4ml 1.3.0 has pools of sequences, but reads none from ONNX (no pad_left): ": sequence,
        "weights not read (outside of the file, computed, too many), counted as trained ones mostly are: ": unread,
    }
    return [f"{sentence}{some(names)}" for sentence, names in told.items() if names]


def _overlaps(sizes: Mapping[str, AttributeValue]) -> bool:
    pairs = (("filt_height", "stride_height"), ("filt_width", "stride_width"))
    return any(sizes[size] != sizes[step] for size, step in pairs) or any(sizes["pads"])  # type: ignore[arg-type]
