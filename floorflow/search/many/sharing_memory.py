"""Engines of several networks at one external memory: chosen together, then scheduled, from their foldings.

Source: Venieris & Bouganis, f-CNN^x (FPL 2018), Algorithm 1. Engines and constant shares are chosen with proof; how
often each network runs in a period, and when each subgraph moves its bytes, comes behind, for the engines chosen.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import floor

from floorflow.bandwidth.infeasible import PROVEN, no_engines, rates_missed
from floorflow.bandwidth.joint import JointAnswer, JointProblem, bound_on_any_schedule, choose, total_error
from floorflow.bandwidth.rates import Fairness, Wish, most_fps, unaware_rates, wish
from floorflow.bandwidth.repetitions import PeriodicChoice, scheduled_period, starved
from floorflow.bandwidth.slots import MOST_STRETCH, SlotTable, in_slots
from floorflow.channels.realise import BETWEEN_DEPTH_WORDS
from floorflow.dataflow.model import Option
from floorflow.dataflow.traffic import EnginePoint
from floorflow.errors import Refusal, Refused, all_found
from floorflow.folding import fitting
from floorflow.resources import Resources, total
from floorflow.search.candidate.context import RATE_TOLERANCE, slot_limits
from floorflow.search.candidate.engine_limits import engine_limits
from floorflow.search.candidate.preparing import Priced
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.stats import SolveStats

BURST_EFFICIENCY = 0.9
"""Of the memory's bandwidth that is planned with: bursts of 1,024 beats reach more (f-CNN^x, section III-D)."""
METHODS: Mapping[str, str] = {"fast": "constant", "default": "exact", "best": "exact"}
"""Scheduling method by effort."""
FRONT_SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of the limits at which the joint front is told."""


@dataclass(frozen=True)
class MemoryWishes:
    """What is asked for: rates by network (none: its highest), the memory, and what is fair."""

    fps: Mapping[str, float]
    least_fps: Mapping[str, float]
    memory_gbs: float
    fairness: Fairness = "fps-error"
    two_sided: bool = False

    @property
    def bandwidth_gbs(self) -> float:
        """What is planned with."""
        return self.memory_gbs * BURST_EFFICIENCY


@dataclass(frozen=True)
class FrontPoint:
    """The best engines and constant shares within a share of the limits, least rates aside."""

    share: float
    frames_per_s: tuple[float, ...]
    stats: SolveStats


@dataclass(frozen=True)
class Sharing:
    """What engines are chosen from: foldings that fit alone, and the problem; all is in the order of the networks."""

    asked: MemoryWishes
    foldings: tuple[tuple[Option, ...], ...]
    problem: JointProblem

    @property
    def alone_fps(self) -> tuple[float, ...]:
        """The rate of each network with the whole platform to itself."""
        return tuple(most_fps(points, self.asked.bandwidth_gbs) for points in self.problem.fronts)


@dataclass(frozen=True)
class ChosenEngines:
    """An engine for each network, chosen within a share of the limits.

    ``wishes`` are those that they were chosen by, perhaps with room above least rates.
    """

    limits_share: float
    engines: tuple[EnginePoint, ...]
    options: tuple[Option, ...]
    wishes: tuple[Wish, ...]
    joint: JointAnswer


@dataclass(frozen=True)
class MemoryChoice:
    """Engines with their schedule; everything is in the order of the networks.

    ``table``: the schedule in whole slots, as the hardware runs it. ``unaware_fps``: the same engines without a
    schedule. ``bound``: on the error of any engines with any schedule, least rates aside. ``seconds``: what each step
    took, which no file of the plan holds.
    """

    known: Sharing
    chosen: ChosenEngines
    period: PeriodicChoice
    table: SlotTable
    unaware_fps: tuple[float, ...]
    bound: float
    front: tuple[FrontPoint, ...]
    seconds: Mapping[str, float] = field(compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The networks."""
        return self.known.problem.names

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """What each network is to reach."""
        return self.known.problem.wishes

    @property
    def frames_per_s(self) -> tuple[float, ...]:
        """Rates of the table, which rounding to slots has slowed down a little."""
        period_us = self.table.period_us
        return tuple(network.repetitions / period_us * 1e6 for network in self.period.problem.networks)

    @property
    def starved(self) -> list[int]:
        """The networks, by position, that miss their least rates."""
        return starved(self.wishes, self.frames_per_s)

    @property
    def error(self) -> float:
        """Eq. 5 or 6 of the rates."""
        return total_error(self.wishes, self.frames_per_s)


def _limits(one: Priced) -> Resources:
    """Return what the design may use of the platform's one slot."""
    (limits,) = slot_limits(one.platform, one.request).values()
    return limits


def sharing_of(networks: Mapping[str, Priced], asked: MemoryWishes) -> Sharing | Refused:
    """Return what engines are to be chosen from: those that fit alone, with what each network is to reach.

    It is refused if a network fits by no engine even alone, or cannot reach what it must.
    """
    limits = _limits(next(iter(networks.values())))
    foldings = all_found(_fitting(name, one, limits) for name, one in networks.items())
    if isinstance(foldings, Refused):
        return foldings
    pairs = zip(networks.items(), foldings, strict=True)
    fronts = tuple(tuple(_point(name, one, option) for option in own) for (name, one), own in pairs)
    names, kept = tuple(networks), frozenset(asked.least_fps)
    wishes = _wishes(names, fronts, asked)
    if isinstance(wishes, Refused):
        return wishes
    return Sharing(asked, foldings, JointProblem(names, fronts, wishes, limits, asked.bandwidth_gbs, kept=kept))


def choose_engines(known: Sharing, limits_share: float = 1.0) -> ChosenEngines | Refused:
    """Choose one engine a network within a share of the limits on all of them together.

    Where none are found, the refusal says what is short.
    """
    problem = within(known.problem, limits_share)
    sought, joint = _chosen(problem)
    if joint.points is None:
        return no_engines(problem, joint)
    engines = tuple(front[point] for front, point in zip(problem.fronts, joint.points, strict=True))
    options = tuple(own[point] for own, point in zip(known.foldings, joint.points, strict=True))
    return ChosenEngines(limits_share, engines, options, sought.wishes, joint)


def share_memory(
    known: Sharing, chosen: ChosenEngines, effort: str, seconds: dict[str, float], progress: Progress = SILENT
) -> MemoryChoice | Refused:
    """Schedule the memory for engines that are chosen, and say what they would reach without.

    It is refused if a network misses what it must reach in every schedule that was found.
    """
    problem, asked = known.problem, known.asked
    with timed(progress, "scheduling", seconds):
        about = (chosen.engines, problem.names, chosen.wishes, asked.bandwidth_gbs)
        period = scheduled_period(*about, shares_gbs=chosen.joint.shares_gbs, method=METHODS[effort])
        table = in_slots(period.problem, period.answer.schedule)
    with timed(progress, "comparing", seconds):
        unaware = unaware_rates(period.problem, asked.memory_gbs)
        one_sided = tuple(replace(wish, two_sided=False) for wish in problem.wishes)
        bound = bound_on_any_schedule(replace(problem, wishes=one_sided))
        front = _joint_front(problem) if effort != "fast" else ()
    choice = MemoryChoice(known, chosen, period, table, unaware, bound, front, seconds)
    missed = [n for n in choice.starved if problem.names[n] in problem.kept]
    if missed:
        return rates_missed(problem, missed, choice.frames_per_s)
    return choice


def within(problem: JointProblem, share: float) -> JointProblem:
    """Return the problem with a share of the limits."""
    return replace(problem, available=Resources(*(floor(n * share) for n in problem.available.as_tuple())))


def _chosen(problem: JointProblem) -> tuple[JointProblem, JointAnswer]:
    """Return the best choice with room for rounding above least rates, or without where that serves more networks."""
    roomy = tuple(replace(each, least_fps=each.least_fps * (1 + MOST_STRETCH)) for each in problem.wishes)
    padded = replace(problem, wishes=roomy)
    joint = choose(padded)
    if joint.points is not None and not joint.starved:
        return padded, joint
    exact = choose(problem)
    better = joint.points is None or len(exact.starved) < len(joint.starved)
    return (problem, exact) if exact.points is not None and better else (padded, joint)


@contextmanager
def timed(progress: Progress, name: str, seconds: dict[str, float]) -> Iterator[None]:
    """Tell of a stage, and note how long it took."""
    started = time.perf_counter()
    with progress.stage(name):
        yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started


def _fitting(name: str, one: Priced, limits: Resources) -> tuple[Option, ...] | Refused:
    """Return the foldings of a network's engine that fit alone, within the limits on engines if any is."""
    (group,), (slot,) = one.groups, one.platform.slots
    places = ((slot.name, limits),)
    fits = fitting(group, places)
    if isinstance(fits, Refused):
        return replace(fits, message=f"{name}: {fits}")
    group = fits
    allowed = engine_limits(one.request, one.platform, one.dataflow, one.backend).allowed(group, places)
    group = group.subset(allowed) if allowed.any() else group
    return tuple(option for (option,) in group.rows)


def _point(name: str, one: Priced, option: Option) -> EnginePoint:
    """Return an engine with the FIFOs at its two ends."""
    request, (engine,) = one.request, one.dataflow.engines
    point = one.backend.from_memory(name, engine, option, one.platform.clock_mhz, request.backend_options)
    widths = (*option.input_widths_bits, *option.output_widths_bits)
    fifos = total(one.costs.fifo_resources(bits, BETWEEN_DEPTH_WORDS) for bits in widths)
    return replace(point, resources=option.resources + fifos)


def _wishes(
    names: Sequence[str], fronts: Sequence[tuple[EnginePoint, ...]], asked: MemoryWishes
) -> tuple[Wish, ...] | Refused:
    """Return the target and the least rate of each network; without a rate that is asked for, its highest alone."""
    wishes = []
    for name, points in zip(names, fronts, strict=True):
        most = most_fps(points, asked.bandwidth_gbs)
        fps, least = asked.fps.get(name, most), asked.least_fps.get(name)
        if least is not None and least > most * (1 + RATE_TOLERANCE):
            refusal = Refusal("rate alone", "frames/s", name, least, most, proven=True)
            return Refused(PROVEN + str(refusal), "ask for less, or give more memory bandwidth", (refusal,), "proven")
        made = wish(points, asked.bandwidth_gbs, fps, asked.fairness, least_fps=least, two_sided=asked.two_sided)
        wishes.append(made)
    return tuple(wishes)


def _joint_front(problem: JointProblem) -> tuple[FrontPoint, ...]:
    """Return the best choices within shares of the limits, least rates aside; where nothing fits there is none."""
    free = replace(problem, wishes=tuple(replace(w, least_fps=0.0) for w in problem.wishes), kept=frozenset())
    answers = [(share, choose(within(free, share))) for share in FRONT_SHARES]
    return tuple(FrontPoint(share, a.frames_per_s, a.stats) for share, a in answers if a.points is not None)
