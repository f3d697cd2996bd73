"""Laguna columns: where streams can cross from one SLR to the next.

On UltraScale+ all wires between SLRs (SLLs) start and end in Laguna tiles, which take the place of a CLB column in the
rows of clock regions at the boundary: 1,440 wires a column and boundary (60 tiles of 4 sites of 6).
"""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.hardware.board import Board
from floorflow.hardware.device import Device
from floorflow.hardware.ranges import parse_range, range_rect


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
