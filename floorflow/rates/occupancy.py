"""The most words that lie in a FIFO under a periodic schedule: the least depth that keeps it.

With W(t) words written until t and F(t) places freed, a FIFO whose places can be taken ``place_cycles`` after they
were freed holds W(t) - F(t - place_cycles) at t. While one burst writes and one frees, evenly, that never falls or
never rises from one word written to the next. So the most is found when a burst writes its first or last word, or just
before a burst frees its first place: what was freed by then is known.
"""

from __future__ import annotations

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
