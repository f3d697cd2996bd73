"""Lists in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

MOST_NAMES = 5
"""Names of a list that stand in a sentence; the plan holds them all."""


def some(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """Join names by commas: the first few, and how many more there are."""
    held: Collection[object] = names if isinstance(names, Collection) else list(names)
    rest = f" and {len(held) - most:,} more" if len(held) > most else ""
    return ", ".join(str(name) for name in islice(held, most)) + rest
