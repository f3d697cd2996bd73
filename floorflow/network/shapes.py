"""Shapes of every tensor, by ONNX's own shape inference on a copy in which quantisers are Identity.

Exporters leave arithmetic on shapes in a graph, by Shape, Gather, Unsqueeze, Concat and their kind: it is folded.
Large initialisers become inputs of the copy: their sizes matter, their values do not. Inference and the folding of
shape arithmetic take turns until nothing is left to fold.
"""

from collections.abc import Collection, Mapping
from math import prod
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from floorflow.errors import InputError
from floorflow.network.obstacles import UnknownShapeError
from floorflow.network.onnx_file import SMALL_ELEMENTS, OnnxFile, is_small
from floorflow.network.soundness import MOST_PIXELS, STANDARD_DOMAINS, expected_size, is_size

QONNX_DOMAIN = "qonnx.custom_op.general"
QONNX_DOMAINS = ("onnx.brevitas", "finn.custom_op.general", QONNX_DOMAIN, *STANDARD_DOMAINS)
"""The three spellings of QONNX's domain that exporters have used, and what is left where a tool has dropped it.

ONNX has no operators of these names itself."""

QUANTISERS = ("Quant", "IntQuant", "BipolarQuant", "Trunc")
"""Operators whose output has the shape of their first input."""

_INITIALISERS_ARE_NO_INPUTS = 4
"""The IR version from which on inference looks at initialisers that are not listed as inputs."""

_FOLDED = (
    "Add",
    "Cast",
    "Ceil",
    "Concat",
    "Constant",
    "Div",
    "Floor",
    "Gather",
    "Identity",
    "Mul",
    "Range",
    "ReduceProd",
    "Slice",
    "Squeeze",
    "Sub",
    "Unsqueeze",
)
"""Operators that exporters compute shapes with."""

_MALFORMED = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""What the reference evaluator raises on nodes that make no sense; they stay as they are."""


def infer(source: OnnxFile) -> tuple[dict[str, tuple[int, ...]], onnx.ModelProto, tuple[str, ...]]:
    """Return shapes, a copy in which small constants that were computed are initialisers, and notes on the batch.

    InputError if an input has no shape, or a dynamic dimension other than the batch.
    """
    model, notes = as_planned(source)
    shapes = _inferred(source, model)
    while _fold(model, shapes):
        shapes = _inferred(source, model)
    return shapes, model, notes


def as_planned(source: OnnxFile) -> tuple[onnx.ModelProto, tuple[str, ...]]:
    """Return a copy of batch 1 that ONNX alone understands, and notes on the batch; raises what `infer` does."""
    batches, inputs, notes = set(), [], []
    for value in source.inputs:
        shape, batch = _input_shape(source, value)
        if batch != "1":
            notes.append(f"input '{value.name}' has batch {batch}: planned for batch 1")
            batches.add(batch)
        inputs.append(helper.make_tensor_value_info(value.name, value.type.tensor_type.elem_type, shape))
    return as_standard(source, inputs, batches), tuple(notes)


def _inferred(source: OnnxFile, model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Run ONNX's inference and return the shapes that are known in full."""
    try:
        inferred = shape_inference.infer_shapes(model).graph
    except (shape_inference.InferenceError, ValueError, RuntimeError) as error:
        message = f"{source.path}: shape inference failed: {error}"
        raise UnknownShapeError(message, "Check the file with onnx.checker.") from error
    shapes = {tensor.name: tuple(tensor.dims) for tensor in inferred.initializer}
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        tensor_type = value.type.tensor_type
        if tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in tensor_type.shape.dim):
            shapes[value.name] = tuple(dim.dim_value for dim in tensor_type.shape.dim)
    return shapes


def _input_shape(source: OnnxFile, value: onnx.ValueInfoProto) -> tuple[list[int], str]:
    """Return an input's shape with batch 1, and the batch as the file has it."""
    tensor_type = value.type.tensor_type
    if not tensor_type.HasField("shape") or not tensor_type.shape.dim:
        raise InputError(
            f"{source.path}: input '{value.name}' has no shape",
            "Export the network with a fixed input shape.",
        )
    dimensions = [dim.dim_value or dim.dim_param or "?" for dim in tensor_type.shape.dim]
    for index, dimension in enumerate(dimensions[1:], start=1):
        if not isinstance(dimension, int) or dimension < 1:
            raise InputError(
                f"{source.path}: dimension {index} of input '{value.name}' is dynamic ('{dimension}'); "
                "only the batch, dimension 0, may be",
                "Export the network with a fixed input shape.",
            )
    return [1, *(int(dimension) for dimension in dimensions[1:])], str(dimensions[0])


def as_standard(source: OnnxFile, inputs: list[onnx.ValueInfoProto], batches: Collection[str] = ()) -> onnx.ModelProto:
    """Return a model of the same shapes that ONNX alone understands; Reshapes of one of the batches have batch 1."""
    nodes = [_standard(node) for node in source.model.graph.node]
    reshapes = {node.input[1] for node in nodes if node.op_type == "Reshape" and len(node.input) > 1}
    small, large = [], []
    for name, tensor in source.initialisers.items():
        if is_small(tensor):
            small.append(_without_batch(tensor, batches) if name in reshapes else tensor)
        else:
            large.append(helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims)))
    outputs = [onnx.ValueInfoProto(name=name) for name in source.outputs]
    graph = helper.make_graph(nodes, "shapes", [*inputs, *large], outputs, small)
    opsets = {entry.domain: entry.version for entry in source.model.opset_import}
    opsets.pop("ai.onnx", None)
    opsets[""] = source.opset
    for node in nodes:
        opsets.setdefault(node.domain, 1)
    imports = [helper.make_opsetid(domain, version) for domain, version in sorted(opsets.items())]
    version = max(source.model.ir_version, _INITIALISERS_ARE_NO_INPUTS)
    return helper.make_model(graph, opset_imports=imports, ir_version=version)


def _standard(node: onnx.NodeProto) -> onnx.NodeProto:
    """Replace a quantiser by Identity on its first input."""
    if node.op_type in QUANTISERS and node.domain in QONNX_DOMAINS and node.input and node.output:
        return helper.make_node("Identity", [node.input[0]], [node.output[0]])
    return node


def _without_batch(tensor: onnx.TensorProto, batches: Collection[str]) -> onnx.TensorProto:
    """Put batch 1 into a Reshape's target that has the file's batch baked in."""
    target = numpy_helper.to_array(tensor).copy()
    if target.ndim != 1 or not target.size or str(target[0]) not in batches:
        return tensor
    target[0] = 1
    return numpy_helper.from_array(target, tensor.name)


def shape_of(shapes: Mapping[str, tuple[int, ...]], name: str, source: OnnxFile, node: str) -> tuple[int, ...]:
    """Return a tensor's shape.

    UnknownShapeError if inference could not derive it; names file, node and tensor.
    """
    if name not in shapes:
        raise UnknownShapeError(
            f"{source.path}: the shape of tensor '{name}' at node '{node}' cannot be derived",
            "Run onnx.shape_inference.infer_shapes in strict mode to see why, or simplify its shapes.",
        )
    if not is_size(shapes[name]) or prod(shapes[name][2:]) > MOST_PIXELS:
        raise InputError(
            f"{source.path}: tensor '{name}' at node '{node}' has the shape {shapes[name]}; {expected_size()} or "
            f"{MOST_PIXELS:,} pixels",
            "Export the network with the shapes that it is to have.",
        )
    return shapes[name]


def _fold(model: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Replace nodes of small known values by initialisers, in place; return whether there were any."""
    graph = model.graph
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    kept = []
    for node in graph.node:
        value = _value(model, node, values, shapes)
        if value is None:
            kept.append(node)
            continue
        values[node.output[0]] = value
        graph.initializer.append(numpy_helper.from_array(value, node.output[0]))
    folded = len(kept) < len(graph.node)
    del graph.node[:]
    graph.node.extend(kept)
    return folded


def _is_short(start: Any, limit: Any, delta: Any) -> bool:
    """Whether a Range is that of a shape; others are not computed, as they may have any length."""
    first, last, step = (float(value.flat[0]) if value.size == 1 else 0.0 for value in (start, limit, delta))
    return step != 0 and 0 <= (last - first) / step <= SMALL_ELEMENTS


def _value(
    model: onnx.ModelProto, node: onnx.NodeProto, values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> Any | None:
    """Return the value of a node that computes part of a shape, None if it is not known or is none."""
    if node.op_type == "Shape" and not node.attribute and node.input[0] in shapes:
        sizes = shapes[node.input[0]]
        return numpy_helper.to_array(helper.make_tensor("sizes", TensorProto.INT64, [len(sizes)], sizes))
    if node.op_type not in _FOLDED or not all(not name or name in values for name in node.input):
        return None
    if node.op_type == "Range" and not _is_short(*(values[name] for name in node.input)):
        return None
    names = [name for name in node.input if name]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(values[name].dtype), None) for name in names
    ]
    graph = helper.make_graph([node], "value", inputs, [onnx.ValueInfoProto(name=node.output[0])])
    single = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    try:
        results: Any = ReferenceEvaluator(single).run(None, {name: values[name] for name in names})
    except _MALFORMED:
        return None
    result = results[0]
    return result if getattr(result, "size", SMALL_ELEMENTS + 1) <= SMALL_ELEMENTS else None
