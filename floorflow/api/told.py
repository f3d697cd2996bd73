"""A plan as a few lines for a person: what is printed by the command line, and by ``print(plan)``."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from floorflow.resources import RESOURCE_NAMES

if TYPE_CHECKING:
    from floorflow.schema import EstimatesEntry, PhaseEntry, Plan, Stats


def told(plan: Plan) -> str:
    """Return what a user wants to see first: rate, bottleneck, fullness, every gap."""
    phase = plan.phases[0]
    e = phase.estimates
    rate = f"{_rate(e)} (interval {e.cycles:,} cycles at {e.clock_mhz:g} MHz"
    lines = [f"{plan.networks[0].name} on {_boards(plan)}: {rate}, bottleneck {e.bottleneck})"]
    if plan.options.objective == "throughput":
        lines.append(f"  interval  bound {plan.search.bound_cycles:,} cycles, gap {plan.search.gap:.1%}")
    if plan.options.objective == "latency":
        lines.append(f"  latency   {_latency(phase)}")
    lines.append(f"            {plan.search.ended_by}")
    lines += [
        f"  folding   {_stats(phase.folding.stats)}",
        f"  partition {_stats(phase.partition.stats)}; {_crossings(phase)}",
    ]
    lines += [
        f"  placement {_stats(floorplan.stats)}; {len(floorplan.pblocks)} pblocks, HPWL {floorplan.hpwl:,.0f}"
        for floorplan in phase.floorplan.values()
    ]
    for slot, shares in phase.partition.utilisation.items():
        caps = plan.options.cap.model_dump()
        used = [f"{name} {shares[name]:.0%} of {caps[name]:.0%}" for name in RESOURCE_NAMES if shares[name] > 0]
        lines.append(f"  {slot}  {', '.join(used) or 'empty'}")
    lines += [f"  note: {warning}" for warning in plan.warnings]
    return "\n".join(lines)


def _rate(estimates: EstimatesEntry) -> str:
    """Tell the frame rate: where the planned FIFOs do not allow that of the engines, what they keep."""
    engines = f"{frames_per_s(estimates.fps)} frames/s"
    if estimates.throughput is None or not estimates.throughput.loses_rate:
        return engines
    if estimates.throughput.deadlock:
        return f"no frames, the planned FIFOs deadlock; {engines} by the engines alone"
    if estimates.sustained_fps is None:
        return f"sustained rate not known, FIFOs are too shallow; {engines} by the engines alone"
    return f"{frames_per_s(estimates.sustained_fps)} frames/s with the planned FIFOs; {engines} by the engines alone"


def _latency(phase: PhaseEntry) -> str:
    """Tell the latency, and the bound on its cycles."""
    cycles, bound = phase.folding.stats.objective, phase.folding.whole_budget_bound
    known = "" if bound is None or not cycles else f", bound {bound:,.0f}, gap {max(0.0, cycles - bound) / cycles:.1%}"
    return f"{phase.estimates.latency_us:,.1f} us: {cycles or 0:,.0f} cycles along the longest path{known}"


def _boards(plan: Plan) -> str:
    """Return ``alveo-u250`` or ``2 x alveo-u250``."""
    count = len(plan.platform.fpgas)
    return plan.platform.name if count == 1 else f"{count} x {plan.platform.name}"


def frames_per_s(fps: float) -> str:
    """Write a rate rounded down, so that what is printed can be asked for."""
    return f"{floor(fps):,}" if fps >= 100 else f"{floor(fps * 10) / 10:,.1f}"


def _crossings(phase: PhaseEntry) -> str:
    kinds = [crossing.kind for crossing in phase.partition.crossings]
    links = f", {kinds.count('link')} over links" if "link" in kinds else ""
    return f"{kinds.count('sll')} SLR crossings{links}"


def _stats(stats: Stats) -> str:
    gap = "gap unknown" if stats.gap is None else f"gap {stats.gap:.1%}"
    return f"{stats.status} ({stats.method}, {gap})"
