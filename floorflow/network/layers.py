"""Translate layers with weights: attributes in full, datatypes and MACs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, prod

from floorflow.network.datatype import FLOAT32, DataType
from floorflow.network.facts import Facts
from floorflow.network.model import Value
from floorflow.network.onnx_file import Node
from floorflow.network.soundness import MOST_SIZE, is_size


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
        **window(node, facts, kernel),
        "group": int(node.attributes.get("group", 1)),
        "weights": weights,
        "bias": int(len(node.inputs) > 2 and bool(node.inputs[2])),
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
        "bias": int(len(node.inputs) > 2 and bool(node.inputs[2])),
    }
    macs = prod(facts.shape(node.inputs[0], node)) * prod(shape[1:])
    return Translation("conv", attributes=attributes, macs=macs)


def gemm(node: Node, facts: Facts) -> Translation:
    """Translate Gemm with data on the left."""
    if node.attributes.get("transA", 0) or node.inputs[0] in facts.constants:
        raise facts.refuse(node, "the data must be the first input, not transposed")
    return _fully_connected(node, facts, bias=int(len(node.inputs) > 2 and bool(node.inputs[2])))


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


def window(node: Node, facts: Facts, kernel: tuple[int, ...]) -> dict[str, Value]:
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
