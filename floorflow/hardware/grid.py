"""How many of something lie in a rectangle: 2-D prefix sums over columns and tiles.

A hard block's tile (DSP and BRAM 5 rows, URAM 15) counts only if it lies wholly inside, as in Vivado's pblocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
SiteMask = NDArray[np.bool_]
_CLOSED = ("PS", "no fabric")
"""How columns are described in which there is the processor, or nothing."""
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

    @property
    def is_closed(self) -> bool:
        """Whether there is the processor, or nothing."""
        return self.description.startswith(_CLOSED)


def tile_counts(
    layouts: Sequence[str], legend: Mapping[str, Tile], rows_per_clock_region: int, pitch: int, name: str
) -> IntArray:
    """Return how many ``name`` (a site type or a resource) each tile of ``pitch`` rows holds.

    Returns
    -------
    (tiles, columns) int, bottom to top; tile t covers CLB rows ``t * pitch`` to ``(t + 1) * pitch - 1``.

    """
    per_region = rows_per_clock_region // pitch
    chars = np.array([list(layout) for layout in layouts])
    counts = np.zeros((len(layouts), per_region, chars.shape[1]), dtype=np.int64)
    for char, tile in legend.items():
        amount = tile.sites.get(name, 0) + tile.resources.get(name, 0)
        if amount:
            region, column = np.nonzero(chars == char)
            counts[region, tile.first_row // pitch :, column] = amount
    return counts.reshape(-1, chars.shape[1])


def cell_kinds(layouts: Sequence[str], legend: Mapping[str, Tile], rows_per_clock_region: int) -> IntArray:
    """Return numbers that are equal where two cells are the same row of the same kind of tile.

    Returns
    -------
    (rows, columns) int, bottom to top; below a column's first tile all rows are alike.

    """
    rows = np.arange(rows_per_clock_region)
    number = {char: index for index, char in enumerate(sorted(legend))}
    steps = rows_per_clock_region + 1
    of_char = {
        char: number[char] * steps + np.where(rows < tile.first_row, 0, 1 + (rows - tile.first_row) % tile.tile_rows)
        for char, tile in legend.items()
    }
    return np.vstack([np.array([of_char[char] for char in layout]).T for layout in layouts])


@dataclass(frozen=True, eq=False)
class PrefixSums:
    """Counts of several resources or site types, each summed from the lower left corner, one after another.

    ``sums`` holds for each of n kinds, from its ``first`` (n,) on, row by row the (tiles + 1, columns + 1) sums over
    tiles below and columns left of a corner; ``pitch`` (n,) are rows of a tile and ``tiles`` (n,) their number.
    """

    columns: int
    pitch: IntArray
    tiles: IntArray
    first: IntArray
    sums: IntArray

    @classmethod
    def of(cls, counts: Sequence[IntArray], pitches: Sequence[int]) -> "PrefixSums":
        """Sum up (tiles, columns) counts of each kind, whose tiles have so many rows each."""
        sums = [np.pad(each, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1) for each in counts]
        first = np.cumsum([0, *(each.size for each in sums)])[:-1]
        tiles = np.array([len(each) for each in counts], dtype=np.int64)
        pitch = np.array(pitches, dtype=np.int64)
        return cls(counts[0].shape[1], pitch, tiles, first, np.concatenate([each.ravel() for each in sums]))

    def inside(self, rects: IntArray) -> IntArray:
        """Return the count of each kind in (n_rects, 4) rectangles ``left, bottom, right, top``: (n_rects, n) int."""
        left = np.minimum(np.maximum(rects[:, :1], 0), self.columns)
        right = np.minimum(np.maximum(rects[:, 2:3] + 1, left), self.columns)
        lower = np.minimum(np.maximum(-(-rects[:, 1:2] // self.pitch), 0), self.tiles)
        upper = np.minimum(np.maximum((rects[:, 3:] + 1) // self.pitch, lower), self.tiles)
        low, high = lower * (self.columns + 1) + self.first, upper * (self.columns + 1) + self.first
        take = self.sums.take
        counts: IntArray = take(high + right) - take(low + right) - take(high + left) + take(low + left)
        return counts
