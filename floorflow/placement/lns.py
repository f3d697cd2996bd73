"""Take a few modules out of a layout and put them back better, many times.

A large-neighbourhood search on candidate rectangles. The numbers of rounds are fixed, so that a seed gives one answer.
"""

from dataclasses import dataclass

import numpy as np

from floorflow.placement.layout import Layout, Occupied, SearchSpace, box_at, first_free, keys_of, twice_hpwl

GROUPS = (2, 3, 4, 5, 6, 8)
"""How many modules are taken out at once, each number as often as it stands here."""

HEAT = 0.02
"""Share of the wirelength by which it may first rise, every third time."""


def improve(space: SearchSpace, start: Layout, rounds: int, rng: np.random.Generator) -> Layout:
    """Take two to eight modules out and put them back, ``rounds`` times; return the best layout met.

    A worse layout is accepted now and then, ever more rarely (a temperature that falls from 2% of the wirelength).
    """
    best, lowest = start, twice_hpwl(start, space.nets)
    cost, current = lowest, _Trial.of(Occupied.by(space, start.copy()))
    chances = rng.random(rounds)
    for step in range(rounds):
        trial = current.reinserted(_neighbourhood(space, current.occupied.layout, rng), rng)
        if trial is None:
            continue
        new = twice_hpwl(trial.occupied.layout, space.nets)
        temperature = HEAT * lowest * (1 - step / rounds) ** 2
        if new <= cost - temperature * np.log(max(chances[step], 1e-12)):
            current, cost = trial, new
        if new < lowest:
            best, lowest = trial.occupied.layout, new
    return best


def _neighbourhood(space: SearchSpace, layout: Layout, rng: np.random.Generator) -> list[int]:
    """Choose a module and one to seven more that are wired to it or lie near it."""
    count = min(GROUPS[int(rng.integers(len(GROUPS)))], space.count)
    seed = int(rng.integers(space.count))
    if rng.random() < 0.6:
        affinity = space.bits[seed]
    else:
        centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
        affinity = -np.abs(centres - centres[seed]).sum(axis=1)
    score = affinity + rng.random(space.count) * (abs(int(affinity.sum())) / space.count + 1)
    score[seed] = np.inf
    chosen: list[int] = np.argsort(-score)[:count].tolist()
    return chosen


@dataclass
class _Trial:
    """A layout, and ``held`` (n,): which candidate each module has, -1 if it is none of them."""

    occupied: Occupied
    held: list[int]

    @classmethod
    def of(cls, occupied: Occupied) -> "_Trial":
        """Find the candidates that a layout has."""
        pairs = zip(occupied.space.candidates, occupied.layout.boxes, strict=True)
        return cls(occupied, [candidates.index_of(box) for candidates, box in pairs])

    def reinserted(self, modules: list[int], rng: np.random.Generator) -> "_Trial | None":
        """Put modules anew in random order under slightly distorted weights; None if one fits nowhere."""
        space, occupied, held = self.occupied.space, self.occupied.copy(), self.held.copy()
        for module in modules:
            occupied.take_out(module)
        rng.shuffle(modules)
        weights = space.bits[modules]
        if len(modules) > 1 or rng.random() < 0.3:
            weights = (weights * (1 + 0.4 * rng.random(weights.shape))).astype(np.int64)
        for module, bits in zip(modules, weights, strict=True):
            best = first_free(occupied, module, keys_of(space, occupied.layout, module, bits), held[module])
            if best is None:
                return None
            occupied.put(module, box_at(space.candidates[module], best))
            held[module] = best
        return _Trial(occupied, held)
