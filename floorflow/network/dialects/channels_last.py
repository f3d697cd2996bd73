"""Channels-last data, of Keras' exports and of QONNX's channels-last operators: channels first, as ONNX's layers read.

Every tensor is given its channels-first shape in place (`layouts`). The Transposes and Reshapes between the layouts
become Identity, and whatever names an axis, or has a value for each, is turned with the data. Flattening puts the
elements of a pixel in another order then, which changes no more than the order of the next layer's weights.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import onnx

from floorflow.errors import InputError
from floorflow.network.dialects.layouts import (
    ALONG_AXES,
    ELEMENTWISE,
    REDUCING,
    RESHAPING,
    Layout,
    Shape,
    carriers,
    constant_integers,
    reduced_axes,
    solve,
)
from floorflow.network.dialects.rewriting import Rewriting, makers_of, require_inputs
from floorflow.network.facts import Facts, find_constants
from floorflow.network.onnx_file import Node, OnnxFile, rewritten
from floorflow.network.shapes import QUANTISERS, infer

DOMAIN = "qonnx.custom_op.channels_last"

_OPERATORS = {
    **dict.fromkeys(("AveragePool", "BatchNormalization", "Concat", "GlobalAveragePool", "GlobalMaxPool"), 1),
    **dict.fromkeys(("InstanceNormalization", "MaxPool"), 1),
    "Conv": 2,
}
"""The channels-last operators that are read, and the inputs that each must have."""
_AXES_AS_INPUT, _PADS_AS_INPUT, _SCALES_AS_INPUT, _SIZES_AS_INPUT = 18, 11, 9, 11
"""Versions from which on axes of reductions, pads, scales and sizes are inputs."""
_ABSENT_SCALES = 13
"""Version from which on a Resize to sizes need not be given empty scales."""
_IMAGE_RANK, _USUAL_RANK = 3, 4
_DEFAULT_AXES: Mapping[str, int] = {"LogSoftmax": -1, "Softmax": -1, "TopK": -1}


def spelled_out(source: OnnxFile) -> OnnxFile:
    """Return the file with QONNX's channels-last operators as what they stand for: Transposes around ONNX's own."""
    if not any(node.domain == DOMAIN for node in source.nodes):
        return source
    require_inputs(source, _OPERATORS, (DOMAIN,))
    rewriting, makers = Rewriting(source), makers_of(source)
    values = (*source.model.graph.value_info, *source.inputs)
    declared = {value.name: len(value.type.tensor_type.shape.dim) for value in values}
    for node in source.nodes:
        if node.domain == DOMAIN and node.op_type in _OPERATORS:
            _spell_out(rewriting, node, _rank(makers, declared, node))
        else:
            rewriting.keep(node)
    return rewriting.finish()


def _spell_out(rewriting: Rewriting, node: Node, rank: int) -> None:
    """Add an operator between Transposes; kernels are stored (out, height, width, in)."""
    turned = {"Concat": len(node.inputs), "Conv": 2}.get(node.op_type, 1)
    inputs = list(node.inputs)
    for position, name in enumerate(inputs[:turned]):
        transpose = f"{node.name} input {position}"
        inputs[position] = rewriting.add(transpose, "Transpose", [name], f"{transpose} turned", perm=_to_first(rank))
    behind = f"{node.outputs[0]} channels first"
    if node.op_type == "Concat":
        rewriting.add(node.name, "Concat", inputs, behind, axis=1)
    else:
        rewriting.like(node, node.op_type, inputs, behind)
    rewriting.add(f"{node.name} output", "Transpose", [behind], node.outputs[0], perm=[0, *range(2, rank), 1])


def _rank(makers: Mapping[str, Node], declared: Mapping[str, int], node: Node) -> int:
    """Return the rank of what a channels-last operator reads, by its kernel or by what is declared before it."""
    seen: set[str] = set()
    while node.name not in seen:
        seen.add(node.name)
        kernel, order = node.integers("kernel_shape"), node.integers("perm")
        if kernel or order:
            return len(kernel) + 2 if kernel else len(order)
        name = node.optional(0)
        if declared.get(name):
            return declared[name]
        node = makers.get(name, node)
    return _USUAL_RANK


def _to_first(rank: int) -> list[int]:
    return [0, rank - 1, *range(1, rank - 1)]


@dataclass
class _Turning:
    """A file while its tensors are turned; ``made`` holds what was converted, by tensor and shape."""

    rewriting: Rewriting
    facts: Facts
    layouts: Mapping[str, Layout]
    made: dict[tuple[str, Layout], str] = field(default_factory=dict)
    file_shapes: dict[str, Shape] = field(default_factory=dict)

    @property
    def opset(self) -> int:
        return self.facts.source.opset

    def layout(self, name: str) -> Layout:
        """Return a tensor's layout; a constant is as it is stored."""
        return self.layouts.get(name) or Layout.plain(len(self.facts.shapes[name]))

    def turned(self, name: str) -> Shape:
        """Return a tensor's channels-first shape."""
        return self.layout(name).turned(self.facts.shapes[name])

    def converted(self, name: str, target: Layout) -> str:
        """Return a tensor in another layout of the same axes."""
        if (name, target) not in self.made:
            made = self.convert(name, self.layout(name), target, f"{name} turned {len(self.made)}")
            self.file_shapes[made] = self.facts.shapes[name]
            self.made[name, target] = made
        return self.made[name, target]

    def convert(self, name: str, source: Layout, target: Layout, output: str, node_name: str = "") -> str:
        """Add what turns a tensor from a layout into another as ``output``: a Reshape where no element moves."""
        sizes, label = self.facts.shapes.get(output) or self.facts.shapes[name], node_name or output
        if source == target:
            return self.rewriting.add(label, "Identity", [name], output) if node_name else name
        if source.order(sizes) == target.order(sizes):
            return self.reshaped(label, name, output, target.turned(sizes))
        before, behind = source.by_place, target.by_place
        self.file_shapes[f"{output} before"] = self.facts.shapes[name]
        self.file_shapes[f"{output} moved"] = sizes
        plain = self.reshaped(f"{label} before", name, f"{output} before", tuple(sizes[axis] for axis in before))
        order = [before.index(axis) for axis in behind]
        moved = self.rewriting.add(label, "Transpose", [plain], f"{output} moved", perm=order)
        return self.reshaped(f"{label} behind", moved, output, target.turned(sizes))

    def reshaped(self, node_name: str, name: str, output: str, shape: Shape) -> str:
        target = self.rewriting.integers(f"{output} shape", shape)
        return self.rewriting.add(node_name, "Reshape", [name, target], output)


def channels_first(source: OnnxFile) -> OnnxFile:
    """Return the file with every tensor in its channels-first form."""
    try:
        shapes, folded, _ = infer(source)
        if _reshape_inputs(source, shapes):
            source = rewritten(source, source.model.graph.node)
            shapes, folded, _ = infer(source)
    except InputError:
        return source  # the reader infers shapes as well, and tells what it meets together with all else
    values = {**source.initialisers, **{tensor.name: tensor for tensor in folded.graph.initializer}}
    facts = Facts(replace(source, initialisers=values), shapes, find_constants(source))
    layouts = {name: layout for name, layout in solve(facts).items() if not layout.is_plain}
    if not layouts:
        return source
    turning = _Turning(Rewriting(source), facts, layouts, file_shapes={name: shapes[name] for name in layouts})
    for node in source.nodes:
        _turn(turning, node)
    for value in source.inputs:
        if value.name in layouts:
            _declare(value, turning.turned(value.name))
    return replace(turning.rewriting.finish(), file_shapes=turning.file_shapes)


def _reshape_inputs(source: OnnxFile, shapes: Mapping[str, Shape]) -> bool:
    """Give an input that is only read as an image the image's shape: the host sends the elements in any order."""
    changed = False
    for value in source.inputs:
        readers = [node for node in source.nodes if value.name in node.inputs]
        if value.name in source.outputs or len(readers) != 1 or readers[0].op_type != "Reshape":
            continue
        (node,), target = readers, shapes.get(readers[0].outputs[0], ())
        if node.inputs[0] == value.name and len(target) >= _IMAGE_RANK and target[0] == 1:
            _declare(value, target)
            del node.proto.input[1:]
            node.proto.op_type, changed = "Identity", True
            del node.proto.attribute[:]
    return changed


def _declare(value: onnx.ValueInfoProto, shape: Shape) -> None:
    """Give an input another shape, with the batch that it has."""
    sizes = value.type.tensor_type.shape.dim
    del sizes[1:]
    for size in shape[1:]:
        sizes.add().dim_value = size


def _turn(turning: _Turning, node: Node) -> None:
    """Keep a node as it is on channels-first data."""
    known = all(name in turning.facts.shapes for name in (*node.inputs, *node.outputs) if name)
    if turning.layouts.keys().isdisjoint((*node.inputs, *node.outputs)) or not known:
        turning.rewriting.keep(node)
    elif node.op_type == "Shape":
        sizes = turning.facts.shapes[node.inputs[0]]
        part = sizes[node.integer("start", 0) : node.integer("end", len(sizes))]
        turning.rewriting.integers(node.outputs[0], part)
    elif node.op_type in _TURNERS and not turning.facts.constants.issuperset(node.outputs):
        _TURNERS[node.op_type](turning, node)
    else:
        turning.rewriting.keep(node)


def _elementwise(turning: _Turning, node: Node) -> None:
    """Turn what is broadcast over the data; a quantiser's parameters only say whether they are single numbers."""
    layout, shapes = turning.layout(node.outputs[0]), turning.facts.shapes
    inputs = list(node.inputs)
    for position, name in enumerate(inputs):
        single = name in turning.facts.constants and (not name or set(shapes[name]) <= {1})
        if not name or single or (position and node.op_type in QUANTISERS) or len(shapes[name]) > len(layout.axes):
            continue
        axes = layout.axes[len(layout.axes) - len(shapes[name]) :]
        inputs[position] = turning.converted(name, Layout(axes, layout.rank))
    turning.rewriting.changed(node, inputs)


def _carried(turning: _Turning, node: Node) -> None:
    """Turn what moves axes or sizes of 1: where both sides agree it does nothing."""
    name, output = node.inputs[0], node.outputs[0]
    carrier = carriers(turning.facts, node)
    forward = carrier[0](turning.layout(name)) if carrier else None
    if forward is None:
        turning.reshaped(node.name, name, output, turning.turned(output))
    else:
        turning.convert(name, forward, turning.layout(output), output, node.name)


def _reduce(turning: _Turning, node: Node) -> None:
    """Turn the axes of a reduction; places that no axis of the file takes are reduced, too."""
    name, output, facts = node.inputs[0], node.outputs[0], turning.facts
    axes, layout = reduced_axes(facts, node), turning.layout(name)
    if axes is None:
        turning.rewriting.keep(node)
        return
    if node.op_type.startswith("Arg"):
        turning.rewriting.changed(node, axis=layout.axes[next(iter(axes))])
        return
    kept = {layout.axes[axis] for axis in range(len(layout.axes)) if axis not in axes}
    places = tuple(place for place in range(layout.rank) if place not in kept)
    keeps = len(facts.shapes[output]) == len(layout.axes) or turning.layout(output).rank == layout.rank
    attributes = {"keepdims": int(keeps)}
    if turning.opset >= _AXES_AS_INPUT or (node.op_type == "ReduceSum" and not node.integers("axes")):
        turning.rewriting.changed(node, [name, turning.rewriting.integers(f"{output} axes", places)], **attributes)
    else:
        turning.rewriting.changed(node, [name], axes=places, **attributes)


def _along(turning: _Turning, node: Node, default: int) -> None:
    layout = turning.layout(node.outputs[0])
    axis = layout.axes[node.integer("axis", default) % len(layout.axes)]
    turning.rewriting.changed(node, axis=axis)


def _pad(turning: _Turning, node: Node) -> None:
    """Turn the pads, of all axes or of those that are named."""
    layout, facts = turning.layout(node.inputs[0]), turning.facts
    amounts = node.integers("pads") or constant_integers(facts, node, 1)
    named = constant_integers(facts, node, 3) or tuple(range(len(layout.axes)))
    if len(amounts) != 2 * len(named):
        turning.rewriting.keep(node)
        return
    pads = [0] * (2 * layout.rank)
    for index, axis in enumerate(named):
        place = layout.axes[axis % len(layout.axes)]
        pads[place], pads[place + layout.rank] = amounts[index], amounts[index + len(named)]
    if turning.opset < _PADS_AS_INPUT:
        turning.rewriting.changed(node, pads=pads)
    else:
        made = turning.rewriting.integers(f"{node.outputs[0]} pads", tuple(pads))
        turning.rewriting.changed(node, [node.inputs[0], made, *node.inputs[2:3]])


def _resize(turning: _Turning, node: Node) -> None:
    """Give the sizes or scales of all axes, whatever the file says of which."""
    name, output, rewriting = node.inputs[0], node.outputs[0], turning.rewriting
    before, behind = turning.turned(name), turning.turned(output)
    if turning.opset >= _SIZES_AS_INPUT and node.op_type == "Resize":
        absent = "" if turning.opset >= _ABSENT_SCALES else rewriting.floats(f"{output} no scales", [])
        inputs = [name, absent, absent, rewriting.integers(f"{output} sizes", behind)]
        rewriting.changed(node, inputs, axes=None, keep_aspect_ratio_policy=None)
        return
    scales = [after / size for size, after in zip(before, behind, strict=True)]
    if turning.opset >= _SCALES_AS_INPUT:
        rewriting.changed(node, [name, rewriting.floats(f"{output} scales", scales)])
    else:
        rewriting.changed(node, scales=scales)


def _slice(turning: _Turning, node: Node) -> None:
    """Turn the axes of a Slice, the first ones if it names none."""
    layout, facts = turning.layout(node.inputs[0]), turning.facts
    starts = node.integers("starts") or constant_integers(facts, node, 1)
    axes = node.integers("axes") or constant_integers(facts, node, 3) or tuple(range(len(starts)))
    places = tuple(layout.axes[axis % len(layout.axes)] for axis in axes)
    if len(node.inputs) < 3:
        turning.rewriting.changed(node, axes=places)
    else:
        made = turning.rewriting.integers(f"{node.outputs[0]} axes", places)
        turning.rewriting.changed(node, [*node.inputs[:3], made, *node.inputs[4:5]])


def _matmul(turning: _Turning, node: Node) -> None:
    """Turn a product of the channels of every pixel into what it is, a 1x1 convolution."""
    layout, shapes = turning.layout(node.inputs[0]), turning.facts.shapes
    weights = node.inputs[1]
    if weights in turning.facts.constants and (layout.axes[-1] != 1 or len(shapes[weights]) != 2):
        reason = f"it multiplies {shapes[node.inputs[0]]} by {shapes[weights]}; expected the channels by a matrix"
        hint = "Put the channels last, and give the weights two dimensions."
        turning.rewriting.obstacles.met.append(turning.rewriting.refuse(node, reason, hint).obstacle)
    if weights not in turning.facts.constants or layout.axes[-1] != 1 or len(shapes[weights]) != 2:
        turning.rewriting.keep(node)
        return
    inputs, outputs = shapes[weights]
    kernel = (1,) * (layout.rank - 2)
    turned = turning.rewriting.add(
        f"{node.name} weights turned", "Transpose", [weights], f"{weights} at {node.name}", perm=[1, 0]
    )
    shape = (outputs, inputs, *kernel)
    made = turning.reshaped(f"{node.name} weights", turned, f"{weights} of {node.name}", shape)
    turning.rewriting.like(node, "Conv", [node.inputs[0], made], node.outputs[0])


_Turner = Callable[[_Turning, Node], None]

_TURNERS: Mapping[str, _Turner] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(REDUCING, _reduce),
    **dict.fromkeys((*RESHAPING, "Transpose"), _carried),
    **{name: partial(_along, default=_DEFAULT_AXES.get(name, 0)) for name in ALONG_AXES},
    "MatMul": _matmul,
    "Pad": _pad,
    "Resize": _resize,
    "Slice": _slice,
    "Upsample": _resize,
}
"""How each operator is turned that treats the axes of its data in a way of its own."""
