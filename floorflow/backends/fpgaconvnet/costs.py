"""What fpgaConvNet's engines cost: the models of ``fpgaconvnet-model`` 0.1.4, and structure where they have none.

No build stands behind them here: the regressions are fpgaConvNet's own, of 2022. ReLU, split and element-wise layers,
FIFOs and squeeze layers have no model there, or one without area, and are counted from structure.
"""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, lcm

from floorflow.backends.fpgaconvnet.layers import BITS, SQUEEZE, WITH_WEIGHTS, Floats, options
from floorflow.backends.fpgaconvnet.lower import layer_of
from floorflow.backends.fpgaconvnet.options import FpgaConvNetOptions
from floorflow.backends.layered import areas
from floorflow.dataflow.model import Engine, Option
from floorflow.resources import Resources

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
