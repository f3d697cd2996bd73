"""fpgaConvNet as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, lcm
from pathlib import Path

import numpy as np

from floorflow.backends.backend import Parallelism
from floorflow.backends.fpgaconvnet import export
from floorflow.backends.fpgaconvnet.layers import BITS, SQUEEZE, WITH_WEIGHTS, Floats, options
from floorflow.backends.fpgaconvnet.lower import layer_of, lowered
from floorflow.backends.fpgaconvnet.options import FpgaConvNetOptions
from floorflow.backends.layered import areas
from floorflow.backends.layered.backend import NamedByUser, by_rows, rows_written
from floorflow.backends.layered.files import parallel_rows
from floorflow.backends.layered.graph import LayerSource, read_layers
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.facts import Plan
from floorflow.network import FloatBits
from floorflow.rates import Actor
from floorflow.resources import Resources
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
    ) -> "FpgaConvNetCosts":
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


_ROUNDING = 1e-6
"""Cycles are fractions in the models; whole ones that floating point has put above are not rounded up."""


@dataclass(frozen=True)
class FpgaConvNetCosts(areas.LayerCosts):
    """Prices of fpgaConvNet's layers; they are the same on all parts."""

    options: FpgaConvNetOptions
    name: str = field(init=False, default="fpgaconvnet-model 0.1.4, area by structure where it has none")

    def options_of(self, engine: Engine) -> tuple[Option, ...]:
        """Return the foldings of divisors of its channels, and of its kernel's values."""
        return tuple(_option(engine, row) for row in options(layer_of(engine)))

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        """Price a squeeze layer by structure: a register that both widths divide, and what chooses from it."""
        if input_bits == output_bits:
            return Resources()
        held = lcm(input_bits, output_bits)
        return Resources(lut=areas.CONTROL_LUT + max(input_bits, output_bits), ff=areas.CONTROL_FF + held)

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        """Whether foldings may differ at the ends of a stream: eq. 10 of SAMO forbids it."""
        return input_bits == output_bits or self.options.matching == "none"

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return SQUEEZE


def _option(engine: Engine, row: Floats) -> Option:
    coarse_in, coarse_out, fine = (round(value) for value in row[:3])
    folding = {"coarse_in": coarse_in, "coarse_out": coarse_out}
    if engine.kind == "ConvolutionLayer":
        folding["fine"] = fine
    lut, dsp, bram, ff = (round(value) for value in row[4:])
    into, out = (int(engine.attributes.get(key, 1)) for key in ("ports_in", "ports_out"))  # type: ignore[arg-type]
    use = Resources(lut=lut, ff=ff, bram18=bram, dsp=dsp)
    if engine.kind not in WITH_WEIGHTS and not engine.kind.startswith("Pool"):
        use = _by_structure(coarse_in, into, out)
    return Option(folding, ceil(row[3] - _ROUNDING), use, (coarse_in * BITS,) * into, (coarse_out * BITS,) * out)


def _by_structure(coarse: int, into: int, out: int) -> Resources:
    """Return a comparison or addition of each value, registered once for each stream that leaves."""
    lut = areas.CONTROL_LUT + coarse * BITS * max(into - 1, 1)
    return Resources(lut=lut, ff=areas.CONTROL_FF + coarse * BITS * out)
