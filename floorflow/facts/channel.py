"""Channels and their ends: engines, or what is outside a phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from floorflow.facts.values import Amount, Amounts, PlanModel

Outside = Literal["host", "memory", "phase"]


class ChannelEntry(PlanModel):
    """A realised stream; ``fifo_needed`` is the depth that the full rate needs, 0 if not known.

    ``fifo_style`` is the FIFO's memory in the back end's own word, empty where that gives no choice. ``slices``:
    register slices on its way, ``slice_slots`` the slot of each from source to target; ``slices_left_out``: those that
    it should have and for which there is no room.
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
