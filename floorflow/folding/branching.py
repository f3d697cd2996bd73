"""Branch and bound: what the relaxation leaves open where several resources bind at once.

A node of the search is a part of all foldings: rows ruled out, and cardinality limits such as "at most 5 of these 12
equal engines use a row with few BRAMs". Networks repeat their blocks, and such a limit settles in two nodes what would
take many that tell equal engines apart. It is one more limit with a price. Many nodes are bounded side by side, for
`pricing` takes many prices at once; after that each loses the rows that cannot be in a better folding than the best so
far, and is split in two by how many of some equal groups take some of their rows.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.lagrangian import FINENESS, MOST_SUM, Cut, CuttingPlanes, Knapsack, LagrangianBound
from floorflow.folding.local_search import LocalSearch
from floorflow.folding.pricing import Mask
from floorflow.folding.variable_elimination import FORBIDDEN

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


MOST_NODES, MOST_WORK = 800, 80_000
"""Nodes after which the search ends with what it has; fewer in large networks, so many times their groups."""
SIDE_BY_SIDE = 24
"""Nodes bounded at once, fewer where their tables would be large."""
MOST_ENTRIES = 1_000_000
"""Entries of the largest tables of all nodes at once."""
FEW_OPEN = 25
"""Groups with a choice left up to which a node is enumerated."""
ROUNDS = 8
"""Prices tried for each node before it is split."""
CLOSE = 1e-5
"""Relative distance of a node's bound to the best possible at which it is split."""
TOLERANCE = 1e-5
"""Relative distance to the best folding from which a node is not looked into."""
MOST_CUTS = 14
"""Cuts that a node inherits."""
MOST_RETURNS = 2
"""Times that a node whose prices rise without end is bounded further; then it is split all the same."""
FROM_ROOT, FROM_NODES = 6, 1
"""Selections that exchanges improve at the start, and of every batch of nodes."""


@dataclass(frozen=True)
class BranchAndBoundResult:
    """The best folding found, None if none costs less than was known; and the bound on the cost of all.

    ``open_parts`` are the parts that may hold a better one: the rows of each group, and prices that bound the part.
    """

    selection: Array | None
    bound: int
    open_parts: tuple[tuple[list[Array], Array], ...] = ()


Enumerate = Callable[[Sequence[Array], Array, int], tuple[Sequence[int] | None, bool]]
"""Looks at all foldings within the budget that take some rows of each group, at prices, and cost at most so much.

Returns the cheapest one's rows (None: none was found), and whether it is the cheapest for sure."""


def branch_and_bound(
    knapsack: Knapsack,
    lagrangian: LagrangianBound,
    below: int,
    enumerate_: Enumerate,
    *,
    first: bool = False,
) -> BranchAndBoundResult:
    """Search from the relaxation on for foldings that cost less than ``below``; ``first`` ends with any.

    ``enumerate_`` ends nodes in which few groups have a choice left.
    """
    return _Search(knapsack, below, enumerate_).run(lagrangian, first=first)


@dataclass
class _Node:
    """A part of all foldings. ``prices`` gave its ``bound``: those of the budget, then of its cardinality limits."""

    row_mask: Mask
    cardinalities: tuple[CardinalityLimit, ...]
    prices: Array
    bound: int
    cuts: list[Cut]
    trial: Array
    """Prices to be tried next."""
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    """Of the cuts, as `lagrangian.Ceiling` has them."""
    planes: CuttingPlanes | None = None
    """The cuts as a programme, while the node is being bounded."""
    returns: int = 0
    """How often it was put back because its prices had not come to an end."""


class _Search:
    """One search: the best folding so far and the nodes that are open."""

    def __init__(self, knapsack: Knapsack, below: int, enumerate_: Enumerate) -> None:
        self.knapsack, self.pricing, self.enumerate = knapsack, knapsack.pricing, enumerate_
        self.best: Array | None = None
        self.cost = below
        self.equal_groups = EqualGroups(knapsack)
        self.local_search = LocalSearch(knapsack)
        self.exchanged: set[bytes] = set()
        self.side_by_side = max(1, min(SIDE_BY_SIDE, MOST_ENTRIES // self.pricing.elimination.largest_table))
        self.nodes = self.made = 0
        self.most_nodes = min(MOST_NODES, max(1, MOST_WORK // len(knapsack.pricing.classes.rows)))
        self.open: list[tuple[int, int, _Node]] = []
        self.aside: list[_Node] = []

    @property
    def most(self) -> int:
        """What a better folding costs at most."""
        return min(self.knapsack.dearest, self.cost - 1)

    @property
    def cutoff(self) -> int:
        """A node with a bound above it holds nothing much better than the best folding, and is put aside."""
        return self.most if self.cost > self.knapsack.dearest else self.most - int(self.cost * TOLERANCE)

    def run(self, lagrangian: LagrangianBound, *, first: bool) -> BranchAndBoundResult:
        cuts = list(lagrangian.cuts)
        if lagrangian.selection is not None:
            self._take(lagrangian.selection)
        for cut in cuts[::-1][:FROM_ROOT]:
            self._exchange_near(cut.selection, lagrangian.prices)
        everything = np.ones(self.pricing.size, dtype=np.bool_)
        self._push(_Node(everything, (), lagrangian.prices, lagrangian.bound, cuts, lagrangian.prices))
        while self.open and self.nodes < self.most_nodes and not (first and self.best is not None):
            batch = self._pop()
            self._bound(batch)
            self._improve(batch)
            self.aside += [node for node in batch if node.bound > self.cutoff]
            self._split([node for node in batch if node.bound <= self.cutoff])
        left = [node for node in (*self.aside, *(node for _, _, node in self.open)) if node.bound <= self.most]
        low = min([node.bound for node in left], default=self.most + 1)
        return BranchAndBoundResult(self.best, low, tuple(self._part(node) for node in left))

    def _push(self, node: _Node) -> None:
        self.made += 1
        heapq.heappush(self.open, (node.bound, self.made, node))

    def _pop(self) -> list[_Node]:
        batch: list[_Node] = []
        while self.open and len(batch) < self.side_by_side:
            bound, _, node = heapq.heappop(self.open)
            (batch if bound <= self.cutoff else self.aside).append(node)
        self.nodes += len(batch)
        return batch

    def _bound(self, batch: list[_Node]) -> None:
        """Raise the bounds of nodes by better prices, all in step."""
        active = batch
        for _ in range(ROUNDS):
            if not active:
                break
            rows, prices = self._priced(active, [node.trial for node in active])
            totals, selection = self.pricing.least(rows, prices)
            active = [
                n
                for n, total, selected in zip(active, totals.tolist(), selection, strict=True)
                if self._learn(n, total, selected)
            ]
        for node in batch:
            node.planes = None

    def _learn(self, node: _Node, total: int, selection: Array) -> bool:
        """Take note of the selection that is least at the node's trial prices; return whether to try others."""
        if total >= FORBIDDEN:
            node.bound = self.knapsack.dearest + 1 + self.cost
            return False
        bound = -((self._refund(node, node.trial) - total) // FINENESS)
        if bound > node.bound:
            node.bound, node.prices = bound, node.trial
        if node.bound > self.cutoff:
            return False
        cut = self._cut(node, selection)
        if node.planes is None:
            node.planes = CuttingPlanes(node.prices.size, self.knapsack.most_bound, node.cuts)
        node.planes.add(cut)
        node.cuts.append(cut)
        top = node.planes.ceiling()
        node.weights = top.weights
        node.trial = self._integral((self._parts(node) + top.prices) / 2)
        return top.bound - node.bound > CLOSE * max(1.0, abs(top.bound))

    def _improve(self, batch: list[_Node]) -> None:
        """Look for better foldings near the last selections of the most promising nodes."""
        promising = sorted((n for n in batch if n.bound <= self.cutoff), key=lambda node: node.bound)
        for node in promising[:FROM_NODES]:
            self._exchange_near(node.cuts[-1].selection, node.prices[:5])

    def _exchange_near(self, selection: Array, prices: Array) -> None:
        if selection.tobytes() in self.exchanged:
            return
        self.exchanged.add(selection.tobytes())
        improved = self.local_search.run(selection, prices)
        if improved is not None:
            self._take(improved)

    def _split(self, nodes: list[_Node]) -> None:
        """Rule out rows by the nodes' prices, and replace each node by two."""
        if not nodes:
            return
        rows, prices = self._priced(nodes, [node.prices for node in nodes])
        min_marginals = self.pricing.min_marginals(rows, prices)
        for node, min_marginal in zip(nodes, min_marginals, strict=True):
            node.row_mask = node.row_mask & (min_marginal <= FINENESS * self.most + self._refund(node, node.prices))
            if self._ended(node):
                continue
            fractional = self._fractional(node)
            if not fractional.any() and node.returns < MOST_RETURNS:
                node.returns += 1
                self._push(node)
                continue
            for limit in branch(self.equal_groups, node.row_mask, fractional, node.prices[:5]):
                self._push(self._child(node, limit))

    def _ended(self, node: _Node) -> bool:
        """Whether nothing of a node is left to be looked at."""
        rows_left = np.add.reduceat(node.row_mask, self.pricing.begins[:-1], dtype=np.int64)
        if rows_left.min() == 0:
            return True
        if rows_left.max() == 1:
            self._take(np.flatnonzero(node.row_mask))
            return True
        if np.count_nonzero(rows_left > 1) > FEW_OPEN:
            return False
        rows, complete = self.enumerate(*self._part(node), self.most)
        if rows is not None:
            self._take(self.pricing.selection_of(rows))
        return complete

    def _part(self, node: _Node) -> tuple[list[Array], Array]:
        return self.pricing.masked_rows(node.row_mask), node.prices[:5]

    def _take(self, selection: Array) -> Cut:
        """Take note of a selection, the best if it keeps the budget at less cost."""
        cut = self.knapsack.cut(selection)
        if cut.keeps_limits and cut.cost < self.cost:
            self.best, self.cost = selection, int(cut.cost)
        return cut

    def _fractional(self, node: _Node) -> Floats:
        """Return the share of each row in the relaxation's fractional answer; 0 while prices rise without end."""
        fractional = np.zeros(self.pricing.size)
        if node.weights.sum() < 0.5:
            return fractional
        for weight, cut in zip(node.weights, node.cuts, strict=True):
            fractional[cut.selection] += weight
        return fractional

    def _child(self, node: _Node, limit: CardinalityLimit) -> _Node:
        """Return the part of a node that meets a cardinality limit."""
        only = limit.forbidden()
        if only is not None:
            row_mask = node.row_mask.copy()
            row_mask[only] = False
            cuts = [cut for cut in node.cuts if row_mask[cut.selection].all()]
            return _Node(row_mask, node.cardinalities, node.prices, node.bound, cuts[-MOST_CUTS:], node.prices)
        cuts = [replace(cut, excess=np.append(cut.excess, limit.excess(cut.selection))) for cut in node.cuts]
        prices = np.append(node.prices, 0)
        return _Node(node.row_mask, (*node.cardinalities, limit), prices, node.bound, cuts[-MOST_CUTS:], prices)

    def _priced(self, nodes: list[_Node], trials: list[Array]) -> tuple[Array, Array]:
        """Return row prices and prices of nodes, one case each."""
        prices = FINENESS * self.knapsack.weights + np.array([trial[:5] for trial in trials])
        rows = self.pricing.row_prices(prices)
        for case, (node, trial) in enumerate(zip(nodes, trials, strict=True)):
            for limit, price in zip(node.cardinalities, trial[5:].tolist(), strict=True):
                rows[case, limit.positions] += limit.sign * price
            rows[case, ~node.row_mask] = FORBIDDEN
        return rows, prices

    def _refund(self, node: _Node, prices: Array) -> int:
        """Return what the limits themselves are worth at the prices."""
        priced = zip(node.cardinalities, prices[5:].tolist(), strict=True)
        worth = sum(int(price) * cardinality.sign * cardinality.limit for cardinality, price in priced)
        return int(prices[:5] @ self.knapsack.budget) + worth

    def _cut(self, node: _Node, selection: Array) -> Cut:
        """Return what a selection says of a node's bound."""
        cut = self._take(selection)
        return replace(cut, excess=np.append(cut.excess, [limit.excess(selection) for limit in node.cardinalities]))

    def _parts(self, node: _Node) -> Floats:
        """Return the node's prices as `ceiling` has them."""
        return np.append(self.knapsack.budget_prices(node.prices[:5]), node.prices[5:] / FINENESS)

    def _integral(self, prices: Floats) -> Array:
        """Turn prices as `ceiling` has them into integers."""
        of_cardinalities = np.clip(np.rint(prices[5:] * FINENESS), 0, MOST_SUM // self.pricing.size).astype(np.int64)
        return np.append(self.knapsack.unit_prices(prices[:5]), of_cardinalities)
