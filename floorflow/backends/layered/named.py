"""Layers of a tool by the names of the operations that they are, and the refusal of operations that are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from floorflow.errors import InputError, some
from floorflow.network import Network, Operation

Layer = TypeVar("Layer")
_IMAGE = 2
"""Dimensions of an image: these tools' layers of sequences, and of volumes, are others."""


@dataclass(frozen=True)
class NamedLayer(Generic[Layer]):
    """A layer by its operation's name, and the words of its feature maps."""

    name: str
    layer: Layer
    words_in: int
    words_out: int


def refuse_others(
    network: Network, operations: Sequence[Operation], has_layer: Callable[[Operation], bool], tool: str, hint: str
) -> None:
    """Refuse a network with operations that a tool has no layer for.

    Raises
    ------
    InputError
        If there are any; all of them are named.

    """
    missing = [f"'{operation.name}' ({operation.type})" for operation in operations if not has_layer(operation)]
    if missing:
        raise InputError(f"{network.name}: no layer of {tool} for {', '.join(missing)}", hint=hint)


def without_host_tail(network: Network, on_host: AbstractSet[str], passing: AbstractSet[str]) -> Network:
    """Return the network without what the host computes behind the last layer; a note names it.

    ``on_host``: types of operations that no layer computes; ``passing``: those that need none and may follow.
    """
    tail: set[str] = set()
    for operation in reversed(network.operations):
        readers = (reader.name for name in operation.outputs for reader in network.consumers(name))
        if operation.type in on_host | passing and tail.issuperset(readers):
            tail.add(operation.name)
    source: dict[str, str] = {}
    for operation in network.operations:
        first = operation.inputs[0]
        starts = operation.type in on_host and operation.name in tail and first not in network.inputs
        if first in source or starts:
            source |= dict.fromkeys(operation.outputs, source.get(first, first))
    gone = [operation for operation in network.operations if operation.outputs[0] in source]
    if not gone:
        return network
    names = some([f"'{operation.name}'" for operation in gone])
    return replace(
        network,
        outputs=tuple(dict.fromkeys(source.get(name, name) for name in network.outputs)),
        operations=tuple(operation for operation in network.operations if operation not in gone),
        notes=(*network.notes, f"computed on the host, behind the last layer: {names}"),
    )


def has_square_kernel(operation: Operation) -> bool:
    """Whether its kernel, if it has one, is of an image, as high as it is wide, and slides over the image as it is."""
    if "spread" in operation.attributes:
        return False
    kernel = operation.attributes.get("kernel", (1, 1))
    return isinstance(kernel, tuple) and len(kernel) == _IMAGE and len({*kernel}) == 1
