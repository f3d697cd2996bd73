"""What a path of so many levels takes on a part: a delay a level by family, a factor by speed grade."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from floorflow.backends.finn.clock.paths import Path

Family = Literal["7series", "ultrascale+"]

HLS_SHARE = 0.73
"""Share of the period that HLS fills with logic: Vitis HLS keeps 27% as clock uncertainty, unless told otherwise."""
OVERHEAD_NS: dict[Family, float] = {"7series": 1.0, "ultrascale+": 0.5}
"""A register's own times, skew and uncertainty at speed grade -1, rounded from the reports (0.6 to 1.3, 0.4)."""
LARGEST_LUTS = 20_000
"""Of the largest engine in a build whose clock is known; how nets grow beyond it is not, so they are taken not to."""
_GRADES: dict[Family, dict[int, float]] = {
    "7series": {1: 1.0, 2: 0.84, 3: 0.75},
    "ultrascale+": {1: 1.0, 2: 0.86, 3: 0.76},
}
"""Delay by speed grade, relative to -1: the ratio of the fastest clocks of block RAM and DSP (DS181, DS925)."""
_FAMILIES: tuple[tuple[re.Pattern[str], Family], ...] = (
    (re.compile(r"x[acq]7"), "7series"),
    (re.compile(r"x[acq]r?(zu|au|k2|ux|su|u\d|[kv]u\d+p)"), "ultrascale+"),
)
_GRADE = re.compile(r"-L?([123])L?[EIMQV]*(-|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Delays:
    """Coefficients; benchmarks/clock.py fits them.

    ``level_ns`` is a LUT with a short net at speed grade -1; ``control`` is how much longer a level takes whose net
    controls an engine, ``spread`` by how much it grows with the root of 10,000 LUTs of its engine; ``hls_level`` is
    what HLS takes a level to be, in ``level_ns``; ``several_dies`` is what crossing dies does to the period.
    """

    level_ns: Mapping[Family, float]
    control: float
    spread: float
    hls_level: float
    several_dies: float

    def scheduled_levels(self, part: str, period_ns: float) -> float:
        """Return how many levels HLS puts between two registers on a part when it is told that period."""
        family, grade = _family_and_grade(part)
        return HLS_SHARE * period_ns / (self.hls_level * self.level_ns[family] * grade)

    def path_ns(self, path: Path, part: str, period_ns: float, engine_luts: int) -> float:
        """Return how long a routed path takes in an engine of so many LUTs, built for a period."""
        family, grade = _family_and_grade(part)
        levels = path.levels
        if path.scheduled:
            levels = min(levels, self.scheduled_levels(part, period_ns))
        spread = self.spread * sqrt(min(engine_luts, LARGEST_LUTS) / 1e4)
        longer = {"short": 1.0, "control": self.control, "engine": 1 + spread}
        return grade * (OVERHEAD_NS[family] + levels * self.level_ns[family] * longer[path.nets])


DELAYS = Delays(
    level_ns={"7series": 0.735, "ultrascale+": 0.366},
    control=1.56,
    spread=0.44,
    hls_level=1.52,
    several_dies=1.17,
)
"""Fitted to all builds at hand by benchmarks/clock.py."""
ERROR = 1.2
"""Factor on the period, up or down, within which 17 of 18 builds lie when a fit has seen none of their source."""


def known_part(part: str) -> bool:
    """Whether the delays of a part's family are known: no build on Versal, nor on UltraScale without the +, was."""
    return _family(part) is not None


def _family(part: str) -> Family | None:
    return next((family for pattern, family in _FAMILIES if pattern.match(part.lower())), None)


def _family_and_grade(part: str) -> tuple[Family, float]:
    """Return the family of a known part and its factor; a name without a speed grade counts as -1, the slowest."""
    family = _family(part)
    if family is None:
        raise ValueError(f"no delays are known for {part}")
    found = _GRADE.search(part)
    return family, _GRADES[family][int(found[1])] if found else 1.0
