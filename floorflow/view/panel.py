"""The margins of a floorplan picture: use of the slots left, the table of modules right, the key below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floorflow.resources import RESOURCE_NAMES
from floorflow.view.background import RESERVED_STYLE, STATIC_STYLE
from floorflow.view.geometry import Box
from floorflow.view.palette import (
    BAR,
    COLUMN_COLOURS,
    CROSSING,
    QUIET,
    RULE,
    STREAM,
    Colour,
    darker,
)
from floorflow.view.scene import TIMES, CrossingView, ModuleView, Scene, SlotView
from floorflow.view.sheet import Sheet
from floorflow.view.text import clipped, shortened, text_width

ROW = 12.0
"""Height of a line of the table in points."""
_SIZE = 7.2
_MAX_CROSSINGS = 14
_SAMPLE = 19.0
"""Width in points of a colour or line sample in the key."""
_COLUMNS = {"name": 24.0, "engines": 138.0, "LUT": 306.0, "fill": 334.0, "tightest": 342.0}
"""Where the table's columns begin, or end for the right-aligned ``LUT`` and ``fill``."""
PANEL_WIDTH = 398.0


def panel_height(scene: Scene) -> float:
    """Return the height in points that the table of modules needs."""
    return ROW * (len(_table(scene)) + 2)


Row = tuple[str, ModuleView | CrossingView | str]
"""What a line of the panel shows (``slot``, ``module``, ``crossing``, ``note`` or ``gap``), and of what."""


def _table(scene: Scene) -> tuple[Row, ...]:
    """Return the lines of the panel, top slot first, then crossings."""
    rows: list[Row] = []
    for slot in scene.slots:
        rows.append(("slot", slot.name))
        rows += [("module", module) for module in scene.modules if module.slot == slot.name]
        rows += [
            ("note", f"{name}  (infrastructure, {lut:,} LUT)")
            for name, at, lut in scene.infrastructure
            if at == slot.name
        ]
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
        heading = {
            "name": "module",
            "engines": f"engines, PE{TIMES}SIMD",
            "LUT": "LUT",
            "fill": "fill",
            "tightest": "fullest",
        }[name]
        align = "right" if name in ("LUT", "fill") else "left"
        sheet.write(area.left + x, top, heading, 6.5, color=QUIET, ha=align)
    for index, row in enumerate(_table(scene), start=1):
        _draw_row(sheet, area, top - index * ROW, row, colours)


def _draw_row(sheet: Sheet, area: Box, y: float, row: Row, colours: Mapping[str, Colour]) -> None:
    kind, item = row
    if isinstance(item, ModuleView):
        _draw_module(sheet, area.left, y, item, colours[item.name])
    elif isinstance(item, CrossingView):
        ends, slots = (
            " → ".join(item.ends),
            " → ".join(slot.split(".")[-1] for slot in (item.source, item.target)),
        )
        sheet.write(area.left + _COLUMNS["name"], y, ends, _SIZE, color=CROSSING, weight="bold")
        sheet.write(
            area.left + _COLUMNS["engines"],
            y,
            f"{slots}:  {item.width_bits} bit,  {item.gbps:.3g} Gb/s",
            _SIZE,
        )
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


def draw_key(
    sheet: Sheet, area: Box, *, kinds: Sequence[str], has_static: bool, has_reserved: bool, crosses: bool
) -> None:
    """Explain colours, hatches and lines along the bottom of the sheet, wrapping to further lines."""
    areas: list[tuple[str, dict[str, Any]]] = [
        (kind, {"facecolor": COLUMN_COLOURS[kind], "edgecolor": RULE}) for kind in kinds
    ]
    areas += [("static shell", STATIC_STYLE)] * has_static + [("infrastructure", RESERVED_STYLE)] * has_reserved
    at = area.left, area.top - 8
    for text, style in areas:
        x, y = at = _wrap(at, area, text)
        sheet.rectangle(Box(x, y - 1.5, x + _SAMPLE, y + 6.5), **{"linewidth": 0.5, **style}, zorder=5)
        at = _write_entry(sheet, at, text)
    lines: list[tuple[str, dict[str, Any]]] = [("stream; the wider the more bits", {"color": STREAM})]
    lines += [("stream that leaves its SLR", {"color": CROSSING, "linestyle": (0, (4.0, 1.2))})] * crosses
    for text, style in lines:
        x, y = at = _wrap(at, area, text)
        sheet.line((x, y + 2.5), (x + _SAMPLE, y + 2.5), linewidth=2.0, zorder=5, **style)
        at = _write_entry(sheet, at, text)


def _wrap(at: tuple[float, float], area: Box, text: str) -> tuple[float, float]:
    """Return where an entry of the key begins: at ``at``, or on the next line if it does not fit."""
    return (area.left, at[1] - ROW) if at[0] + _SAMPLE + 4 + text_width(text, 7) > area.right else at


def _write_entry(sheet: Sheet, at: tuple[float, float], text: str) -> tuple[float, float]:
    """Write an entry's text beside its sample; return where the next entry begins."""
    sheet.write(at[0] + _SAMPLE + 4, at[1], text, 7)
    return at[0] + _SAMPLE + 4 + text_width(text, 7) + 13, at[1]
