"""Engines of several networks at one external memory: chosen together, then scheduled, from their foldings.

Source: Venieris & Bouganis, f-CNN^x (FPL 2018), Algorithm 1. Engines and constant shares are chosen with proof; how
often each network runs in a period, and when each subgraph moves its bytes, comes behind, for the engines chosen.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import floor

from floorflow.backends.backend import Source
from floorflow.channels.realise import BETWEEN_DEPTH_WORDS
from floorflow.dataflow.model import Option
from floorflow.dataflow.options import OptionGroup
from floorflow.dataflow.traffic import EnginePoint
from floorflow.errors import FloorflowError, InfeasibleError, InputError, LimitError, Refusal, sentence
from floorflow.folding import fitting
from floorflow.hardware import Platform
from floorflow.resources import NONE, Resources, total
from floorflow.schedule.bandwidth import (
    Fairness,
    JointAnswer,
    JointProblem,
    Wish,
    choose,
    scheduled_period,
    wish,
)
from floorflow.schedule.bandwidth.fairness import most_fps
from floorflow.schedule.bandwidth.joint import bound_on_any_schedule, total_error
from floorflow.schedule.bandwidth.repetitions import PeriodicChoice, starved
from floorflow.schedule.bandwidth.slots import SlotTable, in_slots
from floorflow.schedule.bandwidth.unaware import unaware_rates
from floorflow.search.context import RATE_TOLERANCE, slot_limits
from floorflow.search.preparing import Priced, context_of, priced
from floorflow.search.progress import SILENT, Progress
from floorflow.search.search import Search
from floorflow.search.several import Networks, SeveralFound, Target, Tried
from floorflow.several import SeveralRequest
from floorflow.stats import SolveStats

BURST_EFFICIENCY = 0.9
"""Of the memory's bandwidth that is planned with: bursts of 1,024 beats reach more (f-CNN^x, section III-D)."""
METHODS: Mapping[str, str] = {"fast": "constant", "default": "exact", "best": "exact"}
"""Scheduling method by effort."""
FRONT_SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of the limits at which the joint front is told."""
ENDED_BY = "the engine is the one that was chosen, with those of all networks, for their rates at the memory"
_PROVEN = "proven infeasible by the cost model: "


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
class MemoryChoice:
    """Engines, chosen, with their schedule; everything is in the order of ``names``.

    ``alone_fps``: of each network with the whole platform to itself. ``table``: the schedule in whole slots, as the
    hardware runs it. ``unaware_fps``: the same engines without a schedule. ``bound``: on the error of any engines with
    any schedule, least rates aside. ``seconds``: what each step took, which no file of the plan holds.
    """

    names: tuple[str, ...]
    asked: MemoryWishes
    wishes: tuple[Wish, ...]
    alone_fps: tuple[float, ...]
    engines: tuple[EnginePoint, ...]
    options: tuple[Option, ...]
    joint: JointAnswer
    period: PeriodicChoice
    table: SlotTable
    unaware_fps: tuple[float, ...]
    bound: float
    front: tuple[FrontPoint, ...]
    seconds: Mapping[str, float] = field(compare=False)

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


def held(networks: Mapping[str, Priced], choice: MemoryChoice) -> dict[str, Priced]:
    """Return the networks with the engines that were chosen for them, and no others."""
    found = {}
    for (name, one), option in zip(networks.items(), choice.options, strict=True):
        (group,) = one.groups
        found[name] = replace(one, groups=(OptionGroup(group.engines, ((option,),)),))
    return found


def networks_at_memory(request: SeveralRequest, sources: Sequence[Source]) -> tuple[dict[str, Priced], MemoryWishes]:
    """Lower and price each network as if it were alone, and say what is asked for.

    Limits on single engines are for units of one layer: here, where an engine is a whole network, they count only if
    they were asked for.

    Raises
    ------
    InputError
        If the platform has several slots, or nobody says what its memory carries.

    """
    free = {} if "max_engine_share" in request.shared.model_fields_set else {"max_engine_share": NONE}
    pairs = zip(request.names, request.each, sources, strict=True)
    found = {name: priced(source, one.changed(fps=None, bargains="none", **free), 1) for name, one, source in pairs}
    platform = next(iter(found.values())).platform
    if len(platform.slots) > 1:
        message = f"--platform {platform.name}: has {len(platform.slots)} slots; engines share the memory of one"
        raise InputError(message, hint="name a board of one die, such as zc706")
    rates, own = request.rates, request.own
    gbs = own.memory_gbs if own.memory_gbs is not None else _memory_gbs(platform)
    return found, MemoryWishes(rates, own.min_rate, gbs, own.fairness, two_sided=own.two_sided)


def _memory_gbs(platform: Platform) -> float:
    gbps = platform.fpgas[0].board.memory_gbps
    if gbps is None:
        raise InputError(f"{platform.name}: its file does not say what the memory carries", hint="give --memory-gbs")
    return gbps / 8


def placed_together(request: SeveralRequest, networks: Mapping[str, Priced], search: Search) -> SeveralFound:
    """Cut and place the engines that were chosen, of which each network has one."""
    cycles = [int(one.groups[0].cycles[0]) for one in networks.values()]
    targets = tuple(Target(name, None, None, each, None, each) for name, each in zip(networks, cycles, strict=True))
    own = tuple(context_of(one) for one in networks.values())
    asked = replace(request, each=tuple(one.request for one in networks.values()))
    known = Networks(asked, own, tuple(networks.values()), targets)
    several = len(networks) > 1
    context = known.context([None] * len(own), [True] * len(own), "throughput") if several else own[0]
    result = search(context)
    tried = [] if context.together is None else [Tried(context.together, tuple(cycles), result.trace)]
    met = SolveStats("least share", "optimal", 1.0, 1.0)
    return SeveralFound(known, context, result, tuple(tried), met, ENDED_BY)


def _limits(one: Priced) -> Resources:
    """Return what the design may use of the platform's one slot."""
    (limits,) = slot_limits(one.platform, one.request).values()
    return limits


def share_memory(
    networks: Mapping[str, Priced], asked: MemoryWishes, effort: str, progress: Progress = SILENT
) -> MemoryChoice:
    """Choose one engine a network within the limits on all of them together, and schedule the memory.

    Raises
    ------
    InfeasibleError
        If no combination of engines fits; it says what is short.
    LimitError
        If none was found, though none is proven impossible.

    """
    seconds: dict[str, float] = {}
    limits = _limits(next(iter(networks.values())))
    with _stage(progress, "pricing", seconds):
        foldings = {name: _fitting(one, limits) for name, one in networks.items()}
        fronts = tuple(tuple(_point(name, networks[name], o) for o in found) for name, found in foldings.items())
    names, kept = tuple(networks), frozenset(asked.least_fps)
    problem = JointProblem(names, fronts, _wishes(names, fronts, asked), limits, asked.bandwidth_gbs, kept=kept)
    with _stage(progress, "choosing", seconds):
        joint = choose(problem)
        if joint.points is None:
            raise _none(problem, joint)
        bound = bound_on_any_schedule(
            replace(problem, wishes=tuple(replace(w, two_sided=False) for w in problem.wishes))
        )
    engines = tuple(front[point] for front, point in zip(fronts, joint.points, strict=True))
    options = tuple(found[point] for found, point in zip(foldings.values(), joint.points, strict=True))
    with _stage(progress, "scheduling", seconds):
        period = scheduled_period(
            engines, names, problem.wishes, asked.bandwidth_gbs, shares_gbs=joint.shares_gbs, method=METHODS[effort]
        )
        table = in_slots(period.problem, period.answer.schedule)
    with _stage(progress, "comparing", seconds):
        unaware = unaware_rates(period.problem, asked.memory_gbs)
        front = _joint_front(problem) if effort != "fast" else ()
    alone = tuple(most_fps(points, asked.bandwidth_gbs) for points in fronts)
    found = (problem.wishes, alone, engines, options, joint, period, table, unaware)
    choice = MemoryChoice(names, asked, *found, bound, front, seconds)
    _require_kept(choice)
    return choice


def _require_kept(choice: MemoryChoice) -> None:
    """Refuse a schedule in which a network misses the least rate that was asked for."""
    missed = [
        f"{choice.names[n]} gets {choice.frames_per_s[n]:.4g} frames/s, {choice.wishes[n].least_fps:g} are to be kept"
        for n in choice.starved
        if choice.names[n] in choice.asked.least_fps
    ]
    if missed:
        hint = "ask for less with --min-rate, or try --effort best"
        raise LimitError(f"no schedule of the memory was found that keeps all rates: {'; '.join(missed)}", hint)


@contextmanager
def _stage(progress: Progress, name: str, seconds: dict[str, float]) -> Iterator[None]:
    started = time.perf_counter()
    with progress.stage(name):
        yield
    seconds[name] = time.perf_counter() - started


def _fitting(one: Priced, limits: Resources) -> tuple[Option, ...]:
    """Return the foldings of a network's engine that fit alone."""
    (group,) = one.groups
    return tuple(option for (option,) in fitting(group, ((one.platform.name, limits),)).rows)


def _point(name: str, one: Priced, option: Option) -> EnginePoint:
    """Return an engine with the FIFOs at its two ends."""
    request, (engine,) = one.request, one.dataflow.engines
    point = one.backend.from_memory(name, engine, option, one.platform.clock_mhz, request.backend_options)
    widths = (*option.input_widths_bits, *option.output_widths_bits)
    fifos = total(one.costs.fifo_resources(bits, BETWEEN_DEPTH_WORDS) for bits in widths)
    return replace(point, resources=option.resources + fifos)


def _wishes(names: Sequence[str], fronts: Sequence[tuple[EnginePoint, ...]], asked: MemoryWishes) -> tuple[Wish, ...]:
    """Return the target and the least rate of each network; without a rate that is asked for, its highest alone."""
    wishes = []
    for name, points in zip(names, fronts, strict=True):
        most = most_fps(points, asked.bandwidth_gbs)
        fps, least = asked.fps.get(name, most), asked.least_fps.get(name)
        if least is not None and least > most * (1 + RATE_TOLERANCE):
            refusal = Refusal("rate alone", "frames/s", name, least, most, proven=True)
            raise InfeasibleError(_PROVEN + str(refusal), "ask for less, or give more memory bandwidth", (refusal,))
        made = wish(points, asked.bandwidth_gbs, fps, asked.fairness, least_fps=least, two_sided=asked.two_sided)
        wishes.append(made)
    return tuple(wishes)


def _none(problem: JointProblem, joint: JointAnswer) -> FloorflowError:
    """Return why there are no engines: a resource that all of them are short of, or rates that cannot be kept."""
    least = total(_least(points) for points in problem.fronts).as_dict()
    refusals = tuple(
        Refusal("slots together", name, "", least[name], limit, proven=True)
        for name, limit in problem.available.as_dict().items()
        if least[name] > limit
    )
    hint = "a larger platform, --cap, or fewer networks"
    if not refusals:
        hard = [n for n, name in enumerate(problem.names) if name in problem.kept]
        free = replace(problem, kept=frozenset())
        if not hard or choose(free).points is None:
            refusals = (Refusal("budgets together", proven=joint.stats.status == "infeasible"),)
        else:
            refusals, hint = (_rates_refused(problem, hard),), "ask for less with --min-rate"
    proven = all(refusal.proven for refusal in refusals)
    message = f"{', '.join(problem.names)}: {sentence(*refusals)}"
    return InfeasibleError(_PROVEN + message, hint, refusals) if proven else LimitError(message, hint, refusals)


def _least(points: Sequence[EnginePoint]) -> Resources:
    columns = zip(*(point.resources.as_tuple() for point in points), strict=True)
    return Resources(*(min(column) for column in columns))


def _rates_refused(problem: JointProblem, hard: Sequence[int]) -> Refusal:
    """Return that least rates cannot be kept; proven where no schedule whatever keeps them."""
    names = tuple(f"{problem.names[n]}={problem.wishes[n].least_fps:g}" for n in hard)
    least = sum(problem.wishes[n].least_fps * min(p.traffic_bytes for p in problem.fronts[n]) for n in hard) / 1e9
    if least > problem.bandwidth_gbs:
        return Refusal("rates together", "GB/s", "", least, problem.bandwidth_gbs, proven=True, names=names)
    wishes = tuple(replace(w, least_fps=w.least_fps if n in hard else 0.0) for n, w in enumerate(problem.wishes))
    loosest = choose(replace(problem, wishes=wishes, any_schedule=True))
    return Refusal("rates together", proven=loosest.stats.status == "infeasible", names=names)


def _joint_front(problem: JointProblem) -> tuple[FrontPoint, ...]:
    """Return the best choices within shares of the limits, least rates aside; where nothing fits there is none."""
    free = tuple(replace(each, least_fps=0.0) for each in problem.wishes)
    found = []
    for share in FRONT_SHARES:
        limits = Resources(*(floor(amount * share) for amount in problem.available.as_tuple()))
        answer = choose(replace(problem, wishes=free, available=limits, kept=frozenset()))
        if answer.points is not None:
            found.append(FrontPoint(share, answer.frames_per_s, answer.stats))
    return tuple(found)
