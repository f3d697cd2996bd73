"""Methods for chunks by name, a file for each: ``exact``, ``milp`` and ``brute``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from floorflow.papers.dpr.interval import Intervals
from floorflow.papers.dpr.problem import ChunkAnswer, ChunkProblem, Regions


class ChunkMethod(Protocol):
    """Cuts and folds on regions; ``static``: in one chunk."""

    def __call__(self, regions: Regions, /, *, static: bool = False) -> ChunkAnswer:
        """Return a design, or why there is none."""


def solver_of(method: str, problem: ChunkProblem) -> ChunkMethod:
    """Return a method on one problem; ``exact`` keeps its intervals from call to call."""
    solve: Callable[..., ChunkAnswer] = import_module(f"{__name__}.{method}").solve
    intervals = Intervals(problem) if method == "exact" else None

    def on_regions(regions: Regions, /, *, static: bool = False) -> ChunkAnswer:
        if intervals is not None:
            return solve(problem, regions, static=static, intervals=intervals)
        return solve(problem, regions, static=static)

    return on_regions
