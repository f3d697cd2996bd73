"""What one frame takes: the FIFO depths that a folded network needs for its full rate, and what planned depths reach.

The analysis is at the level of bursts (`floorflow.rates`, docs/rates.md); nothing is simulated word by word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil

from floorflow.dataflow.model import FoldedDataflow
from floorflow.errors import FloorflowError, LimitError, Refused, outcome_of
from floorflow.rates.analysis import blocked, first_frame, keeps, size
from floorflow.rates.deadlock import Blocked
from floorflow.rates.fifo_graph import StepLimit
from floorflow.rates.pipeline import Actors, RouteDelay, rate_problem
from floorflow.rates.problem import RateProblem

STEPPED_BURSTS = 30_000
"""Bursts a frame up to which FIFOs that are too shallow are looked through for a deadlock and their interval is worked
out to the cycle; beyond, whole periods are tried: one that is kept proves that nothing deadlocks."""
PERIOD_PRECISION = 1_000
"""The interval of such a frame is looked for to one part in so many."""
LONGEST_PERIOD = 16
"""How many times the slowest engine's cycles are tried at most for such a frame."""
SEARCHED_BURSTS = 300
"""Bursts a frame up to which the smallest depths are searched; beyond, one schedule gives them."""
SIZING_STEPS = 1_000_000_000
"""Steps (`floorflow.rates.fifo_graph.StepLimit`) in which depths must be found."""
ANALYSIS_STEPS = 100_000_000
"""Steps that the deadlock, the latency and the full rate of given depths may take: some seconds."""
PROBE_STEPS = 20_000_000
"""Steps for each interval that is tried for depths that do not keep the full rate."""


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


def full_rate(
    folded: FoldedDataflow,
    route_delays: Mapping[str, RouteDelay] | None = None,
    slack: float = 0,
    *,
    known: Actors,
) -> FullRate:
    """Return the depths that keep the full rate; where they cannot be found, why. ``known``: the back end.

    ``slack``: by which share the interval that they keep may be longer, which takes shallower ones.
    """

    def found() -> FullRate:
        problem = rate_problem(folded, route_delays, known=known)
        interval_cycles = _with_slack(problem, slack) if slack else None
        sized = size(problem, interval_cycles, most_bursts=SEARCHED_BURSTS, work=StepLimit(SIZING_STEPS))
        return FullRate(sized.interval_cycles, sized.depths)

    answer = outcome_of(found, (FloorflowError,))
    return FullRate(None, not_analysed=str(answer)) if isinstance(answer, Refused) else answer


def throughput(
    folded: FoldedDataflow,
    depths: Mapping[str, int],
    route_delays: Mapping[str, RouteDelay] | None = None,
    steps: int = ANALYSIS_STEPS,
    slack: float = 0,
    *,
    known: Actors,
) -> Throughput:
    """Return what planned depths reach, with what lies on their routes, in at most so many ``steps``.

    ``slack``: that for which the depths were chosen (`full_rate`).
    """
    full = partial(full_rate, folded, route_delays, known=known)

    def found() -> Throughput:
        problem = rate_problem(folded, route_delays, known=known)
        answer = outcome_of(partial(_at_full_rate, problem, depths, StepLimit(steps)), (LimitError,))
        if answer is None:
            answer = outcome_of(lambda: _too_shallow(problem, depths, full(), slack, StepLimit(steps)), (LimitError,))
        if isinstance(answer, Refused):
            # The analysis ended at its limit: all that can be said is which depths are less than enough.
            enough = full()
            shallow = _shallow(depths, enough)
            return Throughput(enough.interval_cycles, shallow=shallow, not_analysed=str(answer))
        return answer

    answer = outcome_of(found, (FloorflowError,))
    return Throughput(not_analysed=str(answer)) if isinstance(answer, Refused) else answer


def _at_full_rate(problem: RateProblem, depths: Mapping[str, int], work: StepLimit) -> Throughput | None:
    """Return the full rate with its latencies; None if the depths do not keep it."""
    shortest = _slowest(problem)
    if not keeps(problem, depths, shortest, work):
        return None
    return Throughput(shortest, shortest, *first_frame(problem, depths, work))


def _shallow(depths: Mapping[str, int], full: FullRate) -> tuple[Shallow, ...]:
    rows = sorted(full.depths.items())
    # What is not given is fixed: the FIFOs of link kernels.
    return tuple(Shallow(name, depths[name], words) for name, words in rows if depths.get(name, words) < words)


def _slowest(problem: RateProblem) -> int:
    """Return the cycles of the slowest actor: no interval is shorter."""
    return max(actor.cycles for actor in problem.actors)


def _with_slack(problem: RateProblem, slack: float) -> int:
    """Return the interval of the slowest actor and a share of it."""
    return ceil(_slowest(problem) * (1 + slack))


def _too_shallow(
    problem: RateProblem, depths: Mapping[str, int], full: FullRate, slack: float, work: StepLimit
) -> Throughput | Refused:
    """Return what is left of the rate, or the deadlock."""
    if problem.bursts > STEPPED_BURSTS:
        return _by_periods(problem, depths, full, slack, work)
    shallow = _shallow(depths, full)
    stuck = blocked(problem, depths, work)
    if stuck:
        return Throughput(full.interval_cycles, deadlock=stuck, shallow=shallow)
    first_word, first_whole = first_frame(problem, depths, work)
    interval = _shortest_interval_kept(problem, depths, first_whole, work)
    return Throughput(full.interval_cycles, interval, first_word, first_whole, shallow=shallow)


def _by_periods(
    problem: RateProblem, depths: Mapping[str, int], full: FullRate, slack: float, work: StepLimit
) -> Throughput | Refused:
    """Return an interval that the depths of a large frame keep, and the latencies if there are steps left for them.

    It is refused if none is found: they may deadlock.
    """
    shallow, told = _shallow(depths, full), full.interval_cycles
    chosen = _with_slack(problem, slack)
    as_chosen = bool(slack) and _keeps_within(problem, depths, chosen, work)
    interval = chosen if as_chosen else _period_kept(problem, depths, work)
    if isinstance(interval, Refused):
        return interval
    latency = outcome_of(partial(first_frame, problem, depths, work))
    if isinstance(latency, Refused):
        return Throughput(told, interval, shallow=shallow, not_analysed=f"latency: {latency}")
    return Throughput(told, interval, *latency, shallow=shallow)


def _period_kept(problem: RateProblem, depths: Mapping[str, int], work: StepLimit) -> int | Refused:
    """Return the shortest period that is found to be kept, upwards in doubling steps, then by halving."""
    shortest = _slowest(problem)
    step = max(1, shortest // PERIOD_PRECISION)
    failed, reached = shortest, shortest + step
    while not _keeps_within(problem, depths, reached, work):
        step *= 2
        failed, reached = reached, shortest + step
        if reached > LONGEST_PERIOD * shortest or work.left <= 0:
            return Refused(
                f"no interval up to {failed:,} cycles was found to be kept within {work.limit:,} steps",
                hint="take deeper FIFOs, or a coarser folding",
            )
    while reached - failed > max(1, reached // PERIOD_PRECISION) and work.left > 0:
        middle = (failed + reached) // 2
        if _keeps_within(problem, depths, middle, work):
            reached = middle
        else:
            failed = middle
    return reached


def _keeps_within(problem: RateProblem, depths: Mapping[str, int], interval_cycles: int, work: StepLimit) -> bool:
    """Whether a period is known to be kept, after no more than a probe's steps of those that are left."""
    probe = StepLimit(max(0, min(work.left, PROBE_STEPS)))
    kept = _is_kept(problem, depths, interval_cycles, probe)
    work.left -= probe.limit - probe.left
    return kept


def _is_kept(problem: RateProblem, depths: Mapping[str, int], interval_cycles: int, work: StepLimit) -> bool:
    """Whether a period is known to be kept; what takes too many steps is as good as too short."""
    kept = outcome_of(partial(keeps, problem, depths, interval_cycles, work))
    return not isinstance(kept, Refused) and kept


def _shortest_interval_kept(problem: RateProblem, depths: Mapping[str, int], frame_cycles: int, work: StepLimit) -> int:
    """Return the shortest whole interval that depths without a deadlock keep, or the shortest found within the limit.

    Frames that begin only when the one before has left, and its places are free again, never wait for it: so much
    later they can surely follow, and the search is between that and the slowest actor.
    """
    failed = _slowest(problem)
    reached = frame_cycles + max(fifo.return_cycles for fifo in problem.fifos)
    step = failed
    while reached - failed > 1:
        # Upwards in doubling steps: the shortest is most often near the slowest actor, and failing there is quick.
        middle = min(failed + step, (failed + reached) // 2)
        if _is_kept(problem, depths, middle, StepLimit(min(work.left, PROBE_STEPS))):
            reached = middle
        else:
            failed, step = middle, 2 * step
    return reached
