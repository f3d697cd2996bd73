"""What one frame takes: the FIFO depths that a folded network needs for its full rate, and what planned depths reach.

The analysis is at the level of bursts (`floorflow.rates`, docs/rates.md); nothing is simulated word by word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from floorflow.backends.finn.rates.problem import RouteDelay, rate_problem
from floorflow.dataflow.model import FoldedDataflow
from floorflow.errors import FloorflowError
from floorflow.rates import Blocked, RateProblem, blocked, first_frame, keeps, size

BISECTED_BURSTS = 30_000
"""Bursts a frame up to which the interval of FIFOs that are too shallow is worked out."""
SEARCHED_BURSTS = 300
"""Bursts a frame up to which the smallest depths are searched; beyond, one schedule gives them."""


@dataclass(frozen=True)
class FullRate:
    """The shortest interval of a folded network and depths, by channel, that keep it.

    Without an interval nothing is known, and ``not_analysed`` says why.
    """

    interval_cycles: int | None
    depths: Mapping[str, int] = field(default_factory=dict)
    not_analysed: str = ""


@dataclass(frozen=True)
class Shallow:
    """A channel whose FIFO has fewer words than the full rate needs."""

    channel: str
    planned_words: int
    needed_words: int


@dataclass(frozen=True)
class Throughput:
    """What planned depths reach; without a number it is not known, and ``not_analysed`` says why.

    ``first_word_cycles`` and ``first_frame_cycles`` run from the first cycle of an empty pipeline until the host has
    the first word of a frame and all of it. ``full_rate_cycles`` is the interval that deep enough FIFOs reach. Where
    FIFOs are too shallow the numbers are upper bounds, as bursts are taken not to stall midway.
    """

    full_rate_cycles: int | None = None
    interval_cycles: int | None = None
    first_word_cycles: int | None = None
    first_frame_cycles: int | None = None
    deadlock: tuple[Blocked, ...] = ()
    shallow: tuple[Shallow, ...] = ()
    not_analysed: str = ""


def full_rate(folded: FoldedDataflow, route_delays: Mapping[str, RouteDelay] | None = None) -> FullRate:
    """Return the depths that keep the full rate; where they cannot be found, why."""
    try:
        sized = size(rate_problem(folded, route_delays), most_bursts=SEARCHED_BURSTS)
    except FloorflowError as error:
        return FullRate(None, not_analysed=str(error))
    return FullRate(sized.interval_cycles, sized.depths)


def throughput(
    folded: FoldedDataflow, depths: Mapping[str, int], route_delays: Mapping[str, RouteDelay] | None = None
) -> Throughput:
    """Return what planned depths reach, with what lies on the channels' routes."""
    try:
        problem = rate_problem(folded, route_delays)
        shortest = max(actor.cycles for actor in problem.actors)
        if keeps(problem, depths, shortest):
            return Throughput(shortest, shortest, *first_frame(problem, depths))
        return _too_shallow(problem, depths, full_rate(folded, route_delays))
    except FloorflowError as error:
        return Throughput(not_analysed=str(error))


def _too_shallow(problem: RateProblem, depths: Mapping[str, int], full: FullRate) -> Throughput:
    """Return what is left of the rate, or the deadlock."""
    shallow = tuple(
        Shallow(name, depths[name], words) for name, words in sorted(full.depths.items()) if depths[name] < words
    )
    if problem.bursts > BISECTED_BURSTS:
        unknown = f"the interval of these depths: {problem.bursts:,} bursts a frame are more than {BISECTED_BURSTS:,}"
        return Throughput(full.interval_cycles, shallow=shallow, not_analysed=unknown)
    stuck = blocked(problem, depths)
    if stuck:
        return Throughput(full.interval_cycles, deadlock=stuck, shallow=shallow)
    interval = _shortest_interval_kept(problem, depths)
    return Throughput(full.interval_cycles, interval, *first_frame(problem, depths), shallow=shallow)


def _shortest_interval_kept(problem: RateProblem, depths: Mapping[str, int]) -> int:
    """Return the shortest whole interval that depths without a deadlock keep."""
    failed = max(actor.cycles for actor in problem.actors)
    reached = 2 * failed
    while not keeps(problem, depths, reached):
        failed, reached = reached, 2 * reached
    while reached - failed > 1:
        middle = (failed + reached) // 2
        if keeps(problem, depths, middle):
            reached = middle
        else:
            failed = middle
    return reached
