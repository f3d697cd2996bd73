"""What the host takes over at the network's ends: quantisers of many bits, and the order of the input's values.

Reshapes stand at the network's input ahead of quantisers and scales, between two reshapes not at all.

A stream's words divide the innermost size of its tensor, so that a quantiser ahead of a flatten would leave all engines
at one channel of the picture a word. One scale for all values means the same before a reshape and behind it.
"""

from collections.abc import Sequence
from dataclasses import replace

from floorflow.backends.finn.lower.rewrite import BENDS, has_one_scale, rebuilt, renamed
from floorflow.backends.finn.lower.state import THRESHOLD_BITS
from floorflow.backends.finn.lower.windows import channels_last
from floorflow.errors import some
from floorflow.network.model import Network, Operation, Tensor

_ELEMENTWISE = (*BENDS, "affine", "function", "quantise", "truncate")
"""Operations on each value by itself."""
_ON_HOST = (*_ELEMENTWISE, "flatten", "softmax", "top_k")
"""What may follow a quantiser on the host up to the network's output."""
_IMAGE_RANK = 4


def wide_on_host(network: Network) -> Network:
    """Return the network without quantisers of more bits than thresholds have, where these stand at its ends.

    The host sends what the first one makes, and computes the last one; notes tell of the first.
    """
    notes, tensors = [], {tensor.name: tensor for tensor in network.tensors}
    gone: dict[str, str] = {}
    for name in network.inputs:
        steps = _wide_at_input(network, name)
        if not steps:
            continue
        made = network.tensor(steps[-1].outputs[0]).datatype
        tensors[name] = replace(tensors[name], datatype=made)
        gone |= {step.outputs[0]: name for step in steps}
        names = some([f"'{step.name}'" for step in steps])
        notes.append(
            f"input '{name}' is sent as {made.name}; left to the host, for thresholds have {THRESHOLD_BITS} bits at "
            f"most: {names}"
        )
    kept = [_computed_on_host(network, o) for o in network.operations if o.outputs[0] not in gone]
    told = [
        note for note in network.notes if not any(note.startswith(f"input '{n}' is planned") for n in gone.values())
    ]
    network = replace(network, tensors=tuple(tensors.values()), notes=(*told, *notes))
    return rebuilt(network, renamed(kept, gone))


def _wide_at_input(network: Network, name: str) -> Sequence[Operation]:
    """Return the scales and the quantisers of too many bits through which alone an input is read."""
    steps: list[Operation] = []
    while len(readers := network.consumers(name)) == 1 and readers[0].type == "affine":
        steps += readers
        name = readers[0].outputs[0]
    made = {network.tensor(reader.outputs[0]).datatype for reader in readers if reader.type == "quantise"}
    alike = len(made) == 1 and len({reader.attributes.get("grid") for reader in readers}) == 1
    left = {name, *(output for reader in readers for output in reader.outputs)}.isdisjoint(network.outputs)
    is_wide = alike and left and all(reader.type == "quantise" for reader in readers) and _is_wide(network, readers[0])
    return [*steps, *readers] if is_wide else []


def _computed_on_host(network: Network, operation: Operation) -> Operation:
    """Return a last quantiser of too many bits as an operation that no engine computes; any other as it is."""
    if operation.type != "quantise" or not _is_wide(network, operation):
        return operation
    waiting = [operation]
    for step in waiting:  # grows while it is walked
        if step.type not in _ON_HOST:
            return operation
        waiting += [reader for name in step.outputs for reader in network.consumers(name)]
    return replace(operation, type="function", attributes={"operator": "Quant"})


def _is_wide(network: Network, quantiser: Operation) -> bool:
    return network.tensor(quantiser.outputs[0]).datatype.bits > THRESHOLD_BITS


def flattened_early(network: Network) -> Network:
    """Return an equivalent network whose reshapes stand where they cost nothing; a note tells of its inputs'."""
    network, moved = _without_detours(_without_twins(network)), []
    for flatten in [o for o in network.operations if o.type == "flatten"]:
        passed = _up_to_input(network, flatten)
        if passed:
            network = _hoisted(network, flatten, passed)
            names = some([f"'{step.name}'" for step in passed])
            moved.append(f"'{flatten.name}' ahead of {names}")
    if not moved:
        return network
    note = f"reshaped where the data enter, as floorflow_flatten does in FINN's build: {some(moved)}"
    return replace(network, notes=(*network.notes, note))


def _without_twins(network: Network) -> Network:
    """Drop a reshape of the input that does what another does of the same tensor."""
    entering = set(network.inputs)
    made: dict[tuple[str, tuple[int, ...]], str] = {}
    names: dict[str, str] = {}
    kept = []
    for operation in network.operations:
        (operation,) = renamed([operation], names)  # noqa: PLW2901 - the one name for the operation as it stands
        if operation.type in (*_ELEMENTWISE, "flatten") and entering.issuperset(operation.inputs):
            entering.update(operation.outputs)
        if operation.type == "flatten" and operation.outputs[0] in entering - {*network.outputs}:
            key = (operation.inputs[0], network.tensor(operation.outputs[0]).shape)
            if key in made:
                names[operation.outputs[0]] = made[key]
                continue
            made[key] = operation.outputs[0]
        kept.append(operation)
    return rebuilt(network, kept)


def _without_detours(network: Network) -> Network:
    """Move each reshape down to the next one behind it, and make one of both, or none if they undo each other."""
    while True:
        pairs = ((o, _down_to_reshape(network, o)) for o in network.operations if o.type == "flatten")
        first, steps = next((pair for pair in pairs if pair[1]), (None, ()))
        if first is None:
            return network
        *passed, last = steps
        source = network.tensor(first.inputs[0])
        gone, reads = {first.outputs}, {first.outputs[0]: source.name}
        if source.shape == network.tensor(last.outputs[0]).shape and last.outputs[0] not in network.outputs:
            gone.add(last.outputs)
            reads[last.outputs[0]] = passed[-1].outputs[0] if passed else source.name
        kept = renamed([o for o in network.operations if o.outputs not in gone], reads)
        network = rebuilt(network, kept, [replace(network.tensor(o.outputs[0]), shape=source.shape) for o in passed])


def _down_to_reshape(network: Network, first: Operation) -> tuple[Operation, ...]:
    """Return what lies between a reshape and the next one, with that one; empty if something does not commute."""
    steps: list[Operation] = []
    name = first.outputs[0]
    while name not in network.outputs and len(network.consumers(name)) == 1:
        (step,) = network.consumers(name)
        steps.append(step)
        if step.type == "flatten":
            return tuple(steps)
        if not _commutes(network, first, step):
            return ()
        name = step.outputs[0]
    return ()


def _up_to_input(network: Network, flatten: Operation) -> Sequence[Operation]:
    """Return what lies between the network's input and a reshape and can follow it; empty if it may stay.

    What others read as well is not moved.
    """
    makers = {name: operation for operation in network.operations for name in operation.outputs}
    passed: list[Operation] = []
    name = flatten.inputs[0]
    while name in makers:
        step = makers[name]
        if not _is_alone(network, name) or not _commutes(network, flatten, step):
            break
        passed.insert(0, step)
        name = step.inputs[0]
    innermost = [channels_last(network.tensor(each).shape)[-1] for each in (*flatten.inputs, *flatten.outputs)]
    fits = name in network.inputs and _is_alone(network, name)
    return passed if fits and len(set(innermost)) > 1 else ()


def _is_alone(network: Network, name: str) -> bool:
    return len(network.consumers(name)) == 1 and name not in network.outputs


def _commutes(network: Network, flatten: Operation, step: Operation) -> bool:
    """Whether an operation may stand before a reshape or behind it: all values are alike to it, or keep channels."""
    if step.type not in _ELEMENTWISE:
        return False
    alike = step.type in (*BENDS, "function") or (
        step.attributes.get("elements") == 1 if step.type == "affine" else has_one_scale(step)
    )
    source, target = (network.tensor(name).shape for name in (*flatten.inputs, *flatten.outputs))
    is_kept = len(source) > 1 and len(target) > 1 and source[1] == target[1]
    elements = step.attributes.get("elements", source[1] if is_kept else 0)
    by_channel = is_kept and elements == source[1] and all(_tells_channels(shape) for shape in (source, target))
    return alike or by_channel


def _tells_channels(shape: tuple[int, ...]) -> bool:
    """Whether axis 1 alone can hold the channels: in data of lower rank the last axis may as well."""
    return len(shape) >= _IMAGE_RANK or shape[1] != shape[-1] or len(shape) == 2


def _hoisted(network: Network, flatten: Operation, passed: Sequence[Operation]) -> Network:
    """Return the network with a reshape ahead of what it follows."""
    top, target = network.tensor(passed[0].inputs[0]), network.tensor(flatten.outputs[0]).shape
    first = Tensor(f"{top.name} of {flatten.name}", target, top.datatype)
    made = [replace(flatten, inputs=(top.name,), outputs=(first.name,))]
    for step in passed:
        output = flatten.outputs if step is passed[-1] else step.outputs
        made.append(replace(step, inputs=made[-1].outputs, outputs=output))
    between = [replace(network.tensor(step.outputs[0]), shape=target) for step in passed[:-1]]
    gone = {step.outputs for step in passed}
    operations: list[Operation] = []
    for operation in network.operations:
        if operation.outputs == flatten.outputs:
            operations += made
        elif operation.outputs not in gone:
            operations.append(operation)
    return rebuilt(network, operations, [first, *between])
