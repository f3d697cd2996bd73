"""Improve an assignment by solving, one after another, the modules of a few neighbouring slots exactly."""

from __future__ import annotations

from floorflow.partition.arrays import Integers, Tables
from floorflow.partition.exact import run
from floorflow.partition.fm import Neighbourhood
from floorflow.partition.model import build
from floorflow.partition.problem import PartitionProblem

_WINDOW_LIMIT = 0.05
"""Deterministic time units for one window."""

_WINDOW_COST = 0.01
"""Charged for every window, so that many easy ones end too."""

_MOST_SLOTS = 4


def improve_windows(problem: PartitionProblem, tables: Tables, place: Integers, seed: int, limit: float) -> Integers:
    """Return the best assignment found within about ``limit`` deterministic time units; never a worse one.

    Windows of few slots come first; a window is solved again once one of its slots has changed.
    """
    around, windows = Neighbourhood(tables), _windows(problem)
    key = around.key(place)
    stale: set[frozenset[int]] = set()
    while limit > 0:
        window = next((w for w in windows if w not in stale), None)
        if window is None:
            break
        stale.add(window)
        model = build(problem, tables, [window if slot in window else frozenset([slot]) for slot in place.tolist()])
        model.cp.minimize(model.cost)
        outcome = run(model, place, seed, _WINDOW_LIMIT)
        limit -= outcome.work + _WINDOW_COST
        if outcome.place is not None and (reached := around.key(outcome.place)) < key:
            moved = {int(slot) for slot in (*place[place != outcome.place], *outcome.place[place != outcome.place])}
            place, key = outcome.place, reached
            stale = {other for other in stale if not other & moved or other == window}
    return place


def _windows(problem: PartitionProblem) -> list[frozenset[int]]:
    """Return connected sets of 2 slots, then 3, then 4."""
    pairs = [frozenset((edge.a, edge.b)) for edge in problem.edges]
    found, level = list(pairs), pairs
    for _ in range(_MOST_SLOTS - 2):
        level = list(dict.fromkeys(window | pair for window in level for pair in pairs if len(window & pair) == 1))
        found += level
    return found
