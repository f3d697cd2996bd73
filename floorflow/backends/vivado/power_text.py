"""Vivado's power report as text: ``report_power``; only its table by hierarchy names instances."""

from __future__ import annotations

from floorflow.backends.reports import POWER, Report, Row, malformed
from floorflow.backends.vivado.hierarchy import Hierarchy
from floorflow.backends.vivado.vivado_text import head_fields, tables

FORMAT = "power, text"


def recognises(text: str) -> bool:
    """Whether a text is a power report."""
    return "Power Report" in text and "Total On-Chip Power (W)" in text


def read(text: str, file: str) -> Report:
    """Return the dynamic power of every instance that the report lists, in milliwatts.

    Vivado leaves out what uses little; ``<0.001`` counts as the 1 mW that it stays below.

    Raises
    ------
    InputError
        If there is no table by hierarchy or a cell is no number; names file and line.

    """
    table = next((t for t in tables(text) if t[0].texts == ["Name", "Power (W)"]), None)
    if table is None:
        raise malformed(file, len(text.splitlines()), "no table of power by hierarchy; use report_power -hier all")
    names, rows = Hierarchy(file), []
    for line in table[1:]:
        if len(line.cells) != 2:
            raise malformed(file, line.number, f"the row has {len(line.cells)} cells, expected a name and a power")
        try:
            watts = float(line.texts[1].removeprefix("<"))
        except ValueError:
            raise malformed(file, line.number, f"Power (W) is {line.texts[1]!r:.40}, expected a number") from None
        path = names.path(line.cells[0])
        if path is not None:
            rows.append(Row(path, milliwatts=round(watts * 1000, 6)))
    return Report(file, FORMAT, POWER, tuple(rows), head_fields(text).get("Design State", ""))
