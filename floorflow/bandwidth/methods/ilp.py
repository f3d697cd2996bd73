"""Method ``ilp``: the paper's integer programme at full speed, by CP-SAT.

Its bound holds for schedules at full speed alone; with slow-downs shorter ones may exist.
"""

from __future__ import annotations

from floorflow.bandwidth.fixed_speed import placed
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem
from floorflow.stats import SolveStats

WORK, WORK_IF_MANY = 4.0, 1.0
"""CP-SAT's work, which is seconds where runs are few and many times that where they are many."""
MANY_JOBS = 100


def solve(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the best schedule at full speed; status and bound are of schedules at full speed."""
    found = placed(problem, seed, WORK if problem.jobs <= MANY_JOBS else WORK_IF_MANY)
    period = found.schedule.period_us
    is_optimal = period <= found.bound_us * (1 + 1e-6)
    stats = SolveStats("ilp", "optimal" if is_optimal else "feasible", period, min(found.bound_us, period))
    return BandwidthAnswer(found.schedule, stats)
