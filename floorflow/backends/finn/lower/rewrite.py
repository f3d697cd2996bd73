"""Questions that lowering asks of a Network before it meets the answers, and the ways in which it rewrites one.

Thresholds on a tensor with one scale for all channels are the same in each, and one set is kept a lane. A layer's sums
have not, as far as is known: its weights, its bias or the norm behind it may differ by channel.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from floorflow.network.datatype import BIPOLAR
from floorflow.network.model import Network, Operation, Tensor

LAYERS = ("conv", "fully_connected")
MOVERS = ("flatten", "max_pool", "pad", "upsample")
"""Operations that choose, repeat or rename values but compute none."""
BENDS = ("clip", "relu")
"""Operations that only thresholds can compute."""


@dataclass(frozen=True)
class Floating:
    """What thresholds must still do to a tensor.

    ``bent`` by a ReLU or Clip, ``scaled`` by scale or bias, ``shifted`` by a bias, which no product can take along.
    """

    bent: bool = False
    scaled: bool = False
    shifted: bool = False


def floating(network: Network) -> Mapping[str, Floating]:
    """Return for each tensor what lies between it and the last integers before it."""
    found = dict.fromkeys(network.inputs, Floating())
    for operation in network.operations:
        before = [found[name] for name in operation.inputs]
        bent, scaled, shifted = (any(getattr(f, name) for f in before) for name in ("bent", "scaled", "shifted"))
        if operation.type in BENDS:
            state = Floating(bent=True, scaled=scaled, shifted=shifted)
        elif operation.type in LAYERS:
            biased = bool(operation.integer("bias"))
            state = Floating(scaled=biased, shifted=biased)
        elif network.tensor(operation.outputs[0]).datatype.is_integer or operation.type in ("quantise", "truncate"):
            state = Floating()
        else:
            shifted = shifted or (operation.type == "affine" and not only_scales(operation))
            state = Floating(bent, scaled or operation.type == "affine", shifted)
        found.update(dict.fromkeys(operation.outputs, state))
    return found


def only_scales(operation: Operation) -> bool:
    """Whether an operation by constants multiplies and adds nothing."""
    return operation.attributes.get("operator") in ("Mul", "Div")


def next_operation(network: Network, operation: Operation) -> Operation | None:
    """Return the one reader of an operation's one output, None if there are others or it leaves the network."""
    if len(operation.outputs) != 1 or operation.outputs[0] in network.outputs:
        return None
    consumers = network.consumers(operation.outputs[0])
    return consumers[0] if len(consumers) == 1 else None


def grids(network: Network) -> Mapping[str, object]:
    """Return which values each tensor can hold, for tensors whose quantiser is known; equal is surely the same."""
    found: dict[str, object] = {}
    for operation in network.operations:
        before = {found.get(name) for name in operation.inputs}
        if operation.type == "quantise":
            found[operation.outputs[0]] = key_of(network, operation)
        elif operation.type in (*MOVERS, "concat", "split") and len(before) == 1:
            found.update(dict.fromkeys(operation.outputs, before.pop()))
    return {name: grid for name, grid in found.items() if grid is not None}


def key_of(network: Network, quantiser: Operation) -> object | None:
    """Return scale, zero point and type of a quantiser; None if it was made up and has no scale."""
    grid = quantiser.text("grid")
    return (grid, network.tensor(quantiser.outputs[0]).datatype) if grid else None


def nearest_quantiser(network: Network, operation: Operation) -> Operation | None:
    """Return the first quantiser behind an operation and before any layer, in breadth."""
    waiting, seen = list(operation.outputs), set(operation.outputs)
    for tensor in waiting:  # grows while it is walked
        for reader in network.consumers(tensor):
            if reader.type in ("quantise", "truncate"):
                return reader
            if reader.type not in LAYERS:
                fresh = [name for name in reader.outputs if name not in seen]
                seen.update(fresh)
                waiting += fresh
    return None


def rebuilt(network: Network, operations: Iterable[Operation], tensors: Iterable[Tensor] = ()) -> Network:
    """Return the network with other operations and more tensors; those that nobody names are dropped."""
    kept = tuple(operations)
    named = {*network.inputs, *network.outputs}
    for operation in kept:
        named.update((*operation.inputs, *operation.outputs))
        if operation.type in LAYERS:
            named.add(operation.text("weights"))
    every = {tensor.name: tensor for tensor in (*network.tensors, *tensors)}
    return replace(network, operations=kept, tensors=tuple(t for t in every.values() if t.name in named))


def renamed(operations: Iterable[Operation], names: Mapping[str, str]) -> tuple[Operation, ...]:
    """Return the operations reading other tensors."""
    return tuple(replace(o, inputs=tuple(names.get(name, name) for name in o.inputs)) for o in operations)


_KEEP = (*MOVERS, *BENDS, "average_pool", "function", "mean", "split", "truncate")
"""Operations that treat all channels alike."""


def equal_channels(network: Network) -> frozenset[str]:
    """Return the tensors whose values mean the same in every channel."""
    alike = set(network.inputs)
    known = grids(network)
    for operation in network.operations:
        read = alike.issuperset(operation.inputs)
        if operation.type in _KEEP:
            kept = read
        elif operation.type == "quantise":
            kept = has_one_scale(operation)
        elif operation.type == "affine":
            kept = read and operation.attributes.get("elements") == 1
        else:
            of_one_grid = len({known.get(name, name) for name in operation.inputs}) == 1
            kept = operation.type in ("add", "concat") and read and of_one_grid
        if kept:
            alike.update(operation.outputs)
    return frozenset(alike)


def has_one_scale(quantiser: Operation) -> bool:
    """Whether a quantiser's scale and zero point are single numbers that are known: a name stands in quotes.

    A truncation keeps the scale of what it reads.
    """
    if quantiser.type == "truncate":
        return True
    grid = quantiser.text("grid")
    return bool(grid) and "'" not in grid


_CARRIERS = (*MOVERS, "concat")
"""Operations through which -1 and 1 flow as they are."""


@dataclass(frozen=True)
class Lookahead:
    """``thresholds`` maps a layer's output to the quantiser whose thresholds follow it at once.

    ``absorbed`` holds the outputs of the operations that these thresholds take over, the quantiser's among them, and
    ``xnor`` those of quantisers whose -1 and 1 are sent as 0 and 1 because only XNOR units read them. ``equal`` are
    the tensors with one scale for all channels.
    """

    thresholds: Mapping[str, Operation]
    absorbed: frozenset[str]
    xnor: frozenset[str]
    equal: frozenset[str]


def look_ahead(network: Network) -> Lookahead:
    """Find the thresholds and one-bit streams of a network."""
    thresholds: dict[str, Operation] = {}
    absorbed: set[str] = set()
    for operation in network.operations:
        path = steps_to_quantiser(network, operation, ("affine", *BENDS)) if operation.type in LAYERS else ()
        if path:
            thresholds[operation.outputs[0]] = path[-1]
            absorbed.update(step.outputs[0] for step in path)
    return Lookahead(thresholds, frozenset(absorbed), _xnor(network), equal_channels(network))


def steps_to_quantiser(network: Network, start: Operation, passable: Collection[str]) -> tuple[Operation, ...]:
    """Return what lies between an operation and the quantiser behind it, with that one; empty if there is none."""
    path: list[Operation] = []
    step = next_operation(network, start)
    while step is not None:
        path.append(step)
        if step.type == "quantise":
            return tuple(path)
        if step.type not in passable:
            return ()
        step = next_operation(network, step)
    return ()


def _xnor(network: Network) -> frozenset[str]:
    """Return the outputs of quantisers whose -1 and 1 only layers with weights of -1 and 1 read.

    Where a concat joins several of them, all must be so or none is: a stream has one type.
    """
    quantisers = [o for o in network.operations if o.type == "quantise"]
    good = {o.outputs[0] for o in quantisers if network.tensor(o.outputs[0]).datatype == BIPOLAR}
    while True:
        flowing = _flowing(network, good)
        bad = {name for name in good if not _all_readers_take(network, name, flowing)}
        if not bad:
            return frozenset(good)
        good -= bad


def _flowing(network: Network, good: set[str]) -> set[str]:
    """Return the tensors that nothing but the outputs in ``good`` reaches, and only moved."""
    found = set(good)
    for operation in network.operations:
        if operation.type in _CARRIERS and found.issuperset(operation.inputs):
            found.update(operation.outputs)
    return found


def _all_readers_take(network: Network, tensor: str, flowing: set[str]) -> bool:
    """Whether a tensor only reaches XNOR layers, through tensors in ``flowing``."""
    if tensor in network.outputs or tensor not in flowing:
        return False
    for reader in network.consumers(tensor):
        if reader.type in _CARRIERS:
            if not _all_readers_take(network, reader.outputs[0], flowing):
                return False
        elif reader.type not in LAYERS or network.weights(reader).datatype != BIPOLAR:
            return False
    return True


def left_to_host(operation: Operation) -> str:
    """Return how people are told of an operation that the host computes: of a layer that is its bias alone."""
    is_bias = operation.type in LAYERS
    return f"'{operation.name}' (its bias alone)" if is_bias else f"'{operation.name}' ({operation.type})"
