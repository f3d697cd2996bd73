"""How often each network runs in a period, and the schedule of it, for engines that are chosen.

The paper does not say how. Here: rates that are best as far as engines alone and the bytes of all tell; small whole
numbers about their ratios; those whose bound on the error is least are scheduled, and the best schedule is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor

import numpy as np

from floorflow.bandwidth import constant_shares, exact
from floorflow.bandwidth.constant_shares import least_period
from floorflow.bandwidth.joint import total_error
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthMethod, BandwidthProblem, Floats, ScheduledNetwork
from floorflow.bandwidth.rates import Wish, rate
from floorflow.dataflow.traffic import BYTES_PER_US, EnginePoint

MOST_OF_SLOWEST = 3
"""Repetitions of the slowest network that are tried."""
MOST_JOBS = 600
"""Runs in a period."""
MOST_OF_SLOWEST_FINE, MOST_JOBS_FINE = 12, 1500
"""The same for constant shares, whose periods take no time to find."""
SCHEDULED = 3
"""Vectors of repetitions that are scheduled."""
_STEPS = 60
_NEARLY = 1e-6
METHODS: Mapping[str, BandwidthMethod] = {"constant": constant_shares.solve, "exact": exact.solve}


@dataclass(frozen=True)
class PeriodicChoice:
    """Engines in a period: problem, schedule, rates and their error; ``bound``: of any schedule of these engines."""

    problem: BandwidthProblem
    answer: BandwidthAnswer
    frames_per_s: tuple[float, ...]
    error: float
    bound: float


def best_rates(engines: Sequence[EnginePoint], wishes: Sequence[Wish], bandwidth_gbs: float) -> tuple[float, ...]:
    """Return the rates of least error that engines alone and the bytes of all allow, one-sided.

    The error is convex: each network's rate is its target less a price on its bytes, found by bisection.
    """
    most = np.array([min(rate(e, bandwidth_gbs), w.target_fps) for e, w in zip(engines, wishes, strict=True)])
    moved = np.array([engine.traffic_bytes for engine in engines])
    target = np.array([wish.target_fps for wish in wishes])
    limit = bandwidth_gbs * BYTES_PER_US * 1e6

    def at(price: float) -> Floats:
        return np.asarray(np.clip(target - price * moved * target**2 / 2, 0.0, most))

    low, high = 0.0, float((2 / (moved * target)).max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if moved @ at(middle) > limit else (low, middle)
    found = at(0.0) if moved @ at(0.0) <= limit else at(high)
    return tuple(float(fps) for fps in found)


@dataclass(frozen=True)
class _Engines:
    """Engines that are chosen, with what is wished of them."""

    engines: Sequence[EnginePoint]
    names: Sequence[str]
    wishes: Sequence[Wish]
    bandwidth_gbs: float

    def problem(self, repetitions: tuple[int, ...]) -> BandwidthProblem:
        networks = zip(self.names, self.engines, repetitions, strict=True)
        return BandwidthProblem(tuple(ScheduledNetwork(n, e.subgraphs, r) for n, e, r in networks), self.bandwidth_gbs)

    def worth(self, repetitions: tuple[int, ...], period_us: float) -> tuple[float, ...]:
        """Return what a period is worth, the less the better: networks below their least rates, error, runs."""
        fps = [count / period_us * 1e6 for count in repetitions]
        return (len(starved(self.wishes, fps)), round(total_error(self.wishes, fps), 9), sum(repetitions), *repetitions)

    def ratios(self, rates: Sequence[Sequence[float]], most_of_slowest: int, most_jobs: int) -> list[tuple[int, ...]]:
        """Return vectors of few runs near the ratios of rates; once each is there whatever it has."""
        found = {(1,) * len(self.engines)}
        for each in rates:
            found |= {
                vector
                for vector in _whole_ratios(each, most_of_slowest)
                if sum(r * len(e.subgraphs) for r, e in zip(vector, self.engines, strict=True)) <= most_jobs
            }
        return sorted(found)


def scheduled_period(
    engines: Sequence[EnginePoint],
    names: Sequence[str],
    wishes: Sequence[Wish],
    bandwidth_gbs: float,
    *,
    shares_gbs: Sequence[float] = (),
    method: str = "exact",
) -> PeriodicChoice:
    """Return the schedule of least error over repetitions, of those with the fewest networks below their least rates.

    ``shares_gbs``: constant ones, whose rates are tried too, and of which finer ratios than ``method`` has time for.
    """
    known = _Engines(engines, names, wishes, bandwidth_gbs)
    ideal = best_rates(engines, wishes, bandwidth_gbs)
    pairs = zip(engines, shares_gbs, strict=True) if shares_gbs else ()
    constant = [found] if (found := tuple(rate(engine, share) for engine, share in pairs)) else []
    vectors = known.ratios([ideal, *constant], MOST_OF_SLOWEST, MOST_JOBS)
    vectors.sort(key=lambda vector: known.worth(vector, known.problem(vector).bound_us))
    tried = [(vector, method) for vector in vectors[:SCHEDULED]]
    if constant:
        fine = known.ratios(constant, MOST_OF_SLOWEST_FINE, MOST_JOBS_FINE)
        tried.append((min(fine, key=lambda v: known.worth(v, least_period(known.problem(v))[0])), "constant"))
    choices = []
    for vector, by in tried:
        problem = known.problem(vector)
        answer = METHODS[by](problem)
        fps = answer.schedule.frames_per_s(problem)
        begun = problem.beginning_with(answer.schedule.first)
        choices.append(PeriodicChoice(begun, answer, fps, total_error(wishes, fps), total_error(wishes, ideal)))
    return min(choices, key=lambda choice: (len(starved(wishes, choice.frames_per_s)), choice.error))


def starved(wishes: Sequence[Wish], frames_per_s: Sequence[float]) -> list[int]:
    """Return the networks, by position, that miss their least rate."""
    pairs = enumerate(zip(wishes, frames_per_s, strict=True))
    return [number for number, (wish, fps) in pairs if fps < wish.least_fps * (1 - _NEARLY)]


def _whole_ratios(rates: Sequence[float], most_of_slowest: int) -> Iterator[tuple[int, ...]]:
    """Yield vectors of whole numbers near the ratios of rates, each at least 1."""
    slowest = max(min(rates), 1e-3 * max(rates))
    for count in range(1, most_of_slowest + 1):
        near = [fps / slowest * count for fps in rates]
        yield from product(*({max(1, floor(n + 1e-9)), max(1, ceil(n - 1e-9))} for n in near))
