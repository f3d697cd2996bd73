"""Precedences: what a FIFO demands of the bursts at its two ends, as difference constraints.

With T(s) = x + s for step s of a frame (x is constant inside a burst and grows by the waits between bursts), a burst
that reads what another wrote gives x[head] >= x[tail] + weight. Inside a pair of bursts both ends move words evenly, so
the largest demand of the pair is at the first or last word that they share: one row for each pair, not for each word.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.rates.problem import Ints
from floorflow.rates.words import Words


@dataclass(frozen=True, eq=False)
class Precedences:
    """Rows x[head burst] >= x[tail burst] + weight - frames * period between two actors; arrays are (rows,)."""

    tail: int
    head: int
    tail_bursts: Ints
    head_bursts: Ints
    weights: Ints
    frames: int

    @cached_property
    def _by_head(self) -> tuple[Ints, Ints]:
        return _groups(self.head_bursts)

    @cached_property
    def _by_tail(self) -> tuple[Ints, Ints]:
        return _groups(self.tail_bursts)

    def at_heads(self, tail: Ints) -> tuple[Ints, Ints]:
        """Return the head's bursts and the least x of each within a frame, from the x of the tail's bursts."""
        starts, bursts = self._by_head
        return bursts, np.maximum.reduceat(tail[self.tail_bursts] + self.weights, starts)

    def at_tails(self, head: Ints) -> tuple[Ints, Ints]:
        """Return the tail's bursts and the least -x of each within a frame, from the -x of the head's bursts."""
        starts, bursts = self._by_tail
        return bursts, np.maximum.reduceat(head[self.head_bursts] + self.weights, starts)


def _groups(bursts: Ints) -> tuple[Ints, Ints]:
    """Return the first row of each burst, and those bursts."""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(bursts)) + 1))
    return starts, bursts[starts]


def _between(tail: Words, head: Words, low: int, high: int, shift: int) -> tuple[Ints, ...]:
    """Pair the bursts of head words low..high with those of tail words ``shift`` below, and find each pair's demand."""
    head_bounds, tail_bounds = head.bounds, tail.bounds + shift
    inner = np.sort(np.concatenate((
        head_bounds[np.searchsorted(head_bounds, low, "right") : np.searchsorted(head_bounds, high, "left")],
        tail_bounds[np.searchsorted(tail_bounds, low, "right") : np.searchsorted(tail_bounds, high, "left")],
        [low],
    )))  # fmt: skip
    # Each bound once; np.unique hashes, which takes longer.
    begin = inner[np.diff(inner, prepend=-1) > 0]
    end = np.concatenate((begin[1:], [high])) - 1
    head_bursts, tail_bursts = head.burst_of(begin), tail.burst_of(begin - shift)
    demands = [tail.step_of(j - shift, tail_bursts) - head.step_of(j, head_bursts) for j in (begin, end)]
    return tail_bursts, head_bursts, np.maximum(*demands)


def data_precedences(ends: tuple[int, int], written: Words, needed: Words, latency_cycles: int) -> Precedences:
    """Say that a word is read ``latency_cycles`` after it was written at the earliest."""
    tails, heads, demand = _between(written, needed, 0, written.total, 0)
    return Precedences(ends[0], ends[1], tails, heads, demand + latency_cycles, 0)


def space_precedences(
    ends: tuple[int, int], written: Words, freed: Words, depth_words: int, place_cycles: int
) -> tuple[Precedences, ...]:
    """Say that a word is written ``place_cycles`` after the place of the word ``depth_words`` before it was freed."""
    words = written.total
    frames, back = divmod(depth_words, words)
    spans = [(back, words, back, frames)] + ([(0, back, back - words, frames + 1)] if back else [])
    rows = []
    for low, high, shift, frames_back in spans:
        tails, heads, demand = _between(freed, written, low, high, shift)
        rows.append(Precedences(ends[1], ends[0], tails, heads, demand + place_cycles, frames_back))
    return tuple(rows)
