"""Fold the arithmetic on shapes that exporters leave in a graph: Shape, Gather, Unsqueeze, Concat and their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

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

_SMALL_ELEMENTS = 64
"""Larger tensors are weights, never shapes."""

_MALFORMED = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""What the reference evaluator raises on nodes that make no sense; they stay as they are."""


def fold(model: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]]) -> bool:
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
    return step != 0 and 0 <= (last - first) / step <= _SMALL_ELEMENTS


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
    return result if getattr(result, "size", _SMALL_ELEMENTS + 1) <= _SMALL_ELEMENTS else None
