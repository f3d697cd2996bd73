"""How many wires share the same area: bounding boxes counted over coarse tiles.

Notes on the coarse-grained floorplanning paper, section 4 (eq. 3, corrected): the congestion of a tile is the number
of net bounding boxes over it. Here each box counts with the width of its stream. Reported, not optimised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from floorflow.hardware.device import Device
from floorflow.placement.problem import Pin, Region, Wire, point_of

TILE_COLUMNS = 30
TILE_ROWS = 30
"""A tile is about a quarter of a clock region: half its 60 rows and about half its 45 to 60 columns."""


def congestion_of(device: Device, regions: Mapping[str, Region], wires: Sequence[Wire]) -> dict[str, float]:
    """Return ``max`` and ``mean`` over the device's tiles, in bits of wires over a tile."""
    tiles = np.zeros((-(-device.column_count // TILE_COLUMNS), -(-device.row_count // TILE_ROWS)), dtype=np.int64)
    for wire in wires:
        columns, rows = _tile_span(point_of(wire.source, regions), point_of(wire.target, regions))
        tiles[columns, rows] += wire.width_bits
    return {"max": float(tiles.max()), "mean": round(float(tiles.mean()), 6)}


def _tile_span(a: Pin, b: Pin) -> tuple[slice, slice]:
    """Return the tiles under the bounding box of two points."""
    x, y = sorted((a.x2 // 2, b.x2 // 2)), sorted((a.y2 // 2, b.y2 // 2))
    columns = slice(x[0] // TILE_COLUMNS, x[1] // TILE_COLUMNS + 1)
    return columns, slice(y[0] // TILE_ROWS, y[1] // TILE_ROWS + 1)
