"""Shapes of every tensor, by ONNX's own shape inference on a copy in which quantisers are Identity.

Large initialisers become inputs of the copy: their sizes matter, their values do not. Inference and the folding of
shape arithmetic take turns until nothing is left to fold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

import onnx
from onnx import helper, numpy_helper, shape_inference

from floorflow.errors import InputError
from floorflow.network.obstacles import UnknownShapeError
from floorflow.network.onnx_file import OnnxFile, is_small
from floorflow.network.shape_arithmetic import fold
from floorflow.network.soundness import MOST_PIXELS, expected_size, is_size

QONNX_DOMAIN = "qonnx.custom_op.general"
UNNAMED_DOMAINS = ("", "ai.onnx")
QONNX_DOMAINS = ("onnx.brevitas", "finn.custom_op.general", QONNX_DOMAIN, *UNNAMED_DOMAINS)
"""The three spellings of QONNX's domain that exporters have used, and what is left where a tool has dropped it.

ONNX has no operators of these names itself."""

QUANTISERS = ("Quant", "IntQuant", "BipolarQuant", "Trunc")
"""Operators whose output has the shape of their first input."""

_INITIALISERS_ARE_NO_INPUTS = 4
"""The IR version from which on inference looks at initialisers that are not listed as inputs."""


def infer_shapes(source: OnnxFile) -> tuple[dict[str, tuple[int, ...]], tuple[str, ...]]:
    """Return the shape of every tensor that inference resolves, and notes on the batch; raises what `infer` does."""
    shapes, _, notes = infer(source)
    return shapes, notes


def infer(source: OnnxFile) -> tuple[dict[str, tuple[int, ...]], onnx.ModelProto, tuple[str, ...]]:
    """Return shapes, a copy in which small constants that were computed are initialisers, and notes on the batch.

    InputError if an input has no shape, or a dynamic dimension other than the batch.
    """
    model, notes = as_planned(source)
    shapes = _inferred(source, model)
    while fold(model, shapes):
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
