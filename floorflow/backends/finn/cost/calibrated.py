"""Floorflow's own cost models: which coefficients price engines, and how far an estimate may be off.

A band is a pair of factors on an estimate: one measured amount in ten lies below the lower, one in ten above the upper.
docs/cost-model.md says which builds they come from.
"""

from collections.abc import Mapping
from math import ceil, floor
from pathlib import Path

import yaml

from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.dataflow.bands import Band
from floorflow.resources import RESOURCE_NAMES, Resources

_FITTED = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
CALIBRATED = Coefficients(**_FITTED["coefficients"])
MEASURED_BANDS: Mapping[str, Mapping[str, Band]] = {
    kind: {name: (low, high) for name, (low, high) in spans.items()} for kind, spans in _FITTED["bands"].items()
}


def coefficients(model: str) -> Coefficients:
    """Return the coefficients of one of floorflow's own models."""
    return ESTIMATED if model == "estimated" else CALIBRATED


LOGIC_UNMEASURED: Band = (0.5, 2.0)
"""LUTs and flip-flops of a kind that no build at hand used: its price is structure alone."""
BLOCKS_UNMEASURED: Band = (0.8, 1.25)
"""Memory blocks and DSP of such a kind; their counts follow from shapes."""
_SAME_STRUCTURE = {"VVAU_hls": "MVAU_hls", "VVAU_rtl": "MVAU_rtl"}


def relative_band(op_type: str, resource: str) -> Band:
    """Return the factors for a kind (``StreamingFIFO_rtl`` and converters included) and one of the five resources."""
    measured = MEASURED_BANDS.get(_SAME_STRUCTURE.get(op_type, op_type), {})
    if resource in measured:
        return measured[resource]
    return LOGIC_UNMEASURED if resource in {"LUT", "FF"} else BLOCKS_UNMEASURED


def band(op_type: str, estimate: Resources) -> tuple[Resources, Resources]:
    """Return the lower and the upper end for an engine, rounded outwards; the estimate always lies between them."""
    factors = [relative_band(op_type, name) for name in RESOURCE_NAMES]
    amounts = estimate.as_tuple()
    low = (floor(amount * factor[0] + 1e-9) for amount, factor in zip(amounts, factors, strict=True))
    high = (ceil(amount * factor[1] - 1e-9) for amount, factor in zip(amounts, factors, strict=True))
    return Resources(*low), Resources(*high)
