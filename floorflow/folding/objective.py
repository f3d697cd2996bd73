"""Folding at a given interval for whichever objective the problem has."""

from __future__ import annotations

from floorflow.folding.exact import Answer, least_scarce
from floorflow.folding.latency import least_latency
from floorflow.folding.problem import FoldingProblem


def fold_at_interval(problem: FoldingProblem, interval_cycles: int, *, prove: bool = True) -> Answer:
    """Return the best folding with no engine above ``interval_cycles``, or the proof that none exists.

    Best is the least scarce one, or that of least latency if the problem has ``paths``. Without ``prove`` the first
    folding within the budget will do; its ``stats`` are of its scarcity.
    """
    if problem.paths is None or not prove:
        return least_scarce(problem, interval_cycles, prove=prove)
    return least_latency(problem, interval_cycles)
