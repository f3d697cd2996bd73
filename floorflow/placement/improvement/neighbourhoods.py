"""Choice of the modules that annealing takes out together, and of the order in which they are put back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np
import numpy.typing as npt

from floorflow.placement.layouts.layout import SearchSpace

Floats = npt.NDArray[np.float64]

GROUPS = (1, 2, 2, 3, 3, 4, 5, 6, 8)
"""How many modules are taken out at once, each number as often as it stands here."""


@dataclass(eq=False)
class Neighbourhoods:
    """Such choices in one search space."""

    space: SearchSpace
    chance: Random
    rng: np.random.Generator

    def some(self, centres: Floats) -> list[int]:
        """Return a module and others: along its wires, or near it; half of the time loosely, so that all may meet.

        ``centres`` (n or more, 2) are those of all modules.
        """
        chance, modules = self.chance, self.space.count
        count, module = min(GROUPS[chance.randrange(len(GROUPS))], modules), chance.randrange(modules)
        if count == 1:
            return [module]
        kind = chance.random()
        chosen = self._along_wires(module, count) if kind < 0.25 else self._alike(centres, module, count, kind)
        chance.shuffle(chosen)
        return chosen

    def large_first(self, modules: list[int]) -> list[int]:
        """Return modules by the least area that they can have: what is large finds no room after the others."""
        return sorted(modules, key=self._sizes.__getitem__, reverse=True)

    @cached_property
    def _sizes(self) -> list[int]:
        return [candidates.least_area for candidates in self.space.candidates]

    @cached_property
    def _bits(self) -> Floats:
        return self.space.bits.astype(np.float64)

    @cached_property
    def _mean_bits(self) -> list[float]:
        return [float(mean) for mean in self._bits.mean(axis=1)]

    @cached_property
    def _wired(self) -> list[tuple[list[int], list[int]]]:
        return [(others.tolist(), self.space.bits[m][others].tolist()) for m, others in enumerate(self.space.wired)]

    def _along_wires(self, module: int, count: int) -> list[int]:
        chosen, chance = [module], self.chance
        for _ in range(3 * count):
            others, bits = self._wired[chosen[chance.randrange(len(chosen))]]
            if others:
                (other,) = chance.choices(others, bits)
                if other not in chosen:
                    chosen.append(other)
                    if len(chosen) == count:
                        break
        return chosen

    def _alike(self, centres: Floats, module: int, count: int, kind: float) -> list[int]:
        """Return modules by their wires to one, or by nearness, under noise of the size of a mean."""
        if kind < 0.6:
            merit = self._bits[module] + (self._mean_bits[module] + 1) * self.rng.random(self.space.count)
        else:
            places = centres[: self.space.count]
            merit = -np.abs(places - places[module]).sum(axis=1)
            merit *= self.rng.random(self.space.count) + (1.0 if kind < 0.8 else 0.2)
        merit[module] = np.inf
        chosen: list[int] = merit.argpartition(-count)[-count:].tolist()
        return chosen
