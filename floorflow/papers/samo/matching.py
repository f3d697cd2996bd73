"""Carry a changed folding on to the neighbours that could no longer be joined: SAMO's folding matching (eq. 10)."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE, Coupling
from floorflow.folding.selection import Evaluator

Array = NDArray[np.int64]


def matched(
    evaluator: Evaluator, rows: Sequence[Array], selection: Sequence[int], group: int, row: int
) -> list[int] | None:
    """Return a selection with another row of one group, and of those around it that no hardware could join to it.

    Each takes of ``rows`` one that joins the one before it: one that parts it from fewest others, of these that whose
    cycles are nearest to those it had, and then the cheapest. None if one has none, or would change twice.
    """
    changed, waiting = {group: row}, [group]
    while waiting:
        here = waiting.pop(0)
        for coupling in evaluator.at(here):
            there = coupling.target if coupling.source == here else coupling.source
            if not _is_barred(coupling, here, changed[here], changed.get(there, selection[there])):
                continue
            if there in changed:
                return None
            joins = np.array([not _is_barred(coupling, here, changed[here], int(r)) for r in rows[there]], dtype=bool)
            if not joins.any():
                return None
            left = rows[there][joins]
            parted = np.array([_parted(evaluator, there, int(r), selection, changed) for r in left])
            cycles = evaluator.problem.groups[there].cycles
            off = np.abs(np.log(np.maximum(cycles[left], 1) / max(int(cycles[selection[there]]), 1)))
            cost = evaluator.cost(evaluator.alone[there][left])
            changed[there] = int(left[np.lexsort((left, cost, off, parted))[0]])
            waiting.append(there)
    return [changed.get(each, old) for each, old in enumerate(selection)]


def _parted(evaluator: Evaluator, group: int, row: int, selection: Sequence[int], changed: Mapping[int, int]) -> int:
    """Return how many streams a row of a group parts from what is at their other ends by now."""
    ends = ((c, c.target if c.source == group else c.source) for c in evaluator.at(group))
    return sum(_is_barred(c, group, row, changed.get(other, selection[other])) for c, other in ends)


def _is_barred(coupling: Coupling, here: int, own: int, other: int) -> bool:
    source, target = (own, other) if coupling.source == here else (other, own)
    return bool((coupling.use[coupling.source_class[source], coupling.target_class[target]] >= UNBUILDABLE).any())
