"""Resource-constrained list scheduling of runs whose speeds are given.

Source: f-CNN^x names RCLS (De Micheli, 1994) and leaves the rest out. Here: whenever something ends, idle networks in
the order of their longest remaining work start their next run if the bandwidth left is enough, or if nothing runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from floorflow.bandwidth.problem import (
    TOLERANCE,
    BandwidthProblem,
    BandwidthSchedule,
    Floats,
    whole,
)


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
