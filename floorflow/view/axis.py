"""Axes with round numbers along them, and how these numbers and times are written."""

from __future__ import annotations

import math
from dataclasses import dataclass

from floorflow.view.box import Box
from floorflow.view.palette import QUIET, RULE
from floorflow.view.sheet import Sheet


def ticks(first: float, last: float) -> tuple[float, ...]:
    """Return round numbers between two: 1, 2 and 5 times powers of ten, or only these powers on a long axis."""
    return _round_numbers(first, last, (1.0, 2.0, 5.0) if last / first < 2000 else (1.0,))


def spaced_ticks(first: float, last: float) -> tuple[float, ...]:
    """Return round numbers between two, few enough to be written side by side below a panel."""
    leads = (1.0, 2.0, 5.0) if last / first < 100 else (1.0, 3.0) if last / first < 10**4 else (1.0,)
    return _round_numbers(first, last, leads)


def _round_numbers(first: float, last: float, leads: tuple[float, ...]) -> tuple[float, ...]:
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    found = (lead * 10.0**power for power in powers for lead in leads)
    return tuple(number for number in found if first <= number <= last)


@dataclass(frozen=True)
class Axis:
    """From numbers to points across an area of the sheet: from ``first``, logarithmic, or linear from 0."""

    area: Box
    first: float
    last: float
    logarithmic: bool = False

    def at(self, number: float) -> float:
        """Return where a number lies; what is off the axis lies at its end."""
        if self.logarithmic:
            share = math.log(max(number, self.first) / self.first) / math.log(self.last / self.first)
        else:
            share = number / self.last
        return self.area.left + self.area.width * min(share, 1.0)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers along the axis."""
        if self.logarithmic:
            return ticks(self.first, self.last)
        power = 10.0 ** math.floor(math.log10(max(self.last, 1)))
        steps = (power * part for part in (0.2, 0.5, 1.0, 2.0))
        step = next(size for size in steps if size >= 1 and self.last / size <= 6.5)
        return tuple(step * index for index in range(int(self.last / step) + 1))

    def draw(self, sheet: Sheet, caption: str) -> None:
        """Draw a line at each tick, with its number and the caption below the area."""
        area = self.area
        for number in self.ticks:
            x = self.at(number)
            sheet.line((x, area.bottom), (x, area.top), colour=RULE, width=0.5)
            sheet.write(x, area.bottom - 10, tick_text(number), 6.5, colour=QUIET, align="middle")
        sheet.write(area.left, area.bottom - 22, caption, 6.8, colour=QUIET)


def tick_text(number: float) -> str:
    """Write a round number shortly: 500, 20k, 1.5M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def time_unit(time_us: float) -> tuple[str, float]:
    """Return the unit in which a time is a number of few digits, and its microseconds."""
    return ("s", 1e6) if time_us >= 1e6 else ("ms", 1e3) if time_us >= 1e3 else ("µs", 1.0)


def time_text(time_us: float) -> str:
    """Write a time with four digits: ``12.34 ms``."""
    unit, size_us = time_unit(time_us)
    amount = time_us / size_us
    return f"{amount:,.0f} {unit}" if amount >= 1000 else f"{amount:.4g} {unit}"
