"""What can be chosen, and the defaults that presets start from."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Effort = Literal["fast", "default", "best"]
Granularity = Literal["stage", "block", "layer", "slot"]
Objective = Literal["throughput", "latency", "resources"]
Bargains = Literal["fold", "plan", "none"]
ConstraintStyle = Literal["auto", "none", "slr", "soft", "hard"]
TieBreak = Literal["fullness", "scarcity"]
Reconfigure = Literal["none", "full", "partial"]
Reuse = Literal["no", "prefer", "require"]
MOST_REGIONS = 4
"""Reconfigurable regions that a plan can have."""

DEFAULT_CAP: Mapping[str, float] = MappingProxyType({"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9})
"""The coarse-grained floorplanning paper's share of a slot that a design may use."""
DEFAULT_FILL: Mapping[str, float] = MappingProxyType({"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0})
"""How full a rectangle may be where its slot has no room for more."""
HARD_FILL: Mapping[str, float] = MappingProxyType({"LUT": 0.85, "FF": 0.85, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9})
"""How full a hard pblock may be where there is room: of logic as any rectangle, of blocks as the cap; chosen."""
LARGE_LUT, LARGE_LUT_FILL = 50_000, 0.75
"""A hard pblock whose module needs more LUTs than these may be less full of them."""
DEFAULT_CONFIDENCE = 0.9
"""Probability with which a pblock is to hold its module."""
MOST_OF_SLOT = 0.6
"""Share of a slot's free cells that a pblock may grow to, and that one may cover to be hard without being asked for."""
MOST_OF_FPGA = 0.6
"""Share of an FPGA's planned LUTs beyond which one pblock on a single die constrains nothing worth it."""
DEFAULT_MAX_PRODUCTS = "1:8192,2:4096,3:1024"
"""Most products of an HLS engine from a width of its operands on: steps beyond what is known to have been built."""
DEFAULT_MAX_ENGINE_SHARE: Mapping[str, float] = MappingProxyType(
    {"LUT": 0.25, "FF": 1.0, "BRAM18": 1.0, "URAM": 1.0, "DSP": 0.5}
)
"""Share of a slot's available resources that one engine may take; 1: no limit but the slot's."""
LEAST_ENGINE_LIMITS: Mapping[str, int] = MappingProxyType({"LUT": 20_000, "DSP": 128})
"""What that share allows at least: in a small slot a share of it says little."""
MOST_EPSILON = 1000
"""Largest imbalance of consecutive layers that can be asked for."""
RESOURCES_ALONE = "samo:"
"""What platforms begin with of which resources alone are known: nothing can be placed there."""
MOST_BATCH = 10**9
DEFAULT_BATCH = 256
"""Frames a run: those of SAMO's Table V."""
MOST_FPGAS = 16
"""As many FPGAs ``auto`` takes at most."""
