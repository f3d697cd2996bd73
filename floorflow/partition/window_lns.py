"""Large-neighbourhood search: the modules of a few neighbouring slots are assigned anew exactly, window by window."""

from __future__ import annotations

from floorflow.partition.arrays import Integers, ProblemArrays
from floorflow.partition.exact import run_solver
from floorflow.partition.fm import MoveEvaluator
from floorflow.partition.model import build_model
from floorflow.partition.problem import PartitionProblem

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
