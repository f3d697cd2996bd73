"""fpgaConvNet as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from floorflow.backends.backend import Parallelism
from floorflow.backends.fpgaconvnet import export
from floorflow.backends.fpgaconvnet.costs import FpgaConvNetCosts
from floorflow.backends.fpgaconvnet.layers import BITS
from floorflow.backends.fpgaconvnet.lower import layer_of, lowered
from floorflow.backends.fpgaconvnet.options import FpgaConvNetOptions
from floorflow.backends.layered.backend import NamedByUser, by_rows, rows_written
from floorflow.backends.layered.files import parallel_rows
from floorflow.backends.layered.graph import LayerSource, read_layers
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.facts import Plan
from floorflow.network import FloatBits
from floorflow.rates import Actor
from floorflow.technology import Technology

UNCALIBRATED = (
    "areas are fpgaConvNet's own regressions of 2022, not calibrated here; LUT and FF of ReLU, split and element-wise "
    "layers, FIFOs and squeeze layers are counted from structure"
)


class FpgaConvNetBackend(NamedByUser):
    """fpgaConvNet's layers, from ONNX and QONNX."""

    name = "fpgaconvnet"
    parallel_attributes = ("coarse_in", "coarse_out", "fine")
    folding_limit = "divide no channels, or differ at the ends of a stream"
    start_ups = "dense layers read a frame before they write"
    fifo_depths = "fpgaConvNet: buffer_depth"
    tool_name = "fpgaConvNet"
    config_file = export.CONFIG
    files = staticmethod(export.files)
    unplaced_files = staticmethod(export.unplaced_files)

    def read(self, path: Path, options: FpgaConvNetOptions) -> LayerSource:
        """Read a model file; its quantisers count for nothing."""
        return read_layers(path, FloatBits(BITS, BITS))

    def lower(self, source: LayerSource, technology: Technology, options: FpgaConvNetOptions) -> Dataflow:
        return lowered(source)

    def costs(
        self,
        technology: Technology,
        options: FpgaConvNetOptions,
        *,
        own_kinds: bool = False,
    ) -> FpgaConvNetCosts:
        return FpgaConvNetCosts(options)

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when a layer reads and writes: by rows of its input."""
        layer, pads = layer_of(engine), engine.attributes.get("pads", (0,))
        written = np.ones(layer.rows_in, dtype=np.int64)
        if engine.kind == "InnerProductLayer":
            written = np.eye(1, layer.rows_in, layer.rows_in - 1, dtype=np.int64)[0]
        elif "stride" in engine.attributes:
            window = (layer.kernel, int(engine.attributes["stride"]), int(pads[0]))  # type: ignore[arg-type, index]
            written = rows_written(layer.rows_in, layer.rows_out, window)
        return by_rows(engine.name, option.cycles, (inputs, outputs), written)

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        layer = layer_of(engine)
        mosts = {"coarse_in": layer.channels_in, "coarse_out": layer.channels_out, "fine": layer.kernel**2}
        return parallel_rows({name: (int(value), mosts[name]) for name, value in option.folding.items()})  # type: ignore[arg-type]

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: FpgaConvNetOptions) -> Sequence[str]:
        return (UNCALIBRATED,)

    def cost_model(self, plan: Plan, /) -> str:
        return "fpgaconvnet-model 0.1.4, structure where it has none, not calibrated (docs/samo-backends.md)"


BACKEND = FpgaConvNetBackend()
