"""Intervals side by side on a line, in a given order, as near as can be to where each wants to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class _Block:
    """So many neighbours that touch, and so share one offset: (wish, weight) of all, ascending."""

    count: int
    wishes: tuple[tuple[int, int], ...]

    @property
    def offset(self) -> int:
        """The lower weighted median, the least sum of weighted distances."""
        half = sum(weight for _, weight in self.wishes) / 2
        sums = accumulate(weight for _, weight in self.wishes)
        return next(wish for (wish, _), held in zip(self.wishes, sums, strict=True) if held >= half)


def spread(
    middles2: Sequence[int], lengths: Sequence[int], weights: Sequence[int], first: int, last: int
) -> tuple[int, ...]:
    """Return the start of each interval inside ``first..last``, in order and without overlap.

    ``middles2`` are twice the middles that are wished for, ``lengths`` and ``weights`` positive; lengths must fit. The
    sum of weight times distance from the wish is least: isotonic regression by its medians (pool adjacent violators),
    for starts less what stands before them must not fall; limits cut what leaves them.

    Raises
    ------
    ValueError
        If the intervals are longer together than the line.

    """
    room = last - first + 1 - sum(lengths)
    if room < 0:
        raise ValueError(f"{sum(lengths)} do not fit into {first}..{last}")
    before = [0, *accumulate(lengths)][: len(lengths)]
    blocks: list[_Block] = []
    for middle2, length, weight, passed in zip(middles2, lengths, weights, before, strict=True):
        twice = middle2 - length + 1 - 2 * passed
        # A wish between two places is half a wish for each: on whole places the distances are the same.
        block = _Block(1, ((twice // 2, weight), (-(-twice // 2), weight)))
        while blocks and blocks[-1].offset > block.offset:
            last_block = blocks.pop()
            block = _Block(last_block.count + block.count, tuple(sorted((*last_block.wishes, *block.wishes))))
        blocks.append(block)
    offsets = [block.offset for block in blocks for _ in range(block.count)]
    return tuple(min(max(offset, first), first + room) + passed for offset, passed in zip(offsets, before, strict=True))
