"""Anybody's floorplan as a figure: silicon, pblocks as files state them, and what the judge found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from floorflow.view.contents.stated import StatedFloorplan, StatedPblock
from floorflow.view.draw.background import RESERVED_STYLE, STATIC_STYLE, draw_background, draw_holes, label_background
from floorflow.view.draw.labels import place_names
from floorflow.view.draw.pblocks import PBLOCK_STYLES, SAMPLE
from floorflow.view.pictures.floorplan import draw_label, proportion_of
from floorflow.view.sheet.die import FABRIC, Die, silicon_of
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import COLUMN_COLOURS, DOUBT, INK, OPEN, QUIET, RULE, Colour, darker, module_colours
from floorflow.view.sheet.sheet import Frame, Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import Occupied, shortened, text_width, wrapped

if TYPE_CHECKING:
    from floorflow.hardware.device import Device

_MARGIN, _GUTTER, _TEXTS, _DIE_WIDTH, _HEADER, _KEY = 18.0, 40.0, 420.0, 600.0, 50.0, 46.0
_ROW, _SIZE = 11.0, 7.0
_MOST_PBLOCKS, _MOST_FINDINGS, _FINDING_LINES = 40, 30, 3
SEVERITY_COLOURS = {"error": DOUBT, "warning": OPEN, "note": QUIET}
FOUND_STYLE: dict[str, Any] = {"fill": False, "edgecolor": DOUBT, "hatch": "\\\\\\\\", "linewidth": 1.2}

Line = tuple[str, str, Colour | None, str]
"""Text, colour, colour of the swatch, weight."""


def stated_floorplan(stated: StatedFloorplan, device: Device) -> Figure:
    """Draw a floorplan on its die; a pblock's area has its name as id in the SVG."""
    die = silicon_of(device, stated.static, stated.reserved)
    ramp = module_colours(max(len(stated.pblocks), 1))
    colours = {block.number: ramp[place] for place, block in enumerate(stated.pblocks)}
    with drawing_settings():
        lines = list(_lines(stated, colours))
        height = max(_DIE_WIDTH * proportion_of(die) + 16, _ROW * (len(lines) + 1))
        top = _MARGIN + _KEY + height
        sheet = new_sheet(2 * _MARGIN + 2 * _GUTTER + _DIE_WIDTH + _TEXTS, top + _HEADER)
        left, die_height = _MARGIN + _GUTTER, _DIE_WIDTH * proportion_of(die)
        frame = Frame(Box(left, top - die_height, left + _DIE_WIDTH, top), die.column_count, die.row_count)
        _draw_die(sheet, frame, die, stated, colours)
        sheet.write(
            _MARGIN, sheet.height - 24, shortened(stated.title, sheet.width - 2 * _MARGIN, 14), 14, weight="bold"
        )
        sheet.write(_MARGIN, sheet.height - 39, stated.subtitle, 9, color=QUIET)
        _write_lines(sheet, left + _DIE_WIDTH + _GUTTER, top, lines)
        _draw_key(sheet, die, stated)
        return sheet.figure


def _draw_die(sheet: Sheet, frame: Frame, die: Die, stated: StatedFloorplan, colours: dict[int, Colour]) -> None:
    draw_background(sheet, frame, die)
    for block in sorted(stated.pblocks, key=_size, reverse=True):
        style, colour = PBLOCK_STYLES[block.style], colours[block.number]
        for box in block.boxes:
            patch = sheet.rectangle(frame.place(box), **style.area(colour), zorder=5)
            patch.set_gid(block.name)
            outline = style.outline(colour)
            if block.severity == "error":
                outline = {**outline, "edgecolor": DOUBT, "linewidth": 1.6}
            sheet.rectangle(frame.place(box), **outline, zorder=6)
    draw_holes(sheet, frame, die)
    for finding in (one for one in stated.findings if one.severity != "note"):
        for box in finding.boxes:
            sheet.rectangle(frame.place(box), zorder=7, **FOUND_STYLE)
    occupied = Occupied()
    placed = [(block.number, block.name, frame.place(block.box)) for block in stated.pblocks if block.boxes]
    for label in place_names(placed, occupied).values():
        draw_label(sheet, label)
    label_background(sheet, frame, die, occupied)


def _size(block: StatedPblock) -> float:
    return sum(box.width * box.height for box in block.boxes)


def _lines(stated: StatedFloorplan, colours: dict[int, Colour]) -> Iterator[Line]:
    """Yield the texts beside the die, top down."""
    yield f"pblocks: {len(stated.pblocks)}", INK, None, "bold"
    for block in stated.pblocks[:_MOST_PBLOCKS]:
        text = f"{block.number}  {block.name}   {block.fill}"
        yield (
            text,
            SEVERITY_COLOURS[block.severity] if block.severity in ("error", "warning") else INK,
            colours[block.number],
            "normal",
        )
    if len(stated.pblocks) > _MOST_PBLOCKS:
        yield f"and {len(stated.pblocks) - _MOST_PBLOCKS} more", QUIET, None, "normal"
    yield "", INK, None, "normal"
    yield f"findings: {len(stated.findings) or 'none'}", INK, None, "bold"
    for finding in stated.findings[:_MOST_FINDINGS]:
        colour = SEVERITY_COLOURS[finding.severity]
        for number, line in enumerate(
            wrapped(f"{finding.severity}: {finding.text}", _TEXTS - 24, _SIZE, _FINDING_LINES)
        ):
            yield ("    " if number else "") + line, colour, None, "normal"
    if len(stated.findings) > _MOST_FINDINGS:
        yield f"and {len(stated.findings) - _MOST_FINDINGS} more", QUIET, None, "normal"


def _write_lines(sheet: Sheet, left: float, top: float, lines: Sequence[Line]) -> None:
    for number, (text, colour, swatch, weight) in enumerate(lines, 1):
        y = top - number * _ROW
        if swatch is not None:
            box = Box(left, y - 1.5, left + 12, y + 6.5)
            sheet.rectangle(box, facecolor=swatch, edgecolor=darker(swatch), linewidth=0.7, zorder=15)
        shown = shortened(text, _TEXTS - 16, _SIZE)
        sheet.write(left + (16 if swatch is not None else 0), y, shown, _SIZE, color=colour, weight=weight)


def _draw_key(sheet: Sheet, die: Die, stated: StatedFloorplan) -> None:
    present = {kind for row in die.kinds for kind in row} - {FABRIC}
    entries: list[tuple[str, dict[str, Any]]] = [
        (kind, {"facecolor": colour, "edgecolor": RULE}) for kind, colour in COLUMN_COLOURS.items() if kind in present
    ]
    entries += [("static shell", STATIC_STYLE)] * bool(die.static)
    entries += [("controller, if in use", RESERVED_STYLE)] * bool(die.reserved)
    styles = {block.style for block in stated.pblocks}
    for name in ("hard", "soft"):
        drawn = PBLOCK_STYLES[name]
        entries += [(drawn.key, {**drawn.area(SAMPLE), **drawn.outline(SAMPLE), "fill": True})] * (name in styles)
    entries += [("where a finding is", FOUND_STYLE)] * any(
        finding.boxes and finding.severity != "note" for finding in stated.findings
    )
    x, y = _MARGIN, _MARGIN + _KEY - 18
    for text, style in entries:
        width = 16 + 4 + text_width(text, _SIZE) + 13
        if x + width > sheet.width - _MARGIN:
            x, y = _MARGIN, y - _ROW
        sheet.rectangle(Box(x, y - 1.5, x + 16, y + 6.5), **{"linewidth": 0.5, **style}, zorder=5)
        sheet.write(x + 20, y, text, _SIZE)
        x += width
