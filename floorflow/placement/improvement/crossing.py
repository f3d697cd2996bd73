"""The best layout that several give when each slot may follow another of them: luck in one slot is kept for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from floorflow.placement.layouts.layout import Layout, SearchSpace


def apart(space: SearchSpace) -> list[list[int]]:
    """Return the groups of modules of which no one can meet one of another group."""
    waiting, groups = set(range(space.count)), []
    while waiting:
        group = [min(waiting)]
        waiting -= set(group)
        for module in group:
            met = [other for other in sorted(waiting) if space.may_overlap[module, other]]
            group += met
            waiting -= set(met)
        groups.append(sorted(group))
    return groups


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
