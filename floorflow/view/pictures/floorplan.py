"""The floorplan of one FPGA: silicon, modules in dataflow order, streams, use of slots, table of modules and key."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floorflow.view.background import PBLOCK_STYLES, die_key, draw_background, draw_holes, label_background
from floorflow.view.box import Box
from floorflow.view.channels import CrossingView
from floorflow.view.die import Die, Frame, die_of
from floorflow.view.labels import draw_port_marks, module_wordings, number_wordings, place_labels
from floorflow.view.names import Plan
from floorflow.view.palette import CROSSING, DOUBT, INK, LINK, QUIET, RULE, darker
from floorflow.view.parts import (
    BAR_KEY,
    BAR_ROW,
    MARGIN,
    ROW,
    Entry,
    draw_bars,
    draw_key,
    draw_legend,
    legend_height,
    write_head,
)
from floorflow.view.scene import ModuleView, RegionView, Scene, read_scene
from floorflow.view.sheet import Sheet, Style
from floorflow.view.streams import (
    draw_edge_ports,
    draw_stream_lines,
    draw_way_marks,
    label_crossings,
    stream_key,
    stream_lines_between,
    way_texts,
)
from floorflow.view.text import Occupied, block_size, shortened

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_SLOTS_WIDTH, _GUTTER, _DIE_WIDTH, _TABLE_WIDTH = 136.0, 66.0, (410.0, 600.0), 592.0
_HEADER, _NOTE, _KEY, _AXIS = 50.0, 14.0, 42.0, 16.0
"""Heights of title, note below it, key and clock-region numbers, in points; the die's width is between two values."""
_SIZE = 7.2
_MAX_CROSSINGS = 14
_COLUMNS = {"name": 24.0, "operations": 138.0, "engines": 286.0, "LUT": 484.0, "fill": 528.0, "tightest": 536.0}
"""Where the table's columns begin, or end for the right-aligned ``LUT`` and ``fill``."""
_HEADINGS = {
    "name": "module",
    "operations": "operations of the network",
    "engines": "engines",
    "LUT": "LUT",
    "fill": "pblock fill",
    "tightest": "fullest",
}
_FILL_KEY = "pblock fill: share of the LUTs inside it that the module needs; fullest: its scarcest resource"
_REGION_KEY = "hatched: reconfigurable region (firm: that of this phase)"
_REGION = "#7a3e9d"

Row = ModuleView | CrossingView | tuple[str, str]
"""What a line of the table of modules shows; of a text whether it is a ``slot``, a ``note`` or a ``gap``."""


@dataclass(frozen=True)
class _Layout:
    """The sheet, the die on it, and the boxes of slots and table beside it."""

    sheet: Sheet
    frame: Frame
    slots: Box
    table: Box


def floorplan(plan: Plan, platform: Platform, fpga: str, phase: int = 0) -> Sheet:
    """Draw the floorplan of one FPGA.

    ``plan`` is plan.json as a plain dict (`docs/plan.md`), ``phase`` an index into its ``phases``.

    Raises InputError if the plan has no floorplan of that FPGA, or the platform no such FPGA.
    """
    scene, die = read_scene(plan, fpga, phase), die_of(platform, fpga)
    rows = _table(scene)
    layout = _lay_out(scene, die, ROW * (len(rows) + 2))
    sheet, frame = layout.sheet, layout.frame
    draw_die(sheet, frame, scene, die)
    top = write_head(sheet, scene.title, scene.subtitle)
    for note, colour in ((scene.note, DOUBT), (scene.unconstrained, INK)):
        if note:
            sheet.write(MARGIN, top - 6, note, 9, bold=True, colour=colour)
            top -= _NOTE
    draw_legend(sheet, top + 1, scene.networks)
    _draw_slots(layout, scene, die)
    _draw_table(sheet, layout.table, scene, rows)
    below = draw_key(sheet, MARGIN + _KEY - 14, floorplan_key(scene, die))
    sheet.write(MARGIN, below, "   ·   ".join([BAR_KEY, _FILL_KEY, *marks_key(scene)]), 7, colour=QUIET)
    return sheet


def floorplan_key(scene: Scene, die: Die) -> Iterator[Entry]:
    """Yield the key of what `draw_die` draws by colour and line."""
    yield from die_key([die], {module.style for module in scene.modules if not scene.unconstrained})
    yield from stream_key([scene], [die])


def marks_key(scene: Scene) -> Iterator[str]:
    """Yield what its marks mean."""
    yield from [_REGION_KEY] if scene.regions else []
    yield from way_texts(scene)


def _lay_out(scene: Scene, die: Die, table_height: float) -> _Layout:
    """Give the die the height of the table of modules, within limits that keep the sheet readable on a screen."""
    die_width = min(max(table_height / die.proportion, _DIE_WIDTH[0]), _DIE_WIDTH[1])
    die_height = die_width * die.proportion
    slots_height = sum(9 + 9.5 + len(slot.use) * BAR_ROW + 11 for slot in scene.slots)
    top = MARGIN + _KEY + max(die_height + _AXIS, table_height, slots_height)
    left = MARGIN + _SLOTS_WIDTH + _GUTTER
    right = left + die_width + _GUTTER
    header = _HEADER + _NOTE * (bool(scene.note) + bool(scene.unconstrained)) + legend_height(scene.networks)
    return _Layout(
        sheet=Sheet(right + _TABLE_WIDTH + MARGIN, top + header),
        frame=Frame.of(die, left, top, die_width),
        slots=Box(MARGIN, MARGIN + _KEY, MARGIN + _SLOTS_WIDTH, top),
        table=Box(right, MARGIN + _KEY, right + _TABLE_WIDTH, top),
    )


def draw_die(sheet: Sheet, frame: Frame, scene: Scene, die: Die) -> None:
    """Draw the silicon with modules, ports and streams, and what is named on it."""
    draw_background(sheet, frame, die)
    _draw_regions(sheet, frame, scene)
    occupied = Occupied()
    if scene.unconstrained:
        label_background(sheet, frame, die, occupied)
        return
    port_marks = draw_port_marks(sheet, frame, scene, occupied)
    labels = draw_modules(sheet, frame, scene, die, occupied, names=True)
    for region in scene.regions:
        _name_region(sheet, frame.place(region.box), region, occupied)
    label_background(sheet, frame, die, occupied)
    lines = stream_lines_between(scene, die, frame, labels | port_marks)
    draw_stream_lines(sheet, lines)
    draw_edge_ports(sheet, frame, scene.edge_ports)
    draw_way_marks(sheet, lines, occupied)
    label_crossings(sheet, lines, [frame.place(box).top for _, box in die.slrs[:-1]], occupied)


def draw_modules(
    sheet: Sheet, frame: Frame, scene: Scene, die: Die, occupied: Occupied, *, names: bool
) -> dict[str, Box]:
    """Draw the modules' pblocks and labels, with or without names; return the labels' boxes by module."""
    for module in scene.modules:
        boxes = [frame.place(box) for box in module.boxes]
        area, outline = PBLOCK_STYLES[module.style].of(module.colour)
        sheet.shape(boxes, **area, z=5, name=module.name)
        sheet.shape(boxes, **outline, z=6)
    draw_holes(sheet, frame, die)
    placed = [
        (module.number, frame.place(module.box), module_wordings(module) if names else number_wordings(module.number))
        for module in scene.modules
    ]
    labels = place_labels(placed, occupied)
    for label in labels.values():
        label.draw(sheet)
    return {module.name: labels[module.number].box for module in scene.modules}


def _draw_regions(sheet: Sheet, frame: Frame, scene: Scene) -> None:
    """Hatch what each reconfigurable region owns and outline all of it."""
    for region in scene.regions:
        colour = _REGION if region.here else QUIET
        boxes = [frame.place(box) for box in region.boxes]
        sheet.shape(boxes, fill=colour, hatch="\\", hatch_colour=colour, opacity=0.07, hatch_opacity=0.45, z=4.5)
        dashes = () if region.here else (4.0, 2.0)
        sheet.rectangle(frame.place(region.box), edge=colour, width=1.8, dashes=dashes, z=6.5)


def _name_region(sheet: Sheet, area: Box, region: RegionView, occupied: Occupied) -> None:
    """Write a region's name at a corner inside it, or above or below it, if there is room."""
    text = f"region {region.name}"
    width, height = block_size((text,), 7.0)
    left, right = area.left + width / 2 + 5, area.right - width / 2 - 5
    inside = [(x, y) for y in (area.top - height, area.bottom + height) for x in (left, right, area.centre[0])]
    beyond = [(x, y) for y in (area.top + height, area.bottom - height) for x in (left, right)]
    box = occupied.take_first(Box.around(x, y, width + 4, height + 4) for x, y in (*inside, *beyond))
    if box is not None:
        colour = _REGION if region.here else QUIET
        plate: Style = {"fill": "white", "edge": colour, "width": 0.6, "pad": 1.4}
        sheet.sign(box, text, 7.0, colour=colour, plate=plate, z=12.5)


def _draw_slots(layout: _Layout, scene: Scene, die: Die) -> None:
    """Draw beside each SLR how much of what its slots offer is used, and how much may be."""
    sheet, left, right, below = layout.sheet, layout.slots.left, layout.slots.right, layout.slots.top
    slrs = {name: layout.frame.place(box).top for name, box in die.slrs}
    for name, top in sorted(slrs.items(), key=lambda item: -item[1]):
        y = min(top, below) - 9
        for slot in (item for item in scene.slots if item.slr == name):
            sheet.write(left, y, shortened(slot.label, right - left, 10), 10, bold=True)
            style = f"; {PBLOCK_STYLES[slot.style].slot}" if slot.modules else ""
            count = f"{len(slot.modules)} module{'s' * (len(slot.modules) != 1)}{style}"
            sheet.write(left, y - 9.5, count, 6.2, colour=QUIET)
            below = draw_bars(sheet, left, right, y - 9.5, slot.use) - 11
            y = below - 9


def _table(scene: Scene) -> list[Row]:
    """Return the lines of the table of modules, top slot first, then crossings."""
    rows: list[Row] = []
    for slot in scene.slots:
        rows.append(("slot", slot.name))
        rows += [module for module in scene.modules if module.slot == slot.name]
        rows += [("note", f"{name}  (infrastructure, {lut:,} LUT)") for name, lut in slot.infrastructure]
        rows.append(("gap", ""))
    if scene.crossings:
        ranked = sorted(
            scene.crossings, key=lambda item: (not item.by_link, -item.width_bits, item.source, item.target)
        )
        shown = set(ranked[:_MAX_CROSSINGS])
        places = "slots and over links" if scene.ports else "slots"
        rows.append(("slot", f"streams between {places}: {len(ranked)}"))
        rows += [item for item in sorted(scene.crossings, key=_in_dataflow) if item in shown]
        if len(ranked) > _MAX_CROSSINGS:
            rows.append(("note", f"and {len(ranked) - _MAX_CROSSINGS} narrower ones, all in plan.json"))
    return rows


def _in_dataflow(item: CrossingView) -> tuple[int, int]:
    """Order streams by where they begin, then by where they end: the host's inputs first, its outputs last."""
    source, target = item.ends
    return int(source) if source.isdigit() else 0, int(target) if target.isdigit() else sys.maxsize


def _draw_table(sheet: Sheet, area: Box, scene: Scene, rows: list[Row]) -> None:
    """Draw the table of modules and crossings into ``area`` (points), top down."""
    headings = _HEADINGS | ({"engines": f"engines, {scene.parallelism}"} if scene.parallelism else {})
    for name, x in _COLUMNS.items():
        align = "end" if name in ("LUT", "fill") else "start"
        sheet.write(area.left + x, area.top - 8, headings[name], 6.5, colour=QUIET, align=align)
    labels = {slot.name: slot.label for slot in scene.slots}
    text_left = area.left + _COLUMNS["name"]
    for index, row in enumerate(rows, start=1):
        y = area.top - 8 - index * ROW
        if isinstance(row, ModuleView):
            _draw_module(sheet, area.left, y, row)
        elif isinstance(row, CrossingView):
            # Bold letters are about a tenth wider.
            ends = shortened(" → ".join(row.ends), 0.9 * (_COLUMNS["operations"] - _COLUMNS["name"] - 4), _SIZE)
            slots = " → ".join(slot if row.by_link else labels[slot] for slot in (row.source, row.target))
            sheet.write(text_left, y, ends, _SIZE, colour=LINK if row.by_link else CROSSING, bold=True)
            load = f"{slots}:  {row.width_bits} bit,  {row.gbps:.3g} Gb/s"
            sheet.write(area.left + _COLUMNS["operations"], y, load, _SIZE)
        elif row[0] == "slot":
            sheet.write(area.left, y, row[1], 7.8, bold=True)
            sheet.line((area.left, y - 2.6), (area.right, y - 2.6), colour=RULE, width=0.6)
        elif row[0] == "note":
            sheet.write(text_left, y, shortened(row[1], area.right - text_left, _SIZE), _SIZE, colour=QUIET)


def _draw_module(sheet: Sheet, left: float, y: float, module: ModuleView) -> None:
    swatch = Box(left, y - 2.4, left + 19, y + 7.6)
    sheet.rectangle(swatch, fill=module.colour, edge=darker(module.colour), width=0.7, z=15)
    sheet.write(swatch.centre[0], y, str(module.number), _SIZE, bold=True, align="middle")
    columns, contents = _COLUMNS, module.contents
    cells = {
        "name": shortened(module.name, columns["operations"] - columns["name"] - 6, _SIZE),
        "operations": contents.operations_text(columns["engines"] - columns["operations"] - 6, _SIZE),
        "tightest": f"{module.tightest} {module.fill.get(module.tightest, 0.0):.0%}",
    }
    for name, text in cells.items():
        sheet.write(left + columns[name], y, text, _SIZE)
    engines = contents.engines_text(columns["LUT"] - 36 - columns["engines"], _SIZE)
    sheet.write(left + columns["engines"], y, engines, _SIZE, colour=QUIET)
    sheet.write(left + columns["LUT"], y, f"{module.lut:,}", _SIZE, align="end")
    sheet.write(left + columns["fill"], y, f"{module.fill.get('LUT', 0.0):.0%}", _SIZE, align="end")
