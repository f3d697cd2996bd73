"""fpgaConvNet as a back end: what each question of the planner is answered by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from floorflow.backends.backend import Parallelism, Unplaced
from floorflow.backends.fpgaconvnet import export
from floorflow.backends.fpgaconvnet.costs import FpgaConvNetCosts
from floorflow.backends.fpgaconvnet.layers import BITS
from floorflow.backends.fpgaconvnet.lower import layer_of, lowered
from floorflow.backends.fpgaconvnet.options import FpgaConvNetOptions
from floorflow.backends.layered.backend import NamedByUser
from floorflow.backends.layered.in_phase import parallel_rows
from floorflow.backends.layered.rows import by_rows, rows_written
from floorflow.backends.layered.source import LayerSource, read_layers
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

    def read(self, path: Path, options: FpgaConvNetOptions) -> LayerSource:  # noqa: ARG002
        """Read a model file; its quantisers count for nothing."""
        return read_layers(path, FloatBits(BITS, BITS))

    def lower(self, source: LayerSource, technology: Technology, options: FpgaConvNetOptions) -> Dataflow:  # noqa: ARG002
        """Return the layers."""
        return lowered(source)

    def costs(
        self,
        technology: Technology,  # noqa: ARG002
        options: FpgaConvNetOptions,
        *,
        own_kinds: bool = False,  # noqa: ARG002
    ) -> FpgaConvNetCosts:
        """Return fpgaConvNet's models."""
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
        """Return coarse-in, coarse-out and fine."""
        layer = layer_of(engine)
        mosts = {"coarse_in": layer.channels_in, "coarse_out": layer.channels_out, "fine": layer.kernel**2}
        return parallel_rows({name: (int(value), mosts[name]) for name, value in option.folding.items()})  # type: ignore[arg-type]

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: FpgaConvNetOptions) -> Sequence[str]:  # noqa: ARG002
        """Return what stands behind the areas."""
        return (UNCALIBRATED,)

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return fpgaConvNet's configuration and the table of cells."""
        return export.files(plan, phase)

    def unplaced_files(self, part: Unplaced) -> Mapping[str, str]:
        """Return fpgaConvNet's configuration."""
        return export.unplaced_files(part)

    def cost_model(self, plan: Plan, /) -> str:  # noqa: ARG002
        """Return in words what the plan's resources are."""
        return "fpgaconvnet-model 0.1.4, structure where it has none, not calibrated (docs/samo-backends.md)"


BACKEND = FpgaConvNetBackend()
