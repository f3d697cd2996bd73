"""Large-neighbourhood search: the modules of a few neighbouring slots are assigned anew exactly, window by window."""

from __future__ import annotations

from floorflow.partition.arrays import Integers, ProblemArrays
from floorflow.partition.exact import run_solver
from floorflow.partition.fm import MoveEvaluator
from floorflow.partition.model import build_model
from floorflow.partition.problem import PartitionProblem

_WINDOW_LIMIT = 0.05
"""Deterministic time units for one window."""

_WINDOW_COST = 0.01
"""Charged for every window, so that many easy ones end too."""

_MOST_SLOTS = 4


def window_lns(
    problem: PartitionProblem, arrays: ProblemArrays, assignment: Integers, seed: int, limit: float
) -> Integers:
    """Return the best assignment found within about ``limit`` deterministic time units; never a worse one.

    Windows of few slots come first; a window is solved again once one of its slots has changed.
    """
    evaluator, windows = MoveEvaluator(arrays), _windows(problem)
    key = evaluator.key(assignment)
    stale: set[frozenset[int]] = set()
    while limit > 0:
        window = next((w for w in windows if w not in stale), None)
        if window is None:
            break
        stale.add(window)
        model = build_model(
            problem, arrays, [window if slot in window else frozenset([slot]) for slot in assignment.tolist()]
        )
        model.cp.minimize(model.cost)
        outcome = run_solver(model, assignment, seed, _WINDOW_LIMIT)
        limit -= outcome.work + _WINDOW_COST
        if outcome.assignment is not None and (reached := evaluator.key(outcome.assignment)) < key:
            moved = {
                int(slot)
                for slot in (
                    *assignment[assignment != outcome.assignment],
                    *outcome.assignment[assignment != outcome.assignment],
                )
            }
            assignment, key = outcome.assignment, reached
            stale = {other for other in stale if not other & moved or other == window}
    return assignment


def _windows(problem: PartitionProblem) -> list[frozenset[int]]:
    """Return connected sets of 2 slots, then 3, then 4."""
    pairs = [frozenset((edge.a, edge.b)) for edge in problem.edges]
    windows, level = list(pairs), pairs
    for _ in range(_MOST_SLOTS - 2):
        level = list(dict.fromkeys(window | pair for window in level for pair in pairs if len(window & pair) == 1))
        windows += level
    return windows
