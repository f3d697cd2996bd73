"""Local search: one row or two of a folding are exchanged (1- and 2-exchange) as long as that helps.

What helps is to exceed the budget by less and then, within it, to cost less. The foldings that the relaxation meets
are near the optimum but often exceed the budget a little; a few exchanges repair that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.lagrangian import FINENESS, Knapsack

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

PAIRED = 150
"""Rows that are tried two at a time: so many of the best alone, and so many of the best at the relaxation's prices."""
MOST_EXCHANGES = 60
EXCESS = 1e3
"""Weight of a whole budget exceeded, in costs of the whole budget."""


class LocalSearch:
    """Exchanges rows of any selection; made once for a problem."""

    def __init__(self, knapsack: Knapsack) -> None:
        self.knapsack, self.pricing = knapsack, knapsack.pricing
        classes = self.pricing.classes
        count = len(classes.rows)
        self.neighbours: list[list[int]] = [[] for _ in range(count)]
        self.near = np.eye(count, dtype=np.bool_)
        for a, b in sorted(classes.pairs):
            self.neighbours[a].append(b)
            self.neighbours[b].append(a)
            self.near[a, b] = self.near[b, a] = True

    def run(self, selection: Array, prices: Array) -> Array | None:
        """Return what exchanges lead to from ``selection``, None if that still exceeds the budget."""
        exchanges = _Exchanges(self, selection, self.knapsack.weights + prices / FINENESS)
        for _ in range(MOST_EXCHANGES):
            rows = exchanges.one_exchange() or exchanges.two_exchange()
            if rows is None:
                break
            exchanges.exchange(rows)
        return exchanges.selection if (exchanges.use <= self.knapsack.budget).all() else None

    def around(self, group: int, selection: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return what the group's rows use with all their streams, (n, 5), and which of them no hardware can join."""
        classes = self.pricing.classes
        use, own = classes.use[group].copy(), classes.class_of[group]
        barred = np.zeros(len(use), dtype=np.bool_)
        for other in self.neighbours[group]:
            class_ = int(classes.class_of[other][selection[other] - self.pricing.begins[other]])
            if group < other:
                use += classes.pairs[group, other][own, class_]
                barred |= classes.barred[group, other][own, class_]
            else:
                use += classes.pairs[other, group][class_, own]
                barred |= classes.barred[other, group][class_, own]
        return use, barred


class _Exchanges:
    """A run of exchanges: the selection, and how each row would change what it uses."""

    def __init__(self, local_search: LocalSearch, selection: Array, prices: Floats) -> None:
        self.local_search, self.knapsack, self.pricing = local_search, local_search.knapsack, local_search.pricing
        self.selection = selection.copy()
        self.prices = prices
        self.change = np.zeros((self.pricing.size, 5), dtype=np.int64)
        self.closed = np.zeros(self.pricing.size, dtype=np.bool_)
        for group in range(selection.size):
            self._update(group)
        self._add_up()

    def one_exchange(self) -> tuple[int, ...] | None:
        """Return the row whose exchange helps most, None if none does."""
        self.merit = self._merit(self.change)
        self.merit[self.closed] = np.inf
        best = int(np.argmin(self.merit))
        return (best,) if self._helps(self.merit[best]) else None

    def two_exchange(self) -> tuple[int, ...] | None:
        """Return two rows of groups that are not neighbours whose exchange helps most, None if none does."""
        cheap = np.where(self.closed, np.inf, self.change @ self.prices)
        tried = np.concatenate([np.argsort(merit, kind="stable")[:PAIRED] for merit in (self.merit, cheap)])
        tried = np.unique(tried[~self.closed[tried]])
        if not tried.size:
            return None
        change, group = self.change[tried], self.pricing.group[tried]
        merit = self._merit(change[:, None], change)
        merit[self.local_search.near[np.ix_(group, group)]] = np.inf
        first, second = divmod(int(np.argmin(merit)), tried.size)
        return (int(tried[first]), int(tried[second])) if self._helps(merit[first, second]) else None

    def exchange(self, rows: tuple[int, ...]) -> None:
        """Take these rows."""
        groups = [int(self.pricing.group[row]) for row in rows]
        self.selection[groups] = rows
        for group in sorted({*groups, *(h for g in groups for h in self.local_search.neighbours[g])}):
            self._update(group)
        self._add_up()

    def _update(self, group: int) -> None:
        use, barred = self.local_search.around(group, self.selection)
        part = slice(self.pricing.begins[group], self.pricing.begins[group + 1])
        position = self.selection[group] - self.pricing.begins[group]
        self.change[part] = use - use[position]
        self.closed[part] = barred
        self.closed[self.selection[group]] = True

    def _add_up(self) -> None:
        self.use = self.pricing.total(self.selection)
        self.merit_now = float(self._merit(np.zeros(5, dtype=np.int64)))

    def _merit(self, change: Array, second: Array | None = None) -> Floats:
        """Return how bad changes, (..., 5), or each with a second, leave the selection: excess first, then cost."""
        second = np.zeros(5, dtype=np.int64) if second is None else second
        merit = change @ self.knapsack.weights + (second @ self.knapsack.weights).astype(np.float64)
        slacks = self.knapsack.budget - self.use
        penalties = EXCESS * self.knapsack.dearest / np.maximum(self.knapsack.budget, 1)
        # One resource after the other: numpy is slow along a short last axis.
        for resource, (slack, penalty) in enumerate(zip(slacks.tolist(), penalties.tolist(), strict=True)):
            over = change[..., resource] + (second[..., resource] - slack)
            merit += np.maximum(over, 0) * penalty
        return np.asarray(merit)

    def _helps(self, merit: float) -> bool:
        return merit < self.merit_now - max(0.5, 1e-9 * abs(self.merit_now))
