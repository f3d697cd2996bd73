"""A chunk problem over areas: the fastest design that is not cut, and the fastest of all, at each.

Regions may have free sizes, in whole steps: a smaller region loads faster, so an area need not be used up; and with
sizes on one grid what is best for an area is possible in every larger one: the time never rises with the area.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from floorflow.papers.dpr.interval import Intervals
from floorflow.papers.dpr.methods import solver_of
from floorflow.papers.dpr.methods.exact import solve
from floorflow.papers.dpr.network import ChunkedNetwork
from floorflow.papers.dpr.problem import RESOURCES, UNITS, ChunkAnswer, ChunkProblem, Regions, steps_of, use_of
from floorflow.segments.paths import parts_within
from floorflow.stats import SolveStats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("area", "static_ms", "dynamic_ms", "chunks", "run_ms", "load_ms", "hidden_load_ms", "gap", "status")
PAPER: Mapping[str, Mapping[str, Any]] = {
    "CNVW1A1": {
        "stock_ms": 85.8,
        "static_ms": {"0.87": 18.60, "0.75": 73.94},
        "static_infeasible_below": 0.70,
        "dynamic_feasible_down_to": 0.30,
    },
    "CNVW2A2": {
        "stock_ms": 86.34,
        "static_ms": {"1.0": 48.75},
        "static_infeasible_below": 0.85,
        "dynamic_feasible_down_to": 0.45,
    },
}
"""What Seyoum et al. print of their two networks on a PYNQ-Z1, 256 images at 100 MHz, by name.

The stock time of CNVW2A2 is not that of the stock folding: see docs/chunks.md.
"""


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
    solve, intervals = solver_of(asked.method, problem), Intervals(problem)
    answers: dict[Fraction, tuple[ChunkAnswer, ChunkAnswer]] = {}
    seconds: dict[Fraction, tuple[float, float]] = {}
    for area in sorted(set(areas), reverse=True):
        start = time.perf_counter()
        static = solve(Regions.equal(area), static=True)
        between = time.perf_counter()
        if asked.step is not None:
            dynamic = best_sizes(problem, area, asked.regions, asked.step, intervals)
        else:
            shares = tuple(area * share for share in asked.shares)
            dynamic = solve(Regions(area, shares) if shares else Regions.equal(area, asked.regions))
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
    steps = steps_of(problem, answer)
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
    for chunk, step in zip(answer.chunks or (), steps_of(problem, answer), strict=True):
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


def best_sizes(
    problem: ChunkProblem, area: Fraction, count: int, step: Fraction, intervals: Intervals | None = None
) -> ChunkAnswer:
    """Return the fastest design on up to ``count`` regions of whole steps that an area has room for.

    ``status`` is optimal if all sizes were decided: of those on the grid none is faster.
    """
    intervals = intervals or Intervals(problem)
    best: ChunkAnswer | None = None
    bound, proven, reason = inf, True, ""
    most_regions = min(count, area // step)
    if not most_regions:  # not even one step: a network that is not cut may still have the area
        return solve(problem, Regions.equal(area), intervals=intervals, static=True)
    # The largest first: each region has at least a step, and all together have no more than the area.
    grid = (parts for number in range(1, most_regions + 1) for parts in parts_within(area // step, number))
    for sizes in (tuple(step * part for part in parts) for parts in grid):
        most = inf if best is None or best.stats.objective is None else best.stats.objective
        answer = solve(problem, Regions(area, sizes), intervals=intervals, most_us=most)
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


def chunk_rows(study: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one flat row an area of what `study_chunks` found; what there is not is left out."""
    return [_row(point) for point in study["points"]]


def chunk_files(study: Mapping[str, Any]) -> dict[str, str | bytes]:
    """Return ``chunks.json`` and ``chunks.csv``."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(chunk_rows(study))
    return {"chunks.json": json.dumps(study, indent=2, sort_keys=True) + "\n", "chunks.csv": text.getvalue()}


def chunk_figures(study: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw time against area (the paper's figure 5) and what it is made of (figure 7)."""
    from floorflow.view.pictures.chunks import composition_chart, time_chart

    return {"time": time_chart(study), "composition": composition_chart(study)}


def _row(point: Mapping[str, Any]) -> dict[str, Any]:
    static, dynamic = point["static"], point["dynamic"]
    found = {"static_ms": static["ms"], "dynamic_ms": dynamic["ms"], "chunks": len(dynamic["chunks"]) or None}
    parts = {name: dynamic.get(name) for name in ("run_ms", "load_ms", "hidden_load_ms")}
    row = {"area": point["area"], **found, **parts, "gap": dynamic["gap"], "status": dynamic["status"]}
    return {key: value for key, value in row.items() if value is not None}


def _paper(network: ChunkedNetwork) -> Mapping[str, Any] | None:
    """Return what the paper prints of a network, if it is asked for as there."""
    problem = network.problem
    same = network.platform == "pynq-z1" and (problem.batch, problem.clock_mhz) == (256, 100)
    return PAPER.get(network.name.upper()) if same else None


def study_chunks(network: ChunkedNetwork, areas: Sequence[Fraction], asked: Asked, foldings: str) -> dict[str, Any]:
    """Return the fastest designs of a network, static and dynamic, at each area, as plain data."""
    problem = network.problem
    layers = [
        {"name": one.name, "options": len(one.cycles), "bits_behind": one.bits_behind, "cut_behind": one.cut_behind}
        for one in problem.layers
    ]
    return {
        "network": network.name,
        "platform": network.platform,
        "costs": network.costs,
        "foldings": foldings,
        "method": asked.method,
        "batch": problem.batch,
        "clock_mhz": problem.clock_mhz,
        "memory_gbs": problem.memory_gbs,
        "regions": asked.regions,
        "sizes": "free" if asked.step is not None else [float(share) for share in asked.shares] or "equal",
        "load_us": {"per_area": problem.load.us_per_area, "offset": problem.load.offset_us},
        "layers": layers,
        "paper": _paper(network),
        "points": points(problem, areas, asked),
    }
