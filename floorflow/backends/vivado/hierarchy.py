"""Vivado's utilisation by hierarchy, whatever its format: its columns, and paths from indented names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.backends.reports import count, malformed
from floorflow.resources import Resources

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
