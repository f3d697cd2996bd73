"""Every way to build a unit with weights: where the weights and thresholds lie, what multiplies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, Self

import numpy as np

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.estimated import Coefficients
from floorflow.backends.finn.cost.memory import FINN_EMBEDDED_LUT_DEPTH
from floorflow.backends.finn.cost.vectorised import Column, Mask, in_formulas
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Batch, Choice, Folding, Unit
from floorflow.backends.finn.kinds.weighted import Weighted
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources, total
from floorflow.technology import Technology

_DEFAULTS: Folding = {
    "mem_mode": "internal_decoupled",
    "ram_style": "auto",
    "resType": "auto",
    "runtime_writeable_weights": 0,
}
"""FINN's defaults of the attributes that say how a unit is built."""

Term = tuple[str | bool, ...]
"""Name of a part of a price, and the attributes beside sizes and types that it depends on."""


class WeightedUnit(Unit, Protocol):
    """One engine with weights."""

    @property
    def part(self) -> Weighted:
        """What all kinds with weights have."""

    def of_sizes(self, pe: int, simd: int) -> Self:
        """Return the same engine with other sizes, columns maybe."""

    def own_terms(self, technology: Technology, prices: Coefficients) -> Mapping[Term, Callable[[], Resources]]:
        """Return what `own_resources` adds up; engines of equal sizes and types whose terms are equal share them."""


class WeightedKind(Protocol):
    """One FINN op type with weights."""

    @property
    def op_type(self) -> str:
        """FINN's op type."""

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> WeightedUnit:
        """Read FINN's attributes, folding included."""


def pairs(some: Sequence[int], others: Sequence[int]) -> tuple[Column, Column]:
    """Return every pair of two numbers as columns."""
    first, second = np.meshgrid(some, others, indexing="ij")
    return first.ravel(), second.ravel()


def batches(kind: WeightedKind, attributes: Attributes, choice: Choice, pe: Column, simd: Column) -> Iterator[Batch]:
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
        style = _style_of_graph(reader)
        yield style, np.full(np.shape(every.pe), _uram_is_writeable(style, choice))
        return
    for memory, in_memory in _memories(reader.is_hls, choice, every):
        for multiplier in _multipliers(reader):
            for thresholds, in_thresholds in _threshold_styles(reader, every):
                yield {**memory, **multiplier, **thresholds}, in_memory & in_thresholds


def _style_of_graph(reader: Reader) -> Folding:
    """Return the memory and variant attributes as the graph gives them, else FINN's defaults."""
    style = {
        name: reader.text(name, default) if isinstance(default, str) else reader.integer(name, default)
        for name, default in _DEFAULTS.items()
    }
    if reader.has("ram_style_thresholds"):
        style["ram_style_thresholds"] = reader.text("ram_style_thresholds")
    return style


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
    if not reader.is_hls or not every.thresholds:
        yield {}, always
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
