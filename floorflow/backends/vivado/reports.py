"""Vivado's reports, as text or XML: facts at their head, tables, and rows that name an instance and what it uses."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import takewhile
from xml.parsers import expat

from floorflow.backends.reports import POWER, SYNTHESIS, Report, Row, count, malformed
from floorflow.resources import Resources

_HEAD_FIELD = re.compile(
    r"\|\s*(Tool Version|Command|Design|Design State|Device|Speed File|Temperature Grade)\s*:\s*(.*?)\s*\|?\s*"
)
HEAD_LINES = 40
"""Vivado's facts stand in the first lines."""
_VERSION = re.compile(
    r"Tool Version\s*:\s*Vivado v\.?(20\d\d\.\d)"  # reports
    r"|^#?\W*Vivado v\.?(20\d\d\.\d)\b"  # logs and journals
    r"|Product Version: Vivado v(20\d\d\.\d)"  # projects (.xpr)
    r'|VIVADOVERSION="(20\d\d\.\d)'  # hardware handoffs
    r'|"?vivado_version"?\s*[:=]\s*"?(20\d\d\.\d)',  # FINN's out-of-context synthesis
    re.MULTILINE,
)
_HLS_VERSION = re.compile(
    r"<ReportVersion>\s*<Version>(20\d\d\.\d)"  # csynth.xml
    r"|^\* Version:\s+(20\d\d\.\d)"  # *_csynth.rpt
    r"|(?:Vitis|Vivado)(?:\(TM\))? HLS - .*?\bv?(20\d\d\.\d)",  # logs
    re.MULTILINE,
)
_TOP_SERIES = ("7", "xc7", "xa7", "xq7")


@dataclass(frozen=True)
class Line:
    """A row of a table: where it stands, and its cells with the blanks before them, which may be an indent."""

    number: int
    cells: list[str]

    @property
    def texts(self) -> list[str]:
        """The cells without blanks around them."""
        return [cell.strip() for cell in self.cells]


def head_fields(text: str) -> dict[str, str]:
    """Return what the head of a report says: ``Command``, ``Design``, ``Design State``, ``Device``, ..."""
    lines = text.splitlines()[:HEAD_LINES]
    return {match[1]: match[2] for match in map(_HEAD_FIELD.fullmatch, lines) if match}


def vivado_version(head: str) -> str:
    """Return the release of Vivado, as ``2022.2``, that the start of a file names; empty if it names none."""
    return _first(_VERSION, head)


def hls_version(head: str) -> str:
    """Return the release of Vitis or Vivado HLS that the start of its report or log names; empty if it names none."""
    return _first(_HLS_VERSION, head)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return next((group for group in match.groups() if group), "") if match else ""


def part_of(head: str) -> str:
    """Return the part that the head of a report names, in small letters; empty if it is not told whole.

    Utilisation has it in one word (``xczu3eg-sfvc784-2-e``, ``7z020clg400-1``); timing leaves the grades to other lines
    (``7z020-clg400`` and ``-1  PRODUCTION 1.12``; ``xczu3eg-sbva484``, ``-1`` and ``E``).
    """
    fields = head_fields(head)
    in_xml = re.search(r'<RptDoc\b[^>]*\bpartname="([^"]+)"', head)
    if in_xml is not None:
        return in_xml[1].lower()
    device, speed = fields.get("Device", "").lower(), fields.get("Speed File", "").split()
    if not device:
        return ""
    seven = device.startswith(_TOP_SERIES)
    device = device if device.startswith("x") else f"xc{device}"
    if re.search(r"-\d", device):
        return device
    if not speed or "-" not in device:
        return ""
    if seven:
        return device.replace("-", "") + speed[0]
    grade = fields.get("Temperature Grade", "").lower()
    return f"{device}{speed[0]}-{grade}" if grade else ""


def tables(text: str) -> Iterator[list[Line]]:
    """Yield every table as its rows, the headings first."""
    rows: list[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("|"):
            rows.append(Line(number, [cell.removeprefix(" ").rstrip() for cell in stripped.strip("|").split("|")]))
        elif not stripped.startswith("+") and rows:
            yield rows
            rows = []
    if rows:
        yield rows


def dashed_rows(text: str, *headings: str) -> list[dict[str, str]]:
    """Return the rows of the first table that has these headings over lines of dashes, by all its headings.

    Releases of Vivado differ in widths alone: a cell reaches from the end of the column before to the end of its own.
    A table without rows, or a text without such a table, has none.
    """
    lines = text.splitlines()
    for place, line in enumerate(lines[:-1]):
        dashes = lines[place + 1]
        if all(heading in line for heading in headings) and dashes.strip() and not dashes.strip(" -"):
            spans = [match.span() for match in re.finditer(r"-+", dashes)]
            rows = takewhile(str.strip, lines[place + 2 :])
            names = _cells(line, spans)
            return [dict(zip(names, _cells(row, spans), strict=True)) for row in rows]
    return []


def _cells(line: str, spans: list[tuple[int, int]]) -> list[str]:
    """Cut a line into columns; text to the left may grow to the right beyond its dashes up to the next blanks."""
    cells, start = [], 0
    for place, (_, dashed) in enumerate(spans):
        end, last = dashed, place == len(spans) - 1
        # A cell that is longer than its column, such as a clock's name, ends at the next blank.
        while not last and end < len(line) and line[end - 1 : end].strip() and line[end].strip():
            end += 1
        cells.append(line[start : None if last else end].strip())
        start = max(start, end)
    return cells


Sites = Mapping[str, tuple[str, ...]]
"""What Vivado calls each resource, in its releases and families; parts without UltraRAM have no such row or column."""
_INSTANCE = "Instance"
_COLUMNS: Sites = {
    "LUT": ("Total LUTs",),
    "FF": ("FFs",),
    "RAMB36": ("RAMB36",),
    "RAMB18": ("RAMB18",),
    "URAM": ("URAM",),
    "DSP": ("DSP Blocks", "DSP48 Blocks", "DSP Slices"),
}
_SITE_TYPES: Sites = {
    "LUT": ("CLB LUTs", "Slice LUTs"),
    "FF": ("CLB Registers", "Slice Registers"),
    "RAMB36": ("RAMB36/FIFO",),
    "RAMB18": ("RAMB18",),
    "URAM": ("URAM",),
    "DSP": ("DSPs", "DSP Slices"),
}
"""Of UltraScale and of 7 series; a netlist that is only synthesised has a star after some."""


def is_hierarchy_xml(head: str) -> bool:
    """Whether the start of a file is that of a Vivado report in XML."""
    return head.lstrip("\ufeff \r\n").startswith("<?xml") and "<RptDoc" in head


def is_hierarchy_text(text: str) -> bool:
    """Whether a text is ``report_utilization -hierarchical``."""
    return "Utilization by Hierarchy" in text


def is_flat_text(text: str) -> bool:
    """Whether a text is ``report_utilization`` without hierarchy: of a design, which may be one engine alone."""
    return "Utilization Design Information" in text and "Site Type" in text


def is_power_text(text: str) -> bool:
    """Whether a text is ``report_power``."""
    return "Power Report" in text and "Total On-Chip Power (W)" in text


def read_vivado(text: str, file: str) -> Report | None:
    """Return the rows of a report of utilisation or power; None for anything else.

    Raises InputError for one that is malformed; names file and line. So does each reader.
    """
    if is_hierarchy_xml(text[:4096]):
        return read_hierarchy_xml(text, file)
    reader = next((read for is_so, read in _TEXTS if is_so(text)), None)
    return None if reader is None else reader(text, file)


def read_hierarchy_text(text: str, file: str) -> Report:
    """Return a row an instance."""
    table = next((t for t in tables(text) if _is_hierarchy(t[0].texts)), None)
    if table is None:
        raise malformed(file, len(text.splitlines()), "the table of utilisation by hierarchy is missing")
    rows = _instances([(line.number, line.cells) for line in table], table[0].texts, file)
    return Report(file, "utilisation by hierarchy, text", SYNTHESIS, tuple(rows), _state(text))


def read_hierarchy_xml(text: str, file: str) -> Report:
    """Return a row an instance, of ``report_utilization -hierarchical -format xml``."""
    found = xml_tables(text, file)
    table = next((t for t in found.tables if t and _is_hierarchy(t[0][1])), None)
    if table is None:
        line = found.parser.CurrentLineNumber
        raise malformed(file, line, "no table of utilisation by hierarchy; use report_utilization -hierarchical")
    rows = _instances(table, table[0][1], file)
    return Report(file, "utilisation by hierarchy, XML", SYNTHESIS, tuple(rows), found.state)


def xml_tables(text: str, file: str) -> "XmlTables":
    """Return every table of a report in XML."""
    found = XmlTables()
    try:
        found.parser.ParseFile(BytesIO(text.encode()))
    except expat.ExpatError as error:
        raise malformed(file, error.lineno, f"no XML: {expat.ErrorString(error.code)}") from error
    return found


class XmlTables:
    """Every table of a report: rows of cells, with the line that each starts at, and the title of its section."""

    def __init__(self) -> None:
        self.tables: list[list[tuple[int, list[str]]]] = []
        self.titles: list[str] = []
        self._title = ""
        self.state = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "RptDoc":
            self.state = attributes.get("designstate", "")
        elif name == "section":
            self._title = attributes.get("title", "")
        elif name == "table":
            self.tables.append([])
            self.titles.append(self._title)
        elif name == "tablerow" and self.tables:
            self.tables[-1].append((self.parser.CurrentLineNumber, []))
        elif name in {"tableheader", "tablecell"} and self.tables and self.tables[-1]:
            self.tables[-1][-1][1].append(attributes.get("contents", ""))


def _is_hierarchy(headings: list[str]) -> bool:
    return _INSTANCE in headings and _COLUMNS["LUT"][0] in headings


def _instances(table: list[tuple[int, list[str]]], headings: list[str], file: str) -> Iterator[Row]:
    """Yield the rows of a table of utilisation by hierarchy, the headings first, each with the number of its line."""
    columns = {}
    for name, spellings in _COLUMNS.items():
        place = next((headings.index(spelling) for spelling in spellings if spelling in headings), None)
        if place is not None:
            columns[name] = place
        elif name != "URAM":
            raise malformed(file, table[0][0], f"the utilisation by hierarchy has no column {spellings[0]!r}")
    most = max(columns.values())
    paths, instance = _Paths(), headings.index(_INSTANCE)
    for line, cells in table[1:]:
        if len(cells) <= most:
            raise malformed(file, line, f"the row has {len(cells)} cells, its table {most + 1} or more")
        resources = _resources({name: count(cells[place], file, line, name) for name, place in columns.items()})
        path = paths.path(cells[instance])
        if path is not None:
            yield Row(path, resources)


def _resources(amounts: Mapping[str, int]) -> Resources:
    blocks = 2 * amounts["RAMB36"] + amounts["RAMB18"]
    return Resources(amounts["LUT"], amounts["FF"], blocks, amounts.get("URAM", 0), amounts["DSP"])


class _Paths:
    """Turn the indented names of a table into paths; rows are given from the top down."""

    def __init__(self) -> None:
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


def read_power_text(text: str, file: str) -> Report:
    """Return the dynamic power in milliwatts of every instance that the report's one table by hierarchy lists.

    Vivado leaves out what uses little; ``<0.001`` counts as the 1 mW that it stays below.
    """
    table = next((t for t in tables(text) if t[0].texts == ["Name", "Power (W)"]), None)
    if table is None:
        raise malformed(file, len(text.splitlines()), "no table of power by hierarchy; use report_power -hier all")
    return Report(file, "power, text", POWER, tuple(_powers(table[1:], file)), _state(text))


def _powers(lines: Iterable[Line], file: str) -> Iterator[Row]:
    paths = _Paths()
    for line in lines:
        if len(line.cells) != 2:
            raise malformed(file, line.number, f"the row has {len(line.cells)} cells, expected a name and a power")
        try:
            watts = float(line.texts[1].removeprefix("<"))
        except ValueError:
            raise malformed(file, line.number, f"Power (W) is {line.texts[1]!r:.40}, expected a number") from None
        path = paths.path(line.cells[0])
        if path is not None:
            yield Row(path, milliwatts=round(watts * 1000, 6))


def read_flat_text(text: str, file: str) -> Report:
    """Return one row: the design."""
    head, last = head_fields(text), len(text.splitlines())
    if "Design" not in head:
        raise malformed(file, 1, "the head of the report names no Design")
    first_rows: dict[str, Line] = {}
    for table in tables(text):
        if table[0].texts[:2] == ["Site Type", "Used"]:
            for line in table[1:]:
                first_rows.setdefault(line.texts[0].rstrip("*"), line)
    amounts = {}
    for name, spellings in _SITE_TYPES.items():
        found = next((first_rows[spelling] for spelling in spellings if spelling in first_rows), None)
        if found is None and name != "URAM":
            raise malformed(file, last, f"no site type {spellings[0]!r}; use report_utilization without -pblocks")
        amounts[name] = 0 if found is None else _used(found, file)
    row = Row((head["Design"],), _resources(amounts))
    return Report(file, "utilisation of a design, text", SYNTHESIS, (row,), _state(text))


def _used(line: Line, file: str) -> int:
    if len(line.cells) < 2:
        raise malformed(file, line.number, "the row has no second cell, expected what is used")
    return count(line.cells[1], file, line.number, line.texts[0])


def _state(text: str) -> str:
    return head_fields(text).get("Design State", "")


_TEXTS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Report]], ...] = (
    (is_hierarchy_text, read_hierarchy_text),
    (is_power_text, read_power_text),
    (is_flat_text, read_flat_text),
)
