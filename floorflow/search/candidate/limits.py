"""How much a search tries: counts and shares, never seconds, so that equal runs give equal plans."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    slot_rounds: int = 3
    """Foldings slot by slot of one cut, each keeping back in a slot what that was short of."""
    refoldings: int = 60
    """Foldings of slots in which exchanges between neighbours are looked for at one interval."""
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
    even_slacks: tuple[float, ...] = (1.15, 1.3, 1.55, 2.2, 4.6)
    """Times the least fullness of the sums that each slot may be full, where stages must come apart into several slots:
    the first at which a design is found counts. What is left at the first makes crossings few."""
    even_spared: float = 1.1
    """Times the fullness of the folding of the whole that its slots may be full, for stages are not evenly large."""
    even_at_least: float = 0.5
    """Share of its limits up to which a slot of several is never too full: more room than that is worth no crossing."""
    even_slacks_alone: tuple[float, ...] = (1.02, 1.05, 1.1, 1.21, 1.46, 2.14, 4.6)
    """The same on a platform of one slot."""
    even_halvings: int = 1
    """Times that the distance between that and the last that failed is halved."""
    rate_attempts: int = 8
    """Intervals tried for the least resources at a requested rate."""
    latency: LatencyLimits = field(default_factory=LatencyLimits)


TOGETHER = SearchLimits(ladder=1.05, cuts_tell=False, rate_attempts=2)
"""Limits where several networks are planned together."""
MORE_OF_ONE = SearchLimits(ladder=1.3, cuts_tell=False, shorter_tries=1)
"""The same for more of one of them than all can have."""
