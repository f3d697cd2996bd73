"""Tables of platforms for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from floorflow.cli.fitting_table import FittingTable

Entry = Mapping[str, Any]
"""What the API tells of a platform."""


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
    board = platform.fpgas[0].board
    slots = FittingTable(
        f"{platform.name} ({board.part}, {board.clock_mhz:g} MHz)", names=("slot", ""), numbers=RESOURCE_NAMES
    )
    for slot in platform.slots:
        slots.add_row(slot.name, "silicon", *(f"{n:,}" for n in slot.capacity.as_tuple()))
        slots.add_row("", "available", *(f"{n:,}" for n in slot.available.as_tuple()))
    lines: list[Table | str] = [slots]
    for item in platform.infrastructure:
        taken = ", ".join(f"{n:,} {name}" for name, n in item.resources.as_dict().items() if n)
        lines.append(f"infrastructure {item.name} in {item.slot}: {taken}")
    lines += [f"{b.lower} to {b.upper}: {b.wires:,} SLL wires" for b in platform.boundaries]
    return [*lines, _link_text(board)]


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
        "clock_mhz": board.clock_mhz,
        "slots": [
            {"name": s.name, "capacity": s.capacity.as_dict(), "available": s.available.as_dict()}
            for s in platform.slots
        ],
        "infrastructure": [
            {"name": i.name, "slot": i.slot, "resources": i.resources.as_dict()} for i in platform.infrastructure
        ],
        "slls": [{"lower": b.lower, "upper": b.upper, "wires": b.wires} for b in platform.boundaries],
        "max_fpgas": board.max_fpgas,
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
