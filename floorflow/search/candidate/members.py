"""Several networks on one budget: their engines side by side, and one measure for the intervals of all.

A network's *pace* turns its cycles into those of the network that may take longest: at ``longest`` of these each is at
its own longest interval, and at a share of its target's rate where the others are at the same share. So one search
among intervals decides for all networks, and every bound it proves is one on the least share. What does not measure
intervals (FIFOs, links, names) is asked of each network by itself, in its own cycles.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend
from floorflow.dataflow.model import Dataflow, FoldedDataflow, Option, Stream
from floorflow.dataflow.options import OptionGroup, OptionTable, TableRows


@dataclass(frozen=True)
class Pace:
    """How many cycles of a network, ``own``, count as ``longest`` of all together; ``longest`` is no fewer."""

    own: int
    longest: int

    def paced(self, cycles: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return cycles of the network as they count: at most ``longest`` exactly where they are at most ``own``."""
        return -(-cycles * self.longest // self.own)

    def own_cycles(self, paced: int) -> int:
        """Return the longest interval of the network that counts no more than so many cycles."""
        return paced * self.own // self.longest

    @property
    def weight(self) -> Fraction:
        """Times the rate of the network that may take longest at which this one runs."""
        return Fraction(self.longest, self.own)


@dataclass(frozen=True)
class Member:
    """A network of several: its engines and foldings as if it were alone, and its pace.

    Without a pace it is held: any of its foldings will do, whatever the interval of the others.
    """

    name: str
    dataflow: Dataflow
    groups: tuple[OptionGroup, ...]
    pace: Pace | None

    @property
    def prefix(self) -> str:
        """What stands before the names of its engines and ends."""
        return f"{self.name}/"

    @cached_property
    def named(self) -> Dataflow:
        """The engines and streams by their names among all."""
        engines = tuple(replace(engine, name=self.prefix + engine.name) for engine in self.dataflow.engines)
        return replace(self.dataflow, engines=engines, streams=tuple(map(self.stream, self.dataflow.streams)))

    def stream(self, stream: Stream) -> Stream:
        """Return a stream by the names of its ends among all."""
        return replace(stream, source=self.prefix + stream.source, target=self.prefix + stream.target)

    def bare(self, name: str) -> str:
        """Return an engine or end by its own name."""
        return name.removeprefix(self.prefix)

    def paced(self, rows: TableRows) -> TableRows:
        """Return rows with cycles as they count."""
        return TableRows(tuple(map(self._paced, rows.tables)))

    def _paced(self, table: OptionTable) -> OptionTable:
        numbers = table.numbers.copy()
        numbers[0] = 1 if self.pace is None else self.pace.paced(table.cycles)
        return replace(table, numbers=numbers)


@dataclass(frozen=True)
class Together:
    """Networks that share a platform, in the order of the request."""

    members: tuple[Member, ...]
    backend: Backend

    @cached_property
    def dataflow(self) -> Dataflow:
        """All engines, those of each network together, with the networks' names before theirs."""
        parts = [member.named for member in self.members]
        return Dataflow(
            " and ".join(member.name for member in self.members),
            tuple(engine for part in parts for engine in part.engines),
            tuple(stream for part in parts for stream in part.streams),
            tuple(f"{member.name}: {note}" for member in self.members for note in member.dataflow.notes),
            any(part.unspecialised for part in parts),
            tuple(member.name for member in self.members),
        )

    @cached_property
    def groups(self) -> tuple[OptionGroup, ...]:
        """All groups, with cycles as they count; equal engines of a network share their rows still."""
        made: dict[tuple[str, int], TableRows] = {}
        found = []
        for member in self.members:
            for group in member.groups:
                key = member.name, id(group.rows)
                if key not in made:
                    made[key] = member.paced(TableRows.of(group.rows))
                found.append(OptionGroup(tuple(member.prefix + name for name in group.engines), made[key]))
        return tuple(found)

    def weight(self, stream: Stream) -> Fraction:
        """Return how many frames of a stream pass while one of the longest interval does; 0 of a network that is held.

        A segment's stream that is cut is told by the end that it has.
        """
        ends = (stream.source, stream.target)
        found = next(m for m in self.members if any(end.startswith(m.prefix) for end in ends))
        return Fraction(0) if found.pace is None else found.pace.weight

    def least_stretch(self, paced: int) -> Fraction:
        """Return the least interval over its target's of any network's foldings that count as so many cycles or more.

        Networks that are held do not count. Where no choice counts as less, none has a smaller worst of these.
        """
        found = []
        for member in self.members:
            if member.pace is not None:
                cycles = np.concatenate([group.cycles for group in member.groups])
                enough = cycles[member.pace.paced(cycles) >= paced]
                found += [Fraction(int(enough.min()), member.pace.own)] if len(enough) else []
        return min(found, default=Fraction(0))

    def apart(self, options: Mapping[str, Option]) -> tuple[FoldedDataflow, ...]:
        """Return each network as options of all make it, with its own names and cycles."""
        own = ((member.dataflow, dict(self._own(member, options))) for member in self.members)
        return tuple(self.backend.finished(FoldedDataflow(*each)) for each in own)

    def finished(self, options: Mapping[str, Option]) -> FoldedDataflow:
        """Return all networks as options make them, with the networks' names before theirs; cycles are their own."""
        parts = self.apart(options)
        members = [replace(member, dataflow=part.dataflow) for member, part in zip(self.members, parts, strict=True)]
        own = {
            member.prefix + name: option
            for member, part in zip(members, parts, strict=True)
            for name, option in part.options.items()
        }
        return FoldedDataflow(replace(self, members=tuple(members)).dataflow, own)

    def parts(self, folded: FoldedDataflow) -> Iterator[FoldedDataflow]:
        """Yield the part of each network of what `finished` returned, with the names that it has there."""
        for member in self.members:
            engines = tuple(e for e in folded.dataflow.engines if e.name.startswith(member.prefix))
            streams = tuple(s for s in folded.dataflow.streams if s.source.startswith(member.prefix))
            dataflow = replace(folded.dataflow, name=member.name, engines=engines, streams=streams)
            yield FoldedDataflow(dataflow, {e.name: folded.options[e.name] for e in engines})

    def _own(self, member: Member, options: Mapping[str, Option]) -> Iterator[tuple[str, Option]]:
        """Yield a network's engines with their options in cycles of its own."""
        for group in member.groups:
            names = tuple(member.prefix + name for name in group.engines)
            taken = tuple(options[name] for name in names)
            own = group.rows[_row_of(taken, self._rows[names])]
            for engine, option, alone in zip(group.engines, taken, own, strict=True):
                yield engine, replace(option, cycles=alone.cycles)

    @cached_property
    def _rows(self) -> dict[tuple[str, ...], Sequence[tuple[Option, ...]]]:
        """The rows of each group, with cycles as they count."""
        return {group.engines: group.rows for group in self.groups}


def _row_of(taken: tuple[Option, ...], rows: Sequence[tuple[Option, ...]]) -> int:
    """Return the row that was taken; its resources count as more where what is likely enough to fit is sought."""
    with suppress(ValueError):
        return rows.index(taken)
    folded = [(option.folding, option.kind) for option in taken]
    return next(n for n, row in enumerate(rows) if [(option.folding, option.kind) for option in row] == folded)


def parts_of(folded: FoldedDataflow, together: Together | None) -> Sequence[FoldedDataflow]:
    """Return each network of a folded Dataflow, which is the only one unless several are together."""
    return [folded] if together is None else list(together.parts(folded))
