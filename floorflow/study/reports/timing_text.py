"""The achieved clock and the paths that fail, from ``report_timing_summary``, ``report_timing`` and xclbinutil's info.

Vitis lowers the kernel's clock without an error where timing fails: what it became stands in the xclbin alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOCK = re.compile(r"^\s*(\S+)\s+\{[\d. ]+\}\s+(\d+\.\d+)\s+(\d+\.\d+)\s*$", re.MULTILINE)
"""A row of Clock Summary: name, waveform, period in ns, frequency in MHz."""
_INTRA = re.compile(r"^\s*(\S+)\s+(-?\d+\.\d+)\s+-?\d+\.\d+\s+\d+\s+\d+\b.*$", re.MULTILINE)
"""A row of Intra Clock Table: name, worst slack in ns, total slack, failing endpoints, endpoints."""
_KERNEL_CLOCK = re.compile(
    r"Name:\s*(?:DATA_CLK|ulp_ucs_aclk_kernel_00)\b.*?Frequency:\s*(\d+(?:\.\d+)?)\s*MHz", re.DOTALL
)
_PATH = re.compile(
    r"^Slack \((\w+)\)\s*:\s*(-?\d+\.\d+)ns.*?^\s*Source:\s+(\S+).*?^\s*Destination:\s+(\S+)", re.DOTALL | re.MULTILINE
)


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


def read_clock(text: str, file: str) -> AchievedClock | None:
    """Return the clock of a timing summary (that of its worst slack) or of an xclbin's info; None for another file."""
    kernel = _KERNEL_CLOCK.search(text)
    if kernel is not None and "xclbin" in text[:4096].lower():
        return AchievedClock(file, float(kernel[1]), None, None)
    if "Timing Summary Report" not in text or "Clock Summary" not in text:
        return None
    rest = text.partition("Clock Summary")[2]
    clocks, _, tables = rest.partition("Intra Clock Table")
    periods = {match[1]: float(match[2]) for match in _CLOCK.finditer(clocks)}
    table = tables.partition("Inter Clock Table")[0]
    slacks = [(float(match[2]), match[1]) for match in _INTRA.finditer(table) if match[1] in periods]
    if not slacks:
        return None
    slack, clock = min(slacks)
    period = periods[clock]
    return AchievedClock(file, round(1000 / (period - slack), 3), round(1000 / period, 3), slack)


def read_paths(text: str) -> list[FailingPath]:
    """Return the paths of a ``report_timing`` that violate, the worst first."""
    found = [FailingPath(float(m[2]), m[3], m[4]) for m in _PATH.finditer(text) if m[1] == "VIOLATED"]
    return sorted(found, key=lambda path: path.slack_ns)
