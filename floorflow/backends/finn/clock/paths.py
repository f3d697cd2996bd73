"""The longest paths between two registers in FINN's engines, in levels of logic.

A level is a LUT or the start of a carry chain, with the net behind it. What HLS may cut by registers (trees of adders,
comparisons with thresholds) is ``scheduled``: HLS fills each stage up to the period that it is told. What it may not
cut is a loop that needs its own result a cycle later: the running maximum of LabelSelect, the counters of every loop.

Structure from finn-hlslib (``maxpool.h``, ``mvau.hpp``, ``mac.hpp``) and from the worst paths that Vivado reported
(docs/clock.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2
from typing import Literal

from floorflow.backends.finn.datatype import bits_of
from floorflow.dataflow.model import Attributes, AttributeValue

Nets = Literal["short", "engine", "control"]

LEVELS_PER_ADDER = 3.0
"""Two LUTs and a carry chain: what an adder or a comparison took on every path that was reported."""
LEVELS_PER_COUNT = 2.0
"""A step of a tree that counts bits: its sums are so narrow that they need no carry chain."""
LEVELS_PER_LABEL = 3.0
"""A comparison with the largest value so far, and its choice: 14 and 15 levels were built with PE = 5."""
CARRY_BITS = 8
"""Bits that one carry chain compares without passing on to a next one (7 series: two a LUT, four LUTs)."""
CHAINED_LEVELS = 0.2
"""A further link of a carry chain, which has no net."""
COUNTER_LEVELS = 6 + 7 * CHAINED_LEVELS
"""A loop's 32-bit counter: choose, add 1, compare, clear. Five LUTs and eight links of carry were built."""
RTL_LEVELS = 6.0
"""FINN's RTL engines have a register behind each step; none was ever reported as the worst path."""


@dataclass(frozen=True, slots=True)
class Path:
    """One path: its levels, and what it is in words.

    ``scheduled``: HLS cuts it to what fits the period. ``nets``: short ones, ones as long as the engine is large, or
    ones that control a whole engine (one net, a hundred registers).
    """

    levels: float
    what: str
    scheduled: bool = False
    nets: Nets = "short"


SHELL = Path(COUNTER_LEVELS, "loop counters of HLS", nets="control")
"""In every design: the DMA engines are built by HLS."""


def paths(kind: str, attributes: Attributes) -> Iterator[Path]:
    """Yield the paths of an engine with its folding, by FINN's op type and attributes."""
    if not kind.endswith("_hls"):
        yield Path(RTL_LEVELS, "RTL between registers")
        return
    yield SHELL
    stem = kind.removesuffix("_hls")
    if stem == "LabelSelect":
        pe = _integer(attributes, "PE")
        yield Path(label_select_levels(attributes, pe), f"{pe} comparisons one after another (PE = {pe})")
    elif stem in ("MVAU", "VVAU"):
        yield Path(_sum_levels(attributes), "sum of products", scheduled=True, nets="engine")
        if not _integer(attributes, "noActivation", 0):
            yield _thresholds(attributes, "outputDataType")
    elif stem == "Thresholding":
        yield _thresholds(attributes, "outputDataType")
    elif stem in ("Pool", "GlobalAccPool", "AddStreams", "ChannelwiseOp") or stem.startswith("Elementwise"):
        yield Path(LEVELS_PER_ADDER + 1, "arithmetic", scheduled=True, nets="engine")


def label_select_levels(attributes: Attributes, pe: int) -> float:
    """Return the levels of LabelSelect's running maximum, over ``pe`` values a cycle."""
    bits = bits_of(str(attributes.get("inputDataType", "INT8")))
    # Of the K best, each is held against two neighbours at once, which takes one choice more.
    several = 1 if _integer(attributes, "K") > 1 else 0
    links = max(0, ceil(bits / CARRY_BITS) - 1)
    return pe * (LEVELS_PER_LABEL + several + CHAINED_LEVELS * links)


def _sum_levels(attributes: Attributes) -> float:
    """Product, tree of adders over SIMD products, and the accumulator; one-bit products are part of the tree."""
    bits = [bits_of(str(attributes.get(name, "INT8"))) for name in ("inputDataType", "weightDataType")]
    step = LEVELS_PER_COUNT if max(bits) == 1 else LEVELS_PER_ADDER
    product = LEVELS_PER_ADDER * log2(min(bits)) if attributes.get("resType") == "lut" else 0.0
    return product + step * log2(_integer(attributes, "SIMD")) + LEVELS_PER_ADDER


def _thresholds(attributes: Attributes, output: str) -> Path:
    """One comparison for each step, and the tree that counts those passed."""
    steps = 2 ** bits_of(str(attributes.get(output, "BINARY"))) - 1
    levels = LEVELS_PER_ADDER + LEVELS_PER_COUNT * log2(steps)
    return Path(levels, f"thresholds of {steps} steps", scheduled=True, nets="engine")


def _integer(attributes: Attributes, name: str, default: int = 1) -> int:
    value: AttributeValue = attributes.get(name, default)
    return value if isinstance(value, int) else default
