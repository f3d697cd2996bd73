"""When a layer's engine reads and writes: row by row of its input, evenly within a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from floorflow.rates import Actor, moves
from floorflow.rates.problem import Moves

Ints = NDArray[np.int64]


def rows_written(rows_in: int, rows_out: int, window: tuple[int, int, int]) -> Ints:
    """Return how many output rows end with each input row, (rows_in,); ``window``: kernel, stride and padding above."""
    kernel, stride, above = window
    last = np.minimum(np.arange(rows_out) * stride - above + kernel - 1, rows_in - 1)
    return np.asarray(np.bincount(np.maximum(last, 0), minlength=rows_in), dtype=np.int64)


def by_rows(name: str, cycles: int, words: tuple[tuple[int, ...], tuple[int, ...]], written: Ints) -> Actor:
    """Return the actor of an engine that takes ``cycles`` a frame, spread over its input rows.

    ``words``: a frame at each input and output port. A row takes longer where its words need it.
    """
    inputs, outputs = words
    rows = len(written)
    bounds = cycles * np.arange(rows + 1) // rows
    reads = [_split(count, np.ones(rows, dtype=np.int64)) for count in inputs]
    writes = [_split(count, written) for count in outputs]
    steps = np.max([np.diff(bounds), np.ones(rows, dtype=np.int64), *reads, *writes], axis=0)
    return Actor(
        name,
        steps,
        tuple(moves(each, 0, steps // np.maximum(each, 1)) for each in reads),
        tuple(_at_end(each, steps) for each in writes),
    )


def _split(words: int, weights: Ints) -> Ints:
    """Return words by rows in proportion to weights."""
    return np.asarray(np.diff(words * np.concatenate([[0], np.cumsum(weights)]) // weights.sum()), dtype=np.int64)


def _at_end(counts: Ints, steps: Ints) -> Moves:
    stride = steps // np.maximum(counts, 1)
    return moves(counts, steps - 1 - np.maximum(counts - 1, 0) * stride, stride)
