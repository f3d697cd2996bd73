"""Vivado's text reports: the lines of facts at their head, and tables drawn with bars or with dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

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
