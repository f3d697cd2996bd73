"""Read an ONNX file of any dialect into a Network."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import onnx

from floorflow.errors import InputError, some
from floorflow.network.datatype import FLOAT32, DataType, integer
from floorflow.network.dialects import EIGHT_BITS, FloatBits, annotated, to_qonnx
from floorflow.network.facts import Facts, find_constants, keeps_type
from floorflow.network.layers import Translation
from floorflow.network.model import Network, Operation, Tensor
from floorflow.network.obstacles import Obstacles, UnknownShapeError
from floorflow.network.onnx_file import EXPORT_HINT, Node, OnnxFile, load
from floorflow.network.operations import (
    check_supported,
    is_layer,
    is_quantiser,
    is_read,
    operators,
    quantised_type,
    translate,
)
from floorflow.network.shapes import QONNX_DOMAIN, infer
from floorflow.network.soundness import STANDARD_DOMAINS

_RAW_STAYS_RAW = ("", "affine", "flatten", "max_pool", "pad", "split", "upsample")
"""Types of operations that leave an input without quantiser as it is, for the host to scale."""

_ENTERS = ("", "affine", "clip", "flatten", "function", "quantise", "relu", "truncate")
"""Types of operations that leave the values of an input in the order in which the host sends them."""

_CHECK = "Check the file with onnx.checker."
_JOINING = ("add", "concat", "multiply")
_EIGHT_BITS = integer(8, signed=False)

_INPUT_TYPES: Mapping[int, DataType] = {
    onnx.TensorProto.UINT8: _EIGHT_BITS,
    onnx.TensorProto.INT8: integer(8, signed=True),
}
"""Datatypes of inputs that the file declares as integers; any other input is taken as 8-bit unsigned."""


def read(path: str | Path, bits: FloatBits = EIGHT_BITS) -> Network:
    """Read a network; weights count by shape and datatype only. ``bits`` are for one without quantisers.

    InputError if the file is missing or broken, a shape is dynamic, a layer is not quantised or an operator is not
    supported; the message names file and nodes, all of them at once.
    """
    network = partial_network(load(Path(path)), bits)
    Obstacles(list(network.obstacles)).check(f"Read are: {', '.join(operators())}.")
    return network


def partial_network(file: OnnxFile, bits: FloatBits = EIGHT_BITS) -> Network:
    """Read a loaded file as far as it can be: ``obstacles`` hold what could not be.

    The network has no operations if too little is known behind an obstacle.

    InputError if the file is broken.
    """
    try:
        source, declared = to_qonnx(file, bits), annotated(file)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{file.path}: the graph makes no sense ({error})", _CHECK) from error
    unnamed = [f"'{node.name}'" for node in source.nodes if is_quantiser(node) and node.domain in STANDARD_DOMAINS]
    _check_layers(source)
    facts, obstacles = Facts(source, {}, find_constants(source)), Obstacles(list(source.obstacles))
    live = _live_tensors(source)
    nodes = [node for node in source.nodes if not live.isdisjoint(node.outputs)]
    try:
        supported = {node.name for node in nodes if _is_supported(node, facts, obstacles)}
        facts.shapes, _, notes = infer(source)
        for value in source.inputs:
            stored = _INPUT_TYPES.get(value.type.tensor_type.elem_type, _EIGHT_BITS)
            facts.types[value.name] = declared.get(value.name, stored)
            facts.raw.add(value.name)
            facts.entering.add(value.name)
        walked = (
            obstacles.tried(partial(_operation, node, facts, live), partial(_unread, node, facts, live))
            if node.name in supported
            else _unread(node, facts, live)
            for node in nodes
        )
        operations = [operation for operation in walked if operation]
        inputs = tuple(value.name for value in source.inputs if value.name in live)
        if not inputs or not operations:
            return _unknown(source, obstacles, _no_path(source))
        tensors = _tensors(inputs, operations, facts)
    except UnknownShapeError as error:
        return _unknown(source, obstacles, error)
    outputs = tuple(facts.resolve(name) for name in source.outputs)
    notes = (*source.notes, *notes, *_domain_note(unnamed), *_input_notes(inputs, operations, facts))
    met, width = tuple(obstacles.met), source.activation_bits
    return Network(source.name, inputs, outputs, tuple(operations), tensors, notes, met, width)


def _is_supported(node: Node, facts: Facts, obstacles: Obstacles) -> bool:
    """Whether a node's operator is read; collects it if not."""

    def check() -> bool:
        if not facts.constants.issuperset(node.outputs):
            check_supported(node, facts)
        return True

    return obstacles.tried(check, lambda: False)


def _unread(node: Node, facts: Facts, live: frozenset[str]) -> Operation | None:
    """Return the operation that stands for a node that could not be read; None for a constant."""
    inputs = tuple(name for name in facts.data_inputs(node) if name in facts.types)
    facts.types.update(dict.fromkeys(node.outputs, _guessed_type(node, inputs, facts)))
    if facts.constants.issuperset(node.outputs):
        return None
    return Operation(node.name, "unread", inputs, tuple(name for name in node.outputs if name in live), {})


def _guessed_type(node: Node, inputs: tuple[str, ...], facts: Facts) -> DataType:
    """Return the type that a node would make if it could be read; an operator that is not known may be a quantiser."""
    if is_layer(node):
        return FLOAT32
    return facts.type(inputs[0]) if inputs and is_read(node) else _EIGHT_BITS


def _unknown(source: OnnxFile, obstacles: Obstacles, error: InputError) -> Network:
    """Return a network without operations, of which only the obstacles are known; without any, raise the error."""
    if not obstacles.met:
        raise error
    return Network(source.name, (), (), (), (), source.notes, tuple(obstacles.met))


def _no_path(source: OnnxFile) -> InputError:
    return InputError(
        f"{source.path}: no layer leads from the network's inputs to its outputs",
        hint="Open the file in a viewer such as Netron: the graph is broken, or all of it is constant.",
    )


def _check_layers(source: OnnxFile) -> None:
    """Refuse a model without any quantiser before its operators are looked at: it has no layer either."""
    if not any(is_quantiser(node) or node.op_type == "MultiThreshold" for node in source.nodes):
        raise InputError(f"{source.path}: the network has no quantisers and no layer with weights", EXPORT_HINT)


def _live_tensors(source: OnnxFile) -> frozenset[str]:
    live = set(source.outputs)
    for node in reversed(source.nodes):
        if not live.isdisjoint(node.outputs):
            live.update(name for name in node.inputs if name)
    return frozenset(live)


def _operation(node: Node, facts: Facts, live: frozenset[str]) -> Operation | None:
    """Translate a node and note its outputs' facts; None for constants and second names."""
    if facts.constants.issuperset(node.outputs):
        facts.types.update(dict.fromkeys(node.outputs, _constant_type(node, facts)))
        return None
    inputs = facts.data_inputs(node)
    _check_known(node, inputs, facts)
    if not inputs:
        raise facts.refuse(node, "it reads no data", _CHECK)
    translation = _translated(node, facts)
    outputs = tuple(name for name in node.outputs if name in live)
    if translation.macs:
        _check_activations(node, facts)
    if inputs[0] in facts.raw and translation.type in _RAW_STAYS_RAW:
        facts.raw.update(outputs)
    if inputs[0] in facts.entering and translation.type in _ENTERS:
        facts.entering.update(outputs)
    facts.types.update(dict.fromkeys(outputs, translation.datatype))
    if not translation.type:
        facts.alias[node.outputs[0]] = inputs[0]
        return None
    return Operation(
        node.name,
        translation.type,
        inputs,
        outputs,
        dict(sorted(translation.attributes.items())),
        translation.macs,
    )


def _translated(node: Node, facts: Facts) -> Translation:
    """Translate a node; what ONNX's checker lets pass may be nonsense still, such as a stride of 0."""
    count = len(facts.data_inputs(node))
    if not count:
        raise facts.refuse(node, "none of its inputs depends on the network's")
    try:
        made = translate(node, facts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        told = f"its inputs or attributes make no sense ({error})"
        raise facts.refuse(node, told, _CHECK) from error
    if count > 1 and made.type not in _JOINING:
        raise facts.refuse(node, f"{count} of its inputs depend on the network's, one is expected")
    return made


def _constant_type(node: Node, facts: Facts) -> DataType:
    """Return the datatype of a constant: what its last quantiser says."""
    if is_quantiser(node):
        return quantised_type(node, facts)
    if keeps_type(node) and node.inputs:
        return facts.type(node.inputs[0])
    return FLOAT32


def _check_known(node: Node, inputs: tuple[str, ...], facts: Facts) -> None:
    """Refuse a node that reads a tensor which nothing before it makes."""
    for name in inputs:
        if name not in facts.types:
            raise facts.refuse(node, f"tensor '{name}' is made by no earlier node", _CHECK)


def _check_activations(node: Node, facts: Facts) -> None:
    """Refuse a layer whose data is not quantised."""
    data = facts.data_inputs(node)[0]
    if not facts.type(data).is_integer:
        hint = "Put a quantised activation (Brevitas: QuantReLU or QuantIdentity) before the layer."
        raise facts.refuse(node, f"the layer has float activations: no quantiser makes '{data}'", hint)


def _input_notes(inputs: tuple[str, ...], operations: list[Operation], facts: Facts) -> tuple[str, ...]:
    """Say which type inputs are taken as; a layer that reads raw data has no quantiser before it."""
    bare = next((o for o in operations if o.macs and not facts.raw.isdisjoint(o.inputs)), None)
    notes = []
    for name in inputs:
        bits = f"{facts.type(name).bits}-bit values ({facts.type(name).name})"
        if bare:
            notes.append(f"input '{name}' has no quantiser before '{bare.name}': planned with {bits}")
        else:
            notes.append(f"input '{name}' is planned as {bits}, quantised by the network's first quantiser")
    return tuple(notes)


def _domain_note(unnamed: list[str]) -> tuple[str, ...]:
    """Say which quantisers lack a domain: floorflow knows them by their names, QONNX and FINN do not."""
    if not unnamed:
        return ()
    return (f"quantisers without a domain are read as QONNX's; FINN needs {QONNX_DOMAIN} there: {some(unnamed)}",)


def _tensors(inputs: tuple[str, ...], operations: list[Operation], facts: Facts) -> tuple[Tensor, ...]:
    """Return every tensor that an operation names, in order of first use."""
    names = dict.fromkeys(inputs)
    for operation in operations:
        if "weights" in operation.attributes:
            names[operation.text("weights")] = None
        names.update(dict.fromkeys(operation.outputs))
    nodes = {name: node for node in facts.source.nodes for name in (*node.inputs, *node.outputs)}
    return tuple(Tensor(name, facts.shape(name, nodes[name]), facts.type(name)) for name in names)
