"""Scheduling methods by name, a file for each: ``solve(problem, seed)``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem
from floorflow.stats import methods_in


class BandwidthMethod(Protocol):
    """A way to share the memory out over time: equal arguments give an equal schedule."""

    def __call__(self, problem: BandwidthProblem, seed: int = 0, /) -> BandwidthAnswer:
        """Return a schedule and what is proven of its period."""


def bandwidth_methods() -> Mapping[str, BandwidthMethod]:
    """Return all methods by name."""
    return methods_in("bandwidth")


def solve_by(name: str, problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return a method's answer with the seconds that it took."""
    started = time.perf_counter()
    answer = bandwidth_methods()[name](problem, seed)
    return answer.within(time.perf_counter() - started)
