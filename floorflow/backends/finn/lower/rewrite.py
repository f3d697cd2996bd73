"""Questions that lowering asks of a Network, and the ways in which it rewrites one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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
