"""Channels and their ends, their FIFOs and register slices, and the longest beside what one cycle reaches over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from floorflow.errors import some
from floorflow.facts.text import table, wrapped
from floorflow.facts.values import Amount, Amounts, PlanModel
from floorflow.resources import RESOURCE_NAMES, total

Outside = Literal["host", "memory", "phase"]


class ChannelEntry(PlanModel):
    """A realised stream; ``fifo_needed`` is the depth that the full rate needs, 0 if not known.

    ``fifo_style`` is the FIFO's memory in the back end's own word, empty where that gives no choice. ``slices``:
    register slices on its way, ``slice_slots`` the slot of each from source to target; ``slices_left_out``: those that
    it should have and for which there is no room. ``crossing_slots``: that of each register at an SLR boundary, as they
    follow one another.
    """

    name: str
    source: str
    source_port: int
    target: str
    target_port: int
    width_bits: int
    words_per_frame: int
    source_width_bits: int
    target_width_bits: int
    converter: str | None
    converter_module: str | None
    fifo_depth: int
    fifo_needed: int
    fifo_style: str
    fifo_module: str
    crossing_registers: int
    crossing_slots: list[str]
    slices: Amount
    slice_slots: list[str]
    slices_left_out: Amount
    link: str | None
    resources: Amounts
    converter_resources: Amounts
    fifo_resources: Amounts
    crossing_resources: dict[str, Amounts]
    slice_resources: dict[str, Amounts]

    @property
    def bits_per_frame(self) -> int:
        """Bits that pass in a frame."""
        return self.words_per_frame * self.width_bits

    @property
    def ends(self) -> tuple[End, End]:
        """Source and target, taken apart."""
        return end_of(self.source), end_of(self.target)


def slots_on_way(crossing: Sequence[str], slices: Sequence[str], slots: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the slots of a stream's registers at SLR boundaries and of its slices together, from its source on.

    A stream with slices stays on its FPGA, so that its slots follow one another as ``slots``, all of the platform, do.
    """
    if not slices:
        return tuple(crossing)
    first = slots.index(source)
    return tuple(sorted([*crossing, *slices], key=lambda slot: abs(slots.index(slot) - first)))


@dataclass(frozen=True)
class End:
    """One end of a channel: an engine (``outside`` is None), a port of the host, a buffer in memory, another phase.

    ``network`` is empty where the plan has one network; ``phase`` is empty but for ends at another phase.
    """

    network: str
    outside: Outside | None
    phase: str
    name: str


def end_of(text: str) -> End:
    """Take the text of a channel's end apart: ``[network/]engine``, ``[network/]host:in0``, ``memory:``, ``phase:``."""
    owner, colon, rest = text.partition(":")
    network, _, kind = (owner if colon else text).rpartition("/")
    if not colon:
        return End(network, None, "", kind)
    if kind == "host":
        return End(network, "host", "", rest)
    if kind == "memory":
        return End(network, "memory", "", rest)
    if kind == "phase":
        phase, _, name = rest.partition("/")
        return End(network, "phase", phase, name)
    raise ValueError(f"{text}: expected an engine, host:, memory: or phase:")


def fifos(channels: Sequence[ChannelEntry], whose: str, waiting_bits: int = 0) -> list[str]:
    """Tell whose FIFO depths a plan assumes, by the back end's words, and what they hold; nothing without any.

    ``waiting_bits``: those that, where branches meet, wait for streams over longer routes.
    """
    bits = sum(channel.fifo_depth * channel.width_bits for channel in channels)
    used = total(channel.fifo_resources.resources for channel in channels).as_dict()
    blocks = ", ".join(f"{used[name]:,} {name}" for name in RESOURCE_NAMES if used[name] and name != "FF")
    waits = f", of them {waiting_bits:,} bits where branches meet after crossings of unequal length, the least"
    return [f"{whose}; {bits / 1000:,.1f} kbit in {blocks or 'none'}{waits * bool(waiting_bits)}"] if whose else []


def slice_warnings(channels: Sequence[ChannelEntry], tool: str, *, slices_built: bool) -> Iterator[str]:
    """Say which slices the tool does not build, and which streams have none for lack of room."""
    sliced = [channel for channel in channels if channel.slices]
    if sliced and not slices_built:
        count = sum(channel.slices for channel in sliced)
        yield (
            f"register slices are missing: {tool} builds none from what is written, and {count} on {_streams(sliced)} "
            f"{'are' if count > 1 else 'is'} planned; without them a word may take longer than a cycle there"
        )
    short = [channel for channel in channels if channel.slices_left_out]
    if short:
        long = f"{_streams(short)} longer than is comfortable {'have' if len(short) > 1 else 'has'} none"
        yield f"register slices are missing: {long}, for want of room or of kernels that hold them: {_named(short)}"


def _streams(channels: Sequence[ChannelEntry]) -> str:
    return f"{len(channels)} stream{'s' * (len(channels) > 1)}"


def _named(channels: Sequence[ChannelEntry]) -> str:
    return some([f"{channel.name} ({channel.slices_left_out} needed)" for channel in channels])


class LongStreamEntry(PlanModel):
    """A long stream: columns and rows from end to end, and from one register to the next at the most.

    ``unsliced_tiles``: the latter without slices; ``way_tiles``: with the planned ``slices``. One cycle reaches over
    ``reach_tiles``; beyond ``comfortable_tiles`` a stream gets slices.
    """

    channel: str
    tiles: float
    unsliced_tiles: float
    way_tiles: float
    reach_tiles: float
    comfortable_tiles: float
    slices: Amount

    def reach_at(self, clock_mhz: float) -> str:
        """Return how far a cycle reaches, in words."""
        reach = f"a cycle at {clock_mhz:g} MHz reaches over about {self.reach_tiles:,.0f}"
        return f"{reach}, slices from {self.comfortable_tiles:,.0f}"


@dataclass(frozen=True)
class LongStream:
    """A long stream as it is built: ``tiles`` from one register to the next at the most; ``fifos`` at SLR boundaries.

    ``bare``: it crosses a boundary where a register is planned that no tool builds.
    """

    fpga: str
    row: LongStreamEntry
    tiles: float
    fifos: int
    slices_built: bool
    bare: bool

    @property
    def told(self) -> str:
        """Both its measures: between registers, which a cycle must pass, then end to end."""
        count = self.row.slices
        cuts = [f"{self.fifos} FIFO{'s' * (self.fifos > 1)} at SLR boundaries"] * bool(self.fifos)
        cuts += [f"{count} slice{'s' * (count > 1)}{' (missing)' * (not self.slices_built)}"] * bool(count)
        whole = "; ".join([f"{self.row.tiles:,.0f} end to end", *cuts])
        over = ", an SLR boundary without registers among them" * self.bare
        return f"{self.tiles:,.0f} columns and rows between registers ({whole}){over}"


_MEASURES = (
    "columns and rows: between registers is the longest piece of a way, which a cycle must pass; end to end is all"
)


def longest_streams(listed: Sequence[LongStream], count: int, clock_mhz: float, names: Mapping[str, str]) -> list[str]:
    """Return the longest streams: between registers, end to end, and the slices that cut them.

    ``count``: all slices of the phase; ``names``: what streams are called.
    """
    if not listed:
        return []
    built = listed[0].slices_built
    rows = [("FPGA", "between registers", "end to end", "slices", f"with{'out' * built} slices", "channel")]
    for one in listed:
        row, other = one.row, one.row.unsliced_tiles if built else one.row.way_tiles
        tiles = (f"{one.tiles:,.0f}", f"{row.tiles:,.0f}", str(row.slices), f"{other:,.0f}")
        rows.append((one.fpga, *tiles, names[row.channel]))
    all_of_them = f"{count:,} register slice{'s' * (count > 1)} in all, those for streams that meet long ones included"
    slices = f"{all_of_them}{', which are missing' * (not built)}" if count else "no register slices"
    return [*wrapped([listed[0].row.reach_at(clock_mhz), _MEASURES, slices]), *table(rows)]
