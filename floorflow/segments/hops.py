"""Which slots the two ends of a stream may have, for cuts, exchanges and the relaxation alike.

Slots are numbers. The host's inputs lie in one of them and its outputs in one.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from types import MappingProxyType

from floorflow.dataflow.model import Dataflow
from floorflow.segments.problems import Segments


@dataclass(frozen=True)
class Hops:
    """``near[a][b]``: whether a stream from slot ``a`` to slot ``b`` may be; and the slots of the host's two ends.

    ``most``: how many SLR boundaries of an FPGA it may cross, and ``in_order``: whether none goes back to an earlier
    FPGA, both for messages.
    """

    near: Sequence[Sequence[bool]]
    host_in: int
    host_out: int
    most: int = 1
    in_order: bool = False

    @property
    def forbid(self) -> bool:
        """Whether they forbid anything at all."""
        return not all(all(row) for row in self.near)

    def behind(self, slots: Collection[int]) -> frozenset[int]:
        """Return the slots in which a stream may end that begins in one of these."""
        return frozenset(end for begin in slots for end, allowed in enumerate(self.near[begin]) if allowed)

    def before(self, slots: Collection[int]) -> frozenset[int]:
        """Return the slots in which a stream may begin that ends in one of these."""
        return frozenset(begin for begin, row in enumerate(self.near) if any(row[end] for end in slots))

    def allow(self, dataflow: Dataflow, slot_of: Mapping[str, int]) -> bool:
        """Whether engines may lie so."""
        return all(
            self.near[self.host_in if stream.from_outside else slot_of[stream.source]][
                self.host_out if stream.to_outside else slot_of[stream.target]
            ]
            for stream in dataflow.streams
        )


@dataclass(frozen=True)
class Near:
    """Hops and the streams, by names of source and target, that keep to them; a name of no engine is the host.

    ``apart``: engines of which no two lie in one slot.
    """

    hops: Hops
    streams: Sequence[tuple[str, str]]
    apart: Sequence[Collection[str]] = ()

    def in_reach(
        self, engines: Iterable[str], within: Mapping[str, frozenset[int]] = MappingProxyType({})
    ) -> dict[str, frozenset[int]]:
        """Return in which slots each engine may lie, as far as its ways to the host tell; empty where these forbid all.

        ``within``: slots of some engines outside of which these do not lie.

        Of each stream one end lies in a slot near one of the other's, until that rules out nothing more.
        """
        hops, every = self.hops, frozenset(range(len(self.hops.near)))
        may, before = {engine: within.get(engine, every) for engine in engines}, None
        host_in, host_out = frozenset((hops.host_in,)), frozenset((hops.host_out,))
        while may != before:
            before = dict(may)
            for source, target in self.streams:
                here, there = may.get(source, host_in), may.get(target, host_out)
                if source in may:
                    may[source] = here & hops.before(there)
                if target in may:
                    may[target] = there & hops.behind(here)
        return may


@dataclass(frozen=True)
class CutHops:
    """The same for contiguous cuts of an order of parts: ``slots`` are those of the places, in the order of filling.

    A slot may be filled at several places. ``together`` are engines that lie in one slot, ``apart`` such of which no
    two do.
    """

    segments: Segments
    hops: Hops
    slots: Sequence[int]
    together: Sequence[Collection[str]] = ()
    apart: Sequence[Collection[str]] = ()

    @property
    def forbid(self) -> bool:
        """Whether they forbid anything at all."""
        return bool(self.hops.forbid or self.together or self.apart)

    @cached_property
    def _tied(self) -> Mapping[int, list[tuple[int, bool]]]:
        """The parts that each part is to share a slot with (True), or is not to."""
        home = {name: part for part, names in enumerate(self.segments.order) for name in names}
        tied: dict[int, list[tuple[int, bool]]] = {}
        for groups, together in ((self.together, True), (self.apart, False)):
            for a, b in (pair for group in groups for pair in permutations(group, 2)):
                tied.setdefault(home[a], []).append((home[b], together))
        return tied

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """Parts that a stream joins, its source first."""
        home = {name: part for part, names in enumerate(self.segments.order) for name in names}
        pairs = {(home[a], home[b]) for a, b in self.segments.dataflow.engine_pairs}
        return sorted(pair for pair in pairs if pair[0] != pair[1])

    @cached_property
    def _before(self) -> Mapping[int, list[tuple[int, bool]]]:
        """The earlier parts that streams join each part to, and whether these come from there."""
        before: dict[int, list[tuple[int, bool]]] = {}
        for source, target in self._pairs:
            before.setdefault(max(source, target), []).append((min(source, target), source < target))
        return before

    @cached_property
    def _furthest(self) -> Mapping[int, int]:
        """The last part that streams join each part to, if it is a later one."""
        return dict(sorted((min(pair), max(pair)) for pair in self._pairs))

    @cached_property
    def _of_host(self) -> Mapping[int, frozenset[int]]:
        """The slots in which parts may lie by the streams that join them to the host."""
        home = {name: part for part, names in enumerate(self.segments.order) for name in names}
        found: dict[int, frozenset[int]] = {}
        for stream in self.segments.dataflow.streams:
            if stream.from_outside and not stream.to_outside:
                part, slots = home[stream.target], self.hops.behind((self.hops.host_in,))
            elif stream.to_outside and not stream.from_outside:
                part, slots = home[stream.source], self.hops.before((self.hops.host_out,))
            else:
                continue
            found[part] = found.get(part, slots) & slots
        return found

    def allow(self, ends: Sequence[int], end: int) -> bool:
        """Whether the next place may take all up to a position; ``ends`` are where the places before it end.

        What it takes must be near what it is joined to, and what is left over must have a place to come near enough.
        """
        place, start, near = len(ends), ends[-1] if ends else 0, self.hops.near
        slot = self.slots[place]
        homes = _places(ends)
        for part in range(start, end):
            if slot not in self._of_host.get(part, (slot,)):
                return False
            for other, forth in self._before.get(part, ()):
                if other < start:
                    earlier = self.slots[homes[other]]
                    if not (near[earlier][slot] if forth else near[slot][earlier]):
                        return False
            for other, together in self._tied.get(part, ()):
                if other < end and ((self.slots[homes[other]] if other < start else slot) == slot) != together:
                    return False
                if other >= end and together and slot not in self.slots[place + 1 :]:
                    return False
        rest = self.slots[place + 1 :]
        here = {self.slots[homes[part]] for part in self._open(start, end)}
        here |= {slot} if any(self._furthest.get(part, 0) >= end for part in range(start, end)) else set()
        return all(any(near[one][other] or near[other][one] for other in rest) for one in here)

    def state(self, ends: Sequence[int]) -> Hashable:
        """Return what matters of the places so far for those to come."""
        homes = _places(ends)
        position = ends[-1] if ends else 0
        waits = {p for p in range(position) if any(other >= position for other, _ in self._tied.get(p, ()))}
        known = sorted(waits | {*self._open(position, position)})
        return tuple((part, self.slots[homes[part]]) for part in known)

    def _open(self, position: int, end: int) -> Iterator[int]:
        """Yield the parts before a position that streams join to one from ``end`` on."""
        return (part for part in range(position) if self._furthest.get(part, 0) >= end)


def _places(ends: Sequence[int]) -> list[int]:
    """Return the place of each part that has one."""
    starts = [0, *ends[:-1]] if ends else []
    return [place for place, (a, b) in enumerate(zip(starts, ends, strict=True)) for _ in range(a, b)]
