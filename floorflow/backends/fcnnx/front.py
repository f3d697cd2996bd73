"""The Pareto front of a network's engines: latency, resources and bytes.

Source: f-CNN^x, section III-B, *Search Method*; bytes are a coordinate too, for engines of equal latency and resources
differ in them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.fcnnx.engine import CLOCK_MHZ, Engine
from floorflow.backends.fcnnx.layers import ConvLayer
from floorflow.dataflow.traffic import EnginePoint
from floorflow.resources import Resources

BANKS = (1, 2, 4)


def front(
    network: str,
    layers: tuple[ConvLayer, ...],
    available: Resources,
    clock_mhz: float = CLOCK_MHZ,
    *,
    serial_weights: bool = False,
) -> tuple[EnginePoint, ...]:
    """Return the engines within a device that no other one beats, the fastest first."""
    points = [
        engine.point(network, layers)
        for engine in _candidates(layers, available, clock_mhz, serial_weights=serial_weights)
        if engine.resources(layers).fits(available)
    ]
    if not points:
        return ()
    values = np.array([(p.latency_us, p.resources.dsp, p.resources.bram18, p.traffic_bytes) for p in points])
    order = np.lexsort(values.T[::-1])
    kept = [int(order[n]) for n in np.flatnonzero(_undominated(values[order]))]
    return tuple(points[number] for number in kept)


def _candidates(
    layers: tuple[ConvLayer, ...], available: Resources, clock_mhz: float, *, serial_weights: bool
) -> Iterator[Engine]:
    """Yield the engines whose N_PE and N_op are the least with the cycles that they have, in each layer."""
    maps, values = {layer.maps_out for layer in layers}, {layer.kernel**2 for layer in layers}
    for n_pe in _useful(maps):
        for n_op in _useful(values):
            for banks in BANKS if n_pe * n_op <= available.dsp else ():
                engine = Engine(n_pe, n_op, banks, clock_mhz, serial_weights)
                if engine.fits(layers):
                    yield engine


def _useful(counts: set[int]) -> list[int]:
    """Return the least divisors with each combination of rounded-up quotients."""
    least: dict[tuple[int, ...], int] = {}
    for divisor in range(1, max(counts) + 1):
        least.setdefault(tuple(-(-count // divisor) for count in sorted(counts)), divisor)
    return sorted(least.values())


def _undominated(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the rows, sorted and distinct, that no other row is at most as large as in every column."""
    kept = np.ones(len(values), dtype=np.bool_)
    for row in range(len(values)):
        before = values[:row][kept[:row]]
        kept[row] = not (before <= values[row]).all(axis=1).any()
    return kept
