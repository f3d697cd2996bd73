"""Slots that a network leaves empty: how many copies of it the card might hold, by the sums of resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from floorflow.facts.plan import Plan
from floorflow.facts.platform import MemoryChannel
from floorflow.facts.text import rate
from floorflow.request import limits_of
from floorflow.resources import ZERO, Resources, total


def spare_copies(plan: Plan, controllers: Mapping[str, Resources]) -> int:
    """Return how many copies of the one network the card might hold; 0 where no SLR is empty, or that is not asked.

    ``controllers``: what the memory channel takes of each SLR that has one. A place is as many SLRs as the plan uses;
    what they hold together holds a copy and what stands beside it: an estimate, as nothing is placed there.
    """
    if len(plan.networks) != 1 or len(plan.phases) != 1 or len(plan.platform.fpgas) != 1 or plan.schedule is not None:
        return 0
    (phase,), (fpga,), slots = plan.phases, plan.platform.fpgas, plan.platform.slots
    demands = [phase.demand(slot.name) for slot in slots]
    used = [number for number, demand in enumerate(demands) if any(demand.as_tuple())]
    empty = len(slots) - len(used)
    if plan.replicas is not None or not used or not empty or any(slot.half for slot in slots):
        return 0
    first, size, need = used[0], used[-1] - used[0] + 1, total(demands)
    host = next(number for number, slot in enumerate(slots) if slot.name == fpga.host_slot) - first
    own = [item for item in plan.platform.infrastructure if item.slot == fpga.host_slot]
    beside = total(item.resources.resources for item in own if not item.name.endswith(" controller"))

    def holds(low: int) -> bool:
        place = slots[low : low + size]
        if not 0 <= host < size or place[host].slr not in controllers:
            return False
        left = total(slot.available.resources for slot in place) - beside - controllers[place[host].slr]
        return min(left.as_tuple()) >= 0 and need.fits(limits_of(plan.options, left))

    starts = range(first % size, len(slots) - size + 1, size)
    return sum(low == first or holds(low) for low in starts)


def spare(plan: Plan, controllers: Mapping[str, Resources]) -> str:
    """Return what copies of the one network in empty SLRs might give; empty where that is nothing."""
    count = spare_copies(plan, controllers)
    if count < 2:
        return ""
    fps = rate(count * plan.phases[0].networks[0].estimates.believed_fps)
    empty = sum(not any(plan.phases[0].demand(slot.name).as_tuple()) for slot in plan.platform.slots)
    told = f"{empty} SLR{'s stay' if empty > 1 else ' stays'} empty: --replicas {count} may give {count} times the"
    return f"{told} frames/s, {fps}: an estimate by the sums of resources, not a plan"


def controllers_of(memories: Iterable[MemoryChannel], host_slr: str) -> dict[str, Resources]:
    """Return what the first memory channel of each SLR takes; without channels the host's SLR alone has its streams."""
    found: dict[str, Resources] = {}
    for memory in memories:
        found.setdefault(memory.slr, memory.controller or ZERO)
    return found or {host_slr: ZERO}
