"""Pairs of SLR boundaries (`BoundaryPair`) in CP-SAT models: which streams pass both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ortools.sat.python import cp_model

from floorflow.hardware import BoundaryPair

Soften = Callable[[cp_model.CpModel, int], Any]
"""From the model and a limit to an amount by which it may be exceeded."""
HOP_LIMIT = 10
"""Stands for a limit where hops too many are softened: each counts as a tenth of a limit."""


def passed_pairs(
    cp: cp_model.CpModel,
    pairs: Sequence[BoundaryPair],
    ends: Iterable[tuple[int, int]],
    outside: Callable[[int, int, int], Any],
    soften: Soften | None,
) -> dict[tuple[int, int, int], Any]:
    """Return whether streams with these ends pass both of a pair, by (end, end, pair): a variable, or a constant.

    ``outside(end, pair, i)`` says whether an end lies on a pair's outer side ``i``, as an expression or a constant.
    Pairs that no stream may pass are constrained, or count as hops too many where limits are softened.
    """
    both: dict[tuple[int, int, int], Any] = {}
    for a, b in ends:
        for r, pair in enumerate(pairs):
            sides = [(outside(a, r, i), outside(b, r, 1 - i)) for i in (0, 1)]
            ways = [way for way in sides if not any(isinstance(one, int) and one == 0 for one in way)]
            if not ways:
                continue
            passed: Any = soften(cp, HOP_LIMIT) if soften is not None and not pair.allowed else 0
            if pair.allowed:
                passed = both[a, b, r] = cp.new_bool_var(f"both[{a},{b},{r}]")
            for one, other in ways:
                _at_most_one(cp, one, other, passed)
    return both


def _at_most_one(cp: cp_model.CpModel, one: Any, other: Any, passed: Any) -> None:
    """Add: an end lies on its side, or the other on its own, not both unless both are passed."""
    if all(isinstance(each, int) for each in (one, other, passed)):
        if one + other > 1 + passed:
            cp.add_bool_or([]).with_name("hops")
        return
    cp.add(one + other <= 1 + passed).with_name("hops")
