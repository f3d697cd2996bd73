"""Every folding below a cost, as labels carried from engine to engine: the exact end of the search.

A label is a partial choice: what it uses, and how far it is above the cheapest partial choice at the prices of the
relaxation. Partial choices that end in the same rows compete: one that costs no less and uses no less of what is
watched is dropped, and so is one whose best completion costs more than the limit. Blocks that repeat give equal labels,
so that only counts matter. If a folding within the budget is left at the end, it is the optimum; if none, all cost
more than the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.dominance import Candidates
from floorflow.folding.lagrangian import FINENESS
from floorflow.folding.variable_elimination import FORBIDDEN, Elimination, Step, fit_of, sweep

Array = NDArray[np.int64]

MOST_LABELS = 10_000
"""Labels of one step beyond which the search is given up."""
MOST_JOINED = 10 * MOST_LABELS
"""The same before those that others beat are dropped."""
RIVALS = 64
"""Labels of a state, cheapest first, that are tried against all others where several resources are watched."""


@dataclass(frozen=True)
class _Labels:
    """The labels of one step, in order of ``state``, the flat index of its neighbours' rows, and then of ``extra``."""

    state: Array
    use: Array
    """(n, 5)"""
    extra: Array
    """Price above the cheapest label of the same state."""
    row: Array
    """Row of the step's own node."""
    origin: tuple[Array, ...]
    """For each child step the label that this one continues."""

    def fitting(self, state: Array, room: Array) -> tuple[Array, Array]:
        """Return where the labels of each wanted state begin, and how many of them have at most so much extra."""
        extras = np.sort(self.extra)
        # States and ranks make one ascending line; ranks instead of the extras themselves, which would overflow.
        line = self.state * (extras.size + 1) + np.searchsorted(extras, self.extra)
        start = state * (extras.size + 1)
        first = np.searchsorted(line, start)
        return first, np.searchsorted(line, start + np.searchsorted(extras, room, side="right")) - first


@dataclass(frozen=True)
class _Partial:
    """Labels while a step takes up its children; ``cell`` is the flat index into the step's table."""

    cell: Array
    use: Array
    extra: Array
    origin: tuple[Array, ...]

    def joined(self, source: Array, labels: _Labels, taken: Array) -> _Partial:
        """Continue labels ``source`` of these by the labels ``taken`` of a child."""
        origin = (*(o[source] for o in self.origin), taken)
        extra = self.extra[source] + labels.extra[taken]
        return _Partial(self.cell[source], self.use[source] + labels.use[taken], extra, origin)


@dataclass(frozen=True)
class Enumerated:
    """The cheapest folding met within the budget (None: none), the best of all if it is within the limit.

    ``complete``: proof that no folding within budget and limit is cheaper.
    """

    selection: tuple[int, ...] | None
    complete: bool


def cheapest_below(choices: Candidates, weights: Array, budget: Array, prices: Array, most: int) -> Enumerated:
    """Enumerate the choices within the budget that cost at most ``most``.

    Mostly one or two resources bind. Those without a price are first taken to be plentiful, which leaves few labels; if
    the cheapest folding then exceeds one of them, all that may run short are watched.
    """
    short = _may_run_short(choices, budget)
    search = _Enumeration(choices, weights, budget, prices, most)
    found = Enumerated(None, complete=False)
    for watched in dict.fromkeys((tuple(r for r in short if prices[r]), short)):
        if not search.run(watched):
            break
        found = search.best()
        if found.complete:
            break
    return found


class _Enumeration:
    """One enumeration: the elimination, its priced tables and their slack below the limit; and the labels so far."""

    def __init__(self, choices: Candidates, weights: Array, budget: Array, prices: Array, most: int) -> None:
        self.choices, self.weights, self.budget = choices, weights, budget
        tied = {group for pair in choices.pairs for group in pair}
        self.open = [group for group, rows in enumerate(choices.rows) if rows.size > 1 or group in tied]
        """Groups that have a choice, or neighbours; the others are counted at the start."""
        place = {group: at for at, group in enumerate(self.open)}
        self.pairs = {(place[a], place[b]): use for (a, b), use in choices.pairs.items()}
        self.use = [choices.use[group] for group in self.open]
        fixed = (use[0] for group, use in enumerate(choices.use) if group not in place)
        self._fixed = sum(fixed, np.zeros(5, dtype=np.int64))
        self.plan: Elimination = sweep([len(use) for use in self.use], self.pairs)
        both = FINENESS * weights + prices
        nodes = [_priced(use, both)[None] for use in self.use]
        edges = {pair: _priced(use, both)[None] for pair, use in self.pairs.items()}
        limit = FINENESS * most + int(prices @ budget) - int(self._fixed @ both)
        bounds = () if self.plan.cut else self.plan.bounds(nodes, edges)
        self.tables = [(table[0], (limit - table[0] - outside[0]).reshape(-1)) for table, outside in bounds]

    def run(self, watched: Sequence[int]) -> bool:
        """Carry the labels from the first step to the last; return whether none had to be left out."""
        self.watched, self.done = list(watched), list[_Labels]()
        if self.plan.cut:
            return False
        for position, (table, slack) in enumerate(self.tables):
            labels = self._labels(position, table, slack)
            if labels is None:
                return False
            self.done.append(labels)
        return True

    def best(self) -> Enumerated:
        """Return the cheapest folding within the budget; a cheaper one that only exceeds the unwatched leaves doubt."""
        use = self._fixed + (self.done[-1].use if self.done else np.zeros((1, 5), dtype=np.int64))
        cost = use @ self.weights
        excess = use > self.budget
        possible, within = ~excess[:, self.watched].any(axis=1), ~excess.any(axis=1)
        if not within.any():
            return Enumerated(None, complete=not possible.any())
        label = int(np.where(within, cost, cost.max() + 1).argmin())
        return Enumerated(self._picks(label), complete=bool(cost[label] == cost[possible].min()))

    def _labels(self, position: int, table: Array, slack: Array) -> _Labels | None:
        """Join the node's rows with the labels of the steps below it, and keep what can still win.

        ``table`` is over the step's scope; ``slack`` is how far its entries, in line, are below the limit.
        """
        step, shape = self.plan.steps[position], table.shape
        cell = np.flatnonzero(slack >= 0)
        partial = _Partial(cell, self._own_use(step, shape)[cell], np.zeros(cell.size, dtype=np.int64), ())
        for child in step.children:
            labels = self.done[child]
            below = self._child_states(step, child, shape)[partial.cell]
            first, times = labels.fitting(below, slack[partial.cell] - partial.extra)
            if times.sum() > MOST_JOINED:
                return None
            source = np.repeat(np.arange(partial.cell.size), times)
            taken = np.arange(source.size) - np.repeat(np.cumsum(times) - times, times) + first[source]
            partial = partial.joined(source, labels, taken)
        return self._kept(partial, table)

    def _kept(self, partial: _Partial, table: Array) -> _Labels | None:
        flat = table.reshape(table.shape[0], -1)
        row, state = np.divmod(partial.cell, flat.shape[1])
        # A label's distance from the cheapest of its state, now over all rows of the node.
        extra = partial.extra + (flat - flat.min(axis=0)).reshape(-1)[partial.cell]
        kept = _undominated(state, partial.use @ self.weights, partial.use[:, self.watched])
        if kept.size > MOST_LABELS:
            return None
        kept = kept[np.lexsort((extra[kept], state[kept]))]
        return _Labels(state[kept], partial.use[kept], extra[kept], row[kept], tuple(o[kept] for o in partial.origin))

    def _own_use(self, step: Step, shape: tuple[int, ...]) -> Array:
        """Return what the node and its edges to later nodes use, (cells, 5)."""
        use = np.zeros((*shape, 5), dtype=np.int64)
        use += self.use[step.node].reshape(-1, *[1] * (len(shape) - 1), 5)
        for pair in step.edges:
            fit = fit_of(pair, step.scope, self.plan.sizes)
            use += np.moveaxis(fit(np.moveaxis(self.pairs[pair], 2, 0)), 0, -1)
        return use.reshape(-1, 5)

    def _child_states(self, step: Step, child: int, shape: tuple[int, ...]) -> Array:
        """Return the flat state of a child step for each cell of this step's table."""
        grid = np.indices(shape).reshape(len(shape), -1)
        state = np.zeros(grid.shape[1], dtype=np.int64)
        for node in self.plan.steps[child].scope[1:]:
            state = state * self.plan.sizes[node] + grid[step.scope.index(node)]
        return state

    def _picks(self, label: int) -> tuple[int, ...]:
        selection = [0] * len(self.choices.rows)
        waiting = [(len(self.done) - 1, label)] if self.done else []
        while waiting:
            position, label = waiting.pop()
            step, labels = self.plan.steps[position], self.done[position]
            selection[self.open[step.node]] = int(labels.row[label])
            waiting += [(child, int(o[label])) for child, o in zip(step.children, labels.origin, strict=True)]
        return tuple(selection)


def _priced(use: Array, prices: Array) -> Array:
    """Return the price of amounts, (..., 5); of what cannot be built FORBIDDEN, for it would overflow."""
    return np.where((use >= UNBUILDABLE).any(axis=-1), FORBIDDEN, use @ prices)


def _may_run_short(choices: Candidates, budget: Array) -> tuple[int, ...]:
    """Return the resources that some choice could use more of than there is."""
    most = sum((use.max(axis=0) for use in choices.use), np.zeros(5, dtype=np.int64))
    most = most + sum((use.max(axis=(0, 1)) for use in choices.pairs.values()), np.zeros(5, dtype=np.int64))
    return tuple(resource for resource in range(5) if most[resource] > budget[resource])


def _undominated(state: Array, cost: Array, use: Array) -> Array:
    """Return positions, by state, of the labels that none of the same state beats in cost and in every column."""
    order = np.lexsort((*use.T, cost, state))
    state, use = state[order], use[order]
    if not use.shape[1]:
        first = np.ones(state.size, dtype=bool)
        first[1:] = state[1:] != state[:-1]
        return order[first]
    if use.shape[1] == 1:
        return order[_falls(state, use[:, 0])]
    return order[_pairwise(state, cost[order], use)]


def _falls(state: Array, amount: Array) -> NDArray[np.bool_]:
    """Mark where ``amount`` is lower than everywhere before in its state."""
    # Later states get an offset that puts all their amounts below those of earlier ones.
    span = int(amount.max(initial=0)) + 1
    lowered = amount - state * span
    before = np.minimum.accumulate(lowered)
    return np.concatenate([np.ones(min(1, state.size), dtype=bool), lowered[1:] < before[:-1]])


def _pairwise(state: Array, cost: Array, use: Array) -> Array:
    """Return positions that survive; costs ascend within a state, so only earlier labels can win."""
    columns = np.column_stack([state, cost, use])
    left = np.flatnonzero(np.concatenate([[True], (columns[1:] != columns[:-1]).any(axis=1)])[: state.size])
    begins = np.flatnonzero(np.diff(state[left], prepend=-1))
    kept = [_rivals_beaten(block, use[block]) for block in np.split(left, begins[1:])]
    return np.concatenate(kept)


def _rivals_beaten(block: Array, use: Array) -> Array:
    alive = np.ones(block.size, dtype=bool)
    columns = [np.ascontiguousarray(column) for column in use.T]
    for i in range(min(block.size - 1, RIVALS)):
        if alive[i]:
            beaten = columns[0][i + 1 :] >= columns[0][i]
            for column in columns[1:]:
                beaten &= column[i + 1 :] >= column[i]
            alive[i + 1 :] &= ~beaten
    return block[alive]
