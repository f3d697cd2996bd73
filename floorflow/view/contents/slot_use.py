"""Read from plan.json how full the slots of an FPGA are, against their limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from floorflow.resources import RESOURCE_NAMES
from floorflow.view.contents.names import Plan, fpga_names, modules_in_order, slot_labels
from floorflow.view.contents.outside_ends import OutsideEnd, outside_end
from floorflow.view.contents.scene import SlotView, Use


def read_slots(plan: Plan, fpga: str, phase: int = 0) -> tuple[SlotView, ...]:
    """Read the slots from the top of the die down; shares are of what is available, and so is the cap."""
    description = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    partition, cap = plan["phases"][phase]["partition"], plan["options"]["cap"]
    homes = [partition["assignment"][module["name"]] for module in modules_in_order(plan, phase)]
    outside, labels = _outside_by_slot(plan, phase), slot_labels(plan)
    slots = []
    for slot in reversed(description["slots"]):
        name, used = slot["name"], partition["utilisation"][slot["name"]]
        use = {kind: Use(used[kind], cap[kind]) for kind in RESOURCE_NAMES if slot["available"][kind]}
        numbers = tuple(number for number, home in enumerate(homes, start=1) if home == name)
        ends, logic = outside.get(name, ()), _infrastructure(plan, name)
        style = plan["phases"][phase]["constraint_styles"][name]
        slots.append(SlotView(name, labels[name], slot["slr"], use, numbers, ends, logic, style))
    return tuple(slots)


def _infrastructure(plan: Plan, slot: str) -> tuple[tuple[str, int], ...]:
    in_slot = [item for item in plan["platform"]["infrastructure"] if item["slot"] == slot]
    return tuple((item["name"], int(item["resources"]["LUT"])) for item in in_slot)


def _outside_by_slot(plan: Plan, phase: int) -> dict[str, tuple[OutsideEnd, ...]]:
    """Return the ends outside the engines by slot: sources in the first FPGA, targets in the last."""
    host_slot = {item["name"]: item["host_slot"] for item in plan["platform"]["fpgas"]}
    names = fpga_names(plan)
    by_slot: dict[str, list[OutsideEnd]] = {}
    for end, fpga in (("source", names[0]), ("target", names[-1])):
        ends = _outside(channel[end] for channel in plan["phases"][phase]["channels"])
        by_slot.setdefault(host_slot[fpga], []).extend(ends)
    return {slot: tuple(ends) for slot, ends in by_slot.items()}


def _outside(ends: Iterable[str]) -> list[OutsideEnd]:
    found = (outside_end(end) for end in sorted(set(ends)))
    return [end for end in found if end is not None]


def outside_ends(plan: Plan, phase: int) -> Mapping[str, OutsideEnd]:
    """Return all ends outside the engines that the phase's channels have, by their texts."""
    channels: Iterable[Mapping[str, Any]] = plan["phases"][phase]["channels"]
    return {end.text: end for end in _outside(channel[side] for channel in channels for side in ("source", "target"))}
