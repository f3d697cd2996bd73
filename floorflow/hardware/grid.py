"""How many of something lie in a rectangle: 2-D prefix sums over columns and tiles.

A hard block's tile (DSP and BRAM 5 rows, URAM 15) counts only if it lies wholly inside, as in Vivado's pblocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
SiteMask = NDArray[np.bool_]
TileKind = Literal["clb", "dsp", "bram", "uram", "laguna", "interconnect", "other"]


@dataclass(frozen=True)
class Tile:
    """What one layout character stands for.

    A column of this kind holds one tile every ``tile_rows`` CLB rows of a clock region, from its row
    ``first_row`` upwards; ``sites`` and ``resources`` are counts a tile.
    """

    kind: TileKind
    description: str
    tile_rows: int = 1
    first_row: int = 0
    sites: Mapping[str, int] = field(default_factory=dict)
    resources: Mapping[str, int] = field(default_factory=dict)


def tile_counts(
    layouts: Sequence[str], legend: Mapping[str, Tile], rows_per_clock_region: int, pitch: int, name: str
) -> IntArray:
    """Return how many ``name`` (a site type or a resource) each tile of ``pitch`` rows holds.

    Returns
    -------
    (tiles, columns) int, bottom to top; tile t covers CLB rows ``t * pitch`` to ``(t + 1) * pitch - 1``.

    """
    per_region = rows_per_clock_region // pitch
    counts = np.zeros((len(layouts) * per_region, len(layouts[0])), dtype=np.int64)
    for y, layout in enumerate(layouts):
        for column, char in enumerate(layout):
            tile = legend[char]
            amount = tile.sites.get(name, 0) + tile.resources.get(name, 0)
            if amount:
                counts[y * per_region + tile.first_row // pitch : (y + 1) * per_region, column] = amount
    return counts


@dataclass(frozen=True)
class PrefixSums:
    """Counts of one site type or resource, summed from the lower left corner.

    ``sums[t, c]`` is the count in tiles below ``t`` and columns left of ``c``: (tiles + 1, columns + 1) int.
    """

    pitch: int
    sums: IntArray

    @classmethod
    def of(cls, counts: IntArray, pitch: int) -> PrefixSums:
        """Sum up (tiles, columns) counts."""
        return cls(pitch, np.pad(counts, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1))

    def inside(self, rects: IntArray) -> IntArray:
        """Return the count in each of (n, 4) rectangles ``left, bottom, right, top``: (n,) int."""
        tiles, columns = self.sums.shape[0] - 1, self.sums.shape[1] - 1
        left = rects[:, 0].clip(0, columns)
        right = (rects[:, 2] + 1).clip(left, columns)
        lower = (-(-rects[:, 1] // self.pitch)).clip(0, tiles)
        upper = ((rects[:, 3] + 1) // self.pitch).clip(lower, tiles)
        counts: IntArray = (
            self.sums[upper, right] - self.sums[lower, right] - self.sums[upper, left] + self.sums[lower, left]
        )
        return counts
