"""Read from plan.json the ways of an FPGA's channels: ports at the edges of modules, Laguna columns between SLRs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from floorflow.view.contents.names import Plan
from floorflow.view.contents.scene import EdgePort, SllView

Point = tuple[float, float]


@dataclass(frozen=True)
class Way:
    """The way of a channel on an FPGA: ports at source and target, if these are modules here, and its Laguna columns.

    ``ends`` are those ports or the middles of the terminals.
    """

    ports: tuple[EdgePort | None, EdgePort | None]
    slls: tuple[SllView, ...]
    ends: tuple[Point, Point]

    @property
    def tiles(self) -> float:
        """Columns, by its Laguna columns, and rows from end to end."""
        (x, y), (to_x, to_y) = self.ends
        stops = (x, *(sll.x for sll in self.slls), to_x)
        return sum(abs(b - a) for a, b in pairwise(stops)) + abs(to_y - y)


def read_edge_ports(plan: Plan, fpga: str, phase: int) -> dict[tuple[str, str], EdgePort]:
    """Return every port by channel and direction; a plan may have none."""
    found = {}
    for pblock in plan["phases"][phase]["floorplan"][fpga]["pblocks"].values():
        edges = {
            "left": min(area["left"] for area in pblock["rectangles"]),
            "bottom": min(area["bottom"] for area in pblock["rectangles"]),
            "right": max(area["right"] for area in pblock["rectangles"]) + 1,
            "top": max(area["top"] for area in pblock["rectangles"]) + 1,
        }
        for port in pblock.get("ports", ()):
            key = port["channel"], port["direction"]
            found[key] = EdgePort(port["side"], edges[port["side"]], port["first"], port["last"] + 1)
    return found


def read_ways(plan: Plan, fpga: str, phase: int) -> dict[str, Way]:
    """Return the ways of the channels that have a port on the FPGA, by name."""
    ports, slls = read_edge_ports(plan, fpga, phase), _read_slls(plan, fpga, phase)
    fpgas = plan["platform"]["fpgas"]
    entry = next(item for item in fpgas if item["name"] == fpga)
    at_host = {"source": entry is fpgas[0], "target": entry is fpgas[-1]}
    ways = {}
    for channel in plan["phases"][phase]["channels"]:
        own = ports.get((channel["name"], "out")), ports.get((channel["name"], "in"))
        if own == (None, None):
            continue
        ends = [
            _terminal(entry, at_host=at_host[side] and ":" in channel[side]) if port is None else port.point
            for port, side in zip(own, ("source", "target"), strict=True)
        ]
        ways[channel["name"]] = Way(own, slls.get(channel["name"], ()), (ends[0], ends[1]))
    return ways


def _terminal(entry: Mapping[str, Any], *, at_host: bool) -> Point:
    """Return the middle of the host's port, or of that of links where the FPGA has none of the host's streams."""
    area = entry["host_port"] if at_host or entry["link_port"] is None else entry["link_port"]
    return (area["left"] + area["right"] + 1) / 2, (area["bottom"] + area["top"] + 1) / 2


def _read_slls(plan: Plan, fpga: str, phase: int) -> dict[str, tuple[SllView, ...]]:
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
    found: dict[str, list[tuple[int, SllView]]] = {}
    for entry in content["floorplan"][fpga].get("sll_columns", ()):
        share = max(entry["columns"], key=lambda item: (item["wires"], -item["column"]))
        slot = lower[entry["boundary"]]
        view = SllView(slots[slot]["slr"], share["column"] + 0.5)
        found.setdefault(entry["channel"], []).append((places[slot], view))
    return {
        name: tuple(view for _, view in sorted(own, key=lambda pair: pair[0], reverse=name in downwards))
        for name, own in found.items()
    }
