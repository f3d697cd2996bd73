"""The routing map: how many bits of wires each bin of the die has to carry, against what it offers.

A wire of b bits between points dx columns and dy rows apart takes b dx steps sideways and b dy upwards, wherever in the
box of its ends it runs: b (dx + dy) bit-tiles, spread evenly over the box (RUDY: Spindler and Johannes, DATE 2007),
which reaches half a tile beyond its ends. So the demand of all bins adds up to the wirelength. Capacity:
`floorflow.hardware.routing`. Nets inside a module are not known here.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.hardware.routing import BIN_TILES, bins_of, routing_capacity

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoutingMap:
    """Demand and capacity of each bin, (bins across, bins up), in bit-tiles."""

    demand: Floats
    capacity: Floats

    @property
    def excess(self) -> float:
        """Demand above capacity, over all bins."""
        return float(np.maximum(self.demand - self.capacity, 0.0).sum())

    @property
    def peak(self) -> float:
        """The largest demand of a bin that has wires."""
        return float(self.carried.max())

    @property
    def carried(self) -> Floats:
        """The demand of bins that have wires: what is asked of those over a processor goes around them."""
        return np.where(self.capacity > 0, self.demand, 0.0)

    @property
    def mean(self) -> float:
        """The mean demand of a bin."""
        return float(self.demand.mean())

    @property
    def over(self) -> int:
        """How many bins have more demand than capacity, of those that have any: wires go around a processor."""
        return int(((self.demand > self.capacity) & (self.capacity > 0)).sum())


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of a die: ``x`` (m + 1,) and ``y`` (n + 1,) are twice the places of their edges; the first is -1."""

    x: Floats
    y: Floats
    capacity: Floats

    @classmethod
    def of(cls, device: Device) -> "Bins":
        """Cut a die into bins; columns and rows are numbered by their middles."""
        x, y = _edges(device.column_count), _edges(device.row_count)
        return cls(x, y, routing_capacity(device))

    def demand(self, first: Floats, second: Floats, bits: Floats) -> Floats:
        """Return the demand, (m, n), of wires with ``bits`` (k,) between points (k, 2) given doubled."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        spread = bits * (high - low).sum(axis=1) / 2
        x, y = (_shares(edges, low[:, axis], high[:, axis]) for axis, edges in enumerate((self.x, self.y)))
        demand: Floats = x.T @ (spread[:, None] * y)
        return demand


@lru_cache(maxsize=8)
def bins_on(device: Device) -> Bins:
    """Return the bins of a die."""
    return Bins.of(device)


def _edges(length: int) -> Floats:
    """Return twice the places of bins' edges, half a tile outside of the middles of what they hold."""
    edges = np.minimum(np.arange(bins_of(length) + 1) * BIN_TILES, length)
    return 2.0 * edges - 1.0


def _shares(edges: Floats, low: Floats, high: Floats) -> Floats:
    """Return, (k, m), the share of each interval, half a tile wider at both ends, that lies between edges."""
    inside = np.clip(edges, (low - 1)[:, None], (high + 1)[:, None])
    shares: Floats = np.diff(inside, axis=1) / (high - low + 2)[:, None]
    return shares
