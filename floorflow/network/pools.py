"""Translate pools: maximum and average over windows or whole images, and upsampling by repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor, prod

from floorflow.network.datatype import FLOAT32, smallest
from floorflow.network.facts import Facts
from floorflow.network.layers import Translation, window
from floorflow.network.model import Value
from floorflow.network.onnx_file import Node

_GLOBAL = ("GlobalAveragePool", "GlobalMaxPool", "ReduceMax", "ReduceMean")
"""Operators whose window is the image."""


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
    return {**window(node, facts, kernel), "ceil_mode": int(node.attributes.get("ceil_mode", 0))}


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
