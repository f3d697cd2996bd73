"""The platform as the run saw it: FPGAs with their slots, and what joins the slots."""

from __future__ import annotations

from floorflow.facts.values import Amount, Amounts, PlanModel, RectangleEntry


class SlotEntry(PlanModel):
    """A slot; its name is opaque, where it lies is told by ``fpga`` and ``slr``."""

    name: str
    fpga: str
    slr: str
    capacity: Amounts
    available: Amounts


class BoundaryCrossing(PlanModel):
    """Flip-flop stages of a stream at each SLR boundary of the FPGA."""

    registers: Amount


class FpgaEntry(PlanModel):
    """An FPGA of the platform; wires to the host and to links end in the middle of its ports.

    ``host_memory``: the memory channel at which the host's streams end, if the board's file lists any.
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
    unstated: list[str]
    slots: list[SlotEntry]


class InfrastructureEntry(PlanModel):
    """Logic that the board needs beside the networks."""

    name: str
    slot: str
    resources: Amounts


class BoundaryEntry(PlanModel):
    """The SLL wires between two neighbouring slots."""

    name: str
    lower: str
    upper: str
    wires: Amount


class LinkEntry(PlanModel):
    """A link between two slots of different FPGAs; ``gbps`` holds in each direction."""

    name: str
    kind: str
    source: str
    target: str
    gbps: float
    latency_us: float
    assumed: bool
    reliable: bool


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
