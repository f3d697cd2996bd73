"""Read from plan.json (as a plain dict, `docs/plan.md`) what one FPGA's picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from floorflow.view.colouring import colouring_of
from floorflow.view.names import (
    TIMES,
    NetworkView,
    Plan,
    core_rank,
    engines_by_id,
    headline,
    modules_in_order,
    rate_text,
    read_networks,
)
from floorflow.view.palette import Colour
from floorflow.view.slots import SlotView, read_slots
from floorflow.view.text import shortened, text_width


@dataclass(frozen=True)
class Contents:
    """What a module holds, as text; its core engines and their operations come first, of these those with weights.

    A module ``is_merged`` if it holds more than one core engine with weights: then ``engine_texts`` count its engines
    by label, and ``operations`` are in dataflow order.
    """

    engine_texts: tuple[str, ...]
    operations: tuple[str, ...]
    engine_count: int
    is_merged: bool

    @property
    def headline(self) -> str:
        """The one thing to say of the module: its core engine's folding, or how many engines it holds."""
        return f"{self.engine_count} engines" if self.is_merged else next(iter(self.engine_texts), "")

    def operations_text(self, width: float, size: float) -> str:
        """Name the operations in at most ``width`` points: their range if merged, else two at most."""
        names = self.operations
        if self.is_merged and len(names) > 1:
            return _joined((names[0], names[-1]), " to ", "", width, size)
        rest = f" +{len(names) - 2} more" if len(names) > 2 else ""
        return _joined(names[:2], ", ", rest, width, size)

    def layer_text(self, width: float, size: float) -> str:
        """Name what to look for on the die: the core engine's operation, or the range if merged."""
        return (
            self.operations_text(width, size) if self.is_merged else _joined(self.operations[:1], "", "", width, size)
        )

    def engines_text(self, width: float, size: float) -> str:
        """Name the engines in at most ``width`` points, whole words only: ``conv 8x16, window, +2 more``."""
        start = f"{self.engine_count} engines: " if self.is_merged else ""
        more = "kinds" if self.is_merged else "more"
        for count in range(len(self.engine_texts), 0, -1):
            rest = len(self.engine_texts) - count
            text = start + ", ".join((*self.engine_texts[:count], *([f"+{rest} {more}"] if rest else [])))
            if text_width(text, size) <= width:
                return text
        return f"{self.engine_count} engines"


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
    colour: Colour

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
    colours_say: str
    legend: tuple[tuple[str, Colour], ...]
    """What the colours of modules say, and samples of them."""
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
    at_boundaries: str
    """What streams have at the SLR boundaries that they cross."""
    copies: Mapping[str, Box] = field(default_factory=dict)
    """Where the host's streams of each copy of a network enter and leave, by its name."""
    unconstrained: str = ""
    """Why there is no floorplan, where one module fills a die of one SLR: no rectangle is drawn."""

    def host_port_of(self, end: str) -> Box:
        """Return where an end outside the engines enters or leaves."""
        return self.copies.get(self.outside[end].network, self.host_port)

    @property
    def outside_kinds(self) -> set[str]:
        """The kinds of ends outside that the streams have."""
        ends = {end for stream in self.streams for end in (stream.source, stream.target)}
        return {self.outside[end].kind for end in ends & self.outside.keys()}


def read_scene(plan: Plan, fpga: str, phase: int = 0, by: str | None = None) -> Scene:
    """Read everything that the picture of one FPGA shows, its modules coloured ``by`` one of `COLOURINGS`.

    Raises InputError if the plan has no floorplan of that FPGA, or there is no such colouring.
    """
    floorplans, channels = plan["phases"][phase]["floorplan"], plan["phases"][phase]["channels"]
    if fpga not in floorplans:
        known = ", ".join(sorted(floorplans)) or "none"
        raise InputError(
            f"plan.json: phases[{phase}].floorplan has no '{fpga}'; it has: {known}", hint="name one of these"
        )
    entry = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    unstated = ", ".join(entry.get("unstated", ()))
    colouring = colouring_of(plan, phase, by)
    modules = tuple(_read_modules(plan, fpga, phase, colouring.colours))
    return Scene(
        fpga=fpga,
        title=headline(plan, f"{entry['board']}, {fpga}", phase),
        subtitle=rate_text(plan, phase),
        networks=read_networks(plan, phase),
        parallelism=parallelism_text(plan, phase),
        modules=modules,
        colours_say=colouring.says,
        legend=tuple(colouring.legend(module.colour for module in modules)),
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
        at_boundaries=_at_boundaries(entry.get("crossing", {}), built=plan["phases"][phase].get("slices_built", False)),
        copies={copy["network"]: Box.of_cells(copy["port"]) for copy in copies_of(plan)},
        unconstrained=filled_by_one(plan, fpga, phase),
    )


def copies_of(plan: Plan) -> list[Mapping[str, Any]]:
    """Return the copies of a network that a card holds; none where there are no several."""
    found: list[Mapping[str, Any]] = (plan.get("replicas") or {"placed": []})["placed"]
    return found if len(found) > 1 else []


def filled_by_one(plan: Plan, fpga: str, phase: int) -> str:
    """Say why an FPGA has no floorplan: one module fills its only SLR, so that nothing is constrained; else nothing."""
    content = plan["phases"][phase]
    pblocks = content["floorplan"][fpga]["pblocks"]
    styles = {content["constraint_styles"][pblock["slot"]] for pblock in pblocks.values()}
    if plan["options"]["constraint_style"] != "auto" or styles != {"none"}:
        return ""
    largest = max(pblocks, key=lambda name: pblocks[name]["demand"]["LUT"])
    share = pblocks[largest]["demand"]["LUT"] / sum(pblock["demand"]["LUT"] for pblock in pblocks.values())
    return f"no floorplan: the module {largest} has {share:.0%} of the plan's LUTs, no pblock is needed"


def _read_regions(plan: Plan, fpga: str, phase: int) -> Iterator[RegionView]:
    here = plan["phases"][phase].get("region")
    for region in (plan.get("reconfigurable") or {"regions": []})["regions"]:
        if region["fpga"] == fpga:
            owned = tuple(map(Box.of_cells, region["owned"]))
            yield RegionView(region["name"], Box.of_cells(region["rectangle"]), owned, region["name"] == here)


def _at_boundaries(crossing: Mapping[str, Any], *, built: bool) -> str:
    """Say whether what is planned at SLR boundaries is built."""
    return "FIFO each side" if built and crossing.get("fifos") else "no registers built"


def _read_modules(plan: Plan, fpga: str, phase: int, colours: Sequence[Colour]) -> Iterator[ModuleView]:
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
                colour=colours[number - 1],
            )


def _joined(names: Sequence[str], between: str, after: str, width: float, size: float) -> str:
    """Join names, each shortened in its middle to the same width if they do not fit."""
    whole = between.join(names) + after
    if not names or text_width(whole, size) <= width:
        return whole
    room = (width - text_width(between * (len(names) - 1) + after, size)) / len(names)
    return between.join(shortened(name, room, size) for name in names) + after


def read_contents(plan: Plan, phase: int, engines: Sequence[str]) -> Contents:
    """Read what a module of these engines holds."""
    known = engines_by_id(plan)
    inside = [(known[name], _folded(plan, phase, name)) for name in engines]
    foremost = min((core_rank(engine) for engine, _ in inside), default=0)
    core_first = sorted(inside, key=lambda pair: core_rank(pair[0]) > foremost)
    is_merged = sum(core_rank(engine) == 0 for engine, _ in inside) > 1
    if is_merged:
        labels = [engine["label"] for engine, _ in core_first]
        core = {engine["label"] for engine, _ in inside if core_rank(engine) == 0}
        commonest = sorted(dict.fromkeys(labels), key=lambda label: (label not in core, -labels.count(label)))
        engine_texts = tuple(f"{labels.count(label)} {label}" for label in commonest)
    else:
        engine_texts = tuple(dict.fromkeys(_engine_text(engine, folding) for engine, folding in core_first))
    operations = dict.fromkeys(engine["operation"] for engine, _ in (inside if is_merged else core_first))
    return Contents(engine_texts, tuple(operations), len(engines), is_merged)


def parallelism_text(plan: Plan, phase: int) -> str:
    """Return what the numbers of the phase's core engines count, of the one with the most, or nothing."""
    core = (name for name, engine in engines_by_id(plan).items() if engine["role"] == "core")
    names = [[str(part["name"]) for part in _folded(plan, phase, name).get("parallelism", ())] for name in core]
    longest: list[str] = max(names, key=len, default=[])
    return TIMES.join(longest)


def _folded(plan: Plan, phase: int, engine: str) -> Mapping[str, Any]:
    """Return how an engine is folded in a phase; nothing if it does not run there."""
    foldings = (network["folding"]["engines"] for network in plan["phases"][phase]["networks"])
    return next((engines[engine] for engines in foldings if engine in engines), {})


def _engine_text(engine: Mapping[str, Any], folding: Mapping[str, Any]) -> str:
    """Return an engine's label, of a core engine with its parallelism."""
    values = [str(part["value"]) for part in folding.get("parallelism", ())] if engine["role"] == "core" else []
    return " ".join([engine["label"], *([TIMES.join(values)] if values else [])])
