"""Read from plan.json how full slots are, and what lies between those of all FPGAs: boundaries, links, streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from floorflow.hardware.slot_graph import Crossing, Edge, SlotGraph
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.channels import CrossingView, OutsideEnd, outside_ends, read_crossings
from floorflow.view.names import (
    NetworkView,
    Plan,
    fpga_names,
    fpga_of_slots,
    headline,
    modules_in_order,
    platform_text,
    rate_text,
    read_networks,
    slot_labels,
)


@dataclass(frozen=True)
class Use:
    """A share of what is available and the most that the cap allows."""

    share: float
    limit: float


@dataclass(frozen=True)
class SlotView:
    """One slot: use of each resource that it has, the numbers of its modules, and what else lies there.

    ``label`` is what it is called beside its FPGA, ``style`` how it is constrained.
    """

    name: str
    label: str
    slr: str
    use: Mapping[str, Use]
    modules: tuple[int, ...]
    outside: tuple[OutsideEnd, ...]
    """The ends outside the engines that lie here."""
    infrastructure: tuple[tuple[str, int], ...]
    """(name, LUT) of the board's own logic."""
    style: str


@dataclass(frozen=True)
class BoundaryView:
    """A boundary between two slots: its wires (``what``: SLL or long), used and there, and the streams over it."""

    lower: str
    upper: str
    use_wires: float
    capacity_wires: float
    down: tuple[CrossingView, ...]
    up: tuple[CrossingView, ...]
    what: str = "SLL wires"


@dataclass(frozen=True)
class LinkView:
    """A link between two slots of different FPGAs, as the plan states it; each direction's load and streams."""

    entry: Mapping[str, Any]
    fpgas: tuple[str, str]
    """Of source and target."""
    use_gbps: tuple[float, float] = (0.0, 0.0)
    """From source to target, and back."""
    streams: tuple[tuple[CrossingView, ...], tuple[CrossingView, ...]] = ((), ())

    @property
    def name(self) -> str:
        """What the plan calls it."""
        return str(self.entry["name"])

    @property
    def is_used(self) -> bool:
        """Whether it carries streams."""
        return any(self.streams)

    @property
    def loads(self) -> tuple[str, str]:
        """The load of each direction in words."""
        there, back = (f"{use:.3g} of {self.payload_gbps:.4g} Gb/s" for use in self.use_gbps)
        return there, back

    @property
    def payload_gbps(self) -> float:
        """What it carries of streams in each direction."""
        return float(self.entry["gbps"]) / (1 + float(self.entry["overhead"]))


@dataclass(frozen=True)
class SlotChainView:
    """All FPGAs of a plan, in the order of the chain, with what lies between their slots."""

    title: str
    subtitle: str
    networks: tuple[NetworkView, ...]
    """Empty where the plan has one: then the subtitle says its rate."""
    fpgas: tuple[tuple[str, tuple[SlotView, ...]], ...]
    """(name, slots from the top down)."""
    boards: Mapping[str, str]
    """The board of each FPGA where they differ; empty where all are alike."""
    boundaries: tuple[BoundaryView, ...]
    links: tuple[LinkView, ...]
    module_names: tuple[str, ...]
    """In dataflow order: number 1 comes first."""


def read_slots(plan: Plan, fpga: str, phase: int = 0) -> tuple[SlotView, ...]:
    """Read the slots from the top of the die down; shares are of what is available, and so is the cap."""
    description = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    content, cap = plan["phases"][phase], plan["options"]["cap"]
    partition, labels = content["partition"], slot_labels(plan)
    homes = [partition["assignment"][module["name"]] for module in modules_in_order(plan, phase)]
    outside = _outside_by_slot(plan, phase)
    slots = []
    for slot in reversed(description["slots"]):
        name, used = slot["name"], partition["utilisation"][slot["name"]]
        logic = (item for item in plan["platform"]["infrastructure"] if item["slot"] == name)
        slots.append(
            SlotView(
                name,
                labels[name],
                slot["slr"],
                {kind: Use(used[kind], cap[kind]) for kind in RESOURCE_NAMES if slot["available"][kind]},
                tuple(number for number, home in enumerate(homes, start=1) if home == name),
                tuple(outside.get(name, ())),
                tuple((item["name"], int(item["resources"]["LUT"])) for item in logic),
                content["constraint_styles"][name],
            )
        )
    return tuple(slots)


def _outside_by_slot(plan: Plan, phase: int) -> dict[str, list[OutsideEnd]]:
    """Return the ends outside the engines by slot: sources in the first FPGA, targets in the last, or with copies."""
    host_slots = [item["host_slot"] for item in plan["platform"]["fpgas"]]
    of_copies = {copy["network"]: copy["slot"] for copy in (plan.get("replicas") or {"placed": []})["placed"]}
    by_slot: dict[str, list[OutsideEnd]] = {}
    for end, slot in (("source", host_slots[0]), ("target", host_slots[-1])):
        ends = outside_ends(channel[end] for channel in plan["phases"][phase]["channels"])
        for each in ends.values():
            by_slot.setdefault(of_copies.get(each.network, slot), []).append(each)
    return by_slot


def read_slot_chain(plan: Plan, phase: int = 0) -> SlotChainView:
    """Read everything that the pictures of all FPGAs together show."""
    crossings = read_crossings(plan, None, phase)
    loads = {item["name"]: item for item in plan["phases"][phase]["partition"]["loads"]}
    fpga_of = fpga_of_slots(plan)
    boards = {fpga["name"]: fpga["board"] for fpga in plan["platform"]["fpgas"]}
    return SlotChainView(
        title=headline(plan, platform_text(plan), phase),
        subtitle=rate_text(plan, phase),
        networks=read_networks(plan, phase),
        fpgas=tuple((name, read_slots(plan, name, phase)) for name in fpga_names(plan)),
        boards=boards if len(set(boards.values())) > 1 else {},
        boundaries=_boundaries(plan, crossings, loads),
        links=tuple(_read_link(item, fpga_of, crossings, loads) for item in plan["platform"]["links"]),
        module_names=tuple(module["name"] for module in modules_in_order(plan, phase)),
    )


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
        lower, upper, load = entry["lower"], entry["upper"], loads[entry["name"]]
        down, up = (_widest_first(over.get(step, ())) for step in ((upper, lower), (lower, upper)))
        what = "SLL wires" if load["kind"] == "sll" else "long wires"
        boundaries.append(BoundaryView(lower, upper, load["use"], load["capacity"], down, up, what))
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
    def streams(ends: tuple[str, str]) -> tuple[CrossingView, ...]:
        return _widest_first([c for c in crossings if c.by_link and (fpga_of[c.source], fpga_of[c.target]) == ends])

    there = fpga_of[item["source"]], fpga_of[item["target"]]
    back = there[1], there[0]
    use = loads[">".join(there)]["use"], loads[">".join(back)]["use"]
    return LinkView(item, there, use, (streams(there), streams(back)))


def _widest_first(crossings: Sequence[CrossingView]) -> tuple[CrossingView, ...]:
    return tuple(sorted(crossings, key=lambda item: (-item.width_bits, item.ends)))
