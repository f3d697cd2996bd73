"""How likely a sum of estimates is to fit, from how far the estimate of each kind may be off.

A band is a pair of factors on an estimate: one measured amount in ten lies below the lower, one in ten above the upper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, erf, floor, sqrt

from floorflow.resources import RESOURCE_NAMES, Resources

Band = tuple[float, float]
BandOf = Callable[[str, str], Band]
"""From a kind and a resource to the factors on an estimate."""

EXACT: Band = (1.0, 1.0)
CROSSING = "crossing registers"
"""What crossing registers count as: their number is decided, not estimated."""
_TENTH = 1.2816
"""Standard deviations from the mean to the upper tenth of a normal distribution."""


def spread(use: Mapping[str, Resources], band_of: BandOf) -> tuple[Resources, Resources]:
    """Return the band of a sum: one tenth of outcomes lies below, one tenth above.

    ``use`` holds the estimates by kind. Engines of one kind err alike, as one factor; kinds err independently; a
    kind's factor is normal with its band as tenths.
    """
    sums = [moments(use, name, band_of) for name in RESOURCE_NAMES]
    low = (max(0, floor(mean - _TENTH * deviation + 1e-9)) for mean, deviation in sums)
    high = (ceil(mean + _TENTH * deviation - 1e-9) for mean, deviation in sums)
    return Resources(*low), Resources(*high)


def fit_likelihood(use: Mapping[str, Resources], available: Resources, band_of: BandOf) -> float:
    """Return the probability that no resource needs more than is available, under the assumptions of ``spread``.

    Resources are taken as independent, so a design with several tight ones looks less likely than it is.
    """
    likelihood = 1.0
    for name in RESOURCE_NAMES:
        mean, deviation = moments(use, name, band_of)
        have = available.as_dict()[name]
        if deviation:
            likelihood *= (1 + erf((have - mean) / deviation / sqrt(2))) / 2
        elif mean > have:
            return 0.0
    return likelihood


def moments(use: Mapping[str, Resources], resource: str, band_of: BandOf) -> tuple[float, float]:
    """Return mean and standard deviation of a sum."""
    mean = variance = 0.0
    for kind, estimate in sorted(use.items()):
        amount = estimate.as_dict()[resource]
        low, high = EXACT if kind == CROSSING else band_of(kind, resource)
        mean += amount * (low + high) / 2
        variance += (amount * (high - low) / 2 / _TENTH) ** 2
    return mean, sqrt(variance)
