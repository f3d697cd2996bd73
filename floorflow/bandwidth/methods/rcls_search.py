"""Method ``rcls-search``: list scheduling with slow-downs by pattern search, Algorithm 1 of f-CNN^x."""

from __future__ import annotations

from floorflow.bandwidth.pattern_search import searched
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem, answer


def solve(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the best list schedule that the search meets; it proves nothing."""
    return answer("rcls-search", problem, searched(problem, seed))
