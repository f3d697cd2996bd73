"""Local search: one row or two of a folding are exchanged (1- and 2-exchange) as long as that helps.

What helps is to exceed the budget by less and then, within it, to cost less. The foldings that the relaxation meets
are near the optimum but often exceed the budget a little; a few exchanges repair that.
"""

from dataclasses import dataclass, replace

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
MOST_REMEMBERED = 500_000
"""Rows up to which it is remembered what they use beside some neighbours."""


@dataclass(frozen=True, eq=False)
class Around:
    """The rows of a group beside given neighbours: what each uses with all its streams, (n, 5), and what that costs.

    ``barred`` are those that no hardware can join.
    """

    use: Array
    cost: Array
    barred: NDArray[np.bool_]


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

        self._class_of = [of.tolist() for of in classes.class_of]
        self._begins = self.pricing.begins.tolist()
        self._known: dict[tuple[int, ...], Around] = {}
        self._remembered = 0

    def seek(self, budget: Array) -> None:
        """Seek what keeps another budget, (5,), from now on."""
        self.knapsack = replace(self.knapsack, budget=budget)

    def run(self, selection: Array, prices: Array) -> Array | None:
        """Return what exchanges lead to from ``selection``, None if that still exceeds the budget."""
        exchanges = _Exchanges(self, selection, self.knapsack.weights + prices / FINENESS)
        for _ in range(MOST_EXCHANGES):
            rows = exchanges.one_exchange() or exchanges.two_exchange()
            if rows is None:
                break
            exchanges.exchange(rows)
        return exchanges.selection if (exchanges.use <= self.knapsack.budget).all() else None

    def around(self, group: int, selection: Array) -> Around:
        """Return what the rows of a group use beside the neighbours of a selection; often asked for again."""
        classes = [self._class_of[h][int(selection[h]) - self._begins[h]] for h in self.neighbours[group]]
        key = (group, *classes)
        known = self._known.get(key)
        if known is None:
            known = self._beside(group, classes)
            if self._remembered < MOST_REMEMBERED:
                self._known[key] = known
                self._remembered += len(known.use)
        return known

    def _beside(self, group: int, neighbour_classes: list[int]) -> Around:
        """Add up what the rows of a group use beside neighbours of these classes."""
        classes = self.pricing.classes
        use, own = classes.use[group].copy(), classes.class_of[group]
        barred = np.zeros(len(use), dtype=np.bool_)
        for other, class_ in zip(self.neighbours[group], neighbour_classes, strict=True):
            if group < other:
                use += classes.pairs[group, other][own, class_]
                barred |= classes.barred[group, other][own, class_]
            else:
                use += classes.pairs[other, group][class_, own]
                barred |= classes.barred[other, group][class_, own]
        return Around(use, use @ self.knapsack.weights, barred)


class _Exchanges:
    """A run of exchanges: the selection, and how each row would change what it uses."""

    def __init__(self, local_search: LocalSearch, selection: Array, prices: Floats) -> None:
        self.local_search, self.knapsack, self.pricing = local_search, local_search.knapsack, local_search.pricing
        self.selection = selection.copy()
        self.prices = prices
        dearest = self.knapsack.dearest
        self.penalties = (EXCESS * dearest / np.maximum(self.knapsack.budget, 1)).tolist()
        self.change = np.zeros((self.pricing.size, 5), dtype=np.int64)
        self.cost = np.zeros(self.pricing.size, dtype=np.int64)
        self.closed = np.zeros(self.pricing.size, dtype=np.bool_)
        for group in range(selection.size):
            self._update(group)
        self._add_up()

    def one_exchange(self) -> tuple[int, ...] | None:
        """Return the row whose exchange helps most, None if none does."""
        self.merit = self._merit(self.change, self.cost)
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
        merit = self._merit_of_two(change, self.cost[tried])
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
        around = self.local_search.around(group, self.selection)
        part = slice(self.pricing.begins[group], self.pricing.begins[group + 1])
        position = self.selection[group] - self.pricing.begins[group]
        np.subtract(around.use, around.use[position], out=self.change[part])
        np.subtract(around.cost, around.cost[position], out=self.cost[part])
        self.closed[part] = around.barred
        self.closed[self.selection[group]] = True

    def _add_up(self) -> None:
        self.use = self.pricing.total(self.selection)
        slacks = (self.knapsack.budget - self.use).tolist()
        self.limits = list(zip(slacks, self.penalties, strict=True))
        """What is left of each resource, and what a unit beyond it counts."""
        self.merit_now: float = sum((max(-slack, 0) * penalty for slack, penalty in self.limits), 0.0)

    def _merit(self, change: Array, cost: Array) -> Floats:
        """Return how bad changes, (n, 5), leave the selection: excess first, then cost."""
        merit = cost.astype(np.float64)
        # One resource after the other: numpy is slow along a short last axis.
        for amount, (slack, penalty) in zip(change.T, self.limits, strict=True):
            if amount.max() > slack:
                merit += np.maximum(amount - slack, 0) * penalty
        return merit

    def _merit_of_two(self, change: Array, cost: Array) -> Floats:
        """Return the same, (n, n), for each pair of changes together."""
        merit = np.add.outer(cost, cost.astype(np.float64))
        for amount, (slack, penalty) in zip(change.T, self.limits, strict=True):
            if 2 * amount.max() > slack:
                merit += np.maximum(np.add.outer(amount, amount - slack), 0) * penalty
        return merit

    def _helps(self, merit: float) -> bool:
        return merit < self.merit_now - max(0.5, 1e-9 * abs(self.merit_now))
