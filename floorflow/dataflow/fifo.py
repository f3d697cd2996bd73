"""FIFOs of a stream in the memories that a back end can build them in."""

from collections.abc import Sequence
from dataclasses import dataclass

from floorflow.resources import Resources

SLICE_WORDS = 2
"""Words of a register slice: a FIFO that takes a word every cycle, all its outputs from registers."""
HANDSHAKE_BITS = 2
"""Bits that go with a word in a slice: valid and ready."""
Prices = tuple[float, ...]
"""What a unit of each resource is worth, in the order of RESOURCE_NAMES; empty: the tool's own styles are taken."""


@dataclass(frozen=True, slots=True)
class FifoChoice:
    """One memory style of a FIFO, in the back end's own word, and what the FIFO then costs."""

    style: str
    resources: Resources


def cheapest(choices: Sequence[FifoChoice], prices: Prices) -> FifoChoice:
    """Return the choice of least price, the first of several; without prices the first, which is the tool's own."""
    return min(choices, key=lambda choice: price(choice.resources, prices)) if prices else choices[0]


def of_style(choices: Sequence[FifoChoice], style: str, prices: Prices) -> FifoChoice:
    """Return the choice of a style, or the cheapest where the depth does not leave that style."""
    return next((choice for choice in choices if choice.style == style), None) or cheapest(choices, prices)


def price(resources: Resources, prices: Prices) -> float:
    """Return ``prices . resources``."""
    return sum(each * amount for each, amount in zip(prices, resources.as_tuple(), strict=True))
