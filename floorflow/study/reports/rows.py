"""What every reader answers with: rows that name an instance and what it uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.errors import InputError
from floorflow.resources import ZERO, Resources

SYNTHESIS = "synthesis"
"""Counted by Vivado on a netlist: the only evidence that replaces an estimate."""
HLS = "hls"
"""Vitis HLS' own guess before Vivado; without the memories and streamers that FINN puts around the kernel."""
FINN = "finn"
"""FINN's formulas."""
POWER = "power"

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:\s*\(.*\))?")
"""``12``, ``12.0`` or, with -hierarchical_percentages, ``12(0.34%)``."""


@dataclass(frozen=True)
class Row:
    """One instance. ``path`` holds the names from the top of the report down to it; a name may hold a slash."""

    path: tuple[str, ...]
    resources: Resources | None = None
    milliwatts: float | None = None

    @property
    def instance(self) -> str:
        """The path as Vivado writes it."""
        return "/".join(self.path)

    @property
    def is_empty(self) -> bool:
        """Whether nothing that is counted lies in it."""
        return self.milliwatts is None and self.resources in {None, ZERO}


@dataclass(frozen=True)
class Report:
    """One file. ``evidence`` is what kind of number it holds, ``state`` how far the design was (``Routed``)."""

    file: str
    format: str
    evidence: str
    rows: tuple[Row, ...]
    state: str = ""

    @property
    def rank(self) -> int:
        """How close the netlist is to the finished chip: later beats earlier where both have a row."""
        words = self.state.lower()
        return next((rank for rank, word in ((3, "route"), (2, "place"), (1, "opt")) if word in words), 0)


def malformed(file: str, line: int, message: str) -> InputError:
    """Return the error for a report that cannot be read."""
    return InputError(f"{file}:{line}: {message}", hint="write the report again, or take it out of the folder")


def count(text: str, file: str, line: int, column: str) -> int:
    """Read an amount; fractions are refused, save a trailing ``.0``."""
    match = _NUMBER.fullmatch(text.strip())
    value = float(match[1]) if match else 0.5
    if not value.is_integer():
        raise malformed(file, line, f"{column} is {text.strip()!r:.40}, expected a whole number")
    return int(value)


_COLUMNS = {
    "LUT": ("Total LUTs",),
    "FF": ("FFs",),
    "RAMB36": ("RAMB36",),
    "RAMB18": ("RAMB18",),
    "URAM": ("URAM",),
    "DSP": ("DSP Blocks", "DSP48 Blocks", "DSP Slices"),
}
"""Headings of Vivado's hierarchical utilisation, in its releases; parts without UltraRAM have no such column."""
INSTANCE = "Instance"


@dataclass
class Hierarchy:
    """Turn the indented names of a table into paths; rows are given from the top down."""

    file: str

    def __post_init__(self) -> None:
        """Start above the top."""
        self._above: list[tuple[int, str]] = []

    def path(self, cell: str) -> tuple[str, ...] | None:
        """Return the path of an indented name; None for ``(name)``, the share of a parent without its children."""
        name = cell.strip()
        indent = len(cell) - len(cell.lstrip(" "))
        if name.startswith("(") and name.endswith(")"):
            return None
        while self._above and self._above[-1][0] >= indent:
            self._above.pop()
        self._above.append((indent, name))
        return tuple(own for _, own in self._above)


def is_hierarchy(headings: list[str]) -> bool:
    """Whether a table is Vivado's utilisation by hierarchy."""
    return INSTANCE in headings and _COLUMNS["LUT"][0] in headings


def hierarchy_columns(headings: list[str], file: str, line: int) -> dict[str, int]:
    """Return where the resources stand in a table of utilisation by hierarchy.

    Raises
    ------
    InputError
        If one is missing.

    """
    columns = {}
    for name, spellings in _COLUMNS.items():
        place = next((headings.index(spelling) for spelling in spellings if spelling in headings), None)
        if place is not None:
            columns[name] = place
        elif name != "URAM":
            raise malformed(file, line, f"the utilisation by hierarchy has no column {spellings[0]!r}")
    return columns


def hierarchy_resources(cells: list[str], columns: Mapping[str, int], file: str, line: int) -> Resources:
    """Return the five resources of one row of utilisation by hierarchy."""
    if len(cells) <= max(columns.values()):
        raise malformed(file, line, f"the row has {len(cells)} cells, its table {max(columns.values()) + 1} or more")
    amounts = {name: count(cells[place], file, line, name) for name, place in columns.items()}
    blocks = 2 * amounts["RAMB36"] + amounts["RAMB18"]
    return Resources(amounts["LUT"], amounts["FF"], blocks, amounts.get("URAM", 0), amounts["DSP"])
