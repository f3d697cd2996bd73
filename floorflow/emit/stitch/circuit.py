"""What joins the modules of a stitched plan on each card: streams, the registers on their way, and resets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.facts import ChannelEntry, PhaseEntry, Plan
from floorflow.facts.stitched import (
    TOP,
    Port,
    StitchedModule,
    by_implementation,
    padded_bits,
    stitched_modules,
)

SPARE_WORDS = 4
"""Words of a landing beside those that are under way."""


def reset_of(slr: str) -> str:
    """Return what the reset of an SLR is called: the cell, and with ``_n`` its wire."""
    return f"reset_{slr}"


@dataclass(frozen=True)
class Register:
    """A slice, a stage on one side of an SLR boundary, or the landing behind the last of ``stages`` stages."""

    kind: str
    cell: str
    slot: str
    stages: int = 0

    @property
    def depth(self) -> int:
        """Words of a landing: a power of two, at least as many as may be under way both ways, and some more."""
        return max(16, 1 << (2 * self.stages + 2 + SPARE_WORDS - 1).bit_length())


@dataclass(frozen=True)
class Joint:
    """A stream on one card, from a module or the card's edge (``source`` is empty) over registers to another."""

    channel: str
    name: str
    source: str
    source_port: Port
    target: str
    target_port: Port
    registers: tuple[Register, ...]

    @property
    def bits(self) -> int:
        """Bits of TDATA."""
        return self.source_port.bits


@dataclass(frozen=True)
class Card:
    """One card: its modules, streams and edges; ``resets``: by SLR the one that its reset comes from (`_resets`)."""

    name: str
    top: str
    modules: tuple[StitchedModule, ...]
    joints: tuple[Joint, ...]
    edges: tuple[Port, ...]
    resets: Mapping[str, str]
    slr_of: Mapping[str, str]

    def reset_at(self, slot: str) -> str:
        """Return the reset of a slot's SLR: the cell, and with ``_n`` its wire."""
        return reset_of(self.slr_of[slot])


@dataclass(frozen=True)
class Stitched:
    """The circuit of a plan of one phase; ``of_module`` are its modules by the plan's names."""

    plan: Plan

    @property
    def phase(self) -> PhaseEntry:
        """The one phase."""
        return self.plan.only_phase

    @cached_property
    def of_module(self) -> dict[str, StitchedModule]:
        """The modules by their names in the plan."""
        return stitched_modules(self.phase)

    @property
    def implementations(self) -> dict[str, list[StitchedModule]]:
        """The modules of each implementation, the one that it is named after first."""
        return by_implementation(self.of_module.values())

    @cached_property
    def first_of(self) -> dict[str, str]:
        """By the cell of each module that is not the only one of its implementation: the cell of the first of these."""
        shared = (modules for modules in self.implementations.values() if len(modules) > 1)
        return {module.cell: modules[0].cell for modules in shared for module in modules}

    @cached_property
    def cards(self) -> dict[str, Card]:
        """The cards that hold a module or that a stream passes, by their names."""
        found = {fpga.name: self._card(fpga.name) for fpga in self.plan.platform.fpgas}
        return {name: card for name, card in found.items() if card.modules or card.joints}

    def slr(self, slot: str) -> str:
        """Return the SLR of a slot."""
        return next(entry.slr for entry in self.plan.platform.slots if entry.name == slot)

    def _card(self, fpga: str) -> Card:
        legs = [(channel, leg) for channel in self.phase.channels for leg in self._legs(channel) if leg.fpga == fpga]
        joints, edges = list[Joint](), list[Port]()
        for channel, leg in legs:
            if leg.is_inside:
                continue
            ends = []
            for module, enters in ((leg.source, True), (leg.target, False)):
                if module:
                    ends.append(self.of_module[module].port(channel.name, enters=not enters))
                else:
                    number = sum(port.enters == enters for port in edges)
                    ends.append(Port(channel.name, enters, number, padded_bits(channel.width_bits)))
                    edges.append(ends[-1])
            name = f"stream_{len(joints)}"
            cells = [self.of_module[module].cell if module else "" for module in (leg.source, leg.target)]
            registers = tuple(self._registers(channel, leg, name))
            joints.append(Joint(channel.name, name, cells[0], ends[0], cells[1], ends[1], registers))
        modules = tuple(module for module in self.of_module.values() if self.plan.fpga_of[module.slot] == fpga)
        slr_of = {slot.name: slot.slr for slot in self.plan.platform.slots if slot.fpga == fpga}
        resets = self._resets(fpga, modules, joints)
        return Card(fpga, f"{TOP}_{fpga}", modules, tuple(joints), tuple(edges), resets, slr_of)

    def _resets(self, fpga: str, modules: Sequence[StitchedModule], joints: Sequence[Joint]) -> dict[str, str]:
        """Return the SLRs whose reset comes from each SLR's: outwards from the host's, to the outermost with something.

        By SLR the one before it, empty for the host's.
        """
        slots = [slot for slot in self.plan.platform.slots if slot.fpga == fpga]
        order = list(dict.fromkeys(slot.slr for slot in slots))
        entry = next(one for one in self.plan.platform.fpgas if one.name == fpga)
        host = order.index(self.slr(entry.host_slot))
        held = {order.index(self.slr(slot)) for slot in (*(m.slot for m in modules), *_slots(joints))} | {host}
        return {
            order[place]: "" if place == host else order[place + (1 if place < host else -1)]
            for place in range(min(held), max(held) + 1)
        }

    def _legs(self, channel: ChannelEntry) -> "Iterator[Leg]":
        """Yield what a stream passes on each card on its way."""
        home = {engine: module.name for module in self.phase.modules for engine in module.engines}
        source, target = home.get(channel.source, ""), home.get(channel.target, "")
        slots, fpgas = self.phase.partition.assignment, self.plan.platform.fpgas
        here = slots[source] if source else fpgas[0].host_slot
        end = slots[target] if target else fpgas[-1].host_slot
        for run in self.phase.partition.crossings:
            if run.channel == channel.name and run.kind == "link":
                yield Leg(self.plan.fpga_of[here], source, "", here, run.source)
                source, here = "", run.target
        yield Leg(self.plan.fpga_of[here], source, target, here, end)

    def _registers(self, channel: ChannelEntry, leg: "Leg", name: str) -> Iterator[Register]:
        """Yield slices and stages in the order in which a word passes them: in each slot slices between the stages."""
        slots = [slot.name for slot in self.plan.platform.slots if slot.fpga == leg.fpga]
        place, up = {slot: number for number, slot in enumerate(slots)}, 1
        if place[leg.last] < place[leg.first]:
            up = -1
        stages = next(f.crossing.registers for f in self.plan.platform.fpgas if f.name == leg.fpga)
        crossing = [slot for slot in channel.crossing_slots if slot in place]
        slices = sorted((slot for slot in channel.slice_slots if slot in place), key=lambda slot: up * place[slot])
        made = 0
        for number, start in enumerate(range(0, len(crossing), max(stages, 1))):
            chain = crossing[start : start + stages]
            while made < len(slices) and up * place[slices[made]] <= up * place[chain[0]]:
                yield Register("slice", f"{name}_slice_{made}", slices[made])
                made += 1
            for at, slot in enumerate(chain):
                yield Register("stage", f"{name}_stage_{start + at}", slot)
            beyond = chain[-1] if chain[-1] != chain[0] else slots[place[chain[0]] + up]
            yield Register("landing", f"{name}_landing_{number}", beyond, len(chain))
        for at in range(made, len(slices)):
            yield Register("slice", f"{name}_slice_{at}", slices[at])
        if not (leg.source or leg.target or crossing or slices):
            # Where a card only hands a stream on, no register of a module stands at either edge.
            yield Register("slice", f"{name}_slice_0", leg.first)


@dataclass(frozen=True)
class Leg:
    """A stream's way on one card: from a module or the edge (empty) in slot ``first`` to one in slot ``last``."""

    fpga: str
    source: str
    target: str
    first: str
    last: str

    @property
    def is_inside(self) -> bool:
        """Whether it stays in one module."""
        return self.source == self.target != ""


def _slots(joints: Sequence[Joint]) -> Iterator[str]:
    return (register.slot for joint in joints for register in joint.registers)
