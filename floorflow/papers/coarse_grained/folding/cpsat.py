"""The papers' model in one piece: all engines, resource caps and balanced rates in a single CP-SAT model.

Source: Kwadjo, Tchinda and Bobda, coarse-grained floorplanning, section on performance exploration. As printed it
cannot be solved (parallelism divides pixels, not channels; no objective; every slot holds all layers). Here:

    variables    x[g, o]          group g uses option o, cycles and resources from its table (so all is linear)
                 y[c, a, b]       stream c joins ports of class a and b
                 interval         cycles of the slowest engine
    constraints  one_option[g]:   sum_o x[g, o] = 1
                 source[c, a]:    sum_b y[c, a, b] = sum_{o of class a} x[g, o]          (and the same for targets)
                 slowest[g]:      sum_o cycles[g, o] x[g, o] <= interval
                 balance[i, j]:   |cycles_i - cycles_j| <= epsilon min(cycles_i, cycles_j) for consecutive layers,
                                  as clauses on options that do not go together (`floorflow.folding.balance`)
                 cap[r]:          what engines and streams use <= budget[r]
    objective    first the interval, then the scarcity, then the sum of all engines' cycles

A frame rate depends on the slowest layer only, so that balance is off unless the problem has it: it costs rate. Without
it, rows that another beats whatever the neighbours choose are left out once the interval is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.dataflow.options import Coupling
from floorflow.folding.balance import barred
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.selection import Evaluator
from floorflow.solver import run_cpsat
from floorflow.stats import Status

Array = NDArray[np.int64]
Row = list[cp_model.IntVar]

DETERMINISTIC_LIMIT = 10.0
"""CP-SAT's work units (about seconds) for each of the three objectives."""


def solve(
    problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0
) -> FoldingSolution | FoldingInfeasible | FoldingUnknown:
    """Return the least scarce folding within an interval; without one, the shortest interval's least scarce.

    Where rates are balanced, options that another one beats in cycles and resources alike are not among the rows, so
    that the answer is optimal over undominated options only.
    """
    proven = True
    if interval_cycles is None:
        rows = problem.rows_within(problem.intervals()[-1])
        if not all(part.size for part in rows):
            return FoldingInfeasible(None)
        model = _Model(problem, rows)
        fastest = model.minimise([model.interval], [1], seed, None)
        if fastest.selection is None:
            return _nothing(fastest)
        interval_cycles, proven = fastest.objective, fastest.optimal
    return _least_scarce(problem, interval_cycles, seed, proven=proven)


def _least_scarce(
    problem: FoldingProblem, interval_cycles: int, seed: int, *, proven: bool
) -> FoldingSolution | FoldingInfeasible | FoldingUnknown:
    """Minimise scarcity, then the sum of cycles; ``proven``: whether the interval is."""
    rows = problem.rows_within(interval_cycles)
    if not any(c.only_bars for c in problem.couplings):
        # Nothing asks for slow engines.
        reduced = reduce_by_dominance(problem, interval_cycles)
        rows = [] if reduced is None else list(reduced.rows)
    if not rows or not all(part.size for part in rows):
        return FoldingInfeasible(None)
    model = _Model(problem, rows)
    costs = model.costs.tolist()
    least = model.minimise(model.terms, costs, seed, None)
    if least.selection is None:
        return _nothing(least)
    model.model.add(cp_model.LinearExpr.weighted_sum(model.terms, costs) <= least.objective)
    groups = zip(problem.groups, rows, strict=True)
    cycles = np.concatenate([group.engine_cycles[part].sum(axis=1) for group, part in groups])
    quick = model.minimise([x for row in model.x for x in row], cycles.tolist(), seed, least)
    status: Status = "optimal" if least.optimal and proven else "feasible"
    return model.evaluator.solution(quick.selection or least.selection, "cpsat", status, least.bound)


@dataclass(frozen=True)
class _Solved:
    """One solve: the selection (None: none met), as rows of each group, their objective, and what is proven."""

    selection: tuple[int, ...] | None
    objective: int
    bound: int
    optimal: bool
    values: tuple[int, ...] = ()


def _nothing(solved: _Solved) -> FoldingInfeasible | FoldingUnknown:
    return FoldingInfeasible(None) if solved.optimal else FoldingUnknown()


class _Model:
    """The model with its variables; objectives are added one after another."""

    def __init__(self, problem: FoldingProblem, rows: Sequence[Array]) -> None:
        self.problem, self.rows, self.evaluator = problem, rows, Evaluator(problem)
        self.model = cp_model.CpModel()
        self.x: list[Row] = [[self.model.new_bool_var("") for _ in part] for part in rows]
        for row in self.x:
            self.model.add_exactly_one(row)
        self.terms: Row = [x for row in self.x for x in row]
        use = [alone[part] for alone, part in zip(self.evaluator.alone, rows, strict=True)]
        use += [priced for c in self.evaluator.between_groups if (priced := self._stream(c)).size]
        self.use = np.concatenate(use)
        self.costs = self.evaluator.cost(self.use)
        for resource, cap in enumerate(self.evaluator.budget.tolist()):
            self.model.add(cp_model.LinearExpr.weighted_sum(self.terms, self.use[:, resource].tolist()) <= cap)
        self.interval = self._interval()

    def _interval(self) -> cp_model.IntVar:
        cycles = [group.cycles[part] for group, part in zip(self.problem.groups, self.rows, strict=True)]
        interval: cp_model.IntVar = self.model.new_int_var(
            max(int(part.min()) for part in cycles), max(int(part.max()) for part in cycles), "interval"
        )
        for row, part in zip(self.x, cycles, strict=True):
            self.model.add(cp_model.LinearExpr.weighted_sum(row, part.tolist()) <= interval)
        return interval

    def _stream(self, c: Coupling) -> Array:
        """Add the variables of one stream; return what each of them uses. Pairs above the budget have none."""
        if c.only_bars:
            return self._bars(c)
        sides = []
        for group, classes in ((c.source, c.source_class), (c.target, c.target_class)):
            own = classes[self.rows[group]]
            sides.append(
                {int(k): [x for x, mine in zip(self.x[group], own, strict=True) if mine == k] for k in np.unique(own)}
            )
        both = {
            (a, b): self.model.new_bool_var("")
            for a in sides[0]
            for b in sides[1]
            if (c.use[a, b] <= self.evaluator.budget).all()
        }
        for side, classes_of in enumerate(sides):
            for own_class, members in classes_of.items():
                mine = [y for pair, y in both.items() if pair[side] == own_class]
                self.model.add(sum(mine) == sum(members))
        self.terms += both.values()
        return np.array([c.use[pair] for pair in both], dtype=np.int64).reshape(-1, 5)

    def _bars(self, c: Coupling) -> Array:
        """Forbid pairs of rows; nothing is used by that."""
        bars = barred(c)
        source, target = c.source_class[self.rows[c.source]], c.target_class[self.rows[c.target]]
        for own_class in np.unique(source).tolist():
            mine = [x for x, own in zip(self.x[c.source], source, strict=True) if own == own_class]
            others = [x for x, own in zip(self.x[c.target], target, strict=True) if bars[own_class, own]]
            if others:
                self.model.add_at_most_one([*mine, *others])
        return np.zeros((0, 5), dtype=np.int64)

    def minimise(
        self, terms: Sequence[cp_model.IntVar], costs: Sequence[int], seed: int, start: _Solved | None
    ) -> _Solved:
        """Minimise one objective, from the answer to the one before."""
        self.model.minimize(cp_model.LinearExpr.weighted_sum(terms, costs))
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        variables = [*self.terms, self.interval]
        if start is not None:
            for variable, value in zip(variables, start.values, strict=True):
                self.model.add_hint(variable, value)
        status, solver = run_cpsat(self.model, seed, DETERMINISTIC_LIMIT)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return _Solved(None, 0, 0, optimal=status == cp_model.INFEASIBLE)
        selection = tuple(
            int(part[[solver.value(x) for x in row].index(1)]) for row, part in zip(self.x, self.rows, strict=True)
        )
        values = tuple(solver.value(variable) for variable in variables)
        objective = sum(cost * solver.value(term) for cost, term in zip(costs, terms, strict=True))
        bound = objective if status == cp_model.OPTIMAL else round(solver.best_objective_bound)
        return _Solved(selection, objective, bound, status == cp_model.OPTIMAL, values)
