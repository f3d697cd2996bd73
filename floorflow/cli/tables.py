"""Tables of platforms for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from floorflow.api import RESOURCE_NAMES
from floorflow.cli.fitting_table import FittingTable

Entry = Mapping[str, Any]
"""A platform, or a part of one, as ``platforms --json`` prints it."""


def platforms_table(platforms: Iterable[Entry]) -> Table:
    """Return the known platforms, a row each."""
    table = FittingTable("platforms", names=("name", "part"), numbers=("clock MHz", "slots", *RESOURCE_NAMES))
    for platform in platforms:
        slots = platform["slots"]
        silicon = (f"{sum(slot['capacity'][name] for slot in slots):,}" for name in RESOURCE_NAMES)
        table.add_row(platform["name"], platform["part"], f"{platform['clock_mhz']:g}", str(len(slots)), *silicon)
    return table


def platform_tables(platform: Entry, link_kinds: Sequence[str]) -> list[Table | str]:
    """Return the slots of one platform and what shell and infrastructure take; ``link_kinds`` are all that ship."""
    title = f"{platform['name']} ({platform['part']}, {platform['clock_mhz']:g} MHz)"
    slots = FittingTable(title, names=("slot", ""), numbers=RESOURCE_NAMES)
    for slot in platform["slots"]:
        slots.add_row(slot["name"], "silicon", *(f"{slot['capacity'][name]:,}" for name in RESOURCE_NAMES))
        slots.add_row("", "available", *(f"{slot['available'][name]:,}" for name in RESOURCE_NAMES))
    lines: list[Table | str] = [slots]
    for item in platform["infrastructure"]:
        taken = ", ".join(f"{n:,} {name}" for name, n in item["resources"].items() if n)
        lines.append(f"infrastructure {item['name']} in {item['slot']}: {taken}")
    lines += [f"{b['lower']} to {b['upper']}: {b['wires']:,} SLL wires" for b in platform["slls"]]
    if platform["links"]:
        return [*lines, *map(_one_link, platform["links"])]
    return [*lines, _link_text(platform, link_kinds)]


def _one_link(link: Entry) -> str:
    """Tell a link of a platform that a file describes."""
    ends = f"link {link['name']}: {link['kind']} from {link['source']} to {link['target']}"
    assumed = " (assumed)" if link["assumed"] else ""
    return f"{ends}, {link['gbps']:g} Gb/s each way, {link['latency_us']:g} us{assumed}"


def _link_text(platform: Entry, link_kinds: Sequence[str]) -> str:
    """Say how several such boards are joined."""
    link = platform["link"]
    if link is None:
        return "links: none, one FPGA only"
    each = "" if link["max_links"] is None else f", at most {link['max_links']} in one FPGA"
    assumed = " (assumed)" if link["assumed"] else ""
    rate = f"{link['gbps']:g} Gb/s each way, {link['latency_us']:g} us"
    others = ", ".join(kind for kind in link_kinds if kind != link["kind"])
    most = f"up to {platform['max_fpgas']} FPGAs"
    return f"links: {link['kind']} in {link['slr']}, {rate}{assumed}{each}; {most}; other kinds for --link: {others}"
