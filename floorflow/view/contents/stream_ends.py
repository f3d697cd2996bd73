"""Read from plan.json the streams of one FPGA and where they enter and leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floorflow.view.contents.names import Plan, fpga_names, fpga_of_slots, modules_in_order
from floorflow.view.contents.outside_ends import outside_end
from floorflow.view.contents.scene import CrossingView, LongestView, PortView, StreamView
from floorflow.view.contents.stream_ways import Way, read_ways


def _outside_text(end: str) -> str | None:
    """Return the text of an end outside the engines, and None for an engine."""
    found = outside_end(end)
    return None if found is None else found.text


def read_streams(plan: Plan, fpga: str, phase: int = 0) -> tuple[StreamView, ...]:
    """Add up the streams of one FPGA between each two ends; streams inside a module are left out.

    A stream from or to another FPGA ends at the port of the link, one that only passes has a port at both ends.
    """
    modules = modules_in_order(plan, phase)
    partition, fpga_of = plan["phases"][phase]["partition"], fpga_of_slots(plan)
    number = {module["name"]: index for index, module in enumerate(modules, start=1)}
    on_fpga = {name for name, slot in partition["assignment"].items() if fpga_of[slot] == fpga}
    holder = {engine: module["name"] for module in modules for engine in module["engines"]}
    passed = _links_passed(partition["crossings"], fpga_of, fpga)
    between: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for channel in plan["phases"][phase]["channels"]:
        ends = _ends_on_fpga(
            [holder.get(channel[e], channel[e]) for e in ("source", "target")], on_fpga, channel, passed
        )
        if ends is not None and ends[0] != ends[1]:
            between.setdefault(ends, []).append(channel)
    ways, first = read_ways(plan, fpga, phase), read_longest(plan, fpga, phase)
    longest = "" if first is None else first.channel
    return tuple(
        _stream(ends, own, number[ends[1]] - number[ends[0]] if on_fpga.issuperset(ends) else 0, ways, longest)
        for ends, own in sorted(between.items())
    )


def read_longest(plan: Plan, fpga: str, phase: int = 0) -> LongestView | None:
    """Return the first of the plan's longest streams, to which the clock owes most; a plan may name none."""
    for entry in plan["phases"][phase]["floorplan"][fpga].get("longest", ()):
        return LongestView(entry["channel"], entry["tiles"], entry["slices"], entry["reach_tiles"])
    return None


def _stream(
    ends: tuple[str, str], channels: Sequence[Mapping[str, Any]], ahead: int, ways: Mapping[str, Way], longest: str
) -> StreamView:
    """Return the channels between two ends as one stream, which runs as the longest of all does, or else the widest."""
    shown = max(channels, key=lambda channel: (channel["name"] == longest, channel["width_bits"]))
    way = ways.get(shown["name"])
    return StreamView(
        *ends,
        sum(channel["width_bits"] for channel in channels),
        ahead,
        (None, None) if way is None else way.ports,
        () if way is None else way.slls,
        max(channel.get("slices", 0) for channel in channels),
        longest=shown["name"] == longest,
    )


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


def _ends_on_fpga(
    ends: Sequence[str], on_fpga: set[str], channel: Mapping[str, Any], passed: Mapping[tuple[str, str], str]
) -> tuple[str, str] | None:
    """Return a channel's ends on this FPGA, or None if it does not touch it."""
    ports = [passed.get((channel["name"], direction)) for direction in ("from", "to")]
    ends_on_fpga = [end if end in on_fpga else port for end, port in zip(ends, ports, strict=True)]
    if ends_on_fpga == [None, None]:
        return None
    source, target = (end or _outside_text(far) for end, far in zip(ends_on_fpga, ends, strict=True))
    return None if source is None or target is None else (source, target)


def read_ports(plan: Plan, fpga: str, phase: int = 0) -> tuple[PortView, ...]:
    """Return the FPGA's ends of links that carry streams, one for each neighbour and direction."""
    place, fpga_of = {name: index for index, name in enumerate(fpga_names(plan))}, fpga_of_slots(plan)
    gbps: dict[tuple[str, str, bool], float] = {}
    for item in plan["phases"][phase]["partition"]["crossings"]:
        before, after = fpga_of[item["source"]], fpga_of[item["target"]]
        if item["kind"] == "link" and fpga in (before, after):
            name, near, far = (
                (f"to {after}", item["source"], after) if before == fpga else (f"from {before}", item["target"], before)
            )
            key = name, near, place[far] < place[fpga]
            gbps[key] = gbps.get(key, 0.0) + item["gbps"]
    return tuple(PortView(*key, load) for key, load in sorted(gbps.items()))


def read_crossings(plan: Plan, fpga: str | None = None, phase: int = 0) -> tuple[CrossingView, ...]:
    """Return the streams between slots, of all FPGAs or those that one of them has a part in."""
    content, fpga_of = plan["phases"][phase], fpga_of_slots(plan)
    numbers = {
        engine: str(number)
        for number, module in enumerate(modules_in_order(plan, phase), start=1)
        for engine in module["engines"]
    }
    channels = {channel["name"]: channel for channel in content["channels"]}
    return tuple(
        _read_crossing(item, channels[item["channel"]], numbers)
        for item in content["partition"]["crossings"]
        if fpga is None or fpga in (fpga_of[item["source"]], fpga_of[item["target"]])
    )


def _read_crossing(item: Mapping[str, Any], channel: Mapping[str, Any], numbers: Mapping[str, str]) -> CrossingView:
    source, target = (_outside_text(channel[end]) or numbers[channel[end]] for end in ("source", "target"))
    width_bits, gbps = int(item["width_bits"]), float(item["gbps"])
    return CrossingView((source, target), item["source"], item["target"], width_bits, gbps, item["kind"] == "link")
