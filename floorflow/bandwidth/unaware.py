"""What happens without a schedule: engines that ask the memory port whenever they can.

Source: the contention-unaware baseline of f-CNN^x, section IV-C: a DMA engine each, all asynchronous. How the port
shares itself out is not printed; here it is simulated as a fluid, at an efficiency that collisions leave, by one of
three policies. ``proportional``: to each as much of its demand as to the others. ``fair``: nobody gets more than
another who wants more. ``equal``: each of N engines has 1/N, whether the others use theirs or not.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from floorflow.bandwidth.problem import BandwidthProblem, Floats
from floorflow.dataflow.traffic import BYTES_PER_US

Policy = Literal["proportional", "fair", "equal"]
EFFICIENCY = 0.45
"""Of a port under collisions: assumed, as in ``eta_unaware`` of the case; not tuned to Table III."""
INFERENCES = 20
"""That the slowest network makes while rates are counted."""


def unaware_rates(
    problem: BandwidthProblem, memory_gbs: float, policy: Policy = "proportional", efficiency: float = EFFICIENCY
) -> tuple[float, ...]:
    """Return the frames a second of each network; ``memory_gbs``: of the memory, no overhead taken off."""
    times = [np.array([s.latency_us for s in network.subgraphs]) for network in problem.networks]
    demands = [np.array([s.demand_gbs * BYTES_PER_US for s in network.subgraphs]) for network in problem.networks]
    limit = memory_gbs * BYTES_PER_US * efficiency
    place, frames = [0] * len(times), np.zeros(len(times))
    left, now = np.array([each[0] for each in times]), 0.0
    while frames.min() < INFERENCES:
        wanted = np.array([each[at] for each, at in zip(demands, place, strict=True)])
        speeds = _granted(wanted, limit, policy) / wanted
        step = float((left / speeds).min())
        left, now = left - speeds * step, now + step
        for number in np.flatnonzero(left <= 1e-9 * np.array([t[at] for t, at in zip(times, place, strict=True)])):
            place[number] = (place[number] + 1) % len(times[number])
            frames[number] += place[number] == 0
            left[number] = times[number][place[number]]
    rest = [rest + t[at + 1 :].sum() for t, at, rest in zip(times, place, left, strict=True)]
    done = [1 - behind / t.sum() for t, behind in zip(times, rest, strict=True)]
    return tuple(float(rate) for rate in (frames + np.array(done)) / now * 1e6)


def _granted(wanted: Floats, limit: float, policy: Policy) -> Floats:
    """Return what each engine gets."""
    if policy == "equal":
        return np.minimum(wanted, limit / len(wanted))
    if wanted.sum() <= limit:
        return wanted
    if policy == "proportional":
        return np.asarray(wanted * (limit / wanted.sum()))
    level, rest = np.zeros_like(wanted), limit
    for rank, number in enumerate(np.argsort(wanted, kind="stable")):
        level[number] = min(wanted[number], rest / (len(wanted) - rank))
        rest -= level[number]
    return level
