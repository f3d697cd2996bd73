"""What f-CNN^x' engine costs: the engines that none beats, as foldings of a network's one engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from floorflow.backends.fcnnx.engine import CLOCK_MHZ
from floorflow.backends.fcnnx.front import front
from floorflow.backends.fcnnx.lower import BEAT_BITS, layers_in
from floorflow.backends.fcnnx.options import FcnnxOptions
from floorflow.backends.layered.costs import EqualWidths
from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.resources import Resources

MOST = Resources(lut=2**24, ff=2**24, bram18=2**14, uram=0, dsp=2048)
"""Of the largest engine that is looked at; the paper's device has 900 DSP slices."""
ROUNDING = 1e-6
"""Of a cycle: whole ones that floating point has put above are not rounded up."""


@dataclass(frozen=True)
class FcnnxCosts(EqualWidths):
    """Prices of engines, the same on all parts; all streams are beats of the memory."""

    options: FcnnxOptions
    name: str = field(init=False, default="f-CNN^x' engine model, calibrated on its Table III, not on silicon")

    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        """Return the engines that none beats in time, DSP, block RAM and bytes."""
        return tuple(
            OptionGroup((engine.name,), tuple((option,) for option in self._options(engine)))
            for engine in dataflow.engines
        )

    def _options(self, engine: Engine) -> list[Option]:
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
