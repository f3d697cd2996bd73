"""What a bin of the die offers to streams: long wires that cross its tiles, less what is left to other nets.

UltraScale+: eight wires of length 12 start in each interconnect tile in each of the four directions (RapidWright names
them ``EE12_BEG0`` to ``EE12_BEG7``; 12 rows upwards, 6 interconnect tiles sideways), so that 2 x 8 x 6 cross a side of
a tile and 2 x 8 x 12 its top. 7 series (names of Project X-Ray): ``EE4BEG0-3`` and ``NN6BEG0-3``, with 12 and 18 long
lines. Shorter wires count as the cells' own. Versal has no public numbers that could be found: those of UltraScale+ are
assumed. That half of the long wires are left to streams is assumed on all: no public measurement was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.technology import Architecture

BIN_TILES = 15
"""Columns and rows of a bin: a quarter of the rows of a clock region of UltraScale+, about a third of its columns."""
FREE_SHARE = 0.5
"""Share of the long wires that streams may take: assumed."""
WITH_INTERCONNECT = ("clb", "dsp", "bram", "uram")
"""Columns that have interconnect of their own on a die whose layouts show none."""


@dataclass(frozen=True, slots=True)
class LongWires:
    """Long wires over a side of an interconnect tile (``across``, along a row) and over its top (``along``)."""

    across: int
    along: int


LONG_WIRES: Mapping[Architecture, LongWires] = {
    "ultrascale+": LongWires(2 * 8 * 6, 2 * 8 * 12),
    "7series": LongWires(2 * 4 * 4 + 12, 2 * 4 * 6 + 18),
    "versal": LongWires(2 * 8 * 6, 2 * 8 * 12),
}


def bins_of(length: int) -> int:
    """Return how many bins so many columns or rows make; the last may be smaller."""
    return -(-length // BIN_TILES)


def routing_capacity(device: Device) -> npt.NDArray[np.float64]:
    """Return what each bin offers in bit-tiles: wires of one bit over one column or one row.

    Returns
    -------
    (bins across, bins up): of each row that has interconnect the wires along it times its columns, and those over each
    interconnect tile.

    """
    wires, columns = LONG_WIRES[device.architecture], np.arange(device.column_count)
    width = np.bincount(columns // BIN_TILES)
    capacity = np.zeros((bins_of(device.column_count), bins_of(device.row_count)))
    shown = any(device.legend[char].kind == "interconnect" for layout in device.layouts for char in layout)
    kinds = ("interconnect",) if shown else WITH_INTERCONNECT
    of_layout = {}
    for layout in set(device.layouts):
        has = [device.legend[char].kind in kinds for char in layout]
        tiles = np.bincount(columns // BIN_TILES, weights=has)
        of_layout[layout] = np.where(tiles > 0, wires.across * width + wires.along * tiles, 0) * FREE_SHARE
    for row in range(device.row_count):
        capacity[:, row // BIN_TILES] += of_layout[device.layouts[row // device.rows_per_clock_region]]
    return capacity
