"""The fewest marked engines at an interval: of those whose weights the host writes, say, or that are above a limit.

    variables    x[g, o]       group g takes its o-th row (whole)
                 y[c, a, b]    stream c joins ports of class a and b (whole; follows from x)
                 fullest       the largest share of the budget of any resource
    constraints  one_row[g]:   sum_o x[g, o] = 1
                 joins[c, a]:  sum_b y[c, a, b] = sum_{o of class a} x[g, o]           (and the same for targets)
                 budget[r]:    what rows and streams use <= budget[r],  or <= fullest budget[r]
    objective    sum of marked engines; or, with so many of them at most, the least fullest

HiGHS minimises; of a marked engine nothing else is known, so that the relaxations of the exact folding do not help.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.dominance import ReducedProblem, reduce_by_dominance
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.selection import Evaluator
from floorflow.resources import RESOURCE_NAMES
from floorflow.solver import LinearModel, run_highs

Array = NDArray[np.int64]

NODES = 2000
"""Nodes of branch and bound for the fewest."""
LEEWAY_NODES, LEEWAY_GAP = 100, 0.01
"""The same for the least full folding, and the gap at which it will do."""
ROUNDING = 1e-6


@dataclass(frozen=True)
class Fewest:
    """A folding with few marked engines: their ``count``, and ``least``, below which none has; both None: none exists.

    ``rows`` are the row of each group; None where none was met within the limit of work.
    """

    count: int | None
    least: int | None
    rows: tuple[int, ...] | None

    @property
    def proven(self) -> bool:
        """Whether no folding has fewer."""
        return self.count == self.least


def fewest_marked(problem: FoldingProblem, interval_cycles: int, marked: Sequence[Array]) -> Fewest:
    """Return the folding within interval and budget with the fewest marked engines.

    ``marked`` are how many engines of each row of each group are, (n_rows,) each.
    """
    model = _Model.of(problem, interval_cycles, marked)
    if model is None:
        return Fewest(None, None, None)
    model.limit_use()
    answer = run_highs(model.linear, NODES)
    if answer.infeasible:
        return Fewest(None, None, None)
    least = max(0, ceil(answer.bound - ROUNDING)) if np.isfinite(answer.bound) else 0
    if answer.values is None:
        return Fewest(None, least, None)
    rows = model.rows_in(answer.values)
    return Fewest(sum(int(own[row]) for own, row in zip(marked, rows, strict=True)), least, rows)


def least_full_marked(
    problem: FoldingProblem, interval_cycles: int, marked: Sequence[Array], most: int
) -> tuple[int, ...] | None:
    """Return the rows of a folding with so many marked engines at most that leaves most of its fullest resource.

    It is within `LEEWAY_GAP` of the least full one, or the best met; None if none was.
    """
    model = _Model.of(problem, interval_cycles, marked, counts=False)
    if model is None:
        return None
    model.limit_marked(marked, most)
    model.limit_use(model.linear.column(1.0, upper=1.0))
    answer = run_highs(model.linear, LEEWAY_NODES, LEEWAY_GAP)
    return None if answer.values is None else model.rows_in(answer.values)


@dataclass(frozen=True)
class _Model:
    """The linear model, with the columns of each group's rows, and what columns use."""

    problem: FoldingProblem
    reduced: ReducedProblem
    linear: LinearModel
    columns: tuple[tuple[int, ...], ...]
    use: list[tuple[int, Array]]

    @classmethod
    def of(
        cls, problem: FoldingProblem, interval_cycles: int, marked: Sequence[Array], *, counts: bool = True
    ) -> "_Model | None":
        """Return the model without limits, its objective the count or nothing; None if a group has no row."""
        reduced = reduce_by_dominance(problem, interval_cycles, marked)
        if reduced is None:
            return None
        linear, columns = LinearModel(), []
        for rows, own in zip(reduced.rows, marked, strict=True):
            costs = own[rows].tolist() if counts else [0] * rows.size
            columns.append(tuple(linear.column(cost, upper=1.0, whole=True) for cost in costs))
            linear.row([(column, 1.0) for column in columns[-1]], 1.0, 1.0)
        use = [pair for own, each in zip(columns, reduced.use, strict=True) for pair in zip(own, each, strict=True)]
        model = cls(problem, reduced, linear, tuple(columns), use)
        for stream in reduced.couplings:
            model.join(stream)
        return model

    def join(self, stream: Coupling) -> None:
        """Add what a stream uses: a variable for each pair of classes of its ends that can be joined."""
        most, reduced = Evaluator(self.problem).budget, self.reduced
        source, target = (
            stream.source_class[reduced.rows[stream.source]],
            stream.target_class[reduced.rows[stream.target]],
        )
        pairs = [(a, b) for a in np.unique(source).tolist() for b in np.unique(target).tolist()]
        able = [pair for pair in pairs if (stream.use[pair] <= most).all()]
        if len(able) == len(pairs) and not any(stream.use[pair].any() for pair in pairs):
            return
        # Whole, though they follow: on columns of both kinds HiGHS' presolve was seen to need repairs.
        joined = {pair: self.linear.column(upper=1.0, whole=True) for pair in able}
        self.use.extend((column, stream.use[pair]) for pair, column in joined.items())
        for side, (group, classes) in enumerate(((stream.source, source), (stream.target, target))):
            for each in np.unique(classes).tolist():
                chosen = [(column, 1.0) for pair, column in joined.items() if pair[side] == each]
                own = [(self.columns[group][row], -1.0) for row in np.flatnonzero(classes == each).tolist()]
                self.linear.row([*chosen, *own], 0.0, 0.0)

    def limit_use(self, fullest: int | None = None) -> None:
        """Bound what all use by the budget, or by the share of it that the column ``fullest`` is."""
        for position, name in enumerate(RESOURCE_NAMES):
            have = self.problem.budget.as_dict()[name]
            # Shares of the budget: amounts of different resources differ by orders of magnitude.
            terms = [(column, float(use[position]) / max(1, have)) for column, use in self.use if use[position]]
            if fullest is None or not have:
                self.linear.row(terms, upper=1.0 if have else 0.0)
            else:
                self.linear.row([*terms, (fullest, -1.0)], upper=0.0)

    def limit_marked(self, marked: Sequence[Array], most: int) -> None:
        """Bound how many engines are marked."""
        groups = zip(self.columns, self.reduced.rows, marked, strict=True)
        counts = [pair for own, rows, each in groups for pair in zip(own, each[rows].tolist(), strict=True)]
        self.linear.row([(column, float(count)) for column, count in counts if count], upper=float(most))

    def rows_in(self, values: NDArray[np.float64]) -> tuple[int, ...]:
        """Return the row of each group at a point of the model."""
        chosen = (int(np.argmax(values[list(own)])) for own in self.columns)
        return tuple(int(rows[position]) for rows, position in zip(self.reduced.rows, chosen, strict=True))
