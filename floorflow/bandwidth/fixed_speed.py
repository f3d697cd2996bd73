"""Starts at full speed: the paper's integer programme, as intervals of CP-SAT under a cumulative limit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor

import numpy as np
from ortools.sat.python import cp_model

from floorflow.bandwidth.list_schedule import listed
from floorflow.bandwidth.problem import TOLERANCE, BandwidthProblem, BandwidthSchedule, whole
from floorflow.solver import run_cpsat

MOST_PAIRED = 60
"""Runs up to which the order of conflicting pairs is decided explicitly."""
_TIME_STEPS = 1 << 30
"""Whole units of time in the bound on the period, and of demand in the bandwidth."""
_DEMAND_STEPS = 1 << 24


@dataclass(frozen=True)
class FixedSpeedAnswer:
    """The best schedule at full speed, and a bound on those: proven if equal."""

    schedule: BandwidthSchedule
    bound_us: float


def placed(problem: BandwidthProblem, seed: int, deterministic_limit: float) -> FixedSpeedAnswer:
    """Return the shortest schedule where every run has its full speed, within a limit of work."""
    start, unit = listed(problem), problem.bound_us / _TIME_STEPS
    if start.period_us <= problem.bound_us * (1 + 1e-9):
        return FixedSpeedAnswer(start, start.period_us)
    model = cp_model.CpModel()
    horizon = ceil(start.period_us / unit) + problem.jobs
    lengths = [[ceil(latency / unit) for latency in each.tolist()] for each in problem.latencies]
    starts: list[list[cp_model.IntVar]] = [[] for _ in lengths]
    intervals, demands, period = [], [], model.new_int_var(0, horizon, "period")
    for number, each in enumerate(lengths):
        end = 0
        for place, length in enumerate(each):
            begin = model.new_int_var(0, horizon - length, f"start[{number},{place}]")
            model.add(begin >= end)
            end = begin + length
            starts[number].append(begin)
            intervals.append(model.new_fixed_size_interval_var(begin, length, f"run[{number},{place}]"))
            demands.append(floor(problem.demands[number][place] / problem.bytes_per_us * _DEMAND_STEPS * (1 - 1e-12)))
        model.add(period >= end)
    model.add_cumulative(intervals, demands, _DEMAND_STEPS)
    if problem.jobs <= MOST_PAIRED:
        _order_pairs(model, problem, starts, lengths)
    model.minimize(period)
    _hint(model, starts, start, unit)
    status, solver = run_cpsat(model, seed, deterministic_limit)
    bound = max((solver.best_objective_bound - problem.jobs) * unit, problem.bound_us)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return FixedSpeedAnswer(start, min(bound, start.period_us))
    found = _schedule(problem, [[solver.value(begin) for begin in each] for each in starts])
    return FixedSpeedAnswer(min(found, start, key=lambda schedule: schedule.period_us), bound)


def _order_pairs(
    model: cp_model.CpModel, problem: BandwidthProblem, starts: list[list[cp_model.IntVar]], lengths: list[list[int]]
) -> None:
    """Decide which of two runs is first where the memory is too small for both: implied, and what proofs branch on."""
    for a, b in combinations(range(len(starts)), 2):
        wanted = problem.demands[a][:, None] + problem.demands[b][None, :]
        first: dict[tuple[int, int], cp_model.IntVar] = {}
        for i, j in np.argwhere(wanted > problem.bytes_per_us * (1 + TOLERANCE)).tolist():
            first[i, j] = model.new_bool_var(f"first[{a},{i},{b},{j}]")
            model.add(starts[a][i] + lengths[a][i] <= starts[b][j]).only_enforce_if(first[i, j])
            model.add(starts[b][j] + lengths[b][j] <= starts[a][i]).only_enforce_if(~first[i, j])


def _hint(model: cp_model.CpModel, starts: list[list[cp_model.IntVar]], known: BandwidthSchedule, unit: float) -> None:
    for variables, runs in zip(starts, known.runs, strict=True):
        for variable, pieces in zip(variables, runs, strict=True):
            model.add_hint(variable, ceil(pieces[0].start_us / unit))


def _schedule(problem: BandwidthProblem, begins: list[list[int]]) -> BandwidthSchedule:
    """Return the schedule with these starts in whole units, each run as long as it really is: no longer than there."""
    unit = problem.bound_us / _TIME_STEPS
    at = [np.array(each) * unit for each in begins]
    runs = (whole(a, a + length, np.ones_like(a)) for a, length in zip(at, problem.latencies, strict=True))
    ends = max(float((a + length)[-1]) for a, length in zip(at, problem.latencies, strict=True))
    return BandwidthSchedule(ends, tuple(runs), problem.first)
