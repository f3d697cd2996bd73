"""How far a stream gets in one cycle, and the ways between its registers.

The reach is a rule of thumb, 60,000 columns and rows times MHz, not a timing model: docs/clock.md sets it beside every
public number that could be found. A stream over SLR boundaries has registers there, at the boundary's rows and in
whatever column suits it best, so that its columns may be shared out among its ways.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

REACH_TILES_MHZ = 60_000
"""Columns and rows between two registers times MHz: half the span of half an SLR of a U250 at 250 MHz."""
COMFORTABLE_SHARE = 0.6
"""Share of the reach beyond which a stream gets register slices: the reach is a whole period, and knows no detour."""
ROUNDING = 1e-9


def reach_tiles(clock_mhz: float) -> float:
    """Return how many columns and rows may lie between two registers."""
    return REACH_TILES_MHZ / clock_mhz


def comfortable_tiles(clock_mhz: float) -> float:
    """Return how many columns and rows may lie between two registers without another between them."""
    return COMFORTABLE_SHARE * reach_tiles(clock_mhz)


@dataclass(frozen=True, slots=True)
class Way:
    """A stream from its source to its target: columns in all, and rows from each register to the next.

    ``rows`` has one number, or one more than the SLR boundaries with registers that the stream crosses.
    """

    columns: float
    rows: tuple[float, ...]

    @classmethod
    def between(
        cls, source: tuple[float, float], target: tuple[float, float], boundaries: Sequence[float] = ()
    ) -> "Way":
        """Return the way between two points (column, row) over boundaries at these rows."""
        low, high = sorted((source[1], target[1]))
        stops = (low, *sorted(min(max(row, low), high) for row in boundaries), high)
        rows = tuple(after - before for before, after in itertools.pairwise(stops))
        return cls(abs(source[0] - target[0]), rows)

    @property
    def tiles(self) -> float:
        """Columns and rows from end to end."""
        return self.columns + sum(self.rows)

    @property
    def longest_tiles(self) -> float:
        """Columns and rows from one register to the next at the most, the columns shared out as well as can be."""
        return max((*self.rows, self.tiles / len(self.rows)))

    def slices(self, reach: float) -> int:
        """Return how many register slices make every way from one register to the next as short as the reach."""
        return sum(self.slices_between(reach, 0))

    def slices_between(self, reach: float, first: int) -> tuple[int, ...]:
        """Return the slices between each register and the next; those that columns alone need are in part ``first``."""
        whole = [max(1, ceil(rows / reach - ROUNDING)) for rows in self.rows]
        room = sum(whole) * reach - sum(self.rows)
        whole[first] += max(0, ceil((self.columns - room) / reach - ROUNDING))
        return tuple(count - 1 for count in whole)

    def longest_with(self, slices: int) -> float:
        """Return columns and rows from one register to the next at the most, with so many slices where they serve best.

        One after the other they go where rows are longest, which no other sharing out beats; columns take what is left.
        """
        ways = [1] * len(self.rows)
        for _ in range(slices):
            most = max(range(len(ways)), key=lambda i: self.rows[i] / ways[i])
            ways[most] += 1
        return max(*(rows / n for rows, n in zip(self.rows, ways, strict=True)), self.tiles / sum(ways))
