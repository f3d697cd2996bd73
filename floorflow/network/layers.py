"""Translate what works on windows, attributes in full: layers with weights, their MACs; pools, and upsampling."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, floor, prod

from floorflow.network.datatype import FLOAT32, DataType, smallest
from floorflow.network.facts import Facts
from floorflow.network.model import Value
from floorflow.network.onnx_file import Node
from floorflow.network.soundness import MOST_SIZE, is_size

_GLOBAL = ("GlobalAveragePool", "GlobalMaxPool", "ReduceMax", "ReduceMean")
"""Operators whose window is the image."""


@dataclass(frozen=True)
class Translation:
    """What a node becomes: an operation of ``type``, or its input under a second name if ``type`` is empty."""

    type: str
    datatype: DataType = FLOAT32
    attributes: Mapping[str, Value] = field(default_factory=dict)
    macs: int = 0


def conv(node: Node, facts: Facts) -> Translation:
    """Translate Conv; MACs = output elements x kernel x input channels of a group."""
    weights = _weights(node, facts)
    shape = facts.shape(weights, node)
    kernel = tuple(node.attributes.get("kernel_shape", shape[2:]))
    attributes: dict[str, Value] = {
        **_window(node, facts, kernel),
        "group": int(node.attributes.get("group", 1)),
        "weights": weights,
        "bias": int(bool(node.optional(2))),
    }
    macs = prod(facts.shape(node.outputs[0], node)) * prod(shape[1:])
    return Translation("conv", attributes=attributes, macs=macs)


def conv_transpose(node: Node, facts: Facts) -> Translation:
    """Translate ConvTranspose: a convolution of stride 1 on the image with zeros between its pixels.

    ``spread`` are its strides, ``pads`` those of that convolution; MACs = input elements x output channels x kernel.
    """
    weights = _weights(node, facts)
    shape = facts.shape(weights, node)
    kernel = tuple(node.attributes.get("kernel_shape", shape[2:]))
    ones = (1,) * len(kernel)
    spread = tuple(node.attributes.get("strides", ones))
    dilations = tuple(node.attributes.get("dilations", ones))
    sizes = facts.shape(node.inputs[0], node)[2:], facts.shape(node.outputs[0], node)[2:]
    if not len(kernel) == len(sizes[0]) == len(spread) == len(dilations):
        raise facts.refuse(node, f"kernel, strides or dilations do not fit an input of {len(sizes[0])} dimensions")
    if node.attributes.get("auto_pad", "NOTSET") != "NOTSET" or "output_shape" in node.attributes:
        raise facts.refuse(node, "its pads follow from auto_pad or output_shape", "Export it with explicit pads.")
    if any(node.attributes.get("output_padding", ())):
        hint = "Choose kernel, strides and pads such that the output has its size without output_padding."
        raise facts.refuse(node, f"output_padding {tuple(node.attributes['output_padding'])} has no engine", hint)
    reach = tuple((taps - 1) * dilation for taps, dilation in zip(kernel, dilations, strict=True))
    wide = tuple((size - 1) * stride + 1 for size, stride in zip(sizes[0], spread, strict=True))
    # What the output is smaller than all windows over the borders is cut off; ``pads`` says on which side.
    cut = tuple(w + r - size for w, r, size in zip(wide, reach, sizes[1], strict=True))
    first = tuple(node.attributes.get("pads", (0,) * len(cut))[: len(cut)])
    before = tuple(r - c for r, c in zip(reach, first, strict=True))
    behind = tuple(r - c + f for r, c, f in zip(reach, cut, first, strict=True))
    if min((*before, *behind)) < 0:
        raise facts.refuse(node, f"its pads cut off more than its kernel {kernel} adds at a border")
    attributes: dict[str, Value] = {
        "kernel": kernel,
        "strides": ones,
        "dilations": dilations,
        "pads": (*before, *behind),
        "spread": spread,
        "group": int(node.attributes.get("group", 1)),
        "weights": weights,
        "bias": int(bool(node.optional(2))),
    }
    macs = prod(facts.shape(node.inputs[0], node)) * prod(shape[1:])
    return Translation("conv", attributes=attributes, macs=macs)


def gemm(node: Node, facts: Facts) -> Translation:
    """Translate Gemm with data on the left."""
    if node.attributes.get("transA", 0) or node.inputs[0] in facts.constants:
        raise facts.refuse(node, "the data must be the first input, not transposed")
    return _fully_connected(node, facts, bias=int(bool(node.optional(2))))


def matmul(node: Node, facts: Facts) -> Translation:
    """Translate MatMul of data with constant weights."""
    if node.inputs[0] in facts.constants:
        raise facts.refuse(node, "the data must be the first input, the weights the second")
    return _fully_connected(node, facts, bias=0)


def _fully_connected(node: Node, facts: Facts, bias: int) -> Translation:
    """Translate a product of vectors with constant weights; MACs = output elements x inputs of a neuron."""
    weights = _weights(node, facts)
    inputs = facts.shape(node.inputs[0], node)[-1]
    macs = prod(facts.shape(node.outputs[0], node)) * inputs
    attributes: dict[str, Value] = {"weights": weights, "bias": bias}
    return Translation("fully_connected", attributes=attributes, macs=macs)


def _weights(node: Node, facts: Facts) -> str:
    """Return the name of the weights, which must be constant and quantised."""
    weights = node.inputs[1]
    if weights not in facts.constants:
        raise facts.refuse(node, f"the weights ('{weights}') are computed from the data")
    if not facts.type(weights).is_integer:
        hint = "Quantise the weights of every layer (Brevitas: weight_quant) and export the network as QONNX."
        raise facts.refuse(node, "the layer has float weights: no Quant or BipolarQuant makes them", hint)
    return weights


def _window(node: Node, facts: Facts, kernel: tuple[int, ...]) -> dict[str, Value]:
    """Return kernel, strides, dilations and pads in full, whatever the node leaves to defaults."""
    ones = (1,) * len(kernel)
    strides = tuple(node.attributes.get("strides", ones))
    dilations = tuple(node.attributes.get("dilations", ones))
    pads = tuple(node.attributes.get("pads", (0,) * (2 * len(kernel))))
    spatial = facts.shape(node.inputs[0], node)[2:]
    if not len(kernel) == len(spatial) == len(strides) == len(dilations) or len(pads) != 2 * len(kernel):
        raise facts.refuse(node, f"kernel, strides or pads do not fit an input of {len(spatial)} dimensions")
    automatic = node.attributes.get("auto_pad", "NOTSET")
    if automatic in ("SAME_UPPER", "SAME_LOWER"):
        pads = _same_pads(spatial, kernel, strides, dilations, lower=automatic == "SAME_LOWER")
    if not is_size((*kernel, *strides, *dilations)) or max(pads) > MOST_SIZE:
        raise facts.refuse(node, f"kernel {kernel}, strides {strides}, dilations {dilations} or pads {pads} are none")
    if min(pads) < 0:
        raise facts.refuse(node, f"negative pads {pads} are not supported")
    return {"kernel": kernel, "strides": strides, "dilations": dilations, "pads": pads}


def _same_pads(
    spatial: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    *,
    lower: bool,
) -> tuple[int, ...]:
    """Return the pads of ``auto_pad``: output = ceil(input / stride); the odd pixel goes to the end or start."""
    first, last = [], []
    for size, taps, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True):
        reach = (taps - 1) * dilation + 1
        padding = max((ceil(size / stride) - 1) * stride + reach - size, 0)
        small, big = padding // 2, padding - padding // 2
        first.append(big if lower else small)
        last.append(small if lower else big)
    return (*first, *last)


def max_pool(node: Node, facts: Facts) -> Translation:
    """Translate MaxPool, GlobalMaxPool and ReduceMax; the datatype stays."""
    if len([name for name in node.outputs if name]) > 1:
        raise facts.refuse(node, "the output of indices is not supported")
    kernel = _kernel(node, facts)
    if _single_pixels(node, facts, kernel):
        return Translation("", facts.type(node.inputs[0]))
    return Translation("max_pool", facts.type(node.inputs[0]), _pool_window(node, facts, kernel))


def average_pool(node: Node, facts: Facts) -> Translation:
    """Translate AveragePool, GlobalAveragePool and ReduceMean; the datatype is that of the sum over the window.

    An average of single pixels (an adaptive pool that had nothing to do) is its input. A mean over other axes than the
    pixels' is ``mean``, which only the host can compute.
    """
    if node.op_type == "ReduceMean" and not _reduces_pixels(node, facts):
        return Translation("mean")
    kernel, source = _kernel(node, facts), facts.type(node.inputs[0])
    if _single_pixels(node, facts, kernel):
        return Translation("", source)
    summed = smallest(source.min * prod(kernel), source.max * prod(kernel)) if source.is_integer else FLOAT32
    attributes = _pool_window(node, facts, kernel)
    attributes["count_include_pad"] = int(node.attributes.get("count_include_pad", 0))
    return Translation("average_pool", summed, attributes)


def resize(node: Node, facts: Facts) -> Translation:
    """Translate Resize and Upsample that repeat each pixel a whole number of times."""
    source, target = facts.shape(node.inputs[0], node), facts.shape(node.outputs[0], node)
    if source == target:
        return Translation("", facts.type(node.inputs[0]))
    if node.attributes.get("mode", "nearest") != "nearest":
        raise facts.refuse(node, f"mode '{node.attributes['mode']}' is not supported; only nearest is")
    if len(source) < 3 or source[:2] != target[:2] or any(t % s for s, t in zip(source, target, strict=True)):
        before, behind = facts.told(node.inputs[0], node), facts.told(node.outputs[0], node)
        raise facts.refuse(node, f"only images can grow, by whole factors, not {before} to {behind}")
    if not all(_repeats(node, s, t // s) for s, t in zip(source[2:], target[2:], strict=True)):
        raise facts.refuse(node, "its coordinate_transformation_mode and nearest_mode do not repeat pixels evenly")
    factors = tuple(t // s for s, t in zip(source[2:], target[2:], strict=True))
    return Translation("upsample", facts.type(node.inputs[0]), {"factors": factors})


def _kernel(node: Node, facts: Facts) -> tuple[int, ...]:
    """Return a pool's kernel; a global pool covers the image."""
    if node.op_type not in _GLOBAL:
        return tuple(node.attributes["kernel_shape"])
    if node.op_type == "ReduceMax" and not _reduces_pixels(node, facts):
        raise facts.refuse(node, "only all pixels can be reduced to their maximum")
    return facts.shape(node.inputs[0], node)[2:]


def _reduces_pixels(node: Node, facts: Facts) -> bool:
    """Whether a Reduce operator reduces the image, all of it and nothing else."""
    rank = len(facts.shape(node.inputs[0], node))
    return rank > 2 and _axes(node, facts, rank) == set(range(2, rank))


def _axes(node: Node, facts: Facts, rank: int) -> set[int]:
    """Return the axes that a Reduce operator reduces: an attribute, or from opset 18 on an input; none is all."""
    axes = node.attributes.get("axes")
    if axes is None and len(node.inputs) > 1 and node.inputs[1]:
        value = facts.value(node.inputs[1])
        if value is None:
            raise facts.refuse(node, f"its axes ('{node.inputs[1]}') are not constant")
        axes = tuple(int(axis) for axis in value.flat)
    return {axis % rank for axis in axes} if axes is not None else set(range(rank))


def _single_pixels(node: Node, facts: Facts, kernel: tuple[int, ...]) -> bool:
    """Whether a pool passes its input on unchanged."""
    return prod(kernel) == 1 and facts.shape(node.inputs[0], node) == facts.shape(node.outputs[0], node)


def _pool_window(node: Node, facts: Facts, kernel: tuple[int, ...]) -> dict[str, Value]:
    """Return the window of a pool, and whether its output is rounded up."""
    return {**_window(node, facts, kernel), "ceil_mode": int(node.attributes.get("ceil_mode", 0))}


_COORDINATES: Mapping[str, Callable[[int, int], float]] = {
    "asymmetric": lambda position, factor: position / factor,
    "half_pixel": lambda position, factor: (position + 0.5) / factor - 0.5,
    "half_pixel_symmetric": lambda position, factor: (position + 0.5) / factor - 0.5,
    "pytorch_half_pixel": lambda position, factor: (position + 0.5) / factor - 0.5,
}
"""Where in the input a pixel of the output lies; the symmetric variant differs for broken factors only."""

_ROUNDINGS: Mapping[str, Callable[[float], int]] = {
    "ceil": ceil,
    "floor": floor,
    "round_prefer_ceil": lambda position: floor(position + 0.5),
    "round_prefer_floor": lambda position: ceil(position - 0.5),
}


def _repeats(node: Node, size: int, factor: int) -> bool:
    """Whether a nearest Resize takes pixel i of the input for pixels i x factor to (i + 1) x factor - 1."""
    upsample = node.op_type == "Upsample"  # the operator of opset 9, always asymmetric and floor
    mode = "asymmetric" if upsample else node.attributes.get("coordinate_transformation_mode", "half_pixel")
    rounding = "floor" if upsample else node.attributes.get("nearest_mode", "round_prefer_floor")
    if mode not in _COORDINATES or rounding not in _ROUNDINGS:
        return False
    taken = (_ROUNDINGS[rounding](_COORDINATES[mode](position, factor)) for position in range(size * factor))
    return all(min(max(pixel, 0), size - 1) == i // factor for i, pixel in enumerate(taken))
