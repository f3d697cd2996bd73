"""The floorplan of one FPGA: silicon, modules in dataflow order, streams, use of slots, table of modules and key."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floorflow.view.background import PBLOCK_STYLES, PLATE, die_key, draw_background, draw_holes, label_background
from floorflow.view.box import Box
from floorflow.view.channels import CrossingView
from floorflow.view.colouring import ORDER
from floorflow.view.die import Die, Frame, die_of
from floorflow.view.labels import draw_port_marks, module_wordings, number_wordings, place_labels
from floorflow.view.names import Plan
from floorflow.view.palette import CROSSING, DOUBT, INK, LINK, QUIET, RULE, darker
from floorflow.view.parts import (
    BAR_KEY,
    BAR_ROW,
    KEY_SIZE,
    MARGIN,
    PAGE_HEAD,
    PAGE_PAD,
    ROW,
    Entry,
    draw_bars,
    draw_key,
    draw_legend,
    draw_number,
    key_lines,
    legend_height,
    write_head,
)
from floorflow.view.scene import ModuleView, RegionView, Scene, read_scene
from floorflow.view.sheet import REVIEW, PictureStyle, Sheet, Style
from floorflow.view.slots import SlotView, Use
from floorflow.view.streams import (
    draw_edge_ports,
    draw_stream_lines,
    draw_way_marks,
    label_crossings,
    stream_key,
    stream_lines_between,
    way_texts,
)
from floorflow.view.text import Occupied, block_size, shortened, text_width

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_SLOTS_WIDTH, _GUTTER, _DIE_WIDTH, _EMPTY_DIE, _TABLE_WIDTH = 148.0, 66.0, (410.0, 600.0), 240.0, 330.0
_HEADER, _NOTE, _AXIS, _GAP = 50.0, 14.0, 16.0, 18.0
"""Points. The die's width is between two values, that of a die without floorplan one; the table's is the least.

Heights of title, note below it and clock-region numbers; the gap lies before the key."""
_SIZE = 7.2
_MAX_CROSSINGS = 14
_FULL = 0.5
"""Of the height of a die what stands beside it takes at least."""
_SAID, _MOST_SAID, _USE, _SCALE = 0.6, 90.0, 128.0, 0.6
"""Of a page the most that a die beside its key takes; points for a module and a slot in the key; width of streams."""
_HEADINGS = {
    "name": "module",
    "operations": "operations of the network",
    "engines": "engines",
    "LUT": "LUT",
    "fill": "pblock fill",
    "tightest": "fullest",
}
_MOST = {"name": 108.0, "operations": 142.0, "engines": 162.0}
"""Points that the texts of a column may take."""
_FILL_KEY = ("pblock fill: share of the LUTs inside it that the module needs", "fullest: its scarcest resource")
_REGION_KEY = "hatched: reconfigurable region (firm: that of this phase)"
_REGION = "#7a3e9d"

Row = ModuleView | CrossingView | tuple[str, str]
"""What a line of the table of modules shows; of a text whether it is a ``slot``, a ``note`` or a ``gap``."""


@dataclass(frozen=True)
class _Layout:
    """The sheet, the die on it, and the boxes of slots, table and key."""

    sheet: Sheet
    frame: Frame
    slots: Box
    table: Box
    key: Box


def floorplan(
    plan: Plan, platform: Platform, fpga: str, phase: int = 0, *, style: PictureStyle = REVIEW, by: str | None = None
) -> Sheet:
    """Draw the floorplan of one FPGA in a style, its modules coloured ``by`` one of `COLOURINGS`.

    ``plan`` is plan.json as a plain dict (`docs/plan.md`), ``phase`` an index into its ``phases``.

    Raises InputError if the plan has no floorplan of that FPGA, the platform no such FPGA, or ``by`` is unknown.
    """
    scene, die = read_scene(plan, fpga, phase, by), die_of(platform, fpga)
    if not style.is_whole:
        return _on_page(scene, die, style)
    rows = _table(scene)
    columns = _columns(rows)
    key = [*legend_key([scene]), *floorplan_key(scene, die)]
    key += [(text, "", {}) for text in (BAR_KEY, *_FILL_KEY, *marks_key(scene))]
    layout = _lay_out(scene, die, rows, columns["end"], key)
    sheet, frame = layout.sheet, layout.frame
    draw_die(sheet, frame, scene, die)
    top = write_head(sheet, scene.title, scene.subtitle)
    for note, colour in ((scene.note, DOUBT), (scene.unconstrained, INK)):
        if note:
            sheet.write(MARGIN, top - 6, note, 9, bold=True, colour=colour)
            top -= _NOTE
    draw_legend(sheet, top + 1, scene.networks, coloured=by in (None, "network"))
    _draw_slots(layout, scene, die)
    _draw_table(sheet, layout.table, scene, rows, columns)
    draw_key(sheet, layout.key.top, key, layout.key.left, layout.key.right)
    return sheet


def _on_page(scene: Scene, die: Die, style: PictureStyle) -> Sheet:
    """Draw the die with numbers, and what they and all else mean: beside it on a wide page, else below."""
    width, pad = style.sheet_width, PAGE_PAD
    is_beside = width > 2 * pad + _DIE_WIDTH[0]
    die_width = min(style.die_height / die.proportion, (_SAID if is_beside else 1.0) * width - 2 * pad)
    die_height = die_width * die.proportion
    sentences: list[Entry] = [(text, "", {}) for text in (scene.unconstrained, *marks_key(scene)) if text]
    rest = [*legend_key([scene], style), *floorplan_key(scene, die), *sentences]
    left = die_width + 3 * pad if is_beside else pad
    head = PAGE_HEAD if style.height else 0.0
    room = style.sheet_height - head - 2 * pad - (0.0 if is_beside else die_height + pad)
    key = [*said([scene], rest, width - pad - left, room), *rest]
    key_height = ROW * len(key_lines(key, width - pad - left))
    used = max(die_height, key_height) if is_beside else die_height + pad + key_height
    sheet = Sheet(width, style.sheet_height if style.height else used + 2 * pad, style=style)
    top = sheet.height - pad - head
    if head:
        write_head(sheet, scene.title, scene.subtitle)
    frame = Frame.of(die, pad if is_beside else (width - die_width) / 2, top, die_width)
    draw_die(sheet, frame, scene, die)
    below = draw_key(sheet, (top if is_beside else top - die_height - pad) - 8, key, left, width - pad)
    if is_beside:
        _draw_uses(sheet, scene, Box(left, pad, width - pad, below - 2))
    return sheet


def _draw_uses(sheet: Sheet, scene: Scene, area: Box) -> None:
    """Draw side by side, as far as there is room, how full the slots with modules are, the fullest first."""
    used = [slot for slot in scene.slots if _shown_use(slot)]
    slots = sorted(used, key=lambda slot: -max(use.share / use.limit for use in slot.use.values()))
    columns = int((area.width + _GAP) / (_USE + _GAP))
    for number, slot in enumerate(slots):
        row, column = divmod(number, columns)
        left, y = area.left + column * (_USE + _GAP), area.top - 8 - row * (9 + BAR_ROW * (len(slot.use) + 1))
        if y - BAR_ROW * len(slot.use) >= area.bottom:
            sheet.write(left, y, slot.label, 8, bold=True)
            draw_bars(sheet, left, left + _USE, y, slot.use)


def said(scenes: Sequence[Scene], rest: Sequence[Entry], width: float, room: float) -> list[Entry]:
    """Return the key of the modules' numbers; of many as much as the room in points allows beside the rest."""
    modules = [module for scene in scenes for module in scene.modules if not scene.unconstrained]
    entries: list[Entry] = []
    for module in modules:
        text = module.contents.layer_text(_MOST_SAID, KEY_SIZE) or shortened(module.name, _MOST_SAID, KEY_SIZE)
        entries.append((text, f"number {module.number}", {"fill": module.colour}))
    for count in range(len(modules), -1, -1):
        rest_text = f"and {len(modules) - count} more modules" if count else "numbers: modules along the dataflow"
        shown = [*entries[:count], *([(rest_text, "", {})] if count < len(modules) else [])]
        if ROW * len(key_lines([*shown, *rest], width)) <= room:
            return shown
    return []


def legend_key(scenes: Sequence[Scene], style: PictureStyle = REVIEW) -> Iterator[Entry]:
    """Yield what the colours of modules say; order is told by the numbers that a page lists with their colours."""
    samples = dict.fromkeys(sample for scene in scenes if not scene.unconstrained for sample in scene.legend)
    samples = {} if scenes[0].colours_say == ORDER and not style.is_whole else samples
    if samples:
        yield f"{scenes[0].colours_say}", "", {}
    for text, colour in samples:
        yield text, "area", {"fill": colour, "edge": darker(colour)}


def floorplan_key(scene: Scene, die: Die) -> Iterator[Entry]:
    """Yield the key of what `draw_die` draws by colour and line."""
    if scene.unconstrained:
        yield from die_key([die])
        return
    yield from die_key([die], {module.style for module in scene.modules})
    yield from stream_key([scene], [die])


def marks_key(scene: Scene) -> Iterator[str]:
    """Yield what its marks mean."""
    yield from [_REGION_KEY] if scene.regions else []
    yield from () if scene.unconstrained else way_texts(scene)


def _lay_out(scene: Scene, die: Die, rows: Sequence[Row], table_width: float, key: Sequence[Entry]) -> _Layout:
    """Give the die the height of the table of modules, within limits that keep the sheet readable on a screen.

    The table stands beside the die, the key below it or below all; both below the die if they are short.
    """
    table_height = ROW * (len(rows) + 1) + 8
    die_width = min(max(table_height / die.proportion, _DIE_WIDTH[0]), _DIE_WIDTH[1])
    die_width = _EMPTY_DIE if scene.unconstrained else die_width
    die_height = die_width * die.proportion
    slots_height = sum(9 + 9.5 + len(_shown_use(slot)) * BAR_ROW + 11 for slot in scene.slots)
    height = max(die_height + _AXIS, slots_height)
    left = MARGIN + _SLOTS_WIDTH + _GUTTER
    right = left + die_width + _GUTTER
    header = _HEADER + _NOTE * (bool(scene.note) + bool(scene.unconstrained)) + legend_height(scene.networks)
    beside = table_height + _GAP + ROW * len(key_lines(key, table_width))
    if scene.unconstrained or beside > _FULL * height:
        start, end = right, right + table_width
        foot = 0.0 if beside <= height else _GAP + ROW * len(key_lines(key, end - MARGIN))
        bottom = MARGIN + foot
        top = table_top = bottom + max(height, beside if not foot else table_height)
    else:
        start, end = MARGIN, max(right, MARGIN + table_width)
        foot = _GAP + ROW * len(key_lines(key, end - start))
        bottom = MARGIN + foot + table_height + _GAP
        top, table_top = bottom + height, bottom - _GAP
    is_beside = not foot
    return _Layout(
        sheet=Sheet(end + MARGIN, top + header),
        frame=Frame.of(die, left, top, die_width),
        slots=Box(MARGIN, bottom, MARGIN + _SLOTS_WIDTH, top),
        table=Box(start, table_top - table_height, end, table_top),
        key=Box(
            start if is_beside else MARGIN,
            0,
            end,
            table_top - table_height - _GAP if is_beside else MARGIN + foot - _GAP,
        ),
    )


def draw_die(sheet: Sheet, frame: Frame, scene: Scene, die: Die) -> None:
    """Draw the silicon with modules, ports and streams, and what is named on it."""
    draw_background(sheet, frame, die, numbered=sheet.style.is_whole)
    _draw_regions(sheet, frame, scene)
    occupied = Occupied()
    if scene.unconstrained:
        for region in scene.regions:
            _name_region(sheet, frame.place(region.box), region, occupied)
        label_background(sheet, frame, die, occupied)
        return
    port_marks = draw_port_marks(sheet, frame, scene, occupied)
    labels = draw_modules(sheet, frame, scene, die, occupied, names=sheet.style.is_whole)
    for region in scene.regions:
        _name_region(sheet, frame.place(region.box), region, occupied)
    label_background(sheet, frame, die, occupied)
    if not sheet.style.is_whole and len(die.slrs) > 1:
        for name, box in die.slrs:
            _name_corner(sheet, frame.place(box), name, occupied)
    scale = 1.0 if sheet.style.is_whole else _SCALE
    lines = stream_lines_between(scene, die, frame, labels | port_marks, scale)
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
    labels = place_labels(placed, occupied, sheet.style.least_type)
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


def _name_corner(sheet: Sheet, area: Box, name: str, occupied: Occupied) -> None:
    """Write an SLR's name at a corner inside it that is free."""
    width, height = block_size((name,), 7.0)
    sides = area.left + width / 2 + 3, area.right - width / 2 - 3
    places = (Box.around(x, y, width, height) for y in (area.top - 7, area.bottom + 7) for x in sides)
    box = occupied.take_first(places)
    if box is not None:
        sheet.sign(box, name, 7.0, colour=QUIET, plate=PLATE, z=12.4)


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
            count = f"{len(slot.modules)} module{'s' * (len(slot.modules) != 1)}; {PBLOCK_STYLES[slot.style].slot}"
            sheet.write(left, y - 9.5, count if slot.modules else "empty", 6.2, colour=QUIET)
            below = draw_bars(sheet, left, right, y - 9.5, _shown_use(slot)) - 11
            y = below - 9


def _shown_use(slot: SlotView) -> Mapping[str, Use]:
    """Return the use of a slot; nothing where nothing is used."""
    return slot.use if any(use.share for use in slot.use.values()) else {}


def _table(scene: Scene) -> list[Row]:
    """Return the lines of the table of modules, top slot first, then crossings."""
    rows: list[Row] = []
    for slot in scene.slots:
        if not slot.modules and not slot.infrastructure:
            continue
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


def _columns(rows: Sequence[Row]) -> dict[str, float]:
    """Return where the table's columns begin, or end for the right-aligned ``LUT`` and ``fill``, and its end."""
    modules = [row for row in rows if isinstance(row, ModuleView)]
    crossings = [row for row in rows if isinstance(row, CrossingView)]
    cells = [_cells(module, _MOST) for module in modules]
    widths = {
        name: max([text_width(heading, 6.5), *(text_width(cell[name], _SIZE) for cell in cells)])
        for name, heading in _HEADINGS.items()
    }
    ends = max([0.0, *(text_width(" → ".join(row.ends), _SIZE, bold=True) for row in crossings)])
    columns = {"name": 24.0}
    columns["operations"] = 24.0 + max(widths["name"], min(ends, _MOST["name"])) + 10
    columns["engines"] = columns["operations"] + widths["operations"] + 12
    columns["LUT"] = columns["engines"] + widths["engines"] + 14 + widths["LUT"]
    columns["fill"] = columns["LUT"] + 10 + widths["fill"]
    columns["tightest"] = columns["fill"] + 10
    loads = [columns["operations"] + text_width(_load(row, {}), _SIZE) for row in crossings]
    return columns | {"end": max([_TABLE_WIDTH, columns["tightest"] + widths["tightest"], *loads])}


def _load(row: CrossingView, labels: Mapping[str, str]) -> str:
    slots = " → ".join(labels.get(slot, slot) for slot in (row.source, row.target))
    return f"{slots}:  {row.width_bits} bit,  {row.gbps:.3g} Gb/s"


def _cells(module: ModuleView, most: Mapping[str, float]) -> dict[str, str]:
    """Return the texts of a module's row, none wider than its column."""
    return {
        "name": shortened(module.name, most["name"], _SIZE),
        "operations": module.contents.operations_text(most["operations"], _SIZE),
        "engines": module.contents.engines_text(most["engines"], _SIZE),
        "LUT": f"{module.lut:,}",
        "fill": f"{module.fill.get('LUT', 0.0):.0%}",
        "tightest": f"{module.tightest} {module.fill.get(module.tightest, 0.0):.0%}",
    }


def _draw_table(sheet: Sheet, area: Box, scene: Scene, rows: Sequence[Row], columns: Mapping[str, float]) -> None:
    """Draw the table of modules and crossings into ``area`` (points), top down."""
    headings = _HEADINGS | ({"engines": f"engines, {scene.parallelism}"} if scene.parallelism else {})
    for name, heading in headings.items():
        align = "end" if name in ("LUT", "fill") else "start"
        sheet.write(area.left + columns[name], area.top - 8, heading, 6.5, colour=QUIET, align=align)
    labels = {slot.name: slot.label for slot in scene.slots}
    text_left = area.left + columns["name"]
    for index, row in enumerate(rows, start=1):
        y = area.top - 8 - index * ROW
        if isinstance(row, ModuleView):
            draw_number(sheet, Box(area.left, y - 2.4, area.left + 19, y + 7.6), str(row.number), row.colour, _SIZE)
            for name, text in _cells(row, _MOST).items():
                align, colour = ("end" if name in ("LUT", "fill") else "start"), QUIET if name == "engines" else INK
                sheet.write(area.left + columns[name], y, text, _SIZE, align=align, colour=colour)
        elif isinstance(row, CrossingView):
            # Bold letters are about a tenth wider.
            ends = shortened(" → ".join(row.ends), 0.9 * (columns["operations"] - columns["name"] - 4), _SIZE)
            sheet.write(text_left, y, ends, _SIZE, colour=LINK if row.by_link else CROSSING, bold=True)
            load = _load(row, {} if row.by_link else labels)
            sheet.write(area.left + columns["operations"], y, load, _SIZE)
        elif row[0] == "slot":
            sheet.write(area.left, y, row[1], 7.8, bold=True)
            sheet.line((area.left, y - 2.6), (area.right, y - 2.6), colour=RULE, width=0.6)
        elif row[0] == "note":
            sheet.write(text_left, y, shortened(row[1], area.right - text_left, _SIZE), _SIZE, colour=QUIET)
