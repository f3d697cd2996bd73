"""Carry a changed folding on to the neighbours that could no longer be joined: SAMO's folding matching (eq. 10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE, Coupling
from floorflow.folding.selection import Evaluator

Array = NDArray[np.int64]


def matched(
    evaluator: Evaluator, rows: Sequence[Array], selection: Sequence[int], group: int, row: int
) -> list[int] | None:
    """Return a selection with another row of one group, and of those around it that no hardware could join to it.

    Each takes the cheapest of ``rows`` that joins the one before it; None if one has none, or would change twice.
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
            changed[there] = int(left[np.lexsort((left, evaluator.cost(evaluator.alone[there][left])))[0]])
            waiting.append(there)
    return [changed.get(each, old) for each, old in enumerate(selection)]


def _is_barred(coupling: Coupling, here: int, own: int, other: int) -> bool:
    source, target = (own, other) if coupling.source == here else (other, own)
    return bool((coupling.use[coupling.source_class[source], coupling.target_class[target]] >= UNBUILDABLE).any())
