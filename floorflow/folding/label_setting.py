"""Label setting: every folding below a cost, as labels carried from engine to engine: the exact end of the search.

A label is a partial selection: what it uses, and how far it is above the cheapest partial selection at the prices of
the relaxation. Partial selections that end in the same rows compete: one that costs no less and uses no less of what is
watched is dropped, and so is one whose best completion costs more than the limit. Blocks that repeat give equal labels,
so that only their numbers matter. If a folding within the budget is left at the end, it is the optimum; if none, all
cost more than the limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.dominance import ReducedProblem
from floorflow.folding.lagrangian import FINENESS
from floorflow.folding.variable_elimination import FORBIDDEN, Elimination, Step, fit_of, plan_sweep
from floorflow.stats import count

Array = NDArray[np.int64]

MOST_LABELS = 10_000
"""Labels of one step beyond which the search is given up."""
MOST_JOINED = 10 * MOST_LABELS
"""The same before those that others beat are dropped."""
LABELLED_S, LABEL_S = 2e-4, 6e-7
"""Work of a step, and of each label that it compares."""
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

    def with_extra_within(self, state: Array, slack: Array) -> tuple[Array, Array]:
        """Return where the labels of each wanted state begin, and how many of them have at most so much extra."""
        extras = np.sort(self.extra)
        # States and ranks make one ascending line; ranks instead of the extras themselves, which would overflow.
        line = self.state * (extras.size + 1) + np.searchsorted(extras, self.extra)
        start = state * (extras.size + 1)
        first = np.searchsorted(line, start)
        return first, np.searchsorted(line, start + np.searchsorted(extras, slack, side="right")) - first


@dataclass(frozen=True)
class _Partial:
    """Labels while a step takes up its children; ``cell`` is the flat index into the step's table."""

    cell: Array
    use: Array
    extra: Array
    origin: tuple[Array, ...]

    def joined(self, source: Array, labels: _Labels, taken: Array) -> "_Partial":
        """Continue labels ``source`` of these by the labels ``taken`` of a child."""
        origin = (*(o[source] for o in self.origin), taken)
        extra = self.extra[source] + labels.extra[taken]
        return _Partial(self.cell[source], self.use[source] + labels.use[taken], extra, origin)


@dataclass(frozen=True)
class LabelSettingResult:
    """The cheapest folding met within the budget (None: none), the best of all if it is within the limit.

    ``complete``: proof that no folding within budget and limit is cheaper.
    """

    selection: tuple[int, ...] | None
    complete: bool


def cheapest_below(
    reduced: ReducedProblem, weights: Array, budget: Array, prices: Array, most: int, *, most_labels: int = MOST_LABELS
) -> LabelSettingResult:
    """Enumerate the selections within the budget that cost at most ``most``; ``most_labels`` in a step end it.

    Mostly one or two resources bind. Those without a price are first taken to be plentiful, which leaves few labels; if
    the cheapest folding then exceeds one of them, all that may run short are watched.
    """
    short = _may_run_short(reduced, budget)
    search = _LabelSetting(reduced, weights, budget, prices, most, most_labels=most_labels)
    cheapest = LabelSettingResult(None, complete=False)
    for watched in dict.fromkeys((tuple(r for r in short if prices[r]), short)):
        if not search.run(watched):
            break
        cheapest = search.best()
        if cheapest.complete:
            break
    return cheapest


class _LabelSetting:
    """One enumeration: the elimination, its priced tables and their slack below the limit; and the labels so far."""

    def __init__(
        self, reduced: ReducedProblem, weights: Array, budget: Array, prices: Array, most: int, *, most_labels: int
    ) -> None:
        self.reduced, self.weights, self.budget, self.most_labels = reduced, weights, budget, most_labels
        tied = {group for pair in reduced.pairs for group in pair}
        self.open = [group for group, rows in enumerate(reduced.rows) if rows.size > 1 or group in tied]
        """Groups that have a choice, or neighbours; the others are counted at the start."""
        position_of = {group: at for at, group in enumerate(self.open)}
        self.pairs = {(position_of[a], position_of[b]): use for (a, b), use in reduced.pairs.items()}
        self.use = [reduced.use[group] for group in self.open]
        fixed = (use[0] for group, use in enumerate(reduced.use) if group not in position_of)
        self._fixed = sum(fixed, np.zeros(5, dtype=np.int64))
        self.elimination: Elimination = plan_sweep([len(use) for use in self.use], self.pairs)
        both = FINENESS * weights + prices
        nodes = [_priced(use, both)[..., None] for use in self.use]
        edges = {pair: _priced(use, both)[..., None] for pair, use in self.pairs.items()}
        limit = FINENESS * most + int(prices @ budget) - int(self._fixed @ both)
        bounds = () if self.elimination.cut else self.elimination.bounds(nodes, edges)
        self.tables = [(table[..., 0], (limit - table - outside).reshape(-1)) for table, outside in bounds]

    def run(self, watched: Sequence[int]) -> bool:
        """Carry the labels from the first step to the last; return whether none had to be left out."""
        self.watched, self.done = list(watched), list[_Labels]()
        if self.elimination.cut:
            return False
        for position, (table, slack) in enumerate(self.tables):
            labels = self._labels(position, table, slack)
            if labels is None:
                return False
            self.done.append(labels)
        return True

    def best(self) -> LabelSettingResult:
        """Return the cheapest folding within the budget; a cheaper one that only exceeds the unwatched leaves doubt."""
        use = self._fixed + (self.done[-1].use if self.done else np.zeros((1, 5), dtype=np.int64))
        cost = use @ self.weights
        excess = use > self.budget
        possible, within = ~excess[:, self.watched].any(axis=1), ~excess.any(axis=1)
        if not within.any():
            return LabelSettingResult(None, complete=not possible.any())
        label = int(np.where(within, cost, cost.max() + 1).argmin())
        return LabelSettingResult(self._selection(label), complete=bool(cost[label] == cost[possible].min()))

    def _labels(self, position: int, table: Array, slack: Array) -> _Labels | None:
        """Join the node's rows with the labels of the steps below it, and keep what can still win.

        ``table`` is over the step's scope; ``slack`` is how far its entries, in line, are below the limit.
        """
        step, shape = self.elimination.steps[position], table.shape
        cell = np.flatnonzero(slack >= 0)
        partial = _Partial(cell, self._own_use(step, shape)[cell], np.zeros(cell.size, dtype=np.int64), ())
        for child in step.children:
            labels = self.done[child]
            below = self._child_states(step, child, shape)[partial.cell]
            first, times = labels.with_extra_within(below, slack[partial.cell] - partial.extra)
            if times.sum() > MOST_JOINED:
                return None
            source = np.repeat(np.arange(partial.cell.size), times)
            taken = np.arange(source.size) - np.repeat(np.cumsum(times) - times, times) + first[source]
            partial = partial.joined(source, labels, taken)
        return self._undominated_labels(partial, table)

    def _undominated_labels(self, partial: _Partial, table: Array) -> _Labels | None:
        flat = table.reshape(table.shape[0], -1)
        row, state = np.divmod(partial.cell, flat.shape[1])
        count(LABELLED_S + LABEL_S * row.size)
        # A label's distance from the cheapest of its state, now over all rows of the node.
        extra = partial.extra + (flat - flat.min(axis=0)).reshape(-1)[partial.cell]
        best = _undominated(state, partial.use @ self.weights, partial.use[:, self.watched])
        if best.size > self.most_labels:
            return None
        best = best[np.lexsort((extra[best], state[best]))]
        return _Labels(state[best], partial.use[best], extra[best], row[best], tuple(o[best] for o in partial.origin))

    def _own_use(self, step: Step, shape: tuple[int, ...]) -> Array:
        """Return what the node and its edges to later nodes use, (cells, 5)."""
        use = np.zeros((*shape, 5), dtype=np.int64)
        use += self.use[step.node].reshape(-1, *[1] * (len(shape) - 1), 5)
        for pair in step.edges:
            use += fit_of(pair, step.scope, self.elimination.sizes)(self.pairs[pair])
        return use.reshape(-1, 5)

    def _child_states(self, step: Step, child: int, shape: tuple[int, ...]) -> Array:
        """Return the flat state of a child step for each cell of this step's table."""
        grid = np.indices(shape).reshape(len(shape), -1)
        state = np.zeros(grid.shape[1], dtype=np.int64)
        for node in self.elimination.steps[child].scope[1:]:
            state = state * self.elimination.sizes[node] + grid[step.scope.index(node)]
        return state

    def _selection(self, label: int) -> tuple[int, ...]:
        selection = [0] * len(self.reduced.rows)
        waiting = [(len(self.done) - 1, label)] if self.done else []
        while waiting:
            position, label = waiting.pop()
            step, labels = self.elimination.steps[position], self.done[position]
            selection[self.open[step.node]] = int(labels.row[label])
            waiting += [(child, int(o[label])) for child, o in zip(step.children, labels.origin, strict=True)]
        return tuple(selection)


def _priced(use: Array, prices: Array) -> Array:
    """Return the price of amounts, (..., 5); of what cannot be built FORBIDDEN, for it would overflow."""
    return np.where((use >= UNBUILDABLE).any(axis=-1), FORBIDDEN, use @ prices)


def _may_run_short(reduced: ReducedProblem, budget: Array) -> tuple[int, ...]:
    """Return the resources that some selection could use more of than there is."""
    most = sum((use.max(axis=0) for use in reduced.use), np.zeros(5, dtype=np.int64))
    most = most + sum((use.max(axis=(0, 1)) for use in reduced.pairs.values()), np.zeros(5, dtype=np.int64))
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
    survivors = [_unbeaten(block, use[block]) for block in np.split(left, begins[1:])]
    return np.concatenate(survivors)


def _unbeaten(block: Array, use: Array) -> Array:
    alive = np.ones(block.size, dtype=bool)
    columns = [np.ascontiguousarray(column) for column in use.T]
    for i in range(min(block.size - 1, RIVALS)):
        if alive[i]:
            beaten = columns[0][i + 1 :] >= columns[0][i]
            for column in columns[1:]:
                beaten &= column[i + 1 :] >= column[i]
            alive[i + 1 :] &= ~beaten
    return block[alive]
