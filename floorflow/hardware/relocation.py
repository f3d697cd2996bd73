"""Where a circuit that is placed and routed once may be put as it is: windows of equal columns and rows.

A window moves as a whole. Each of its cells must meet a column of the same kind, hard blocks at the same row of their
tiles, and it must meet clock spines (the middle of each clock region, where rows of clock buffers lie), clock-region
edges and SLR boundaries at the same of its rows, because wires change there. Columns carry their own kinds in each
clock-region row, so that a window never matches where an I/O or PCIe block interrupts the pattern.
"""

from collections.abc import Sequence

import numpy as np

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.grid import IntArray


def can_relocate(device: Device, window: Sequence[Rect], other: Sequence[Rect]) -> bool:
    """Whether what is made in one window, of one or more rectangles, can be put into another as it is."""
    own, others = sorted(window), sorted(other)
    right, up = others[0].left - own[0].left, others[0].bottom - own[0].bottom
    if others != [Rect(r.left + right, r.bottom + up, r.right + right, r.top + up) for r in own]:
        return False
    cells, between = device.cell_kinds, device.row_boundaries
    return all(
        np.array_equal(between[rect.bottom : rect.top], between[moved.bottom : moved.top])
        and np.array_equal(_cut(cells, rect), _cut(cells, moved))
        for rect, moved in zip(own, others, strict=True)
    )


def anchors(device: Device, window: Rect, inside: Rect | None = None, keep_outs: Sequence[Rect] = ()) -> list[Rect]:
    """Return every legal rectangle that `can_relocate` allows, by bottom, then left; the window itself among them.

    ``inside``: a region that holds all of each, the whole die if not given; none overlaps a keep-out.
    """
    region = device.bounds if inside is None else inside
    cells, between = device.cell_kinds, device.row_boundaries
    pattern, rows = _cut(cells, window), between[window.bottom : window.top]
    found = []
    for bottom in range(region.bottom, region.top + 2 - window.rows):
        top = bottom + window.rows - 1
        if not np.array_equal(between[bottom:top], rows):
            continue
        for left in _lefts(device, window.columns, region, cells[bottom], pattern[0]):
            rect = Rect(left, bottom, left + window.columns - 1, top)
            if np.array_equal(_cut(cells, rect), pattern) and not any(rect.overlaps(hole) for hole in keep_outs):
                found.append(rect)
    return found


def _lefts(device: Device, columns: int, region: Rect, row: IntArray, pattern: IntArray) -> list[int]:
    """Return the legal left edges at which one row of the window matches."""
    lefts = device.left_edges
    rights = lefts + columns - 1
    fits = (lefts >= region.left) & (rights <= region.right) & np.isin(rights, device.right_edges)
    return [left for left in lefts[fits].tolist() if np.array_equal(row[left : left + columns], pattern)]


def _cut(cells: IntArray, rect: Rect) -> IntArray:
    return cells[rect.bottom : rect.top + 1, rect.left : rect.right + 1]
