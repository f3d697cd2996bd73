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
    folding_rounds: int = 8
    """Foldings tried at one interval, each leaving more of the budget to channels and to packing."""
    reserve_step: float = 0.04
    """Share of the budget by which that reserve grows when modules do not pack; else it grows by what is short."""
    tightened: tuple[float, ...] = (0.92, 0.84)
    """Shares of its limit to which a slot whose placement failed is tightened."""
    shorter_tries: int = 3
    """Failures in a row, at ever shorter intervals after bisection, that end the search for the highest rate."""
    placings: int = 7
    """Intervals between the shortest and the longest that are placed where the shortest cannot be."""
    placing_ratio: float = 1.05
    """By which the steps between those begin to grow: far more than 1, 2, 4 of the intervals where they lie close."""
    rate_attempts: int = 8
    """Intervals tried for the least resources at a requested rate."""
    latency: LatencyLimits = field(default_factory=LatencyLimits)
