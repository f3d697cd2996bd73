"""What every ONNX graph must be before anybody reads it: tensors made once, sizes that exist, nodes with their inputs.

onnx.checker looks at more, and refuses files that can be read all the same: old operators, fields that nobody needs.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import prod

import onnx
from onnx import TensorProto, defs, helper

from floorflow.errors import InputError

MOST_SIZE = 2**24
"""The largest size of one dimension, kernel, stride, dilation or pad; docs/models.md has the same number."""
MOST_ELEMENTS = 2**30
"""The most elements of a tensor."""
MOST_PIXELS = 2**22
"""The most pixels of an image: the analysis of rates takes a gigabyte for each million."""
MOST_NODES = 100_000
"""The most nodes of a graph."""

_HINT = "Check the file with onnx.checker, and export it again."
_LEAST_INPUTS: Mapping[str, int] = {
    "Quant": 4,
    "IntQuant": 4,
    "BipolarQuant": 2,
    "Trunc": 4,
    "MultiThreshold": 2,
    "Conv": 2,
    "BatchNormalization": 5,
}
"""Inputs of operators in QONNX's domains, of which ONNX knows nothing; any other has one."""
_MOST_VERSION = 1000
STANDARD_DOMAINS = ("", "ai.onnx")
"""Of ONNX's own operators."""
_FINN = "finn.custom_op.fpgadataflow"
_QONNX = ("onnx.brevitas", "finn.custom_op.general", "qonnx.custom_op.")


def check(path: str, model: onnx.ModelProto, opset: int) -> None:
    """Refuse a graph that no reader could make sense of.

    InputError names file and node, tensor or initialiser, and what was expected.
    """
    problem = next(chain(_problems_of_versions(model), _problems(model.graph, opset)), None)
    if problem is not None:
        raise InputError(f"{path}: {problem}", _HINT)


def is_size(sizes: Iterable[int]) -> bool:
    """Whether sizes are those of a tensor that can be planned: none below 1, none too large, nor all together."""
    sizes = tuple(sizes)
    return all(1 <= size <= MOST_SIZE for size in sizes) and prod(sizes) <= MOST_ELEMENTS


def expected_size() -> str:
    """Say what `is_size` asks for."""
    return f"expected sizes from 1 to {MOST_SIZE:,}, and no more than {MOST_ELEMENTS:,} elements"


def _problems_of_versions(model: onnx.ModelProto) -> Iterator[str]:
    versions = {"IR": model.ir_version} | {f"opset '{entry.domain}'": entry.version for entry in model.opset_import}
    for name, version in versions.items():
        if not 0 <= version <= _MOST_VERSION:
            yield f"the version of {name} is {version}, which is none of ONNX's"


def _problems(graph: onnx.GraphProto, opset: int) -> Iterator[str]:
    if len(graph.node) > MOST_NODES:
        yield f"the graph has {len(graph.node):,} nodes, more than {MOST_NODES:,}"
    if graph.sparse_initializer:
        name = graph.sparse_initializer[0].values.name
        yield f"initialiser '{name}' is sparse; expected one that lists all its values"
    for tensor in graph.initializer:
        yield from _problems_of_tensor(tensor)
    yield from _problems_of_inputs(graph)
    for node in graph.node:
        yield from _problems_of_node(node, opset)
    yield from _made_twice(graph)
    yield from _made_by_nobody(graph)


def _problems_of_tensor(tensor: onnx.TensorProto) -> Iterator[str]:
    """Say what is wrong with an initialiser: its type, its sizes, or the bytes that it has for them."""
    named = f"initialiser '{tensor.name}'"
    try:
        kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    except (KeyError, TypeError, ValueError):
        yield f"{named} is damaged: its element type {tensor.data_type} is none of ONNX's"
        return
    if any(not 0 <= size <= MOST_SIZE for size in tensor.dims) or prod(tensor.dims) > MOST_ELEMENTS:
        yield f"{named} has the shape {tuple(tensor.dims)}; expected sizes up to {MOST_SIZE:,}"
        return
    if tensor.data_location == TensorProto.EXTERNAL or not tensor.HasField("raw_data"):
        return
    bits = _PACKED_BITS.get(TensorProto.DataType.Name(tensor.data_type), 8 * kind.itemsize)
    expected = -(-prod(tensor.dims) * bits // 8)
    if len(tensor.raw_data) != expected:
        yield f"{named} is damaged: {len(tensor.raw_data):,} bytes for {tuple(tensor.dims)}, expected {expected:,}"


_PACKED_BITS = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}
"""Types of which several elements share a byte."""


def _problems_of_inputs(graph: onnx.GraphProto) -> Iterator[str]:
    """Say which sizes of the inputs are none, but for the batch; what is 0 or absent is dynamic, and told elsewhere."""
    for value in graph.input:
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim][1:]
        if any(not 0 <= size <= MOST_SIZE for size in sizes) or prod(sizes) > MOST_ELEMENTS:
            yield f"input '{value.name}' has the shape (batch, {', '.join(map(str, sizes))}); {expected_size()}"


def _problems_of_node(node: onnx.NodeProto, opset: int) -> Iterator[str]:
    named = f"node '{node.name}' ({node.op_type})"
    inputs, outputs = _arity(node, opset)
    found = len(node.input) if all(node.input[:inputs]) else len(list(filter(None, node.input)))
    if found < inputs:
        yield f"{named}: expected {inputs} inputs at least, found {found}"
    if len(list(filter(None, node.output))) < outputs:
        yield f"{named}: has no output"
    names = [attribute.name for attribute in node.attribute]
    for attribute in node.attribute:
        if names.count(attribute.name) > 1:
            yield f"{named}: attribute '{attribute.name}' stands there twice"
        try:
            helper.get_attribute_value(attribute)
        except ValueError:
            yield f"{named}: attribute '{attribute.name}' has no type that ONNX knows"


def _arity(node: onnx.NodeProto, opset: int) -> tuple[int, int]:
    if node.domain.startswith(_QONNX):
        return _LEAST_INPUTS.get(node.op_type, 1), 1
    if node.domain not in STANDARD_DOMAINS:
        return int(node.domain.startswith(_FINN)), 1
    try:
        schema = defs.get_schema(node.op_type, opset, "")
    except (defs.SchemaError, TypeError):
        return 0, 1  # an operator of another version, or of another domain that was not told
    return schema.min_input, schema.min_output


def _made_twice(graph: onnx.GraphProto) -> Iterator[str]:
    """Say which tensor has two makers: ONNX's graphs make each once."""
    constants = {tensor.name for tensor in graph.initializer}
    makers: dict[str, str] = {}
    listed = [(tensor.name, "an initialiser") for tensor in graph.initializer]
    given = [value.name for value in graph.input if value.name not in constants]
    listed += [(name, "an input of the graph") for name in given]
    listed += [(name, f"node '{node.name}'") for node in graph.node for name in node.output if name]
    for name, maker in listed:
        if name in makers:
            yield f"tensor '{name}' is made twice, by {makers[name]} and by {maker}"
        makers[name] = maker


def _made_by_nobody(graph: onnx.GraphProto) -> Iterator[str]:
    made = {name for node in graph.node for name in node.output}
    made |= {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    for value in graph.output:
        if value.name not in made:
            yield f"output '{value.name}' of the graph is made by no node"
