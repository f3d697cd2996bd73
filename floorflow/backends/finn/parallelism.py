"""How parallel a folding makes an engine: its attributes, their values and the most that they can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Parallelism
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Attributes, Engine, Option
from floorflow.dataflow.options import OptionTable

PARALLEL = ("PE", "SIMD")
"""Attributes whose values ``inspect`` lists."""

_WHOLE: Mapping[str, tuple[str, ...]] = {
    "PE": ("MH", "Channels", "NumChannels", "Labels"),
    "SIMD": ("MW", "IFMChannels", "NumChannels"),
}
"""The engine's attributes of which the first that it has is the largest value of a folding attribute."""
_WINDOW = "parallel_window"
_MULTIPLYING = ("MVAU", "VVAU")
"""Layers whose engines form PE x SIMD products at once."""
KNOWN_PRODUCTS: Mapping[int, int] = MappingProxyType({1: 7168, 2: 784, 3: 320, 9: 0})
"""Products of the largest HLS engine in a build at hand, by the bits of its wider operand from which that holds.

From the builds that costs are fitted to (benchmarks/data/builds.jsonl.gz): TFC on PYNQ-Z2, TFC and KWS of FINN+'s
tests; what was built with wider operands counts for narrower ones. (FINN issue 1214: PE 80 x SIMD 5 with 7-bit
thresholds took more than 40 GB.)
"""


def parallelism(engine: Engine, option: Option) -> tuple[Parallelism, ...]:
    """Return in which ways an engine is folded to work in parallel; nothing where its kind has no folding."""
    return (*_folded(engine.attributes, option.folding), *_window(engine.attributes, option.folding))


def _folded(has: Attributes, chosen: Attributes) -> Iterator[Parallelism]:
    for name, sizes in _WHOLE.items():
        most = next((has[size] for size in sizes if size in has), None)
        value = chosen.get(name)
        if isinstance(value, int) and isinstance(most, int):
            yield name, value, most


def _window(has: Attributes, chosen: Attributes) -> Iterator[Parallelism]:
    """Yield whether a window generator gives whole windows, where it can: not depthwise, nor with one position."""
    value = chosen.get(_WINDOW)
    if isinstance(value, int) and has.get("depthwise", 0) == 0 and has.get("ConvKernelDim") != (1, 1):
        yield _WINDOW, value, 1


def products(engine: Engine, options: OptionTable) -> NDArray[np.int64]:
    """Return the products that each option of an HLS engine forms at once, 0 for all other engines, (n_options,).

    They are PE x SIMD, times the window positions (``M``) that are computed at once.
    """
    if family(engine.kind) not in _MULTIPLYING:
        return np.zeros(len(options), dtype=np.int64)
    positions = engine.attributes.get("M", 1)
    several = positions if isinstance(positions, int) else 1
    is_hls = np.array([(kind or engine.kind).endswith("_hls") for kind in options.kinds], dtype=np.int64)
    return np.asarray(options.attribute("PE", 1) * options.attribute("SIMD", 1) * several * is_hls)
