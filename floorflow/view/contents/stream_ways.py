"""Read from plan.json the ways of an FPGA's channels: ports at the edges of modules, Laguna columns between SLRs."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.view.contents.names import Plan
from floorflow.view.contents.scene import EdgePort, SllView


@dataclass(frozen=True)
class Way:
    """The way of a channel on an FPGA: ports at its ends, where these are modules here, and its Laguna columns."""

    ports: tuple[EdgePort | None, EdgePort | None]
    slls: tuple[SllView, ...]


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
    ways = {}
    for name in [channel["name"] for channel in plan["phases"][phase]["channels"]]:
        own = ports.get((name, "out")), ports.get((name, "in"))
        if own != (None, None):
            ways[name] = Way(own, slls.get(name, ()))
    return ways


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
