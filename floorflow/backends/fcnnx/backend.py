"""f-CNN^x' engines as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from floorflow.backends.backend import Parallelism
from floorflow.backends.fcnnx import export
from floorflow.backends.fcnnx.costs import FcnnxCosts
from floorflow.backends.fcnnx.engine import WORD_BYTES, Pipeline
from floorflow.backends.fcnnx.lower import layers_in, lowered
from floorflow.backends.fcnnx.options import FcnnxOptions
from floorflow.backends.layered.backend import NamedByUser, by_rows
from floorflow.backends.layered.files import parallel_rows
from floorflow.backends.layered.graph import LayerSource, read_layers
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.traffic import EnginePoint
from floorflow.facts import Plan
from floorflow.network import FloatBits
from floorflow.rates import Actor
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
