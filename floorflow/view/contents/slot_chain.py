"""Read from plan.json what lies between the slots of all FPGAs: boundaries, links and the streams over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from floorflow.hardware.crossing import Crossing
from floorflow.hardware.slot_graph import Edge, SlotGraph
from floorflow.view.contents.names import (
    Plan,
    fpga_names,
    fpga_of_slots,
    headline,
    modules_in_order,
    platform_text,
    rate_text,
)
from floorflow.view.contents.networks import read_networks
from floorflow.view.contents.scene import BoundaryView, CrossingView, DirectionView, LinkView, SlotChainView
from floorflow.view.contents.slot_use import read_slots
from floorflow.view.contents.stream_ends import read_crossings


def read_slot_chain(plan: Plan, phase: int = 0) -> SlotChainView:
    """Read everything that the pictures of all FPGAs together show."""
    crossings = read_crossings(plan, None, phase)
    loads = {item["name"]: item for item in plan["phases"][phase]["partition"]["loads"]}
    fpga_of = fpga_of_slots(plan)
    return SlotChainView(
        title=headline(plan, platform_text(plan), phase),
        subtitle=rate_text(plan, phase),
        networks=read_networks(plan, phase),
        fpgas=tuple((name, read_slots(plan, name, phase)) for name in fpga_names(plan)),
        boards=_boards(plan),
        boundaries=_boundaries(plan, crossings, loads),
        links=tuple(_read_link(item, fpga_of, crossings, loads) for item in plan["platform"]["links"]),
        module_names=tuple(module["name"] for module in modules_in_order(plan, phase)),
    )


def _boards(plan: Plan) -> dict[str, str]:
    boards = {fpga["name"]: fpga["board"] for fpga in plan["platform"]["fpgas"]}
    return boards if len(set(boards.values())) > 1 else {}


def _boundaries(
    plan: Plan, crossings: Sequence[CrossingView], loads: Mapping[str, Mapping[str, Any]]
) -> tuple[BoundaryView, ...]:
    """Return each boundary with the streams whose run of boundaries it belongs to."""
    over: dict[tuple[str, str], list[CrossingView]] = {}
    slots_passed = _slots_passed(plan)
    for item in crossings:
        if not item.by_link:
            for step in pairwise(slots_passed(item.source, item.target)):
                over.setdefault(step, []).append(item)
    boundaries = []
    for entry in plan["platform"]["boundaries"]:
        name, lower, upper = entry["name"], entry["lower"], entry["upper"]
        use, capacity = loads[name]["use"], loads[name]["capacity"]
        down, up = (_widest_first(over.get(step, ())) for step in ((upper, lower), (lower, upper)))
        boundaries.append(BoundaryView(name, lower, upper, use, capacity, down, up))
    return tuple(boundaries)


def _slots_passed(plan: Plan) -> Callable[[str, str], tuple[str, ...]]:
    """Return the planner's way from slot to slot over SLR boundaries: the slots passed, both ends included."""
    names = tuple(fpga_of_slots(plan))
    place = {name: index for index, name in enumerate(names)}
    ends = [(place[entry["lower"]], place[entry["upper"]]) for entry in plan["platform"]["boundaries"]]
    graph = SlotGraph(len(names), tuple(Edge(lower, upper, Crossing("sll")) for lower, upper in ends))

    def passed(source: str, target: str) -> tuple[str, ...]:
        route = graph.route(place[source], place[target])
        return tuple(names[slot] for slot in graph.slots_on(place[source], route))

    return passed


def _read_link(
    item: Mapping[str, Any],
    fpga_of: Mapping[str, str],
    crossings: Sequence[CrossingView],
    loads: Mapping[str, Mapping[str, Any]],
) -> LinkView:
    def direction(source: str, target: str) -> DirectionView:
        ends = fpga_of[source], fpga_of[target]
        streams = [c for c in crossings if c.by_link and (fpga_of[c.source], fpga_of[c.target]) == ends]
        return DirectionView(loads[">".join(ends)]["use"], _widest_first(streams))

    source, target = item["source"], item["target"]
    return LinkView(
        name=item["name"],
        kind=item["kind"],
        source=source,
        target=target,
        fpgas=(fpga_of[source], fpga_of[target]),
        gbps=item["gbps"],
        latency_us=item["latency_us"],
        assumed=item["assumed"],
        forward=direction(source, target),
        backward=direction(target, source),
    )


def _widest_first(crossings: Sequence[CrossingView]) -> tuple[CrossingView, ...]:
    return tuple(sorted(crossings, key=lambda item: (-item.width_bits, item.ends)))
