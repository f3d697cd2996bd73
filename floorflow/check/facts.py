"""The plan as look-up tables: engines, slots, and for each phase what lies where. No judgement is made here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from floorflow.check.engines import FoldedEngine
from floorflow.check.shape import Record

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


@dataclass(frozen=True, slots=True)
class Slot:
    """One SLR of one FPGA."""

    name: str
    fpga: str
    fpga_number: int
    slr: int
    entry: Record


def slr_number(name: str) -> int | None:
    """Read the number in ``SLR2``."""
    match = re.fullmatch(r"SLR(\d{1,3})", name)
    return int(match.group(1)) if match else None


def slots_of(plan: Record) -> dict[str, Slot]:
    """Return the slots by name; those without a readable SLR are left out."""
    found: dict[str, Slot] = {}
    for number, fpga in enumerate(plan["platform"]["fpgas"]):
        for entry in fpga["slots"]:
            slr = slr_number(entry["slr"])
            if slr is not None:
                found[entry["name"]] = Slot(entry["name"], fpga["name"], number, slr, entry)
    return found


@dataclass(frozen=True)
class PhaseFacts:
    """One phase with look-up tables; entries that the plan lacks are simply absent."""

    where: str
    raw: Record
    slots: dict[str, Slot]
    fpgas: dict[str, Record]
    folded: dict[str, FoldedEngine]

    @property
    def channels(self) -> list[Record]:
        """The phase's channels."""
        found: list[Record] = self.raw["channels"]
        return found

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

    def slot_of_end(self, end: str, other: str) -> Slot | None:
        """Return where one end of a channel lies; the host's end lies in the host slot of the other end's FPGA."""
        if not end.startswith(HOST):
            return self.slot_of_module(self.module_of.get(end))
        near = None if other.startswith(HOST) else self.slot_of_module(self.module_of.get(other))
        return self.slots.get(self.fpgas[near.fpga]["host_slot"]) if near else None

    def ends(self, channel: Record) -> tuple[Slot, Slot] | None:
        """Return the slots of a channel's source and target, None if one is unknown."""
        source = self.slot_of_end(channel["source"], channel["target"])
        target = self.slot_of_end(channel["target"], channel["source"])
        return (source, target) if source and target else None

    def boundaries(self, first: Slot, second: Slot) -> Iterator[tuple[Slot, Slot]]:
        """Yield ``(lower, upper)`` for each boundary between two slots of one FPGA."""
        low, high = sorted((first.slr, second.slr))
        stack = {slot.slr: slot for slot in self.slots.values() if slot.fpga == first.fpga}
        for number in range(low, high):
            if number in stack and number + 1 in stack:
                yield stack[number], stack[number + 1]

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
