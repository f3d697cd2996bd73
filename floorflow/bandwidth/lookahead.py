"""Good orders of completions: a beam of fluid schedules, judged by what is left to do.

A state is how far each network is, and the time. Whenever a run ends the bandwidth is shared out anew, to the networks
in one of several orders of precedence: one gets what it can use, the next what is left. States with the same number of
completions compete with those that began with the same subgraphs; each is judged by its time and the bound on what is
left, that of the slowest network and that of all bytes. Everything is arrays over states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from floorflow.bandwidth.fixed_order import Order
from floorflow.bandwidth.problem import BandwidthProblem, Floats

Ints = NDArray[np.int64]
Begin = tuple[int, ...]
"""The subgraph of each network that the period begins with."""
MOST_PERMUTED = 4
"""Networks up to which all orders of precedence are tried."""
_LATENESS_WEIGHT = 0.01
"""Of the mean network's time beside the bound, which the slowest sets alone."""
_EVEN = 1e-9


@dataclass(frozen=True)
class FoundOrder:
    """An order of completions, the subgraphs it begins with, and the period of its fluid schedule."""

    begin: Begin
    order: Order
    period_us: float


@dataclass(frozen=True)
class _Tables:
    """Of each network, twice over and padded to the longest, (n_networks, n_runs): work, demand, sums before a run."""

    work: Floats
    demand: Floats
    time_before: Floats
    bytes_before: Floats
    jobs: Ints

    @classmethod
    def of(cls, problem: BandwidthProblem) -> "_Tables":
        problem = problem.beginning_with([0] * len(problem.networks))
        jobs = np.array([network.jobs for network in problem.networks], dtype=np.int64)
        shape = (len(jobs), 2 * int(jobs.max()) + 1)
        work, demand = np.zeros(shape), np.zeros(shape)
        for number, (latency, used) in enumerate(zip(problem.latencies, problem.demands, strict=True)):
            work[number, : 2 * len(latency)] = np.tile(latency, 2)
            demand[number, : 2 * len(used)] = np.tile(used, 2)
        time_before, bytes_before = (np.pad(w.cumsum(axis=1), ((0, 0), (1, 0))) for w in (work, work * demand))
        return cls(work, demand, time_before, bytes_before, jobs)


@dataclass
class _States:
    """All states: which begin each has, next run of each network, work left in it, (n_states, n_networks), and time."""

    group: Ints
    at: Ints
    left: Floats
    now: Floats


def looked_ahead(problem: BandwidthProblem, begins: Sequence[Begin], width: int) -> list[FoundOrder]:
    """Return the best order found for each way to begin a period, by period; ``width``: states kept of each."""
    tables, bandwidth = _Tables.of(problem), problem.bytes_per_us
    start = np.array(begins, dtype=np.int64)
    ends, count = start + tables.jobs, start.shape[1]
    networks, precedence = np.arange(count), _precedences(count)
    states = _States(np.arange(len(start)), start, tables.work[networks, start], np.zeros(len(start)))
    history: list[tuple[Ints, Ints]] = []
    for _ in range(problem.jobs):
        active = states.at < ends[states.group]
        speeds = _speeds(np.where(active, tables.demand[networks, states.at], 0.0), bandwidth, precedence)
        parents, first, after = _advanced(tables, states, active, speeds)
        judged = _judged(tables, bandwidth, after, ends)
        kept = _kept(judged, after, width)
        history.append((parents[kept], first[kept]))
        states = _States(after.group[kept], after.at[kept], after.left[kept], after.now[kept])
    best = {int(g): n for n, g in reversed(list(enumerate(states.group.tolist())))}  # the first of each is its best
    found = [FoundOrder(begins[g], _traced(history, n), float(states.now[n])) for g, n in best.items()]
    return sorted(found, key=lambda each: (each.period_us, each.begin))


def _precedences(count: int) -> Ints:
    """Return orders of precedence, (n_orders, n_networks)."""
    if count <= MOST_PERMUTED:
        return np.array(list(permutations(range(count))), dtype=np.int64)
    forward = [[(first + n) % count for n in range(count)] for first in range(count)]
    return np.array([*forward, *(order[::-1] for order in forward)], dtype=np.int64)


def _speeds(wanted: Floats, bandwidth: float, precedence: Ints) -> Floats:
    """Return speeds by precedence, and equal ones, (n_states, n_orders + 1, n_networks)."""
    speeds = np.empty((len(wanted), len(precedence) + 1, wanted.shape[1]))
    speeds[:, -1, :] = np.minimum(1.0, bandwidth / np.maximum(wanted.sum(axis=1), _EVEN))[:, None]
    some = np.maximum(wanted, _EVEN)
    for row, order in enumerate(precedence):
        free = np.full(len(wanted), bandwidth)
        for network in order.tolist():
            given = np.minimum(wanted[:, network], free)
            speeds[:, row, network] = np.where(wanted[:, network] > 0, given / some[:, network], 1.0)
            free = free - given
    return speeds


def _advanced(
    tables: _Tables, states: _States, active: NDArray[np.bool_], speeds: Floats
) -> tuple[Ints, Ints, _States]:
    """Return the state behind the next completion for each choice of speeds: its parent, who ended, and itself."""
    count = speeds.shape[2]
    parents, speeds = np.repeat(np.arange(len(speeds)), speeds.shape[1]), speeds.reshape(-1, count)
    left, rows = states.left[parents], np.arange(len(parents))
    with np.errstate(divide="ignore", invalid="ignore"):
        until = np.where((speeds > 0) & active[parents], left / speeds, np.inf)
    first = until.argmin(axis=1)
    step = until[rows, first]
    left = np.maximum(left - speeds * step[:, None], 0.0)
    at = states.at[parents]
    at[rows, first] += 1
    left[rows, first] = tables.work[first, at[rows, first]]
    return parents, first, _States(states.group[parents], at, left, states.now[parents] + step)


def _judged(tables: _Tables, bandwidth: float, states: _States, ends: Ints) -> Floats:
    """Return a number for each state, less for better ones: a bound on its period, and a little of its mean."""
    networks, until = np.arange(states.at.shape[1]), ends[states.group]
    active = states.at < until
    behind = np.minimum(states.at + 1, until)
    left = np.where(active, states.left, 0.0)
    time_left = left + tables.time_before[networks, until] - tables.time_before[networks, behind]
    moved = tables.bytes_before[networks, until] - tables.bytes_before[networks, behind]
    moved = moved + left * tables.demand[networks, states.at]
    bound = states.now + np.maximum(time_left.max(axis=1), moved.sum(axis=1) / bandwidth)
    return np.asarray(bound + _LATENESS_WEIGHT * (states.now + time_left.mean(axis=1)))


def _kept(judged: Floats, states: _States, width: int) -> Ints:
    """Return the best states of each beginning: of equal progress and judgement the first alone."""
    order = np.lexsort((states.now, judged, states.group))
    group, at = states.group[order], states.at[order]
    value = np.stack([judged[order], states.now[order]], axis=1)
    same = (group[1:] == group[:-1]) & (at[1:] == at[:-1]).all(axis=1)
    same &= (np.abs(value[1:] - value[:-1]) <= _EVEN * value[1:]).all(axis=1)
    order = order[np.concatenate([[True], ~same])]
    group = states.group[order]
    begins = np.concatenate([[True], group[1:] != group[:-1]])
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    return np.asarray(order[rank < width], dtype=np.int64)


def _traced(history: list[tuple[Ints, Ints]], state: int) -> Order:
    order = []
    for parents, networks in reversed(history):
        order.append(int(networks[state]))
        state = int(parents[state])
    return tuple(reversed(order))
