"""MVAU: matrix times vector, for convolutions (after a window) and fully connected layers; VVAU: one kernel a channel.

Every way to build such a unit is tried: where the weights and thresholds lie, what multiplies.
"""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Self

import numpy as np

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import (
    FINN_EMBEDDED_LUT_DEPTH,
    Column,
    Mask,
    ceil_divide,
    finn_depthwise_bram18,
    finn_weight_bram18,
    in_formulas,
    ram_luts,
    uram_blocks,
    where,
)
from floorflow.backends.finn.kinds.kind import (
    EVERY_FINN,
    MAX_STREAM_BITS,
    Batch,
    Choice,
    Folding,
    OneStream,
    divisors,
)
from floorflow.backends.finn.kinds.weighted import Weighted, dsp_lanes, read_weighted, require_computable, versal_dsp
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources, total
from floorflow.technology import Technology

MAX_HLS_INPUT_FOLD = 1024
"""FINN asserts SIMD >= MW / 1024 in HLS: the input buffer is partitioned completely."""
_DEFAULTS: Folding = {
    "mem_mode": "internal_decoupled",
    "ram_style": "auto",
    "resType": "auto",
    "runtime_writeable_weights": 0,
}
"""FINN's defaults of the attributes that say how a unit is built."""

Term = tuple[str | bool, ...]
"""Name of a part of a price, and the attributes beside sizes and types that it depends on."""
Terms = Mapping[Term, Callable[[], Resources]]
"""What adds up to a price; engines of equal sizes and types whose terms are equal share them."""


@dataclass(frozen=True, slots=True)
class WeightedUnit(OneStream):
    """One engine with weights, used for ``pixels`` vectors, or outputs a channel, a frame."""

    hls: bool
    pixels: int
    part: Weighted

    def of_sizes(self, pe: int, simd: int) -> Self:
        """Return the same engine with other sizes, columns maybe."""
        return replace(self, part=replace(self.part, pe=pe, simd=simd))

    @property
    def cycles(self) -> int:
        return self.part.depth * self.pixels

    @abstractmethod
    def finn_resources(self, technology: Technology) -> Resources: ...

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        return total(price() for price in self.own_terms(technology, prices).values())

    @abstractmethod
    def own_terms(self, technology: Technology, prices: Coefficients) -> Terms:
        """Return what `own_resources` adds up."""

    def _weights(self, technology: Technology, prices: Coefficients) -> Terms:
        part = self.part
        key = ("weights", part.mem_mode, part.ram_style, part.writeable)
        return {key: lambda: part.own_weights(technology, prices, hls=self.hls)}

    def _thresholds(self, prices: Coefficients) -> Terms:
        """Return fused thresholds, which HLS units alone have."""
        key = ("thresholds", self.part.ram_style_thresholds)
        return {key: lambda: self.part.own_thresholds(prices)} if self.hls else {}

    def _finn_blocks(self, count: Callable[[int, int], int], is_free: bool) -> int:
        """Return FINN's block RAM of weights that may lie in it, 0 where it counts none for them."""
        part = self.part
        if part.mem_mode == "internal_decoupled" and part.ram_style in {"distributed", "ultra"}:
            return 0
        return where(is_free, 0, count(part.word_bits, part.depth))


@dataclass(frozen=True, slots=True)
class MatrixVectorUnit(WeightedUnit):
    """One MVAU; ``tiles``: FINN+ may spread each vector over several passes (its attribute TH)."""

    tiles: int = 1

    @property
    def width(self) -> int:
        """Elements of a vector: FINN's MW."""
        return self.part.products_per_output

    @property
    def cycles(self) -> int:
        return self.part.depth * self.pixels * self.tiles

    @property
    def widths_bits(self) -> tuple[int, int]:
        return self.part.input_bits * self.part.simd, self.part.output_bits * self.part.pe

    def finn_resources(self, technology: Technology) -> Resources:
        part, is_free = self.part, self.part.finn_memory_is_free()
        bram18, uram = self._finn_blocks(finn_weight_bram18, is_free), 0
        if part.mem_mode != "internal_decoupled" or part.ram_style == "ultra":
            uram = where(is_free, 0, uram_blocks(part.word_bits, part.depth))
        if self.hls:
            lut = part.finn_compute_luts(part.finn_multiplier_luts(), self._finn_threshold_luts())
            dsp = part.pe * part.simd * ceil_divide(part.operand_bits, 48) if part.res_type == "dsp" else 0
        else:
            lut = 0
            versal = versal_dsp(part.pe, part.simd, technology)
            dsp = ceil_divide(part.pe, 4) * part.simd if versal is None else versal
        return Resources(lut=lut, bram18=bram18, uram=uram, dsp=dsp)

    def _finn_threshold_luts(self) -> int:
        if not self.part.thresholds or self.part.ram_style_thresholds != "distributed":
            return 0
        return self.part.threshold_bits * (ceil_divide(self.part.output_folds, 64) + 1)

    def own_terms(self, technology: Technology, prices: Coefficients) -> Terms:
        """Return products with adders and control, the input buffer, weights and fused thresholds."""
        part = self.part
        return {
            ("logic", part.res_type, part.mem_mode, part.writeable): lambda: self._logic(technology, prices),
            ("buffer",): lambda: self._buffer(prices),
            **self._weights(technology, prices),
            **self._thresholds(prices),
        }

    def _logic(self, technology: Technology, prices: Coefficients) -> Resources:
        if self.hls:
            return self.part.own_hls_logic(technology, prices)
        versal = versal_dsp(self.part.pe, self.part.simd, technology)
        packed = ceil_divide(self.part.pe, dsp_lanes(self.part)) * self.part.simd
        return self.part.own_rtl_logic(packed if versal is None else versal, prices)

    def _buffer(self, prices: Coefficients) -> Resources:
        """Price what keeps one input vector while it is used for more than one row."""
        words = self.width // self.part.simd
        if self.hls:
            # Flip-flops behind a multiplexer.
            bits = self.width * self.part.input_bits
            lut = prices.buffer_lut_per_bit * bits + prices.buffer_lut_per_word * words
            buffer = estimated.rounded(lut, prices.buffer_ff_per_bit * bits)
        else:
            # A replay buffer in LUTRAM.
            word_bits = self.part.input_bits * self.part.simd
            buffer = Resources(lut=ram_luts(word_bits, words), ff=2 * word_bits)
        return estimated.unless(self.part.output_folds == 1, buffer)


@dataclass(frozen=True, slots=True)
class DepthwiseUnit(WeightedUnit):
    """One VVAU, to which channels come interleaved."""

    @property
    def widths_bits(self) -> tuple[int, int]:
        return self.part.input_bits * self.part.simd * self.part.pe, self.part.output_bits * self.part.pe

    def finn_resources(self, technology: Technology) -> Resources:
        part, uram = self.part, 0
        small = part.ram_style == "auto" and part.depth <= FINN_EMBEDDED_LUT_DEPTH
        bram18 = self._finn_blocks(finn_depthwise_bram18, part.finn_memory_is_free() | small)
        if part.mem_mode == "internal_decoupled" and part.ram_style == "ultra":
            uram = uram_blocks(part.word_bits, part.depth)
        return Resources(lut=self._finn_luts(), bram18=bram18, uram=uram, dsp=self._finn_dsp())

    def _finn_luts(self) -> int:
        if not self.hls:
            return 0
        part = self.part
        thresholds = part.threshold_bits * (part.output_folds / 64 + 1) if part.thresholds else 0
        return part.finn_compute_luts(part.finn_multiplier_luts(), thresholds)

    def _finn_dsp(self) -> int:
        part = self.part
        if self.hls:
            return part.pe * ceil_divide(part.operand_bits, 48) if part.res_type == "dsp" else 0
        return part.pe * ceil_divide(part.simd, 3)

    def own_terms(self, technology: Technology, prices: Coefficients) -> Terms:
        """Return weights, products with adders and control, and fused thresholds; each input is used at once."""
        part, weights = self.part, self._weights(technology, prices)
        if not self.hls:
            return {**weights, ("logic",): lambda: part.own_rtl_logic(self._finn_dsp(), prices)}
        key = ("logic", part.res_type, part.mem_mode, part.writeable)
        return {**weights, key: lambda: part.own_hls_logic(technology, prices), **self._thresholds(prices)}


@dataclass(frozen=True, slots=True)
class MatrixVector:
    """The kinds MVAU_hls and MVAU_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> MatrixVectorUnit:
        reader = Reader(self.op_type, attributes, finn)
        width, height = reader.positive("MW"), reader.positive("MH")
        # Both raise unless they divide.
        reader.folds("MW", "SIMD")
        reader.folds("MH", "PE")
        part = read_weighted(reader, height, width, reader.integer("SIMD"))
        tiles = reader.positive("TH", 1) if finn == "plus" else 1
        return MatrixVectorUnit(reader.is_hls, reader.pixels(), part, tiles)

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        """Yield SIMD | MW, PE | MH, and for each how weights, multipliers and thresholds may be built.

        Raises InputError if an RTL unit cannot compute this layer.
        """
        reader = Reader(self.op_type, attributes)
        width, height = reader.positive("MW"), reader.positive("MH")
        require_computable(reader, needs_versal=False, technology=choice.technology)
        simd, pe = _pairs(divisors(width), divisors(height))
        fits = simd >= (width / MAX_HLS_INPUT_FOLD if reader.is_hls else 1)
        yield from _batches(self, attributes, choice, pe[fits], simd[fits])


@dataclass(frozen=True, slots=True)
class Depthwise:
    """The kinds VVAU_hls and VVAU_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> DepthwiseUnit:
        reader = Reader(self.op_type, attributes, finn)
        channels, taps = reader.positive("Channels"), prod(reader.pair("Kernel"))
        # Both raise unless they divide.
        reader.share(taps, "Kernel", "SIMD", 1)
        reader.folds("Channels", "PE")
        part = read_weighted(reader, channels, taps, reader.integer("SIMD", 1))
        return DepthwiseUnit(reader.is_hls, prod(reader.pair("Dim")), part)

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        """Yield PE | Channels, SIMD | taps; a SIMD above 1 needs a parallel window, which is another engine's choice.

        Raises InputError if an RTL unit cannot compute this layer on this family.
        """
        reader = Reader(self.op_type, attributes)
        channels, taps = reader.positive("Channels"), prod(reader.pair("Kernel"))
        require_computable(reader, needs_versal=True, technology=choice.technology)
        pe, simd = _pairs(divisors(channels), divisors(taps))
        yield from _batches(self, attributes, choice, pe, simd)


def _pairs(some: Sequence[int], others: Sequence[int]) -> tuple[Column, Column]:
    """Return every pair of two numbers as columns."""
    first, second = np.meshgrid(some, others, indexing="ij")
    return first.ravel(), second.ravel()


def _batches(
    kind: MatrixVector | Depthwise, attributes: Attributes, choice: Choice, pe: Column, simd: Column
) -> Iterator[Batch]:
    """Yield foldings of all those sizes, a batch for every way to build them.

    A multiplication by one bit is a gate and never offered in DSP; embedded weights are offered where they become
    LUTs (128 words at most); RTL units stream their weights and multiply in DSP.
    """
    reader = Reader(kind.op_type, attributes, choice.finn)
    one = {**attributes, "PE": 1, "SIMD": 1}
    sizes = {"PE": pe, "SIMD": simd}
    every = kind.unit(one, choice.finn).of_sizes(in_formulas(pe), in_formulas(simd))
    known: dict[Term, Resources] = {}
    for style, allowed in _styles(reader, choice, every.part):
        legal = allowed & _weights_fit(reader, every.part, style)
        if not legal.any():
            continue
        unit = kind.unit({**one, **style}, choice.finn).of_sizes(every.part.pe, every.part.simd)
        if choice.styles_are_free:
            terms = unit.own_terms(choice.technology, coefficients(choice.model))
            known |= {term: price() for term, price in terms.items() if term not in known}
            resources = total(known[term] for term in terms)
        else:
            resources = unit.finn_resources(choice.technology)
        yield Batch(sizes, style, unit, resources, legal)


def _styles(reader: Reader, choice: Choice, every: Weighted) -> Iterator[tuple[Folding, Mask]]:
    """Yield the memory and variant attributes to build units with, and which of their sizes may have them."""
    if not choice.styles_are_free:
        style = {
            name: reader.text(name, default) if isinstance(default, str) else reader.integer(name, default)
            for name, default in _DEFAULTS.items()
        }
        if reader.has("ram_style_thresholds"):
            style["ram_style_thresholds"] = reader.text("ram_style_thresholds")
        yield style, np.full(np.shape(every.pe), _uram_is_writeable(style, choice))
        return
    for memory, in_memory in _memories(reader.is_hls, choice, every):
        for multiplier in _multipliers(reader):
            for thresholds, in_thresholds in _threshold_styles(reader, every):
                yield {**memory, **multiplier, **thresholds}, in_memory & in_thresholds


def _memories(hls: bool, choice: Choice, every: Weighted) -> Iterator[tuple[Folding, Mask]]:
    """Yield memories; LUTs are embedded where they can be, which is never dearer than streaming them."""
    embeds = np.asarray(every.depth <= FINN_EMBEDDED_LUT_DEPTH) & hls
    always = np.full_like(embeds, fill_value=True)
    yield {"mem_mode": "internal_embedded", "ram_style": "auto", "runtime_writeable_weights": 0}, embeds
    streamed = {"mem_mode": "internal_decoupled"}
    yield {**streamed, "ram_style": "block", "runtime_writeable_weights": 0}, always
    yield {**streamed, "ram_style": "distributed", "runtime_writeable_weights": 0}, ~embeds
    if choice.technology.has_uram and choice.allow_runtime_weights:
        yield {**streamed, "ram_style": "ultra", "runtime_writeable_weights": 1}, always


def _multipliers(reader: Reader) -> Iterator[Folding]:
    if reader.is_hls:
        yield {"resType": "lut"}
    if not reader.is_hls or min(reader.bits("weightDataType"), reader.bits("inputDataType")) > 1:
        yield {"resType": "dsp"}


def _threshold_styles(reader: Reader, every: Weighted) -> Iterator[tuple[Folding, Mask]]:
    stored = np.asarray(every.output_folds > 1)
    always = np.full_like(stored, fill_value=True)
    if not reader.op_type.startswith("MVAU_hls") or not every.thresholds:
        yield {}, always  # FINN leaves those of VVAU_hls to Vitis HLS: it has no attribute for them
        return
    yield {"ram_style_thresholds": "distributed"}, always
    yield {"ram_style_thresholds": "block"}, stored


def _weights_fit(reader: Reader, every: Weighted, style: Folding) -> Mask:
    """Whether HLS can express the weight words: of all PE if they are streamed, of one PE if embedded."""
    lanes = 1 if style["mem_mode"] == "internal_embedded" else every.pe
    return np.asarray((every.simd * lanes * every.weight_bits <= MAX_STREAM_BITS) | (not reader.is_hls))


def _uram_is_writeable(style: Folding, choice: Choice) -> bool:
    """Whether streamed weights are not in UltraRAM, or may be written at run time: UltraRAM has no initial contents."""
    if style["runtime_writeable_weights"] == 1 and not choice.allow_runtime_weights:
        return False
    if style["mem_mode"] != "internal_decoupled" or style["ram_style"] != "ultra":
        return True
    return style["runtime_writeable_weights"] == 1 and choice.allow_runtime_weights and choice.technology.has_uram
