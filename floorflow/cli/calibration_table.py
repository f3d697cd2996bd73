"""A calibration for a person at a terminal: what was measured, what was not, and what that changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from floorflow.api import RESOURCE_NAMES, some
from floorflow.cli.fitting_table import FittingTable


def calibration_tables(data: Mapping[str, Any]) -> list[Table | str]:
    """Return tables by kind and by module and the lists behind them; ``data`` is what calibration.json holds."""
    kinds = [(name, entry) for name, entry in data["kinds"].items() if entry["measured_engines"]]
    modules = [(entry["module"], entry) for entry in data["modules"]]
    count, of = len(data["engines"]), len(data["engines"]) + len(data["unmatched"]["plan"])
    return [
        _table(f"{data['network']}: {count} of {of} engines measured, by kind", "kind", kinds),
        *(escape(line) for line in _factors(data["kinds"])),
        _table("by module", "module", modules),
        *(escape(line) for line in (*_left(data), *_timing(data), *_changed(data))),
    ]


def _table(title: str, first: str, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """Return a row an entry; each resource as estimate > measured, LUT and FF with their ratio."""
    power = any(entry["milliwatts"] is not None for _, entry in entries)
    numbers = ("measured", *RESOURCE_NAMES, *(["mW"] if power else []))
    table = FittingTable(escape(title), names=[first], numbers=numbers)
    for name, entry in entries:
        cells = [_cell(entry, resource) for resource in RESOURCE_NAMES]
        watts = [] if not power else ["" if entry["milliwatts"] is None else f"{entry['milliwatts']:,.0f}"]
        table.add_row(escape(name), f"{entry['measured_engines']} of {entry['engines']}", *cells, *watts)
    return table


def _cell(entry: Mapping[str, Any], resource: str) -> str:
    before, after, ratio = (entry[key][resource] for key in ("estimate", "measured", "ratio"))
    if not before and not after:
        return ""
    factor = f" x{ratio:.2f}" if ratio is not None and ratio != 1 and resource in {"LUT", "FF"} else ""
    return f"{before:,} > {after:,}{factor}"


def _factors(kinds: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for kind, entry in kinds.items():
        known = [f"{name} x{factor:.2f}" for name, factor in entry["factors"].items() if factor is not None]
        if known:
            yield f"estimates of other foldings of {kind}: {', '.join(known)}"


def _timing(data: Mapping[str, Any]) -> Iterator[str]:
    """Tell the achieved clock, what that makes of the rate, and where paths fail."""
    timing = data["timing"]
    if timing is None:
        return
    if timing["achieved_mhz"] is not None:
        yield (
            f"clock: {timing['achieved_mhz']:,.1f} MHz achieved of {timing['planned_mhz']:,.1f} ({timing['file']}): "
            f"{timing['fps_achieved']:,.0f} frames/s for {timing['fps_planned']:,.0f} planned"
        )
    for kind in ("module", "stream"):
        counts = timing[f"failing_by_{kind}"]
        if counts:
            yield f"failing paths by {kind}: {_some([f'{name} {count}' for name, count in counts.items()])}"
    if timing["failing_paths"] and not timing["failing_by_module"]:
        yield "failing paths are not mapped: their cells are not the plan's; calibrate the folder that bind wrote"


def _left(data: Mapping[str, Any]) -> Iterator[str]:
    """Tell what is unmatched on both sides."""
    left = data["unmatched"]
    yield f"in the plan, not measured: {_some(left['plan'])}"
    rows = [f"{row['instance']} ({row['file']})" for row in left["reports"]]
    yield f"in the reports, not in the plan: {_some(rows)}"
    for cause in dict.fromkeys(match["cause"] for match in left["doubts"]):
        alike = [match for match in left["doubts"] if match["cause"] == cause]
        yield f"not used, {cause}: {_some([match['name'] for match in alike])}"
        yield f"    {alike[0]['name']}: {alike[0]['reason']}"
    planned = data["streams"]["planned"]
    for kind, rows in data["streams"]["measured"].items():
        own = planned["fifos" if "FIFO" in kind else "converters"]
        yield (
            f"without names in a plan: {rows['count']} {kind} with {rows['resources']['LUT']:,} LUT; "
            f"the plan has {own['count']} with {own['resources']['LUT']:,}"
        )
    if data["aside"]:
        yield f"files left aside: {_some(data['aside'])}"


def _some(names: Sequence[str]) -> str:
    return some(names) or "nothing"


def _changed(data: Mapping[str, Any]) -> Iterator[str]:
    """Tell what the new plan does otherwise."""
    before, after = data["before"], data["after"]
    if before is None:
        yield f"interval {after['interval_cycles']:,} cycles ({after['fps']:,.1f} frames/s)"
        for slot, use in sorted(after["utilisation"].items()):
            yield f"{slot}  {', '.join(f'{name} {share:.0%}' for name, share in use.items() if share) or 'empty'}"
        return
    rate = f"{before['fps']:,.1f} > {after['fps']:,.1f} frames/s"
    yield f"interval {before['interval_cycles']:,} > {after['interval_cycles']:,} cycles ({rate})"
    yield f"folded anew: {_some(data['changes']['refolded'])}; in another slot: {_some(data['changes']['moved'])}"
    for slot in sorted(before["utilisation"].keys() | after["utilisation"].keys()):
        was, now = before["utilisation"].get(slot, {}), after["utilisation"].get(slot, {})
        used = [n for n in RESOURCE_NAMES if was.get(n, 0) or now.get(n, 0)]
        shares = ", ".join(f"{name} {was.get(name, 0):.0%} > {now.get(name, 0):.0%}" for name in used)
        yield f"{slot}  {shares or 'empty'}"
