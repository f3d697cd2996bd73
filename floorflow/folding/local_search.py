"""Better foldings next to a given one: one row or two are exchanged as long as that helps.

What helps is to exceed the budget by less and then, within it, to cost less. The foldings that the relaxation meets
are near the optimum but often exceed the budget a little; a few exchanges mend that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.lagrangian import FINENESS, Terms

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

PAIRED = 150
"""Rows that are tried two at a time: so many of the best alone, and so many of the best at the relaxation's prices."""
MOST_EXCHANGES = 60
EXCESS = 1e3
"""Weight of a whole budget exceeded, in costs of the whole budget."""


class Descent:
    """Exchanges rows of any choice; made once for a problem."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.pricing = terms, terms.pricing
        states = self.pricing.states
        count = len(states.rows)
        self.joined: list[list[int]] = [[] for _ in range(count)]
        self.near = np.eye(count, dtype=np.bool_)
        for a, b in sorted(states.pairs):
            self.joined[a].append(b)
            self.joined[b].append(a)
            self.near[a, b] = self.near[b, a] = True

    def run(self, selection: Array, prices: Array) -> Array | None:
        """Return what exchanges lead to from ``selection``, None if that still exceeds the budget."""
        walk = _Walk(self, selection, self.terms.weights + prices / FINENESS)
        for _ in range(MOST_EXCHANGES):
            rows = walk.one() or walk.two()
            if rows is None:
                break
            walk.exchange(rows)
        return walk.selection if (walk.use <= self.terms.budget).all() else None

    def around(self, group: int, selection: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return what the group's rows use with all their streams, (n, 5), and which of them no hardware can join."""
        states = self.pricing.states
        use, own = states.use[group].copy(), states.state_of[group]
        barred = np.zeros(len(use), dtype=np.bool_)
        for other in self.joined[group]:
            state = int(states.state_of[other][selection[other] - self.pricing.begins[other]])
            if group < other:
                use += states.pairs[group, other][own, state]
                barred |= states.barred[group, other][own, state]
            else:
                use += states.pairs[other, group][state, own]
                barred |= states.barred[other, group][state, own]
        return use, barred


class _Walk:
    """One descent: the choice, and how each row would change what it uses."""

    def __init__(self, descent: Descent, selection: Array, prices: Floats) -> None:
        self.descent, self.terms, self.pricing = descent, descent.terms, descent.pricing
        self.selection = selection.copy()
        self.prices = prices
        self.change = np.zeros((self.pricing.size, 5), dtype=np.int64)
        self.closed = np.zeros(self.pricing.size, dtype=np.bool_)
        for group in range(selection.size):
            self._look(group)
        self._sum()

    def one(self) -> tuple[int, ...] | None:
        """Return the row whose exchange helps most, None if none does."""
        self.merit = self._merit(self.change)
        self.merit[self.closed] = np.inf
        best = int(np.argmin(self.merit))
        return (best,) if self._helps(self.merit[best]) else None

    def two(self) -> tuple[int, ...] | None:
        """Return two rows of groups that are not neighbours whose exchange helps most, None if none does."""
        cheap = np.where(self.closed, np.inf, self.change @ self.prices)
        tried = np.concatenate([np.argsort(merit, kind="stable")[:PAIRED] for merit in (self.merit, cheap)])
        tried = np.unique(tried[~self.closed[tried]])
        if not tried.size:
            return None
        change, group = self.change[tried], self.pricing.group[tried]
        merit = self._merit(change[:, None], change)
        merit[self.descent.near[np.ix_(group, group)]] = np.inf
        first, second = divmod(int(np.argmin(merit)), tried.size)
        return (int(tried[first]), int(tried[second])) if self._helps(merit[first, second]) else None

    def exchange(self, rows: tuple[int, ...]) -> None:
        """Take these rows."""
        groups = [int(self.pricing.group[row]) for row in rows]
        self.selection[groups] = rows
        for group in sorted({*groups, *(h for g in groups for h in self.descent.joined[g])}):
            self._look(group)
        self._sum()

    def _look(self, group: int) -> None:
        use, barred = self.descent.around(group, self.selection)
        part = slice(self.pricing.begins[group], self.pricing.begins[group + 1])
        place = self.selection[group] - self.pricing.begins[group]
        self.change[part] = use - use[place]
        self.closed[part] = barred
        self.closed[self.selection[group]] = True

    def _sum(self) -> None:
        self.use = self.pricing.total(self.selection)
        self.now = float(self._merit(np.zeros(5, dtype=np.int64)))

    def _merit(self, change: Array, second: Array | None = None) -> Floats:
        """Return how bad changes, (..., 5), or each with a second, leave the choice: excess first, then cost."""
        second = np.zeros(5, dtype=np.int64) if second is None else second
        merit = change @ self.terms.weights + (second @ self.terms.weights).astype(np.float64)
        rooms, penalties = self.terms.budget - self.use, EXCESS * self.terms.dearest / np.maximum(self.terms.budget, 1)
        # One resource after the other: numpy is slow along a short last axis.
        for resource, (room, penalty) in enumerate(zip(rooms.tolist(), penalties.tolist(), strict=True)):
            over = change[..., resource] + (second[..., resource] - room)
            merit += np.maximum(over, 0) * penalty
        return np.asarray(merit)

    def _helps(self, merit: float) -> bool:
        return merit < self.now - max(0.5, 1e-9 * abs(self.now))
