"""Which tensors have one scale for all channels: thresholds on them are the same in each, and one set is kept a lane.

A layer's sums have not, as far as is known: its weights, its bias or the norm behind it may differ by channel.
"""

from __future__ import annotations

from floorflow.backends.finn.lower.rewrite import BENDS, MOVERS, grids
from floorflow.network.model import Network, Operation

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
