"""Vivado's utilisation by hierarchy as XML: ``report_utilization -hierarchical -format xml``."""

from __future__ import annotations

from io import BytesIO
from xml.parsers import expat

from floorflow.backends.reports import SYNTHESIS, Report, Row, malformed
from floorflow.backends.vivado.hierarchy import (
    INSTANCE,
    Hierarchy,
    hierarchy_columns,
    hierarchy_resources,
    is_hierarchy,
)

FORMAT = "utilisation by hierarchy, XML"


def recognises(head: str) -> bool:
    """Whether the start of a file is that of a Vivado report in XML."""
    return head.lstrip("\ufeff \r\n").startswith("<?xml") and "<RptDoc" in head


def read(text: str, file: str) -> Report:
    """Return a row an instance.

    Raises
    ------
    InputError
        If the XML is broken, a column is missing or a cell is no number; names file and line.

    """
    tables = _Tables()
    try:
        tables.parser.ParseFile(BytesIO(text.encode()))
    except expat.ExpatError as error:
        raise malformed(file, error.lineno, f"no XML: {expat.ErrorString(error.code)}") from error
    table = next((t for t in tables.tables if t and is_hierarchy(t[0][1])), None)
    if table is None:
        line = tables.parser.CurrentLineNumber
        raise malformed(file, line, "no table of utilisation by hierarchy; use report_utilization -hierarchical")
    first_line, headings = table[0]
    columns, place, names = hierarchy_columns(headings, file, first_line), headings.index(INSTANCE), Hierarchy(file)
    rows = []
    for line, cells in table[1:]:
        resources = hierarchy_resources(cells, columns, file, line)
        path = names.path(cells[place])
        if path is not None:
            rows.append(Row(path, resources))
    return Report(file, FORMAT, SYNTHESIS, tuple(rows), tables.state)


class _Tables:
    """Every table of a report: rows of cells, with the line that each starts at."""

    def __init__(self) -> None:
        self.tables: list[list[tuple[int, list[str]]]] = []
        self.state = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "RptDoc":
            self.state = attributes.get("designstate", "")
        elif name == "table":
            self.tables.append([])
        elif name == "tablerow" and self.tables:
            self.tables[-1].append((self.parser.CurrentLineNumber, []))
        elif name in {"tableheader", "tablecell"} and self.tables and self.tables[-1]:
            self.tables[-1][-1][1].append(attributes.get("contents", ""))
