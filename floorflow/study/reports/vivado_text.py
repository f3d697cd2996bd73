"""Vivado's text reports: the lines of facts at their head, and tables drawn with bars."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEAD_FIELD = re.compile(r"\|\s*(Tool Version|Command|Design|Design State)\s*:\s*(.*?)\s*\|?\s*")
HEAD_LINES = 40
"""Vivado's facts stand in the first lines."""


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
    """Return what the head of a report says: ``Command``, ``Design``, ``Design State``."""
    lines = text.splitlines()[:HEAD_LINES]
    return {match[1]: match[2] for match in map(_HEAD_FIELD.fullmatch, lines) if match}


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
