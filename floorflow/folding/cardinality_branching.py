"""Branching on cardinality: a node is split in two by how many of some equal groups take some of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.lagrangian import FINENESS, Knapsack
from floorflow.folding.pricing import Mask

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

SOME = 1e-6
"""Share of a row in a fractional answer from which it counts."""
LEAST_SCORE = 1e-9
"""What a split must tell to be one."""
OWN_COST = 0.1
"""Weight of a resource's own cost, beside its price, in telling which rows differ most."""


@dataclass(frozen=True)
class CardinalityLimit:
    """At most (``sign`` 1) or at least (-1) ``limit`` of the selected rows are among ``rows``."""

    rows: Mask
    """(size of the line,)"""
    sign: int
    limit: int
    groups: int
    """Groups that the rows are of, each of which takes one row."""
    others: Mask
    """The other rows of these groups."""

    @cached_property
    def positions(self) -> Array:
        """Positions of the rows."""
        return np.flatnonzero(self.rows)

    def excess(self, selection: Array) -> float:
        """Return by how many rows a selection breaks the limit, negative if it does not."""
        return float(self.sign * (np.count_nonzero(self.rows[selection]) - self.limit))

    def forbidden(self) -> Mask | None:
        """Return the rows that none may take, if that is all that the limit says."""
        if self.sign > 0 and self.limit == 0:
            return self.rows
        return self.others if self.sign < 0 and self.limit == self.groups else None


class EqualGroups:
    """Groups with equal rows make a set."""

    def __init__(self, knapsack: Knapsack) -> None:
        self.knapsack, pricing = knapsack, knapsack.pricing
        known: dict[bytes, int] = {}
        self.of = np.array([known.setdefault(use.tobytes(), len(known)) for use in pricing.classes.use])
        """Set of each group."""
        self.lines = [
            pricing.begins[groups][:, None] + np.arange(len(pricing.classes.use[groups[0]]))
            for groups in (np.flatnonzero(self.of == number) for number in range(len(known)))
        ]
        """For each set the positions of its groups' rows, (groups, rows)."""
        self.shares = [pricing.use[line[0]] / np.maximum(knapsack.budget, 1) for line in self.lines]
        """For each set what its rows use of the budget, (rows, 5)."""


def branch(
    equal_groups: EqualGroups, row_mask: Mask, fractional: Floats, prices: Array
) -> tuple[CardinalityLimit, CardinalityLimit]:
    """Return two limits, one of which every selection meets, that both exclude the fractional answer, if anything does.

    ``fractional`` holds the share of each row in the relaxation's answer. Rows are told apart by the resource that
    makes the largest difference at the prices.
    """
    pricing, budget = equal_groups.knapsack.pricing, equal_groups.knapsack.budget
    value = prices * budget / FINENESS + OWN_COST * equal_groups.knapsack.weights * budget
    value = np.sqrt(value / max(1.0, value.max())) + 0.01
    best: tuple[float, int, Mask, float] | None = None
    for number in np.unique(equal_groups.of[pricing.group[(fractional > SOME) & (fractional < 1 - SOME)]]).tolist():
        line = equal_groups.lines[number]
        best_split = _widest(equal_groups.shares[number] * value, fractional[line].sum(axis=0))
        if best_split is not None and (best is None or best_split[0] > best[0]):
            best = (best_split[0], number, *best_split[1:])
    if best is None:
        return _in_half(equal_groups, row_mask)
    return _two_sides(pricing.size, equal_groups.lines[best[1]], best[2], best[3])


def _widest(shares: Floats, count: Floats) -> tuple[float, Mask, float] | None:
    """Return how much the best split of equal groups' rows tells, its lower part, and how often rows there are taken.

    A split tells much where it leaves that number far from whole numbers, and where its parts differ much.
    """
    taken = np.flatnonzero(count > SOME)
    order = shares[taken].argsort(axis=0, kind="stable")
    amounts, selection = np.take_along_axis(shares[taken], order, axis=0), count[taken][order]
    inside, spent = selection.cumsum(axis=0), (selection * amounts).cumsum(axis=0)
    inside, rest, spent, left = inside[:-1], inside[-1] - inside[:-1], spent[:-1], spent[-1] - spent[:-1]
    open_ = np.minimum(inside - np.floor(inside + SOME), np.ceil(inside - SOME) - inside)
    score = np.where(amounts[1:] > amounts[:-1], open_ * (left / rest - spent / inside), 0.0).T
    if not score.size or score.max() <= LEAST_SCORE:
        return None
    resource, at = divmod(int(score.argmax()), score.shape[1])
    lower = shares[:, resource] <= (amounts[at, resource] + amounts[at + 1, resource]) / 2
    return float(score[resource, at]), lower, float(count[lower].sum())


def _two_sides(size: int, line: Array, lower: Mask, inside: float) -> tuple[CardinalityLimit, CardinalityLimit]:
    rows, others = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    rows[line[:, lower]] = others[line[:, ~lower]] = True
    most = int(np.floor(inside + SOME))
    return CardinalityLimit(rows, 1, most, len(line), others), CardinalityLimit(rows, -1, most + 1, len(line), others)


def _in_half(equal_groups: EqualGroups, row_mask: Mask) -> tuple[CardinalityLimit, CardinalityLimit]:
    """Split the rows of the group that has most left."""
    pricing = equal_groups.knapsack.pricing
    left = np.add.reduceat(row_mask, pricing.begins[:-1], dtype=np.int64)
    group = int(np.argmax(left))
    line = np.arange(pricing.begins[group], pricing.begins[group + 1])[None]
    lower = np.cumsum(row_mask[line[0]]) <= left[group] // 2
    return _two_sides(pricing.size, line, lower, 0.5)
