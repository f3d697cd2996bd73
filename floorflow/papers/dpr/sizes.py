"""Regions of free size: how much of an area to give to each, in whole steps.

A smaller region loads faster, so an area need not be used up; and with sizes on one grid what is best for an area is
possible in every larger one: the time never rises with the area.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf

from floorflow.papers.dpr.methods.exact import solve
from floorflow.papers.dpr.problem import ChunkAnswer, ChunkProblem, Regions
from floorflow.papers.dpr.segments import SegmentTable
from floorflow.segments.timeline import parts_within
from floorflow.stats import SolveStats


def best_sizes(
    problem: ChunkProblem, area: Fraction, count: int, step: Fraction, table: SegmentTable | None = None
) -> ChunkAnswer:
    """Return the fastest design on up to ``count`` regions of whole steps that an area has room for.

    ``status`` is optimal if all sizes were decided: of those on the grid none is faster.
    """
    table = table or SegmentTable(problem)
    best: ChunkAnswer | None = None
    bound, proven, reason = inf, True, ""
    most_regions = min(count, area // step)
    if not most_regions:  # not even one step: a network that is not cut may still have the area
        return solve(problem, Regions.equal(area), table=table, static=True)
    every = (sizes for number in range(1, most_regions + 1) for sizes in sizes_within(area, number, step))
    for sizes in every:
        most = inf if best is None or best.stats.objective is None else best.stats.objective
        answer = solve(problem, Regions(area, sizes), table=table, most_us=most)
        if answer.stats.bound is not None:
            bound = min(bound, answer.stats.bound)
        if answer.chunks is not None and (best is None or _key(answer) < _key(best)):
            best = answer
        elif answer.stats.status == "heuristic" and (answer.stats.bound or 0.0) <= most:
            proven, reason = False, answer.reason
    if best is None:
        stats = SolveStats("exact", "infeasible") if proven else SolveStats("exact", "heuristic", None, bound)
        return ChunkAnswer(None, Regions.equal(area, count), stats, reason or "no cut, folding and size fits")
    objective = best.stats.objective
    proven = proven and best.stats.status == "optimal"
    stats = SolveStats("exact", "optimal" if proven else "feasible", objective, objective if proven else bound)
    return ChunkAnswer(best.chunks, best.regions, stats)


def _key(answer: ChunkAnswer) -> tuple[float, int, Fraction]:
    """Return what of two answers is better: time, chunks, then what the regions take together."""
    chunks = answer.chunks or ()
    taken = sum(answer.regions.sizes, Fraction(0)) if len(chunks) > 1 else answer.regions.whole
    return round(answer.stats.objective or inf, 6), len(chunks), taken


def sizes_within(area: Fraction, count: int, step: Fraction) -> Iterator[tuple[Fraction, ...]]:
    """Yield sizes of so many regions, each at least a step and together at most the area, the largest first."""
    yield from (tuple(step * part for part in parts) for parts in parts_within(area // step, count))
