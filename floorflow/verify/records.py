"""JSON objects and amounts of resources, as all rules read them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

Record = dict[str, Any]
"""One JSON object."""
RESOURCE_NAMES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
"""Keys of every ``resources`` object, in the order of messages."""
Amounts = dict[str, int]
"""An amount of each."""
TERMS = ("wire", "reach", "congestion")
"""Terms of the objective of placement."""
ROUNDING = 1e-9
"""Added before a limit is rounded down, so that 0.7 x 10 is 7."""


def is_count(value: object) -> bool:
    """Whether the value is a non-negative integer below 2^63 (booleans are not)."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def is_number(value: object) -> bool:
    """Whether the value is a finite int or float (booleans are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


Name = TypeVar("Name")


def repeated(names: Iterable[Name]) -> Iterator[tuple[Name, int]]:
    """Yield what stands several times, in order, with how often."""
    yield from ((name, count) for name, count in Counter(names).items() if count > 1)


def amounts(entry: Mapping[str, Any]) -> Amounts:
    """Return the five resources of an entry, 0 of those that it does not name, and nothing else."""
    return {name: entry.get(name, 0) for name in RESOURCE_NAMES}


def total(parts: Iterable[Mapping[str, Any]]) -> Amounts:
    """Sum of amounts."""
    found = amounts({})
    for part in parts:
        for name in RESOURCE_NAMES:
            found[name] += part[name]
    return found


def add(first: Amounts, second: Amounts) -> Amounts:
    """Sum of two amounts."""
    return total((first, second))


def limit_of(fractions: Mapping[str, float], whole: Amounts) -> Amounts:
    """Largest whole amount under a cap or fill; a fraction outside [0, 1], reported elsewhere, counts as its end."""
    within = {name: min(1.0, max(0.0, fractions[name])) for name in RESOURCE_NAMES}
    return {name: math.floor(within[name] * whole[name] + ROUNDING) for name in RESOURCE_NAMES}


def excess(demand: Amounts, limit: Amounts) -> str:
    """Describe every resource of which more is needed than allowed; empty if all fits."""
    over = [name for name in RESOURCE_NAMES if demand[name] > limit[name]]
    return ", ".join(f"{name} needs {demand[name]}, limit {limit[name]}" for name in over)
