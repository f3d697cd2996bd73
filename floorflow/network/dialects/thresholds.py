"""QONNX after FINN's own conversion: MultiThreshold in the place of quantisers, types of stored tensors as annotations.

A MultiThreshold becomes the Quant that makes the same values, annotated weights get a Quant of their type. A model
from between FINN's later steps, whose layers are no layers of ONNX any more, is refused as a whole.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod

from floorflow.errors import InputError, some
from floorflow.network.datatype import BIPOLAR, DataType, integer, named, smallest
from floorflow.network.dialects.rewriting import Rewriting, require_inputs, weights_of
from floorflow.network.facts import Facts, find_constants
from floorflow.network.onnx_file import Node, OnnxFile
from floorflow.network.shapes import QONNX_DOMAINS, QUANTISERS

ANNOTATION = "finn_datatype"
"""The key under which QONNX keeps the type of a tensor."""
_OPERATORS = {"MultiThreshold": 2}
_BETWEEN_STEPS = ("Im2Col", "MaxPoolNHWC", "QuantAvgPool2d", "XnorPopcountMatMul")
"""QONNX's operators that layers become on the way to FINN's engines."""
_OF_MANY_VALUES = re.compile(r"(?:SCALEDINT|FIXED)<([1-9][0-9]*)(?:,-?[0-9]+)?>")
_SCALES = ("Add", "Div", "Mul", "Sub")
_WIDEST, _WHOLE = 32, 1e-3
"""Bits of the widest integers, and how far from one a bias may be that stands for one."""
_HINT = (
    "Give the exported network, FINN's model after step_tidy_up, or its graph of engines after "
    "step_create_dataflow_partition (for foldings by name: after step_specialize_layers)."
)


@dataclass
class _Graph:
    """The file and what becomes of it; ``passed`` are scales that the thresholds before them have taken over."""

    facts: Facts
    rewriting: Rewriting
    passed: set[str] = field(default_factory=set)

    def scales_behind(self, node: Node) -> Iterator[Node]:
        """Yield the scales and biases by one number that alone read thresholds, one after another."""
        while True:
            name = node.outputs[0]
            readers = [other for other in self.facts.source.nodes if name in other.inputs]
            if len(readers) != 1 or name in self.facts.source.outputs or readers[0].op_type not in _SCALES:
                return
            (node,) = readers
            value = self.facts.value(_constant_of(self.facts, node))
            if value is None or value.size != 1:
                return
            yield node


def rewrite(source: OnnxFile) -> OnnxFile:
    """Return the file with a Quant for each MultiThreshold and each annotated weight of a layer.

    InputError if its layers are no layers any more; says which of FINN's models to give.
    """
    own = [node for node in source.nodes if node.domain in QONNX_DOMAINS]
    between = [f"'{node.name}' ({node.op_type})" for node in own if node.op_type in _BETWEEN_STEPS]
    if between:
        raise _refused(source, "nodes that are layers no more and engines not yet", between)
    weights = _stored_weights(source)
    types = {name: datatype for name, datatype in weights.items() if datatype}
    if any(node.op_type in _OPERATORS for node in own):
        if len(types) < len(weights):
            untyped = [f"'{name}'" for name in weights if name not in types]
            raise _refused(source, f"weights of which no {ANNOTATION} says which integers they are", untyped)
    elif not types:
        return source
    require_inputs(source, _OPERATORS, QONNX_DOMAINS)
    graph = _Graph(Facts(source, {}, find_constants(source)), Rewriting(source))
    rewriting = graph.rewriting
    made: dict[str, str] = {}
    for node in source.nodes:
        stored = weights_of(node)
        if node in own and node.op_type in _OPERATORS:
            rewriting.obstacles.tried(partial(_thresholds, graph, node), partial(rewriting.keep, node))
            continue
        if node.name in graph.passed:
            rewriting.add(node.name, "Identity", [graph.facts.data_inputs(node)[0]], node.outputs[0])
            continue
        if stored in types:
            if stored not in made:
                made[stored] = _quantised(rewriting, stored, types[stored])
            node.proto.input[1] = made[stored]
        rewriting.keep(node)
    return rewriting.finish()


def annotated(source: OnnxFile) -> Mapping[str, DataType]:
    """Return the integer types that a file's annotations give its tensors."""
    found: dict[str, DataType] = {}
    for annotation in source.model.graph.quantization_annotation:
        for entry in annotation.quant_parameter_tensor_names:
            datatype = _type(entry.value) if entry.key == ANNOTATION else None
            if datatype is not None:
                found[annotation.tensor_name] = datatype
    return found


def _stored_weights(source: OnnxFile) -> Mapping[str, DataType | None]:
    """Return the types of constant weights that no quantiser makes, None where no annotation tells one."""
    types, constants = annotated(source), find_constants(source)
    quantised = {name for node in source.nodes if node.op_type in QUANTISERS for name in node.outputs}
    weights = dict.fromkeys(map(weights_of, source.nodes))
    return {name: types.get(name) for name in weights if name in constants and name not in quantised}


def _type(name: str) -> DataType | None:
    """Return the type of that name as integers; None for floats."""
    many = _OF_MANY_VALUES.fullmatch(name)
    try:
        datatype = integer(int(many[1]), signed=True) if many else named(name)
    except ValueError:
        return None
    return datatype if datatype.is_integer and datatype.bits <= _WIDEST else None


def _refused(source: OnnxFile, what: str, names: list[str]) -> InputError:
    return InputError(
        f"{source.path}: this is FINN's model between two of its steps, with {what}: {some(names)}", _HINT
    )


def _quantised(rewriting: Rewriting, name: str, datatype: DataType) -> str:
    """Add the quantiser of stored integers."""
    parameters = [rewriting.constant(f"{name} scale", 1.0), rewriting.constant(f"{name} zero", 0.0)]
    return rewriting.quant(f"{name}_type", [name, *parameters], f"{name} as {datatype.name}", datatype)


def _thresholds(graph: _Graph, node: Node) -> None:
    """Put a Quant in the place of a MultiThreshold: its scale is known if all channels have the same thresholds."""
    scale, bias = (float(node.attributes.get(key, default)) for key, default in (("out_scale", 1.0), ("out_bias", 0.0)))
    for step in graph.scales_behind(node):
        value = graph.facts.number(_constant_of(graph.facts, step), step, "the constant")
        scale, bias = _scaled(step.op_type, value, scale, bias)
        graph.passed.add(step.name)
    rows, steps = _sizes(graph, node)
    datatype = _made(_type(str(node.attributes.get("out_dtype", ""))), steps, bias / scale if scale else 0.0)
    if datatype is None:
        raise graph.rewriting.refuse(
            node, "neither its thresholds nor its out_dtype say which integers it makes", _HINT
        )
    name = f"{node.outputs[0]} scale"
    parameters = [graph.rewriting.constant(name, scale) if rows == 1 else graph.rewriting.unknown(name, rows)]
    parameters.append(graph.rewriting.constant(f"{node.outputs[0]} zero", 0.0))
    graph.rewriting.quant(node.name, [node.inputs[0], *parameters], node.outputs[0], datatype)


def _sizes(graph: _Graph, node: Node) -> tuple[int, int]:
    """Return how many sets of thresholds there are, one or one a channel, and how many steps each has."""
    stored, held = graph.facts.source.initialisers.get(node.inputs[1]), graph.facts.value(node.inputs[1])
    if stored is not None:
        shape = tuple(stored.dims)
    elif held is not None:
        shape = tuple(held.shape)
    else:
        raise graph.rewriting.refuse(node, "its thresholds are not stored in the file", _HINT)
    return (prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def _scaled(op_type: str, value: float, scale: float, bias: float) -> tuple[float, float]:
    """Return scale and bias of thresholds with one more operation behind them."""
    if op_type in ("Add", "Sub"):
        return scale, bias + (value if op_type == "Add" else -value)
    factor = value if op_type == "Mul" or not value else 1 / value
    return scale * factor, bias * factor


def _made(told: DataType | None, steps: int, low: float) -> DataType | None:
    """Return the type that thresholds make: one value more than there are thresholds, the lowest being ``low``."""
    if told == BIPOLAR or (steps == 1 and low < 0):
        return BIPOLAR
    if not steps or abs(low - round(low)) > _WHOLE:
        return told
    lowest = round(low)
    full = smallest(lowest, lowest + steps)
    return integer(full.bits, signed=full.signed, narrow=full.bits > 1 and steps < full.steps and lowest > full.min)


def _constant_of(facts: Facts, node: Node) -> str:
    """Return the constant that a scale or bias applies, empty if there is not one."""
    found = [name for name in node.inputs if name in facts.constants]
    on_right = node.op_type in ("Add", "Mul") or found == list(node.inputs[1:])
    return found[0] if len(found) == 1 and len(node.inputs) == 2 and on_right else ""
