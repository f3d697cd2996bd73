"""A board: one FPGA with its part name, clock, shell and infrastructure, read from ``platforms/boards/<name>.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from floorflow.hardware.geometry import Rect
from floorflow.resources import Resources

Occurrence = Literal["every", "first_and_last", "first", "last"]
HOST = "host"
"""Stands for the SLR of the host's streams."""


@dataclass(frozen=True)
class Shell:
    """The vendor's part of the design, which the user's may not touch.

    ``static`` lists for each SLR the ranges that the shell keeps. ``measured_available`` says what was measured to
    remain of an SLR where that is less than its sites. ``parent_pblock`` holds ``{slr}``: the pblocks that come with
    the shell and are parents of ours.
    """

    name: str
    hierarchy: str
    parent_pblock: str | None
    static: Mapping[str, tuple[str, ...]]
    measured_available: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class BoardInfrastructure:
    """Logic beside the network, such as a memory controller; ``reserved`` is the range kept free for it, if any."""

    name: str
    slr: str
    per: Occurrence
    resources: Resources
    reserved: str | None

    def stands_on(self, number: int, count: int) -> bool:
        """Whether it stands on an FPGA of so many."""
        ends = {"first": (0,), "last": (count - 1,), "first_and_last": (0, count - 1), "every": (number,)}
        return number in ends[self.per]


@dataclass(frozen=True)
class Memory:
    """A memory channel at which the host's streams may end: where that is, and the controller that it takes, if any.

    ``assumed``: place or price are guesses.
    """

    name: str
    slr: str
    port: Rect | None
    controller: Resources | None
    reserved: str | None
    assumed: bool


@dataclass(frozen=True)
class Reconfiguration:
    """Loading the device anew while the host runs: ``full``, or ``partial`` where a part of it may be loaded alone.

    ``ms`` is what loading all of it takes, ``bytes`` the bitstream that is loaded then. A region of a share of it takes
    ``us_per_area x share + offset_us``. None where the file does not say so.
    """

    kind: Literal["full", "partial"]
    ms: float
    bytes: int | None = None
    us_per_area: float | None = None
    offset_us: float | None = None

    def load_us(self, part_bytes: int) -> float | None:
        """Return what a bitstream of a part takes, its share by bytes; None where that is not known."""
        if self.bytes is None:
            return None
        share = part_bytes / self.bytes
        if self.us_per_area is None or self.offset_us is None:
            return self.ms * 1e3 * share
        return self.us_per_area * share + self.offset_us


@dataclass(frozen=True)
class BoardLink:
    """How boards are joined: links end in the SLR ``slr``, at most ``max_links`` in one FPGA (None: any number).

    ``gbps`` holds in each direction, ``latency_us`` is one way. ``core`` is the logic at each end of a link, None if
    there is none; ``ports`` is where streams leave the die, by the kind of link; ``assumed``: bandwidth and latency are
    guesses.
    """

    kind: str
    gbps: float
    latency_us: float
    slr: str
    core: Resources | None
    ports: Mapping[str, Rect]
    assumed: bool
    max_links: int | None = None
    reliable: bool = True
    """Whether nothing that is sent is ever lost."""

    @property
    def port(self) -> tuple[str, Rect | None]:
        """The SLR where links end, and the port in it; None if the file gives none for this kind."""
        return self.slr, self.ports.get(self.kind)


@dataclass(frozen=True)
class Evidence:
    """How sure a fact of a board's file is, or several joined by commas, and where it is from."""

    fact: str
    confidence: str
    source: str


@dataclass(frozen=True)
class Board:
    """One FPGA board.

    ``part`` has package and speed grade; ``device`` is the die's name or, in a user's file, a path relative to it.
    ``sll_wires`` replaces the die's own number of wires at each SLR boundary, None keeps it. ``crossing_registers`` is
    the number of flip-flop stages at an SLR boundary, ``host_slr`` where the host's streams enter, ``host_port`` the
    place in it, None if the file does not say; where the file lists ``memories`` both are those of ``host_memory``.
    ``link`` is how up to ``max_fpgas`` of them are joined, None if they cannot be.
    """

    name: str
    part: str
    device: str
    clock_mhz: float
    max_fpgas: int
    host_slr: str
    host_port: Rect | None
    crossing_registers: int
    sll_wires: tuple[int, ...] | None
    cell_pattern: str
    shell: Shell | None
    infrastructure: tuple[BoardInfrastructure, ...]
    link: BoardLink | None
    unstated: tuple[str, ...] = ()
    """Which of shell, infrastructure and host_port the file says nothing of, not even that there is none."""
    memories: tuple[Memory, ...] = ()
    host_memory: str | None = None
    reconfiguration: Reconfiguration | None = None
    """None where the file does not say that the device can be loaded anew, and in what time."""
    memory_gbps: float | None = None
    """What the memory at which the host's streams end carries, both ways together; None where the file does not say."""
    assumed: tuple[str, ...] = ()
    """Facts that the file itself calls guesses."""
    evidence: tuple[Evidence, ...] = ()

    @property
    def is_alveo(self) -> bool:
        """Whether it is an Alveo card: AMD sells their parts, xcu50 to xcu280, on these alone."""
        return self.part.startswith("xcu")

    @property
    def at_host(self) -> Memory | None:
        """The memory channel at which the host's streams end, if the file lists any."""
        return next((memory for memory in self.memories if memory.name == self.host_memory), None)

    @property
    def placed_infrastructure(self) -> tuple[BoardInfrastructure, ...]:
        """Infrastructure with the SLR that it is in, and the controller of the host's memory channel."""
        here = tuple(replace(i, slr=self.host_slr) if i.slr == HOST else i for i in self.infrastructure)
        memory = self.at_host
        if memory is None or memory.controller is None:
            return here
        name = f"{memory.name} controller"
        controller = BoardInfrastructure(name, memory.slr, "first_and_last", memory.controller, memory.reserved)
        return (controller, *here)

    @property
    def doubt(self) -> str:
        """What the plan takes for granted because the file does not state it; empty if it states all."""
        if not self.unstated:
            return ""
        taken = ["all its silicon counts as available"] if {"shell", "infrastructure"} & {*self.unstated} else []
        if "host_port" in self.unstated:
            taken.append(f"the host's streams enter at the right edge of {self.host_slr}")
        return f"the board's file says nothing of {', '.join(self.unstated)}: {' and '.join(taken)}"

    def parent_pblock(self, slr: str) -> str | None:
        """Return the shell's pblock that must be the parent of pblocks in an SLR, or None."""
        if self.shell is None or self.shell.parent_pblock is None:
            return None
        return self.shell.parent_pblock.format(slr=slr)
