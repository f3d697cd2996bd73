"""The margins of a floorplan picture: use of the slots left, the table of modules right, the key below."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from floorflow.view.contents.scene import CrossingView, ModuleView, Scene, SlotView
from floorflow.view.draw.background import RESERVED_STYLE, STATIC_STYLE
from floorflow.view.draw.pblocks import PBLOCK_STYLES, SAMPLE
from floorflow.view.draw.streams import OUTSIDE_COLOURS
from floorflow.view.draw.use_bars import BAR_ROW, draw_bars
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import COLUMN_COLOURS, CROSSING, LINK, QUIET, RULE, STREAM, Colour, darker
from floorflow.view.sheet.sheet import Sheet
from floorflow.view.sheet.text import shortened, text_width

ROW = 12.0
"""Height of a line of the table in points."""
_SIZE = 7.2
_MAX_CROSSINGS = 14
_SAMPLE = 19.0
"""Width in points of a colour or line sample in the key."""
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
_OUTSIDE_TEXTS = {
    "host": "from or to the host",
    "memory": "from or to a buffer in memory",
    "phase": "from or to another phase",
}
FILL_KEY = "pblock fill: share of the LUTs inside it that the module needs; fullest: its scarcest resource"
MODULE_TABLE_WIDTH = 592.0


def module_table_height(scene: Scene) -> float:
    """Return the height in points that the table of modules needs."""
    return ROW * (len(_table(scene)) + 2)


Row = tuple[str, ModuleView | CrossingView | str]
"""What a line of the table of modules shows (``slot``, ``module``, ``crossing``, ``note`` or ``gap``), and of what."""


def _table(scene: Scene) -> tuple[Row, ...]:
    """Return the lines of the table of modules, top slot first, then crossings."""
    rows: list[Row] = []
    for slot in scene.slots:
        rows.append(("slot", slot.name))
        rows += [("module", module) for module in scene.modules if module.slot == slot.name]
        rows += [("note", infrastructure_text(name, lut)) for name, lut in slot.infrastructure]
        rows.append(("gap", ""))
    return (*rows, *_crossing_rows(scene))


def infrastructure_text(name: str, lut: int) -> str:
    """Say what a part of the board's own logic takes."""
    return f"{name}  (infrastructure, {lut:,} LUT)"


def _crossing_rows(scene: Scene) -> tuple[Row, ...]:
    if not scene.crossings:
        return ()
    widest = sorted(scene.crossings, key=lambda item: (not item.by_link, -item.width_bits, item.source, item.target))
    shown = set(widest[:_MAX_CROSSINGS])
    places = "slots and over links" if scene.ports else "slots"
    rows: list[Row] = [("slot", f"streams between {places}: {len(widest)}")]
    rows += [("crossing", item) for item in sorted(scene.crossings, key=_in_dataflow) if item in shown]
    if len(widest) > _MAX_CROSSINGS:
        rows.append(("note", f"and {len(widest) - _MAX_CROSSINGS} narrower ones, all in plan.json"))
    return tuple(rows)


def _in_dataflow(item: CrossingView) -> tuple[int, int]:
    """Order streams by where they begin, then by where they end: the host's inputs first, its outputs last."""
    source, target = item.ends
    return int(source) if source.isdigit() else 0, int(target) if target.isdigit() else sys.maxsize


def draw_module_table(sheet: Sheet, area: Box, scene: Scene, colours: Mapping[str, Colour]) -> None:
    """Draw the table of modules and crossings into ``area`` (points), top down."""
    top = area.top - 8
    headings = _HEADINGS | ({"engines": f"engines, {scene.parallelism}"} if scene.parallelism else {})
    for name, x in _COLUMNS.items():
        align = "right" if name in ("LUT", "fill") else "left"
        sheet.write(area.left + x, top, headings[name], 6.5, color=QUIET, ha=align)
    labels = {slot.name: slot.label for slot in scene.slots}
    for index, row in enumerate(_table(scene), start=1):
        y = top - index * ROW
        _draw_row(sheet, Box(area.left, y, area.right, y + ROW), row, colours, labels)


def _draw_row(sheet: Sheet, area: Box, row: Row, colours: Mapping[str, Colour], labels: Mapping[str, str]) -> None:
    """Draw a line of the table; ``labels`` are what slots are called, by their names."""
    (kind, item), y = row, area.bottom
    if isinstance(item, ModuleView):
        _draw_module(sheet, area.left, y, item, colours[item.name])
    elif isinstance(item, CrossingView):
        # Bold letters are about a tenth wider.
        ends = shortened(" → ".join(item.ends), 0.9 * (_COLUMNS["operations"] - _COLUMNS["name"] - 4), _SIZE)
        colour = LINK if item.by_link else CROSSING
        slots = " → ".join(slot if item.by_link else labels[slot] for slot in (item.source, item.target))
        sheet.write(area.left + _COLUMNS["name"], y, ends, _SIZE, color=colour, weight="bold")
        sheet.write(
            area.left + _COLUMNS["operations"],
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
    name_width = _COLUMNS["operations"] - _COLUMNS["name"] - 6
    sheet.write(left + _COLUMNS["name"], y, shortened(module.name, name_width, _SIZE), _SIZE)
    operations = module.contents.operations_text(_COLUMNS["engines"] - _COLUMNS["operations"] - 6, _SIZE)
    sheet.write(left + _COLUMNS["operations"], y, operations, _SIZE)
    engines = module.contents.engines_text(_COLUMNS["LUT"] - 36 - _COLUMNS["engines"], _SIZE)
    sheet.write(left + _COLUMNS["engines"], y, engines, _SIZE, color=QUIET)
    sheet.write(left + _COLUMNS["LUT"], y, f"{module.lut:,}", _SIZE, ha="right")
    sheet.write(left + _COLUMNS["fill"], y, f"{module.fill.get('LUT', 0.0):.0%}", _SIZE, ha="right")
    fullest = f"{module.tightest} {module.fill.get(module.tightest, 0.0):.0%}"
    sheet.write(left + _COLUMNS["tightest"], y, fullest, _SIZE)


def slots_height(slots: Sequence[SlotView]) -> float:
    """Return the height in points that the uses of slots need below one another."""
    return sum(9 + 9.5 + len(slot.use) * BAR_ROW + 11 for slot in slots)


def draw_slots(sheet: Sheet, area: Box, slots: Sequence[SlotView], slrs: Mapping[str, Box]) -> None:
    """Draw beside each SLR (boxes in points) how much of what its slots offer is used, and how much may be."""
    below = area.top
    for name, box in sorted(slrs.items(), key=lambda item: -item[1].top):
        y = min(box.top, below) - 9
        for slot in (item for item in slots if item.slr == name):
            sheet.write(area.left, y, shortened(slot.label, area.width, 10), 10, weight="bold")
            noun = "module" if len(slot.modules) == 1 else "modules"
            style = f"; {PBLOCK_STYLES[slot.style].slot}" if slot.modules else ""
            sheet.write(area.left, y - 9.5, f"{len(slot.modules)} {noun}{style}", 6.2, color=QUIET)
            below = draw_bars(sheet, area.left, area.right, y - 9.5, slot.use) - 11
            y = below - 9


def draw_key(
    sheet: Sheet,
    area: Box,
    *,
    kinds: Sequence[str],
    has_static: bool,
    has_reserved: bool,
    crosses: bool,
    outside: Collection[str],
    linked: bool,
    styles: Collection[str],
    streams: bool = True,
) -> float:
    """Explain colours, hatches and lines below the die, wrapping to further lines; return where the next line is.

    ``outside`` are the kinds of ends outside that streams have, ``styles`` those of the modules; ``streams``: whether
    there are any.
    """
    areas: list[tuple[str, dict[str, Any]]] = [
        (kind, {"facecolor": COLUMN_COLOURS[kind], "edgecolor": RULE}) for kind in kinds
    ]
    areas += [("static shell", STATIC_STYLE)] * has_static + [("infrastructure", RESERVED_STYLE)] * has_reserved
    at = area.left, area.top - 8
    for text, style in areas:
        x, y = at = _wrap(at, area, text)
        sheet.rectangle(Box(x, y - 1.5, x + _SAMPLE, y + 6.5), **{"linewidth": 0.5, **style}, zorder=5)
        at = _write_entry(sheet, at, text)
    for drawn in (PBLOCK_STYLES[name] for name in PBLOCK_STYLES if name in styles):
        x, y = at = _wrap(at, area, drawn.key)
        sample = Box(x, y - 1.5, x + _SAMPLE, y + 6.5)
        sheet.rectangle(sample, **drawn.area(SAMPLE), zorder=5)
        sheet.rectangle(sample, **drawn.outline(SAMPLE), zorder=6)
        at = _write_entry(sheet, at, drawn.key)
    lines: list[tuple[str, dict[str, Any]]] = [("stream; the wider the more bits", {"color": STREAM})] * streams
    lines += [("stream that leaves its SLR", {"color": CROSSING, "linestyle": (0, (4.0, 1.2))})] * (crosses and streams)
    for kind, colour in OUTSIDE_COLOURS.items():
        lines += [(_OUTSIDE_TEXTS[kind], {"color": colour})] * (kind in outside)
    lines += [("stream over a link", {"color": LINK})] * linked
    for text, style in lines:
        x, y = at = _wrap(at, area, text)
        sheet.line((x, y + 2.5), (x + _SAMPLE, y + 2.5), linewidth=2.0, zorder=5, **style)
        at = _write_entry(sheet, at, text)
    return at[1] - ROW


def _wrap(at: tuple[float, float], area: Box, text: str) -> tuple[float, float]:
    """Return where an entry of the key begins: at ``at``, or on the next line if it does not fit."""
    return (area.left, at[1] - ROW) if at[0] + _SAMPLE + 4 + text_width(text, 7) > area.right else at


def _write_entry(sheet: Sheet, at: tuple[float, float], text: str) -> tuple[float, float]:
    """Write an entry's text beside its sample; return where the next entry begins."""
    sheet.write(at[0] + _SAMPLE + 4, at[1], text, 7)
    return at[0] + _SAMPLE + 4 + text_width(text, 7) + 13, at[1]
