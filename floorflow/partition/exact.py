"""The exact assignment of modules to a stack of slots, by CP-SAT.

variables    above[m, k]   module m lies above boundary k (monotone: above[m, k + 1] implies above[m, k])
             cross[l, k]   stream l crosses boundary k
constraints  limit[s, r]:  use of resource r by the modules of slot s and its crossing registers <= limit
             sll[k]:       sum_l wires[l] cross[l, k] <= wires of boundary k
objective    min sum_{l,k} wires[l] cross[l, k]; then, at that cost, the least fullness of the fullest slot
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model

from floorflow.partition.problem import ModuleStream, PartitionFailure, PartitionProblem, PartitionSolution
from floorflow.resources import RESOURCE_NAMES, Resources, shortfall, total
from floorflow.stats import SolveStats

_SHARE_SCALE = 1_000_000
"""Fullness of a slot is compared in millionths of its limit."""


@dataclass
class _Model:
    problem: PartitionProblem
    cp: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    above: dict[tuple[str, int], Any] = field(default_factory=dict)
    cross: dict[tuple[int, int], Any] = field(default_factory=dict)

    def in_slot(self, module: str, slot: int) -> Any:
        """1 if the module lies in the slot: above the boundary below it and not above the one on top."""
        lower = self.above[module, slot - 1] if slot else 1
        upper = self.above[module, slot] if slot < len(self.problem.slots) - 1 else 0
        return lower - upper


def exact(
    problem: PartitionProblem, start: Mapping[str, int] | None, seed: int, limit: float
) -> PartitionSolution | PartitionFailure:
    """Solve with ``start`` as a hint, within ``limit`` deterministic time units for each of the two objectives."""
    impossible = _impossible(problem)
    if impossible is not None:
        return impossible
    built = _build(problem)
    cost = sum(
        stream.wires * built.cross[i, k] for i, stream in enumerate(problem.streams) for k in _boundaries(problem)
    )
    built.cp.minimize(cost)
    _hint(built, start)
    solver = _solver(seed, limit)
    status = solver.solve(built.cp)
    if status == cp_model.INFEASIBLE:
        return PartitionFailure("no assignment of these modules to slots meets resource and SLL limits", proven=True)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return PartitionFailure("no assignment found within the limit", proven=False)
    best = _read(built, solver)
    bound = solver.best_objective_bound
    objective = problem.cost(best)
    even = _least_full(problem, objective, best, seed, limit)
    proven = status == cp_model.OPTIMAL
    stats = SolveStats(
        "cpsat",
        "optimal" if proven else "feasible",
        float(objective),
        float(objective) if proven else max(0.0, bound),
    )
    return PartitionSolution(even, stats)


def _boundaries(problem: PartitionProblem) -> range:
    return range(len(problem.boundaries))


def _impossible(problem: PartitionProblem) -> PartitionFailure | None:
    """Name the module that fits no slot, or the resource that all slots together lack."""
    for name, need in problem.demands.items():
        if not any(slot.takes(need) for slot in problem.slots):
            amounts = ", ".join(f"{n:,} {r}" for r, n in need.as_dict().items() if n)
            return PartitionFailure(f"module {name} fits no slot alone: it needs {amounts}", proven=True)
    need, have = total(problem.demands.values()), total(slot.limit for slot in problem.slots)
    short = shortfall(need, have)
    if not short:
        return None
    needs, limits = need.as_dict(), have.as_dict()
    reason = "; ".join(f"{r}: {needs[r]:,} needed, all slots together allow {limits[r]:,}" for r in short)
    return PartitionFailure(reason, proven=True, short=Resources.from_dict(short))


def _build(problem: PartitionProblem) -> _Model:
    built = _Model(problem)
    cp = built.cp
    for module in problem.demands:
        for k in _boundaries(problem):
            built.above[module, k] = cp.new_bool_var(f"above[{module},{k}]")
            if k:
                cp.add_implication(built.above[module, k], built.above[module, k - 1])
    for i, stream in enumerate(problem.streams):
        for k in _boundaries(problem):
            built.cross[i, k] = cp.new_bool_var(f"cross[{stream.name},{k}]")
            source, target = (_above(built, end, k) for end in (stream.source, stream.target))
            cp.add(built.cross[i, k] >= source - target)
            cp.add(built.cross[i, k] >= target - source)
    _add_limits(built)
    return built


def _add_limits(built: _Model) -> None:
    """Add sll[k], limit[s, r] and room[m, s]."""
    problem, cp = built.problem, built.cp
    for k, boundary in enumerate(problem.boundaries):
        cp.add(sum(stream.wires * built.cross[i, k] for i, stream in enumerate(problem.streams)) <= boundary.wires)
    for s, slot in enumerate(problem.slots):
        for r, limit in enumerate(slot.limit.as_tuple()):
            cp.add(_use(built, s, r) <= limit)
        for module, need in problem.demands.items():
            if not slot.takes(need):
                cp.add(built.in_slot(module, s) == 0)


def _above(built: _Model, end: str | None, boundary: int) -> Any:
    return int(built.problem.host > boundary) if end is None else built.above[end, boundary]


def _use(built: _Model, slot: int, resource: int) -> Any:
    problem = built.problem
    use = sum(need.as_tuple()[resource] * built.in_slot(m, slot) for m, need in problem.demands.items())
    if RESOURCE_NAMES[resource] == "FF":
        lower = problem.stages_below()
        upper = problem.register_stages - lower
        for k, stages in ((slot, lower), (slot - 1, upper)):
            if 0 <= k < len(problem.boundaries):
                use += stages * sum(stream.wires * built.cross[i, k] for i, stream in enumerate(problem.streams))
    return use


def _hint(built: _Model, start: Mapping[str, int] | None) -> None:
    if start is None:
        return
    for (module, k), variable in built.above.items():
        built.cp.add_hint(variable, int(start[module] > k))
    for (i, k), variable in built.cross.items():
        low, high = built.problem.span(built.problem.streams[i], start)
        built.cp.add_hint(variable, int(low <= k < high))


def _solver(seed: int, limit: float) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = limit
    return solver


def _read(built: _Model, solver: cp_model.CpSolver) -> dict[str, int]:
    return {
        module: sum(solver.value(built.above[module, k]) for k in _boundaries(built.problem))
        for module in built.problem.demands
    }


def _least_full(
    problem: PartitionProblem, cost: int, start: Mapping[str, int], seed: int, limit: float
) -> Mapping[str, int]:
    """Among assignments of the same cost, return one whose fullest slot is as empty as the limit lets us find."""
    if len(problem.slots) == 1:
        return start
    built = _build(problem)
    streams: list[tuple[int, ModuleStream]] = list(enumerate(problem.streams))
    built.cp.add(sum(stream.wires * built.cross[i, k] for i, stream in streams for k in _boundaries(problem)) <= cost)
    fullest = built.cp.new_int_var(0, _SHARE_SCALE, "fullest")
    for s, slot in enumerate(problem.slots):
        for r, limit_r in enumerate(slot.limit.as_tuple()):
            if limit_r:
                built.cp.add(_SHARE_SCALE * _use(built, s, r) <= limit_r * fullest)
    built.cp.minimize(fullest)
    _hint(built, start)
    solver = _solver(seed, limit / 4)
    if solver.solve(built.cp) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return start
    return _read(built, solver)
