"""What hls4ml's engines cost: SAMO's DSPs and cycles, and LUT, FF and BRAM by structure where it has none.

Nothing here is calibrated: no build stands behind an area. Structure, for n multipliers at reuse factor R:

* products are summed by n adders as wide as the sum; inputs are chosen, and the sums of all outputs kept in registers;
* weights lie in n words' width, R deep: ``Resource`` in LUTs up to 64 words, then in blocks; ``Latency`` in LUTs;
* a window is kernel - 1 lines of shift registers and a register for each of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, log2

from floorflow.backends.hls4ml.foldings import Folding, foldings, layer_of
from floorflow.backends.hls4ml.kinds import WEIGHTED
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.layered import areas
from floorflow.backends.layered.costs import EqualWidths
from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.resources import Resources


@dataclass(frozen=True)
class Hls4mlCosts(EqualWidths):
    """Prices of hls4ml's layers, the same on all parts; streams hold whole pixels at both ends."""

    options: Hls4mlOptions
    name: str = field(init=False, default="SAMO's DSPs, area by structure")

    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        """Return every engine's legal foldings."""
        return tuple(
            OptionGroup((e.name,), tuple((self.option(e, folding),) for folding in foldings(e, self.options)))
            for e in dataflow.engines
        )

    def option(self, engine: Engine, folding: Folding) -> Option:
        """Return what a folding costs; the widths are whole pixels, whatever it is."""
        reuse, strategy = folding
        shape = Shape(engine)
        chosen: dict[str, int | str] = {"ReuseFactor": reuse, **({"Strategy": strategy} if strategy else {})}
        use = shape.area(reuse, strategy)
        if self.options.costs == "samo":
            use = Resources(dsp=use.dsp if engine.kind in WEIGHTED else 0)
        return Option(chosen, shape.pixels * reuse, use, *shape.widths)


@dataclass(frozen=True)
class Shape:
    """An engine's sizes, and its area by structure."""

    engine: Engine

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Attributes that are numbers."""
        return {key: value for key, value in self.engine.attributes.items() if isinstance(value, int)}

    @property
    def pixels(self) -> int:
        """Pixels of the input: cycles at a reuse factor of 1."""
        return self.sizes.get("in_height", 1) * self.sizes.get("in_width", 1)

    @property
    def channels(self) -> int:
        """Values of an input word."""
        return self.sizes["n_pack"] if self.engine.kind == "Dense" else self.sizes["n_chan"]

    @property
    def outputs(self) -> int:
        """Values of an output word."""
        return self.sizes["n_out"] if self.engine.kind == "Dense" else self.sizes["n_filt"]

    @property
    def widths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Bits of the input and output ports."""
        # Streams into a Merge have types of their own: nothing widens a word on its way (nnet_merge_stream.h).
        operands = self.engine.attributes.get("operand_bits", (self.engine.input_bits,))
        into = tuple(self.channels * int(bits) for bits in operands)  # type: ignore[union-attr]
        return into, (self.outputs * self.engine.output_bits,) * self.sizes.get("copies", 1)

    def area(self, reuse: int, strategy: str) -> Resources:
        """Return the resources at a reuse factor."""
        own = self._weighted(reuse, strategy) if self.engine.kind in WEIGHTED else self._plain(reuse)
        return Resources(lut=areas.CONTROL_LUT, ff=areas.CONTROL_FF) + own + self._window()

    def _weighted(self, reuse: int, strategy: str) -> Resources:
        layer, engine = layer_of(self.engine), self.engine
        n, total = layer.products // reuse, self.sizes["accum_bits"]
        word = n * engine.weight_bits
        chosen = n * engine.input_bits if reuse > 1 else 0
        held = self.sizes["n_in"] * engine.input_bits if engine.kind == "Dense" else 0
        use = Resources(lut=n * total + chosen, ff=(n + layer.channels_out) * total + held, dsp=n)
        if reuse == 1:
            return use  # constants
        if strategy == "Resource" and reuse > areas.DEEPEST_IN_LUTS:
            return use + Resources(bram18=int(areas.blocks(word, reuse)))
        return use + Resources(lut=word * ceil(reuse / areas.DEEPEST_IN_LUTS))

    def _plain(self, reuse: int) -> Resources:
        """Return what is done to values of a word at once: scale, compare, add, copy."""
        bits, lanes = max(self.engine.input_bits, self.engine.output_bits), ceil(self.channels / reuse)
        word = Resources(ff=sum(self.widths[1]))
        if self.engine.kind == "BatchNormalization":
            scales = self.channels * self.engine.weight_bits
            held = ceil(2 * scales / areas.DEEPEST_IN_LUTS)
            return word + Resources(lut=lanes * 2 * bits + held, ff=lanes * bits, dsp=lanes)
        if self.engine.kind == "GlobalPooling2D":
            total = bits + ceil(log2(max(self.pixels, 2)))
            return word + Resources(lut=2 * lanes * total, ff=lanes * total)
        if self.engine.kind == "Pooling2D":
            return word + Resources(lut=lanes * bits * max(self.sizes["filter"] ** 2 - 1, 1))
        return word + Resources(lut=lanes * bits * max(self.sizes.get("n_inputs", 1) - 1, 1))

    def _window(self) -> Resources:
        kernel = self.sizes.get("filter", 1)
        if kernel == 1 or self.engine.kind == "GlobalPooling2D":
            return Resources()
        word = self.channels * self.engine.input_bits
        lines = (kernel - 1) * areas.shift_luts(word, self.sizes["in_width"])
        return Resources(lut=lines, ff=kernel**2 * word)
