"""Methods for chunks by name, a file for each: ``exact``, ``milp`` and ``brute``."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from floorflow.papers.dpr.interval import Intervals
from floorflow.papers.dpr.problem import ChunkAnswer, ChunkProblem


def solver_of(method: str, problem: ChunkProblem) -> Callable[..., ChunkAnswer]:
    """Return a method on one problem, for regions and whether in one chunk (``static``).

    ``exact`` keeps its intervals from call to call.
    """
    kept = {"intervals": Intervals(problem)} if method == "exact" else {}
    return partial(import_module(f"{__name__}.{method}").solve, problem, **kept)
