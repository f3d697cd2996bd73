"""The folding problem and its answers, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Option
from floorflow.errors import InfeasibleError
from floorflow.resources import RESOURCE_NAMES, Resources, largest_share, shortfall
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class EngineOptions:
    """An engine's name and its legal foldings."""

    name: str
    options: tuple[Option, ...]

    @cached_property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each option, (n_options,)."""
        return np.array([option.cycles for option in self.options], dtype=np.int64)

    @cached_property
    def use(self) -> NDArray[np.int64]:
        """Resources of each option in the order of RESOURCE_NAMES, (n_options, 5)."""
        return np.array([option.resources.as_tuple() for option in self.options], dtype=np.int64)


@dataclass(frozen=True)
class FoldingProblem:
    """Engines with their options, the resources they share, and the silicon that weighs scarcity.

    ``budget`` bounds the sum over engines (the platform's summed slot limits less what channels need);
    ``silicon`` holds the platform's raw totals.
    """

    engines: tuple[EngineOptions, ...]
    budget: Resources
    silicon: Resources

    def with_budget(self, budget: Resources) -> FoldingProblem:
        """Return the same problem under another budget."""
        return replace(self, budget=budget)

    def intervals(self) -> tuple[int, ...]:
        """Return every initiation interval that can be the pipeline's, ascending."""
        floor = max(int(engine.cycles.min()) for engine in self.engines)
        cycles = np.unique(np.concatenate([engine.cycles for engine in self.engines]))
        return tuple(int(value) for value in cycles if value >= floor)

    def scarcity_weights(self) -> tuple[NDArray[np.int64], int]:
        """Return integer weights a unit of each resource and the scale they are multiplied by.

        Scarcity is a sum of fractions of LUT, BRAM18, URAM and DSP totals; over their least common multiple it is
        an exact integer, so that solvers need no rounding.
        """
        totals = self.silicon.as_tuple()
        counted = [have if have and name != "FF" else 0 for name, have in zip(RESOURCE_NAMES, totals, strict=True)]
        scale = lcm(*(have for have in counted if have))
        return np.array([scale // have if have else 0 for have in counted], dtype=np.int64), scale


@dataclass(frozen=True)
class FoldingSolution:
    """One option an engine; ``stats.objective`` is the scarcity of their sum."""

    options: Mapping[str, Option]
    interval_cycles: int
    resources: Resources
    stats: SolveStats


@dataclass(frozen=True)
class FoldingInfeasible:
    """Proof that no choice of options meets interval and budget.

    ``resource`` is the first whose least possible sum already exceeds the budget, with that ``need`` and
    ``limit``; None if only the combination of several resources is impossible.
    """

    resource: str | None
    need: int = 0
    limit: int = 0

    def __str__(self) -> str:
        if self.resource is None:
            return "no choice of foldings meets all resource limits together"
        return f"{self.resource}: at least {self.need:,} needed, {self.limit:,} allowed"


def fitting_options(
    engine: EngineOptions, places: Sequence[tuple[str, Resources]], interval_cap: int | None = None
) -> EngineOptions:
    """Keep the options that fit some place alone and meet ``interval_cap``.

    ``places`` are slot names and what a single engine may have there: the slot's limit and its largest pblock.

    Raises
    ------
    InfeasibleError
        If none does: the engine, its scarcest resource, need and limit are named.

    """
    fast = tuple(o for o in engine.options if interval_cap is None or o.cycles <= interval_cap)
    if not fast:
        quickest = min(option.cycles for option in engine.options)
        raise InfeasibleError(
            f"proven infeasible: engine {engine.name} needs {quickest:,} cycles a frame at its widest folding, "
            f"but the requested rate allows {interval_cap:,}",
            hint="ask for a lower --fps or a higher --clock-mhz",
        )
    kept = tuple(o for o in fast if any(o.resources.fits(limit) for _, limit in places))
    if not kept:
        raise _fits_no_slot(engine.name, fast, places)
    return EngineOptions(engine.name, kept)


def _fits_no_slot(name: str, options: Sequence[Option], places: Sequence[tuple[str, Resources]]) -> InfeasibleError:
    """Name the slot and option that come closest, and the resource in which they still miss."""

    def excess(pair: tuple[Option, tuple[str, Resources]]) -> float:
        return largest_share(pair[0].resources, pair[1][1])

    option, (slot, limit) = min(((o, place) for o in options for place in places), key=excess)
    missing = shortfall(option.resources, limit)
    needs, limits = option.resources.as_dict(), limit.as_dict()
    resource = max(missing, key=lambda r: missing[r] / max(1, limits[r]))
    return InfeasibleError(
        f"proven infeasible: engine {name} fits no slot: it needs at least {needs[resource]:,} {resource}, "
        f"the limit of the roomiest slot ({slot}) is {limits[resource]:,} ({missing[resource]:,} short)",
        hint=f"raise the cap (--cap {resource}=...), choose a larger platform or a narrower network",
    )
