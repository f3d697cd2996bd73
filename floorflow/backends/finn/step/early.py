"""What FINN's own steps need done to a network before them, for the engines that floorflow has planned."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import onnx
from onnx import helper

from floorflow.backends.finn.step.match import Mismatch

RESHAPES = ("Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
BY_VALUE = (
    *("Add", "BipolarQuant", "Cast", "Clip", "Div", "Dropout", "Identity", "IntQuant", "Mul", "Quant", "Relu"),
    *("Selu", "Sigmoid", "Sub", "Tanh", "Trunc"),
)
"""Operators on each value by itself, if their constants are single numbers."""
ELEMENTWISE = "Elementwise"
BRANCHES = {"DuplicateStreams", "ElementwiseAdd", "ElementwiseMul", "StreamingConcat", "StreamingSplit"}
"""Kinds of engines at which branches fork and join."""


def reshape_early(graph: onnx.GraphProto) -> list[str]:
    """Move reshapes of QONNX's input ahead of scales and quantisers in place, and return the names of those moved."""
    one = _single_numbers(graph)
    tops = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in graph.input}
    moved = []
    for name in [node.output[0] for node in graph.node if node.op_type in RESHAPES]:
        node = next(other for other in graph.node if name in other.output)
        steps = _up(graph, node, one)
        top = steps[0].input[0] if steps else node.input[0]
        if top not in tops or _is_read_otherwise(graph, top) or not _keeps_order(node, tops[top]):
            continue
        if steps:
            moved.append(node.name)
            name = _move(graph, node, steps)  # noqa: PLW2901 - what the reshape now makes
        tops[name] = []
    return moved


def pool_globally(graph: onnx.GraphProto) -> list[str]:
    """Make global pools of average pools with one window, the image, in place; return their names."""
    sizes = {one.name: [d.dim_value for d in one.type.tensor_type.shape.dim] for one in graph.value_info}
    found = []
    for node in graph.node:
        kernel = next((list(one.ints) for one in node.attribute if one.name == "kernel_shape"), None)
        if node.op_type == "AveragePool" and kernel == sizes.get(node.input[0], [])[2:]:
            node.op_type = "GlobalAveragePool"
            del node.attribute[:]
            found.append(node.name)
    return found


def flatten_pixels(graph: onnx.GraphProto, shape_of: Callable[[str], Sequence[int]]) -> None:
    """Let reshapes read single pixels as they come, in place: channels first or last, they are the same values."""
    turns = {node.output[0]: node for node in graph.node if node.op_type == "Transpose"}
    for node in [node for node in graph.node if node.op_type in ("Flatten", "Reshape")]:
        turn = turns.get(node.input[0])
        if turn is None or _is_read_otherwise(graph, turn.output[0]):
            continue
        if sum(size > 1 for size in shape_of(turn.input[0])) < 2:
            node.input[0] = turn.input[0]
            graph.node.remove(turn)


def spell_out_deconv(graph: onnx.GraphProto) -> None:
    """Write ONNX's defaults into transposed convolutions, in place; the kernel's size is that of the weights."""
    defaults = {"dilations": [1, 1], "group": 1, "pads": [0, 0, 0, 0], "strides": [1, 1]}
    for node in graph.node:
        if node.op_type == "ConvTranspose":
            given = {attribute.name for attribute in node.attribute}
            meant = {**defaults, **_kernel_of(graph, node.input[1])}
            node.attribute.extend(
                helper.make_attribute(name, value) for name, value in meant.items() if name not in given
            )


@contextmanager
def only_behind_bare_units(model: Any, engines: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Hide from FINN all thresholds but those behind products whose unit has none in the plan, for as long as it lasts.

    Raises Mismatch if units of one size and type are planned with and without thresholds.
    """
    from qonnx.core.datatype import DataType

    bare = _bare_units(engines)
    products = {node.output[0]: node for node in model.graph.node if node.op_type == "MatMul"}
    hidden: dict[str, Any] = {}
    for node in model.graph.node:
        product = products.get(node.input[0]) if node.op_type == "MultiThreshold" else None
        if node.op_type == "MultiThreshold" and (product is None or not bare.get(_unit_of(model, product))):
            hidden |= {name: model.get_tensor_datatype(name) for name in node.input}
    for name in hidden:
        model.set_tensor_datatype(name, DataType["SCALEDINT<32>"])  # neither whole nor float: FINN passes by
    yield
    for name, datatype in hidden.items():
        model.set_tensor_datatype(name, datatype)


def _bare_units(engines: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int, bool, str], bool]:
    """Return of each size and type of unit whether it has no thresholds in the plan."""
    found: dict[tuple[int, int, bool, str], bool] = {}
    for engine in engines:
        of, is_depthwise = engine["attributes"], engine["kind"].startswith("VVAU")
        if not is_depthwise and not engine["kind"].startswith("MVAU"):
            continue
        columns = of["Channels"] if is_depthwise else of["MH"]
        rows = columns * prod(of["Kernel"]) if is_depthwise else of["MW"]
        unit = rows, columns, is_depthwise, of["inputDataType"]
        if found.setdefault(unit, bool(of["noActivation"])) != bool(of["noActivation"]):
            raise Mismatch(f"of units of {rows}x{columns} weights some have thresholds and some have none")
    return found


def _unit_of(model: Any, node: onnx.NodeProto) -> tuple[int, int, bool, str]:
    rows, columns = model.get_tensor_shape(node.input[1])
    is_depthwise = model.get_tensor_sparsity(node.input[1]) is not None
    return rows, columns, is_depthwise, model.get_tensor_datatype(node.input[0]).name


def leave_to_host(graph: onnx.GraphProto, kinds: Sequence[str]) -> list[str]:
    """Make ONNX's operators again of elementwise engines at the ends that are none of the plan's kinds; return them.

    So it is with a Shuffle that only turns the channels of an output.
    """
    elementwise = [node for node in graph.node if node.op_type.startswith(ELEMENTWISE)]
    left = len(elementwise) - sum(kind.startswith(ELEMENTWISE) for kind in kinds)
    makers = {name: node for node in graph.node for name in node.output}
    names, found = [value.name for value in graph.output], []
    while names:
        node = makers.get(names.pop())
        turns = node is not None and node.op_type == "Shuffle"
        if node is None or (node.domain.startswith("finn.") and node not in elementwise and not turns):
            continue
        names += node.input
        if turns:
            node.op_type, node.domain = "Transpose", ""
            for other in [one for one in node.attribute if one.name != "perm"]:
                node.attribute.remove(other)
            found.append(node.name)
        elif node in elementwise and left > 0:
            node.op_type, node.domain, left = node.op_type.removeprefix(ELEMENTWISE), "", left - 1
            del node.attribute[:]
            found.append(node.name)
    return found


def _kernel_of(graph: onnx.GraphProto, weights: str) -> dict[str, list[int]]:
    """Return the kernel's size by the stored weights, through quantisers, which keep it; nothing if none are stored."""
    stored = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    makers = {name: maker for maker in graph.node for name in maker.output}
    while weights not in stored and weights in makers and makers[weights].input:
        weights = makers[weights].input[0]
    return {"kernel_shape": stored[weights][2:]} if weights in stored else {}


def _single_numbers(graph: onnx.GraphProto) -> set[str]:
    """Return the constants of one element."""
    found = {tensor.name for tensor in graph.initializer if prod(tensor.dims) == 1}
    for node in graph.node:
        for attribute in node.attribute if node.op_type == "Constant" else ():
            is_number = attribute.name in ("value_float", "value_int")
            if is_number or (attribute.name == "value" and prod(attribute.t.dims) == 1):
                found.add(node.output[0])
    return found


def _up(graph: onnx.GraphProto, node: onnx.NodeProto, one: set[str]) -> list[onnx.NodeProto]:
    """Return what lies ahead of a reshape and may follow it, the first step first."""
    makers = {name: maker for maker in graph.node for name in maker.output}
    steps: list[onnx.NodeProto] = []
    name = node.input[0]
    while name in makers and not _is_read_otherwise(graph, name):
        step = makers[name]
        if step.op_type not in BY_VALUE or not all(not other or other in one for other in step.input[1:]):
            break
        steps.insert(0, step)
        name = step.input[0]
    return steps


def _is_read_otherwise(graph: onnx.GraphProto, name: str) -> bool:
    """Whether more than one node reads a tensor, or it leaves the network."""
    return sum(list(node.input).count(name) for node in graph.node) > 1 or name in {o.name for o in graph.output}


def _keeps_order(node: onnx.NodeProto, shape: list[int]) -> bool:
    """Whether a reshape leaves the values in their order; a Transpose does if it moves nothing but sizes of 1."""
    if node.op_type != "Transpose":
        return True
    order = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "perm"), [])
    moved = [axis for axis in order if axis < len(shape) and shape[axis] != 1]
    return len(order) == len(shape) and moved == sorted(moved)


def _move(graph: onnx.GraphProto, node: onnx.NodeProto, steps: list[onnx.NodeProto]) -> str:
    """Let a reshape read what the first step did, and the steps follow it; return what it now makes."""
    end, top = node.output[0], steps[0].input[0]
    made = f"{end}_reshaped"
    stale = {name for step in steps for name in step.output}
    node.input[0], node.output[0] = top, made
    steps[0].input[0], steps[-1].output[0] = made, end
    nodes = [other for other in graph.node if other not in steps]
    place = nodes.index(node) + 1
    ordered = [*nodes[:place], *steps, *nodes[place:]]
    kept = [value for value in graph.value_info if value.name not in stale]
    for field, messages in ((graph.node, ordered), (graph.value_info, kept)):
        copies = [type(message).FromString(message.SerializeToString()) for message in messages]
        del field[:]
        field.extend(copies)
    return made
