"""Method ``exact``: the optimum over all cuts and foldings, with proof.

The lazy path over cuts, in levels: positions among all cycles that an option has. Without bandwidth an interval that a
segment cannot meet no longer segment can. Bandwidth breaks that: a segment that is *too fast* for its memory may have a
longer one that is not. So two things are kept of a segment: the bound by resources, which holds for all longer ones,
and its own answer, in which some node is slow enough. Prices tell most of what fits; what they leave open is a folding
problem of floorflow's own, proven by branching.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup, OptionTable, TableRows, objects
from floorflow.errors import LimitError
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.papers.samo.problem import (
    COLUMN_OF,
    RESOURCES,
    Design,
    Floats,
    Ints,
    ScheduleAnswer,
    ScheduleProblem,
    joined,
)
from floorflow.papers.samo.segment_model import Mask, SegmentModel, decide
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.segments.paths import Span, cheapest_path, lazy_path, spread
from floorflow.segments.table import SpanTable
from floorflow.stats import SolveStats

AT_ONCE = 8
"""Intervals that are tried at once."""
UNLIMITED = UNBUILDABLE - 1
WEIGHT = 1 << 24
"""What all of a limit weighs in the cost that is minimised."""


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the design of least cost, or the proof that there is none. ``seed`` is not used.

    Where folding reaches its limit within a partition there is no design, and the bound is what was proven by then.
    """
    del seed
    table = _Intervals(problem).table
    run_us = np.append([problem.microseconds(cycles) for cycles in problem.levels.tolist()], np.inf)

    bound = 0.0

    def best() -> tuple[float, list[Span] | None]:
        nonlocal bound
        bound, found = cheapest_path(run_us[table.lowest.astype(np.int64)], problem.reconfiguration_us)
        return bound, found

    try:
        cost, path = lazy_path(best, lambda found: table.close(found[1] or ()))
    except LimitError as error:
        return ScheduleAnswer(None, SolveStats("exact", "heuristic", None, bound), str(error))
    if path is None:
        return ScheduleAnswer(None, SolveStats("exact", "infeasible"))
    cuts = tuple(problem.borders[b] - 1 for _, b in path[:-1])
    rows = tuple(number for segment in path for number in table[segment].numbers)
    return ScheduleAnswer(Design(cuts, rows), SolveStats("exact", "optimal", cost, cost))


@dataclass(frozen=True)
class Shortest:
    """A segment's shortest interval, as a position in the problem's levels, and the options of its nodes that have it.

    ``level`` is the number of levels where no folding is legal.
    """

    level: int
    numbers: tuple[int, ...] = ()


class _Intervals:
    """The shortest interval of every segment between the borders of a problem."""

    def __init__(self, problem: ScheduleProblem) -> None:
        self.problem = problem
        self.none = len(problem.levels)
        self._prices: Floats = np.full(len(problem.limited), 1 / max(1, len(problem.limited)))
        self.by_resources = spread(self._fastest_alone())
        """Levels below which resources let no segment come, (first border, border behind)."""
        self._slow_enough = self._first_slow_enough()
        self.table = SpanTable(np.maximum(self.by_resources, self._slow_enough), self._solved)

    def _fastest_alone(self) -> Floats:
        """Return the level of the fastest row that fits alone of each node between two neighbouring borders."""
        problem, count = self.problem, len(self.problem.borders)
        limits, found = np.array(problem.limits), np.zeros((count, count))
        for number, (first, behind) in enumerate(pairwise(problem.borders)):
            for node in problem.nodes[first:behind]:
                cycles = node.cycles[(node.use <= limits).all(axis=1)]
                level = int(np.searchsorted(problem.levels, cycles.min())) if cycles.size else self.none
                found[number, number + 1] = max(found[number, number + 1], level)
        return found

    def _first_slow_enough(self) -> Floats:
        """Return the first level of each segment that is not too fast for the memory."""
        borders = self.problem.borders
        lowest = np.zeros((len(borders), len(borders)))
        for a, first in enumerate(borders):
            for b in range(a + 1, len(borders)):
                lowest[a, b] = self.problem.first_slow_enough(first, borders[b] - 1)
        return lowest

    def _solved(self, span: Span) -> tuple[float, Shortest]:
        """Return the shortest interval of the segment between two borders, proven; longer ones are bounded by it."""
        first, behind = (self.problem.borders[border] for border in span)
        model = SegmentModel(self.problem, range(first, behind))
        answer = alone = self._least(model, model.candidates[model.candidates >= self.by_resources[span]])
        if alone.level < min(self.none, self._slow_enough[span]):
            answer = self._slowed(model, int(self._slow_enough[span]))
        self.by_resources[span] = alone.level
        self.by_resources = spread(self.by_resources)
        np.maximum(self.table.lowest, self.by_resources, out=self.table.lowest)
        return answer.level, answer

    def _least(self, model: SegmentModel, candidates: Ints) -> Shortest:
        """Return the least of ascending levels at which resources allow a folding: fast ones first, then between."""
        low, high, best = 0, len(candidates), Shortest(self.none)
        steps = np.unique(np.minimum(2 ** np.arange(AT_ONCE) - 1, max(0, high - 1)))
        while low < high:
            at = steps[(steps >= low) & (steps < high)]
            fits, refuted = self._decided(model, candidates[at], at)
            low = max(low, refuted + 1)
            if fits is not None:
                high, best = fits[0], Shortest(int(candidates[fits[0]]), model.numbers(fits[1]))
            steps = np.unique(np.linspace(low, high - 1, min(AT_ONCE, max(1, high - low))).astype(np.int64))
        return best

    def _decided(self, model: SegmentModel, levels: Ints, at: Ints) -> tuple[tuple[int, Ints] | None, int]:
        """Return the first position known to fit, with rows, and the last known to be refuted (-1: none)."""
        verdicts = decide(model, levels, self._prices)
        self._prices = verdicts.prices.mean(axis=0)
        fitting = [(int(at[case]), rows) for case, rows in enumerate(verdicts.fits) if rows is not None]
        refuted = at[verdicts.refuted]
        if verdicts.open.all():
            case = len(at) // 2
            rows = prove(model, int(levels[case]))
            return (None, int(at[case])) if rows is None else ((int(at[case]), rows), -1)
        return (fitting[0] if fitting else None), int(refuted.max()) if refuted.size else -1

    def _slowed(self, model: SegmentModel, slow_enough: int) -> Shortest:
        """Return the least level with a folding in which some node is slow enough: each node in turn has to be."""
        levels = np.unique(model.level[model.level >= slow_enough])
        for level in levels.tolist():
            may_be = (model.level >= slow_enough) & (model.level <= level)
            slow = np.unique(model.row_node[may_be])
            keep = (model.row_node[:, None] != slow) | (model.level >= slow_enough)[:, None]
            verdicts = decide(model, np.full(len(slow), level), self._prices, keep)
            for case, rows in enumerate(verdicts.fits):
                found = prove(model, level, keep[:, case]) if verdicts.open[case] else rows
                if found is not None:
                    return Shortest(int(model.level[found].max()), model.numbers(found))
        return Shortest(self.none)


def prove(model: SegmentModel, level: int, keep: Mask | None = None) -> Ints | None:
    """Return a selection of the model's rows up to a level within the limits; None: proven that there is none.

    ``keep``, (n_rows,), leaves out rows.

    Raises
    ------
    LimitError
        If the folding solver stops before it knows.

    """
    rows = [_rows_of(model, number, level, keep) for number in range(len(model.nodes))]
    if not all(some.size for some in rows):
        return None
    problem = folding_problem(model, rows)
    answer = FeasibilityOracle(problem)(int(max(group.cycles.max() for group in problem.groups)))
    if isinstance(answer, FoldingInfeasible):
        return None
    if not isinstance(answer, FoldingSolution):
        raise LimitError("the folding solver reached its limit within a partition", hint="use --methods rule,annealing")
    chosen = (int(str(answer.options[str(number)].folding["row"])) for number in range(len(rows)))
    return np.array([some[row] for some, row in zip(rows, chosen, strict=True)], dtype=np.int64)


def _rows_of(model: SegmentModel, number: int, level: int, keep: Mask | None) -> Ints:
    mine = (model.row_node == number) & (model.level <= level)
    return np.flatnonzero(mine if keep is None else mine & keep)


def folding_problem(model: SegmentModel, rows: list[Ints]) -> FoldingProblem:
    """Return a segment as a folding problem: one group a node, a coupling where a rule ties the ends of a stream."""
    limits = dict.fromkeys(RESOURCE_NAMES, 0)
    for name, limit in zip(RESOURCES, model.problem.limits, strict=True):
        limits[COLUMN_OF[name]] = int(limit) if limit < np.inf else UNLIMITED
    budget = Resources(*limits.values())
    weights = [round(WEIGHT / max(1, limits[name])) for name in RESOURCE_NAMES]
    groups = tuple(_group(model, number, some) for number, some in enumerate(rows))
    return FoldingProblem(groups, budget, budget, tuple(_couplings(model, rows)), weights=tuple(weights))


def _group(model: SegmentModel, number: int, rows: Ints) -> OptionGroup:
    numbers = np.zeros((7, len(rows)), dtype=np.int64)
    numbers[0] = model.level[rows] + 1
    for column, name in enumerate(model.problem.limited):
        numbers[1 + RESOURCE_NAMES.index(COLUMN_OF[RESOURCES[name]])] = model.use[rows, column]
    numbers[6] = np.arange(len(rows))
    nothing = objects([{}] * len(rows))
    table = OptionTable(numbers, nothing, objects([""] * len(rows)), 0, ("row",))
    return OptionGroup((str(number),), TableRows((table,)))


def _couplings(model: SegmentModel, rows: list[Ints]) -> list[Coupling]:
    """Return what streams forbid: a pair of foldings that do not match uses more than any budget."""
    couplings = []
    for a, b in model.edges:
        node = model.nodes[a]
        if not (node.equal_folding or node.divisible_folding):
            continue
        outputs, source_class = np.unique(node.foldings[model.row_number[rows[a]], 1], return_inverse=True)
        inputs, target_class = np.unique(model.nodes[b].foldings[model.row_number[rows[b]], 0], return_inverse=True)
        use = np.zeros((len(outputs), len(inputs), len(RESOURCE_NAMES)), dtype=np.int64)
        use[~joined(node, outputs[:, None], inputs)] = UNBUILDABLE
        couplings.append(Coupling(a, b, source_class.reshape(-1), target_class.reshape(-1), use))
    return couplings
