"""Read from plan.json (as a plain dict, `docs/plan.md`) what one FPGA's picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floorflow.errors import InputError
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.contents.module_contents import parallelism_text, read_contents
from floorflow.view.contents.names import Plan, headline, modules_in_order, rate_text
from floorflow.view.contents.networks import read_networks
from floorflow.view.contents.scene import ModuleView, RegionView, Scene
from floorflow.view.contents.slot_use import outside_ends, read_slots
from floorflow.view.contents.stream_ends import read_crossings, read_longest, read_ports, read_streams
from floorflow.view.contents.stream_ways import read_edge_ports
from floorflow.view.sheet.geometry import Box


def read_scene(plan: Plan, fpga: str, phase: int = 0) -> Scene:
    """Read everything that the picture of one FPGA shows.

    Raises
    ------
    InputError
        If the plan has no floorplan of that FPGA.

    """
    floorplans = plan["phases"][phase]["floorplan"]
    if fpga not in floorplans:
        known = ", ".join(sorted(floorplans)) or "none"
        raise InputError(
            f"plan.json: phases[{phase}].floorplan has no '{fpga}'; it has: {known}", hint="name one of these"
        )
    entry = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    return Scene(
        fpga=fpga,
        title=headline(plan, f"{entry['board']}, {fpga}", phase),
        subtitle=rate_text(plan, phase),
        networks=read_networks(plan, phase),
        parallelism=parallelism_text(plan, phase),
        modules=_read_modules(plan, fpga, phase),
        streams=read_streams(plan, fpga, phase),
        ports=read_ports(plan, fpga, phase),
        crossings=read_crossings(plan, fpga, phase),
        slots=read_slots(plan, fpga, phase),
        outside=outside_ends(plan, phase),
        host_port=_box(entry["host_port"]),
        link_port=None if entry["link_port"] is None else _box(entry["link_port"]),
        note=_note(entry.get("unstated", ())),
        regions=tuple(_read_regions(plan, fpga, phase)),
        edge_ports=tuple(read_edge_ports(plan, fpga, phase).values()),
        longest=read_longest(plan, fpga, phase),
    )


def _read_regions(plan: Plan, fpga: str, phase: int) -> Iterator[RegionView]:
    here = plan["phases"][phase].get("region")
    for region in (plan.get("reconfigurable") or {"regions": []})["regions"]:
        if region["fpga"] == fpga:
            owned = tuple(_box(rectangle) for rectangle in region["owned"])
            yield RegionView(region["name"], _box(region["rectangle"]), owned, region["name"] == here)


def _note(unstated: Sequence[str]) -> str:
    return f"not stated in the board's file, so nothing is reserved for it: {', '.join(unstated)}" if unstated else ""


def _box(rectangle: Mapping[str, int]) -> Box:
    """Return the box around whole columns and rows, both inclusive."""
    return Box(rectangle["left"], rectangle["bottom"], rectangle["right"] + 1, rectangle["top"] + 1)


def _read_modules(plan: Plan, fpga: str, phase: int) -> tuple[ModuleView, ...]:
    pblocks = plan["phases"][phase]["floorplan"][fpga]["pblocks"]
    return tuple(
        _read_module(plan, phase, number, module, pblocks[module["name"]])
        for number, module in enumerate(modules_in_order(plan, phase), start=1)
        if module["name"] in pblocks
    )


def _read_module(
    plan: Plan, phase: int, number: int, module: Mapping[str, Any], pblock: Mapping[str, Any]
) -> ModuleView:
    demand, supply = pblock["demand"], pblock["supply"]
    return ModuleView(
        number=number,
        name=module["name"],
        slot=pblock["slot"],
        boxes=tuple(_box(rectangle) for rectangle in pblock["rectangles"]),
        contents=read_contents(plan, phase, module["engines"]),
        lut=int(demand["LUT"]),
        fill={name: demand[name] / supply[name] for name in RESOURCE_NAMES if supply[name]},
        style=plan["phases"][phase]["constraint_styles"][pblock["slot"]],
    )
