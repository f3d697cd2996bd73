"""Block memories as FINN's fork of 2022-03 counts them, in blocks of 18 Kb."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DEEPEST_IN_LUTS = 128
"""Words of constant weights up to which the fork keeps them in LUTs."""


def blocks(width: Floats, depth: Floats) -> Floats:
    """Return the blocks of memories so wide and so deep, by the aspect that suits each width."""
    cases = [width == 1, width == 2, width <= 4, width <= 9, (width <= 18) | (depth > 512)]
    counts = [
        np.ceil(depth / 16384),
        np.ceil(depth / 8192),
        np.ceil(depth / 4096) * np.ceil(width / 4),
        np.ceil(depth / 2048) * np.ceil(width / 9),
        np.ceil(depth / 1024) * np.ceil(width / 18),
    ]
    return np.select(cases, counts, np.ceil(depth / 512) * np.ceil(width / 36))


def line_width(depth: Floats) -> Floats:
    """Return how many bits of a line buffer's word one block holds at a depth."""
    steps = [depth <= most for most in (512, 1024, 2048, 4096, 8192)]
    return np.select(steps, [36.0, 18.0, 9.0, 4.0, 2.0], 1.0)


def luts_of_words(width: Floats, depth: Floats) -> Floats:
    """Return the LUTs of a distributed memory, 64 words of a bit each."""
    return width * np.ceil(depth / 64)
