"""The floorplans of all FPGAs side by side, at a small scale, with the links between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floorflow.view.background import PLATE, die_key, draw_background
from floorflow.view.box import Box
from floorflow.view.die import Die, Frame, die_of
from floorflow.view.labels import draw_port_marks
from floorflow.view.links import Gutters, Row, rows_of
from floorflow.view.names import Plan, fpga_names
from floorflow.view.palette import LINK, QUIET
from floorflow.view.parts import (
    MARGIN,
    PAGE_HEAD,
    PAGE_PAD,
    ROW,
    Entry,
    draw_key,
    draw_legend,
    key_lines,
    legend_height,
    write_head,
)
from floorflow.view.pictures.floorplan import draw_modules, legend_key, said
from floorflow.view.scene import Scene, read_scene
from floorflow.view.sheet import REVIEW, PictureStyle, Sheet
from floorflow.view.slots import LinkView, read_slot_chain
from floorflow.view.streams import draw_stream_lines, stream_key, stream_lines_between
from floorflow.view.text import Occupied, block_size, shortened, text_width

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_HEADER, _SIDE, _DIE_WIDTH, _GAP, _NAME = 62.0, 110.0, 200.0, 112.0, 18.0
"""Title, room for the host's streams, width of a die, between two dies, an FPGA's name; in points."""
_LEAST_COLUMN = 150.0
"""Points for an FPGA's name, board and number of modules, where its die is smaller."""
_PORT = 5.0
"""Points beside the die where the streams over a link come together."""
_SCALE = 0.6
"""Width of the streams over that in a floorplan of one FPGA."""
_PAGE_SIDE, _PAGE_GAP, _PAGE_SHARE, _PAGE_ROWS = 14.0, 46.0, 0.72, 380.0
"""On a page of its own size: points beside the dies and between them, the share of a die's height that all rows may

take on a slide, and points that they may take in a paper."""
_NOTE = "numbers: modules in dataflow order; names, and where links leave a die, in the floorplan of each FPGA"


@dataclass(frozen=True)
class _View:
    """What the plan says of one FPGA, its silicon, and where that lies on the sheet."""

    scene: Scene
    die: Die
    frame: Frame

    def slot_boxes(self) -> dict[str, Box]:
        """Return each slot by name, wider by the distance of link ports: its SLR, or its rows where it shares that."""
        slrs, names = dict(self.die.slrs), [slot.slr for slot in self.scene.slots]
        boxes = {}
        for slot in self.scene.slots:
            slr, region = slrs[slot.slr], self.die.slots[slot.name]
            rows = slr if names.count(slot.slr) == 1 else region
            box = self.frame.place(Box(slr.left, rows.bottom, slr.right, rows.top))
            boxes[slot.name] = Box(box.left - _PORT, box.bottom, box.right + _PORT, box.top)
        return boxes


def overview(
    plan: Plan, platform: Platform, phase: int = 0, *, style: PictureStyle = REVIEW, by: str | None = None
) -> Sheet:
    """Draw the floorplans of all FPGAs in a style, modules coloured ``by`` one of `COLOURINGS`, and links of slots.

    Raises InputError if there is no such colouring.
    """
    chain, names = read_slot_chain(plan, phase), fpga_names(plan)
    dies = [die_of(platform, name) for name in names]
    gutters = Gutters.of(chain.links, names)
    scenes = [read_scene(plan, name, phase, by) for name in names]
    styles = {module.style for scene in scenes for module in scene.modules if not scene.unconstrained}
    key = [*legend_key(scenes, style), *die_key(dies, styles), *stream_key(scenes, dies)]
    if style.is_whole:
        header = _HEADER + legend_height(chain.networks)
        sheet, frames, rows = _lay_out(dies, gutters.lane_below, header, key)
        top = write_head(sheet, chain.title, chain.subtitle, _NOTE) + 2
        draw_legend(sheet, top, chain.networks, coloured=by in (None, "network"))
    else:
        used = [link for link in chain.links if link.is_used]
        key += [(f"{link.name}: → {link.loads[0]}, ← {link.loads[1]}", "line", {"colour": LINK}) for link in used]
        sheet, frames, rows, key = _lay_out_page(scenes, dies, gutters.lane_below, style, key)
        if style.height:
            write_head(sheet, chain.title, chain.subtitle)
    views = {view[0].fpga: _View(*view) for view in zip(scenes, dies, frames, strict=True)}
    slots = {slot: box for view in views.values() for slot, box in view.slot_boxes().items()}
    occupied, gap = Occupied(), _GAP if style.is_whole else _PAGE_GAP
    for link in chain.links:
        start, end = (slots[link.entry[side]] for side in ("source", "target"))
        if not gutters.draw_link(sheet, link, (start, end), rows, gap) and style.is_whole:
            _write_link(sheet, link, start, occupied)
    for name, view in views.items():
        _write_name(sheet, view, chain.boards.get(name, ""), occupied)
    for view in views.values():
        _draw_view(sheet, view, slots, occupied)
    margin = MARGIN if style.is_whole else PAGE_PAD
    draw_key(sheet, rows[-1].bottom - gutters.lane_below - 8, key, margin, sheet.width - margin)
    return sheet


def _draw_view(sheet: Sheet, view: _View, slots: Mapping[str, Box], occupied: Occupied) -> None:
    """Draw a die with its modules' numbers and its streams."""
    scene, die, frame = view.scene, view.die, view.frame
    draw_background(sheet, frame, die, numbered=False)
    if scene.unconstrained:
        sheet.write(*frame.die.centre, "no floorplan: one module fills it", 7, align="middle", middle=True, plate=PLATE)
        return
    ends = draw_port_marks(sheet, frame, scene, occupied, small=True)
    ends |= draw_modules(sheet, frame, scene, die, occupied, names=False)
    for port in scene.ports:
        slot = slots[port.slot]
        ends[port.name] = Box.around(slot.left if port.at_left else slot.right, slot.centre[1], 1, 1)
    # Streams over links end beside the die here, not where they do: their ways would lead elsewhere.
    links = {port.name for port in scene.ports}
    streams = tuple(
        replace(stream, longest=False)
        if links.isdisjoint((stream.source, stream.target))
        else replace(stream, longest=False, ports=(None, None), slls=(), slices=0)
        for stream in scene.streams
    )
    draw_stream_lines(sheet, stream_lines_between(replace(scene, streams=streams), die, frame, ends, _SCALE))


def _lay_out(
    dies: Sequence[Die], lane: float, header: float, key: Sequence[Entry]
) -> tuple[Sheet, list[Frame], list[Row]]:
    """Return the sheet, where each die lies on it, and the rows of dies."""
    numbers, sizes = rows_of(len(dies)), die_sizes(dies)
    height = max(height for _, height in sizes)
    lefts = [MARGIN + _SIDE]
    for column in range(len(numbers[0])):
        widest = max(sizes[row[column]][0] for row in numbers if column < len(row))
        lefts.append(lefts[-1] + max(widest, _LEAST_COLUMN) + _GAP)
    width = lefts[-1] - _GAP + (_GAP if len(numbers) > 1 else _SIDE) + MARGIN
    pitch = _NAME + height + lane
    foot = MARGIN + ROW * len(key_lines(key, width - 2 * MARGIN))
    sheet = Sheet(width, header + len(numbers) * pitch + foot)
    tops = [sheet.height - header - _NAME - index * pitch for index in range(len(numbers))]
    return sheet, *_frames(dies, sizes, lefts, tops, width)


def _lay_out_page(
    scenes: Sequence[Scene], dies: Sequence[Die], lane: float, style: PictureStyle, key: list[Entry]
) -> tuple[Sheet, list[Frame], list[Row], list[Entry]]:
    """Return the same of a page of its own size, and the key that there is room for below."""
    width, numbers = style.sheet_width, rows_of(len(dies), style.in_a_row)
    columns, right = len(numbers[0]), _PAGE_GAP if len(numbers) > 1 else _PAGE_SIDE
    die_width = (width - _PAGE_SIDE - right - (columns - 1) * _PAGE_GAP) / columns
    tallest = max(height for _, height in die_sizes(dies, die_width))
    most = _PAGE_SHARE * style.die_height if style.height else max(style.die_height, _PAGE_ROWS)
    die_width *= min(1.0, (most / len(numbers) - lane - _NAME) / tallest)
    sizes = die_sizes(dies, die_width)
    pitch, head = _NAME + max(height for _, height in sizes) + lane, PAGE_HEAD if style.height else 0.0
    above = PAGE_PAD + head + len(numbers) * pitch
    key = said(scenes, key, width - 2 * PAGE_PAD, style.sheet_height - above - PAGE_PAD) + key
    foot = ROW * len(key_lines(key, width - 2 * PAGE_PAD)) + PAGE_PAD
    sheet = Sheet(width, style.sheet_height if style.height else above + foot, style=style)
    between = (width - _PAGE_SIDE - right - columns * die_width) / max(columns - 1, 1)
    between = min(between, max(_PAGE_GAP, die_width))
    side = (width - columns * die_width - (columns - 1) * between) / 2
    lefts = [side + column * (die_width + between) for column in range(columns)]
    tops = [sheet.height - PAGE_PAD - head - _NAME - index * pitch for index in range(len(numbers))]
    return sheet, *_frames(dies, sizes, lefts, tops, width), key


def _frames(
    dies: Sequence[Die],
    sizes: Sequence[tuple[float, float]],
    lefts: Sequence[float],
    tops: Sequence[float],
    right: float,
) -> tuple[list[Frame], list[Row]]:
    """Return where each die lies, in rows from these points down, and the rows."""
    height = max(height for _, height in sizes)
    frames, rows = [], []
    width = -(-len(dies) // len(tops))
    for index, top in enumerate(tops):
        row = range(index * width, min((index + 1) * width, len(dies)))
        for left, number in zip(lefts, row, strict=False):
            frames.append(Frame.of(dies[number], left, top, *sizes[number]))
        rows.append(Row(row, lefts[0] - _PORT, top - height, right))
    return frames, rows


def die_sizes(dies: Sequence[Die], most: float = _DIE_WIDTH) -> list[tuple[float, float]]:
    """Return width and height of each die in points: dies that differ are all drawn to one scale."""
    if len({(die.column_count, die.row_count) for die in dies}) == 1:
        return [(most, most * die.proportion) for die in dies]
    width_rows = [die.row_count / die.height_over_width for die in dies]
    scale = most / max(width_rows)
    return [(width * scale, die.row_count * scale) for width, die in zip(width_rows, dies, strict=True)]


def _write_link(sheet: Sheet, link: LinkView, start: Box, occupied: Occupied) -> None:
    """Write a link's name and loads above its beginning."""
    there, back = link.loads
    lines = (link.name, f"→ {there}", *([f"← {back}"] if link.streams[1] else []))
    width, height = block_size(lines, 7, bold=True)
    box = Box.around(start.right + 6 + width / 2, start.centre[1] + 6 + height / 2, width, height)
    occupied.take(box)
    sheet.sign(box, "\n".join(lines), 7, colour=LINK)


def _write_name(sheet: Sheet, view: _View, board: str, occupied: Occupied) -> None:
    """Write above a die the FPGA's name, its number of modules, and its board if that is not the others'."""
    die, scene = view.frame.die, view.scene
    left, y, right = die.left, die.top + 5, max(die.right, die.left + _LEAST_COLUMN * sheet.style.is_whole)
    count = f"{len(scene.modules)} module" + "s" * (len(scene.modules) != 1)
    sheet.write(left, y, scene.fpga, 10, bold=True)
    occupied.take(sheet.texts[-1].box)
    if not sheet.style.is_whole:
        return
    sheet.write(right, y, count, 7.5, colour=QUIET, align="end")
    if board:
        left += text_width(scene.fpga, 10, bold=True) + 5
        sheet.write(left, y, shortened(board, right - text_width(count, 7.5) - 5 - left, 7.5), 7.5, colour=QUIET)
