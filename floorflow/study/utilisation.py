"""Any utilisation report of Vivado: its tables by site type, and its instances as a tree of shares of the device."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from floorflow.backends.reports import Row, malformed
from floorflow.backends.vivado import reports
from floorflow.errors import InputError
from floorflow.reading import read_text, require_file
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, total

_EXPECTED = "give what report_utilization writes: flat or -hierarchical, as text or as XML"
_SLR = re.compile(r"SLR\d+")
_NUMBER = re.compile(r"<?(\d+(?:\.\d+)?)(?:\(.*\))?")
OTHERS = "others"
_BEGIN = 4096
"""Letters in which a report names its part."""


@dataclass(frozen=True)
class SiteRow:
    """A row of a table by site type: how many sites are used of how many; None where the report leaves it out.

    ``place`` is the SLR of tables by SLR, else empty; ``level`` is the indent of ``site``.
    """

    section: str
    site: str
    level: int
    used: float
    available: float | None
    percent: float | None
    place: str = ""


@dataclass(frozen=True)
class Instance:
    """A cell of the design with all below it. ``resource`` takes its largest ``share`` of the device."""

    name: str
    resources: Resources
    share: float
    resource: str
    children: tuple[Instance, ...] = ()


@dataclass(frozen=True)
class Utilisation:
    """What a report says. ``device`` is what the part has; None: not known, shares are of what the design uses."""

    file: str
    design: str
    part: str
    state: str
    rows: tuple[SiteRow, ...]
    instances: tuple[Instance, ...]
    device: Resources | None


def read_utilisation(path: Path, has: Callable[[str], Resources | None]) -> Utilisation:
    """Read a report; ``has``: what a part has, None where that is not known; it may be empty.

    Raises InputError if it is no utilisation report, or malformed.
    """
    require_file(path, _EXPECTED)
    text, file = read_text(path, "report", _EXPECTED, replace=True), path.name
    begin, head = text[:_BEGIN], reports.head_fields(text)
    part = reports.part_of(begin)
    device = has(part)
    if reports.is_hierarchy_xml(begin):
        found = reports.xml_tables(text, file)
        titled = [
            (t, [reports.Line(n, cells) for n, cells in r]) for t, r in zip(found.titles, found.tables, strict=True)
        ]
        design = re.search(r'\bdesignname="([^"]*)"', begin)
        head = {"Design": design[1] if design else "", "Design State": found.state}
    else:
        lines = text.splitlines()
        titled = [(_title(lines, rows[0].number), rows) for rows in reports.tables(text)]
    rows = tuple(row for title, table in titled if table for row in _site_rows(title, table, file))
    is_tree = any(table and "Instance" in table[0].texts and "Total LUTs" in table[0].texts for _, table in titled)
    read = reports.read_vivado(text, file) if is_tree else None
    if not rows and read is None:
        raise InputError(f"{path}: is no utilisation report of Vivado", hint=_EXPECTED)
    listed = [row for row in read.rows if row.resources is not None] if read else []
    instances = _tree(listed, device or total(row.resources or ZERO for row in listed if len(row.path) == 1))
    return Utilisation(file, head.get("Design", ""), part, head.get("Design State", ""), rows, instances, device)


def _title(lines: Sequence[str], first: int) -> str:
    """Return the heading above a table whose first row is on line ``first``, without its number."""
    above = (line.strip() for line in reversed(lines[: first - 1]))
    words = next((line for line in above if line.strip("+-= ") and not line.startswith("|")), "")
    return re.sub(r"^[\d.]+\s+", "", words)


def _site_rows(title: str, table: Sequence[reports.Line], file: str) -> Iterator[SiteRow]:
    headings = table[0].texts
    if headings[0] != "Site Type":
        return
    places = [heading for heading in headings if _SLR.fullmatch(heading)]
    if "Used" not in headings and not places:
        return
    for line in table[1:]:
        if len(line.cells) < len(headings):
            raise malformed(file, line.number, f"the row has {len(line.cells)} cells, its table {len(headings)}")
        cell, level = line.cells[0].rstrip(), (len(line.cells[0]) - len(line.cells[0].lstrip())) // 2
        by_heading = dict(zip(headings, line.texts, strict=False))
        for place in places or [""]:
            used = _number(by_heading[place or "Used"])
            if used is not None:
                percent = by_heading.get(f"{place} %" if place else "Util%", "")
                available = None if place else _number(by_heading.get("Available", ""))
                yield SiteRow(title, cell.strip().rstrip("*"), level, used, available, _number(percent), place)


def _number(cell: str) -> float | None:
    match = _NUMBER.fullmatch(cell)
    return float(match[1]) if match else None


def _tree(rows: Sequence[Row], device: Resources) -> tuple[Instance, ...]:
    """Return the topmost instances, each with all below it, the largest share of the device first."""
    children: dict[tuple[str, ...], list[Instance]] = {}
    for row in reversed(rows):  # those below an instance follow it
        below = children.pop(row.path, [])
        made = _instance(row.path[-1], row.resources or ZERO, device, below)
        children.setdefault(row.path[:-1], []).append(made)
    return tuple(_ordered(children.get((), ())))


def _instance(name: str, resources: Resources, device: Resources, children: Iterable[Instance]) -> Instance:
    shares = shares_of(resources, device)
    resource = max(RESOURCE_NAMES, key=shares.__getitem__)
    return Instance(name, resources, shares[resource], resource, tuple(_ordered(children)))


def _ordered(instances: Iterable[Instance]) -> list[Instance]:
    return sorted(instances, key=lambda each: (-each.share, each.name))


def shares_of(resources: Resources, device: Resources) -> dict[str, float]:
    """Return the share of the device that is used of each resource; of what the device has none of, none."""
    pairs = zip(resources.as_dict().items(), device.as_tuple(), strict=True)
    return {name: used / has if has else 0.0 for (name, used), has in pairs}


def folded(top: Instance, device: Resources, depth: int, least: float = 0.005) -> Instance:
    """Return an instance with ``depth`` levels below it, those under a share of ``least`` summed into others.

    An instance whose only child is all of it is shown as one with it. What an instance has beside its children is its
    own and not among the others.
    """
    while [child.resources for child in top.children if child.resources != ZERO] == [top.resources]:
        only = top.children[0]  # the largest comes first
        top = replace(only, name=f"{top.name}/{only.name}")
    if depth == 0:
        return replace(top, children=())
    kept = [folded(child, device, depth - 1, least) for child in top.children if child.share >= least]
    small = [child for child in top.children if child.share < least and child.resources != ZERO]
    if small:
        rest = total(child.resources for child in small)
        kept.append(_instance(f"{len(small)} {OTHERS}", rest, device, ()))
    return replace(top, children=tuple(kept))


def device_of(found: Utilisation) -> Resources:
    """Return what shares are of: the device, or what the design uses."""
    return found.device or total(top.resources for top in found.instances)
