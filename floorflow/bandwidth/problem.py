"""The scheduling problem of several networks at one memory: who moves how many bytes, and when.

Source: Venieris & Bouganis, f-CNN^x (FPL 2018), section III-C. In each period K a network runs ``repetitions`` times;
its subgraphs run in order on its own engine; whatever runs at a time uses no more than the bandwidth. A subgraph slowed
down by sl takes 1/sl of the time and sl of the bandwidth (eq. 3 and 4). Here a speed may change while a subgraph runs:
it is then several pieces of constant speed, each an entry of the scheduler's table. No subgraph runs across the end of
the period, and one may start when the one before it ends (the paper prints <). The period may begin with any subgraph
of a network, ``first``: its inferences then run across the end of the period, and its rate is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.traffic import BYTES_PER_US, Subgraph
from floorflow.stats import SolveStats

Floats = NDArray[np.float64]
TOLERANCE = 1e-9
"""Relative: of sums of bandwidth and of time, for floating point."""


@dataclass(frozen=True)
class ScheduledNetwork:
    """A network in the period: its subgraphs in order, and how often they all run."""

    name: str
    subgraphs: tuple[Subgraph, ...]
    repetitions: int
    first: int = 0

    @property
    def in_order(self) -> tuple[Subgraph, ...]:
        """The subgraphs as the period runs them, once."""
        return self.subgraphs[self.first :] + self.subgraphs[: self.first]

    @property
    def jobs(self) -> int:
        """Subgraph runs in a period."""
        return len(self.subgraphs) * self.repetitions


@dataclass(frozen=True)
class BandwidthProblem:
    """Networks and the bandwidth that they share, of which a burst's overhead is already taken off."""

    networks: tuple[ScheduledNetwork, ...]
    bandwidth_gbs: float

    @property
    def bytes_per_us(self) -> float:
        """The bandwidth in the unit of subgraphs."""
        return self.bandwidth_gbs * BYTES_PER_US

    @cached_property
    def latencies(self) -> tuple[Floats, ...]:
        """Least time of each run of each network, us: at full speed, or as long as its bytes alone take."""
        return tuple(
            np.tile([max(s.latency_us, s.traffic_bytes / self.bytes_per_us) for s in n.in_order], n.repetitions)
            for n in self.networks
        )

    @cached_property
    def traffic(self) -> tuple[Floats, ...]:
        """Bytes of each run of each network."""
        return tuple(np.tile([s.traffic_bytes for s in n.in_order], n.repetitions) for n in self.networks)

    @cached_property
    def demands(self) -> tuple[Floats, ...]:
        """Bytes a microsecond of each run in its least time; none exceeds the bandwidth."""
        return tuple(moved / time for moved, time in zip(self.traffic, self.latencies, strict=True))

    def beginning_with(self, first: Sequence[int]) -> "BandwidthProblem":
        """Return the same where the period begins with other subgraphs, one of each network."""
        return replace(self, networks=tuple(replace(n, first=f) for n, f in zip(self.networks, first, strict=True)))

    @property
    def first(self) -> tuple[int, ...]:
        """The subgraph of each network that the period begins with."""
        return tuple(network.first for network in self.networks)

    @property
    def jobs(self) -> int:
        """Subgraph runs of all networks."""
        return sum(network.jobs for network in self.networks)

    @cached_property
    def bound_us(self) -> float:
        """Return a period that no schedule beats: of the slowest network alone, and of all bytes."""
        alone = max(float(times.sum()) for times in self.latencies)
        return max(alone, sum(float(moved.sum()) for moved in self.traffic) / self.bytes_per_us)


@dataclass(frozen=True)
class Piece:
    """A run, or a part of one, at constant speed: 1 is its least time (`BandwidthProblem.latencies`)."""

    start_us: float
    end_us: float
    speed: float

    @property
    def work_us(self) -> float:
        """What it does, in time at full speed."""
        return (self.end_us - self.start_us) * self.speed


@dataclass(frozen=True)
class BandwidthSchedule:
    """The pieces of every run of every network within a period; runs are in the order of the network's chain."""

    period_us: float
    runs: tuple[tuple[tuple[Piece, ...], ...], ...]
    first: tuple[int, ...]
    """The subgraph of each network that its first run is."""

    def frames_per_s(self, problem: BandwidthProblem) -> tuple[float, ...]:
        """Return the rate of each network."""
        return tuple(network.repetitions / self.period_us * 1e6 for network in problem.networks)


@dataclass(frozen=True)
class BandwidthAnswer:
    """What a method found: a schedule, and what is proven of its period in us; ``seconds`` is how long it took."""

    schedule: BandwidthSchedule
    stats: SolveStats
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return what is told of it: method, status, objective, bound, gap and seconds."""
        return {**self.stats.as_dict(), "seconds": round(self.seconds, 3)}


class BandwidthMethod(Protocol):
    """A way to share the memory out over time: equal arguments give an equal schedule."""

    def __call__(self, problem: BandwidthProblem, seed: int = 0, /) -> BandwidthAnswer:
        """Return a schedule and what is proven of its period."""


def answer(method: str, problem: BandwidthProblem, schedule: BandwidthSchedule, bound_us: float = 0) -> BandwidthAnswer:
    """Return an answer: optimal if its period is the bound, which is at least the problem's own."""
    bound = max(bound_us, problem.bound_us)
    period = schedule.period_us
    is_optimal = period <= bound * (1 + 1e-6)
    stats = SolveStats(method, "optimal" if is_optimal else "feasible", period, min(bound, period))
    return BandwidthAnswer(schedule, stats)


def whole(starts: Floats, ends: Floats, speeds: Floats) -> tuple[tuple[Piece, ...], ...]:
    """Return runs of one piece each."""
    rows = zip(starts.tolist(), ends.tolist(), speeds.tolist(), strict=True)
    return tuple((Piece(*row),) for row in rows)
