"""Tables, lists and numbers as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from textwrap import wrap

from floorflow.resources import MOST_TOLD

WIDTH = 120
"""Characters of a line of text in a pipe."""


def table(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Align the columns of rows: the first ``left`` to the left, others to the right, the last stays as it is."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [_row(row, widths, left).rstrip() for row in rows]


def _row(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = [text.ljust(w) if i < left else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))]
    return "  ".join([*cells[:-1], row[-1]])


def number(value: float | None) -> str:
    """Write a number with thousands separated, and with four digits if it is small; ``-`` for none."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def gap_of(found: int, bound: int) -> str:
    """Write how far what was found is above its bound, as a share of what was found."""
    return f"{(found - bound) / found:.1%}"


def rate(frames_per_s: float) -> str:
    """Write a frame rate rounded down, so that what is printed can be asked for."""
    return f"{floor(frames_per_s):,}" if frames_per_s >= 100 else f"{floor(frames_per_s * 10) / 10:,.1f}"


def chance(likelihood: float) -> str:
    """Write a likelihood rounded down: what may fail is never told as certain, nor surer than builds can show."""
    if MOST_TOLD <= likelihood < 1:
        return f"over {MOST_TOLD:.0%}"
    return "100%" if likelihood == 1 else f"{floor(likelihood * 1000 + 1e-9) / 10:.1f}%"


def filled(place: str, used: float, allowed: float) -> str:
    """Tell how full a resource of a slot is, by shares of what is available there."""
    return f"{place}: {used:.1%} used, {allowed:.0%} allowed"


def wrapped(sentences: Iterable[str]) -> list[str]:
    """Return each sentence as an item of a list, over several lines if it is long."""
    items = (wrap(s, WIDTH, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False) for s in sentences)
    return [line for item in items for line in item]
