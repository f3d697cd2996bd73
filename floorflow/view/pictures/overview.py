"""The floorplans of all FPGAs side by side as one figure, at a small scale, with the links between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan, fpga_names
from floorflow.view.contents.plan_reader import read_scene
from floorflow.view.contents.scene import LinkView, Scene, SlotChainView, StreamView
from floorflow.view.contents.slot_chain import read_slot_chain
from floorflow.view.draw.background import draw_background
from floorflow.view.draw.host_marks import draw_host_marks, slot_boxes, slr_boxes
from floorflow.view.draw.legend import draw_legend, legend_height
from floorflow.view.draw.links import (
    Row,
    draw_link,
    gutters_of,
    label_gutter,
    lane_below,
    link_path,
    load_text,
    rows_of,
)
from floorflow.view.draw.streams import draw_stream_lines
from floorflow.view.pictures.floorplan import (
    colours_of,
    draw_die_key,
    draw_modules,
    outside_kinds,
    proportion_of,
    stream_lines_between,
)
from floorflow.view.sheet.die import Die, die_of
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import LINK, QUIET, Colour
from floorflow.view.sheet.sheet import Frame, Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import Occupied, block_size, shortened, text_width

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_MARGIN, _HEADER, _KEY, _SIDE, _DIE_WIDTH, _GAP, _NAME = 18.0, 56.0, 46.0, 56.0, 200.0, 112.0, 18.0
"""Margins, title, key, room for the host's streams, width of a die, between two dies, an FPGA's name; in points."""
_LEAST_COLUMN = 150.0
"""Points for an FPGA's name, board and number of modules, where its die is smaller."""
_PORT = 5.0
"""Points beside the die where the streams over a link come together."""
_SCALE = 0.6
"""Width of the streams over that in a floorplan of one FPGA."""


@dataclass(frozen=True)
class _View:
    """What the plan says of one FPGA, and its silicon."""

    scene: Scene
    die: Die


@dataclass(frozen=True)
class _Layout:
    """The sheet, each die on it by its FPGA, in their order, the rows of FPGAs, and the gutters of links."""

    sheet: Sheet
    frames: Mapping[str, Frame]
    rows: tuple[Row, ...]
    gutters: Mapping[str, int]

    def row_of(self, fpga: str) -> Row:
        """Return the row in which an FPGA lies."""
        number = list(self.frames).index(fpga)
        return next(row for row in self.rows if number in row.numbers)


def overview(plan: Plan, platform: Platform, phase: int = 0) -> Figure:
    """Draw the floorplans of all FPGAs, up to four in a row, and the links from slot to slot."""
    slot_chain = read_slot_chain(plan, phase)
    views = {name: _View(read_scene(plan, name, phase), die_of(platform, name)) for name in fpga_names(plan)}
    with drawing_settings():
        layout = _lay_out(views, gutters_of(slot_chain.links, list(views)), legend_height(slot_chain.networks))
        sheet, occupied = layout.sheet, Occupied()
        _write_header(sheet, slot_chain)
        slots = {name: slot_boxes(layout.frames[name], view.scene, view.die) for name, view in views.items()}
        for link in slot_chain.links:
            _draw_link(layout, link, slots, occupied)
        for name, view in views.items():
            colours = colours_of(plan, view.scene, phase)
            _write_name(sheet, layout.frames[name], view.scene, slot_chain.boards.get(name, ""))
            ends = _draw_modules(sheet, layout.frames[name], view, colours, occupied)
            ends |= _ports(view.scene, slots[name])
            draw_stream_lines(
                sheet, stream_lines_between(_schematic(view.scene), view.die, layout.frames[name], ends, _SCALE)
            )
            slrs = slr_boxes(layout.frames[name], view.scene, view.die)
            draw_host_marks(sheet, layout.frames[name], view.scene, slrs, ends, occupied=occupied)
        key = Box(_MARGIN, _MARGIN, sheet.width - _MARGIN, _MARGIN + _KEY - 10)
        outside = {kind for view in views.values() for kind in outside_kinds(view.scene)}
        styles = {module.style for view in views.values() for module in view.scene.modules}
        draw_die_key(sheet, key, [view.die for view in views.values()], linked=True, outside=outside, styles=styles)
        return sheet.figure


def _schematic(scene: Scene) -> Scene:
    """Return a scene without the ways of streams that leave the die: here they end beside it, not where they do."""
    modules = {module.name for module in scene.modules}

    def plain(stream: StreamView) -> StreamView:
        inside = {stream.source, stream.target} <= modules
        return (
            replace(stream, longest=False)
            if inside
            else StreamView(stream.source, stream.target, stream.width_bits, stream.ahead)
        )

    return replace(scene, streams=tuple(map(plain, scene.streams)))


def _lay_out(views: Mapping[str, _View], gutters: Mapping[str, int], legend: float) -> _Layout:
    numbers, names, dies = rows_of(len(views)), list(views), [view.die for view in views.values()]
    sizes = die_sizes(dies)
    lane, height = lane_below(gutters), max(height for _, height in sizes)
    lefts = _column_lefts(numbers, [width for width, _ in sizes])
    right = _GAP if len(numbers) > 1 else _SIDE
    header = _HEADER + legend
    sheet = new_sheet(
        lefts[-1] - _GAP + right + _MARGIN, header + len(numbers) * (_NAME + height + lane) + _KEY + _MARGIN
    )
    frames: dict[str, Frame] = {}
    rows = []
    for index, row in enumerate(numbers):
        top = sheet.height - header - _NAME - index * (_NAME + height + lane)
        for left, number in zip(lefts, row, strict=False):
            die, size = dies[number], sizes[number]
            box = Box(left, top - size[1], left + size[0], top)
            frames[names[number]] = Frame(box, die.column_count, die.row_count)
        rows.append(Row(row, _MARGIN + _SIDE - _PORT, top - height, sheet.width))
    return _Layout(sheet, frames, tuple(rows), gutters)


def die_sizes(dies: Sequence[Die]) -> list[tuple[float, float]]:
    """Return width and height of each die in points: dies that differ are all drawn to one scale."""
    if len({(die.column_count, die.row_count) for die in dies}) == 1:
        return [(_DIE_WIDTH, _DIE_WIDTH * proportion_of(die)) for die in dies]
    width_rows = [die.row_count / die.height_over_width for die in dies]
    scale = _DIE_WIDTH / max(width_rows)
    return [(width * scale, die.row_count * scale) for width, die in zip(width_rows, dies, strict=True)]


def _column_lefts(numbers: Sequence[range], widths: Sequence[float]) -> list[float]:
    """Return where each column of dies begins, and where one more would."""
    lefts = [_MARGIN + _SIDE]
    for column in range(len(numbers[0])):
        widest = max(widths[row[column]] for row in numbers if column < len(row))
        lefts.append(lefts[-1] + max(widest, _LEAST_COLUMN) + _GAP)
    return lefts


def _write_header(sheet: Sheet, slot_chain: SlotChainView) -> None:
    sheet.write(_MARGIN, sheet.height - 25, slot_chain.title, 13, weight="bold")
    sheet.write(_MARGIN, sheet.height - 39, slot_chain.subtitle, 8.5, color=QUIET)
    note = "numbers: modules in dataflow order; names, and where links leave a die, in the floorplan of each FPGA"
    sheet.write(_MARGIN, sheet.height - 51, note, 7.5, color=QUIET)
    draw_legend(sheet, _MARGIN, sheet.height - 55, slot_chain.networks)


def _draw_link(
    layout: _Layout,
    link: LinkView,
    slots: Mapping[str, Mapping[str, Box]],
    occupied: Occupied,
) -> None:
    """Draw a link between two slots, with its name and loads above its beginning."""
    ends = link.fpgas
    start, end = _beside(slots[ends[0]][link.source]), _beside(slots[ends[1]][link.target])
    row, next_row = (layout.row_of(fpga) for fpga in ends)
    gutter = layout.gutters[link.name]
    path = link_path(start, end, (row, next_row), _GAP, gutter)
    draw_link(layout.sheet, link, path)
    if gutter:
        label_gutter(layout.sheet, link, path)
        return
    loads = [f"→ {load_text(link.forward.use_gbps, link.gbps)}"]
    if link.backward.streams:
        loads.append(f"← {load_text(link.backward.use_gbps, link.gbps)}")
    lines = (link.name, *loads)
    width, height = block_size(lines, 7, bold=True)
    x, y = start.right + 6 + width / 2, start.centre[1] + 6 + height / 2
    occupied.take(Box.around(x, y, width, height))
    text = "\n".join(lines)
    layout.sheet.write(x, y, text, 7, ha="center", va="center", color=LINK, weight="bold", linespacing=1.15)


def _write_name(sheet: Sheet, frame: Frame, scene: Scene, board: str) -> None:
    """Write above a die the FPGA's name, its number of modules, and its board if that is not the others'."""
    left, y, right = frame.die.left, frame.die.top + 5, max(frame.die.right, frame.die.left + _LEAST_COLUMN)
    count = f"{len(scene.modules)} module" + "s" * (len(scene.modules) != 1)
    sheet.write(left, y, scene.fpga, 10, weight="bold")
    sheet.write(right, y, count, 7.5, color=QUIET, ha="right")
    if board:
        left += text_width(scene.fpga, 10, bold=True) + 5
        sheet.write(left, y, shortened(board, right - text_width(count, 7.5) - 5 - left, 7.5), 7.5, color=QUIET)


def _draw_modules(
    sheet: Sheet, frame: Frame, view: _View, colours: Mapping[str, Colour], occupied: Occupied
) -> dict[str, Box]:
    """Draw a die with its modules; return the boxes of the modules' numbers."""
    draw_background(sheet, frame, view.die, numbered=False)
    return draw_modules(sheet, frame, view.scene, view.die, colours, occupied=occupied, names=False)


def _ports(scene: Scene, slots: Mapping[str, Box]) -> dict[str, Box]:
    """Return where the streams over links begin or end, beside the slots' boxes."""
    boxes = {port.name: (_beside(slots[port.slot]), port.at_left) for port in scene.ports}
    return {
        name: Box.around(slot.left if at_left else slot.right, slot.centre[1], 1, 1)
        for name, (slot, at_left) in boxes.items()
    }


def _beside(slot: Box) -> Box:
    """Return a slot's box, wider by the distance of the ports at both sides."""
    return Box(slot.left - _PORT, slot.bottom, slot.right + _PORT, slot.top)
