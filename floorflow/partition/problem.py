"""The partition problem and its answers, as values.

Slots of one FPGA form a stack (SLR0 at the bottom); neighbours share a boundary with a number of SLL wires. A stream
between modules that lie ``n`` slots apart uses its wires on each of the ``n`` boundaries between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.resources import ZERO, Resources, total
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class Place:
    """A slot with what the design may use of it.

    ``rooms`` are the contents of the largest pblocks that can be drawn in it, at the allowed fill; a module must fit
    one of them. Empty: no such rule.
    """

    name: str
    limit: Resources
    rooms: tuple[Resources, ...] = ()

    def takes(self, demand: Resources) -> bool:
        """Whether a single module of that demand fits the limit and some room."""
        return demand.fits(self.limit) and (not self.rooms or any(demand.fits(room) for room in self.rooms))


@dataclass(frozen=True)
class Boundary:
    """What lies between slot ``i`` and slot ``i + 1``: SLL wires."""

    wires: int


@dataclass(frozen=True)
class ModuleStream:
    """A realised channel between two modules, or between a module and the host (``source`` or ``target`` is None)."""

    name: str
    source: str | None
    target: str | None
    wires: int


@dataclass(frozen=True)
class PartitionProblem:
    """Modules with demands, the streams between them, and a stack of slots.

    ``register_stages`` is the number of flip-flop stages of each stream at each boundary; ``host`` is the index of
    the slot where the host's streams enter and leave.
    """

    demands: Mapping[str, Resources]
    streams: tuple[ModuleStream, ...]
    slots: tuple[Place, ...]
    boundaries: tuple[Boundary, ...]
    host: int
    register_stages: int

    def span(self, stream: ModuleStream, slot_of: Mapping[str, int]) -> tuple[int, int]:
        """Return the lowest and highest slot index that a stream touches."""
        ends = [self.host if end is None else slot_of[end] for end in (stream.source, stream.target)]
        return min(ends), max(ends)

    def cost(self, slot_of: Mapping[str, int]) -> int:
        """Wires times boundaries crossed, over all streams."""
        return sum(stream.wires * (high - low) for stream in self.streams for low, high in [self.span(stream, slot_of)])

    def loads(self, slot_of: Mapping[str, int]) -> tuple[int, ...]:
        """SLL wires used at each boundary."""
        use = [0] * len(self.boundaries)
        for stream in self.streams:
            low, high = self.span(stream, slot_of)
            for boundary in range(low, high):
                use[boundary] += stream.wires
        return tuple(use)

    def slot_demands(self, slot_of: Mapping[str, int]) -> tuple[Resources, ...]:
        """Demand of each slot: its modules and its share of the crossing registers."""
        demands = [
            total(need for name, need in self.demands.items() if slot_of[name] == index)
            for index in range(len(self.slots))
        ]
        lower, upper = self.stages_below(), self.register_stages - self.stages_below()
        for boundary, wires in enumerate(self.loads(slot_of)):
            demands[boundary] += Resources(ff=lower * wires)
            demands[boundary + 1] += Resources(ff=upper * wires)
        return tuple(demands)

    def stages_below(self) -> int:
        """Register stages of a boundary that stand in the lower of its two slots."""
        return -(-self.register_stages // 2)

    def is_legal(self, slot_of: Mapping[str, int]) -> bool:
        """Whether all room, resource and SLL limits hold."""
        housed = all(self.slots[slot_of[name]].takes(need) for name, need in self.demands.items())
        fits = all(d.fits(s.limit) for d, s in zip(self.slot_demands(slot_of), self.slots, strict=True))
        return housed and fits and all(u <= b.wires for u, b in zip(self.loads(slot_of), self.boundaries, strict=True))


@dataclass(frozen=True)
class PartitionSolution:
    """Slot index of every module; ``stats.objective`` is the cost in wires times boundaries."""

    slot_of: Mapping[str, int]
    stats: SolveStats


@dataclass(frozen=True)
class PartitionFailure:
    """Why there is no assignment; ``proven`` if none can exist for these modules.

    ``short`` is what all slots together lack of each resource, if that is the reason.
    """

    reason: str
    proven: bool
    short: Resources = ZERO
