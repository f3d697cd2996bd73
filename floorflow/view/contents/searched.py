"""Read from plan.json how the interval of a network was searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.view.contents.names import (
    Plan,
    frames_text,
    network_in,
    network_names,
    platform_text,
    reached_text,
    shared_fps,
)

_GOALS = {"throughput": "the interval", "latency": "the lowest latency", "resources": "the least resources"}


@dataclass(frozen=True)
class Searched:
    """The search of one network: what it was for, on what, its result and trace, and the options of the plan."""

    title: str
    search: Mapping[str, Any]
    trace: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    reached: str
    """What follows the chosen interval: the rate that it stands for."""

    @property
    def bounded(self) -> bool:
        """Whether the interval is bounded: only where the highest rate was planned for."""
        return bool(self.options["objective"] == "throughput")

    @property
    def clock_mhz(self) -> float:
        """Clock of the plan."""
        return float(self.options["clock_mhz"])

    @property
    def requested_cycles(self) -> float | None:
        """The longest interval that reaches the rate that was asked for, if one was."""
        return None if self.options["fps"] is None else self.clock_mhz * 1e6 / self.options["fps"]


def read_search(plan: Plan, name: str | None) -> Searched:
    """Read the search of one of the plan's networks, without a name of the first.

    Raises
    ------
    InputError
        If the plan has no network of that name.

    """
    known = network_names(plan)
    if name is not None and name not in known:
        raise InputError(f"plan.json: no network '{name}'; it has: {', '.join(known)}", hint="name one of these")
    network = next(item for item in plan["networks"] if name in (None, item["name"]))
    title = f"{_GOALS[plan['options']['objective']]} of {network['name']} on {platform_text(plan)}"
    return Searched(title, network["search"], network["trace"], plan["options"], _reached(plan, network["name"]))


def _reached(plan: Plan, network: str) -> str:
    """Return what an interval stands for: the rate of its only phase, or that of the schedule of all."""
    if plan["schedule"] is not None:
        fps = plan["schedule"]["batch"] * 1e6 / plan["schedule"]["period_us"]
        return f" in the longest phase   ·   {frames_text(fps)} frames/s over all phases"
    fps = shared_fps(plan, network)
    if fps is not None:
        return f" if the memory never waits   ·   {frames_text(fps)} frames/s by its schedule"
    return f" = {reached_text(network_in(plan, 0, network)['estimates'])}"


def last_failure(searched: Searched) -> int | None:
    """Return the longest interval below the chosen one that was tried in vain: what lies next to the choice."""
    chosen = searched.search["interval_cycles"]
    failed = (row["interval_cycles"] for row in searched.trace if row["verdict"] != "legal")
    return max((cycles for cycles in failed if cycles < chosen), default=None)
