"""A plan as a few lines for a person: what is printed by the command line, and by ``print(plan)``."""

from __future__ import annotations

from collections.abc import Collection
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING

from floorflow.resources import RESOURCE_NAMES

if TYPE_CHECKING:
    from floorflow.schema import EstimatesEntry, NetworkEntry, PhaseEntry, PhaseNetworkEntry, Plan, Stats


def told(plan: Plan) -> str:
    """Return what a user wants to see first: rate, bottleneck, fullness, every gap."""
    lines = [line for network in plan.networks for line in _network(plan, network)]
    for phase in plan.phases:
        if len(plan.phases) > 1:
            lines.append(f"  phase {phase.name}: {', '.join(part.network for part in phase.networks)}")
        lines += _phase(plan, phase)
    lines += [f"  note: {warning}" for warning in plan.warnings]
    return "\n".join(lines)


def next_steps(plan: Plan, files: Collection[str], folder: Path) -> list[str]:
    """Return what to do with the files of the first phase that were written to a folder: the back end's, Vivado's."""
    from floorflow.backends.backend import backend_named

    own = plan.phase_folder(0)
    first = backend_named(plan.options.backend).next_step(plan, 0, folder / own)
    scripts = sorted(name for name in files if name.startswith(own) and name.endswith("/pblocks.tcl"))
    return [*([first] if first else []), *(f"Vivado: source {folder / name}" for name in scripts[:1])]


def _network(plan: Plan, network: NetworkEntry) -> list[str]:
    """Tell rate and bottleneck of a network, how far that is from the bound, and what ended its search."""
    clock = f"{plan.summary.clock_mhz:g} MHz"
    found = next(entry for entry in plan.summary.networks if entry.network == network.name)
    parts = plan.parts(network.name)
    rate = f"{frames_per_s(found.fps)} frames/s" if len(plan.phases) > 1 else _rate(parts[0][1].estimates)
    interval = f"interval {found.interval_cycles:,} cycles at {clock}"
    lines = [f"{network.name} on {_boards(plan)}: {rate} ({interval}, bottleneck {found.bottleneck})"]
    if plan.options.objective == "throughput":
        lines.append(f"  interval  bound {found.bound_cycles:,} cycles, gap {found.gap:.1%}")
    if plan.options.objective == "latency":
        lines += [f"  latency   {_latency(part)}" for _, part in parts]
    return [*lines, f"            {network.search.ended_by}"]


def _phase(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Tell of each stage how good its answer is, and how full the slots are."""
    lines = [f"  folding   {_stats(part.folding.stats)}" for part in phase.networks]
    lines.append(f"  partition {_stats(phase.partition.stats)}; {_crossings(phase)}")
    lines += [
        f"  placement {_stats(floorplan.stats)}; {len(floorplan.pblocks)} pblocks, HPWL {floorplan.hpwl:,.0f}"
        for floorplan in phase.floorplan.values()
    ]
    caps = plan.options.cap.model_dump()
    for slot, shares in phase.partition.utilisation.items():
        used = [f"{name} {shares[name]:.0%} of {caps[name]:.0%}" for name in RESOURCE_NAMES if shares[name] > 0]
        lines.append(f"  {slot}  {', '.join(used) or 'empty'}")
    return lines


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


def _latency(part: PhaseNetworkEntry) -> str:
    """Tell the latency, and the bound on its cycles."""
    cycles, bound = part.folding.stats.objective, part.folding.whole_budget_bound
    known = "" if bound is None or not cycles else f", bound {bound:,.0f}, gap {max(0.0, cycles - bound) / cycles:.1%}"
    return f"{part.estimates.latency_us:,.1f} us: {cycles or 0:,.0f} cycles along the longest path{known}"


def _boards(plan: Plan) -> str:
    """Return ``alveo-u250`` or ``2 x alveo-u250``; a platform that a file describes by its name alone."""
    count, name = len(plan.platform.fpgas), plan.platform.name
    return name if count == 1 or name != plan.platform.fpgas[0].board else f"{count} x {name}"


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
