"""How likely a sum of estimates is to fit, from how far the estimate of each kind may be off.

A band is a pair of factors on an estimate: one measured amount in ten lies below the lower, one in ten above the upper.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import ceil, erf, floor, sqrt
from statistics import NormalDist

from floorflow.resources import MOST_TOLD, RESOURCE_NAMES, Resources, total

Band = tuple[float, float]
BandOf = Callable[[str, str], Band]
"""From a kind and a resource to the factors on an estimate."""

EXACT: Band = (1.0, 1.0)
CROSSING = "crossing registers"
"""What crossing registers count as: their number is decided, not estimated."""
LESS, MORE = "less in doubt", "more in doubt"
"""What engines may need less and more than told, most of all where the version of the tool that builds them is not
known: the same for all engines, so amounts add up."""
_DECIDED: Mapping[str, Band] = {CROSSING: EXACT, LESS: (-1.0, 0.0), MORE: (0.0, 1.0)}
_ROUNDING = 1e-9
_TENTH = 1.2816
"""Standard deviations from the mean to the upper tenth of a normal distribution."""


FF_PER_LUT = 2
"""Flip-flops beside each LUT, in every CLB of 7-series, UltraScale+ and Versal."""
_HALVINGS = 30
_FEWEST = -10.0
"""Standard deviations from the mean below which nothing is looked for."""


@dataclass(frozen=True)
class UncertainSum:
    """What a sum of estimates may turn out to be: mean and standard deviation of each resource that counts."""

    moments: Mapping[str, tuple[float, float]]

    def likelihood(self, have: Mapping[str, int]) -> float:
        """Return the probability that no resource needs more than there is.

        Resources are taken as independent, so a design with several tight ones looks less likely than it is.
        """
        likelihood = 1.0
        for name, (mean, deviation) in self.moments.items():
            if deviation:
                likelihood *= (1 + erf((have[name] - mean) / deviation / sqrt(2))) / 2
            elif mean > have[name]:
                return 0.0
        return likelihood

    def told(self, have: Mapping[str, int]) -> float:
        """Return the likelihood to four digits, rounded down, and no higher than builds can show (`MOST_TOLD`)."""
        sure = not any(deviation for _, deviation in self.moments.values())
        return min(floor(self.likelihood(have) * 1e4) / 1e4, 1.0 if sure else MOST_TOLD)

    def supply(self, least: Resources, confidence: float) -> Resources:
        """Return what a rectangle must hold so that all fits with a probability, of each resource at least ``least``.

        Each resource gets equally many standard deviations above its mean, unless it has more than these already: by
        ``least``, or, of flip-flops, because a rectangle holds at least `FF_PER_LUT` beside each LUT.
        """
        floors = least.as_dict()

        def at(deviations: float) -> dict[str, int]:
            wanted = {name: ceil(mean + deviations * by - _ROUNDING) for name, (mean, by) in self.moments.items()}
            return {name: max(floor_, wanted.get(name, 0)) for name, floor_ in floors.items()}

        def holds(supply: dict[str, int]) -> bool:
            return self.likelihood({**supply, "FF": max(supply["FF"], FF_PER_LUT * supply["LUT"])}) >= confidence

        if holds(floors):
            return least
        return Resources.from_dict(at(self._least_deviations(lambda deviations: holds(at(deviations)), confidence)))

    def needs(self, have: Mapping[str, int], confidence: float) -> dict[str, float]:
        """Return what would have to be there for all to fit with a probability; at least for each resource alone.

        What there is too little of has equally many standard deviations above its mean.
        """

        def at(deviations: float) -> dict[str, float]:
            return {name: mean + deviations * by for name, (mean, by) in self.moments.items()}

        def holds(deviations: float) -> bool:
            return (
                self.likelihood({name: max(have[name], ceil(need)) for name, need in at(deviations).items()})
                >= confidence
            )

        return at(max(NormalDist().inv_cdf(confidence), self._least_deviations(holds, confidence)))

    def _least_deviations(self, holds: Callable[[float], bool], confidence: float) -> float:
        """Return the fewest standard deviations above the means with which something holds that more of them give."""
        # All fit at least so likely if each alone fails so seldom.
        low, high = _FEWEST, NormalDist().inv_cdf(1 - (1 - confidence) / len(self.moments))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high


def deviation_of(band: Band) -> float:
    """Return the standard deviation of the factor of a kind."""
    return (band[1] - band[0]) / 2 / _TENTH


def uncertain_sum(
    use: Mapping[str, Resources], band_of: BandOf, counted: Collection[str] = RESOURCE_NAMES
) -> UncertainSum:
    """Return what a sum may turn out to be, of the resources that count.

    ``use`` holds the estimates by kind. Engines of one kind err alike, as one factor; kinds err independently; a
    kind's factor is normal with its band as tenths.
    """
    return UncertainSum({name: moments(use, name, band_of) for name in RESOURCE_NAMES if name in counted})


def spread(use: Mapping[str, Resources], band_of: BandOf) -> tuple[Resources, Resources]:
    """Return the band of a sum, under the assumptions of `uncertain_sum`: a tenth of sums lies below, one above."""
    sums = uncertain_sum(use, band_of).moments.values()
    low = (max(0, floor(mean - _TENTH * deviation + _ROUNDING)) for mean, deviation in sums)
    high = (ceil(mean + _TENTH * deviation - _ROUNDING) for mean, deviation in sums)
    return Resources(*low), Resources(*high)


def fit_likelihood(use: Mapping[str, Resources], available: Resources, band_of: BandOf) -> float:
    """Return the probability that no resource needs more than is available."""
    return uncertain_sum(use, band_of).likelihood(available.as_dict())


def estimate_of(use: Mapping[str, Resources]) -> Resources:
    """Return the sum of the estimates, which what another version may do is no part of."""
    return total(held for kind, held in use.items() if kind not in {LESS, MORE})


def moments(use: Mapping[str, Resources], resource: str, band_of: BandOf) -> tuple[float, float]:
    """Return mean and standard deviation of a sum."""
    mean = variance = 0.0
    for kind, estimate in sorted(use.items()):
        amount = estimate.as_dict()[resource]
        low, high = _DECIDED[kind] if kind in _DECIDED else band_of(kind, resource)
        mean += amount * (low + high) / 2
        variance += (amount * (high - low) / 2 / _TENTH) ** 2
    return mean, sqrt(variance)
