"""What Seyoum et al. print of their two networks on a PYNQ-Z1, 256 images at 100 MHz."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PAPER: Mapping[str, Mapping[str, Any]] = {
    "CNVW1A1": {
        "stock_ms": 85.8,
        "static_ms": {"0.87": 18.60, "0.75": 73.94},
        "static_infeasible_below": 0.70,
        "dynamic_feasible_down_to": 0.30,
    },
    "CNVW2A2": {
        "stock_ms": 86.34,
        "static_ms": {"1.0": 48.75},
        "static_infeasible_below": 0.85,
        "dynamic_feasible_down_to": 0.45,
    },
}
"""By the network's name. The stock time of CNVW2A2 is not that of the stock folding: see docs/chunks.md."""
