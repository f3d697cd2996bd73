"""The words of a port by number, when they move under a schedule, and the most that lie in a FIFO then.

That is the least depth that keeps the schedule. With W(t) words written until t and F(t) places freed, a FIFO whose
places can be taken ``place_cycles`` after they were freed holds W(t) - F(t - place_cycles) at t. While one burst writes
and one frees, evenly, that never falls or never rises from one word written to the next. So the most is found when a
burst writes its first or last word, or just before a burst frees its first place: what was freed by then is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.rates.problem import Actor, Ints, Moves


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a port by number: word j of burst b moves at step ``first[b] + stride[b] * (j - bounds[b])``.

    ``bounds`` is (bursts + 1,); ``first`` counts from the start of the frame.
    """

    bounds: Ints
    first: Ints
    stride: Ints

    @classmethod
    def of(cls, actor: Actor, moves: Moves) -> "Words":
        """Return the words of a port with their numbers."""
        bounds = np.concatenate(([0], np.cumsum(moves.counts)))
        return cls(bounds, actor.begins + moves.first, moves.stride)

    @property
    def total(self) -> int:
        """Words a frame."""
        return int(self.bounds[-1])

    def burst_of(self, word: Ints) -> Ints:
        """Return the burst in which each word moves."""
        return np.searchsorted(self.bounds, word, side="right") - 1

    def step_of(self, word: Ints, burst: Ints) -> Ints:
        """Return the step at which each word moves."""
        moved: Ints = self.first[burst] + self.stride[burst] * (word - self.bounds[burst])
        return moved

    def times(self, waits: Ints) -> Ints:
        """Return when each word of a frame moves, (words,), with the waits of all bursts of the actor."""
        word = np.arange(self.total)
        burst = self.burst_of(word)
        moved: Ints = waits[burst] + self.step_of(word, burst)
        return moved

    def step_at(self, word: int) -> int:
        """Return the step at which a word moves; one past the last word never does."""
        if word >= self.total:
            return 1 << 60
        burst = int(np.searchsorted(self.bounds, word, side="right")) - 1
        return int(self.first[burst] + self.stride[burst] * (word - self.bounds[burst]))

    def before(self, step: int) -> int:
        """Return how many words of a frame move before a step."""
        reached = np.searchsorted(self.first, step, side="left")
        # Bursts that begin their words later add none; only the last one reached may be in the middle.
        last = int(reached) - 1
        if last < 0:
            return 0
        count, stride = int(self.bounds[last + 1] - self.bounds[last]), int(self.stride[last])
        inside = count if stride == 0 else min(count, -((int(self.first[last]) - step) // stride))
        return int(self.bounds[last]) + inside

    @cached_property
    def moving(self) -> "MovingBursts":
        """The bursts in which words move."""
        return MovingBursts.of(self)


@dataclass(frozen=True, eq=False)
class Marks:
    """The first and last word of each burst that moves any, in order of time; one word where they move at once.

    ``bursts`` are their bursts, ``steps`` their steps in the frame, ``numbers`` how many words have moved with them.
    """

    bursts: Ints
    steps: Ints
    numbers: Ints


@dataclass(frozen=True, eq=False)
class MovingBursts:
    """The bursts of a port that move words; arrays are (such bursts,).

    ``first`` is the step of a burst's first word in the frame; ``before`` and ``after`` are the words of the frame that
    have moved before and after the burst, ``begun`` those that have once its first step is done.
    """

    bursts: Ints
    first: Ints
    stride: Ints
    before: Ints
    begun: Ints
    after: Ints

    @classmethod
    def of(cls, words: Words) -> "MovingBursts":
        """Return those of a port."""
        counts = np.diff(words.bounds)
        bursts = np.flatnonzero(counts)
        stride, before, after = words.stride[bursts], words.bounds[bursts], words.bounds[bursts + 1]
        begun = np.where(stride > 0, before + 1, after)
        return cls(bursts, words.first[bursts], np.maximum(stride, 1), before, begun, after)

    @cached_property
    def at_once(self) -> bool:
        """Whether each burst moves its words in one step."""
        return bool((self.begun == self.after).all())

    @cached_property
    def steadily(self) -> bool:
        """Whether each burst moves a word every cycle."""
        return bool((self.stride == 1).all())

    @cached_property
    def marks(self) -> Marks:
        """The words at which a count of words that grow and shrink evenly can be highest."""
        several = self.begun < self.after
        pairs = np.repeat(np.arange(self.bursts.size), 1 + several)
        last = np.append(pairs[1:] != pairs[:-1], [True])
        lasting = self.stride * (self.after - self.begun)
        steps = self.first[pairs] + np.where(last, lasting[pairs], 0)
        return Marks(self.bursts[pairs], steps, np.where(last, self.after[pairs], self.begun[pairs]))

    def moved_until(self, waits: Ints, times: Ints, period: int) -> Ints:
        """Return how many words have moved up to and including each time, counted from the start of frame 0.

        ``waits`` are those of all bursts of the actor.
        """
        first = waits[self.bursts] + self.first
        frames = (times - first[0]) // period
        inside = times - frames * period
        place = first.searchsorted(inside, side="right") - 1
        moved: Ints = frames * self.after[-1]
        if self.at_once:
            moved += self.after[place]
            return moved
        spread = inside - first[place]
        if not self.steadily:
            spread //= self.stride[place]
        moved += np.minimum(spread + self.begun[place], self.after[place])
        return moved


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
