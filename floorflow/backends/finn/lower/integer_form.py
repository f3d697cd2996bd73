"""Make a Network fit for engines that carry integers: where its quantisers stand, and where they are missing.

Thresholds compute whatever lies between integers and a quantiser. So a quantiser moves before the pool or concat
whose inputs it can quantise as well; and where an engine has to add or average values behind a ReLU, which no
quantiser follows, those values are quantised like their neighbours, and a note says so.
"""

from collections.abc import Mapping
from dataclasses import replace

from floorflow.backends.finn.lower.ends import flattened_early, wide_on_host
from floorflow.backends.finn.lower.rewrite import (
    BENDS,
    MOVERS,
    Floating,
    floating,
    grids,
    key_of,
    nearest_quantiser,
    rebuilt,
    renamed,
    steps_to_quantiser,
)
from floorflow.backends.finn.lower.state import THRESHOLD_BITS
from floorflow.errors import some
from floorflow.network.datatype import DataType, integer
from floorflow.network.model import Network, Operation, Tensor

_JOINS_OF_INTEGERS = ("add", "average_pool", "multiply")
"""Operations that engines compute on integers only."""


def settled(network: Network) -> Network:
    """Return an equivalent network whose quantisers stand where FINN's thresholds can; notes tell what was assumed."""
    network, shared = _rearranged(_relus_of_integers(flattened_early(wide_on_host(network))))
    network, made_up = _completed(network)
    network, filled = _filled(network)
    network, later = _rearranged(network)
    notes = (*_quantising_note([*shared, *made_up, *later]), *_filling_note(network, filled), *_adding_note(network))
    return replace(network, notes=(*network.notes, *notes))


def _rearranged(network: Network) -> tuple[Network, list[str]]:
    """Share and move quantisers until nothing changes: one that has moved may be shared, and move again."""
    assumed: list[str] = []
    while True:
        before = network.operations
        network, shared = _shared(network)
        network = _without_repeats(_hoisted(network))
        assumed += shared
        if network.operations == before:
            return network, assumed


def _relus_of_integers(network: Network) -> Network:
    """Turn a ReLU from integers to integers into thresholds of its own, unless a quantiser follows anyway."""

    def turned(operation: Operation) -> Operation:
        readers = network.consumers(operation.outputs[0])
        datatype = network.tensor(operation.outputs[0]).datatype
        quantised = bool(readers) and all(reader.type == "quantise" for reader in readers)
        if operation.type != "relu" or not datatype.is_integer or datatype.bits > THRESHOLD_BITS or quantised:
            return operation
        return replace(operation, type="quantise", attributes={"grid": ""})

    return rebuilt(network, [turned(operation) for operation in network.operations])


def _shared(network: Network) -> tuple[Network, list[str]]:
    """Let all readers of a float tensor share its quantiser where that is exact, or where they need integers.

    Also return, in words, the readers for which it is not exact.
    """
    states, assumed = floating(network), []
    operations = {operation.outputs: operation for operation in network.operations}
    for name in [tensor.name for tensor in network.tensors if not tensor.datatype.is_integer]:
        readers = network.consumers(name)
        quantisers = [reader for reader in readers if reader.type == "quantise"]
        if not quantisers or len(readers) == 1:
            continue
        shared = max(quantisers, key=lambda q: network.tensor(q.outputs[0]).datatype.bits)
        for reader in readers:
            exact = _may_share(network, reader, shared)
            if exact or (reader.type in _JOINS_OF_INTEGERS and states[name].bent):
                (operations[reader.outputs],) = renamed([operations[reader.outputs]], {name: shared.outputs[0]})
            if not exact and reader.type in _JOINS_OF_INTEGERS and states[name].bent:
                assumed.append(_assumption(network, reader, shared))
    return rebuilt(network, _in_order(network, list(operations.values()))), assumed


def _may_share(network: Network, reader: Operation, shared: Operation) -> bool:
    """Whether a reader's results stay the same if it reads ``shared``'s output instead of that one's input.

    So they do if the reader only moves values that equal quantisers read, or is such a quantiser itself.
    """
    key = key_of(network, shared)
    if key is None or reader.outputs == shared.outputs:
        return False
    if reader.type == "quantise":
        return key_of(network, reader) == key
    if reader.type not in (*MOVERS, "concat") or reader.outputs[0] in network.outputs:
        return False
    following = network.consumers(reader.outputs[0])
    return bool(following) and all(_may_share(network, step, shared) for step in following)


def _in_order(network: Network, operations: list[Operation]) -> list[Operation]:
    """Return the operations with every quantiser right behind what it reads, so that later readers may share it."""
    readers: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.type == "quantise":
            readers.setdefault(operation.inputs[0], []).append(operation)
    ordered: list[Operation] = []

    def emit(operation: Operation) -> None:
        ordered.append(operation)
        for name in operation.outputs:
            for quantiser in readers.get(name, ()):
                emit(quantiser)

    for name in network.inputs:
        for quantiser in readers.get(name, ()):
            emit(quantiser)
    for operation in operations:
        if operation.type != "quantise":
            emit(operation)
    return ordered


def _hoisted(network: Network) -> Network:
    """Move quantisers, with the ReLUs before them, ahead of the pools and concats that they follow."""
    waiting = [operation.outputs for operation in reversed(network.operations)]
    for outputs in waiting:
        mover = next((o for o in network.operations if o.outputs == outputs), None)
        if mover and mover.type in (*MOVERS, "concat") and not network.tensor(outputs[0]).datatype.is_integer:
            # A scale may be negative and reorder what a max pool chooses from, and a bias would change padding.
            passable = (*BENDS, "affine") if mover.type in ("concat", "upsample") else BENDS
            steps = steps_to_quantiser(network, mover, passable)
            if steps:
                network = _hoist(network, mover, steps)
    return network


def _hoist(network: Network, mover: Operation, steps: tuple[Operation, ...]) -> Network:
    """Return the network with ``steps`` computed on each input of ``mover`` instead of on its output."""
    clones: list[Operation] = []
    tensors: list[Tensor] = []
    ends: list[str] = []
    for index, name in enumerate(mover.inputs):
        end, shape = name, network.tensor(name).shape
        for step in steps:
            tensor = Tensor(f"{step.outputs[0]} {mover.name} {index}", shape, network.tensor(step.outputs[0]).datatype)
            clones.append(replace(step, inputs=(end,), outputs=(tensor.name,)))
            tensors.append(tensor)
            end = tensor.name
        ends.append(end)
    moved = replace(mover, inputs=tuple(ends), outputs=steps[-1].outputs)
    gone = {step.outputs for step in steps}
    operations: list[Operation] = []
    for operation in network.operations:
        if operation.outputs == mover.outputs:
            operations += [*clones, moved]
        elif operation.outputs not in gone:
            operations.append(operation)
    return rebuilt(network, operations, tensors)


def _without_repeats(network: Network) -> Network:
    """Drop quantisers of values that are on their grid already."""
    known = grids(network)
    names: dict[str, str] = {}
    kept = []
    for operation in network.operations:
        (operation,) = renamed([operation], names)  # noqa: PLW2901 - the one name for the operation as it stands
        if operation.type == "quantise" and operation.outputs[0] not in network.outputs:
            key = key_of(network, operation)
            if key is not None and known.get(operation.inputs[0]) == key:
                names[operation.outputs[0]] = operation.inputs[0]
                continue
        kept.append(operation)
    return rebuilt(network, kept)


def _completed(network: Network) -> tuple[Network, list[str]]:
    """Quantise, as the next quantiser does, what engines must add, average or pool and no quantiser has reached.

    Also return, in words, the operations for which that was needed.
    """
    states, assumed = floating(network), []
    operations: list[Operation] = []
    tensors: dict[str, Tensor] = {}
    for operation in network.operations:
        needs = _needs(network, operation, states)
        like = nearest_quantiser(network, operation)
        if not needs or like is None:
            operations.append(operation)
            continue
        datatype = network.tensor(like.outputs[0]).datatype
        made = [_made_up(network, operation, datatype, name) for name in needs]
        operations += [quantiser for quantiser, tensor in made if tensor.name not in tensors]
        tensors.update((tensor.name, tensor) for _, tensor in made)
        operations += renamed([operation], {name: tensor.name for name, (_, tensor) in zip(needs, made, strict=True)})
        assumed.append(_assumption(network, operation, like))
    return rebuilt(network, operations, tensors.values()), assumed


def _filled(network: Network) -> tuple[Network, list[str]]:
    """Quantise, in a network that had no quantisers, what engines need as integers and no quantiser follows.

    Also return the names of the operations for which that was needed. One is filled after another, for what it sends
    are integers then; averages come last, whose nearest quantisers may be those made here.
    """
    names: list[str] = []
    while network.activation_bits:
        states = floating(network)
        lacking = (o for o in network.operations if o.type != "average_pool" and _needs(network, o, states))
        operation = next((o for o in lacking if nearest_quantiser(network, o) is None), None)
        if operation is None:
            break
        needs = _needs(network, operation, states)
        if operation.type in _JOINS_OF_INTEGERS:
            needs = tuple(n for n in dict.fromkeys(operation.inputs) if not network.tensor(n).datatype.is_integer)
        network = _with_quantised(network, operation, needs)
        names.append(f"'{operation.name}'")
    if not names:
        return network, names
    network, averaged = _completed(network)
    return network, [*names, *(text.partition(" as ")[0] for text in averaged)]


def _with_quantised(network: Network, operation: Operation, needs: tuple[str, ...]) -> Network:
    """Let an operation read quantised forms of some inputs: those that are there, or new ones."""
    tensors, made, read = [], [], {}
    for name in needs:
        quantiser = next((reader for reader in network.consumers(name) if reader.type == "quantise"), None)
        if quantiser is None:
            quantiser, tensor = _made_up(network, operation, _activation(network, name), name)
            tensors.append(tensor)
            made.append(quantiser)
        read[name] = quantiser.outputs[0]
    (reading,) = renamed([operation], read)
    others = [reading if o.outputs == operation.outputs else o for o in network.operations]
    return rebuilt(network, _in_order(network, [*made, *others]), tensors)


def _activation(network: Network, name: str) -> DataType:
    """Return the type of an activation of a network that had no quantisers: unsigned behind a ReLU."""
    makers = {output: operation for operation in network.operations for output in operation.outputs}
    waiting, signed = [name], False
    while waiting and not signed:
        one = waiting.pop()
        maker = makers.get(one)
        if maker is not None and maker.type in (*MOVERS, "add", "average_pool", "concat"):
            waiting += maker.inputs
        elif maker is None or maker.type != "relu":
            signed = network.tensor(one).datatype.min < 0
    return integer(network.activation_bits, signed=signed)


def _made_up(network: Network, reader: Operation, datatype: DataType, name: str) -> tuple[Operation, Tensor]:
    """Return a quantiser of a tensor that the network lacks."""
    tensor = Tensor(f"{name} as {datatype.name}", network.tensor(name).shape, datatype)
    return Operation(reader.name, "quantise", (name,), (tensor.name,), {"grid": ""}), tensor


def _needs(network: Network, operation: Operation, states: Mapping[str, Floating]) -> tuple[str, ...]:
    """Return the inputs that an operation can only take as integers, but gets behind a ReLU or a bias."""
    padded = "pads" in operation.attributes and any(operation.integers("pads"))
    if operation.type in _JOINS_OF_INTEGERS:
        needs = [n for n in operation.inputs if states[n].bent or (padded and states[n].scaled)]
        if operation.type == "multiply":
            needs += [n for n in operation.inputs if states[n].shifted]
    elif operation.type in ("max_pool", "pad"):
        needs = [n for n in operation.inputs if _is_unsettled(network, operation, states[n], padded=padded)]
    else:
        needs = []
    return tuple(dict.fromkeys(needs))


def _is_unsettled(network: Network, operation: Operation, state: Floating, *, padded: bool) -> bool:
    """Whether a max pool or padding gets values that it would reorder or pad wrongly."""
    if network.tensor(operation.inputs[0]).datatype.is_integer:
        return False
    return state.scaled or (operation.type == "max_pool" and padded and not state.bent)


def _assumption(network: Network, operation: Operation, like: Operation) -> str:
    return f"'{operation.name}' as {network.tensor(like.outputs[0]).datatype.name}"


def _quantising_note(assumed: list[str]) -> tuple[str, ...]:
    """Say what is quantised without a quantiser of its own."""
    if not assumed:
        return ()
    return (f"float values behind a ReLU or scale are read as the nearest quantiser makes them: {listed(assumed)}",)


def _filling_note(network: Network, names: list[str]) -> tuple[str, ...]:
    """Say what is quantised in a network that had no quantisers although no layer reads it."""
    if not names:
        return ()
    return (f"read in {network.activation_bits} bits too, for no engine takes floats: {listed(names)}",)


def _adding_note(network: Network) -> tuple[str, ...]:
    """Say which additions rest on equal scales of their branches, as far as those are not known to be equal."""
    known = grids(network)
    unsure = [
        f"'{operation.name}'"
        for operation in network.operations
        if operation.type == "add" and len({known.get(name, name) for name in operation.inputs}) > 1
    ]
    return (f"added as integers, as if the scales of all branches were equal: {listed(unsure)}",) if unsure else ()


def listed(names: list[str]) -> str:
    """Join the first few names and count the rest, for a note."""
    return some(list(dict.fromkeys(names)))
