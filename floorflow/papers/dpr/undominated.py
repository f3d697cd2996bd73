"""Options that no other is better than: fewer cycles or less of some resource than any other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from floorflow.papers.dpr.problem import Ints

BLOCK = 256
STRONGEST = 48


def undominated(rows: Ints) -> NDArray[np.int64]:
    """Return the numbers of rows (n, d) of which no other is as small in every column; the first of equal ones."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    if len(ordered) > 1:
        new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        order, ordered = order[new], ordered[new]
    # Sorted by the first column and then the next, only earlier rows can dominate: the first column is settled.
    columns = ordered[:, [column for column in range(1, rows.shape[1]) if np.ptp(ordered[:, column])]]
    if columns.shape[1] < 2:
        return order[_falling(columns)]
    small = columns.sum(axis=1) if not len(columns) else (columns / np.maximum(1, columns.max(axis=0))).sum(axis=1)
    kept, merit, numbers = columns[:0], small[:0], []
    for start in range(0, len(ordered), BLOCK):
        at = np.arange(start, min(start + BLOCK, len(ordered)))
        # Those that are small in all columns dominate the most: they are tried first.
        strong = np.argsort(merit, kind="stable")[:STRONGEST]
        at = at[~_dominated(columns[at], kept[strong])]
        at = at[~_dominated(columns[at], kept)]
        at = at[~_among(columns[at])]
        kept, merit = np.concatenate([kept, columns[at]]), np.concatenate([merit, small[at]])
        numbers.append(order[at])
    return np.concatenate(numbers) if numbers else order


def _falling(columns: Ints) -> NDArray[np.bool_]:
    """Mark the rows whose only other column is below that of all earlier ones."""
    keep = np.zeros(len(columns), dtype=np.bool_)
    if len(columns):
        keep[0] = True
    if columns.shape[1]:
        keep[1:] = columns[1:, 0] < np.minimum.accumulate(columns[:-1, 0])
    return keep


def _dominated(block: Ints, kept: Ints) -> NDArray[np.bool_]:
    """Mark the rows of a block that a kept one is no larger than."""
    if not len(kept) or not len(block):
        return np.zeros(len(block), dtype=np.bool_)
    below = kept[None, :, 0] <= block[:, None, 0]
    for column in range(1, block.shape[1]):
        below &= kept[None, :, column] <= block[:, None, column]
    return np.asarray(below.any(axis=1))


def _among(block: Ints) -> NDArray[np.bool_]:
    """Mark the rows of a block that an earlier one of it is no larger than."""
    below = np.tri(len(block), k=-1, dtype=np.bool_)
    for column in range(block.shape[1]):
        below &= block[None, :, column] <= block[:, None, column]
    return np.asarray(below.any(axis=1))
