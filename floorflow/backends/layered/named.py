"""Layers of a tool by the names of the operations that they are, and the refusal of operations that are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from floorflow.errors import InputError
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


def has_square_kernel(operation: Operation) -> bool:
    """Whether its kernel, if it has one, is of an image, and as high as it is wide."""
    kernel = operation.attributes.get("kernel", (1, 1))
    return isinstance(kernel, tuple) and len(kernel) == _IMAGE and len({*kernel}) == 1
