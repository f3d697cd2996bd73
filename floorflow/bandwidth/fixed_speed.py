"""Schedules at given speeds: by list scheduling, and at full speed by the paper's integer programme.

Source: f-CNN^x names RCLS (De Micheli, 1994) and leaves the rest out. Here: whenever something ends, idle networks in
the order of their longest remaining work start their next run if the bandwidth left is enough, or if nothing runs. The
programme is CP-SAT's: intervals under a cumulative limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor

import numpy as np
from ortools.sat.python import cp_model

from floorflow.bandwidth.problem import TOLERANCE, BandwidthProblem, BandwidthSchedule, Floats, whole
from floorflow.solver import run_cpsat


def starts_of(
    problem: BandwidthProblem, speeds: Sequence[Floats] | None = None, *, limited: bool = True
) -> tuple[list[list[float]], float]:
    """Return when each run of each network starts, and the period; ``limited``: within the bandwidth."""
    lengths = [times.tolist() for times in _lengths(problem, speeds)]
    demands = [used.tolist() for used in _demands(problem, speeds)]
    limit = problem.bytes_per_us * (1 + TOLERANCE) if limited else float("inf")
    remaining = [sum(times) for times in lengths]
    starts: list[list[float]] = [[] for _ in lengths]
    running: list[tuple[float, int]] = []
    now, used, everyone = 0.0, 0.0, range(len(lengths))
    waiting = set(everyone)
    while True:
        for number in sorted(waiting, key=lambda n: (-remaining[n], n)):
            place = len(starts[number])
            if place < len(lengths[number]) and (used + demands[number][place] <= limit or not running):
                starts[number].append(now)
                running.append((now + lengths[number][place], number))
                used += demands[number][place]
                remaining[number] -= lengths[number][place]
                waiting.discard(number)
        if not running:
            return starts, now
        now = min(running)[0]
        for end, number in [each for each in running if each[0] <= now]:
            running.remove((end, number))
            used -= demands[number][len(starts[number]) - 1]
            waiting.add(number)
        used = used if running else 0.0


def _lengths(problem: BandwidthProblem, speeds: Sequence[Floats] | None) -> list[Floats]:
    if speeds is None:
        return list(problem.latencies)
    return [times / speed for times, speed in zip(problem.latencies, speeds, strict=True)]


def _demands(problem: BandwidthProblem, speeds: Sequence[Floats] | None) -> list[Floats]:
    if speeds is None:
        return list(problem.demands)
    return [demand * speed for demand, speed in zip(problem.demands, speeds, strict=True)]


def listed(problem: BandwidthProblem, speeds: Sequence[Floats] | None = None) -> BandwidthSchedule:
    """Return the list schedule within the bandwidth."""
    starts, period = starts_of(problem, speeds)
    if speeds is None:
        speeds = [np.ones_like(times) for times in problem.latencies]
    at = [np.array(each) for each in starts]
    lengths = _lengths(problem, speeds)
    runs = (whole(a, a + length, speed) for a, length, speed in zip(at, lengths, speeds, strict=True))
    return BandwidthSchedule(period, tuple(runs), problem.first)


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
