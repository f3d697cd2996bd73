"""The engines of a network that none beats in latency, resources and bytes: the foldings of its one engine.

Source: f-CNN^x, section III-B, *Search Method*; bytes are a coordinate too, for engines of equal latency and resources
differ in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.fcnnx.engine import CLOCK_MHZ, ConvLayer, Pipeline
from floorflow.backends.fcnnx.lower import BEAT_BITS, layers_in
from floorflow.backends.fcnnx.options import FcnnxOptions
from floorflow.backends.layered.areas import EqualWidths
from floorflow.dataflow.model import Engine, Option
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
) -> Iterator[Pipeline]:
    """Yield the engines whose N_PE and N_op are the least with the cycles that they have, in each layer."""
    maps, values = {layer.maps_out for layer in layers}, {layer.kernel**2 for layer in layers}
    for n_pe in _useful(maps):
        for n_op in _useful(values):
            for banks in BANKS if n_pe * n_op <= available.dsp else ():
                engine = Pipeline(n_pe, n_op, banks, clock_mhz, serial_weights)
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


MOST = Resources(lut=2**24, ff=2**24, bram18=2**14, uram=0, dsp=2048)
"""Of the largest engine that is looked at; the paper's device has 900 DSP slices."""
ROUNDING = 1e-6
"""Of a cycle: whole ones that floating point has put above are not rounded up."""


@dataclass(frozen=True)
class FcnnxCosts(EqualWidths):
    """Prices of engines, the same on all parts; all streams are beats of the memory."""

    options: FcnnxOptions
    name: str = field(init=False, default="f-CNN^x' engine model, calibrated on its Table III, not on silicon")

    def options_of(self, engine: Engine) -> list[Option]:
        """Return the engines that none beats in time, DSP, block RAM and bytes."""
        serial = self.options.weights == "serial"
        points = front(engine.name, layers_in(engine), MOST, serial_weights=serial)
        return [
            Option(
                dict(point.folding),
                ceil(point.latency_us * CLOCK_MHZ - ROUNDING),
                point.resources,
                (BEAT_BITS,),
                (BEAT_BITS,),
            )
            for point in points
        ]
