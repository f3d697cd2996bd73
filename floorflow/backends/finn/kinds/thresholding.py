"""Thresholding_rtl and Thresholding_hls: quantised activations that stand alone."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterator
from dataclasses import dataclass

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import block_ram18, ceil_divide, rom_luts, uram_blocks
from floorflow.backends.finn.kinds.kind import (
    EVERY_FINN,
    MAX_STREAM_BITS,
    Choice,
    Folding,
    FoldsOneByOne,
    OneStream,
    divisors,
)
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources
from floorflow.technology import Technology

_PRIMITIVES = (
    ("URAM", 72, 4096),
    ("URAM", 36, 8192),
    ("URAM", 18, 16384),
    ("URAM", 9, 32768),
    ("BRAM18", 36, 512),
    ("BRAM18", 18, 1024),
    ("BRAM18", 9, 2048),
    ("LUTRAM", 1, 64),
)
"""FINN's memory primitives; it uses the Versal list for every part."""

ALL_LUT_TRIGGER, BLOCK_TRIGGER = 1 << 20, 512
"""``depth_trigger_bram`` that keeps every stage in LUTs, and one that puts stages of 512 words in block RAM."""

MANY_STEPS, LUT_PER_STEP = 128, 6.9
"""LUTs for each of so many integer steps of a lane on 7 series, for results of 8 bits. One build shows it, of a CNN by
strangers on PYNQ-Z2: 5,435 LUT in three lanes of 255 steps of 9 bits. Their memories alone would be 54 a lane; why they
are not, no report tells. Units of 15 steps fit their memories (metafi, vgg10), and so does a lane of 255 floats (KWS);
four builds of CNV with such a lane (RFSoC2x2) fit a little better without."""
EQUAL_THRESHOLDS = "equalThresholds"
"""floorflow's own attribute, 1 where the thresholds of all channels are known to be the same."""


@dataclass(frozen=True, slots=True)
class ThresholdingUnit(OneStream):
    """One thresholding engine; ``folds`` is channels / PE, ``steps`` thresholds a channel."""

    pe: int
    folds: int
    pixels: int
    steps: int
    input_bits: int
    threshold_bits: int
    output_bits: int
    finn: FinnVersion

    @property
    def cycles(self) -> int:
        return self.pixels * self.folds

    @property
    def widths_bits(self) -> tuple[int, int]:
        return self.input_bits * self.pe, self.output_bits * self.pe


@dataclass(frozen=True, slots=True)
class SearchingUnit(ThresholdingUnit):
    """Thresholding_rtl: binary search, one stage and one memory for each output bit.

    ``sets`` of thresholds are kept, one for each iteration of a FINN+ loop. Of ``equal`` thresholds, the same in all
    channels, synthesis keeps those of one channel a lane. ``of_integers``: the data are no floats.
    """

    uniform: bool
    equal: bool
    of_integers: bool
    bram_trigger: int
    uram_trigger: int
    sets: int

    def stages(self) -> tuple[tuple[int, int], ...]:
        """Width and depth of each stage's memory, of one PE."""
        if self.uniform:
            return tuple((self.output_bits - x, self.sets * self.folds << x) for x in range(1, self.output_bits))
        return tuple((self.threshold_bits, self.sets * self.folds << x) for x in range(self.output_bits))

    def finn_resources(self, technology: Technology) -> Resources:
        """Return FINN's estimate: the primitive that wastes least for each stage; only FINN+ reports block RAM."""
        used = dict.fromkeys(("LUTRAM", "BRAM18", "URAM"), 0)
        for width, depth in self.stages():
            name, count = self._finn_stage(width, depth)
            used[name] += count * self.pe
        bram18 = used["BRAM18"] if self.finn == "plus" else 0
        return Resources(lut=used["LUTRAM"], bram18=bram18, uram=used["URAM"])

    def _finn_stage(self, width: int, depth: int) -> tuple[str, int]:
        allowed = {"URAM", "BRAM18", "LUTRAM"}
        if self.bram_trigger or self.uram_trigger:
            if self.bram_trigger <= depth < self.uram_trigger:
                allowed = {"BRAM18"}
            elif depth >= self.uram_trigger:
                allowed = {"URAM"}
        return min(
            (
                (name, ceil_divide(width, w) * ceil_divide(depth, d), w * d)
                for name, w, d in _PRIMITIVES
                if name in allowed
            ),
            key=lambda item: item[1] * item[2],
        )[:2]

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models: comparators, pipeline and memory of every stage."""
        bits = self.output_bits * self.input_bits * self.pe
        lut = prices.threshold_rtl_lut + prices.threshold_rtl_lut_per_bit * bits
        ff = prices.threshold_rtl_ff_per_bit * bits + self.pe * self.output_bits**2
        bram18, memory = 0, 0.0
        for width, depth in self.stages():
            kept = depth // self.folds if self.equal else depth
            if self.bram_trigger and depth >= self.bram_trigger:
                bram18 += self.pe * block_ram18(width, depth)
            else:
                memory += width * (0.5 if kept <= 32 else ceil_divide(kept, 64))
        many = self.steps >= MANY_STEPS and self.of_integers and technology.architecture == "7series"
        by_steps = LUT_PER_STEP * self.steps if many and not bram18 else 0
        lut += self.pe * (by_steps if by_steps > memory else prices.threshold_rtl_memory_share * memory)
        return estimated.rounded(lut, ff, bram18=bram18)


@dataclass(frozen=True, slots=True)
class ComparingUnit(ThresholdingUnit):
    """Thresholding_hls: every threshold of a channel is compared at once."""

    mem_mode: str
    ram_style: str

    def finn_resources(self, technology: Technology) -> Resources:
        """Return FINN's estimate; main and dev price input bits where thresholds are stored, FINN+ the thresholds."""
        compared = stored = self.input_bits * self.pe
        if self.finn == "plus":
            stored = self.pe * self.threshold_bits * self.steps
        if self.folds == 1:
            return Resources(lut=compared)
        if self.ram_style == "distributed":
            return Resources(lut=compared + rom_luts(stored, self.folds))
        if self.ram_style == "ultra":
            return Resources(lut=compared, uram=uram_blocks(stored, self.folds))
        return Resources(lut=compared, bram18=ceil_divide(stored, 16) * ceil_divide(self.folds, 1024))

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models: comparators, register slices and the thresholds themselves."""
        port_bits = self.pe * (self.input_bits + self.output_bits)
        stored_bits = self.pe * self.threshold_bits * self.steps
        decoupled = self.mem_mode == "internal_decoupled" and self.folds > 1
        # Streamed thresholds can be any; what HLS compares with constants, or reads from a ROM, is as if it were fused.
        compared = stored_bits * (0.5 if decoupled else prices.threshold_lut_per_bit)
        logic = estimated.Logic(port_bits, compared).priced(prices)
        if self.folds == 1:
            return logic
        if not decoupled and self.ram_style == "distributed":
            lut = prices.threshold_lut_per_bit * rom_luts(stored_bits, self.folds)
            return logic + estimated.rounded(lut, prices.threshold_ff_per_bit * stored_bits)
        streamer = estimated.streamer(stored_bits, prices, queued=self.finn == "plus") if decoupled else Resources()
        if self.ram_style == "distributed":
            return logic + streamer + Resources(lut=rom_luts(stored_bits, self.folds))
        if self.ram_style == "ultra":
            return logic + streamer + Resources(uram=uram_blocks(stored_bits, self.folds))
        return logic + streamer + Resources(bram18=block_ram18(stored_bits, self.folds))


@dataclass(frozen=True, slots=True)
class Thresholding(FoldsOneByOne):
    """The kinds Thresholding_rtl and Thresholding_hls."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> SearchingUnit | ComparingUnit:
        reader = Reader(self.op_type, attributes, finn)
        output_bits = reader.bits("outputDataType")
        steps = None if reader.is_hls and finn == "plus" else 2**output_bits - 1
        shared = {
            "pe": reader.positive("PE"),
            "folds": reader.folds("NumChannels", "PE"),
            "pixels": reader.pixels(),
            "steps": reader.integer("numSteps", steps),
            "input_bits": reader.bits("inputDataType"),
            "threshold_bits": reader.bits("weightDataType"),
            "output_bits": output_bits,
        }
        if reader.is_hls:
            modes = ("internal_embedded", "internal_decoupled")
            styles = ("distributed", "block", "ultra") if finn == "plus" else ("distributed", "block")
            return ComparingUnit(
                **shared,
                finn=finn,
                mem_mode=reader.one_of("mem_mode", modes, "internal_decoupled"),
                ram_style=reader.one_of("ram_style", styles, "distributed"),
            )
        loops = max(reader.integer("mlo_max_iter", 0), reader.integer("bodies", 0)) if finn == "plus" else 1
        return SearchingUnit(
            **shared,
            finn=finn,
            uniform=reader.flag("uniform_thres"),
            equal=reader.flag(EQUAL_THRESHOLDS),
            of_integers=not reader.text("inputDataType").startswith("FLOAT"),
            bram_trigger=reader.integer("depth_trigger_bram", 0),
            uram_trigger=reader.integer("depth_trigger_uram", 0),
            sets=max(1, loops),
        )

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        reader = Reader(self.op_type, attributes)
        channels = reader.integer("NumChannels")
        for pe in divisors(channels):
            if not choice.styles_are_free:
                yield {"PE": pe}
            elif self.op_type.endswith("_hls"):
                yield from self._hls_styles(reader, pe)
            else:
                deepest = channels // pe << reader.bits("outputDataType") - 1
                yield {"PE": pe, "depth_trigger_bram": ALL_LUT_TRIGGER, "depth_trigger_uram": 0}
                if deepest >= BLOCK_TRIGGER:
                    yield {"PE": pe, "depth_trigger_bram": BLOCK_TRIGGER, "depth_trigger_uram": 0}

    @staticmethod
    def _hls_styles(reader: Reader, pe: int) -> Iterator[Folding]:
        word_bits = pe * reader.bits("weightDataType") * reader.integer("numSteps", 1)
        modes = ("internal_embedded", "internal_decoupled") if word_bits <= MAX_STREAM_BITS else ("internal_embedded",)
        for mem_mode in modes:
            for ram_style in ("distributed", "block"):
                yield {"PE": pe, "mem_mode": mem_mode, "ram_style": ram_style}
