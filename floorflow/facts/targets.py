"""What several networks that share a platform were to reach, what each gets of it, and how good that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from floorflow.facts.text import rate, table, wrapped
from floorflow.facts.values import PlainName, PlanModel, Stats


class TargetEntry(PlanModel):
    """What a network of several was to reach, and what it does.

    ``fps`` and ``least_fps`` were asked for, null where nothing was. ``target_cycles``: the longest interval that meets
    the target; without one the network's folding bound with the platform to itself, ``alone_cycles``. ``share`` of the
    target, 1 at most. ``starved``: less than half of what was asked for, and no least rate was given.
    """

    network: PlainName
    fps: float | None
    least_fps: float | None
    target_cycles: Annotated[int, Field(ge=1)]
    alone_cycles: Annotated[int, Field(ge=1)]
    share: Annotated[float, Field(gt=0, le=1)]
    starved: bool


class TargetsEntry(PlanModel):
    """What several networks that share a platform were to reach.

    ``stretch`` is of the largest interval over its target's of any network, 1 where all targets are met; as long as a
    rate that was asked for is missed, networks without one do not count.
    """

    networks: Annotated[list[TargetEntry], Field(min_length=2)]
    stretch: Stats


def targets(found: TargetsEntry | None, clock_mhz: float, fps: Mapping[str, float]) -> list[str]:
    """Return a table of the networks, and what is proven of the worst; nothing of a plan of one network.

    ``fps``: the rate of each.
    """
    if found is None:
        return []
    rows: list[tuple[str, ...]] = [("network", "asked for", "at least", "reached", "share", "bound alone")]
    rows += [_row(entry, clock_mhz, fps[entry.network]) for entry in found.networks]
    return [*table(rows, left=1), *wrapped([worst(found)])]


def _row(entry: TargetEntry, clock_mhz: float, reached: float) -> tuple[str, ...]:
    asked, least = ("-" if fps is None else rate(fps) for fps in (entry.fps, entry.least_fps))
    share = f"{entry.share:.1%}{' starved' if entry.starved else ''}"
    return entry.network, asked, least, rate(reached), share, rate(clock_mhz * 1e6 / entry.alone_cycles)


def worst(found: TargetsEntry) -> str:
    """Return what the worst network gets, and what no plan exceeds."""
    stretch, bound = found.stretch.objective or 1.0, found.stretch.bound
    asked = any(entry.fps is not None for entry in found.networks)
    of = "what was asked for" if asked else "its bound alone"
    if bound is None or stretch <= bound:
        return (
            f"every network gets {1 / stretch:.1%} of {of} at least; no plan gives all more"
            if stretch > 1
            else (f"every network gets all of {of}")
        )
    return f"every network gets {1 / stretch:.1%} of {of} at least; no plan gives all more than {1 / bound:.1%}"


def share_of(found: TargetsEntry | None, network: str) -> str:
    """Return what a network of several gets of its target; empty of a plan of one network."""
    if found is None:
        return ""
    entry = next(row for row in found.networks if row.network == network)
    if entry.fps is None:
        return f"{entry.share:.1%} of its bound alone on the platform"
    starved = ": starved, less than half" if entry.starved else ""
    return f"{entry.share:.1%} of {rate(entry.fps)} frames/s{starved}"
