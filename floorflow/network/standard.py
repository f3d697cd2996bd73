"""What ONNX's standard demands of attributes and shapes: a file that breaks it is refused, not planned.

ONNX's own shape inference, in strict mode, finds what does not fit together; what it lets pass is found here, and so
are shapes that a file declares and its nodes do not make.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod

import onnx
from onnx import shape_inference

from floorflow.errors import InputError
from floorflow.network.facts import find_constants
from floorflow.network.obstacles import Obstacle, Obstacles
from floorflow.network.onnx_file import Node, OnnxFile
from floorflow.network.shapes import QONNX_DOMAINS, QUANTISERS, as_planned, as_standard
from floorflow.network.soundness import STANDARD_DOMAINS

Sizes = tuple["int | None", ...]
"""A shape, None where a size is not known."""
Shapes = Mapping[str, Sizes]

_HINT = "The file breaks ONNX's rules: correct the export, and check it with onnx.checker and onnxruntime."
_NODE_ERROR = re.compile(r"\(op_type:[^,]*, node name: (.*?)\): \[ShapeInferenceError\] (.*)")
_AUTO_PADS = ("", "NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID")
_POOLS = ("AveragePool", "LpPool", "MaxPool")
_CONVOLUTIONS = ("Conv", "ConvTranspose")
_FLAGS = ("ceil_mode", "count_include_pad", "keepdims", "transA", "transB")


def check_standard(source: OnnxFile) -> None:
    """Refuse a file of which nodes, inputs or declared shapes contradict ONNX's standard.

    InputError names file and nodes, all of them at once.
    """
    versions = [entry.version for entry in source.model.opset_import if entry.domain in STANDARD_DOMAINS]
    newest: int = onnx.defs.onnx_opset_version()
    if not versions:
        raise InputError(f"{source.path}: the file does not say which version of ONNX's operators it uses", _OPSET_HINT)
    for version in versions:
        if not 1 <= version <= newest:
            reason = f"version {version} of ONNX's operators (opset); expected 1 to {newest}"
            raise InputError(f"{source.path}: the file uses {reason}", _OPSET_HINT)
    _check_inputs(source)
    broken = _Broken(source)
    for node in source.nodes:
        broken.collect(node, _attribute_faults(node))
    broken.check()
    broken.met = _misfits(source, _planned(source))
    if broken.met and any(dim != 1 for dim in _batches(source)):
        # constants may hold the file's own batch, which is planned as 1: what fits with either is no fault
        own = {obstacle.name for obstacle in _misfits(source, as_standard(source, list(source.inputs)))}
        broken.met = [obstacle for obstacle in broken.met if obstacle.name in own]
    broken.check()


def _planned(source: OnnxFile) -> onnx.ModelProto:
    """Return the model with batch 1; one whose inputs are not known otherwise, which the reader tells, as it is."""
    try:
        return as_planned(source)[0]
    except InputError:
        return as_standard(source, list(source.inputs))


def _batches(source: OnnxFile) -> list[int | None]:
    return [_declared(value)[0] for value in source.inputs if value.type.tensor_type.shape.dim]


def _misfits(source: OnnxFile, model: onnx.ModelProto) -> list[Obstacle]:
    """Return the nodes whose attributes, parameters or declared outputs contradict the shapes that flow."""
    shapes, errors = _inferred(model)
    broken, constants = _Broken(source), find_constants(source)
    makers = {name: node for node in source.nodes for name in node.outputs if name}
    for node in source.nodes:
        broken.collect(node, _shape_faults(node, shapes))
        broken.collect(node, iter([errors[node.name]] if node.name in errors else []))
        if not constants.issuperset(node.outputs):
            broken.collect(node, _empty(node, shapes, constants))
    for value in (*source.model.graph.value_info, *source.model.graph.output):
        if value.name in makers:
            broken.collect(makers[value.name], _contradicted(value, shapes.get(value.name)))
    return broken.met


class _Broken(Obstacles):
    """The nodes that break the standard, each with the first fault that was found."""

    def __init__(self, source: OnnxFile) -> None:
        super().__init__()
        self.source = source

    def collect(self, node: Node, faults: Iterator[str]) -> None:
        """Note the first fault of a node that has none so far."""
        fault = next(faults, None)
        if fault and node.name not in {obstacle.name for obstacle in self.met}:
            self.met.append(Obstacle(self.source.path, "node", node.name, node.op_type, fault, _HINT))


_OPSET_HINT = "Export the file again, with opset 13 for example."


def _check_inputs(source: OnnxFile) -> None:
    """Refuse an input of no or fewer elements."""
    for value in source.inputs:
        for index, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value < 1:
                reason = f"dimension {index} of input '{value.name}' is {dim.dim_value}; expected at least 1"
                hint = "Export the network with a fixed input shape; a batch that varies has a name and no number."
                raise InputError(f"{source.path}: {reason}", hint)


def _attribute_faults(node: Node) -> Iterator[str]:
    """Yield what is wrong with attributes of ONNX's own operators by themselves."""
    if node.domain not in STANDARD_DOMAINS:
        return
    if node.attributes.get("auto_pad", "NOTSET") not in _AUTO_PADS:
        yield f"auto_pad '{node.attributes['auto_pad']}' is none of {', '.join(filter(None, _AUTO_PADS))}"
    for key in ("kernel_shape", "strides", "dilations"):
        if any(size < 1 for size in node.integers(key)):
            yield f"{key} {node.integers(key)} must be positive"
    if node.op_type in (*_POOLS, *_CONVOLUTIONS) and any(size < 0 for size in node.integers("pads")):
        yield f"negative pads {node.integers('pads')}: a window can only add pixels"
    for key in _FLAGS:
        if key in node.attributes and node.attributes[key] not in (0, 1):
            yield f"{key} is {node.attributes[key]}; expected 0 or 1"
    order = node.integers("perm") if node.op_type == "Transpose" else ()
    if sorted(order) != list(range(len(order))):
        yield f"perm {order} is no order of {len(order)} axes"


def _inferred(model: onnx.ModelProto) -> tuple[Shapes, Mapping[str, str]]:
    """Return the shapes that ONNX infers, and what it finds wrong, by node."""
    errors: dict[str, str] = {}
    try:
        shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as error:
        errors = dict(_NODE_ERROR.findall(str(error)))
    except (ValueError, RuntimeError):
        return {}, {}  # the reader infers as well, and says so
    try:
        graph = shape_inference.infer_shapes(model, data_prop=True).graph
    except (shape_inference.InferenceError, ValueError, RuntimeError):
        return {}, errors
    shapes: dict[str, Sizes] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.tensor_type.HasField("shape"):
            shapes[value.name] = _declared(value)
    return shapes, errors


def _declared(value: onnx.ValueInfoProto) -> Sizes:
    dims = value.type.tensor_type.shape.dim
    return tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in dims)


def _shape_faults(node: Node, shapes: Shapes) -> Iterator[str]:
    """Yield how a node's attributes and parameters contradict the shapes that it reads."""
    if node.inputs and node.outputs and node.domain in QONNX_DOMAINS:
        for check in _CHECKS.get(node.op_type, ()):
            yield from check(node, shapes)


def _window(node: Node, shapes: Shapes) -> Iterator[str]:
    data = shapes.get(node.inputs[0])
    if data is None:
        return
    spatial = len(data) - 2
    for key, count in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 2)):
        if key in node.attributes and len(node.integers(key)) != count * spatial:
            yield f"{key} {node.integers(key)} does not fit an input of {spatial} dimensions, {_text(data)}"


def _kernel(node: Node, shapes: Shapes) -> Iterator[str]:
    """Compare a convolution's weights, stored (out, in of a group, kernel), with its data and attributes."""
    data, weights = (shapes.get(name) for name in (*node.inputs, "", "")[:2])
    if data is None or weights is None:
        return
    group = node.attributes.get("group", 1)
    if len(weights) != len(data):
        yield f"its weights {_text(weights)} do not fit an input of {_text(data)}"
        return
    kernel = node.integers("kernel_shape")
    if kernel and None not in weights and kernel != weights[2:]:
        yield f"kernel_shape {kernel} contradicts its weights of {_text(weights)}"
    transposed = node.op_type == "ConvTranspose"
    channels, outputs = data[1], weights[1 if transposed else 0]
    reads = weights[0] if transposed else weights[1]
    if (
        not isinstance(group, int)
        or group < 1
        or (channels or group) % group
        or (not transposed and (outputs or group) % group)
    ):
        yield f"group {group} does not divide its {channels} input and {outputs} output channels"
    elif channels is not None and reads is not None and channels != (reads if transposed else reads * group):
        per_group = f" in {group} groups" if group > 1 else ""
        yield f"its weights {_text(weights)} do not fit an input of {channels} channels{per_group}, {_text(data)}"
    elif outputs is not None:
        yield from _per_channel(node, shapes, (2,), outputs * (group if transposed else 1), "bias")


def _norm(node: Node, shapes: Shapes) -> Iterator[str]:
    data = shapes.get(node.inputs[0], ())
    if len(data) > 1 and data[1] is not None:
        yield from _per_channel(node, shapes, range(1, len(node.inputs)), data[1], "parameter")


def _per_channel(
    node: Node, shapes: Shapes, positions: tuple[int, ...] | range, channels: int, what: str
) -> Iterator[str]:
    for position in positions:
        name = node.optional(position)
        if name in shapes and None not in shapes[name] and shapes[name] != (channels,):
            yield f"its {what} '{name}' of {_text(shapes[name])} has not one value for each of {channels} channels"


def _moved(node: Node, shapes: Shapes) -> Iterator[str]:
    """Compare what a node that only moves elements reads with what it leaves."""
    before, behind = (shapes.get(name) for name in (node.inputs[0], node.outputs[0]))
    order = node.integers("perm")
    if before is None:
        return
    if node.op_type == "Transpose" and order and len(order) != len(before):
        yield f"perm {order} does not fit an input of {_text(before)}"
    elif behind is not None and None not in (*before, *behind):
        elements = [prod(size or 0 for size in sizes) for sizes in (before, behind)]
        if elements[0] != elements[1]:
            yield f"it cannot make {_text(behind)} of {_text(before)}: {elements[1]} elements of {elements[0]}"


def _gemm(node: Node, shapes: Shapes) -> Iterator[str]:
    left, right = (shapes.get(name) for name in (*node.inputs, "", "")[:2])
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return
    inner = left[0 if node.attributes.get("transA") else 1], right[1 if node.attributes.get("transB") else 0]
    if None not in inner and inner[0] != inner[1]:
        yield f"it multiplies {_text(left)} by {_text(right)}: inner sizes {inner[0]} and {inner[1]} differ"
    result = (left[1 if node.attributes.get("transA") else 0], right[0 if node.attributes.get("transB") else 1])
    bias = shapes.get(node.optional(2)) if node.optional(2) else None
    if bias is not None and not _broadcasts(bias, result):
        yield f"its bias '{node.inputs[2]}' of {_text(bias)} cannot be added to {_text(result)}"


def _quantiser(node: Node, shapes: Shapes) -> Iterator[str]:
    """Compare a quantiser's parameters with its data; one value along an axis may be stored by its length alone."""
    data = shapes.get(node.inputs[0])
    for name in node.inputs[1:3]:
        values = shapes.get(name)
        if data is None or values is None or _broadcasts(values, data):
            continue
        if not (len(values) == 1 and (values[0] in data or None in data)):
            yield f"its parameter '{name}' of {_text(values)} does not fit its input of {_text(data)}"


def _broadcasts(part: Sizes, whole: Sizes) -> bool:
    """Whether a shape can be repeated to another."""
    pairs, more = zip(reversed(part), reversed(whole), strict=False), part[: max(len(part) - len(whole), 0)]
    return all(size == 1 for size in more) and all(a in (1, None) or b is None or a == b for a, b in pairs)


def _empty(node: Node, shapes: Shapes, constants: frozenset[str]) -> Iterator[str]:
    """Yield that a node leaves nothing, unless it got nothing either."""
    if any(_has_none(shapes.get(name, ())) for name in node.inputs if name not in constants):
        return
    for name in node.outputs:
        if name in shapes and _has_none(shapes[name]):
            read = " and ".join(_text(shapes[n]) for n in node.inputs[:1] if n in shapes)
            yield f"it leaves nothing of its input of {read}: its output would have shape {_text(shapes[name])}"


def _has_none(sizes: Sizes) -> bool:
    return any(size is not None and size < 1 for size in sizes)


def _contradicted(value: onnx.ValueInfoProto, made: Sizes | None) -> Iterator[str]:
    """Yield that a declared shape is not the one that its node makes.

    Writers put no dimensions for a shape that they do not know, and users change the batch of the inputs alone.
    """
    said = _declared(value)
    if made is None or not said:
        return
    if len(said) != len(made) or any(None not in (a, b) and a != b for a, b in zip(said[1:], made[1:], strict=True)):
        yield f"the file declares its output '{value.name}' as {_text(said)}, but it makes {_text(made)}"


def _text(sizes: Sizes) -> str:
    return str(tuple(sizes)).replace("None", "?")


_Check = Callable[[Node, Shapes], Iterator[str]]
_CHECKS: Mapping[str, tuple[_Check, ...]] = {
    **dict.fromkeys(_POOLS, (_window,)),
    **dict.fromkeys(_CONVOLUTIONS, (_window, _kernel)),
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization"), (_norm,)),
    **dict.fromkeys(QUANTISERS, (_quantiser,)),
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"), (_moved,)),
    "Gemm": (_gemm,),
}
