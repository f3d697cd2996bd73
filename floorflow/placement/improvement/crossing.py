"""The best layout that several give when each slot may follow another of them: luck in one slot is kept for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from floorflow.placement.layouts.layout import Layout


def crossed(groups: Sequence[Sequence[int]], layouts: Sequence[Layout], cost: Callable[[Layout], float]) -> Layout:
    """Return the cheapest layout met when groups, in turn, take over what costs less of another layout.

    It starts from each of the complete ``layouts`` and ends where no group can gain by following another.
    """
    return min((_descended(groups, start, layouts, cost) for start in layouts), key=cost)


def _descended(
    groups: Sequence[Sequence[int]], start: Layout, layouts: Sequence[Layout], cost: Callable[[Layout], float]
) -> Layout:
    layout, lowest, stuck = start, cost(start), False
    while not stuck:
        stuck = True
        for group in groups:
            for other in layouts:
                trial = layout.copy()
                trial.boxes[group] = other.boxes[group]
                new = cost(trial)
                if new < lowest:
                    layout, lowest, stuck = trial, new, False
    return layout
