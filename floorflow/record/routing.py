"""The routing map of a placement as the Plan holds it."""

from __future__ import annotations

import numpy as np

from floorflow.facts import RectangleEntry, RoutingMapEntry
from floorflow.hardware import Device
from floorflow.hardware.routing import BIN_TILES
from floorflow.placement import RoutingMap

DIGITS = 6


def routing_map(routing: RoutingMap, device: Device) -> RoutingMapEntry:
    """Return the map, rounded to whole bit-tiles; of equal peaks the leftmost of the lowest."""
    demand = routing.demand.T
    row, column = np.unravel_index(int(np.round(demand, DIGITS).argmax()), demand.shape)
    left, bottom = int(column) * BIN_TILES, int(row) * BIN_TILES
    right, top = (
        min(low + BIN_TILES, end) - 1 for low, end in ((left, device.column_count), (bottom, device.row_count))
    )
    return RoutingMapEntry(
        unit="bit-tiles",
        bin_columns=BIN_TILES,
        bin_rows=BIN_TILES,
        capacity=float(routing.capacity.max()),
        peak=round(routing.peak, DIGITS),
        peak_at=RectangleEntry(left=left, bottom=bottom, right=right, top=top),
        mean=round(routing.mean, DIGITS),
        over=routing.over,
        demand=[" ".join(map(str, bins)) for bins in np.rint(demand).astype(int).tolist()],
    )
