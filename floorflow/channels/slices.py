"""Register slices on streams that are longer than one cycle's reach: how many, in which slots, and what they cost.

A slice is a FIFO of two words: it takes a cycle, and the two words that it holds are those that a word's way there and
the way back of the place that it leaves keep busy. So a stream alone loses no rate by slices and its own FIFO need not
be deeper. Where branches meet, what comes early waits for as long as slices delay the rest: the FIFO on that branch
must have so many words to spare, or gets slices itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from floorflow.hardware.reach import Way
from floorflow.resources import ZERO, Resources


@dataclass(frozen=True)
class PlacedWay:
    """The way of a stream, and the slot of each part of it from the lowest row up; ``rises``: it goes that way."""

    way: Way
    slots: tuple[str, ...]
    rises: bool

    def places(self, count: int, reach: float) -> tuple[str, ...]:
        """Return the slot of each of so many slices, from source to target; what may lie anywhere is at the source."""
        first = 0 if self.rises else len(self.slots) - 1
        parts = list(self.way.slices_between(reach, first))
        if sum(parts) > count:
            parts = [0] * len(parts)
        parts[first] += count - sum(parts)
        upwards = [slot for slot, number in zip(self.slots, parts, strict=True) for _ in range(number)]
        return tuple(upwards if self.rises else reversed(upwards))


@dataclass(frozen=True)
class SlicedStream:
    """A stream that may get slices. Without a ``way`` it gets none: its ends lie on two FPGAs.

    ``spare_words``: by how many its FIFO is deeper than the full rate needs; None: that is not known, or its tool sees
    to it. ``price``: of one slice.
    """

    name: str
    source: str
    target: str
    spare_words: int | None
    price: Resources
    way: PlacedWay | None


@dataclass(frozen=True)
class Slices:
    """The slot of each slice of a stream, from source to target, by channel, and what one costs.

    ``left_out``: how many a stream longer than its reach should have and does not, as there is no room for them.
    """

    slots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prices: Mapping[str, Resources] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, PlacedWay] = field(default_factory=dict)
    """Of all streams that could have slices, with or without."""

    def count(self, channel: str) -> int:
        """Return how many slices a channel has: so many cycles more, and twice so many words."""
        return len(self.slots.get(channel, ()))

    def shares(self, channel: str) -> dict[str, Resources]:
        """Return what a channel's slices cost, by slot."""
        own = self.slots.get(channel, ())
        return {slot: self.prices[channel].times(own.count(slot)) for slot in dict.fromkeys(own)}

    def demands(self) -> dict[str, Resources]:
        """Return what all slices cost, by slot."""
        found: dict[str, Resources] = {}
        for channel in self.slots:
            for slot, need in self.shares(channel).items():
                found[slot] = found.get(slot, ZERO) + need
        return found

    def renamed(self, names: Mapping[str, str]) -> "Slices":
        """Return those of some channels, by other names."""
        return Slices(
            {new: self.slots[old] for old, new in names.items() if old in self.slots},
            {new: self.prices[old] for old, new in names.items() if old in self.prices},
            {new: self.left_out[old] for old, new in names.items() if old in self.left_out},
            {new: self.ways[old] for old, new in names.items() if old in self.ways},
        )


def register_slices(
    streams: Sequence[SlicedStream],
    reach: float,
    free: Mapping[str, Resources],
    least: Mapping[str, int] = MappingProxyType({}),
    without: Collection[str] = (),
) -> Slices:
    """Return slices for all streams longer than the reach; ``free`` is what slots may still hold.

    ``least``: so many at least, by channel, as another place needs them; ``without``: channels that get none of their
    own, as another place has no room. Where all of them do not fit, streams get theirs one after the other, the longest
    first, as long as that fits.
    """
    longest = {s.name: s.way.way.longest_tiles for s in streams if s.way is not None}
    long = [s for s in streams if longest.get(s.name, 0.0) > reach or (s.way is not None and least.get(s.name))]
    order = sorted(long, key=lambda s: -longest[s.name])
    wanted = {s.name: max(s.way.way.slices(reach), least.get(s.name, 0)) for s in order if s.way is not None}
    kept = {name: count for name, count in wanted.items() if name not in without}
    found = _fitting(streams, kept, reach, free)
    if found is None:
        kept, found = {}, Slices()
        for stream in (stream for stream in order if stream.name not in without):
            trial = kept | {stream.name: wanted[stream.name]}
            answer = _fitting(streams, trial, reach, free)
            if answer is not None:
                kept, found = trial, answer
    return replace(found, left_out={name: count for name, count in wanted.items() if name not in kept})


def _fitting(
    streams: Sequence[SlicedStream], least: Mapping[str, int], reach: float, free: Mapping[str, Resources]
) -> Slices | None:
    """Return at least so many slices and those that balance them; None if slots do not hold them, or nothing can."""
    counts = balanced(streams, least)
    if counts is None:
        return None
    own = {s.name: s for s in streams if counts[s.name]}
    slots = {name: s.way.places(counts[name], reach) for name, s in own.items() if s.way is not None}
    found = Slices(slots, {name: s.price for name, s in own.items()})
    return found if all(need.fits(free[slot]) for slot, need in found.demands().items()) else None


def balanced(streams: Sequence[SlicedStream], least: Mapping[str, int]) -> dict[str, int] | None:
    """Return how many slices each stream gets so that all FIFOs hold what waits; None if there is no such number.

    Each end is late by some cycles: a stream's target by its slices more than its source at the least, and by no more
    than its slices and the spare words of its FIFO. The least such numbers are found by relaxation (Bellman and Ford).
    """
    late = {end: 0 for s in streams for end in (s.source, s.target)}
    for _ in range(len(late) + 1):
        raised = list(_raised(streams, least, late))
        if not raised:
            return {s.name: _slices(s, least, late) for s in streams}
    return None


def _raised(streams: Sequence[SlicedStream], least: Mapping[str, int], late: dict[str, int]) -> Iterator[str]:
    """Raise the ends that are not late enough, and yield them."""
    for stream in streams:
        soonest = late[stream.source] + least.get(stream.name, 0)
        if late[stream.target] < soonest:
            late[stream.target] = soonest
            yield stream.target
        if stream.way is None and stream.spare_words is not None:
            soonest = late[stream.target] - stream.spare_words
            if late[stream.source] < soonest:
                late[stream.source] = soonest
                yield stream.source


def _slices(stream: SlicedStream, least: Mapping[str, int], late: Mapping[str, int]) -> int:
    waiting = late[stream.target] - late[stream.source]
    spare = waiting if stream.spare_words is None or stream.way is None else stream.spare_words
    return max(least.get(stream.name, 0), waiting - spare)
