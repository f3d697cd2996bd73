"""f-CNN^x' engines as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Parallelism
from floorflow.backends.fcnnx import export
from floorflow.backends.fcnnx.engine import CLOCK_MHZ, WORD_BYTES, ConvLayer, Pipeline
from floorflow.backends.fcnnx.lower import BEAT_BITS, layers_in, lowered
from floorflow.backends.fcnnx.options import FcnnxOptions
from floorflow.backends.layered.areas import EqualWidths
from floorflow.backends.layered.backend import NamedByUser, by_rows
from floorflow.backends.layered.files import parallel_rows
from floorflow.backends.layered.graph import LayerSource, read_layers
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.traffic import EnginePoint
from floorflow.facts import Plan
from floorflow.network import FloatBits
from floorflow.rates import Actor
from floorflow.resources import Resources
from floorflow.technology import Technology

UNCALIBRATED = (
    "engines are the model of f-CNN^x (FPL 2018) with what the paper does not print assumed: a factor of 1.3 on bytes, "
    "LUT and FF; nothing of it was measured on silicon"
)


class FcnnxBackend(NamedByUser):
    """One engine a network, which runs its layers from external memory; from ONNX and QONNX."""

    name = "fcnnx"
    parallel_attributes = ("N_PE", "N_op")
    folding_limit = "hold no tile's weights, or are no faster than narrower ones"
    start_ups = "each subgraph fills its window anew"
    tool_name = "f-CNN^x"
    config_file = export.CONFIG
    files = staticmethod(export.files)

    def read(self, path: Path, options: FcnnxOptions) -> LayerSource:
        """Read a model file; its quantisers count for nothing."""
        return read_layers(path, FloatBits(8 * WORD_BYTES, 8 * WORD_BYTES))

    def lower(self, source: LayerSource, technology: Technology, options: FcnnxOptions) -> Dataflow:
        return lowered(source)

    def costs(self, technology: Technology, options: FcnnxOptions, *, own_kinds: bool = False) -> FcnnxCosts:
        return FcnnxCosts(options)

    def from_memory(
        self, network: str, engine: Engine, option: Option, clock_mhz: float, options: FcnnxOptions
    ) -> EnginePoint:
        folding = {name: int(value) for name, value in option.folding.items()}  # type: ignore[arg-type]
        sizes = (folding["N_PE"], folding["N_op"], folding["banks"])
        pipeline = Pipeline(*sizes, clock_mhz, serial_weights=options.weights == "serial")
        return pipeline.point(network, layers_in(engine))

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when the engine touches the network's own ends: reads evenly in its time, writes at the end."""
        written = np.array([0, 1], dtype=np.int64)
        return by_rows(engine.name, option.cycles, (inputs, outputs), written)

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        layers = layers_in(engine)
        mosts = {"N_PE": max(each.maps_out for each in layers), "N_op": max(each.kernel**2 for each in layers)}
        return parallel_rows({name: (int(option.folding[name]), most) for name, most in mosts.items()})  # type: ignore[arg-type]

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: FcnnxOptions) -> Sequence[str]:
        return (UNCALIBRATED,)

    def unbuilt(
        self,
        boards: Sequence[str],
        networks: int,
        options: FcnnxOptions,
        *,
        in_regions: bool,
    ) -> Sequence[str]:
        """Return nothing: several networks on one card are what it is for."""
        return ()

    def cost_model(self, plan: Plan, /) -> str:
        return "f-CNN^x' engine model, calibrated on its Table III, not on silicon (docs/several-networks.md)"


BACKEND = FcnnxBackend()


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
