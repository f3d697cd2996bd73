"""Anybody's floorplan: silicon, pblocks as files state them, and what the judge found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floorflow.view.background import PBLOCK_STYLES, die_key, draw_background, draw_holes, label_background
from floorflow.view.box import Box
from floorflow.view.die import Die, Frame, silicon_of
from floorflow.view.labels import name_wordings, place_labels
from floorflow.view.palette import DOUBT, INK, OPEN, QUIET, Colour, darker, module_colours
from floorflow.view.parts import MARGIN, Entry, draw_key, write_head
from floorflow.view.sheet import Sheet, Style
from floorflow.view.text import Occupied, shortened, wrapped

if TYPE_CHECKING:
    from floorflow.hardware.device import Device

_GUTTER, _TEXTS, _DIE_WIDTH, _HEADER, _KEY = 40.0, 420.0, 600.0, 50.0, 46.0
_ROW, _SIZE = 11.0, 7.0
_MOST_PBLOCKS, _MOST_FINDINGS, _FINDING_LINES = 40, 30, 3
_SEVERITY_COLOURS = {"error": DOUBT, "warning": OPEN, "note": QUIET}
_FOUND_STYLE: Style = {"edge": DOUBT, "hatch": "\\", "width": 1.2}


@dataclass(frozen=True)
class StatedPblock:
    """One pblock: its number in the order of creation, the boxes of its sites in grid units, its fill in words.

    ``style`` is ``hard`` or ``soft``, ``severity`` that of its gravest finding, empty without one.
    """

    number: int
    name: str
    boxes: tuple[Box, ...]
    style: str
    fill: str
    severity: str


@dataclass(frozen=True)
class StatedFinding:
    """One finding as a line, and the boxes of the die where it is, if it is anywhere."""

    severity: str
    text: str
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True)
class StatedFloorplan:
    """Everything that the picture shows beside the die."""

    title: str
    subtitle: str
    pblocks: tuple[StatedPblock, ...]
    findings: tuple[StatedFinding, ...]
    static: tuple[Box, ...]
    reserved: tuple[tuple[str, Box], ...]


@dataclass(frozen=True)
class _Line:
    """A line of text beside the die."""

    text: str
    colour: Colour = INK
    swatch: Colour | None = None
    bold: bool = False


def stated_floorplan(stated: StatedFloorplan, device: Device) -> Sheet:
    """Draw a floorplan on its die; a pblock's area has its name as id in the SVG."""
    die = silicon_of(device, stated.static, stated.reserved)
    ramp = module_colours(len(stated.pblocks))
    colours = {block.number: colour for block, colour in zip(stated.pblocks, ramp, strict=True)}
    lines = list(_lines(stated, colours))
    die_height = _DIE_WIDTH * die.proportion
    top = MARGIN + _KEY + max(die_height + 16, _ROW * (len(lines) + 1))
    sheet = Sheet(2 * MARGIN + 2 * _GUTTER + _DIE_WIDTH + _TEXTS, top + _HEADER)
    left = MARGIN + _GUTTER
    frame = Frame.of(die, left, top, _DIE_WIDTH)
    _draw_die(sheet, frame, die, stated, colours)
    write_head(sheet, stated.title, stated.subtitle)
    _write_lines(sheet, left + _DIE_WIDTH + _GUTTER, top, lines)
    draw_key(sheet, MARGIN + _KEY - 18, _key(die, stated))
    return sheet


def _draw_die(sheet: Sheet, frame: Frame, die: Die, stated: StatedFloorplan, colours: dict[int, Colour]) -> None:
    draw_background(sheet, frame, die)
    for block in sorted(stated.pblocks, key=lambda block: -sum(box.area for box in block.boxes)):
        area, outline = PBLOCK_STYLES[block.style].of(colours[block.number])
        if block.severity == "error":
            outline |= {"edge": DOUBT, "width": 1.6}
        for box in block.boxes:
            sheet.rectangle(frame.place(box), **area, z=5, name=block.name if box is block.boxes[0] else "")
            sheet.rectangle(frame.place(box), **outline, z=6)
    draw_holes(sheet, frame, die)
    for finding in (one for one in stated.findings if one.severity != "note"):
        for box in finding.boxes:
            sheet.rectangle(frame.place(box), z=7, **_FOUND_STYLE)
    occupied = Occupied()
    placed = [
        (block.number, frame.place(max(block.boxes, key=lambda box: box.area)), name_wordings(block.number, block.name))
        for block in stated.pblocks
        if block.boxes
    ]
    for label in place_labels(placed, occupied).values():
        label.draw(sheet)
    label_background(sheet, frame, die, occupied)


def _lines(stated: StatedFloorplan, colours: dict[int, Colour]) -> Iterator[_Line]:
    """Yield the texts beside the die, top down."""
    pblocks, findings = stated.pblocks, stated.findings
    yield _Line(f"pblocks: {len(pblocks)}", bold=True)
    for block in pblocks[:_MOST_PBLOCKS]:
        colour = _SEVERITY_COLOURS[block.severity] if block.severity in ("error", "warning") else INK
        yield _Line(f"{block.number}  {block.name}   {block.fill}", colour, colours[block.number])
    if len(pblocks) > _MOST_PBLOCKS:
        yield _Line(f"and {len(pblocks) - _MOST_PBLOCKS} more", QUIET)
    yield _Line("")
    yield _Line(f"findings: {len(findings) or 'none'}", bold=True)
    for finding in findings[:_MOST_FINDINGS]:
        lines = wrapped(f"{finding.severity}: {finding.text}", _TEXTS - 24, _SIZE, _FINDING_LINES)
        for number, line in enumerate(lines):
            yield _Line(("    " if number else "") + line, _SEVERITY_COLOURS[finding.severity])
    if len(findings) > _MOST_FINDINGS:
        yield _Line(f"and {len(findings) - _MOST_FINDINGS} more", QUIET)


def _write_lines(sheet: Sheet, left: float, top: float, lines: Sequence[_Line]) -> None:
    for number, line in enumerate(lines, 1):
        y, x = top - number * _ROW, left
        if line.swatch is not None:
            box = Box(left, y - 1.5, left + 12, y + 6.5)
            sheet.rectangle(box, fill=line.swatch, edge=darker(line.swatch), width=0.7, z=15)
            x += 16
        sheet.write(x, y, shortened(line.text, _TEXTS - 16, _SIZE), _SIZE, colour=line.colour, bold=line.bold)


def _key(die: Die, stated: StatedFloorplan) -> Iterator[Entry]:
    for text, kind, style in die_key([die], {block.style for block in stated.pblocks}):
        yield "controller, if in use" if text == "infrastructure" else text, kind, style
    if any(finding.boxes and finding.severity != "note" for finding in stated.findings):
        yield "where a finding is", "area", _FOUND_STYLE
