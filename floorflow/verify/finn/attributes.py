"""Which folding attributes each FINN kind has, in the spelling of plan.json."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.verify.finn.engines import FoldedEngine

_RESULTS = ("cycles", "resources")
"""Keys of a folding entry that are results, no attributes."""

_WEIGHTED = (
    *("pe", "simd", "res_type", "mem_mode", "ram_style", "ram_style_thresholds"),
    "runtime_writeable_weights",
)
_SIMD_ONLY = ("FMPadding", "DownSampler", "StreamingConcat", "StreamingSplit", "Upsample")

FOLDING_ATTRIBUTES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("MVAU", "VVAU"), _WEIGHTED),
    (("ConvolutionInputGenerator",), ("simd", "parallel_window", "ram_style")),
    (("Thresholding_rtl",), ("pe", "depth_trigger_bram", "depth_trigger_uram", "runtime_writeable_weights")),
    (("Thresholding_hls",), ("pe", "mem_mode", "ram_style", "runtime_writeable_weights")),
    (_SIMD_ONLY, ("simd",)),
    (("Lookup",), ()),
    (("",), ("pe",)),
)
"""Beginnings of kinds and the folding attributes that they have; the first that fits holds."""


def stray_attributes(engine: FoldedEngine) -> Iterator[str]:
    """Yield folding attributes that the kind does not have: FINN would refuse them in its configuration."""
    known = next(names for kinds, names in FOLDING_ATTRIBUTES if engine.kind.startswith(kinds))
    for name in engine.folding:
        if name not in known and name not in _RESULTS:
            yield f"the kind has no {name}"
