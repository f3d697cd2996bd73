"""Read from plan.json (as a plain dict, `docs/plan.md`) what one FPGA's picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.box import Box
from floorflow.view.channels import (
    CrossingView,
    EdgePort,
    LinkPort,
    OutsideEnd,
    StreamView,
    outside_ends,
    read_crossings,
    read_edge_ports,
    read_link_ports,
    read_longest,
    read_streams,
)
from floorflow.view.modules import Contents, parallelism_text, read_contents
from floorflow.view.names import NetworkView, Plan, headline, modules_in_order, rate_text, read_networks
from floorflow.view.slots import SlotView, read_slots


@dataclass(frozen=True)
class ModuleView:
    """One module with a pblock. ``number`` counts in dataflow order over all FPGAs, from 1.

    ``boxes``, in grid units, do not overlap; ``fill`` is demand over supply of the pblock for the resources that it
    holds. ``style``: how its slot is constrained.
    """

    number: int
    name: str
    slot: str
    boxes: tuple[Box, ...]
    contents: Contents
    lut: int
    fill: Mapping[str, float]
    style: str

    @property
    def box(self) -> Box:
        """The largest of its boxes: where it is labelled, and streams end."""
        return max(self.boxes, key=lambda box: box.area)

    @property
    def tightest(self) -> str:
        """The resource that fills the pblock most."""
        return max(RESOURCE_NAMES, key=lambda name: self.fill.get(name, 0.0))


@dataclass(frozen=True)
class RegionView:
    """A reconfigurable region: all of it, the parts that belong to it, and whether the phase is loaded into it."""

    name: str
    box: Box
    boxes: tuple[Box, ...]
    here: bool


@dataclass(frozen=True)
class Scene:
    """Everything the plan says about one FPGA in one phase."""

    fpga: str
    title: str
    subtitle: str
    networks: tuple[NetworkView, ...]
    """Empty where the plan has one: then the subtitle says its rate."""
    parallelism: str
    """What the numbers of core engines count: names joined by a multiplication sign, or nothing."""
    modules: tuple[ModuleView, ...]
    streams: tuple[StreamView, ...]
    ports: tuple[LinkPort, ...]
    crossings: tuple[CrossingView, ...]
    slots: tuple[SlotView, ...]
    outside: Mapping[str, OutsideEnd]
    """By its text, each end outside the engines that a stream of this phase has."""
    host_port: Box
    """Where streams from and to ends outside enter and leave, in grid units."""
    link_port: Box | None
    """Where streams over links enter and leave."""
    note: str
    """What the board's file leaves open, and is taken for granted."""
    regions: tuple[RegionView, ...]
    """Those of this FPGA, that of the phase and others."""
    edge_ports: tuple[EdgePort, ...]
    """The ports of all modules."""
    longest: Mapping[str, Any] | None
    """What the plan says of the stream whose registers lie furthest apart; None where it knows none."""

    @property
    def outside_kinds(self) -> set[str]:
        """The kinds of ends outside that the streams have."""
        ends = {end for stream in self.streams for end in (stream.source, stream.target)}
        return {self.outside[end].kind for end in ends & self.outside.keys()}


def read_scene(plan: Plan, fpga: str, phase: int = 0) -> Scene:
    """Read everything that the picture of one FPGA shows.

    Raises
    ------
    InputError
        If the plan has no floorplan of that FPGA.

    """
    floorplans, channels = plan["phases"][phase]["floorplan"], plan["phases"][phase]["channels"]
    if fpga not in floorplans:
        known = ", ".join(sorted(floorplans)) or "none"
        raise InputError(
            f"plan.json: phases[{phase}].floorplan has no '{fpga}'; it has: {known}", hint="name one of these"
        )
    entry = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    unstated = ", ".join(entry.get("unstated", ()))
    return Scene(
        fpga=fpga,
        title=headline(plan, f"{entry['board']}, {fpga}", phase),
        subtitle=rate_text(plan, phase),
        networks=read_networks(plan, phase),
        parallelism=parallelism_text(plan, phase),
        modules=tuple(_read_modules(plan, fpga, phase)),
        streams=read_streams(plan, fpga, phase),
        ports=read_link_ports(plan, fpga, phase),
        crossings=read_crossings(plan, fpga, phase),
        slots=read_slots(plan, fpga, phase),
        outside=outside_ends(channel[end] for channel in channels for end in ("source", "target")),
        host_port=Box.of_cells(entry["host_port"]),
        link_port=None if entry["link_port"] is None else Box.of_cells(entry["link_port"]),
        note=f"not stated in the board's file, so nothing is reserved for it: {unstated}" if unstated else "",
        regions=tuple(_read_regions(plan, fpga, phase)),
        edge_ports=tuple(read_edge_ports(plan, fpga, phase).values()),
        longest=read_longest(plan, fpga, phase),
    )


def _read_regions(plan: Plan, fpga: str, phase: int) -> Iterator[RegionView]:
    here = plan["phases"][phase].get("region")
    for region in (plan.get("reconfigurable") or {"regions": []})["regions"]:
        if region["fpga"] == fpga:
            owned = tuple(map(Box.of_cells, region["owned"]))
            yield RegionView(region["name"], Box.of_cells(region["rectangle"]), owned, region["name"] == here)


def _read_modules(plan: Plan, fpga: str, phase: int) -> Iterator[ModuleView]:
    content = plan["phases"][phase]
    for number, module in enumerate(modules_in_order(plan, phase), start=1):
        pblock = content["floorplan"][fpga]["pblocks"].get(module["name"])
        if pblock is not None:
            demand, supply = pblock["demand"], pblock["supply"]
            yield ModuleView(
                number=number,
                name=module["name"],
                slot=pblock["slot"],
                boxes=tuple(map(Box.of_cells, pblock["rectangles"])),
                contents=read_contents(plan, phase, module["engines"]),
                lut=int(demand["LUT"]),
                fill={name: demand[name] / supply[name] for name in RESOURCE_NAMES if supply[name]},
                style=content["constraint_styles"][pblock["slot"]],
            )
