"""The achieved clock and the paths that fail, from ``report_timing_summary``, ``report_timing`` and xclbinutil's info.

Vitis lowers the kernel's clock without an error where timing fails: what it became stands in the xclbin alone.
"""

import re
from dataclasses import dataclass

from floorflow.backends.vivado.reports import dashed_rows

_KERNEL_CLOCK = re.compile(
    r"Name:\s*(?:DATA_CLK|ulp_ucs_aclk_kernel_00)\b.*?Frequency:\s*(\d+(?:\.\d+)?)\s*MHz", re.DOTALL
)
_PATH = re.compile(
    r"^Slack \((\w+)\)\s*:\s*(-?\d+\.\d+)ns.*?^\s*Source:\s+(\S+).*?^\s*Destination:\s+(\S+)", re.DOTALL | re.MULTILINE
)
_SLACK, _PERIOD = "WNS(ns)", "Period(ns)"
_DETAILS = "Timing Details"
"""What follows are single paths, which may be millions of lines."""


@dataclass(frozen=True)
class AchievedClock:
    """The clock that a file tells: MHz that hold, and what was asked for (None: the file does not say)."""

    file: str
    achieved_mhz: float
    asked_mhz: float | None
    slack_ns: float | None


@dataclass(frozen=True)
class FailingPath:
    """A path that is too slow: slack in ns, below 0, and the pins at its ends."""

    slack_ns: float
    source: str
    destination: str


def is_timing_summary(text: str) -> bool:
    """Whether a text has the tables of ``report_timing_summary``, or an excerpt of them."""
    return "Timing Summary" in text and _SLACK in text


def read_summary(text: str) -> tuple[float | None, float | None]:
    """Return the period of the clock that is worst off, and the worst slack of the design, both in ns.

    By the contents of the tables: Design Timing Summary, Clock Summary, Intra Clock Table. Without the last the clock
    with the shortest period counts. A slack of NA is that of a design without constraints.
    """
    tables = text.partition(_DETAILS)[0]
    clocks = {row["Clock"]: _number(row[_PERIOD]) for row in dashed_rows(tables, "Clock", _PERIOD)}
    periods = {name: period for name, period in clocks.items() if period}
    slacks = [
        (slack, row["Clock"])
        for row in dashed_rows(tables.partition("Intra Clock Table")[2], "Clock", _SLACK)
        if (slack := _number(row[_SLACK])) is not None and row["Clock"] in periods
    ]
    design = [_number(row[_SLACK]) for row in dashed_rows(tables.partition("Intra Clock Table")[0], _SLACK)[:1]]
    worst = min((slack for slack in (*design, *(slack for slack, _ in slacks)) if slack is not None), default=None)
    period = periods[min(slacks)[1]] if slacks else min(periods.values(), default=None)
    return period, worst


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def read_clock(text: str, file: str) -> AchievedClock | None:
    """Return the clock of a timing summary (that of its worst slack) or of an xclbin's info; None for another file."""
    kernel = _KERNEL_CLOCK.search(text)
    if kernel is not None and "xclbin" in text[:4096].lower():
        return AchievedClock(file, float(kernel[1]), None, None)
    if not is_timing_summary(text):
        return None
    period, slack = read_summary(text)
    if period is None or slack is None or period <= slack:
        return None
    return AchievedClock(file, round(1000 / (period - slack), 3), round(1000 / period, 3), slack)


def read_paths(text: str) -> list[FailingPath]:
    """Return the paths of a ``report_timing`` that violate, the worst first."""
    found = [FailingPath(float(m[2]), m[3], m[4]) for m in _PATH.finditer(text) if m[1] == "VIOLATED"]
    return sorted(found, key=lambda path: path.slack_ns)
