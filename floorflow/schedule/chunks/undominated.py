"""Options that no other is better than: fewer cycles or less of some resource than any other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from floorflow.schedule.chunks.problem import Ints

BLOCK = 256


def undominated(rows: Ints) -> NDArray[np.int64]:
    """Return the numbers of rows (n, d) of which no other is as small in every column; the first of equal ones."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    if len(ordered) > 1:
        new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        order, ordered = order[new], ordered[new]
    kept = np.zeros((0, rows.shape[1]), dtype=rows.dtype)
    numbers = []
    # Sorted by the first column and then the next, only earlier rows can dominate.
    for start in range(0, len(ordered), BLOCK):
        block = ordered[start : start + BLOCK]
        alive = ~_dominated(block, kept)
        block, at = block[alive], order[start : start + BLOCK][alive]
        better = (block[None, :, :] <= block[:, None, :]).all(axis=2)
        np.fill_diagonal(better, val=False)
        alone = ~better.any(axis=1)
        kept = np.concatenate([kept, block[alone]])
        numbers.append(at[alone])
    return np.concatenate(numbers) if numbers else order


def _dominated(block: Ints, kept: Ints) -> NDArray[np.bool_]:
    if not len(kept):
        return np.zeros(len(block), dtype=np.bool_)
    below = kept[None, :, 0] <= block[:, None, 0]
    for column in range(1, block.shape[1]):
        below &= kept[None, :, column] <= block[:, None, column]
    return np.asarray(below.any(axis=1))
