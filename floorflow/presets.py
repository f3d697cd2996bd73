"""Presets: values of several options that go together, by one name; whatever the user gives wins over them.

A preset is here by what it changes: all else stays as the request's own defaults say, which are the preset `balanced`.
What it means for the options of a back end, that back end says (`floorflow.plugins.BackendOptions.presets`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from floorflow.resources import NONE, RESOURCE_NAMES, Fractions, SomeFractions

Preset = Literal["safe", "balanced", "max"]

DEFAULT_PRESET: Preset = "balanced"
PRESET_FIELDS = (
    "cap",
    "fill",
    "confidence",
    "max_products",
    "max_engine_share",
    "tie_break",
    "max_hops",
    "constraint_style",
)
"""The options that a preset may set, beside the clock; a value None leaves an option open."""
CHANGES: Mapping[Preset, Mapping[str, Any]] = MappingProxyType(
    {
        "safe": MappingProxyType(
            {
                "cap": Fractions(LUT=0.6, FF=0.5, BRAM18=0.8, URAM=0.8, DSP=0.8),
                "confidence": 0.95,
                "max_products": "1:7168,2:2048,3:512",
            }
        ),
        "balanced": MappingProxyType({}),
        # What version 0.1 did: its pblocks were all hard, and it knew no limit of hops (no board has as many SLRs).
        "max": MappingProxyType(
            {
                "fill": SomeFractions(LUT=0.85, FF=0.85, BRAM18=1, URAM=1, DSP=1),
                "confidence": NONE,
                "max_products": NONE,
                "max_engine_share": Fractions(**dict.fromkeys(RESOURCE_NAMES, 1.0)),
                "tie_break": "scarcity",
                "max_hops": 16,
                "constraint_style": "hard",
            }
        ),
    }
)
ALVEO_MHZ: Mapping[Preset, float] = MappingProxyType({"safe": 200.0})
"""Clock of an Alveo card, which is never above the board's own; all other boards, and presets, have their own."""
