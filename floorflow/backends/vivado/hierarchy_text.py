"""Vivado's utilisation by hierarchy as text: ``report_utilization -hierarchical``."""

from __future__ import annotations

from floorflow.backends.reports import SYNTHESIS, Report, Row, malformed
from floorflow.backends.vivado.hierarchy import (
    INSTANCE,
    Hierarchy,
    hierarchy_columns,
    hierarchy_resources,
    is_hierarchy,
)
from floorflow.backends.vivado.vivado_text import head_fields, tables

FORMAT = "utilisation by hierarchy, text"


def recognises(text: str) -> bool:
    """Whether a text is utilisation by hierarchy."""
    return "Utilization by Hierarchy" in text


def read(text: str, file: str) -> Report:
    """Return a row an instance.

    Raises
    ------
    InputError
        If the table or a column is missing, or a cell is no number; names file and line.

    """
    table = next((t for t in tables(text) if is_hierarchy(t[0].texts)), None)
    if table is None:
        raise malformed(file, len(text.splitlines()), "the table of utilisation by hierarchy is missing")
    headings = table[0].texts
    columns, place, names = (
        hierarchy_columns(headings, file, table[0].number),
        headings.index(INSTANCE),
        Hierarchy(file),
    )
    rows = []
    for line in table[1:]:
        resources = hierarchy_resources(line.cells, columns, file, line.number)
        path = names.path(line.cells[place])
        if path is not None:
            rows.append(Row(path, resources))
    return Report(file, FORMAT, SYNTHESIS, tuple(rows), head_fields(text).get("Design State", ""))
