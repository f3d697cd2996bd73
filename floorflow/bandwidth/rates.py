"""Rates of engines at a memory: with a constant share, without any schedule, and what they are worth together.

Eq. 5 and 6 of f-CNN^x are the sum over networks of the squared relative distance from a target. ``fps-error`` (FPSobj):
from the rate that is asked for, or the most that the network reaches alone on the platform if that is less.
``throughput-error`` (MaxThrpt): from that most, for work and rate are in proportion. One-sided, more than the target is
no fault.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from floorflow.bandwidth.problem import BandwidthProblem, Floats
from floorflow.dataflow.traffic import BYTES_PER_US, EnginePoint

Fairness = Literal["fps-error", "throughput-error"]
LEAST_SHARE_OF_TARGET = 0.5
"""Of its target that each network gets where that is feasible, unless asked otherwise."""


@dataclass(frozen=True)
class Wish:
    """What a network is to reach: its target and the least that it is guaranteed, in frames a second."""

    target_fps: float
    least_fps: float = 0.0
    two_sided: bool = False

    def errors(self, frames_per_s: Floats) -> Floats:
        """Return the squared relative distance of rates from the target."""
        away = (frames_per_s - self.target_fps) / self.target_fps
        return np.asarray(away**2 if self.two_sided else np.minimum(away, 0.0) ** 2)


def rate(point: EnginePoint, share_gbs: float) -> float:
    """Return the frames a second of an engine with a constant share of the memory."""
    if share_gbs <= 0:
        return 0.0
    share = share_gbs * BYTES_PER_US
    return 1e6 / sum(max(s.latency_us, s.traffic_bytes / share) for s in point.subgraphs)


def rates(point: EnginePoint, shares_gbs: Floats) -> Floats:
    """Return the frames a second at several shares above 0."""
    latency = np.array([s.latency_us for s in point.subgraphs])[:, None]
    traffic = np.array([s.traffic_bytes for s in point.subgraphs])[:, None]
    return np.asarray(1e6 / np.maximum(latency, traffic / (shares_gbs * BYTES_PER_US)).sum(axis=0))


def most_fps(points: tuple[EnginePoint, ...], bandwidth_gbs: float) -> float:
    """Return the highest rate of a network with the whole platform to itself."""
    return max(rate(point, bandwidth_gbs) for point in points)


def wish(
    points: tuple[EnginePoint, ...],
    bandwidth_gbs: float,
    asked_fps: float,
    fairness: Fairness = "fps-error",
    *,
    least_fps: float | None = None,
    two_sided: bool = False,
) -> Wish:
    """Return the target of eq. 5 or 6 and the least rate: half the target unless given."""
    most = most_fps(points, bandwidth_gbs)
    target = most if fairness == "throughput-error" else min(asked_fps, most)
    least = LEAST_SHARE_OF_TARGET * target if least_fps is None else least_fps
    return Wish(target, least, two_sided)


EFFICIENCY = 0.45
"""Of a port under collisions: assumed, as in ``eta_unaware`` of the case; not tuned to Table III."""
INFERENCES = 20
"""That the slowest network makes while rates are counted."""


def unaware_rates(problem: BandwidthProblem, memory_gbs: float) -> tuple[float, ...]:
    """Return the frames a second of each network without a schedule; ``memory_gbs``: no overhead taken off.

    The contention-unaware baseline of section IV-C: a DMA engine each, all asynchronous, that asks the memory port
    whenever it can. How the port shares itself out is not printed; here it is simulated as a fluid, at an efficiency
    that collisions leave, and gives to each as much of its demand as to the others.
    """
    times = [np.array([s.latency_us for s in network.subgraphs]) for network in problem.networks]
    demands = [np.array([s.demand_gbs * BYTES_PER_US for s in network.subgraphs]) for network in problem.networks]
    limit = memory_gbs * BYTES_PER_US * EFFICIENCY
    place, frames = [0] * len(times), np.zeros(len(times))
    left, now = np.array([each[0] for each in times]), 0.0
    while frames.min() < INFERENCES:
        wanted = np.array([each[at] for each, at in zip(demands, place, strict=True)])
        granted = wanted if wanted.sum() <= limit else wanted * (limit / wanted.sum())
        speeds = granted / wanted
        step = float((left / speeds).min())
        left, now = left - speeds * step, now + step
        for number in np.flatnonzero(left <= 1e-9 * np.array([t[at] for t, at in zip(times, place, strict=True)])):
            place[number] = (place[number] + 1) % len(times[number])
            frames[number] += place[number] == 0
            left[number] = times[number][place[number]]
    rest = [rest + t[at + 1 :].sum() for t, at, rest in zip(times, place, left, strict=True)]
    done = [1 - behind / t.sum() for t, behind in zip(times, rest, strict=True)]
    return tuple(float(rate) for rate in (frames + np.array(done)) / now * 1e6)
