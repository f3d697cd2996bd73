"""The plan as look-up tables: engines, slots, and for each phase what lies where. Nothing is checked here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.backend_answers import BackEnd
from floorflow.verify.ends import End, is_outside, read_end
from floorflow.verify.engines import PlannedEngine
from floorflow.verify.hardware.routes import NO_ROADS, Link, Roads, Route, Slot
from floorflow.verify.records import Record

SLL_HEADER_WIRES = 2
"""Wires of a stream besides its data: valid and ready."""


def padded(width_bits: int) -> int:
    """Round a stream's width up to whole bytes, as its wires are."""
    return -(-width_bits // 8) * 8


def stream_wires(width_bits: int) -> int:
    """Wires, and flip-flops a stage, of a stream: padded data, valid and ready."""
    return padded(width_bits) + SLL_HEADER_WIRES


def slr_number(name: str) -> int | None:
    """Read the number in ``SLR2``."""
    match = re.fullmatch(r"SLR(0|[1-9][0-9]{0,2})", name)
    return int(match.group(1)) if match else None


def slots_of(plan: Record) -> dict[str, Slot]:
    """Return the slots by name; those without a readable SLR are left out."""
    slots: dict[str, Slot] = {}
    for number, fpga in enumerate(plan["platform"]["fpgas"]):
        for entry in fpga["slots"]:
            slr = slr_number(entry["slr"])
            if slr is not None:
                slots[entry["name"]] = Slot(entry["name"], fpga["name"], number, slr, entry)
    return slots


def links_of(plan: Record, slots: dict[str, Slot]) -> dict[tuple[int, int], Link]:
    """Return the links by the numbers of the two FPGAs, the lower first; those that join nothing are left out."""
    links: dict[tuple[int, int], Link] = {}
    for entry in plan["platform"]["links"]:
        lower, upper = slots.get(entry["source"]), slots.get(entry["target"])
        if lower and upper and lower.fpga_number < upper.fpga_number:
            links.setdefault((lower.fpga_number, upper.fpga_number), Link(lower, upper, entry))
    return links


@dataclass(frozen=True)
class PhaseFacts:
    """One phase with look-up tables; entries that the plan lacks are simply absent.

    ``networks`` are all of the plan; ``fpgas`` are in the order of their numbers; ``links`` go by the numbers of their
    FPGAs, the lower first;
    ``register_stages`` are those of each FPGA's board at its SLR boundaries; ``back_end`` is None if no part of the
    judge is installed for the plan's.
    """

    where: str
    raw: Record
    slots: dict[str, Slot]
    links: dict[tuple[int, int], Link]
    fpgas: dict[str, Record]
    register_stages: dict[str, int]
    folded: dict[str, PlannedEngine]
    clock_mhz: float
    networks: tuple[str, ...] = ()
    back_end: BackEnd | None = None
    roads: Roads = NO_ROADS

    @property
    def name(self) -> str:
        """The phase's name."""
        return str(self.raw["name"])

    @cached_property
    def parts(self) -> dict[str, Record]:
        """What runs in the phase, by network."""
        return {part["network"]: part for part in self.raw["networks"]}

    def end(self, channel: Record, side: str) -> End | None:
        """Return a channel's ``source`` or ``target``, taken apart; None if it is no end."""
        return read_end(channel[side], side, self.networks)

    def network_of(self, channel: Record) -> str | None:
        """Return the network of a channel, that of its first end that can be read."""
        ends = (self.end(channel, side) for side in ("source", "target"))
        return next((end.network for end in ends if end is not None), None)

    def channels_of(self, network: str) -> list[Record]:
        """Return the channels of a network."""
        return [channel for channel in self.channels if self.network_of(channel) == network]

    def engines_of(self, network: str) -> dict[str, PlannedEngine]:
        """Return the engines of a network, by their ids, in its order."""
        return {name: engine for name, engine in self.folded.items() if engine.row["network"] == network}

    def interval_cycles(self, channel: Record) -> int:
        """Return the interval of a channel's network in this phase, 0 if that is unknown."""
        part = self.parts.get(self.network_of(channel) or "")
        return int(part["interval_cycles"]) if part else 0

    @property
    def channels(self) -> list[Record]:
        """The phase's channels."""
        channels: list[Record] = self.raw["channels"]
        return channels

    @cached_property
    def modules(self) -> dict[str, Record]:
        """Modules by name."""
        return {module["name"]: module for module in self.raw["modules"]}

    @cached_property
    def module_of(self) -> dict[str, str]:
        """Module of each engine."""
        return {engine: module["name"] for module in self.raw["modules"] for engine in module["engines"]}

    def slot_of_module(self, module: str | None) -> Slot | None:
        """Return the slot that a module is assigned to."""
        return self.slots.get(self.raw["partition"]["assignment"].get(module, ""))

    def slot_of_end(self, end: str, *, enters: bool) -> Slot | None:
        """Return where an end of a channel lies; what is outside: in the host's slot of the first FPGA or the last."""
        if not is_outside(end):
            return self.slot_of_module(self.module_of.get(end))
        fpgas = list(self.fpgas.values())
        return self.slots.get(fpgas[0 if enters else -1]["host_slot"])

    def ends(self, channel: Record) -> tuple[Slot, Slot] | None:
        """Return the slots of a channel's source and target, None if one is unknown."""
        source = self.slot_of_end(channel["source"], enters=True)
        target = self.slot_of_end(channel["target"], enters=False)
        return (source, target) if source and target else None

    def route(self, channel: Record) -> Route | None:
        """Return the route of a channel, empty inside one slot; None if an end or a link on it is unknown."""
        ends = self.ends(channel)
        return self.roads.route(*ends) if ends else None

    def boundaries(self, route: Route) -> Iterator[tuple[Slot, Slot]]:
        """Yield ``(lower, upper)`` for each SLR boundary on a route, in the order in which it is crossed."""
        for step in route:
            yield from step.boundaries

    def stages(self, route: Route) -> int:
        """Return how many register stages stand on a route: the board's at each SLR boundary that it crosses."""
        return sum(self.register_stages[lower.fpga] for lower, _ in self.boundaries(route))

    def gbps(self, channel: Record) -> float:
        """Return the rate of a channel in Gb/s: bits a frame at the frame rate of its network in this phase."""
        bits: int = channel["words_per_frame"] * channel["width_bits"]
        part = self.parts.get(self.network_of(channel) or "")
        return bits * float(part["estimates"]["fps"]) / 1e9 if part else 0.0

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        """Engines that each engine feeds."""
        following: dict[str, list[str]] = {name: [] for name in self.folded}
        for channel in self.channels:
            if channel["source"] in following and channel["target"] in following:
                following[channel["source"]].append(channel["target"])
        return following
