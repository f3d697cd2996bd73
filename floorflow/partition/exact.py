"""Solve the CP-SAT model of the partition: cost first, then, at that cost, the least fullness of the fullest slot.

Where the model is too large for that, a large-neighbourhood search: the modules of a few neighbouring slots are
assigned anew exactly, window by window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from ortools.sat.python import cp_model

from floorflow.partition.arrays import SHARE_SCALE, UNLIMITED, Integers, ProblemArrays
from floorflow.partition.fm import MoveEvaluator
from floorflow.partition.model import Model, build_model
from floorflow.partition.problem import PartitionProblem
from floorflow.resources import RESOURCE_NAMES
from floorflow.solver import run_cpsat

Verdict = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class SolverAnswer:
    """What CP-SAT found: the assignment (M,) if any, a valid lower bound of the objective, and what is proven.

    ``work`` is what it took, in deterministic time units.
    """

    status: Verdict
    assignment: Integers | None
    bound: int
    work: float


_STATUS: dict[int, Verdict] = {
    int(cp_model.OPTIMAL): "optimal",
    int(cp_model.FEASIBLE): "feasible",
    int(cp_model.INFEASIBLE): "infeasible",
}


@dataclass(frozen=True)
class CutBound:
    """Every legal assignment costs at least ``least`` on these edges together, and pairs of boundaries among them."""

    edges: tuple[int, ...]
    least: int


def solve(
    problem: PartitionProblem,
    arrays: ProblemArrays,
    start: Integers | None,
    seed: int,
    limit: float,
    *,
    cuts: Sequence[CutBound] = (),
) -> SolverAnswer:
    """Minimise the cost within ``limit`` deterministic time units.

    ``start`` is a hint; ``cuts`` are known to hold of every legal assignment.
    """
    model = build_model(problem, arrays)
    for cut in cuts:
        amount = model.cost_over(cut.edges)
        if not isinstance(amount, int):  # what is constant keeps the bound by itself
            model.cp.add(amount >= cut.least)
    model.cp.minimize(model.cost)
    return run_solver(model, start, seed, limit)


def run_solver(model: Model, start: Integers | None, seed: int, limit: float) -> SolverAnswer:
    """Run the solver on a model that has its objective, if any."""
    if start is not None:
        model.hint(start)
    # The full linear relaxation proves what the default and none leave at a bound of 0.
    answer, solver = run_cpsat(model.cp, seed, limit, linearization_level=2)
    status: Verdict = _STATUS.get(int(answer), "unknown")
    assignment = model.read(solver) if status in ("optimal", "feasible") else None
    bound = max(0, ceil(solver.best_objective_bound - 1e-6))
    return SolverAnswer(status, assignment, bound, float(solver.response_proto.deterministic_time))


def even_out(problem: PartitionProblem, arrays: ProblemArrays, start: Integers, seed: int, limit: float) -> Integers:
    """Among assignments of the start's cost, return one whose fullest slot is as empty as the limit lets us find."""
    model = build_model(problem, arrays)
    model.cp.add(model.cost <= arrays.cost(start))
    fullest = model.cp.new_int_var(0, SHARE_SCALE, "fullest")
    for s in range(len(problem.slots)):
        for r, most in enumerate(arrays.limit[s, : len(RESOURCE_NAMES)]):
            if most:
                model.cp.add(SHARE_SCALE * model.use(s, r) <= int(most) * fullest)
        if 0 < arrays.most_cells[s] < UNLIMITED:
            model.cp.add(SHARE_SCALE * model.area(s) <= int(arrays.most_cells[s]) * fullest)
    model.cp.minimize(fullest)
    assignment = run_solver(model, start, seed, limit).assignment
    return start if assignment is None else assignment


_WINDOW_LIMITS = (0.05, 0.25, 1.0, 4.0)
"""Deterministic time units for one window: all windows get the first, then what is left open gets the next."""

_WINDOW_COST = 0.01
"""Charged for every window, so that many easy ones end too."""

_MOST_SLOTS = 4


def window_lns(
    problem: PartitionProblem, arrays: ProblemArrays, assignment: Integers, seed: int, limit: float
) -> Integers:
    """Return the best assignment found within about ``limit`` deterministic time units; never a worse one.

    Windows of few slots come first; a window is solved again once one of its slots has changed. Windows that were not
    solved to the end get more time once no other is left.
    """
    evaluator, windows = MoveEvaluator(arrays), _windows(problem)
    key = evaluator.key(assignment)
    tried = dict.fromkeys(windows, 0)  # how many of the limits each window has had since its slots last changed
    while limit > 0:
        used = set(assignment.tolist())
        left = [w for w in windows if tried[w] < len(_WINDOW_LIMITS) and used & w]
        window = min(left, key=lambda w: tried[w], default=None)
        if window is None:
            break
        model = build_model(
            problem, arrays, [window if slot in window else frozenset([slot]) for slot in assignment.tolist()]
        )
        model.cp.minimize(model.cost)
        most = min(_WINDOW_LIMITS[tried[window]], limit)
        outcome = run_solver(model, assignment, seed, most)
        limit -= outcome.work + _WINDOW_COST
        # All slots at once are tried shortly only: whoever needs more knows bounds that shorten it.
        solved = outcome.status in {"optimal", "infeasible"} or len(window) == len(problem.slots)
        tried[window] = len(_WINDOW_LIMITS) if solved else tried[window] + 1
        if outcome.assignment is not None and (reached := evaluator.key(outcome.assignment)) < key:
            differs = assignment != outcome.assignment
            moved = set(assignment[differs].tolist()) | set(outcome.assignment[differs].tolist())
            assignment, key = outcome.assignment, reached
            tried |= {other: 0 for other in windows if other & moved and other != window}
    return assignment


def _windows(problem: PartitionProblem) -> list[frozenset[int]]:
    """Return connected sets of 2 slots, then 3, then 4."""
    pairs = [frozenset((edge.a, edge.b)) for edge in problem.edges]
    windows, level = list(pairs), pairs
    for _ in range(_MOST_SLOTS - 2):
        level = list(dict.fromkeys(window | pair for window in level for pair in pairs if len(window & pair) == 1))
        windows += level
    return windows
