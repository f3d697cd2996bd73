"""Method ``constant``: each network has a fixed share of the bandwidth; the optimum of those."""

from __future__ import annotations

from floorflow.bandwidth.constant_shares import shared
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem, answer


def solve(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the schedule of constant shares. ``seed`` is not used."""
    del seed
    return answer("constant", problem, shared(problem))
