"""How far an estimate of the ``calibrated`` model may be off, and how likely a sum of estimates is to fit.

A band is a pair of factors on an estimate: one measured amount in ten lies below the lower, one in ten above the upper.
docs/cost-model.md says which builds they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, erf, floor, sqrt

from floorflow.backends.finn.cost.calibrated_values import MEASURED_BANDS
from floorflow.resources import RESOURCE_NAMES, Resources

Band = tuple[float, float]

EXACT: Band = (1.0, 1.0)
LOGIC_UNMEASURED: Band = (0.5, 2.0)
"""LUTs and flip-flops of a kind that no build at hand used: its price is structure alone."""
BLOCKS_UNMEASURED: Band = (0.8, 1.25)
"""Memory blocks and DSP of such a kind; their counts follow from shapes."""
_SAME_STRUCTURE = {"VVAU_hls": "MVAU_hls", "VVAU_rtl": "MVAU_rtl"}
_TENTH = 1.2816
"""Standard deviations from the mean to the upper tenth of a normal distribution."""


CROSSING = "crossing registers"
"""What crossing registers count as: their number is decided, not estimated."""


def relative_band(op_type: str, resource: str) -> Band:
    """Return the factors for a kind (``StreamingFIFO_rtl`` and converters included) and one of the five resources."""
    measured = MEASURED_BANDS.get(_SAME_STRUCTURE.get(op_type, op_type), {})
    if resource in measured:
        return measured[resource]
    if op_type == CROSSING:
        return EXACT
    return LOGIC_UNMEASURED if resource in {"LUT", "FF"} else BLOCKS_UNMEASURED


def band(op_type: str, estimate: Resources) -> tuple[Resources, Resources]:
    """Return the lower and the upper end for an engine, rounded outwards; the estimate always lies between them."""
    factors = [relative_band(op_type, name) for name in RESOURCE_NAMES]
    amounts = estimate.as_tuple()
    low = (floor(amount * factor[0] + 1e-9) for amount, factor in zip(amounts, factors, strict=True))
    high = (ceil(amount * factor[1] - 1e-9) for amount, factor in zip(amounts, factors, strict=True))
    return Resources(*low), Resources(*high)


def spread(use: Mapping[str, Resources]) -> tuple[Resources, Resources]:
    """Return the band of a sum: one tenth of outcomes lies below, one tenth above.

    ``use`` holds the estimates by kind. Engines of one kind err alike, as one factor; kinds err independently; a
    kind's factor is normal with its band as tenths.
    """
    sums = [_moments(use, name) for name in RESOURCE_NAMES]
    low = (max(0, floor(mean - _TENTH * deviation + 1e-9)) for mean, deviation in sums)
    high = (ceil(mean + _TENTH * deviation - 1e-9) for mean, deviation in sums)
    return Resources(*low), Resources(*high)


def fit_likelihood(use: Mapping[str, Resources], available: Resources) -> float:
    """Return the probability that no resource needs more than is available, under the assumptions of ``spread``.

    Resources are taken as independent, so a design with several tight ones looks less likely than it is.
    """
    likelihood = 1.0
    for name in RESOURCE_NAMES:
        mean, deviation = _moments(use, name)
        have = available.as_dict()[name]
        if deviation:
            likelihood *= (1 + erf((have - mean) / deviation / sqrt(2))) / 2
        elif mean > have:
            return 0.0
    return likelihood


def _moments(use: Mapping[str, Resources], resource: str) -> tuple[float, float]:
    """Return mean and standard deviation of a sum."""
    mean = variance = 0.0
    for op_type, estimate in sorted(use.items()):
        amount = estimate.as_dict()[resource]
        low, high = relative_band(op_type, resource)
        mean += amount * (low + high) / 2
        variance += (amount * (high - low) / 2 / _TENTH) ** 2
    return mean, sqrt(variance)
