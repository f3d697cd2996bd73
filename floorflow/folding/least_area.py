"""The folding of least area: each module's rectangle is as large as its scarcest resource makes it.

Where the sums of a slot fit and its rectangles do not, what is short is area: a module short of block RAM takes columns
whose LUTs nobody uses. A module that needs n of a resource takes at least n / (fill x density) cells, density being
what a cell of its slot holds of it, on average; of its resources the largest counts.

    variables    x[p, k]      part p takes the k-th of its foldings (`part_foldings`; whole)
                 y[c, a, b]   stream c between two parts joins ports of class a and b (follows from x)
                 cells[p]     area of part p
    constraints  one folding a part; y as x says at both ends; what all, and what the parts of a slot, use within limits
                 cells[p] >= area of its folding
                 cells[p] >= for each resource, what its folding and the streams that it feeds take
    objective    sum of cells[p], and a little of what other resources than the scarcest would take

A stream's converter and FIFO are charged to the part of its producer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.coupling_prices import stream_limit
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.exact import FoldingAnswer
from floorflow.folding.part_foldings import AreaPart, Charges, ends_of, part_foldings
from floorflow.folding.part_tables import PartTable, Thinning
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.selection import Evaluator
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.solver import LinearModel, run_highs

Array = NDArray[np.int64]

NODES = 200
"""Nodes of branch and bound."""
GAP = 0.005
"""Relative gap at which an answer is good enough: slots are packed worse than that."""
QUICK, THOROUGH = Thinning(GAP / 2, 100), Thinning(0.0, 1000)
"""Which foldings of a part are looked at; more of them if no choice among the first keeps the budgets."""
OTHERS = 1e-3
"""What a cell that another resource than the scarcest would take counts: it decides between equal areas."""


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
    charges = Charges(problem, parts)
    rows = _rows(charges, interval_cycles)
    if rows is None:
        return FoldingInfeasible(None)
    answer = _solve(charges, rows, budgets or {}, QUICK)
    # What was left out as good as beaten may be what keeps a tight budget.
    return answer if isinstance(answer, FoldingSolution) else _solve(charges, rows, budgets or {}, THOROUGH)


def _solve(
    charges: Charges, rows: Sequence[Array], budgets: Mapping[str, Resources], thinning: Thinning
) -> FoldingAnswer:
    tables = list(part_foldings(charges, rows, thinning))
    if not all(len(table.rows) for _, table in tables):
        return FoldingInfeasible(None)
    model = _AreaModel(charges, tables, budgets)
    answer = run_highs(model.linear, NODES, GAP / 2)
    if answer.values is not None:
        return Evaluator(charges.problem).solution(model.selection(answer.values), "least area", "feasible")
    return FoldingInfeasible(None) if answer.infeasible and model.exact else FoldingUnknown()


def area_of(problem: FoldingProblem, folding: FoldingSolution, parts: Sequence[AreaPart]) -> tuple[float, ...]:
    """Return the cells that each part takes, at least, with a folding of the problem."""
    charges, use = Charges(problem, parts), np.zeros((len(parts), 5), dtype=np.int64)
    chosen = (tuple(folding.options[engine] for engine in group.engines) for group in problem.groups)
    selection = [group.rows.index(row) for group, row in zip(problem.groups, chosen, strict=True)]
    for group, row in enumerate(selection):
        use += charges.own_use(group, np.array([row]), range(len(parts)))[0]
    for c in problem.couplings:
        use[charges.payer(c)] += c.use[c.source_class[selection[c.source]], c.target_class[selection[c.target]]]
    return tuple(
        PartTable(charges.cells_per_unit, (), np.zeros((1, 0), dtype=np.int64), use[None]).cells[0].max(axis=1).tolist()
    )


def _rows(charges: Charges, interval_cycles: int) -> list[Array] | None:
    """Return the rows of each group that may be best, or None where one has none.

    What another row beats in the sum of its engines may still be better where these are in several parts.
    """
    problem = charges.problem
    reduced = reduce_by_dominance(problem, interval_cycles)
    if reduced is None:
        return None
    joint = all(len(charges.parts_of([group])) == 1 for group in range(len(problem.groups)))
    return list(reduced.rows) if joint else problem.rows_within(interval_cycles)


@dataclass(frozen=True, eq=False)
class _Block:
    """Parts whose foldings are taken together, their table, and the columns of the model for its rows."""

    parts: tuple[int, ...]
    table: PartTable
    columns: tuple[int, ...]


Use = list[tuple[int, Array]]
"""Columns of the model and what each uses, (5,)."""


class _AreaModel:
    """The linear model of tables of foldings."""

    def __init__(
        self,
        charges: Charges,
        tables: Sequence[tuple[tuple[int, ...], PartTable]],
        budgets: Mapping[str, Resources],
    ) -> None:
        self.linear, self.charges = LinearModel(), charges
        self.use: list[Use] = [[] for _ in charges.parts]
        self.fed: list[Use] = [[] for _ in charges.parts]
        self.blocks = [self._block(parts, table) for parts, table in tables]
        home = {group: block for block in self.blocks for group in block.table.groups}
        for c in charges.problem.couplings:
            if home[c.source] is not home[c.target]:
                self._stream(c, home[c.source], home[c.target])
        for block in self.blocks:
            for position, part in enumerate(block.parts):
                self._area(block, position, part)
        self._limit(range(len(charges.parts)), charges.problem.budget)
        for slot, budget in budgets.items():
            self._limit([number for number, part in enumerate(charges.parts) if part.slot == slot], budget)

    @property
    def exact(self) -> bool:
        """Whether every folding that may be best is in the tables."""
        return all(block.table.exact for block in self.blocks)

    def selection(self, values: NDArray[np.float64]) -> list[int]:
        """Return the row of each group in a point of the model."""
        chosen: dict[int, int] = {}
        for block in self.blocks:
            best = int(np.argmax(values[list(block.columns)]))
            chosen |= zip(block.table.groups, block.table.rows[best].tolist(), strict=True)
        return [chosen[group] for group in sorted(chosen)]

    def _block(self, parts: tuple[int, ...], table: PartTable) -> _Block:
        """Add the foldings of parts, and what they use."""
        costs = OTHERS * table.cells.sum(axis=(1, 2))
        columns = tuple(self.linear.column(cost, upper=1.0, whole=True) for cost in costs.tolist())
        self.linear.row([(column, 1.0) for column in columns], 1.0, 1.0)
        for position, part in enumerate(parts):
            self.use[part] += zip(columns, table.use[:, position], strict=True)
        return _Block(parts, table, columns)

    def _stream(self, c: Coupling, source: _Block, target: _Block) -> None:
        """Add what a stream between parts uses: a variable for each pair of classes of its ends that can be joined."""
        blocks = (source, target)
        ends = [block.table.classes(*end) for block, end in zip(blocks, ends_of(c), strict=True)]
        pairs = [(a, b) for a in np.unique(ends[0]).tolist() for b in np.unique(ends[1]).tolist()]
        buildable = [bool((c.use[pair] <= stream_limit(self.charges.problem)).all()) for pair in pairs]
        if all(buildable) and not any(c.use[pair].any() for pair in pairs):
            return
        able = [pair for pair, can in zip(pairs, buildable, strict=True) if can]
        joined = {pair: self.linear.column(upper=1.0) for pair in able}
        self.fed[self.charges.payer(c)] += [(y, c.use[pair]) for pair, y in joined.items()]
        for side, (block, classes) in enumerate(zip(blocks, ends, strict=True)):
            for each in np.unique(classes).tolist():
                chosen = [(y, 1.0) for pair, y in joined.items() if pair[side] == each]
                own = [(block.columns[row], -1.0) for row in np.flatnonzero(classes == each)]
                self.linear.row([*chosen, *own], 0.0, 0.0)

    def _area(self, block: _Block, position: int, part: int) -> None:
        """Add the cells of a part: of its folding, and with the streams that it feeds."""
        cells, area = block.table.cells[:, position], self.linear.column(1.0)
        alone = zip(block.columns, cells.max(axis=1).tolist(), strict=True)
        self.linear.row([(area, -1.0), *alone], upper=0.0)
        for resource, per_unit in enumerate(self.charges.parts[part].cells_per_unit):
            fed = [(y, float(price[resource])) for y, price in self.fed[part] if price[resource]]
            if not np.isfinite(per_unit):
                self.linear.row(fed, upper=0.0)
            elif fed:
                own = zip(block.columns, cells[:, resource].tolist(), strict=True)
                self.linear.row([(area, -1.0), *own, *((y, per_unit * units) for y, units in fed)], upper=0.0)

    def _limit(self, parts: Iterable[int], budget: Resources) -> None:
        """Bound what parts use together."""
        use = [term for part in parts for term in (*self.use[part], *self.fed[part])]
        for resource, most in enumerate(budget.as_tuple()):
            self.linear.row([(column, float(amounts[resource])) for column, amounts in use], upper=float(most))
