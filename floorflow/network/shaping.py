"""Translate what moves data about: reshaping, transposing, padding and concatenation."""

from math import prod

from floorflow.network.datatype import smallest
from floorflow.network.facts import Facts
from floorflow.network.layers import Translation
from floorflow.network.onnx_file import Node

_SHUFFLE_RANK = 5
"""Rank of an image whose channels are split into groups: exporters shuffle channels through it."""


def reshape(node: Node, facts: Facts) -> Translation:
    """Translate what keeps the shape, flattens it, or only adds and removes sizes of 1."""
    source, target = facts.shape(node.inputs[0], node), facts.shape(node.outputs[0], node)
    before, behind = facts.told(node.inputs[0], node), facts.told(node.outputs[0], node)
    in_place = _sizes(before) == _sizes(behind)
    if source == target and in_place:
        return same(node, facts)
    if node.inputs[0] in facts.entering and target[0] == source[0]:
        return Translation("flatten", facts.type(node.inputs[0]))
    if _SHUFFLE_RANK in (len(before), len(behind)) and not in_place:
        raise facts.refuse(
            node,
            f"it regroups channels, {before} to {behind} (channel shuffle): no engine reorders them",
            "Replace the channel shuffle by a 1x1 convolution.",
        )
    if not keeps_places(source, target) or not (in_place or _is_vector(target)):
        raise facts.refuse(node, f"only flattening is supported, not {before} to {behind}")
    return Translation("flatten", facts.type(node.inputs[0]))


def transpose(node: Node, facts: Facts) -> Translation:
    """Translate a Transpose that moves nothing but axes of size 1."""
    source, target = facts.shape(node.inputs[0], node), facts.shape(node.outputs[0], node)
    order = node.attributes.get("perm", tuple(reversed(range(len(source)))))
    moved = [axis for axis in order if source[axis] > 1]
    kept = source == target or _is_vector(target) or _same_image(source, target)
    if moved != sorted(moved) or not (kept or node.inputs[0] in facts.entering):
        hint = "Transposes between NCHW and NHWC are free; leave those out that move other axes."
        before, behind = facts.told(node.inputs[0], node), facts.told(node.outputs[0], node)
        raise facts.refuse(node, f"it reorders the data ({before} to {behind}), which streams cannot", hint)
    return same(node, facts) if source == target else Translation("flatten", facts.type(node.inputs[0]))


def pad(node: Node, facts: Facts) -> Translation:
    """Translate Pad of an image with zeros; ``pads`` as in a convolution."""
    if node.attributes.get("mode", "constant") != "constant":
        raise facts.refuse(node, f"mode '{node.attributes['mode']}' is not supported; only zeros are")
    value = _padding_value(node, facts)
    amounts = node.attributes.get("pads") or _constant_pads(node, facts)
    rank = len(facts.shape(node.inputs[0], node))
    image = (*amounts[2:rank], *amounts[rank + 2 :])
    if value or len(amounts) != 2 * rank or rank < 3 or any((*amounts[:2], *amounts[rank : rank + 2])):
        raise facts.refuse(node, f"only images can be padded, in height and width, with zeros, not with {value:g}")
    if min(image) < 0:
        raise facts.refuse(node, f"negative pads {image} are not supported")
    if not any(image):
        return same(node, facts)
    return Translation("pad", facts.type(node.inputs[0]), {"pads": image})


def concat(node: Node, facts: Facts) -> Translation:
    """Translate Concat along the channels."""
    rank = len(facts.shape(node.outputs[0], node))
    if node.attributes["axis"] % rank != 1:
        raise facts.refuse(node, "only channels can be joined, no other axis")
    data = facts.data_inputs(node)
    if len(data) != len([name for name in node.inputs if name]):
        raise facts.refuse(node, "it joins a constant to the data")
    if len(data) == 1:
        return same(node, facts)
    types = [facts.type(name) for name in data]
    if not all(datatype.is_integer for datatype in types):
        return Translation("concat")
    if len({datatype.name for datatype in types}) == 1:
        return Translation("concat", types[0])
    return Translation("concat", smallest(min(t.min for t in types), max(t.max for t in types)))


def split(node: Node, facts: Facts) -> Translation:
    """Translate Split along the channels; ``channels`` are those of each part."""
    shapes = [facts.shape(name, node) for name in node.outputs]
    if node.attributes.get("axis", 0) % len(shapes[0]) != 1:
        raise facts.refuse(node, "only channels can be split, no other axis")
    if len(shapes) == 1:
        return same(node, facts)
    return Translation("split", facts.type(node.inputs[0]), {"channels": tuple(shape[1] for shape in shapes)})


def same(node: Node, facts: Facts) -> Translation:
    """Translate what changes nothing."""
    return Translation("", facts.type(node.inputs[0]))


def keeps_places(source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a reshape flattens, or only adds and removes sizes of 1, so that a stream needs no other order."""
    return target[0] == source[0] and (_is_vector(target) or _same_image(source, target))


def _is_vector(shape: tuple[int, ...]) -> bool:
    """Whether all features lie along one axis: the channels, or the last."""
    return prod(shape) in (prod(shape[:2]), shape[-1])


def _sizes(shape: tuple[int, ...]) -> list[int]:
    """Return the sizes of a shape but for those of 1."""
    return [size for size in shape if size > 1]


def _same_image(source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether channels and pixels keep their places, but for sizes of 1."""
    pixels = [_sizes(shape[2:]) for shape in (source, target)]
    return len(source) > 1 and len(target) > 1 and source[1] == target[1] and pixels[0] == pixels[1]


def _constant_pads(node: Node, facts: Facts) -> tuple[int, ...]:
    value = facts.value(node.inputs[1]) if len(node.inputs) > 1 else None
    if value is None:
        raise facts.refuse(node, "its pads are not constant")
    amounts = tuple(int(amount) for amount in value.flat)
    if len(node.inputs) <= 3 or not node.inputs[3]:
        return amounts
    axes, rank = facts.value(node.inputs[3]), len(facts.shape(node.inputs[0], node))
    if axes is None:
        raise facts.refuse(node, "its axes are not constant")
    full = [0] * (2 * rank)
    for index, axis in enumerate(axes.flat):
        full[int(axis) % rank] = amounts[index]
        full[int(axis) % rank + rank] = amounts[index + axes.size]
    return tuple(full)


def _padding_value(node: Node, facts: Facts) -> float:
    if len(node.inputs) > 2 and node.inputs[2]:
        return facts.number(node.inputs[2], node, "the padding value")
    return float(node.attributes.get("value", 0.0))
