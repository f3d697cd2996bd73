"""What hls4ml's engines cost: cycles as SAMO has them, products as HLS makes them, all else by structure.

For n multipliers at reuse factor R (docs/hls4ml.md holds the builds that this was compared with):

* R = 1: weights are constants (`weights`). A product is an addition for each further digit of its weight, or, of three
  digits and more on data of over ten bits, a DSP; each product that is not 0 is added to its sum.
* R > 1: weights lie n words wide and R deep, ``Resource`` in LUTs up to 64 words, then in blocks; ``Latency`` in LUTs.
  A product is a DSP where an operand has over ten bits, else LUTs; data are chosen, sums of all outputs are held.
* A window is kernel - 1 lines of shift registers and a register for each of its values.
"""

# ruff: noqa: D102 - the interface says what its methods return

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, log2
from typing import Any

from floorflow.backends.hls4ml.foldings import GLOBAL_POOLS, POOLS, WEIGHTED, Folding, foldings, matrix_of, products
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.layered import areas
from floorflow.backends.layered.areas import EqualWidths
from floorflow.dataflow.bands import Band
from floorflow.dataflow.model import Engine, Option
from floorflow.resources import Resources

WIDEST_IN_LUTS = 10
"""Bits of the wider operand up to which HLS makes no DSP (Vivado HLS 2019.1: 5 at 10 bits, 1,093 at 13)."""
DSP_OPERANDS = (18, 25)
"""Bits of one DSP48E1's operands, both signed; a DSP48E2's wider one has 27."""
ADDER_LUT = 0.75
"""A bit of an addition, in trees that synthesis packs; 0.79 to 0.81 in whole designs built at 10 to 25 bits."""
PIPELINE_FF = 0.06
"""A bit of an addition: registers between stages at the 5 ns that hls4ml asks for."""
MULTIPLIER_LUT = 0.85
"""A bit of one operand by a bit of the other, where a product is made of LUTs."""
HELD_SUM_LUT = 1.5
"""A bit of a sum that is kept while others are added to: who writes it, and the choice among them."""
NARROWING_LUT = 3
"""A bit that a narrower result has: rounding and saturation, as QKeras and Brevitas ask for."""
TABLE_BLOCKS = {"Softmax": 4, "Sigmoid": 1, "Tanh": 1, "Elu": 1, "Selu": 1, "Softplus": 1, "Softsign": 1}
"""Tables of 1,024 words of 18 bits in blocks of 18 Kb; Softmax has two, each read at two ports or built twice."""
SOFTMAX_LUT = 50
"""A class: table addresses, the sum and its part of the tree that seeks the largest."""
SCALE_LUT = 0.65
"""A bit of a scaled channel beside its DSP."""

MEASURED: Mapping[str, Mapping[str, Band]] = {
    "Dense": {"LUT": (0.65, 1.35), "FF": (0.4, 1.6), "DSP": (0.75, 1.25)},
}
"""Factors for kinds that whole builds of more than two origins mostly consist of (docs/hls4ml.md)."""
UNMEASURED: Band = (0.5, 2.0)
"""Of every other kind and resource: priced by structure, and built by nobody that is known here."""


@dataclass(frozen=True)
class Hls4mlCosts(EqualWidths):
    """Prices of hls4ml's layers, the same on all parts; streams hold whole pixels at both ends."""

    options: Hls4mlOptions
    name: str = field(init=False, default="products as HLS makes them, area by structure")

    @property
    def has_bands(self) -> bool:
        """Whether it is known how far the estimates may be off: SAMO's have no areas at all."""
        return self.options.costs != "samo"

    def band(self, kind: str, resource: str) -> Band:
        """Return the factors of a kind: wide where nothing was measured."""
        return MEASURED.get(kind, {}).get(resource, UNMEASURED)

    def options_of(self, engine: Engine) -> Iterator[Option]:
        return (self.option(engine, folding) for folding in foldings(engine, self.options))

    def option(self, engine: Engine, folding: Folding) -> Option:
        """Return what a folding costs; the widths are whole pixels, whatever it is."""
        reuse, strategy = folding
        shape = Shape(engine)
        chosen: dict[str, int | str] = {"ReuseFactor": reuse, **({"Strategy": strategy} if strategy else {})}
        use = shape.area(reuse, strategy)
        if self.options.costs == "samo":
            use = Resources(dsp=ceil(products(engine) / reuse) if engine.kind in WEIGHTED else 0)
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
        # Streams into a join have types of their own: nothing widens a word on its way (nnet_merge_stream.h).
        operands: Any = self.engine.attributes.get("operand_bits", (self.engine.input_bits,))
        words: Any = self.engine.attributes.get("operand_channels", (self.channels,) * len(operands))
        into = tuple(int(n) * int(bits) for n, bits in zip(words, operands, strict=True))
        return into, (self.outputs * self.engine.output_bits,) * self.sizes.get("copies", 1)

    def area(self, reuse: int, strategy: str) -> Resources:
        """Return the resources at a reuse factor."""
        if self.engine.kind not in WEIGHTED:
            own = self._plain()
        else:
            own = self._constants() if reuse == 1 else self._multiplied(reuse, strategy)
        return Resources(lut=areas.CONTROL_LUT, ff=areas.CONTROL_FF) + own + self._window()

    @property
    def _held_input(self) -> int:
        """Bits of the data that a dense layer waits for; a window has registers of its own."""
        return self.sizes["n_in"] * self.engine.input_bits if self.engine.kind == "Dense" else 0

    def _constants(self) -> Resources:
        """Return what products with constants and their sums take."""
        sizes, total = self.sizes, self.sizes["accum_bits"]
        has_dsp = self.engine.input_bits > WIDEST_IN_LUTS
        dsp = sizes["many_digit_weights"] if has_dsp else 0
        within = sizes["two_digit_weights"] if has_dsp else sizes["weight_digits"] - sizes["nonzero_weights"]
        product = min(total, self.engine.input_bits + self.engine.weight_bits // 2)
        bits = sizes["nonzero_weights"] * total + within * product
        held = self.outputs * total + self._held_input
        return Resources(lut=ceil(ADDER_LUT * bits), ff=ceil(PIPELINE_FF * bits) + held, dsp=dsp)

    def _multiplied(self, reuse: int, strategy: str) -> Resources:
        """Return what multipliers of weights from a memory take, each used ``reuse`` times."""
        engine, total = self.engine, self.sizes["accum_bits"]
        inputs, outputs = matrix_of(engine)
        n = ceil(inputs * outputs / reuse)
        word = n * engine.weight_bits
        blocks = dsp_blocks(engine.input_bits, engine.weight_bits)
        product = 0 if blocks else MULTIPLIER_LUT * engine.input_bits * engine.weight_bits
        # Up to one pass over the inputs a multiplier keeps its output; beyond, it works for several in turn.
        chosen = inputs * engine.input_bits / 4 + (HELD_SUM_LUT * outputs * total if reuse > inputs else 0)
        lut = n * (product + total) + chosen
        ff = 2 * outputs * total + n * (engine.input_bits + engine.weight_bits + total) + self._held_input
        use = Resources(lut=ceil(lut), ff=ff, dsp=n * blocks)
        if strategy == "Resource" and reuse > areas.DEEPEST_IN_LUTS:
            return use + Resources(bram18=int(areas.blocks(word, reuse)))
        return use + Resources(lut=word * ceil(reuse / areas.DEEPEST_IN_LUTS))

    def _plain(self) -> Resources:
        """Return what is done to values of a word at once, with registers for the result."""
        engine, lanes = self.engine, self.channels
        bits = max(engine.input_bits, engine.output_bits)
        word = Resources(ff=sum(self.widths[1]))
        if engine.kind == "BatchNormalization":
            return word + self._scaled(bits)
        if engine.kind == "Softmax":
            blocks = TABLE_BLOCKS["Softmax"]
            return word + Resources(lut=SOFTMAX_LUT * lanes, ff=4 * lanes * bits, dsp=lanes, bram18=blocks)
        if engine.kind in POOLS | GLOBAL_POOLS:
            return word + self._pooled(bits)
        if engine.kind == "Activation":
            return word + self._activation(str(engine.attributes["operator"]))
        return word + self._joined(bits)

    def _scaled(self, bits: int) -> Resources:
        """Return what scales and biases of all channels take; a bias alone has no product."""
        engine, lanes = self.engine, self.channels
        scaled = engine.attributes.get("operator") not in ("Add", "Sub")
        dsp = lanes if scaled and bits > WIDEST_IN_LUTS else 0
        # A constant of so many bits has a third of them as digits, on average (Reitwiesner, 1960).
        product = 0 if dsp or not scaled else ADDER_LUT * bits * ceil(engine.weight_bits / 3)
        return Resources(lut=ceil(lanes * (product + SCALE_LUT * bits)), ff=lanes * bits, dsp=dsp)

    def _pooled(self, bits: int) -> Resources:
        """Return what compares or adds the values of a window, or, one after another, of a whole image."""
        if self.engine.kind in GLOBAL_POOLS:
            total = bits + ceil(log2(max(self.pixels, 2)))
            return Resources(lut=2 * self.channels * total, ff=self.channels * total)
        taps = self.sizes["filt_height"] * self.sizes["filt_width"]
        return Resources(lut=self.channels * bits * max(taps - 1, 1))

    def _joined(self, bits: int) -> Resources:
        """Return what adds, multiplies or puts together two words, or copies one."""
        if self.engine.attributes.get("operator") != "multiply":
            return Resources(lut=self.channels * bits * max(self.sizes.get("n_inputs", 1) - 1, 1))
        operands: Any = self.engine.attributes["operand_bits"]
        first, second = (int(each) for each in operands)
        blocks = dsp_blocks(first, second)
        product = 0 if blocks else MULTIPLIER_LUT * first * second
        return Resources(lut=ceil(self.channels * (product + 1)), dsp=self.channels * blocks)

    def _activation(self, operator: str) -> Resources:
        """Return what an activation takes: a comparison, or a table, and a narrower type where it makes one."""
        engine, lanes = self.engine, self.channels
        narrowed = NARROWING_LUT * engine.output_bits if engine.output_bits < engine.input_bits else 0
        table = TABLE_BLOCKS.get(operator, 0) * ceil(lanes / 2)
        scaled = lanes if operator in ("LeakyRelu", "Elu") and engine.input_bits > WIDEST_IN_LUTS else 0
        return Resources(lut=lanes * (engine.input_bits + narrowed), bram18=table, dsp=scaled)

    def _window(self) -> Resources:
        high, wide = self.sizes.get("filt_height", 1), self.sizes.get("filt_width", 1)
        if high * wide == 1 or self.engine.kind in GLOBAL_POOLS:
            return Resources()
        word = self.channels * self.engine.input_bits
        lines = (high - 1) * areas.shift_luts(word, self.sizes["in_width"]) if self.sizes["in_width"] > 1 else 0
        return Resources(lut=lines, ff=high * wide * word)


def dsp_blocks(one: int, other: int) -> int:
    """Return the DSPs of a product: none up to ten bits, one where both operands fit, else one for each part."""
    if max(one, other) <= WIDEST_IN_LUTS:
        return 0
    narrow, wide = sorted((one, other))
    return ceil(narrow / DSP_OPERANDS[0]) * ceil(wide / DSP_OPERANDS[1])
