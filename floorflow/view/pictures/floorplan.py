"""The floorplan of one FPGA as a figure: silicon, modules in dataflow order, streams, table and key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan
from floorflow.view.contents.networks import module_networks
from floorflow.view.contents.plan_reader import read_scene
from floorflow.view.contents.scene import Scene, StreamView
from floorflow.view.draw.background import draw_background, draw_holes, label_background
from floorflow.view.draw.labels import Label, place_labels
from floorflow.view.draw.legend import draw_legend, legend_height
from floorflow.view.draw.margins import (
    FILL_KEY,
    MODULE_TABLE_WIDTH,
    draw_key,
    draw_module_table,
    draw_slots,
    module_table_height,
    slots_height,
)
from floorflow.view.draw.pblocks import PBLOCK_STYLES
from floorflow.view.draw.port_marks import draw_port_marks
from floorflow.view.draw.regions import REGION_KEY, draw_regions, name_regions
from floorflow.view.draw.streams import Reach, Stops, StreamLine, draw_stream_lines, label_crossings, stream_line
from floorflow.view.draw.use_bars import BAR_KEY
from floorflow.view.draw.way_marks import draw_edge_ports, draw_way_marks, way_keys
from floorflow.view.sheet.die import FABRIC, Die, die_of
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import (
    COLUMN_COLOURS,
    DOUBT,
    INK,
    QUIET,
    Colour,
    colours_by_network,
    module_colours,
)
from floorflow.view.sheet.sheet import Frame, Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import Occupied

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_MARGIN, _SLOTS_WIDTH, _GUTTER, _DIE_WIDTH = 18.0, 136.0, 66.0, (410.0, 600.0)
_HEADER, _NOTE, _KEY, _AXIS = 50.0, 14.0, 42.0, 16.0
"""Heights of title, note below it, key and clock-region numbers, in points; the die's width is between two values."""


@dataclass(frozen=True)
class _Layout:
    """The sheet, the die on it, and the boxes of slots and table beside it."""

    sheet: Sheet
    frame: Frame
    slots: Box
    module_table: Box


def floorplan(plan: Plan, platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the floorplan of one FPGA.

    ``plan`` is plan.json as a plain dict (`docs/plan.md`), ``phase`` an index into its ``phases``.

    Raises
    ------
    InputError
        If the plan has no floorplan of that FPGA, or the platform no such FPGA.

    """
    scene, die = read_scene(plan, fpga, phase), die_of(platform, fpga)
    with drawing_settings():
        layout = _lay_out(scene, die)
        colours = colours_of(plan, scene, phase)
        _draw_die(layout, scene, die, colours)
        _draw_margins(layout, scene, die, colours)
        return layout.sheet.figure


def colours_of(plan: Plan, scene: Scene, phase: int) -> dict[str, Colour]:
    """Return the modules' colours; the ramp runs over the modules of all FPGAs."""
    ramp = colours_in_order(plan, phase)
    return {module.name: ramp[module.number - 1] for module in scene.modules}


def colours_in_order(plan: Plan, phase: int) -> tuple[Colour, ...]:
    """Return the colours of all modules in dataflow order: one ramp, or one for each network of several."""
    networks = module_networks(plan, phase)
    return colours_by_network(networks) if len(plan["networks"]) > 1 else module_colours(len(networks))


def _lay_out(scene: Scene, die: Die) -> _Layout:
    """Give the die the height of the table of modules, within limits that keep the sheet readable on a screen."""
    proportion = proportion_of(die)
    die_width = min(max(module_table_height(scene) / proportion, _DIE_WIDTH[0]), _DIE_WIDTH[1])
    die_height = die_width * proportion
    body = max(die_height + _AXIS, module_table_height(scene), slots_height(scene.slots))
    width = _MARGIN + _SLOTS_WIDTH + _GUTTER + die_width + _GUTTER + MODULE_TABLE_WIDTH + _MARGIN
    top = _MARGIN + _KEY + body
    left = _MARGIN + _SLOTS_WIDTH + _GUTTER
    right = left + die_width + _GUTTER
    return _Layout(
        sheet=new_sheet(width, top + _HEADER + (_NOTE if scene.note else 0) + legend_height(scene.networks)),
        frame=Frame(Box(left, top - die_height, left + die_width, top), die.column_count, die.row_count),
        slots=Box(_MARGIN, top - body, _MARGIN + _SLOTS_WIDTH, top),
        module_table=Box(right, top - body, right + MODULE_TABLE_WIDTH, top),
    )


def proportion_of(die: Die) -> float:
    """Return height over width of a die as drawn: its own, within limits that suit a screen."""
    return min(max(die.height_over_width, 0.7), 1.8)


def _draw_die(layout: _Layout, scene: Scene, die: Die, colours: Mapping[str, Colour]) -> None:
    sheet, frame = layout.sheet, layout.frame
    draw_background(sheet, frame, die)
    draw_regions(sheet, frame, scene.regions)
    occupied = Occupied()
    port_marks = draw_port_marks(sheet, frame, scene, occupied)
    labels = draw_modules(sheet, frame, scene, die, colours, occupied=occupied, names=True)
    name_regions(sheet, frame, scene.regions, occupied)
    label_background(sheet, frame, die, occupied)
    stream_lines = stream_lines_between(scene, die, frame, labels | port_marks)
    draw_stream_lines(sheet, stream_lines)
    draw_edge_ports(sheet, frame, scene.edge_ports)
    draw_way_marks(sheet, stream_lines, occupied)
    label_crossings(sheet, stream_lines, [frame.place(box).top for _, box in die.slrs[:-1]], occupied)


def draw_modules(
    sheet: Sheet,
    frame: Frame,
    scene: Scene,
    die: Die,
    colours: Mapping[str, Colour],
    *,
    occupied: Occupied,
    names: bool,
) -> dict[str, Box]:
    """Draw the modules' pblocks and labels, with or without names; return the labels' boxes by module."""
    for module in scene.modules:
        boxes, colour = [frame.place(box) for box in module.boxes], colours[module.name]
        style = PBLOCK_STYLES[module.style]
        patch = sheet.shape(boxes, **style.area(colour), zorder=5)
        patch.set_gid(module.name)
        sheet.shape(boxes, **style.outline(colour), zorder=6)
    draw_holes(sheet, frame, die)
    areas = [(module, frame.place(module.box)) for module in scene.modules]
    labels = place_labels(areas, occupied, names=names)
    for label in labels.values():
        draw_label(sheet, label)
    return {name: label.box for name, label in labels.items()}


def draw_label(sheet: Sheet, label: Label) -> None:
    """Draw a label in its box, with a line to where it belongs if that is elsewhere."""
    if label.leader is not None:
        sheet.line(label.leader, label.box.centre, color=INK, linewidth=0.6, zorder=12)
    patch = {
        "boxstyle": "round,pad=0.22",
        "facecolor": "white",
        "edgecolor": "#6b7078",
        "linewidth": 0.5,
    }
    plain = len(label.lines) == 1 and not label.turned
    style: dict[str, Any] = {"ha": "center", "va": "center_baseline" if plain else "center", "zorder": 13}
    rotation = 90 if label.turned else 0
    text = "\n".join(label.lines)
    sheet.write(*label.box.centre, text, label.size, bbox=patch, rotation=rotation, linespacing=1.1, **style)


def stream_lines_between(
    scene: Scene, die: Die, frame: Frame, ends: Mapping[str, Box], scale: float = 1.0
) -> tuple[StreamLine, ...]:
    """Lead the streams from module to module and port, whose boxes are in points.

    A stream that only passes from link to link at one port has no line on the die.
    """
    modules = {module.name: _slr_at(die, module.box) for module in scene.modules}
    links = {port.name for port in scene.ports}

    def reach(stream: StreamView) -> Reach:
        if not links.isdisjoint((stream.source, stream.target)):
            return "link"
        slrs = {modules.get(end, _slr_at(die, scene.host_port)) for end in (stream.source, stream.target)}
        if len(slrs) > 1:
            return "fpga"
        outside = [scene.outside[end] for end in (stream.source, stream.target) if end in scene.outside]
        return outside[0].kind if outside else "slr"

    return tuple(
        stream_line(stream, ends, reach(stream), scale, stops_of(stream, die, frame))
        for stream in scene.streams
        if stream.source in ends and stream.target in ends and ends[stream.source] != ends[stream.target]
    )


def stops_of(stream: StreamView, die: Die, frame: Frame) -> Stops:
    """Return what a stream passes on the die, in points."""
    tops = {name: slr.top for name, slr in die.slrs}
    ports = [None if port is None else frame.point(*port.point) for port in stream.ports]
    slls = tuple(frame.point(sll.x, tops[sll.slr]) for sll in stream.slls)
    return Stops(ports[0], slls, ports[1])


def _slr_at(die: Die, box: Box) -> str:
    return next(name for name, slr in die.slrs if slr.bottom <= box.bottom < slr.top)


def _draw_margins(layout: _Layout, scene: Scene, die: Die, colours: Mapping[str, Colour]) -> None:
    sheet, frame = layout.sheet, layout.frame
    sheet.write(_MARGIN, sheet.height - 24, scene.title, 14, weight="bold")
    sheet.write(_MARGIN, sheet.height - 39, scene.subtitle, 9, color=QUIET)
    legend_top = sheet.height - 45
    if scene.note:
        sheet.write(_MARGIN, sheet.height - 39 - _NOTE, scene.note, 9, weight="bold", color=DOUBT)
        legend_top -= _NOTE
    draw_legend(sheet, _MARGIN, legend_top, scene.networks)
    draw_slots(sheet, layout.slots, scene.slots, {name: frame.place(box) for name, box in die.slrs})
    draw_module_table(sheet, layout.module_table, scene, colours)
    key = Box(_MARGIN, _MARGIN, sheet.width - _MARGIN, _MARGIN + _KEY - 6)
    styles = {module.style for module in scene.modules}
    below = draw_die_key(sheet, key, [die], linked=bool(scene.ports), outside=outside_kinds(scene), styles=styles)
    told = [BAR_KEY, FILL_KEY, *([REGION_KEY] if scene.regions else []), *way_keys(scene)]
    sheet.write(_MARGIN, below, "   ·   ".join(told), 7, color=QUIET)


def outside_kinds(scene: Scene) -> set[str]:
    """Return the kinds of ends outside that the streams of an FPGA have."""
    ends = {end for stream in scene.streams for end in (stream.source, stream.target)}
    return {scene.outside[end].kind for end in ends & scene.outside.keys()}


def draw_die_key(
    sheet: Sheet,
    area: Box,
    dies: Sequence[Die],
    *,
    linked: bool,
    outside: Collection[str],
    styles: Collection[str],
    streams: bool = True,
) -> float:
    """Draw the key of what occurs on the dies; return where the next line is."""
    present = {kind for die in dies for row in die.kinds for kind in row} - {FABRIC}
    return draw_key(
        sheet,
        area,
        kinds=[kind for kind in COLUMN_COLOURS if kind in present],
        has_static=any(die.static for die in dies),
        has_reserved=any(die.reserved for die in dies),
        crosses=any(len(die.slrs) > 1 for die in dies),
        outside=outside,
        linked=linked,
        styles=styles,
        streams=streams,
    )
