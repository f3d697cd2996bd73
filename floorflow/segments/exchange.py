"""Exchanges between spaces: parts moved or swapped, and both spaces folded anew, until all meet an interval.

Contiguous cuts are where to begin (`floorflow.segments.cuts`); what comes out may be any sets of parts. A space
that cannot meet an interval gives parts to a neighbour, or swaps one with it; if the neighbour then cannot either, it
gives some to its next, and so on. Moves are tried in the order of how full they leave the fuller space, by sums of
least use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from floorflow.segments.problems import Segment, Segments, Space
from floorflow.segments.table import SpaceTable

Parts = frozenset[int]
Assignment = tuple[Parts, ...]
Legal = Callable[[Assignment, int], bool]

LONGEST_RUN = 3
"""Parts that lie side by side in a space and are moved together."""
MOST_REFOLDINGS = 200
NEARLY_FULL = 0.99
"""Load from which a space most often has no folding."""


class Exchange:
    """Exchanges of an order's parts between ``spaces``.

    ``neighbours`` are pairs of spaces (default: each and the next). ``legal(parts, interval_cycles)`` says whether the
    parts may lie so: links and wires (default: always). At most ``most_refoldings`` are begun in one search.
    """

    def __init__(
        self,
        segments: Segments,
        spaces: Sequence[Space],
        table: SpaceTable,
        *,
        neighbours: Collection[tuple[int, int]] | None = None,
        legal: Legal | None = None,
        most_refoldings: int = MOST_REFOLDINGS,
    ) -> None:
        self.segments, self.spaces, self.table = segments, tuple(spaces), table
        pairs = pairwise(range(len(spaces))) if neighbours is None else neighbours
        self.beside: list[list[int]] = [[] for _ in spaces]
        for a, b in sorted({(min(pair), max(pair)) for pair in pairs}):
            self.beside[a].append(b)
            self.beside[b].append(a)
        self._legal, self._most = legal, most_refoldings
        self._refoldings = 0
        """Foldings asked for in the last search, known ones too."""
        self._streams = _streams(segments)

    def at(self, parts: Sequence[Collection[int]], interval_cycles: int) -> Assignment | None:
        """Return an assignment that meets an interval, found by exchanges from the given one; None if none was."""
        self._refoldings = 0
        return self._at(tuple(frozenset(each) for each in parts), interval_cycles)

    def _at(self, parts: Assignment, interval: int) -> Assignment | None:
        """Relieve one space after the other until all meet the interval; each that does goes on doing so."""
        while True:
            over = [space for space, each in enumerate(parts) if not self._meets(each, space, interval)]
            if not over:
                return parts if self._is_legal(parts, interval) else None
            relieved = next((found for s in over if (found := self._relieve(parts, s, interval, (s,)))), None)
            if relieved is None:
                return None
            parts = relieved

    def _relieve(self, parts: Assignment, space: int, interval: int, path: tuple[int, ...]) -> Assignment | None:
        """Return an assignment in which a space meets the interval, and those on the path from the first one too."""
        for other, given, taken in self._moves(parts, space, interval, path):
            if self._refoldings >= self._most:
                return None
            after = _moved(parts, space, other, given, taken)
            if not self._meets(after[space], space, interval):
                continue
            if self._meets(after[other], other, interval) or not self._meets(parts[other], other, interval):
                if self._is_legal(after, interval):
                    return after
                continue
            further = self._relieve(after, other, interval, (*path, other))
            if further is not None:
                return further
        return None

    def _moves(
        self, parts: Assignment, space: int, interval: int, path: tuple[int, ...]
    ) -> list[tuple[int, Parts, Parts]]:
        """Return what a space can give to a neighbour and take for it, so that it may meet the interval."""
        found = []
        ours = self._shares(space, interval)
        had = ours[:, sorted(parts[space])].sum(axis=1)
        for other in (each for each in self.beside[space] if each not in path):
            theirs = self._shares(other, interval)
            held = theirs[:, sorted(parts[other])].sum(axis=1)
            for given, taken in _exchanges(parts[space], parts[other]):
                out, into = sorted(given), sorted(taken)
                left = (had - ours[:, out].sum(axis=1) + ours[:, into].sum(axis=1)).max()
                full = max(left, (held - theirs[:, into].sum(axis=1) + theirs[:, out].sum(axis=1)).max())
                if left <= 1:
                    more = self._more_crossings(parts, space, other, given, taken)
                    found.append(((full > 1, full > NEARLY_FULL, more, full), other, out, into))
        return [(other, frozenset(out), frozenset(into)) for _, other, out, into in sorted(found)]

    def _more_crossings(self, parts: Assignment, space: int, other: int, given: Parts, taken: Parts) -> int:
        """Return by how many streams more leave their space after an exchange between two."""
        moved = given | taken
        near = {stream for part in moved for stream in self._streams.get(part, ())}
        ours, theirs = parts[space], parts[other]
        after, beyond = (ours - given) | taken, (theirs - taken) | given

        def crosses(a: int, b: int, here: Parts, there: Parts) -> bool:
            return (a in here) != (b in here) or (a in there) != (b in there)

        return sum(crosses(a, b, after, beyond) - crosses(a, b, ours, theirs) for a, b in near)

    def _is_legal(self, parts: Assignment, interval: int) -> bool:
        return self._legal is None or self._legal(parts, interval)

    def _meets(self, parts: Parts, space: int, interval: int) -> bool:
        if not parts or (self._shares(space, interval)[:, sorted(parts)].sum(axis=1) > 1).any():
            return not parts
        self._refoldings += 1
        return self.table.feasible(self._segment(parts), self.spaces[space], interval) is True

    def _shares(self, space: int, interval: int) -> NDArray[np.float64]:
        """Return what parts take of a space at least, at several prices: a sum above 1 is too much."""
        return self.table.relaxation(self.segments).at(interval).shares(self.spaces[space])

    def _segment(self, parts: Parts) -> Segment:
        order = self.segments.order
        return self.segments.of(tuple(chain.from_iterable(order[part] for part in sorted(parts))))


def _streams(segments: Segments) -> dict[int, list[tuple[int, int]]]:
    """Return the streams between parts, as pairs, at each part."""
    home = {name: part for part, names in enumerate(segments.order) for name in names}
    found: dict[int, list[tuple[int, int]]] = {}
    for source, target in segments.dataflow.engine_pairs:
        pair = home[source], home[target]
        for part in pair if pair[0] != pair[1] else ():
            found.setdefault(part, []).append(pair)
    return found


def _exchanges(ours: Parts, theirs: Parts) -> Iterator[tuple[Parts, Parts]]:
    """Yield what a space gives and takes: some parts side by side for nothing, or one for one."""
    mine = sorted(ours)
    for count in range(1, LONGEST_RUN + 1):
        for start in range(len(mine) - count + 1):
            yield frozenset(mine[start : start + count]), frozenset()
    for given in mine:
        for taken in sorted(theirs):
            yield frozenset((given,)), frozenset((taken,))


def _moved(parts: Assignment, a: int, b: int, given: Parts, taken: Parts) -> Assignment:
    after = list(parts)
    after[a] = (parts[a] - given) | taken
    after[b] = (parts[b] - taken) | given
    return tuple(after)
