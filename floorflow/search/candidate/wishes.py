"""What the user asks of the slots of engines, ``--constraints``: read from a file, and kept by every stage.

Engines go by the names that they have before their kinds are chosen, which no plan changes: the file is as good for the
next plan as for this one.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

import networkx as nx
from pydantic import Field

from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError, some
from floorflow.facts.partition import wish_line
from floorflow.facts.values import InputFile
from floorflow.hardware import Platform
from floorflow.hardware.reading import FileModel, parse
from floorflow.reading import read_text

Kind = Literal["fix", "forbid", "together", "apart", "beside"]
HOST, MEMORY = "host", "memory"
HINT = "docs/using.md, Wishes for slots, describes the file"


class WishesFile(FileModel):
    """The file: engines or patterns of them, with slots or patterns of them."""

    fix: dict[str, str | list[str]] = Field(default_factory=dict)
    forbid: dict[str, str | list[str]] = Field(default_factory=dict)
    together: list[list[str]] = Field(default_factory=list)
    apart: list[list[str]] = Field(default_factory=list)
    beside: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Wish:
    """A line of the file: ``engines`` lie in ``slots`` alone, all in one slot (`together`) or no two in one (`apart`).

    ``text`` is the line as the plan has it; ``names`` and ``places`` are what stands there of engines and slots.
    """

    kind: Kind
    names: tuple[str, ...]
    places: tuple[str, ...]
    engines: tuple[str, ...]
    slots: frozenset[str]

    @property
    def text(self) -> str:
        """The line."""
        return wish_line(self.kind, self.names, self.places)


@dataclass(frozen=True)
class Wishes:
    """All lines, and the file that they were read from; ``stages`` are engines that share a slot in every plan."""

    lines: tuple[Wish, ...] = ()
    file: InputFile | None = None
    stages: tuple[tuple[str, ...], ...] = ()

    def without(self, *lines: Wish) -> "Wishes":
        """Return the others."""
        return replace(self, lines=tuple(line for line in self.lines if line not in lines))

    @cached_property
    def homes(self) -> dict[str, frozenset[str]]:
        """The slots of engines that may not lie in all, as their own lines say."""
        homes: dict[str, frozenset[str]] = {}
        for line in self.lines:
            for engine in line.engines if line.places else ():
                homes[engine] = homes.get(engine, line.slots) & line.slots
        return homes

    def joined(self, parts: Iterable[Collection[str]]) -> tuple[tuple[str, ...], ...]:
        """Return sets of engines that share a slot: these parts, and what is wished together."""
        graph = nx.Graph()
        for part in [*parts, *(line.engines for line in self.lines if line.kind == "together")]:
            nx.add_path(graph, part)
        return tuple(tuple(sorted(one)) for one in nx.connected_components(graph))

    @property
    def apart(self) -> tuple[tuple[str, ...], ...]:
        """Engines of which no two share a slot."""
        return tuple(line.engines for line in self.lines if line.kind == "apart")

    @property
    def ties(self) -> bool:
        """Whether engines depend on each other's slots."""
        return any(not line.places for line in self.lines)

    @cached_property
    def keys(self) -> dict[str, str]:
        """What engines must share to be one module, empty where they have no wish: they join those that have none."""
        tied = {engine for line in self.lines for engine in line.engines if not line.places}
        found: dict[str, str] = {}
        for number, group in enumerate(self.joined(self.stages)):
            slots = self._slots_of(group)
            alone = f"{number}" if tied & {*group} else ""
            key = "" if slots is None and not alone else f"{sorted(slots or ())} {alone}"
            found |= dict.fromkeys(group, key)
        return found

    def _slots_of(self, group: Iterable[str]) -> frozenset[str] | None:
        """Return where engines that share a slot may lie; None: anywhere."""
        homes = [self.homes[engine] for engine in group if engine in self.homes]
        return frozenset.intersection(*homes) if homes else None

    def require_possible(self, file: str, finer: str) -> None:
        """Refuse lines that contradict each other whatever the design; ``finer``: how stages come apart, if they do."""
        named = ((engine,) for line in self.lines for engine in line.engines)
        for group in self.joined([*self.stages, *named]):
            inside = {*group}
            near = [line for line in self.lines if inside & {*line.engines}]
            hint = f"leave out one of them{finer}"
            if (slots := self._slots_of(group)) is not None and not slots:
                lines = some([f"'{line.text}'" for line in near if line.kind != "apart"])
                raise InputError(f"{file}: {lines}: no slot is left for {some(group)}, which share one", hint)
            for line in near:
                both = sorted(inside & {*line.engines})
                if line.kind == "apart" and len(both) > 1:
                    raise InputError(f"{file}: '{line.text}': {both[0]} and {both[1]} share a slot in every plan", hint)


NO_WISHES = Wishes()


def read_wishes(
    path: Path | None, dataflow: Dataflow, platform: Platform, stages: Sequence[Collection[str]], *, by_engine: bool
) -> Wishes:
    """Read what is wished of a network on a platform; ``stages`` are modules' engines, unless these are ``by_engine``.

    InputError if a line is not as expected, names what there is not, or contradicts another.
    """
    if path is None:
        return NO_WISHES
    text = read_text(path, "configuration", "give the path of a YAML file")
    read = _Reader(path.name, dataflow, platform)
    whole = () if by_engine else tuple(tuple(sorted(stage)) for stage in stages)
    file = InputFile(path=path.name, sha256=sha256(text.encode()).hexdigest())
    wishes = Wishes(tuple(dict.fromkeys(read.lines(parse(WishesFile, text, path.name, HINT, InputError)))), file, whole)
    wishes.require_possible(path.name, "" if by_engine else "; --granularity layer takes stages apart")
    return wishes


@dataclass(frozen=True)
class _Reader:
    """What names in the file may mean."""

    file: str
    dataflow: Dataflow
    platform: Platform

    def lines(self, file: WishesFile) -> Iterator[Wish]:
        """Yield each line with its engines and slots."""
        every = frozenset(slot.name for slot in self.platform.slots)
        for kind, placed in (("fix", file.fix), ("forbid", file.forbid), ("beside", file.beside)):
            for name, value in placed.items():
                where, places = f"{kind}.{name}", (value,) if isinstance(value, str) else tuple(value)
                find = self._at if kind == "beside" else self._slots
                slots = frozenset(slot for place in places for slot in find(place, where))
                if not places or (kind == "forbid" and slots == every):
                    raise InputError(f"{self.file}: {where}: expected a slot, and not all of them for forbid", HINT)
                left = every - slots if kind == "forbid" else slots
                yield Wish(kind, (name,), places, self._engines(name, where), left)  # type: ignore[arg-type]
        for kind, groups in (("together", file.together), ("apart", file.apart)):
            for number, names in enumerate(groups):
                where = f"{kind}[{number}]"
                engines = tuple(dict.fromkeys(engine for name in names for engine in self._engines(name, where)))
                if len(engines) < 2:
                    raise InputError(f"{self.file}: {where}: expected two engines or more", HINT)
                if kind == "apart" and len(engines) > len(every):
                    told = f"{len(engines)} engines for {len(every)} slots"
                    raise InputError(f"{self.file}: {where}: {told}", "name fewer, or give more FPGAs")
                yield Wish(kind, tuple(names), (), engines, every)  # type: ignore[arg-type]

    def _engines(self, name: str, where: str) -> tuple[str, ...]:
        """Return the engines that a name, of one or of an operation of the model, or a pattern means."""
        engines = self.dataflow.engines
        found = [e.name for e in engines if fnmatchcase(e.name, name)]
        found = found or [e.name for e in engines if fnmatchcase(e.operation, name)]
        if not found:
            known = [e.name for e in engines] + [e.operation for e in engines]
            self._unknown(where, f"there is no engine or operation {name}", name, known, "names are those of inspect")
        return tuple(found)

    def _slots(self, name: str, where: str) -> list[str]:
        """Return the slots that a name means: one, all of an FPGA, or, by the SLR alone, that of each FPGA."""
        names = {slot.name: {slot.name, slot.fpga, slot.slr} for slot in self.platform.slots}
        found = [slot for slot, known in names.items() if any(fnmatchcase(one, name) for one in known)]
        if not found:
            self._unknown(where, f"there is no slot {name}", name, [*names], f"slots are {some(names)}")
        return found

    def _at(self, name: str, where: str) -> list[str]:
        """Return the slots with the host's port, with a memory channel, or with the channel of that name."""
        if name == HOST:
            return [self.platform.host_in_slot, self.platform.host_out_slot]
        pairs = [(fpga, memory) for fpga in self.platform.fpgas for memory in fpga.board.memories]
        slots = [(memory.name, f"{fpga.name}.{memory.slr}") for fpga, memory in pairs]
        found = [slot for memory, slot in slots if name in (MEMORY, memory)]
        if not found:
            known = [HOST, *([MEMORY] if slots else []), *dict.fromkeys(memory for memory, _ in slots)]
            self._unknown(where, f"the board has no {name}", name, known, f"expected {some(known)}")
        return found

    def _unknown(self, where: str, told: str, name: str, known: Sequence[str], otherwise: str) -> None:
        near = get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else otherwise
        raise InputError(f"{self.file}: {where}: {told}", hint)
