"""Tables and short texts for a person at a terminal; the same facts as plain data for ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from pathlib import Path
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from floorflow.dataflow.model import Dataflow
from floorflow.network import Network
from floorflow.plan import PhaseEntry, Plan, Stats
from floorflow.resources import RESOURCE_NAMES
from floorflow.target import Platform


def summary(plan: Plan, out: Path) -> str:
    """Return what a user wants to see first: rate, bottleneck, fullness, every gap."""
    phase = plan.phases[0]
    e = phase.estimates
    rate = f"{frames_per_s(e.fps)} frames/s (interval {e.cycles:,} cycles at {e.clock_mhz:g} MHz"
    lines = [f"{plan.networks[0].name} on {_boards(plan)}: {rate}, bottleneck {e.bottleneck})"]
    if plan.options.fps is None:
        lines.append(f"  interval  bound {plan.search.bound_cycles:,} cycles, gap {plan.search.gap:.1%}")
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
    lines.append(f"written to {out}")
    return "\n".join(lines)


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


def inspection(network: Network, dataflow: Dataflow) -> dict[str, Any]:
    """Return what was read and what it becomes, as plain data."""
    return {
        "name": network.name,
        "operations": [{"name": o.name, "type": o.type, "macs": o.macs} for o in network.operations],
        "engines": [
            {
                "name": e.name,
                "kind": e.kind,
                "operation": e.operation,
                "attributes": {k: list(v) if isinstance(v, tuple) else v for k, v in e.attributes.items()},
                "weight_bits": e.weight_bits,
                "input_bits": e.input_bits,
                "output_bits": e.output_bits,
            }
            for e in dataflow.engines
        ],
        "notes": list(dataflow.notes),
    }


def inspection_tables(network: Network, dataflow: Dataflow) -> list[Table | str]:
    """Return the engines as a table, and what was assumed."""
    macs = {o.name: o.macs for o in network.operations}
    title = f"{network.name}: {len(dataflow.engines)} engines, {sum(macs.values()):,} MACs a frame"
    table = _table(escape(title), ("engine", "operation"), ("MACs", "weights", "in", "out"))
    for engine in dataflow.engines:
        count = macs.get(engine.operation, 0) if engine.weight_bits else 0
        bits = [f"{b} bit" if b else "" for b in (engine.weight_bits, engine.input_bits, engine.output_bits)]
        table.add_row(engine.name, escape(engine.operation), f"{count:,}" if count else "", *bits)
    return [table, *(escape(f"assumed: {note}") for note in dataflow.notes)]


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Start a table whose names are never cut: they are what a user types next."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for heading in names:
        table.add_column(heading, no_wrap=True, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def platforms_table(platforms: Sequence[Platform]) -> Table:
    """Return the known platforms, a row each."""
    table = _table("platforms", ("name", "part"), ("clock MHz", "slots", *RESOURCE_NAMES))
    for platform in platforms:
        board = platform.fpgas[0].board
        amounts = [f"{n:,}" for n in platform.silicon.as_tuple()]
        table.add_row(platform.name, board.part, f"{board.clock_mhz:g}", str(len(platform.slots)), *amounts)
    return table


def platform_tables(platform: Platform) -> list[Table | str]:
    """Return the slots of one platform and what shell and infrastructure take."""
    board = platform.fpgas[0].board
    slots = _table(f"{platform.name} ({board.part}, {board.clock_mhz:g} MHz)", ("slot", ""), RESOURCE_NAMES)
    for slot in platform.slots:
        slots.add_row(slot.name, "silicon", *(f"{n:,}" for n in slot.capacity.as_tuple()))
        slots.add_row("", "available", *(f"{n:,}" for n in slot.available.as_tuple()))
    lines: list[Table | str] = [slots]
    for item in platform.infrastructure:
        taken = ", ".join(f"{n:,} {name}" for name, n in item.resources.as_dict().items() if n)
        lines.append(f"infrastructure {item.name} in {item.slot}: {taken}")
    lines += [f"{b.lower} to {b.upper}: {b.wires:,} SLL wires" for b in platform.boundaries]
    return lines


def platform_entry(platform: Platform) -> dict[str, Any]:
    """Return one platform as plain data."""
    board = platform.fpgas[0].board
    return {
        "name": platform.name,
        "part": board.part,
        "clock_mhz": board.clock_mhz,
        "slots": [
            {"name": s.name, "capacity": s.capacity.as_dict(), "available": s.available.as_dict()}
            for s in platform.slots
        ],
        "infrastructure": [
            {"name": i.name, "slot": i.slot, "resources": i.resources.as_dict()} for i in platform.infrastructure
        ],
        "slls": [{"lower": b.lower, "upper": b.upper, "wires": b.wires} for b in platform.boundaries],
    }
