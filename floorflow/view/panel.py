"""The margins of a floorplan picture: use of the slots at the left, the table of modules at the right, the key below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorflow.resources import RESOURCE_NAMES
from floorflow.view.background import RESERVED_STYLE, STATIC_STYLE
from floorflow.view.geometry import Box
from floorflow.view.palette import (
    BAR,
    COLUMN_COLOURS,
    CROSSING,
    INK,
    QUIET,
    RULE,
    STREAM,
    Colour,
    darker,
)
from floorflow.view.scene import CrossingView, ModuleView, Scene, SlotView
from floorflow.view.sheet import Sheet
from floorflow.view.text import clipped, shortened, text_width

ROW = 12.0
"""Height of a line of the table in points."""
_SIZE = 7.2
_MAX_CROSSINGS = 14
_COLUMNS = {"name": 24.0, "engines": 138.0, "LUT": 306.0, "fill": 334.0, "tightest": 342.0}
"""Where the table's columns begin, or end for the right-aligned ``LUT`` and ``fill``."""
PANEL_WIDTH = 398.0


def panel_height(scene: Scene) -> float:
    """Return the height in points that the table of modules needs."""
    return ROW * (len(_table(scene)) + 2)


Row = tuple[str, ModuleView | CrossingView | str]
"""What a line of the panel shows (``slot``, ``module``, ``infrastructure``, ``crossing``, ``gap``, ``note``), and of what."""


def _table(scene: Scene) -> tuple[Row, ...]:
    """Return the lines of the panel, top slot first, then crossings."""
    rows: list[Row] = []
    for slot in scene.slots:
        rows.append(("slot", slot.name))
        rows += [("module", module) for module in scene.modules if module.slot == slot.name]
        rows += [("note", f"{name}  (infrastructure, {lut:,} LUT)") for name, at, lut in scene.infrastructure if at == slot.name]
        rows.append(("gap", ""))
    return (*rows, *_crossing_rows(scene))


def _crossing_rows(scene: Scene) -> tuple[Row, ...]:
    if not scene.crossings:
        return ()
    widest = sorted(scene.crossings, key=lambda item: (-item.width_bits, item.source, item.target))
    rows: list[Row] = [("slot", f"streams between slots: {len(widest)}")]
    rows += [("crossing", item) for item in widest[:_MAX_CROSSINGS]]
    if len(widest) > _MAX_CROSSINGS:
        rows.append(("note", f"and {len(widest) - _MAX_CROSSINGS} narrower ones, all in plan.json"))
    return tuple(rows)


def draw_panel(sheet: Sheet, area: Box, scene: Scene, colours: Mapping[str, Colour]) -> None:
    """Draw the table of modules and crossings into ``area`` (points), top down."""
    top = area.top - 8
    for name, x in _COLUMNS.items():
        heading = {"name": "module", "engines": "engines, PE×SIMD", "LUT": "LUT", "fill": "fill", "tightest": "fullest"}[name]
        align = "right" if name in ("LUT", "fill") else "left"
        sheet.write(area.left + x, top, heading, 6.5, color=QUIET, ha=align)
    for index, row in enumerate(_table(scene), start=1):
        _draw_row(sheet, area, top - index * ROW, row, colours)


def _draw_row(sheet: Sheet, area: Box, y: float, row: Row, colours: Mapping[str, Colour]) -> None:
    kind, item = row
    if isinstance(item, ModuleView):
        _draw_module(sheet, area.left, y, item, colours[item.name])
    elif isinstance(item, CrossingView):
        ends, slots = " → ".join(item.ends), " → ".join(slot.split(".")[-1] for slot in (item.source, item.target))
        sheet.write(area.left + _COLUMNS["name"], y, ends, _SIZE, color=CROSSING, weight="bold")
        sheet.write(area.left + _COLUMNS["engines"], y, f"{slots}:  {item.width_bits} bit,  {item.gbps:.3g} Gb/s", _SIZE)
    elif kind == "slot":
        sheet.write(area.left, y, item, 7.8, weight="bold")
        sheet.line((area.left, y - 2.6), (area.right, y - 2.6), color=RULE, linewidth=0.6)
    elif kind == "note":
        text = shortened(item, area.width - _COLUMNS["name"], _SIZE)
        sheet.write(area.left + _COLUMNS["name"], y, text, _SIZE, color=QUIET)


def _draw_module(sheet: Sheet, left: float, y: float, module: ModuleView, colour: Colour) -> None:
    swatch = Box(left, y - 2.4, left + 19, y + 7.6)
    sheet.rectangle(swatch, facecolor=colour, edgecolor=darker(colour), linewidth=0.7, zorder=15)
    sheet.write(swatch.centre[0], y, str(module.number), _SIZE, weight="bold", ha="center")
    name_width = _COLUMNS["engines"] - _COLUMNS["name"] - 6
    sheet.write(left + _COLUMNS["name"], y, shortened(module.name, name_width, _SIZE), _SIZE)
    summary = clipped(module.summary, _COLUMNS["LUT"] - 36 - _COLUMNS["engines"], _SIZE)
    sheet.write(left + _COLUMNS["engines"], y, summary, _SIZE, color=QUIET)
    sheet.write(left + _COLUMNS["LUT"], y, f"{module.lut:,}", _SIZE, ha="right")
    sheet.write(left + _COLUMNS["fill"], y, f"{module.fill.get('LUT', 0.0):.0%}", _SIZE, ha="right")
    fullest = f"{module.tightest} {module.fill.get(module.tightest, 0.0):.0%}"
    sheet.write(left + _COLUMNS["tightest"], y, fullest, _SIZE)


def draw_slots(sheet: Sheet, area: Box, slots: Sequence[SlotView], slrs: Mapping[str, Box]) -> None:
    """Draw beside each SLR (boxes in points) how much of its slots' limits is used."""
    for name, box in slrs.items():
        y = min(box.top, area.top) - 9
        for slot in (item for item in slots if item.slr == name):
            y = _draw_slot(sheet, area, y, slot) - 8


def _draw_slot(sheet: Sheet, area: Box, y: float, slot: SlotView) -> float:
    """Draw one slot's bars downwards from ``y``; return where the next may begin."""
    sheet.write(area.left, y, slot.name.split(".")[-1], 10, weight="bold")
    y -= 9.5
    noun = "module" if slot.module_count == 1 else "modules"
    sheet.write(area.left, y, f"{slot.module_count} {noun}; use of limit:", 6.2, color=QUIET)
    for name in RESOURCE_NAMES:
        if name not in slot.of_limit:
            continue
        y -= 10.5
        share = slot.of_limit[name]
        sheet.write(area.left, y, name, 6.5)
        bar = Box(area.left + 36, y - 0.6, area.right - 26, y + 5.6)
        sheet.rectangle(bar, facecolor="#e6e8eb", edgecolor="none", zorder=5)
        used = Box(bar.left, bar.bottom, bar.left + bar.width * min(share, 1.0), bar.top)
        sheet.rectangle(used, facecolor=CROSSING if share > 1 else BAR, edgecolor="none", zorder=6)
        sheet.write(area.right, y, f"{share:.0%}", 6.5, ha="right")
    return y - 8


def draw_key(sheet: Sheet, area: Box, *, kinds: Sequence[str], has_static: bool, has_reserved: bool, crosses: bool) -> None:
    """Explain colours, hatches and lines along the bottom of the sheet, wrapping to further lines."""
    entries = [(kind, {"facecolor": COLUMN_COLOURS[kind], "edgecolor": RULE}) for kind in kinds]
    if has_static:
        entries.append(("static shell", STATIC_STYLE))
    if has_reserved:
        entries.append(("infrastructure", RESERVED_STYLE))
    x, y = area.left, area.top - 8
    for text, style in entries:
        x, y = _wrap(x, y, area, 19 + text_width(text, 7))
        sheet.rectangle(Box(x, y - 1.5, x + 14, y + 6.5), **{"linewidth": 0.5, **style}, zorder=5)
        sheet.write(x + 18, y, text, 7, color=INK)
        x += 18 + text_width(text, 7) + 13
    lines = [("stream; the wider the more bits", STREAM, "solid")]
    if crosses:
        lines.append(("stream that leaves its SLR", CROSSING, (0, (4.0, 1.2))))
    for text, colour, dashes in lines:
        x, y = _wrap(x, y, area, 26 + text_width(text, 7))
        sheet.line((x, y + 2.5), (x + 22, y + 2.5), color=colour, linewidth=2.0, linestyle=dashes, zorder=5)
        sheet.write(x + 26, y, text, 7, color=INK)
        x += 26 + text_width(text, 7) + 13


def _wrap(x: float, y: float, area: Box, width: float) -> tuple[float, float]:
    return (area.left, y - ROW) if x + width > area.right else (x, y)
