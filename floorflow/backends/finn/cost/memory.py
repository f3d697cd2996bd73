"""What memories need, FINN's own counts and floorflow's; and formulas that serve one folding and a column alike.

Shapes are ``width_bits`` x ``depth`` words. LUTRAM is counted in LUTs, block RAM in RAMB18, UltraRAM in URAM288.

A unit that is read has integers for its PE and SIMD, a unit that stands for a batch of foldings has columns: numpy
arrays of integers. Arithmetic is the same for both. What takes ``if``, ``min`` or ``int`` for an integer is done by the
functions here, so that every formula stands once. No formula may add in place (``+=``), which would change a column
that others read. Formulas are typed for one folding.
"""

from collections.abc import Iterable
from functools import reduce
from math import ceil
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
Mask = NDArray[np.bool_]
Amount = TypeVar("Amount", int, float)


def in_formulas(column: Column) -> int:
    """Return a column as what formulas take."""
    return cast("int", column)


def where(condition: bool, then: Amount, otherwise: Amount) -> Amount:
    """Return ``then`` where the condition holds; both are computed, so neither may fail."""
    if isinstance(condition, np.ndarray):
        return cast("Amount", np.where(condition, then, otherwise))
    return then if condition else otherwise


def first_of(cases: Iterable[tuple[bool, int]], otherwise: int) -> int:
    """Return the amount of the first case whose condition holds."""
    return reduce(lambda amount, case: where(case[0], case[1], amount), reversed(tuple(cases)), otherwise)


def least(*amounts: int) -> int:
    """Return the smallest amount."""
    return reduce(lambda one, other: where(one <= other, one, other), amounts)


def most(*amounts: int) -> int:
    """Return the largest amount."""
    return reduce(lambda one, other: where(one >= other, one, other), amounts)


def whole(amount: float) -> int:
    """Cut off what follows the point."""
    return cast("int", amount.astype(np.int64)) if isinstance(amount, np.ndarray) else int(amount)


def ceiling(amount: float) -> int:
    """Round up; what is negative becomes 0."""
    if isinstance(amount, np.ndarray):
        return cast("int", np.maximum(np.ceil(amount), 0).astype(np.int64))
    return max(ceil(amount), 0)


BLOCK_SHAPES = ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))
"""Width and depth of a RAMB18 in its aspect ratios (AMD UG573)."""

RAMB36_SHAPES = ((72, 512), (36, 1024), (18, 2048), (9, 4096), (4, 8192), (2, 16384), (1, 32768))
"""Width and depth of a RAMB36 in its aspect ratios (AMD UG473); 72 bits as a simple dual-port memory."""

FINN_EMBEDDED_LUT_DEPTH = 128
"""Deepest weight memory that FINN expects HLS to build from LUTs."""


def ceil_divide(amount: int, by: int) -> int:
    """Round the quotient up."""
    return (amount + (by - 1)) // by


def clog2(value: int) -> int:
    """Smallest n >= 0 with 2**n >= value."""
    return max(0, (value - 1).bit_length())


def finn_weight_bram18(width_bits: int, depth: int) -> int:
    """FINN's RAMB18 count of an MVAU weight memory (`MVAU.bram_estimation`)."""
    return _finn_bram18(width_bits, depth, (9, 18, 36))


def finn_depthwise_bram18(width_bits: int, depth: int) -> int:
    """FINN's RAMB18 count of a VVAU weight memory, which does not use the parity bits."""
    return _finn_bram18(width_bits, depth, (8, 16, 32))


def _finn_bram18(width_bits: int, depth: int, wide: tuple[int, int, int]) -> int:
    cases = (
        (width_bits == 1, ceil_divide(depth, 16384)),
        (width_bits == 2, ceil_divide(depth, 8192)),
        (width_bits <= 4, ceil_divide(depth, 4096) * ceil_divide(width_bits, 4)),
        (width_bits <= 9, ceil_divide(depth, 2048) * ceil_divide(width_bits, wide[0])),
        ((width_bits <= 18) | (depth > 512), ceil_divide(depth, 1024) * ceil_divide(width_bits, wide[1])),
    )
    return first_of(cases, ceil_divide(depth, 512) * ceil_divide(width_bits, wide[2]))


def block_ram_width(depth: float) -> int:
    """Return the widest RAMB18 port at a depth; FINN's windows use it."""
    return first_of(((depth <= rows, width) for width, rows in BLOCK_SHAPES), 1)


def uram_blocks(width_bits: int, depth: int) -> int:
    """UltraRAM blocks of 72 x 4096; FINN and floorflow agree."""
    return ceil_divide(width_bits, 72) * ceil_divide(depth, 4096)


def block_ram18(width_bits: int, depth: int) -> int:
    """Count RAMB18 of a ROM or streamed memory, floorflow's way: one aspect ratio, width in whole bytes.

    FINN pads weight streams to bytes. What Vivado makes of the padding differs: over the 30 decoupled weight memories
    of the metafi build with 512 words or more the padded width is off by 10 RAMB18 in all, FINN's count by 27
    (docs/cost-model.md); on 7 series, without a style, the unpadded width fits (`auto_ram18`).
    """
    padded = ceil_divide(width_bits, 8) * 8
    return least(*(ceil_divide(depth, rows) * ceil_divide(padded, width) for width, rows in BLOCK_SHAPES))


def auto_ram18(width_bits: int, depth: int) -> int:
    """Count RAMB18 of a memory without a style on 7 series: whole RAMB36 of the depth's power of two, width unpadded.

    Sixteen of seventeen memories of two builds by FINN main and four by FINN+, 4 to 147,456 words deep.
    """
    by_depth = ((depth <= rows, ceil_divide(width_bits, width)) for width, rows in RAMB36_SHAPES)
    return 2 * first_of(by_depth, width_bits * ceil_divide(depth, RAMB36_SHAPES[-1][1]))


def rom_luts(width_bits: int, depth: int) -> int:
    """LUTs of a memory that is only read: 64 x 1 bit a LUT, FINN's formula."""
    return width_bits * ceil_divide(depth, 64)


def ram_luts(width_bits: int, depth: int) -> int:
    """LUTs of a memory that is written each frame: dual-port LUTRAM (FINN+'s fit for `fifo.sv`)."""
    return ceil_divide(depth, 32) * ceil_divide(width_bits, 2) * 5 // 4 + 1
