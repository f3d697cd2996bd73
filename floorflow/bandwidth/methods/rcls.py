"""Method ``rcls``: resource-constrained list scheduling, every run at full speed."""

from __future__ import annotations

from floorflow.bandwidth.list_schedule import listed
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem, answer


def solve(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the list schedule. ``seed`` is not used."""
    del seed
    return answer("rcls", problem, listed(problem))
