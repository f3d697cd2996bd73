"""The platform as the run saw it: FPGAs with their slots, what joins them, and where the host's streams end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from floorflow.facts.values import Amount, Amounts, PlanModel, RectangleEntry
from floorflow.resources import ZERO, Resources


class SlotEntry(PlanModel):
    """A slot; its name is opaque, where it lies is told by ``fpga`` and ``slr``."""

    name: str
    fpga: str
    slr: str
    half: str
    capacity: Amounts
    available: Amounts


class BoundaryCrossing(PlanModel):
    """Register stages of a stream at each SLR boundary of the FPGA; ``fifos``: each is a FIFO of two words.

    ``slices``: together they are AMD's register slice, which a script of the plan is to insert.
    """

    registers: Amount
    fifos: bool
    slices: bool


class FpgaEntry(PlanModel):
    """An FPGA of the platform; wires to the host and to links end in the middle of its ports.

    ``host_memory``: the memory channel at which the host's streams end, if the board's file lists any.
    ``power_limit_w``: what the board may draw, ``power_base_w``: what it does beside leakage and plan, if known.
    """

    name: str
    board: str
    part: str
    device: str
    host_slot: str
    host_port: RectangleEntry
    host_memory: str | None
    link_port: RectangleEntry | None
    crossing: BoundaryCrossing
    power_limit_w: float | None
    power_base_w: float | None
    unstated: list[str]
    slots: list[SlotEntry]


class InfrastructureEntry(PlanModel):
    """Logic that the board needs beside the networks."""

    name: str
    slot: str
    resources: Amounts


class BoundaryEntry(PlanModel):
    """The SLL wires between two neighbouring slots, or the long wires between two halves of an SLR."""

    name: str
    lower: str
    upper: str
    wires: Amount
    kind: Literal["sll", "half"]


class LinkEntry(PlanModel):
    """A link between two slots of different FPGAs; ``gbps`` holds in each direction, ``overhead`` is for each bit."""

    name: str
    kind: str
    source: str
    target: str
    gbps: float
    latency_us: float
    assumed: bool
    reliable: bool
    overhead: float

    def __str__(self) -> str:
        assumed = " (assumed)" if self.assumed else ""
        streams = f", {self.gbps / (1 + self.overhead):.4g} of them for streams" if self.overhead else ""
        return f"{self.name}: {self.kind}, {self.gbps:g} Gb/s each way{streams}, {self.latency_us:g} us{assumed}"


class PlatformEntry(PlanModel):
    """The platform as the run saw it; its FPGAs may differ."""

    name: str
    fpgas: list[FpgaEntry]
    boundaries: list[BoundaryEntry]
    links: list[LinkEntry]
    infrastructure: list[InfrastructureEntry]
    files: list[str]

    @property
    def slots(self) -> list[SlotEntry]:
        """All slots, FPGA by FPGA."""
        return [slot for fpga in self.fpgas for slot in fpga.slots]

    @property
    def boards(self) -> str:
        """How many of which board."""
        counts = Counter((fpga.board, fpga.part) for fpga in self.fpgas)
        return ", ".join(f"{count} x {board} ({part})" for (board, part), count in counts.items())

    def __str__(self) -> str:
        """Return ``alveo-u250`` or ``2 x alveo-u250``; a platform that a file describes by its name alone."""
        count = len(self.fpgas)
        return self.name if count == 1 or self.name != self.fpgas[0].board else f"{count} x {self.name}"


class MemoryChannel(Protocol):
    """A memory channel of a board at which the host's streams may end, with the controller that it takes, if any."""

    @property
    def name(self) -> str:
        """What the board's file calls it."""

    @property
    def slr(self) -> str:
        """The SLR that it lies in."""

    @property
    def controller(self) -> Resources | None:
        """What its controller takes."""

    @property
    def assumed(self) -> bool:
        """Whether place or price are guesses."""


@dataclass(frozen=True)
class PlatformFacts:
    """What the platform's files say beside the plan and the report tells.

    Of each slot: ``free``, what a pblock over all that is free of it holds, and ``free_cells``, columns times rows; of
    each FPGA: ``dies``. ``own_mhz``: the clock that the preset gives its boards. ``most_fpgas`` can be linked;
    ``described``: a file says which there are. The host's streams end in ``host_slots``, at ``host`` in ``host_slr``,
    one of ``memories``.
    """

    free: Mapping[str, Resources]
    free_cells: Mapping[str, int]
    dies: Mapping[str, int]
    own_mhz: float
    most_fpgas: int
    described: bool
    host_slots: tuple[str, str]
    host_slr: str
    host: MemoryChannel | None
    memories: Sequence[MemoryChannel]
    stream_wires: Callable[[int], int]
    """Wires over an SLR boundary of a stream so many bits wide."""


def host_lines(platform: PlatformFacts) -> list[str]:
    """Say at which channel the host's streams end, and what each other would free or take; nothing if none is known."""
    here = platform.host
    if here is None:
        return []
    return [
        f"host       its streams end at {here.name} in {platform.host_slr}{_controller(here)}",
        *_others(platform.memories, here),
    ]


def _others(memories: Sequence[MemoryChannel], here: MemoryChannel) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for memory in memories:
        if memory is not here:
            what = f"in {memory.slr}{_controller(memory)}; {_change(here, memory)}"
            alike.setdefault(what, []).append(memory.name)
    for what, names in alike.items():
        yield f"           --host-port {_names(names)}: {what}"


def _names(names: Sequence[str]) -> str:
    """Name one channel, two, or the first and the last of several."""
    if len(names) < 3:
        return " or ".join(names)
    return f"{names[0]} ... {names[-1]} ({len(names)} alike)"


def cheaper_ports(platform: PlatformFacts) -> Iterator[str]:
    """Yield a sentence for the memory channels, those alike together, whose controller takes less than that in use."""
    here, alike = platform.host, dict[str, list[str]]()
    for memory in platform.memories:
        if here is not None and _price(here).lut > _price(memory).lut:
            sure = ", which is assumed" if memory.assumed else ""
            alike.setdefault(f"(in {memory.slr}{sure}) {_change(here, memory)}", []).append(memory.name)
    yield from (f"--host-port {_names(names)} {what}" for what, names in alike.items())


def _controller(memory: MemoryChannel) -> str:
    controller = "without a controller" if memory.controller is None else "with its controller"
    return f", {controller}{' (assumed)' if memory.assumed else ''}"


def _change(here: MemoryChannel, there: MemoryChannel) -> str:
    """Say what becomes free in one slot and is taken in another, DMA engines and interconnect aside."""
    freed, taken = _price(here), _price(there)
    if freed == taken:
        return f"takes as much there as it frees in {here.slr}"
    words = [f"frees {Amounts.model_validate(freed)} of {here.slr}"] if freed != ZERO else []
    words += [f"takes {Amounts.model_validate(taken)} of {there.slr}"] if taken != ZERO else []
    return " and ".join(words)


def _price(memory: MemoryChannel) -> Resources:
    return memory.controller or ZERO
