"""Read from plan.json how full the slots of an FPGA are, against their limits."""

from __future__ import annotations

from floorflow.resources import RESOURCE_NAMES
from floorflow.view.contents.names import Plan, fpga_names, modules_in_order
from floorflow.view.contents.scene import SlotView, Use
from floorflow.view.contents.stream_ends import host_text


def read_slots(plan: Plan, fpga: str, phase: int = 0) -> tuple[SlotView, ...]:
    """Read the slots from the top of the die down; shares are of what is available, and so is the cap."""
    description = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    partition, cap = plan["phases"][phase]["partition"], plan["options"]["cap"]
    homes = [partition["assignment"][module["name"]] for module in modules_in_order(plan, phase)]
    host = _host_streams(plan, phase)
    slots = []
    for slot in sorted(description["slots"], key=lambda item: (item["slr"], item["name"]), reverse=True):
        name, used = slot["name"], partition["utilisation"][slot["name"]]
        use = {kind: Use(used[kind], cap[kind]) for kind in RESOURCE_NAMES if slot["available"][kind]}
        numbers = tuple(number for number, home in enumerate(homes, start=1) if home == name)
        slots.append(SlotView(name, slot["slr"], use, numbers, host.get(name, ()), _infrastructure(plan, name)))
    return tuple(slots)


def _infrastructure(plan: Plan, slot: str) -> tuple[tuple[str, int], ...]:
    in_slot = [item for item in plan["platform"]["infrastructure"] if item["slot"] == slot]
    return tuple((item["name"], int(item["resources"]["LUT"])) for item in in_slot)


def _host_streams(plan: Plan, phase: int) -> dict[str, tuple[str, ...]]:
    """Return the host's streams by slot: inputs in the first FPGA, outputs in the last."""
    host_slot = {item["name"]: item["host_slot"] for item in plan["platform"]["fpgas"]}
    names = fpga_names(plan)
    by_slot: dict[str, list[str]] = {}
    for end, fpga in (("source", names[0]), ("target", names[-1])):
        ends = {channel[end] for channel in plan["phases"][phase]["channels"]}
        by_slot.setdefault(host_slot[fpga], []).extend(sorted(filter(None, map(host_text, ends))))
    return {slot: tuple(ends) for slot, ends in by_slot.items()}
