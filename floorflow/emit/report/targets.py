"""What several networks that share a platform were to reach, what each gets of it, and how good that is."""

from __future__ import annotations

from floorflow.emit.tables import rate, table, wrapped
from floorflow.facts import Plan, TargetEntry, TargetsEntry


def targets(plan: Plan) -> list[str]:
    """Return a table of the networks, and what is proven of the worst; nothing of a plan of one network."""
    found = plan.targets
    if found is None:
        return []
    rows: list[tuple[str, ...]] = [("network", "asked for", "at least", "reached", "share", "bound alone")]
    rows += [_row(plan, entry) for entry in found.networks]
    return [*table(rows, left=1), *wrapped([worst(found)])]


def _row(plan: Plan, entry: TargetEntry) -> tuple[str, ...]:
    hz = plan.options.clock_mhz * 1e6
    reached = next(row.fps for row in plan.summary.networks if row.network == entry.network)
    asked, least = ("-" if fps is None else rate(fps) for fps in (entry.fps, entry.least_fps))
    share = f"{entry.share:.1%}{' starved' if entry.starved else ''}"
    return entry.network, asked, least, rate(reached), share, rate(hz / entry.alone_cycles)


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


def share_told(plan: Plan, network: str) -> str:
    """Return what a network of several gets of its target; empty of a plan of one network."""
    if plan.targets is None:
        return ""
    entry = next(row for row in plan.targets.networks if row.network == network)
    if entry.fps is None:
        return f"{entry.share:.1%} of its bound alone on the platform"
    starved = ": starved, less than half" if entry.starved else ""
    return f"{entry.share:.1%} of {rate(entry.fps)} frames/s{starved}"
