"""A case's rows, answered: the fastest static and dynamic design of each."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from floorflow.papers.dpr.case_file import FITTED, ChunkCase, Row
from floorflow.papers.dpr.methods import solver_of
from floorflow.papers.dpr.paper_models import AnyModel, PaperLayer, fit_model, layer_with_options
from floorflow.papers.dpr.problem import RESOURCES, UNITS, ChunkAnswer, ChunkProblem, Load, Regions, in_units, use_of

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


def problem_of_row(case: ChunkCase, row: Row) -> ChunkProblem:
    """Return the problem that rows of one network, model and rule share."""
    base = row.model.removesuffix(FITTED)
    model: AnyModel = case.models[row.net, base]
    if base != row.model:
        model = fit_model(case.models[row.net, base], case.layers, (case.pe_values, case.simd_values))
    layers = tuple(
        layer_with_options(number, layer, foldings_of(case, layer, row.rule), model, window=row.finn_latency)
        for number, layer in enumerate(case.layers)
    )
    device = tuple(case.device.get(name, 0) for name in RESOURCES)
    load = Load(case.us_per_area, case.offset_us)
    fixed = in_units(case.fixed[base, row.infra])
    return ChunkProblem(layers, device, load, case.batch, case.clock_mhz, fixed)


def foldings_of(case: ChunkCase, layer: PaperLayer, rule: str) -> Sequence[tuple[int, int]]:
    """Return PE and SIMD: ``paper`` the listed values, ``finn`` the divisors of the channels up to the largest listed.

    PE divides the output channels, SIMD the input channels, of a dense layer the matrix's width.
    """
    if rule == "paper":
        return [(pe, simd) for pe in case.pe_values for simd in case.simd_values]
    lanes = layer.sizes[3] if layer.is_conv else layer.MW
    pes = [pe for pe in range(1, max(case.pe_values) + 1) if layer.MH % pe == 0]
    return [(pe, simd) for pe in pes for simd in range(1, max(case.simd_values) + 1) if lanes % simd == 0]
