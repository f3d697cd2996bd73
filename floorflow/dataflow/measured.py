"""What was measured of engines: it replaces estimates at the folding that was built, and corrects others of the kind.

A measurement says nothing of other foldings of its engine: they keep their estimates. But where enough engines of a
kind were measured, the kind's usual ratio of measured to estimated LUTs and flip-flops corrects every estimate of that
kind; memory blocks and DSPs follow from shapes and are left alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import median

from floorflow.dataflow.model import Attributes, Dataflow, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.resources import RESOURCE_NAMES, Resources

CORRECTED = ("LUT", "FF")
"""Resources whose estimates are corrected by kind."""
ENOUGH = 5
"""Measured engines of a kind from which on its ratio is believed."""

Factors = Mapping[str, Mapping[str, float]]
"""Factor on the estimate, by kind and resource."""


@dataclass(frozen=True)
class MeasuredEngine:
    """What one engine took on the chip, folded as it was built; ``kind`` is the option's."""

    folding: Attributes
    resources: Resources
    kind: str = ""

    def is_of(self, option: Option) -> bool:
        """Whether an option is the folding that was built; styles that stay with the engine it may leave out."""
        same = all(self.folding.get(name) == value for name, value in option.folding.items())
        return same and option.kind == self.kind


@dataclass(frozen=True)
class Measurements:
    """Everything measured in a build: ``engines`` by name, ``factors`` by kind, ``reports`` with their sha256."""

    engines: Mapping[str, MeasuredEngine] = field(default_factory=dict)
    factors: Factors = field(default_factory=dict)
    reports: Mapping[str, str] = field(default_factory=dict)

    def repriced(self, dataflow: Dataflow, groups: Iterable[OptionGroup]) -> tuple[OptionGroup, ...]:
        """Return the groups with measured and corrected resources; their rows stay the same foldings."""
        kinds = {engine.name: engine.kind for engine in dataflow.engines}
        return tuple(self._group(group, kinds) for group in groups)

    def _group(self, group: OptionGroup, kinds: Mapping[str, str]) -> OptionGroup:
        if not self.factors and not any(name in self.engines for name in group.engines):
            return group
        rows = tuple(
            tuple(self._option(name, kinds[name], option) for name, option in zip(group.engines, row, strict=True))
            for row in group.rows
        )
        return OptionGroup(group.engines, rows)

    def _option(self, name: str, kind: str, option: Option) -> Option:
        measured = self.engines.get(name)
        if measured is not None and measured.is_of(option):
            return replace(option, resources=measured.resources)
        return replace(option, resources=corrected(option.resources, self.factors.get(option.kind or kind, {})))

    def renamed(self, names: Mapping[str, str]) -> "Measurements":
        """Return the same with other names of the engines."""
        return replace(self, engines={names[name]: measured for name, measured in self.engines.items()})

    def among(self, options: Mapping[str, Option]) -> frozenset[str]:
        """Return the engines whose chosen option is the one that was built."""
        return frozenset(name for name, measured in self.engines.items() if measured.is_of(options[name]))


NO_MEASUREMENTS = Measurements()


def corrected(estimate: Resources, factors: Mapping[str, float]) -> Resources:
    """Return an estimate times the factors of its kind, rounded up."""
    amounts = estimate.as_dict()
    return Resources.from_dict({name: ceil(amounts[name] * factors.get(name, 1.0) - 1e-9) for name in RESOURCE_NAMES})


def factors_of(
    pairs: Mapping[str, Sequence[tuple[Resources, Resources]]], enough: int = ENOUGH
) -> dict[str, dict[str, float]]:
    """Return the median of measured over estimated by kind, of kinds with enough pairs (estimate, measured).

    The median, because single engines miss by far (constants that Vivado folds away). A pair counts only if its memory
    blocks and DSPs are those that were estimated: else logic went into blocks or out of them, and the ratio of its LUTs
    tells of that. An amount of 0 on either side tells no ratio.
    """
    factors: dict[str, dict[str, float]] = {}
    for kind, known in sorted(pairs.items()):
        alike = [(estimate.as_dict(), own.as_dict()) for estimate, own in known if _blocks(estimate) == _blocks(own)]
        for name in CORRECTED:
            ratios = [own[name] / estimate[name] for estimate, own in alike if estimate[name] and own[name]]
            if len(ratios) >= enough:
                factors.setdefault(kind, {})[name] = round(median(ratios), 4)
    return factors


def _blocks(use: Resources) -> tuple[int, int, int]:
    return use.bram18, use.uram, use.dsp
