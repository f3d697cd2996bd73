"""A chunk problem over areas: the fastest design that is not cut, and the fastest of all, at each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter
from typing import Any

from floorflow.papers.dpr.methods import solver_of
from floorflow.papers.dpr.problem import RESOURCES, UNITS, ChunkAnswer, ChunkProblem, Regions, use_of
from floorflow.papers.dpr.segments import SegmentTable
from floorflow.papers.dpr.sizes import best_sizes
from floorflow.papers.dpr.timeline import timeline_of
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class Asked:
    """Regions and method: ``step`` None gives all regions the same size, else their sizes are free in such steps.

    ``shares`` are the parts of the area that regions of given sizes have.
    """

    regions: int = 1
    method: str = "exact"
    step: Fraction | None = None
    shares: tuple[Fraction, ...] = ()


def points(problem: ChunkProblem, areas: Sequence[Fraction], asked: Asked) -> list[dict[str, Any]]:
    """Return the designs at each area, in order; solved from the largest down, which tells most of the others."""
    solve, table = solver_of(asked.method, problem), SegmentTable(problem)
    answers: dict[Fraction, tuple[ChunkAnswer, ChunkAnswer]] = {}
    seconds: dict[Fraction, tuple[float, float]] = {}
    for area in sorted(set(areas), reverse=True):
        start = time.perf_counter()
        static = solve(Regions.equal(area), static=True)
        between = time.perf_counter()
        if asked.step is not None:
            dynamic = best_sizes(problem, area, asked.regions, asked.step, table)
        else:
            dynamic = solve(regions_of(area, asked))
        answers[area] = static, dynamic
        seconds[area] = between - start, time.perf_counter() - between
    answers = dict(_carried(answers))
    return [
        {
            "area": float(area),
            "static": design(problem, answers[area][0], seconds[area][0]),
            "dynamic": design(problem, answers[area][1], seconds[area][1]),
        }
        for area in areas
    ]


def _carried(
    answers: dict[Fraction, tuple[ChunkAnswer, ChunkAnswer]],
) -> Iterator[tuple[Fraction, tuple[ChunkAnswer, ChunkAnswer]]]:
    """Yield the answers, an uncut design of a smaller area wherever it is faster: it fits, and is never loaded."""
    uncut: ChunkAnswer | None = None
    for area, (static, dynamic) in sorted(answers.items(), key=itemgetter(0)):
        uncut = _faster(static, uncut)
        yield area, (uncut, _faster(dynamic, uncut))


def _faster(own: ChunkAnswer, other: ChunkAnswer | None) -> ChunkAnswer:
    """Return an answer, or another that is faster, held against the bound of the first."""
    mine, theirs = own.stats.objective, other.stats.objective if other else None
    if other is None or theirs is None or (mine is not None and mine <= theirs):
        return own
    bound = theirs if own.stats.bound is None else min(own.stats.bound, theirs)
    stats = SolveStats(own.stats.method, "optimal" if bound == theirs else "feasible", theirs, bound)
    return replace(other, stats=stats)


def regions_of(area: Fraction, asked: Asked) -> Regions:
    """Return the regions of an area: equal, or of the given shares of it."""
    if asked.shares:
        return Regions(area, tuple(area * share for share in asked.shares))
    return Regions.equal(area, asked.regions)


def design(problem: ChunkProblem, answer: ChunkAnswer, seconds: float) -> dict[str, Any]:
    """Return an answer as plain data; times in ms."""
    stats = answer.stats
    stated = {
        "method": stats.method,
        "status": stats.status,
        "ms": _ms(stats.objective),
        "bound_ms": _ms(stats.bound),
        "gap": stats.gap,
        "seconds": round(seconds, 3),
    }
    if answer.chunks is None:
        return {**stated, "reason": answer.reason, "chunks": []}
    steps = timeline_of(problem, answer)
    run_us = sum(problem.us(chunk.cycles) for chunk in answer.chunks)
    cut = len(answer.chunks) > 1
    load_us = sum(step.load_end_us - step.load_start_us for step in steps)
    return {
        **stated,
        "run_ms": _ms(run_us),
        "load_ms": _ms(load_us),
        "hidden_load_ms": _ms(max(0.0, run_us + load_us - steps[-1].run_end_us)),
        "regions": [float(size) for size in (answer.regions.sizes if cut else (answer.regions.whole,))],
        "chunks": list(_chunks(problem, answer)),
    }


def _ms(us: float | None) -> float | None:
    return None if us is None else round(us / 1000, 6)


def _chunks(problem: ChunkProblem, answer: ChunkAnswer) -> Iterator[dict[str, Any]]:
    for chunk, step in zip(answer.chunks or (), timeline_of(problem, answer), strict=True):
        layers = problem.layers[chunk.first : chunk.behind]
        used = use_of(problem, chunk)
        amounts = zip(RESOURCES, used.tolist(), problem.fixed, UNITS, strict=True)
        yield {
            "first": chunk.first,
            "last": chunk.behind - 1,
            "region": step.region,
            "cycles": chunk.cycles,
            "load_ms": [_ms(step.load_start_us), _ms(step.load_end_us)],
            "run_ms": [_ms(step.run_start_us), _ms(step.run_end_us)],
            "resources": {name: (amount + more) / unit for name, amount, more, unit in amounts},
            "folding": [
                {"name": layer.name, "folding": layer.foldings[row].tolist(), "cycles": int(layer.cycles[row])}
                for layer, row in zip(layers, chunk.rows, strict=True)
            ],
        }
