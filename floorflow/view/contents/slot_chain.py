"""Read from plan.json what lies between the slots of all FPGAs: SLR boundaries, links and the streams over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from floorflow.view.contents.names import (
    Plan,
    fpga_names,
    fpga_of,
    modules_in_order,
    networks_text,
    platform_text,
    rate_text,
)
from floorflow.view.contents.scene import BoundaryView, CrossingView, DirectionView, LinkView, SlotChainView, SlotView
from floorflow.view.contents.slot_use import read_slots
from floorflow.view.contents.stream_ends import read_crossings


def read_slot_chain(plan: Plan, phase: int = 0) -> SlotChainView:
    """Read everything that the pictures of all FPGAs together show."""
    crossings = read_crossings(plan, None, phase)
    loads = {item["name"]: item for item in plan["phases"][phase]["partition"]["loads"]}
    fpgas = tuple((name, read_slots(plan, name, phase)) for name in fpga_names(plan))
    return SlotChainView(
        title=f"{networks_text(plan)} on {platform_text(plan)}",
        subtitle=rate_text(plan, phase),
        fpgas=fpgas,
        boundaries=_boundaries(plan, fpgas, crossings, loads),
        links=tuple(_read_link(item, crossings, loads) for item in plan["platform"]["links"]),
        module_names=tuple(module["name"] for module in modules_in_order(plan, phase)),
    )


def _boundaries(
    plan: Plan,
    fpgas: Sequence[tuple[str, tuple[SlotView, ...]]],
    crossings: Sequence[CrossingView],
    loads: Mapping[str, Mapping[str, Any]],
) -> dict[str, BoundaryView]:
    """Return each SLR boundary by its lower slot, with the streams whose run of boundaries it belongs to."""
    height = {slot.name: -index for _, slots in fpgas for index, slot in enumerate(slots)}
    over: dict[tuple[str, bool], list[CrossingView]] = {}
    neighbour_above = {below.name: above.name for _, slots in fpgas for above, below in pairwise(slots)}
    for item in crossings:
        if not item.by_link:
            upwards = height[item.target] > height[item.source]
            lower, upper = (item.source, item.target) if upwards else (item.target, item.source)
            while lower != upper:
                over.setdefault((lower, upwards), []).append(item)
                lower = neighbour_above[lower]
    boundaries = {}
    for sll in plan["platform"]["slls"]:
        lower, upper = sll["lower"], sll["upper"]
        load = loads[f"{lower}-{upper}"]
        down, up = (_widest_first(over.get((lower, upwards), ())) for upwards in (False, True))
        boundaries[lower] = BoundaryView(lower, upper, load["use"], load["capacity"], down, up)
    return boundaries


def _read_link(
    item: Mapping[str, Any], crossings: Sequence[CrossingView], loads: Mapping[str, Mapping[str, Any]]
) -> LinkView:
    def direction(source: str, target: str) -> DirectionView:
        ends = fpga_of(source), fpga_of(target)
        streams = [c for c in crossings if c.by_link and (fpga_of(c.source), fpga_of(c.target)) == ends]
        return DirectionView(loads[">".join(ends)]["use"], _widest_first(streams))

    source, target = item["source"], item["target"]
    return LinkView(
        name=item["name"],
        kind=item["kind"],
        source=source,
        target=target,
        gbps=item["gbps"],
        latency_us=item["latency_us"],
        assumed=item["assumed"],
        forward=direction(source, target),
        backward=direction(target, source),
    )


def _widest_first(crossings: Sequence[CrossingView]) -> tuple[CrossingView, ...]:
    return tuple(sorted(crossings, key=lambda item: (-item.width_bits, item.ends)))
