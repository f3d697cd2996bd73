"""Scheduling methods of f-CNN^x that plans do not use: list schedules, pattern search over slow-downs, its programme.

The pattern search is Algorithm 1 of f-CNN^x, whose details are not printed. The repetitions of a subgraph share a
slow-down, and at first all tiles of a layer. Start: one over the overload while the subgraph runs in a list schedule
without limit of bandwidth. Then coordinates in random order, a factor of 1 + step up and down, each gain taken at once;
a round without any halves the step.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from floorflow.bandwidth import repetitions
from floorflow.bandwidth.fixed_speed import listed, placed, starts_of
from floorflow.bandwidth.problem import (
    TOLERANCE,
    BandwidthAnswer,
    BandwidthMethod,
    BandwidthProblem,
    BandwidthSchedule,
    Floats,
    answer,
)
from floorflow.stats import SolveStats

LEAST_SPEED = 0.05
FIRST_STEP, LAST_STEP = 0.4, 0.01
WORK, WORK_IF_MANY = 4.0, 1.0
"""CP-SAT's work for the programme, which is seconds where runs are few and many times that where they are many."""
MANY_JOBS = 100
MOST_JOBS_LISTED = 6_000_000
"""Runs placed over all list schedules: the search stops behind them, some ten seconds."""


def searched(problem: BandwidthProblem, seed: int = 0) -> BandwidthSchedule:
    """Return the best list schedule over slow-downs that the search meets, from its proposals and from none."""
    vectors = [proposals(problem), [np.ones(len(network.subgraphs)) for network in problem.networks]]
    found = [_search(problem, vector, random.Random(seed)) for vector in vectors]
    return min(found, key=lambda schedule: schedule.period_us)


def proposals(problem: BandwidthProblem) -> list[Floats]:
    """Return the slow-down of each subgraph that takes the overload of an unlimited list schedule away."""
    starts, _ = starts_of(problem, limited=False)
    begin = np.concatenate([np.array(each) for each in starts])
    end = begin + np.concatenate(problem.latencies)
    demand = np.concatenate(problem.demands)
    used = np.array([demand[(begin <= at) & (at < end)].sum() for at in begin])
    limit, speeds, first = problem.bytes_per_us, [], 0
    for network in problem.networks:
        peaks = [used[(begin >= begin[n]) & (begin < end[n])].max() for n in range(first, first + network.jobs)]
        worst = np.reshape(peaks, (network.repetitions, -1)).max(axis=0)
        speeds.append(np.clip(limit / worst, LEAST_SPEED, 1.0))
        first += network.jobs
    return speeds


def _search(problem: BandwidthProblem, speeds: list[Floats], draw: random.Random) -> BandwidthSchedule:
    """Search with one slow-down a layer, then with one a subgraph."""
    budget = [MOST_JOBS_LISTED // problem.jobs]
    for groups in (_layers(problem), [(n, [p]) for n, each in enumerate(speeds) for p in range(len(each))]):
        _polled(problem, speeds, groups, draw, budget)
    return listed(problem, _repeated(problem, speeds))


def _layers(problem: BandwidthProblem) -> list[tuple[int, list[int]]]:
    """Return the subgraphs, by their network's number, whose names are equal up to the dot."""
    groups: dict[tuple[int, str], list[int]] = {}
    for number, network in enumerate(problem.networks):
        for place, subgraph in enumerate(network.subgraphs):
            groups.setdefault((number, subgraph.name.rpartition(".")[0] or subgraph.name), []).append(place)
    return [(number, places) for (number, _), places in groups.items()]


def _polled(
    problem: BandwidthProblem,
    speeds: list[Floats],
    groups: list[tuple[int, list[int]]],
    draw: random.Random,
    budget: list[int],
) -> None:
    """Improve speeds in place over groups that change together, until the step is small or the budget is spent."""

    def period() -> float:
        budget[0] -= 1
        return starts_of(problem, _repeated(problem, speeds))[1]

    best, step = period(), FIRST_STEP
    while step >= LAST_STEP:
        draw.shuffle(groups)
        before = best
        for number, places in groups:
            if best <= problem.bound_us * (1 + TOLERANCE) or budget[0] <= 0:
                return
            best = _moved(speeds[number], places, step, best, period)
        if best >= before * (1 - TOLERANCE):
            step /= 2


def _moved(speeds: Floats, places: list[int], step: float, best: float, period: Callable[[], float]) -> float:
    """Try a group up and down in place; return the period behind it."""
    old = speeds[places]
    for factor in (1 + step, 1 / (1 + step)):
        speeds[places] = np.clip(old * factor, LEAST_SPEED, 1.0)
        if (speeds[places] != old).any():
            found = period()
            if found < best * (1 - TOLERANCE):
                return found
    speeds[places] = old
    return best


def _repeated(problem: BandwidthProblem, speeds: list[Floats]) -> list[Floats]:
    return [np.tile(each, network.repetitions) for each, network in zip(speeds, problem.networks, strict=True)]


def solve_by(name: str, problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return a method's answer with the seconds that it took."""
    started = time.perf_counter()
    answered = METHODS[name](problem, seed)
    return replace(answered, seconds=time.perf_counter() - started)


def rcls(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the list schedule, every run at full speed. ``seed`` is not used."""
    del seed
    return answer("rcls", problem, listed(problem))


def rcls_search(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the best list schedule that the search meets; it proves nothing."""
    return answer("rcls-search", problem, searched(problem, seed))


def ilp(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the best schedule at full speed; with slow-downs shorter ones than its bound may exist."""
    found = placed(problem, seed, WORK if problem.jobs <= MANY_JOBS else WORK_IF_MANY)
    period = found.schedule.period_us
    is_optimal = period <= found.bound_us * (1 + 1e-6)
    stats = SolveStats("ilp", "optimal" if is_optimal else "feasible", period, min(found.bound_us, period))
    return BandwidthAnswer(found.schedule, stats)


METHODS: Mapping[str, BandwidthMethod] = {
    **repetitions.METHODS,
    "rcls": rcls,
    "rcls-search": rcls_search,
    "ilp": ilp,
}
"""By name; those that plans use too are of `floorflow.bandwidth`."""
