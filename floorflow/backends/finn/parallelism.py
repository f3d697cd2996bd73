"""How parallel a folding makes an engine: its attributes, their values and the most that they can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from floorflow.backends.backend import Parallelism
from floorflow.dataflow.model import Attributes, Engine, Option

PARALLEL = ("PE", "SIMD")
"""Attributes whose values ``inspect`` lists."""

_WHOLE: Mapping[str, tuple[str, ...]] = {
    "PE": ("MH", "Channels", "NumChannels", "Labels"),
    "SIMD": ("MW", "IFMChannels", "NumChannels"),
}
"""The engine's attributes of which the first that it has is the largest value of a folding attribute."""
_WINDOW = "parallel_window"


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
