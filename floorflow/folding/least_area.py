"""The folding of least area: each module's rectangle is as large as its scarcest resource makes it.

Where the sums of a slot fit and its rectangles do not, what is short is area: a module short of block RAM takes columns
whose LUTs nobody uses. A module that needs n of a resource takes at least n / (fill x density) cells, density being
what a cell of its slot holds of it, on average; of its resources the largest counts.

    variables    x[g, o]      group g takes row o (whole)
                 y[c, a, b]   stream c joins ports of class a and b (follows from x, so it need not be whole)
                 cells[p]     area of module p
    constraints  one row a group; y as x says at both ends; what all, and what the modules of a slot, use within limits
                 cells[p] >= cells_per_unit[p, r] x what p uses of r, for each resource r
    objective    sum of cells[p], and a little of what the other resources would take

A stream's converter and FIFO are charged to the module of its producer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.coupling_prices import stream_limit
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.exact import FoldingAnswer
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.selection import Evaluator
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.solver import LinearModel, run_highs

Array = NDArray[np.int64]

NODES = 200
"""Nodes of branch and bound."""
GAP = 0.005
"""Relative gap at which an answer is good enough: slots are packed worse than that."""
OTHERS = 1e-3
"""What a cell that another resource than the scarcest would take counts: it decides between equal areas."""


@dataclass(frozen=True)
class AreaPart:
    """Engines that get one pblock in a slot; ``cells_per_unit`` of each resource, (5,), see `cells_per_unit`."""

    engines: tuple[str, ...]
    cells_per_unit: tuple[float, ...]
    slot: str = ""


def cells_per_unit(supply: Resources, free_cells: int, fill: Mapping[str, float]) -> tuple[float, ...]:
    """Return how many cells of a slot hold one unit of each resource to be used; infinite where the slot has none.

    ``supply`` is what the ``free_cells`` hold together; ``fill`` the share of it that a pblock may use (1 if left out).
    """
    return tuple(
        free_cells / (have * fill.get(name, 1.0)) if have else np.inf
        for name, have in zip(RESOURCE_NAMES, supply.as_tuple(), strict=True)
    )


def least_area(
    problem: FoldingProblem,
    interval_cycles: int,
    parts: Sequence[AreaPart],
    budgets: Mapping[str, Resources] | None = None,
) -> FoldingAnswer:
    """Return the folding within the interval and the budgets whose parts take least area together, within `GAP`.

    Every engine of the problem is in one of the ``parts``. Beside the problem's budget for all, ``budgets`` may bound
    what the parts of a slot use together. ``stats`` are of the scarcity, about which nothing is proven.
    """
    rows = _rows(problem, interval_cycles, parts)
    if rows is None:
        return FoldingInfeasible(None)
    model = _AreaModel(problem, rows, parts, budgets or {})
    answer = run_highs(model.linear, NODES, GAP)
    if answer.values is None:
        return FoldingInfeasible(None) if answer.infeasible else FoldingUnknown()
    selection = [int(own[np.argmax(answer.values[columns])]) for own, columns in zip(rows, model.columns, strict=True)]
    return Evaluator(problem).solution(selection, "least area", "feasible")


def area_of(problem: FoldingProblem, folding: FoldingSolution, parts: Sequence[AreaPart]) -> tuple[float, ...]:
    """Return the cells that each part takes, at least, with a folding of the problem."""
    selection = [
        group.rows.index(tuple(folding.options[engine] for engine in group.engines)) for group in problem.groups
    ]
    rows = [np.array([row]) for row in selection]
    use = np.zeros((len(parts), 5))
    for owner, amounts in _charges(problem, rows, parts):
        use[owner] += amounts.reshape(5)
    with np.errstate(invalid="ignore"):
        cells = np.nan_to_num(use * np.array([part.cells_per_unit for part in parts]), posinf=np.inf)
    return tuple(float(each) for each in cells.max(axis=1))


def _charges(problem: FoldingProblem, rows: Sequence[Array], parts: Sequence[AreaPart]) -> Iterator[tuple[int, Array]]:
    """Yield by part what one row of each group, and each stream, costs."""
    owner = _owners(parts)
    for group, (row,) in zip(problem.groups, rows, strict=True):
        for position, engine in enumerate(group.engines):
            yield owner[engine], group.engine_use[row, position]
    for c in problem.couplings:
        ends = c.source_class[rows[c.source]], c.target_class[rows[c.target]]
        yield owner[problem.groups[c.source].engines[-1]], c.use[ends]


def _owners(parts: Sequence[AreaPart]) -> dict[str, int]:
    """Return the number of each engine's part."""
    return {engine: number for number, part in enumerate(parts) for engine in part.engines}


def _rows(problem: FoldingProblem, interval_cycles: int, parts: Sequence[AreaPart]) -> list[Array] | None:
    """Return the rows of each group that may be best, or None where one has none.

    What another row beats in the sum of its engines may still be better where these are in several parts.
    """
    reduced, fast = reduce_by_dominance(problem, interval_cycles), problem.rows_within(interval_cycles)
    if reduced is None:
        return None
    owner = _owners(parts)
    joint = [len({owner[engine] for engine in group.engines}) == 1 for group in problem.groups]
    if all(joint):
        return list(reduced.rows)
    return fast


@dataclass
class _AreaModel:
    """The linear model; ``columns[g]`` are the variables of a group's rows."""

    problem: FoldingProblem
    rows: Sequence[Array]
    parts: Sequence[AreaPart]
    budgets: Mapping[str, Resources]
    linear: LinearModel = field(default_factory=LinearModel)

    def __post_init__(self) -> None:
        """State it all."""
        self.owner = _owners(self.parts)
        self.use: list[list[tuple[int, Array]]] = [[] for _ in self.parts]
        self.columns = [self._group(number) for number in range(len(self.rows))]
        for c in self.problem.couplings:
            self._stream(c)
        for part, use in zip(self.parts, self.use, strict=True):
            self._area(part, use)
        self._limit([term for use in self.use for term in use], self.problem.budget)
        for slot, budget in self.budgets.items():
            inside = (use for part, use in zip(self.parts, self.use, strict=True) if part.slot == slot)
            self._limit([term for use in inside for term in use], budget)

    def _group(self, number: int) -> list[int]:
        """Add the rows of a group, and what their engines use."""
        group, rows = self.problem.groups[number], self.rows[number]
        columns = [self.linear.column(upper=1.0, whole=True) for _ in rows]
        self.linear.row([(column, 1.0) for column in columns], 1.0, 1.0)
        for position, engine in enumerate(group.engines):
            self.use[self.owner[engine]] += zip(columns, group.engine_use[rows, position], strict=True)
        return columns

    def _stream(self, c: Coupling) -> None:
        """Add what a stream uses: a variable for each pair of classes of its ends that can be joined."""
        own = self.use[self.owner[self.problem.groups[c.source].engines[-1]]]
        source, target = c.source_class[self.rows[c.source]], c.target_class[self.rows[c.target]]
        if c.source == c.target:
            own += zip(self.columns[c.source], c.use[source, target], strict=True)
            return
        pairs = [(a, b) for a in np.unique(source) for b in np.unique(target)]
        prices = np.array([c.use[pair] for pair in pairs])
        if not prices.any():
            return
        buildable: list[bool] = np.all(prices <= stream_limit(self.problem), axis=1).tolist()
        joined = {pair: self.linear.column(upper=float(able)) for pair, able in zip(pairs, buildable, strict=True)}
        own += [(y, price) for y, price, able in zip(joined.values(), prices, buildable, strict=True) if able]
        for end, (classes, columns) in enumerate(((source, self.columns[c.source]), (target, self.columns[c.target]))):
            for each in np.unique(classes):
                chosen = [(y, 1.0) for pair, y in joined.items() if pair[end] == each]
                self.linear.row([*chosen, *((columns[row], -1.0) for row in np.flatnonzero(classes == each))], 0.0, 0.0)

    def _area(self, part: AreaPart, use: Sequence[tuple[int, Array]]) -> None:
        """Add the cells of a part: at least what each of its resources takes."""
        area = self.linear.column(1.0)
        for resource, cells in enumerate(part.cells_per_unit):
            terms = [(column, float(amounts[resource])) for column, amounts in use if amounts[resource]]
            if not np.isfinite(cells):
                self.linear.row(terms, upper=0.0)
            elif terms:
                taken = self.linear.column(OTHERS)
                self.linear.row([*((column, cells * amount) for column, amount in terms), (taken, -1.0)], upper=0.0)
                self.linear.row([(taken, 1.0), (area, -1.0)], upper=0.0)

    def _limit(self, use: Sequence[tuple[int, Array]], budget: Resources) -> None:
        for resource, most in enumerate(budget.as_tuple()):
            terms = [(column, float(amounts[resource])) for column, amounts in use if amounts[resource]]
            self.linear.row(terms, upper=float(most))
