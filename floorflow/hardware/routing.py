"""What a die offers to streams: long wires over the tiles of a bin, and Laguna columns from one SLR to the next.

UltraScale+: eight wires of length 12 start in each interconnect tile in each of the four directions (RapidWright names
them ``EE12_BEG0`` to ``EE12_BEG7``; 12 rows upwards, 6 interconnect tiles sideways), so that 2 x 8 x 6 cross a side of
a tile and 2 x 8 x 12 its top. 7 series (names of Project X-Ray): ``EE4BEG0-3`` and ``NN6BEG0-3``, with 12 and 18 long
lines. Shorter wires count as the cells' own. Versal has no public numbers that could be found: those of UltraScale+ are
assumed. That half of the long wires are left to streams is assumed on all: no public measurement was found.

On UltraScale+ all wires between SLRs (SLLs) start and end in Laguna tiles, which take the place of a CLB column in the
rows of clock regions at the boundary: 1,440 wires a column and boundary (60 tiles of 4 sites of 6).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.hardware.board import Board
from floorflow.hardware.device import Device
from floorflow.hardware.ranges import parse_range, range_rect
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


def wires_between_halves(device: Device, row: int) -> int:
    """Return the long wires that streams may take over the top of a row."""
    layout = device.layouts[row // device.rows_per_clock_region]
    kinds = [device.legend[char].kind for char in layout]
    tiles = kinds.count("interconnect") or sum(kind in WITH_INTERCONNECT for kind in kinds)
    return int(LONG_WIRES[device.architecture].along * tiles * FREE_SHARE)


@dataclass(frozen=True, slots=True)
class LagunaColumns:
    """The columns of one SLR boundary in which a design may cross, and the wires of each.

    ``row2`` is twice the boundary's row: it lies between two CLB rows.
    """

    row2: int
    columns: tuple[int, ...]
    wires_per_column: int


def laguna_columns(board: Board, device: Device) -> tuple[LagunaColumns, ...]:
    """Return the columns of each SLR boundary, bottom to top.

    They are those of which the shell keeps no Laguna site beside the boundary; should they have fewer wires than the
    board's file says, all.
    """
    silicon = sorted({*device.site_types["LAGUNA"].columns}) if device.sll_wires else []
    found = []
    for number, wires in enumerate(device.sll_wires):
        boundary = device.slrs[number].top
        each, usable = wires // len(silicon), wires if board.sll_wires is None else board.sll_wires[number]
        kept = _kept(board, device, boundary)
        free = [column for column in silicon if column not in kept]
        found.append(LagunaColumns(2 * boundary + 1, tuple(free if len(free) * each >= usable else silicon), each))
    return tuple(found)


def _kept(board: Board, device: Device, boundary: int) -> set[int]:
    """Return the columns of the shell's clock regions and Laguna ranges in the clock regions beside a boundary."""
    rows = device.rows_per_clock_region
    texts = [] if board.shell is None else [text for own in board.shell.static.values() for text in own]
    boxes = [range_rect(device, text) for text in texts if parse_range(device, text).site in ("LAGUNA", "CLOCKREGION")]
    beside = [box for box in boxes if box.bottom <= boundary + rows and box.top > boundary - rows]
    return {column for box in beside for column in range(box.left, box.right + 1)}
