"""Read from plan.json the streams of one FPGA: their ends, and their ways by ports, Laguna columns and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.facts.channel import Outside, end_of
from floorflow.facts.plan import UNBUILT
from floorflow.view.box import Box, Point
from floorflow.view.names import Plan, fpga_names, fpga_of_slots, modules_in_order


@dataclass(frozen=True)
class OutsideEnd:
    """An end of a channel that is no engine; ``network`` is empty where the plan has only one."""

    network: str
    kind: Outside
    name: str

    @property
    def text(self) -> str:
        """One line: ``host in0``, ``memory features``, ``phase p1/features``, ``cnv/host in0``."""
        return f"{self.network}{'/' * bool(self.network)}{self.kind} {self.name}"


def outside_end(text: str) -> OutsideEnd | None:
    """Read a channel's end (`docs/plan.md`): the host, a buffer in memory, another phase; None for an engine."""
    end = end_of(text)
    if end.outside is None:
        return None
    return OutsideEnd(end.network, end.outside, f"{end.phase}/{end.name}" if end.phase else end.name)


def outside_ends(ends: Iterable[str]) -> dict[str, OutsideEnd]:
    """Return those of some ends that are outside the engines, by their texts, in order."""
    found = (outside_end(end) for end in sorted(set(ends)))
    return {end.text: end for end in found if end is not None}


def _outside_text(end: str) -> str | None:
    found = outside_end(end)
    return None if found is None else found.text


@dataclass(frozen=True)
class LinkPort:
    """Where streams enter or leave an FPGA by a link: at ``slot``, all of them together at ``gbps``."""

    name: str
    """``from fpga0`` or ``to fpga2``."""
    slot: str
    at_left: bool
    """Whether the neighbour comes earlier in the chain, which is drawn from left to right."""
    gbps: float


@dataclass(frozen=True)
class EdgePort:
    """A port of a module: ``first..last`` in grid units along a side, and where that side is."""

    side: str
    edge: float
    first: float
    last: float

    @property
    def point(self) -> Point:
        """Its middle, on the edge."""
        along = (self.first + self.last) / 2
        return (self.edge, along) if self.side in ("left", "right") else (along, self.edge)


@dataclass(frozen=True)
class StreamView:
    """All streams of an FPGA from one end to another: modules, ports to links, or texts of ends outside.

    ``ports`` (at source and target, None where there is none) and ``slls`` are those of the widest.
    """

    source: str
    target: str
    width_bits: int
    ahead: int
    """By how many modules in dataflow order the target lies after the source; 0 if an end is elsewhere."""
    ports: tuple[EdgePort | None, EdgePort | None] = (None, None)
    slls: tuple[tuple[str, float], ...] = ()
    """Where it crosses upper boundaries of SLRs, from its source on: (SLR, middle of a Laguna column)."""
    slices: int = 0
    """Register slices, the most that one of them has."""
    longest: bool = False
    """Whether none of the FPGA's streams goes further from port to port."""


@dataclass(frozen=True)
class CrossingView:
    """A stream between two slots, as the plan lists it; ``ends`` are module numbers or texts of ends outside."""

    ends: tuple[str, str]
    source: str
    target: str
    width_bits: int
    gbps: float
    by_link: bool

    @property
    def text(self) -> str:
        """Ends and width: ``5→6 64 bit``."""
        return f"{'→'.join(self.ends)} {self.width_bits} bit"


def read_streams(plan: Plan, fpga: str, phase: int = 0) -> tuple[StreamView, ...]:
    """Add up the streams of one FPGA between each two ends; streams inside a module are left out.

    A stream from or to another FPGA ends at the port of the link, one that only passes has a port at both ends.
    """
    content, fpga_of = plan["phases"][phase], fpga_of_slots(plan)
    modules, partition = modules_in_order(plan, phase), content["partition"]
    number = {module["name"]: index for index, module in enumerate(modules, start=1)}
    on_fpga = {name for name, slot in partition["assignment"].items() if fpga_of[slot] == fpga}
    holder = {engine: module["name"] for module in modules for engine in module["engines"]}
    passed = _links_passed(partition["crossings"], fpga_of, fpga)
    between: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for channel in content["channels"]:
        far = [holder.get(channel[end], channel[end]) for end in ("source", "target")]
        ports = [passed.get((channel["name"], direction)) for direction in ("from", "to")]
        near = [end if end in on_fpga else port for end, port in zip(far, ports, strict=True)]
        if near != [None, None]:
            source, target = (end or _outside_text(other) for end, other in zip(near, far, strict=True))
            if source is not None and target is not None and source != target:
                between.setdefault((source, target), []).append(channel)
    longest, edge_ports = read_longest(plan, fpga, phase), read_edge_ports(plan, fpga, phase)
    longest_name = None if longest is None else longest["channel"]
    slls, streams = _read_slls(plan, fpga, phase), []
    for (source, target), own in sorted(between.items()):
        # They run as the longest of all does, or else the widest.
        shown = max(own, key=lambda channel: (channel["name"] == longest_name, channel["width_bits"]))["name"]
        ports_of = edge_ports.get((shown, "out")), edge_ports.get((shown, "in"))
        streams.append(
            StreamView(
                source,
                target,
                sum(channel["width_bits"] for channel in own),
                number[target] - number[source] if on_fpga.issuperset((source, target)) else 0,
                ports_of,
                slls.get(shown, ()) if ports_of != (None, None) else (),
                max(channel.get("slices", 0) for channel in own),
                longest=shown == longest_name,
            )
        )
    return tuple(streams)


def read_longest(plan: Plan, fpga: str, phase: int = 0) -> Mapping[str, Any] | None:
    """Return the plan's longest stream from one built register to the next, ``built_tiles``; a plan may name none.

    It is the one that the report tells first, by the same measure.
    """
    content, fpgas = plan["phases"][phase], plan["platform"]["fpgas"]
    ends = len(fpgas) == 1 or not any(warning.startswith(UNBUILT) for warning in plan.get("warnings", ()))
    slices = ends and content.get("slices_built", False)
    fifos = slices and any(each.get("crossing", {}).get("fifos") for each in fpgas)
    bare = set() if fifos else {c["name"] for c in content["channels"] if c.get("crossing_registers")}
    way = "way_tiles" if slices else "unsliced_tiles"
    rows = content["floorplan"][fpga].get("longest", ())
    told = [{**row, "built_tiles": row["tiles" if row["channel"] in bare else way]} for row in rows]
    return max(told, key=lambda row: row["built_tiles"], default=None)


def read_edge_ports(plan: Plan, fpga: str, phase: int) -> dict[tuple[str, str], EdgePort]:
    """Return the ports of all modules by channel and direction; a plan may have none."""
    found = {}
    for pblock in plan["phases"][phase]["floorplan"][fpga]["pblocks"].values():
        boxes = [Box.of_cells(rectangle) for rectangle in pblock["rectangles"]]
        for port in pblock.get("ports", ()):
            furthest = max if port["side"] in ("right", "top") else min
            edge = furthest(getattr(box, port["side"]) for box in boxes)
            found[port["channel"], port["direction"]] = EdgePort(port["side"], edge, port["first"], port["last"] + 1)
    return found


def _read_slls(plan: Plan, fpga: str, phase: int) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return where each channel crosses SLR boundaries, from its source on; of several columns the fullest."""
    content = plan["phases"][phase]
    slots = {slot["name"]: slot for item in plan["platform"]["fpgas"] for slot in item["slots"]}
    lower = {boundary["name"]: boundary["lower"] for boundary in plan["platform"]["boundaries"]}
    places = {name: number for number, name in enumerate(slots)}
    downwards = {
        crossing["channel"]
        for crossing in content["partition"]["crossings"]
        if crossing["kind"] == "sll"
        and slots[crossing["source"]]["fpga"] == fpga
        and places[crossing["source"]] > places[crossing["target"]]
    }
    found: dict[str, list[tuple[int, str, float]]] = {}
    for entry in content["floorplan"][fpga].get("sll_columns", ()):
        fullest = max(entry["columns"], key=lambda item: (item["wires"], -item["column"]))
        slot = lower[entry["boundary"]]
        crossing = places[slot], slots[slot]["slr"], fullest["column"] + 0.5
        found.setdefault(entry["channel"], []).append(crossing)
    return {
        name: tuple((slr, x) for _, slr, x in sorted(own, key=lambda item: item[0], reverse=name in downwards))
        for name, own in found.items()
    }


def _links_passed(
    crossings: Sequence[Mapping[str, Any]], fpga_of: Mapping[str, str], fpga: str
) -> dict[tuple[str, str], str]:
    """Return the port by which a channel enters or leaves the FPGA, by (channel, ``from`` or ``to``)."""
    passed = {}
    for item in crossings:
        if item["kind"] == "link":
            before, after = fpga_of[item["source"]], fpga_of[item["target"]]
            if after == fpga:
                passed[item["channel"], "from"] = f"from {before}"
            elif before == fpga:
                passed[item["channel"], "to"] = f"to {after}"
    return passed


def read_link_ports(plan: Plan, fpga: str, phase: int = 0) -> tuple[LinkPort, ...]:
    """Return the FPGA's ends of links that carry streams, one for each neighbour and direction."""
    place, fpga_of = {name: index for index, name in enumerate(fpga_names(plan))}, fpga_of_slots(plan)
    gbps: dict[tuple[str, str, bool], float] = {}
    for item in plan["phases"][phase]["partition"]["crossings"]:
        before, after = fpga_of[item["source"]], fpga_of[item["target"]]
        if item["kind"] == "link" and fpga in (before, after):
            leaves = before == fpga
            far, slot = (after, item["source"]) if leaves else (before, item["target"])
            key = f"{'to' if leaves else 'from'} {far}", slot, place[far] < place[fpga]
            gbps[key] = gbps.get(key, 0.0) + item["gbps"]
    return tuple(LinkPort(*key, load) for key, load in sorted(gbps.items()))


def read_crossings(plan: Plan, fpga: str | None = None, phase: int = 0) -> tuple[CrossingView, ...]:
    """Return the streams between slots, of all FPGAs or those that one of them has a part in."""
    content, fpga_of = plan["phases"][phase], fpga_of_slots(plan)
    numbers = {
        engine: str(number)
        for number, module in enumerate(modules_in_order(plan, phase), start=1)
        for engine in module["engines"]
    }
    channels = {channel["name"]: channel for channel in content["channels"]}
    found = []
    for item in content["partition"]["crossings"]:
        if fpga is None or fpga in (fpga_of[item["source"]], fpga_of[item["target"]]):
            channel = channels[item["channel"]]
            source, target = (_outside_text(channel[end]) or numbers[channel[end]] for end in ("source", "target"))
            slots = item["source"], item["target"]
            by_link = item["kind"] == "link"
            found.append(CrossingView((source, target), *slots, int(item["width_bits"]), float(item["gbps"]), by_link))
    return tuple(found)
