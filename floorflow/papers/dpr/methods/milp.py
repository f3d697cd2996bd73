"""Method ``milp``: the published formulation with its mistakes corrected, solved by CP-SAT. For one region.

Numbers are those of the paper's constraints. Its mistakes and what stands here instead are listed in docs/chunks.md.
Layer i takes one of its options (z_ir): that is constraints 1, 2, 7, 8 and 11 with eq. 6 worked out for every pair of
PE and SIMD, so no product of the two is linearised. x_i: a cut behind layer i; y_ij: layer i is in chunk j. Where the
paper has a large M, what is asked of a layer's chunk holds if the layer is in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from floorflow.errors import InputError
from floorflow.papers.dpr.interval import undominated_in_order
from floorflow.papers.dpr.problem import Chunk, ChunkAnswer, ChunkProblem, Ints, Regions, cycles_of
from floorflow.solver import run_cpsat
from floorflow.stats import SolveStats

WORK_LIMIT = 60.0
"""CP-SAT's units of work, roughly seconds."""
STEPS_PER_CYCLE = 1000
"""Of the objective: loads take no whole cycles."""
TOLERANCE = 1e-6
"""Relative, of the optimum: what a load's time is rounded by, and more."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """A layer's options that may be best in some chunk, by their row in its table."""

    rows: Ints
    cycles: Ints
    total: Ints
    use: Ints


@dataclass(frozen=True, eq=False)
class _Variables:
    """z, x and y."""

    option: list[list[cp_model.IntVar]]
    cut: list[cp_model.IntVar]
    member: list[list[cp_model.IntVar]]


def solve(problem: ChunkProblem, regions: Regions, *, static: bool = False) -> ChunkAnswer:
    """Return what CP-SAT proves to be the fastest design, or that there is none.

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
    model, variables = _model(problem, layers, limits, load_cycles, static=static)
    status, solver = run_cpsat(model, seed=0, deterministic_limit=WORK_LIMIT)
    if status == cp_model.INFEASIBLE:
        return ChunkAnswer(None, regions, SolveStats("milp", "infeasible"), "proven by CP-SAT")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        stats = SolveStats("milp", "heuristic", None, _bound(problem, solver))
        return ChunkAnswer(None, regions, stats, "CP-SAT found no design within its limit")
    return _design(problem, regions, layers, variables, solver)


def _options(cycles: Ints, total: Ints, use: Ints, limits: Ints) -> _Layer:
    fits = np.flatnonzero((use <= limits).all(axis=1))
    if fits.size:
        fits = fits[undominated_in_order(np.column_stack([cycles, total, use])[fits])]
    return _Layer(fits, cycles[fits], total[fits], use[fits])


def _model(
    problem: ChunkProblem, layers: list[_Layer], limits: Ints, load_cycles: float, *, static: bool
) -> tuple[cp_model.CpModel, _Variables]:
    """Return the whole model: minimised is the denominator of eq. 19, in cycles, for its ratio is not linear."""
    model, count = cp_model.CpModel(), len(layers)
    most = 1 if static else len(problem.borders) - 1
    option = [[model.new_bool_var("") for _ in layer.rows] for layer in layers]
    member = [[model.new_bool_var("") for _ in range(min(most, i + 1))] for i in range(count)]
    cut = [model.new_bool_var("") for _ in range(count - 1)]
    for i in range(count):
        model.add_exactly_one(option[i])
        model.add_exactly_one(member[i])  # constraint 3
    is_cut = model.new_bool_var("")
    for i, x in enumerate(cut):
        model.add_implication(x, is_cut)
        _same_or_next(model, x, member[i], member[i + 1])
        if static or i + 1 not in problem.borders:
            model.add_bool_and(~x)
    slowest = [_slowest(model, layers, limits, (option, member, j)) for j in range(most)]
    totals = [_weighed(z, layer.total) for z, layer in zip(option, layers, strict=True)]
    cycles = (problem.batch - 1) * _summed(slowest) + _summed(totals)
    model.minimize(STEPS_PER_CYCLE * cycles + round(STEPS_PER_CYCLE * load_cycles) * (_summed(cut) + is_cut))
    return model, _Variables(option, cut, member)


def _weighed(taken: Sequence[cp_model.IntVar], amounts: Ints) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.weighted_sum(taken, amounts.tolist())


def _summed(terms: Sequence[cp_model.LinearExprT]) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.weighted_sum(terms, [1] * len(terms))


def _same_or_next(
    model: cp_model.CpModel, x: cp_model.IntVar, here: list[cp_model.IntVar], behind: list[cp_model.IntVar]
) -> None:
    """Give chunks numbers: one and the cuts before (constraints 4 to 6 without their N! equal answers).

    A layer is in the chunk of the layer before or, if there is a cut between them, in the next.
    """
    for j, y in enumerate(behind):
        if j < len(here):
            model.add_bool_or(~here[j], x, y)
            model.add_bool_or(~here[j], ~x, ~y)
        if 0 < j <= len(here):
            model.add_bool_or(~here[j - 1], ~x, y)


def _slowest(
    model: cp_model.CpModel,
    layers: list[_Layer],
    limits: Ints,
    variables: tuple[list[list[cp_model.IntVar]], list[list[cp_model.IntVar]], int],
) -> cp_model.IntVar:
    """Return what a chunk's slowest layer takes (constraint 12); its layers are within limits (9 and 10)."""
    option, member, j = variables
    inside = [i for i in range(len(layers)) if j < len(member[i])]
    slowest = model.new_int_var(0, max(int(layers[i].cycles.max()) for i in inside), "")
    for i in inside:
        model.add(slowest >= _weighed(option[i], layers[i].cycles)).only_enforce_if(member[i][j])
    for t in range(len(limits)):
        parts = []
        for i in inside:
            need = layers[i].use[:, t]
            if need.max() > 0:
                parts.append(model.new_int_var(0, int(need.max()), ""))
                model.add(parts[-1] >= _weighed(option[i], need)).only_enforce_if(member[i][j])
        if parts:
            model.add(_summed(parts) <= int(limits[t]))
    return slowest


def _bound(problem: ChunkProblem, solver: cp_model.CpSolver) -> float:
    """Return what CP-SAT proved that no design is below, in us."""
    return problem.us(solver.best_objective_bound / STEPS_PER_CYCLE)


def _design(
    problem: ChunkProblem, regions: Regions, layers: list[_Layer], variables: _Variables, solver: cp_model.CpSolver
) -> ChunkAnswer:
    """Return the chunks that CP-SAT chose, their time worked out anew."""
    rows = [
        next(int(row) for row, z in zip(layer.rows, some, strict=True) if solver.boolean_value(z))
        for layer, some in zip(layers, variables.option, strict=True)
    ]
    ends = [i + 1 for i, x in enumerate(variables.cut) if solver.boolean_value(x)]
    chunks = tuple(
        Chunk(a, b, tuple(rows[a:b]), cycles_of(problem, a, rows[a:b]))
        for a, b in zip([0, *ends], [*ends, len(rows)], strict=True)
    )
    load_us = len(chunks) * problem.load.us(regions.sizes[0]) if len(chunks) > 1 else 0.0
    objective = sum(problem.us(chunk.cycles) for chunk in chunks) + load_us
    bound = min(objective, _bound(problem, solver))
    proven = objective - bound <= TOLERANCE * objective
    stats = SolveStats("milp", "optimal" if proven else "feasible", objective, objective if proven else bound)
    return ChunkAnswer(chunks, regions, stats)
