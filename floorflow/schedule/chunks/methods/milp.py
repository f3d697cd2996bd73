"""Method ``milp``: the published formulation with its mistakes corrected, solved by HiGHS. For one region.

Numbers are those of the paper's constraints. Its mistakes and what stands here instead are listed in docs/chunks.md.
Layer i takes one of its options (z_ir): that is constraints 1, 2, 7, 8 and 11 with eq. 6 worked out for every pair of
PE and SIMD, so no product of the two is linearised. x_i: a cut behind layer i; y_ij: layer i is in chunk j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.errors import InputError
from floorflow.schedule.chunks.problem import Chunk, ChunkAnswer, ChunkProblem, Ints, Regions, cycles_of
from floorflow.schedule.chunks.undominated import undominated
from floorflow.solver import LinearAnswer, LinearModel, run_highs
from floorflow.stats import SolveStats

NODE_LIMIT = 2_000_000
TOLERANCE = 1e-6
"""Relative, of the optimum that HiGHS states: its own feasibility is no finer."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """A layer's options that may be best in some chunk, by their row in its table."""

    rows: Ints
    cycles: Ints
    total: Ints
    use: Ints


@dataclass
class _Columns:
    """The numbers of the variables."""

    option: list[list[int]]
    cut: list[int]
    member: list[list[int]]


def solve(problem: ChunkProblem, regions: Regions, *, static: bool = False) -> ChunkAnswer:
    """Return what HiGHS proves to be the fastest design, or that there is none.

    Raises
    ------
    InputError
        If there are several regions: the published formulation knows one.

    """
    if len(regions.sizes) > 1:
        raise InputError("--method milp: the formulation has one region", hint="use --method exact")
    limits = problem.limits(regions.whole if static else regions.sizes[0])
    layers = [_options(layer.cycles, layer.total_cycles, layer.use, limits) for layer in problem.layers]
    if any(not len(layer.rows) for layer in layers):
        return ChunkAnswer(None, regions, SolveStats("milp", "infeasible"), "a layer does not fit alone")
    load_cycles = problem.load.us(regions.sizes[0]) * problem.clock_mhz
    model, columns = _model(problem, layers, limits, load_cycles, static=static)
    answer = run_highs(model, NODE_LIMIT, relative_gap=1e-9)
    if answer.values is None:
        status = "infeasible" if answer.infeasible else "heuristic"
        return ChunkAnswer(None, regions, SolveStats("milp", status), "HiGHS found no design")  # type: ignore[arg-type]
    return _design(problem, regions, layers, columns, answer)


def _options(cycles: Ints, total: Ints, use: Ints, limits: Ints) -> _Layer:
    fits = np.flatnonzero((use <= limits).all(axis=1))
    if fits.size:
        fits = fits[undominated(np.column_stack([cycles, total, use])[fits])]
    return _Layer(fits, cycles[fits], total[fits], use[fits])


def _model(
    problem: ChunkProblem, layers: list[_Layer], limits: Ints, load_cycles: float, *, static: bool
) -> tuple[LinearModel, _Columns]:
    """Return the whole model: minimised is the denominator of eq. 19, in cycles, for its ratio is not linear."""
    model, count = LinearModel(), len(layers)
    most = 1 if static else len(problem.borders) - 1
    option = [[model.column(upper=1, whole=True) for _ in layer.rows] for layer in layers]
    cuttable = {border - 1 for border in problem.borders[1:-1]}
    cut = [model.column(load_cycles, upper=float(i in cuttable and not static), whole=True) for i in range(count - 1)]
    gamma = model.column(load_cycles, upper=1)
    member = [[model.column(upper=1, whole=True) for _ in range(min(most, i + 1))] for i in range(count)]
    for i in range(count):
        model.row([(z, 1) for z in option[i]], 1, 1)
        model.row([(y, 1) for y in member[i]], 1, 1)  # constraint 3
    for i, x in enumerate(cut):
        model.row([(gamma, 1), (x, -1)], 0)
        _same_or_next(model, x, member[i], member[i + 1])
    for j in range(most):
        _chunk(model, problem, layers, limits, (option, member, j))
    return model, _Columns(option, cut, member)


def _same_or_next(model: LinearModel, x: int, here: list[int], behind: list[int]) -> None:
    """Give chunks numbers: one and the cuts before (constraints 4 to 6 without their N! equal answers).

    A layer is in the chunk of the layer before or, if there is a cut between them, in the next.
    """
    for j, y in enumerate(behind):
        same = [(here[j], 1.0)] if j < len(here) else []
        before = [(here[j - 1], 1.0)] if 0 < j <= len(here) else []
        model.row([*same, (x, -1), (y, -1)], -np.inf, 0)
        model.row([*before, (x, 1), (y, -1)], -np.inf, 1)
        if j < len(here):
            model.row([(here[j], 1), (y, 1), (x, 1)], -np.inf, 2)


def _chunk(
    model: LinearModel,
    problem: ChunkProblem,
    layers: list[_Layer],
    limits: Ints,
    variables: tuple[list[list[int]], list[list[int]], int],
) -> None:
    """Add what a chunk takes: resources (constraints 9 and 10) and its slowest and total latency (12)."""
    option, member, j = variables
    slowest, total = model.column(float(problem.batch - 1)), model.column(1.0)
    inside = [i for i in range(len(layers)) if j < len(member[i])]
    summed: dict[int, list[tuple[int, float]]] = {t: [] for t in range(len(limits))}
    totals = []
    for i in inside:
        layer, y = layers[i], member[i][j]
        terms = list(zip(option[i], layer.cycles.tolist(), strict=True))
        peak = float(layer.cycles.max())
        model.row([(slowest, 1), *((z, -c) for z, c in terms), (y, -peak)], -peak)
        added, most = model.column(), float(layer.total.max())
        model.row(
            [(added, 1), *((z, -c) for z, c in zip(option[i], layer.total.tolist(), strict=True)), (y, -most)], -most
        )
        totals.append((added, -1.0))
        for t in range(len(limits)):
            need = layer.use[:, t]
            if need.max() > 0:
                part, bound = model.column(), float(need.max()) / _scale(limits, t)
                amounts = ((z, -float(n) / _scale(limits, t)) for z, n in zip(option[i], need.tolist(), strict=True))
                model.row([(part, 1), *amounts, (y, -bound)], -bound)
                summed[t].append((part, 1.0))
    model.row([(total, 1), *totals], 0)
    for t, parts in summed.items():
        if parts:
            model.row(parts, -np.inf, float(limits[t]) / _scale(limits, t))


def _scale(limits: Ints, t: int) -> float:
    return max(1.0, float(limits[t]))


def _design(
    problem: ChunkProblem, regions: Regions, layers: list[_Layer], columns: _Columns, answer: LinearAnswer
) -> ChunkAnswer:
    """Return the chunks that HiGHS chose, their time worked out anew in whole cycles."""
    if answer.values is None:
        raise ValueError("an answer without values has no design")
    rows = [
        int(layer.rows[int(np.argmax(answer.values[some]))]) for layer, some in zip(layers, columns.option, strict=True)
    ]
    ends = [i + 1 for i, x in enumerate(columns.cut) if answer.values[x] > 0.5]
    chunks = tuple(
        Chunk(a, b, tuple(rows[a:b]), cycles_of(problem, a, rows[a:b]))
        for a, b in zip([0, *ends], [*ends, len(rows)], strict=True)
    )
    load_us = len(chunks) * problem.load.us(regions.sizes[0]) if len(chunks) > 1 else 0.0
    objective = sum(problem.us(chunk.cycles) for chunk in chunks) + load_us
    bound = min(objective, problem.us(answer.bound))
    proven = answer.optimal and objective - bound <= TOLERANCE * objective
    stats = SolveStats("milp", "optimal" if proven else "feasible", objective, objective if proven else bound)
    return ChunkAnswer(chunks, regions, stats)
