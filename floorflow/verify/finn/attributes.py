"""Which folding attributes each FINN kind has."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.verify.finn.engines import FoldedEngine

_WEIGHTED = (
    *("PE", "SIMD", "resType", "mem_mode", "ram_style", "ram_style_thresholds"),
    "runtime_writeable_weights",
)
_SIMD_ONLY = ("FMPadding", "DownSampler", "StreamingConcat", "StreamingSplit", "Upsample")

FOLDING_ATTRIBUTES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("MVAU", "VVAU"), _WEIGHTED),
    (("ConvolutionInputGenerator",), ("SIMD", "parallel_window", "ram_style")),
    (("Thresholding_rtl",), ("PE", "depth_trigger_bram", "depth_trigger_uram", "runtime_writeable_weights")),
    (("Thresholding_hls",), ("PE", "mem_mode", "ram_style", "runtime_writeable_weights")),
    (_SIMD_ONLY, ("SIMD",)),
    (("Lookup",), ()),
    (("",), ("PE",)),
)
"""Beginnings of kinds and the folding attributes that they have; the first that fits holds."""


def stray_attributes(engine: FoldedEngine) -> Iterator[str]:
    """Yield folding attributes that the kind does not have: FINN would refuse them in its configuration."""
    known = next(names for kinds, names in FOLDING_ATTRIBUTES if engine.kind.startswith(kinds))
    for name in engine.folding:
        if name not in known:
            yield f"the kind has no {name}"
