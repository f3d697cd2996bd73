"""Tables and short texts for a person at a terminal; the same facts as plain data for ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from rich.table import Table

from floorflow.hardware import Board, Platform, known_links
from floorflow.resources import RESOURCE_NAMES
from floorflow.schema import EstimatesEntry, NetworkEntry, PhaseEntry, PhaseNetworkEntry, Plan, Stats
from floorflow.text.table import FittingTable


def summary(plan: Plan) -> str:
    """Return what a user wants to see first: rate, bottleneck, fullness, every gap."""
    lines = [line for network in plan.networks for line in _network(plan, network)]
    for phase in plan.phases:
        if len(plan.phases) > 1:
            lines.append(f"  phase {phase.name}: {', '.join(part.network for part in phase.networks)}")
        lines += _phase(plan, phase)
    lines += [f"  note: {warning}" for warning in plan.warnings]
    return "\n".join(lines)


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


def platforms_table(platforms: Sequence[Platform]) -> Table:
    """Return the known platforms, a row each."""
    table = FittingTable("platforms", names=("name", "part"), numbers=("clock MHz", "slots", *RESOURCE_NAMES))
    for platform in platforms:
        board = platform.fpgas[0].board
        amounts = [f"{n:,}" for n in platform.silicon.as_tuple()]
        table.add_row(platform.name, board.part, f"{board.clock_mhz:g}", str(len(platform.slots)), *amounts)
    return table


def platform_tables(platform: Platform) -> list[Table | str]:
    """Return the slots of one platform and what shell and infrastructure take."""
    parts = dict.fromkeys(fpga.board.part for fpga in platform.fpgas)
    slots = FittingTable(
        f"{platform.name} ({' and '.join(parts)}, {platform.clock_mhz:g} MHz)",
        names=("slot", ""),
        numbers=RESOURCE_NAMES,
    )
    for slot in platform.slots:
        slots.add_row(slot.name, "silicon", *(f"{n:,}" for n in slot.capacity.as_tuple()))
        slots.add_row("", "available", *(f"{n:,}" for n in slot.available.as_tuple()))
    lines: list[Table | str] = [slots]
    for item in platform.infrastructure:
        taken = ", ".join(f"{n:,} {name}" for name, n in item.resources.as_dict().items() if n)
        lines.append(f"infrastructure {item.name} in {item.slot}: {taken}")
    lines += [f"{b.lower} to {b.upper}: {b.wires:,} SLL wires" for b in platform.boundaries]
    if not platform.described:
        return [*lines, _link_text(platform.fpgas[0].board)]
    return lines + [
        f"link {k.name}: {k.kind} from {k.source} to {k.target}, {k.gbps:g} Gb/s each way, {k.latency_us:g} us"
        + (" (assumed)" if k.assumed else "")
        for k in platform.links
    ]


def _link_text(board: Board) -> str:
    """Say how several such boards are joined."""
    link = board.link
    if link is None:
        return "links: none, one FPGA only"
    each = "" if link.max_links is None else f", at most {link.max_links} in one FPGA"
    assumed = " (assumed)" if link.assumed else ""
    figures = f"{link.kind} in {link.slr}, {link.gbps:g} Gb/s each way, {link.latency_us:g} us{assumed}"
    others = ", ".join(kind for kind in known_links() if kind != link.kind)
    return f"links: {figures}{each}; up to {board.max_fpgas} FPGAs; other kinds for --link: {others}"


def platform_entry(platform: Platform) -> dict[str, Any]:
    """Return one platform as plain data."""
    board = platform.fpgas[0].board
    return {
        "name": platform.name,
        "part": board.part,
        "clock_mhz": platform.clock_mhz,
        "slots": [
            {"name": s.name, "capacity": s.capacity.as_dict(), "available": s.available.as_dict()}
            for s in platform.slots
        ],
        "infrastructure": [
            {"name": i.name, "slot": i.slot, "resources": i.resources.as_dict()} for i in platform.infrastructure
        ],
        "slls": [{"lower": b.lower, "upper": b.upper, "wires": b.wires} for b in platform.boundaries],
        "max_fpgas": platform.most_fpgas,
        "link": board.link
        and {
            "kind": board.link.kind,
            "slr": board.link.slr,
            "gbps": board.link.gbps,
            "latency_us": board.link.latency_us,
            "max_links": board.link.max_links,
            "assumed": board.link.assumed,
        },
    }
