"""Modules that are implemented alone and stitched: what they are called, and the ports of their streams.

A module's ports are numbered by its engines and their ports, each way by itself, so that modules that are one
implementation have the same. TDATA is padded to whole bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from floorflow.facts.channel import ChannelEntry
from floorflow.facts.module import ModuleEntry
from floorflow.facts.names import plain_names
from floorflow.facts.phase import PhaseEntry

RESET, TOP = "reset_in", "top"
"""Names that no cell of a module has."""


@dataclass(frozen=True)
class Port:
    """A stream at a module or at the edge of a card, as AXI4-Stream has it; ``bits`` of TDATA."""

    channel: str
    enters: bool
    number: int
    bits: int

    @property
    def name(self) -> str:
        """What FINN calls such a port of a stitched IP."""
        return f"{'s' if self.enters else 'm'}_axis_{self.number}"


@dataclass(frozen=True)
class StitchedModule:
    """A module of the plan as a cell of its card's top; ``implementation``: of which Verilog module it is one."""

    name: str
    cell: str
    implementation: str
    slot: str
    ports: tuple[Port, ...]

    def port(self, channel: str, *, enters: bool) -> Port:
        """Return its port of a stream."""
        return next(port for port in self.ports if (port.channel, port.enters) == (channel, enters))


def padded_bits(bits: int) -> int:
    """Return a width in whole bytes."""
    return -(-bits // 8) * 8


def core_name(implementation: str) -> str:
    """Return what the back end's IP inside an implementation is called."""
    return f"{implementation}_core"


def stitched_modules(phase: PhaseEntry) -> dict[str, StitchedModule]:
    """Return the modules of a phase by their names in the plan."""
    cells = plain_names((m.name for m in phase.modules), "part", taken=(RESET, TOP))
    slots = phase.partition.assignment
    return {
        m.name: StitchedModule(
            m.name, cells[m.name], f"impl_{cells[m.implementation]}", slots[m.name], tuple(_ports(m, phase.channels))
        )
        for m in phase.modules
    }


def by_implementation(modules: Iterable[StitchedModule]) -> dict[str, list[StitchedModule]]:
    """Return the modules of each implementation, the one that it is named after first."""
    found: dict[str, list[StitchedModule]] = {}
    for module in modules:
        found.setdefault(module.implementation, []).append(module)
    return found


def _ports(module: ModuleEntry, channels: Sequence[ChannelEntry]) -> Iterator[Port]:
    place = {engine: number for number, engine in enumerate(module.engines)}
    outer = [c for c in channels if (c.source in place) != (c.target in place)]
    for enters in (True, False):
        side = "target" if enters else "source"
        own = [c for c in outer if getattr(c, side) in place]
        own.sort(key=lambda c: (place[getattr(c, side)], getattr(c, f"{side}_port")))
        for number, channel in enumerate(own):
            yield Port(channel.name, enters, number, padded_bits(channel.width_bits))
