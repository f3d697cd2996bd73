"""How a part of all foldings is split in two: by how many of some equal groups take some of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.lagrangian import FINENESS, Terms
from floorflow.folding.pricing import Mask

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

SOME = 1e-6
"""Share of a row in a blend of choices from which it counts."""
LEAST_SCORE = 1e-9
"""What a split must tell to be one."""
OWN_COST = 0.1
"""Weight of a resource's own cost, beside its price, in telling which rows differ most."""


@dataclass(frozen=True)
class Count:
    """At most (``sign`` 1) or at least (-1) ``limit`` of the picks are among ``rows``."""

    rows: Mask
    """(size of the line,)"""
    sign: int
    limit: int
    groups: int
    """Groups that the rows are of, each of which picks once."""
    others: Mask
    """The other rows of these groups."""

    @cached_property
    def places(self) -> Array:
        """Positions of the rows."""
        return np.flatnonzero(self.rows)

    def excess(self, selection: Array) -> float:
        """Return by how many picks a choice breaks the limit, negative if it does not."""
        return float(self.sign * (np.count_nonzero(self.rows[selection]) - self.limit))

    def forbidden(self) -> Mask | None:
        """Return the rows that none may take, if that is all that the count says."""
        if self.sign > 0 and self.limit == 0:
            return self.rows
        return self.others if self.sign < 0 and self.limit == self.groups else None


class Kinds:
    """Groups with equal rows are of one kind."""

    def __init__(self, terms: Terms) -> None:
        self.terms, pricing = terms, terms.pricing
        known: dict[bytes, int] = {}
        self.of = np.array([known.setdefault(use.tobytes(), len(known)) for use in pricing.states.use])
        """Kind of each group."""
        self.lines = [
            pricing.begins[groups][:, None] + np.arange(len(pricing.states.use[groups[0]]))
            for groups in (np.flatnonzero(self.of == kind) for kind in range(len(known)))
        ]
        """For each kind the positions of its rows, (groups, rows)."""
        self.shares = [pricing.use[line[0]] / np.maximum(terms.budget, 1) for line in self.lines]
        """For each kind what its rows use of the budget, (rows, 5)."""


def split(kinds: Kinds, allowed: Mask, blend: Floats, prices: Array) -> tuple[Count, Count]:
    """Return two counts, one of which every choice meets, that both exclude the blend (if anything does).

    ``blend`` holds the share of each row in the relaxation's fractional answer. Rows are told apart by the resource
    that makes the largest difference at the prices.
    """
    pricing, budget = kinds.terms.pricing, kinds.terms.budget
    value = prices * budget / FINENESS + OWN_COST * kinds.terms.weights * budget
    value = np.sqrt(value / max(1.0, value.max())) + 0.01
    best: tuple[float, int, Mask, float] | None = None
    for kind in np.unique(kinds.of[pricing.group[(blend > SOME) & (blend < 1 - SOME)]]).tolist():
        line = kinds.lines[kind]
        found = _widest(kinds.shares[kind] * value, blend[line].sum(axis=0))
        if found is not None and (best is None or found[0] > best[0]):
            best = (found[0], kind, *found[1:])
    if best is None:
        return _in_half(kinds, allowed)
    return _counts(pricing.size, kinds.lines[best[1]], best[2], best[3])


def _widest(shares: Floats, count: Floats) -> tuple[float, Mask, float] | None:
    """Return how much the best split of a kind's rows tells, its lower part, and how many picks the blend has there.

    A split tells much where it leaves many picks between two whole numbers, and where its parts differ much.
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


def _counts(size: int, line: Array, lower: Mask, inside: float) -> tuple[Count, Count]:
    rows, others = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    rows[line[:, lower]] = others[line[:, ~lower]] = True
    most = int(np.floor(inside + SOME))
    return Count(rows, 1, most, len(line), others), Count(rows, -1, most + 1, len(line), others)


def _in_half(kinds: Kinds, allowed: Mask) -> tuple[Count, Count]:
    """Split the rows of the group that has most left."""
    pricing = kinds.terms.pricing
    left = np.add.reduceat(allowed, pricing.begins[:-1], dtype=np.int64)
    group = int(np.argmax(left))
    line = np.arange(pricing.begins[group], pricing.begins[group + 1])[None]
    lower = np.cumsum(allowed[line[0]]) <= left[group] // 2
    return _counts(pricing.size, line, lower, 0.5)
