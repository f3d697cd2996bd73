"""Methods for chunks by name, a file for each: ``exact``, ``milp`` and ``brute``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from floorflow.papers.dpr.problem import ChunkAnswer, ChunkProblem, Regions
from floorflow.papers.dpr.segments import SegmentTable


class ChunkMethod(Protocol):
    """Cuts and folds on regions; ``static``: in one chunk."""

    def __call__(self, regions: Regions, /, *, static: bool = False) -> ChunkAnswer:
        """Return a design, or why there is none."""


def solver_of(method: str, problem: ChunkProblem) -> ChunkMethod:
    """Return a method on one problem; ``exact`` keeps its interval table from call to call."""
    solve: Callable[..., ChunkAnswer] = import_module(f"{__name__}.{method}").solve
    table = SegmentTable(problem) if method == "exact" else None

    def on_regions(regions: Regions, /, *, static: bool = False) -> ChunkAnswer:
        if table is not None:
            return solve(problem, regions, static=static, table=table)
        return solve(problem, regions, static=static)

    return on_regions
