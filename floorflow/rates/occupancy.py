"""The most words that lie in a FIFO under a periodic schedule: the least depth that keeps it.

With W(t) words written until t and F(t) places freed, a FIFO whose places can be taken ``place_cycles`` after they
were freed holds W(t) - F(t - place_cycles) at t. While one burst writes and one frees, evenly, that never falls or
never rises from one word written to the next. So the most is found when a burst writes its first or last word, or just
before a burst frees its first place: what was freed by then is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from floorflow.rates.problem import Ints
from floorflow.rates.words import Words


def most_words(written: Words, freed: Words, waits: tuple[Ints, Ints], place_cycles: int, period: int) -> int:
    """Return the most places taken at once; ``waits`` are those of the writer and of the reader, by burst."""
    marks, ends = written.moving.marks, freed.moving
    writes, reads = waits
    gone = ends.moved_until(reads, writes[marks.bursts] + (marks.steps - place_cycles), period)
    before = reads[ends.bursts] + (ends.first + (place_cycles - 1))
    filled = written.moving.moved_until(writes, before, period)
    return int(max((marks.numbers - gone).max(), (filled - ends.before).max()))


def most_words_seen(
    written: Words, freed: Words, waits: Sequence[tuple[Ints, Ints]], pipeline_cycles: int, return_cycles: int
) -> int:
    """Return the same of frames that were run one by one; ``waits`` are those of writer and reader in each frame.

    A place counts from ``pipeline_cycles`` after its word was sent until ``return_cycles`` after it was freed.
    """
    entered = np.sort(np.concatenate([written.times(writer) for writer, _ in waits])) + pipeline_cycles
    left = np.sort(np.concatenate([freed.times(reader) for _, reader in waits])) + return_cycles
    return int((np.arange(1, entered.size + 1) - np.searchsorted(left, entered, side="right")).max())
