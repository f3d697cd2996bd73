"""What stays the same for all candidates of a run: the network, the platform, its use, and limits.

How much a search tries is a matter of counts and shares, never seconds, so that equal runs give equal plans.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from math import floor, inf, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend, Costs
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.folding.balance import NO_BALANCE, Balance
from floorflow.folding.problem import FoldingAnswer, FoldingProblem
from floorflow.hardware import Device, Platform, Slot, StatedPblock, free_supply, max_pblocks
from floorflow.partition.problem import PartitionAnswer, PartitionProblem
from floorflow.placement.problem import PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.request import Request, limits_of
from floorflow.resources import Resources, scaled_down, total
from floorflow.search.candidate.engine_limits import EngineLimits, Places
from floorflow.search.candidate.given_pblocks import NOT_BEFORE, Previous, stated_pblocks
from floorflow.search.candidate.members import Together
from floorflow.search.candidate.wishes import NO_WISHES, Wishes
from floorflow.stats import Memo


@dataclass(frozen=True)
class LatencyLimits:
    """How the search for the lowest latency gives up budget."""

    first_step: float = 0.04
    """Share of the budget that the first failure takes from folding."""
    step_growth: float = 1.3
    """Factor by which that step grows with each failure."""
    least_budget: float = 0.02
    """Share of the budget below which no folding is tried."""
    largest_engine: float = 0.65
    """Share of a slot's limit that an engine may use after the first failure; large ones seldom fit beside another."""
    larger_engine: float = 0.8
    """The same for the last try."""
    halvings: int = 2
    """Tries between the last without and the first with a legal floorplan."""
    worth_a_try: float = 0.01
    """Share by which the latency must be above one that failed, or was folded with larger engines, to try on."""


@dataclass(frozen=True)
class SearchLimits:
    """How often a search goes round, and by what steps."""

    thorough: bool = True
    """Whether all ways to fold and cut are tried at an interval, the least full first; else segments, then the whole,
    and evenness once at the end."""
    assignment_rounds: int = 4
    """Rounds of partition and deeper FIFOs at what it crosses."""
    folding_rounds: int = 5
    """Foldings of the whole tried at one interval, each leaving to channels what they were short of."""
    kept_back: tuple[float, ...] = (1.5, 1.0)
    """What is kept back for FIFOs by what they were short of, as other foldings need other depths; near the bound the
    next where there is no folding with the one before."""
    near_the_bound: float = 1.1
    """Times the bound up to which an interval is near it."""
    cut_rounds: int = 3
    """Contiguous cuts tried at one interval, each with what is known by then of FIFOs."""
    cuts_tried: int | None = None
    """Places and positions of cuts tried at one interval where streams may not go everywhere, if only in haste."""
    slot_rounds: int = 3
    """Foldings slot by slot of one cut, each keeping back in a slot what that was short of."""
    scatter_work: float = 3.0
    """CP-SAT's work units in which stages are assigned to slots at one interval."""
    scatter_shares: tuple[float, ...] = (0.95, 1.0)
    """Shares of what slots may hold within which they are assigned: what is left is for streams that cross."""
    slack: float = 0.01
    """Share of the budget that a folding must leave for the whole to be folded: full slots come apart ill."""
    spared: tuple[float, ...] = (0.04, 0.02, 0.01)
    """Shares of the budget that a folding of the whole leaves, more than the last one, where modules do not come apart
    into slots; each where there is no folding with the one before. What is left makes cuts cheaper, too."""
    ladder: float = 1.02
    """By which steps between intervals begin to grow where one has a contiguous cut and no plan."""
    cuts_tell: bool = True
    """Whether contiguous cuts tell at which interval a search beyond the bounds begins, and whether both choices of
    kinds are tried: refusing a cut of several networks that are nearly full takes too long a proof."""
    packed_share: float = 0.95
    """Share of a slot's free cells beyond which the least rectangles of its modules are never tried as they are."""
    area_shares: tuple[float, ...] = (0.86, 0.95)
    """Shares of a slot's free cells that least rectangles may fill; the first that can be kept is kept."""
    tightened_shares: tuple[float, ...] = (0.8, 0.72)
    """The same where they do not pack."""
    merges: int = 3
    """Times that modules of one slot are merged before all of them are."""
    far: float = 1.5
    """Times the joint bound beyond which the rate of the engines is traded for shallower FIFOs."""
    fifo_slack: float = 0.05
    """By which share the interval of these FIFOs is longer than the engines': the first 5% save a third of what waits,
    as much again takes several times the interval."""
    shorter_tries: int = 4
    """Intervals tried between the last without and the first with a plan."""
    worth_a_try: float = 0.01
    """Share by which an interval must be above the longest that failed for ones between to be tried."""
    fullness_slacks: tuple[float, ...] = (1.15, 1.3, 1.55, 2.2, 4.6)
    """Times the least fullness of the sums that each slot may be full, where stages must come apart into several slots:
    the first at which a design is found counts. What is left at the first makes crossings few."""
    fullness_spared: float = 1.1
    """Times the fullness of the folding of the whole that its slots may be full, for stages are not evenly large."""
    fullness_slacks_alone: tuple[float, ...] = (1.02, 1.05, 1.1, 1.21, 1.46, 2.14, 4.6)
    """The same on a platform of one slot."""
    fullness_halvings: int = 1
    """Times that the distance between that and the last that failed is halved."""
    rate_attempts: int = 8
    """Intervals tried for the least resources at a requested rate."""
    latency: LatencyLimits = field(default_factory=LatencyLimits)


def in_short(limits: SearchLimits) -> SearchLimits:
    """Return limits of a search that goes once more over what another has found: in larger steps, by fewer ways."""
    return replace(limits, thorough=False, folding_rounds=3, ladder=1.05, shorter_tries=2)


TOGETHER = SearchLimits(ladder=1.05, cuts_tell=False, rate_attempts=2)
"""Limits where several networks are planned together."""
MORE_OF_ONE = SearchLimits(ladder=1.3, cuts_tell=False, shorter_tries=1)
"""The same for more of one of them than all can have."""


@dataclass(frozen=True)
class Solvers:
    """How a candidate is folded, partitioned and placed: functions as `solvers_of` chooses them for a request."""

    fold: Callable[[FoldingProblem, int], FoldingAnswer]
    """From a problem and the longest interval allowed."""
    fold_nearly: Callable[[FoldingProblem, int], FoldingAnswer]
    """The same, but what relaxation and exchanges do not find stays unknown; at effort ``best`` as `fold`."""
    partition: Callable[[PartitionProblem, Mapping[str, int] | None, bool], PartitionAnswer]
    """From a problem, the assignment to begin from, if there is one, and whether it is to be proven."""
    place: Callable[[PlacementProblem], PlacementSolution | PlacementFailure]


LEAST_HOPS = 1
"""SLR boundaries that a stream may cross unless more are asked for, or no assignment does with so few."""
RATE_TOLERANCE = 1e-6
"""Share by which a rate may stay below the one asked for."""


@dataclass(frozen=True)
class PlanningContext:
    """What stays the same for all candidates of a run.

    Engines of ``dataflow`` and ``problem`` have the kinds, and the names that follow, which the back end chooses by
    itself; those of a candidate have what its folding chooses.
    """

    dataflow: Dataflow
    platform: Platform
    request: Request
    backend: Backend
    costs: Costs
    problem: FoldingProblem
    unlimited: FoldingProblem
    """The problem whatever the limits on single engines."""
    engine_limits: EngineLimits
    """Those that the problem keeps; none where foldings are kept."""
    places: Places
    """What an engine may have of each slot at all."""
    solvers: Solvers
    pblock_capacities: Mapping[str, tuple[Resources, ...]]
    """What the largest pblocks of each slot hold, at the allowed fill."""
    max_hops: int = 1
    """SLR boundaries that a stream may cross one after the other in an FPGA."""

    link_streams: int | None = None
    """Streams that a link may carry in one direction; None: any number."""
    narrowed: Mapping[str, Resources] | None = None
    """Less of each slot than the design may use, if it is to keep that (`floorflow.search.interval.least_full`)."""
    balance: Balance = NO_BALANCE
    """Consecutive layers whose cycles are to be alike; none unless asked for."""
    floorplans: bool = True
    """Whether designs are placed; else they are folded and cut only, and nothing is bounded."""
    search_limits: SearchLimits = field(default_factory=SearchLimits)
    least_cycles: int = 0
    """Interval below which no design is sought: what other searches know of shorter ones."""
    slots_before: Mapping[str, str] | None = None
    """Slots of engines in a design that was found before: first each slot folds these anew, for the others."""
    work_limit: float = inf
    """Units of work (`floorflow.stats.count`) after which a search ends with what it has found."""
    likely_alone: bool = False
    """Whether only designs are looked for that are as likely to fit as `--confidence` asks, in one search."""
    given: Any = None
    """The one candidate that is placed, if any; its pblocks have to be likely to fit even where modules never merge."""
    fifo_slack: float = 0
    """By which share the interval that FIFOs are deep enough for is longer than that of the engines."""
    measured: Measurements = NO_MEASUREMENTS
    """What is no estimate."""
    previous: Previous = NOT_BEFORE
    """The plan to stay near, if any."""
    joins_apart: bool = False
    """Whether what joins branches is a module of its own, however small, so that more modules are alike."""
    wishes: Wishes = NO_WISHES
    """What the user asks of the slots of engines."""
    together: Together | None = None
    """The networks, where several share the platform; ``dataflow`` holds the engines of all then."""
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)
    """What pblocks should hold and what full rate needs of FIFOs: worked out once for each."""

    @property
    def told(self) -> tuple[Any, ...]:
        """All that a search goes by: solvers follow from the rest, and what is remembered changes no answer."""
        return tuple(getattr(self, part.name) for part in fields(self) if part.name not in {"solvers", "memo"})

    @cached_property
    def inside(self) -> Callable[[OptionGroup], NDArray[np.bool_]] | None:
        """In which slots each engine of a group may lie with each row, (n_rows, n_engines, n_slots); None: in all."""
        limits, slots, groups = self.engine_limits, list(self.limits), self.problem.groups
        return partial(limits.inside, slots=slots) if any(limits.place(slot, groups) for slot in slots) else None

    @property
    def moves_modules(self) -> bool:
        """Whether there are several slots to which modules can be assigned anew."""
        return len(self.limits) > 1 and self.request.granularity != "slot"

    @cached_property
    def scarcity_prices(self) -> tuple[float, ...]:
        """A price of a unit of each resource: its share of what all slots allow. Of FF there is always enough."""
        allowed = total(self.limits.values()).as_dict()
        return tuple(1 / have if have and name != "FF" else 0.0 for name, have in allowed.items())

    @cached_property
    def stated(self) -> Mapping[str, StatedPblock]:
        """Where the user wants pblocks, by the name of an engine or module."""
        return stated_pblocks(self.platform, self.request)

    @cached_property
    def limits(self) -> dict[str, Resources]:
        """Limit of every slot."""
        return self.allowed if self.narrowed is None else dict(self.narrowed)

    @cached_property
    def allowed(self) -> dict[str, Resources]:
        """What the design may use of every slot by the request."""
        return slot_limits(self.platform, self.request)

    @property
    def confidence(self) -> float | None:
        """How likely each slot and pblock is to hold what lies in it, None if it may be as unlikely as it will."""
        return self.request.confidence_bound if self.costs.has_bands else None

    @property
    def holds_pblocks(self) -> bool:
        """Whether no pblock may be less likely than that; where modules may merge it costs no rate."""
        return self.confidence is not None and (self.given is not None or not self.request.keep_granularity)

    @property
    def seeks_fullness(self) -> bool:
        """Whether at a given interval the least full design is sought first."""
        request = self.request
        return request.tie_break == "fullness" and request.fold_method == "exact" and request.goal != "latency"


def slot_limits(platform: Platform, request: Request) -> dict[str, Resources]:
    """Return what the design may use of each slot: cap x available, and no more than its pblocks can hold together."""
    return {
        slot.name: limits_of(request, slot.available, free_supply(fpga.device, slot))
        for fpga in platform.fpgas
        for slot in fpga.slots
    }


def cap_limits(context: PlanningContext) -> dict[str, Resources]:
    """Return cap x available of every slot; the search may keep less, where pblocks hold less."""
    return {slot.name: limits_of(context.request, slot.available) for slot in context.platform.slots}


def largest_pblocks(platform: Platform, request: Request) -> dict[str, tuple[Resources, ...]]:
    """Return what the largest pblocks of each slot hold: fill x supply.

    They are rectangles; with granularity ``slot`` there is one a slot, over all that is free of it.
    """
    fill = request.whole_slot_fill if request.granularity == "slot" else request.fullest_fill
    return {
        slot.name: tuple(scaled_down(held, fill) for held in _largest(fpga.device, slot, request.granularity))
        for fpga in platform.fpgas
        for slot in fpga.slots
    }


def _largest(device: Device, slot: Slot, granularity: str) -> tuple[Resources, ...]:
    return (free_supply(device, slot),) if granularity == "slot" else max_pblocks(device, slot)


def fpga_order(context: PlanningContext) -> tuple[int, ...]:
    """Return the number of each slot's FPGA, if streams may not go back to one of a lower number; else nothing."""
    platform = context.platform
    if context.request.allow_cycles or len(platform.fpgas) == 1:
        return ()
    return tuple(number for number, fpga in enumerate(platform.fpgas) for _ in fpga.slots)


def reachable_fps(platform: Platform, interval_cycles: int) -> str:
    """Return the frame rate of an interval as ``--fps`` takes it: four digits or whole frames, rounded down."""
    rate = platform.clock_mhz * 1e6 / interval_cycles
    decimals = max(0, 3 - floor(log10(rate)))
    return f"{floor(rate * 10**decimals) / 10**decimals:.{decimals}f}"


def longest_interval(platform: Platform, request: Request) -> int | None:
    """Return the longest interval that reaches ``--fps``, or None if no rate was asked for."""
    return None if request.fps is None else int(platform.clock_mhz * 1e6 / (request.fps * (1 - RATE_TOLERANCE)))
