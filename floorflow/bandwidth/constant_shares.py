"""Constant shares: each network has a fixed part of the bandwidth, so that it runs as if alone at a slower memory.

The period is the least K at which the shares that networks need to be done by then are no more than the bandwidth:
``rep_i * sum_j max(L_ij, V_ij / B_i) <= K``. That is the optimum over such schedules; each subgraph has one slow-down.
"""

import numpy as np

from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem, BandwidthSchedule, Floats, answer, whole

_STEPS = 100
"""Of bisection: beyond what floating point tells apart."""


def needed_share(latencies: Floats, traffic: Floats, within_us: float) -> float:
    """Return the least bytes a microsecond with which runs are done within a time; infinite if with none."""
    demand = traffic / latencies
    order = np.argsort(-demand)
    slowed = np.concatenate([[0.0], np.cumsum(traffic[order])])
    rest = latencies.sum() - np.concatenate([[0.0], np.cumsum(latencies[order])])
    # With the n most demanding runs slowed down the time is slowed[n] / share + rest[n].
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = slowed[1:] / (within_us - rest[1:])
    lower = np.append(demand[order][1:], 0.0)
    fits = (within_us > rest[1:]) & (shares >= lower * (1 - 1e-12)) & (shares <= demand[order] * (1 + 1e-12))
    return float(shares[fits].min()) if fits.any() else (float(demand.max()) if within_us >= rest[0] else np.inf)


def least_period(problem: BandwidthProblem) -> tuple[float, tuple[float, ...]]:
    """Return the least period with constant shares, and the shares."""
    pairs = list(zip(problem.latencies, problem.traffic, strict=True))

    def shares(period: float) -> list[float]:
        return [needed_share(*pair, period) for pair in pairs]

    low, high = problem.bound_us, problem.bound_us
    if sum(shares(low * (1 + 1e-12))) <= problem.bytes_per_us:
        return low, tuple(shares(low * (1 + 1e-12)))
    while sum(shares(high)) > problem.bytes_per_us:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(shares(middle)) > problem.bytes_per_us else (low, middle)
    return high, tuple(shares(high))


def shared(problem: BandwidthProblem) -> BandwidthSchedule:
    """Return the schedule of constant shares: every network's runs back to back."""
    period, shares = least_period(problem)
    runs = []
    for demand, latencies, share in zip(problem.demands, problem.latencies, shares, strict=True):
        speeds = np.minimum(1.0, share / demand)
        ends = np.cumsum(latencies / speeds)
        runs.append((np.concatenate([[0.0], ends[:-1]]), ends, speeds))
    longest = max(float(ends[-1]) for _, ends, _ in runs)
    return BandwidthSchedule(max(period, longest), tuple(whole(*each) for each in runs), problem.first)


def solve(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the schedule of constant shares. ``seed`` is not used."""
    del seed
    return answer("constant", problem, shared(problem))
