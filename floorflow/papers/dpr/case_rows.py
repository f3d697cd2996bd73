"""A case's rows, answered: the fastest static and dynamic design of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from floorflow.papers.dpr.case_file import ChunkCase, Row
from floorflow.papers.dpr.case_problem import problem_of_row
from floorflow.papers.dpr.methods import solver_of
from floorflow.papers.dpr.problem import RESOURCES, UNITS, ChunkAnswer, ChunkProblem, Regions, use_of

STATUS = {"optimal": "OPTIMAL", "infeasible": "INFEASIBLE", "feasible": "FEASIBLE", "heuristic": "UNKNOWN"}
SHOWN = ("LUT", "BRAM", "FF")


def answered_rows(case: ChunkCase, method: str = "exact") -> list[dict[str, Any]]:
    """Return the rows in their order, with the keys of the data file."""
    answers: dict[Row, dict[str, Any]] = {}
    groups: dict[tuple[str, str, str, bool, bool], list[Row]] = {}
    for row in case.rows:
        groups.setdefault(row.problem_key, []).append(row)
    for rows in groups.values():
        problem = problem_of_row(case, rows[0])
        solve = solver_of(method, problem)
        # From the largest area down: what fits a smaller slot too is its answer.
        for row in sorted(set(rows), key=lambda row: -row.sigma):
            regions = Regions.equal(row.sigma)
            parts = {
                "static": _timed(partial(solve, regions, static=True), problem),
                "dynamic": _timed(partial(solve, regions, static=False), problem),
            }
            answers[row] = {**_asked(row), **parts}
    return [answers[row] for row in case.rows]


def _asked(row: Row) -> dict[str, Any]:
    return {
        "net": row.net,
        "model": row.model,
        "rule": row.rule,
        "finn_latency": row.finn_latency,
        "infra": row.infra,
        "sigma": float(row.sigma),
    }


def _timed(solve: Callable[[], ChunkAnswer], problem: ChunkProblem) -> dict[str, Any]:
    start = time.perf_counter()
    answer = solve()
    seconds = round(time.perf_counter() - start, 3)
    stated = {"status": STATUS[answer.stats.status], "time": seconds}
    if answer.chunks is None:
        return {**stated, **({"reason": answer.reason} if answer.stats.status == "heuristic" else {})}
    return {**stated, **_design(answer, problem)}


def _design(answer: ChunkAnswer, problem: ChunkProblem) -> dict[str, Any]:
    chunks = answer.chunks or ()
    run_us = problem.us(sum(chunk.cycles for chunk in chunks))
    load_us = len(chunks) * problem.load.us(answer.regions.sizes[0]) if len(chunks) > 1 else 0.0
    return {
        "chunks": [[chunk.first, chunk.behind - 1] for chunk in chunks],
        "n": len(chunks),
        "T_ms": round((run_us + load_us) / 1000, 3),
        "T_inf_ms": round(run_us / 1000, 3),
        "T_rec_ms": round(load_us / 1000, 3),
        "fold": list(_foldings(answer, problem)),
        "util_max": {name: _most_percent(answer, problem, name) for name in SHOWN},
        "gap": answer.stats.gap,
        "bound_ms": None if answer.stats.bound is None else round(answer.stats.bound / 1000, 3),
    }


def _foldings(answer: ChunkAnswer, problem: ChunkProblem) -> Iterator[list[int]]:
    """Yield PE, SIMD and cycles of each layer."""
    for chunk in answer.chunks or ():
        for layer, row in zip(problem.layers[chunk.first : chunk.behind], chunk.rows, strict=True):
            yield [*layer.foldings[row].tolist(), int(layer.cycles[row])]


def _most_percent(answer: ChunkAnswer, problem: ChunkProblem, name: str) -> float:
    """Return the most that a chunk takes of a resource of the device, in percent."""
    column = RESOURCES.index(name)
    used = max(int(use_of(problem, chunk)[column]) + problem.fixed[column] for chunk in answer.chunks or ())
    return round(100 * used / (problem.device[column] * UNITS[column]), 1) if problem.device[column] else 0.0
