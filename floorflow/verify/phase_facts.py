"""The plan as look-up tables: engines, slots, and for each phase what lies where. Nothing is checked here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.engines import FoldedEngine
from floorflow.verify.hardware.routes import NO_ROADS, Link, Roads, Route, Slot
from floorflow.verify.plan_structure import Record

HOST = "host:"
"""Prefix of a channel's end outside the network."""

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

    ``fpgas`` are in the order of their numbers; ``links`` go by the numbers of their FPGAs, the lower first;
    ``register_stages`` are those of each FPGA's board at its SLR boundaries.
    """

    where: str
    raw: Record
    slots: dict[str, Slot]
    links: dict[tuple[int, int], Link]
    fpgas: dict[str, Record]
    register_stages: dict[str, int]
    folded: dict[str, FoldedEngine]
    clock_mhz: float
    roads: Roads = NO_ROADS

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
        """Return where one end of a channel lies: the host's inputs in the first FPGA, its outputs in the last."""
        if not end.startswith(HOST):
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
        """Return the rate of a channel in Gb/s: bits a frame at the plan's frame rate."""
        bits: int = channel["words_per_frame"] * channel["width_bits"]
        return bits * float(self.raw["estimates"]["fps"]) / 1e9

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        """Engines that each engine feeds."""
        following: dict[str, list[str]] = {name: [] for name in self.folded}
        for channel in self.channels:
            if channel["source"] in following and channel["target"] in following:
                following[channel["source"]].append(channel["target"])
        return following


def topological_order(successors: dict[str, list[str]]) -> list[str]:
    """Return the nodes so that each comes before its successors; nodes on or behind a cycle are left out."""
    waiting = dict.fromkeys(successors, 0)
    for followers in successors.values():
        for follower in followers:
            waiting[follower] += 1
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:  # grows while it is walked
        for follower in successors[name]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    return ready


def quotient(successors: dict[str, list[str]], group_of: dict[str, str]) -> dict[str, list[str]]:
    """Return the graph between groups; edges inside a group and nodes without one are left out."""
    between: dict[str, set[str]] = {group: set() for group in group_of.values()}
    for name, followers in successors.items():
        for follower in followers:
            source, target = group_of.get(name), group_of.get(follower)
            if source is not None and target is not None and source != target:
                between[source].add(target)
    return {group: sorted(targets) for group, targets in sorted(between.items())}
