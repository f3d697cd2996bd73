"""What a search found: the best design with its trace, or why there is none."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from floorflow.errors import Made, Refusal, Refused
from floorflow.facts.partition import EvennessEnd, EvennessRule, WishesEntry
from floorflow.placement.problem import PlacementSolution
from floorflow.request import Request
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.engine_limits import Exempt
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class HostWeights:
    """What is known of designs with and without engines that the host writes, where these are to be spared.

    ``least``: no folding at the design's interval has fewer of them. Cycles are intervals; with the objective latency
    they are latencies, without bounds. ``bound_cycles`` is the folding bound where any engine may be written,
    ``without_bound_cycles`` where none is; None: it is proven that nothing fits, or none was worked out.
    ``without_cycles`` is that of the design found without, None if none was; ``sought``: whether one was looked for.
    """

    least: int
    bound_cycles: int | None
    without_bound_cycles: int | None
    without_cycles: int | None
    sought: bool


Verdict = Literal["legal", "proven infeasible", "not found within the limit"]
Stage = Literal["fold", "partition", "place"]


@dataclass(frozen=True)
class TraceRow:
    """A row of the trace; ``detail`` is the sentence about what was tried, its end that of the refusals, if any."""

    interval_cycles: int
    verdict: Verdict
    stage: Stage
    detail: str
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Fullness:
    """The largest share of a limit, cap x available: of what folding counted of all slots together, and of each slot.

    Without a bound none was sought.
    """

    folding: SolveStats
    slots: SolveStats


@dataclass(frozen=True)
class Design:
    """A candidate before it is placed, the rule that it is best by, and rules whose designs had no floorplan.

    ``even``: the least full one that was found on the way.
    """

    candidate: Candidate
    rule: EvennessRule
    even: Candidate | None = None
    passed: tuple[EvennessRule, ...] = ()


@dataclass(frozen=True)
class Weighed:
    """A partition: its fullness and the cost of its crossings, with what is proven; streams over links, their wires."""

    end: EvennessEnd
    fullness: SolveStats
    crossings: SolveStats
    links: int
    link_wires: int


@dataclass(frozen=True)
class Evenness:
    """What fullness costs in crossings at a plan's interval; ``rule`` and ``passed`` as in its `Design`."""

    rule: EvennessRule
    passed: tuple[EvennessRule, ...]
    rows: tuple[Weighed, ...]


@dataclass(frozen=True)
class WithoutBalance:
    """Bounds on the folding, under all of the budget, of rates that are not balanced.

    ``bound_cycles``: of the interval, None where the shortest is not sought; ``folding_bound``: of what folding
    minimises at the plan's interval, None where it is not known.
    """

    bound_cycles: int | None
    folding_bound: float | None


@dataclass(frozen=True)
class OtherOrder:
    """What a search found with streams that go back to earlier FPGAs; where the plan's may, what without.

    ``cycles``: the interval of a design that was folded and cut, not placed, of those out of order the fastest that
    was found to be faster than the plan; None: none was found. ``proven``: there is none.
    """

    cycles: int | None
    proven: bool


@dataclass(frozen=True)
class LessLikely:
    """The design found where slots and pblocks need not be likely to fit: its interval and the least likely place."""

    interval_cycles: int
    likelihood: float
    place: str


@dataclass(frozen=True)
class SearchResult:
    """The best legal candidate, its floorplans by FPGA, the bound on the interval, the trace, and the repair it took.

    ``whole_budget_bound`` bounds what folding minimised when nothing of the budget is kept back: the scarcity at its
    interval, or the latency. ``interrupted``: Ctrl-C ended the search, or what came behind it. ``joint_bound_cycles``:
    no assignment of engines to slots allows a shorter interval, None if unknown. ``ended_at``: the try that ended the
    search, None where none did. ``exempt``: the limits on engines that were lifted. ``host_weights``: None where
    engines for the host to write are not spared. ``max_hops``: how many SLR boundaries streams may cross one after the
    other in an FPGA; ``hop_proof``: why fewer will not do, empty where as many were asked for, or one will do.
    ``fullness``: the largest shares of limits, with what is proven of them. ``without_balance``: what folding could do
    if rates were not balanced, None if they are not. ``wishes``: None without any. ``other_order``: None on one FPGA,
    or if unknown. ``context``: whose foldings the search had. ``likely``: whether slots and pblocks are as likely to
    fit as is sought; ``less_likely``: what was found before they had to be, None where that is this one.
    ``design``: the candidate before it was placed, with the rule that took it; ``evenness``: beside the ends, None
    where nothing was weighed. ``work_units``: what the search took, by `floorflow.stats.count`.
    """

    context: PlanningContext
    candidate: Candidate
    placements: Mapping[str, PlacementSolution]
    bound_cycles: int
    ended_by: str
    trace: tuple[TraceRow, ...]
    whole_budget_bound: float | None
    fullness: Fullness
    repair: str = ""
    interrupted: bool = False
    joint_bound_cycles: int | None = None
    ended_at: TraceRow | None = None
    exempt: Exempt = field(default_factory=dict)
    max_hops: int = 1
    hop_proof: str = ""
    host_weights: HostWeights | None = None
    without_balance: WithoutBalance | None = None
    wishes: WishesEntry | None = None
    other_order: OtherOrder | None = None
    likely: bool = True
    less_likely: LessLikely | None = None
    design: Design | None = None
    evenness: Evenness | None = None
    work_units: float = 0.0
    notes: tuple[str, ...] = ()
    """Sentences about how it was found, for the plan's warnings."""


Outcome = SearchResult | Refused
Search = Callable[[PlanningContext], Outcome]
Prepare = Callable[[Request, int], PlanningContext | Refused]
"""From a request and a number of FPGAs to what a search begins with."""
Steps = Generator[PlanningContext, Outcome, Made]
"""Contexts to search, each answered by its outcome, and what comes of all of them."""
