"""The partition as a figure: all FPGAs side by side, use and modules of their slots, and the load between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan, slr_of
from floorflow.view.contents.scene import BoundaryView, CrossingView, LinkView, SlotChainView, SlotView, Use
from floorflow.view.contents.slot_chain import read_slot_chain
from floorflow.view.draw.links import (
    LANE,
    Point,
    Row,
    draw_link,
    gutters_of,
    label_gutter,
    lane_below,
    link_path,
    load_text,
    rows_of,
    stream_text,
)
from floorflow.view.draw.use_bars import BAR_KEY, BAR_ROW, draw_bar, draw_bars
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, CROSSING, INK, LINK, QUIET, Colour, darker, module_colours
from floorflow.view.sheet.sheet import Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import clipped, shortened, text_width

_MARGIN, _HEADER, _CARD, _SINGLE_CARD, _GAP = 20.0, 56.0, 290.0, 520.0, 132.0
"""Margins, title, width of an FPGA among several and alone, and between two, all in points."""
_NAME, _BAND, _KEY = 20.0, 38.0, 16.0
"""Heights of an FPGA's name, of the band between two slots, and of the key."""
_BARS, _SLOT_HEAD, _LINE, _SIZE = 136.0, 17.0, 10.5, 6.8
_NAMES, _NAME_WIDTH = 158.0, 170.0
"""Where the modules' names begin within a card, and the least width of one among several."""
_MOST_LINES, _MOST_STREAMS = 40, 6
_LEAST_WIDTH = 560.0


@dataclass(frozen=True)
class _Layout:
    """Where each slot's card lies, in points, by the slot's name; the rows of FPGAs, and the gutters of links."""

    sheet: Sheet
    cards: Mapping[str, Box]
    rows: tuple[Row, ...]
    gutters: Mapping[str, int]

    def row_of(self, number: int) -> Row:
        return next(row for row in self.rows if number in row.numbers)


def partition_chart(plan: Plan, phase: int = 0) -> Figure:
    """Draw the slots of all FPGAs with their modules and use, and the load of SLR boundaries and links."""
    slot_chain = read_slot_chain(plan, phase)
    with drawing_settings():
        layout = _lay_out(slot_chain)
        sheet = layout.sheet
        _write_header(sheet, plan, slot_chain, phase)
        colours = module_colours(len(slot_chain.module_names))
        for name, slots in slot_chain.fpgas:
            top = layout.cards[slots[0].name]
            sheet.write(top.left, top.top + 6, name, 10, weight="bold")
            for slot in slots:
                _draw_slot(sheet, layout.cards[slot.name], slot, slot_chain, colours)
        for boundary in slot_chain.boundaries.values():
            _draw_boundary(sheet, layout.cards[boundary.lower], layout.cards[boundary.upper], boundary)
        numbers = {slot.name: number for number, (_, slots) in enumerate(slot_chain.fpgas) for slot in slots}
        for link in slot_chain.links:
            _draw_link(layout, link, numbers)
        return sheet.figure


def _module_columns(card_width: float) -> int:
    """Return how many modules stand side by side beside a slot's bars."""
    return max(int((card_width - _NAMES) / _NAME_WIDTH), 1)


def _slot_height(slot: SlotView, card_width: float) -> float:
    lines = min(-(-len(slot.modules) // _module_columns(card_width)), _MOST_LINES + 1)
    return _SLOT_HEAD + max(len(slot.use) * BAR_ROW, lines * _LINE) + 9


def _lay_out(slot_chain: SlotChainView) -> _Layout:
    """Stack the slots of each FPGA, slots of the same SLR at the same height along a row."""
    numbers = rows_of(len(slot_chain.fpgas))
    single, wraps = len(slot_chain.fpgas) == 1, len(numbers) > 1
    card, lane = _SINGLE_CARD if single else _CARD, LANE * wraps
    levels = [_levels(slot_chain, row, card) for row in numbers]
    gutters = gutters_of(slot_chain.links, [name for name, _ in slot_chain.fpgas])
    below = lane_below(gutters)
    last = below if any(gutters.values()) else 0.0
    heights = [_NAME + sum(level) + _BAND * (len(level) - 1) + below for level in levels]
    width = 2 * _MARGIN + lane + len(numbers[0]) * (card + _GAP) - (0 if wraps else _GAP)
    sheet = new_sheet(max(width, _LEAST_WIDTH), _HEADER + sum(heights) - below + last + _KEY + _MARGIN)
    cards: dict[str, Box] = {}
    rows = []
    top = sheet.height - _HEADER
    for row, level, height in zip(numbers, levels, heights, strict=True):
        for column, number in enumerate(row):
            left = _MARGIN + lane + column * (card + _GAP)
            cards |= _stack(slot_chain.fpgas[number][1], level, left, top - _NAME, card)
        rows.append(Row(row, _MARGIN + lane, top - height + below, sheet.width - _MARGIN))
        top -= height
    return _Layout(sheet, cards, tuple(rows), gutters)


def _levels(slot_chain: SlotChainView, row: range, card_width: float) -> list[float]:
    """Return the height of each SLR of a row, top down: that of its fullest slot."""
    stacks = [[_slot_height(slot, card_width) for slot in slot_chain.fpgas[number][1]] for number in row]
    depth = max(len(stack) for stack in stacks)
    return [max(stack[level] for stack in stacks if level < len(stack)) for level in range(depth)]


def _stack(slots: Sequence[SlotView], levels: Sequence[float], left: float, top: float, width: float) -> dict[str, Box]:
    cards = {}
    for slot, height in zip(slots, levels, strict=False):
        cards[slot.name] = Box(left, top - height, left + width, top)
        top -= height + _BAND
    return cards


def _write_header(sheet: Sheet, plan: Plan, slot_chain: SlotChainView, phase: int) -> None:
    partition = plan["phases"][phase]["partition"]
    stats = partition["stats"]
    gap = "" if stats["gap"] is None else f", gap {stats['gap']:.1%}"
    over_links = sum(len(link.forward.streams) + len(link.backward.streams) for link in slot_chain.links)
    inside = len(partition["crossings"]) - over_links
    counts = f"{inside} streams over SLR boundaries" + (f", {over_links} over links" if slot_chain.links else "")
    sheet.write(_MARGIN, sheet.height - 25, f"Partition of {slot_chain.title}", 13, weight="bold")
    sheet.write(_MARGIN, sheet.height - 39, slot_chain.subtitle, 8.5, color=QUIET)
    text = f"{counts}   ·   cost {partition['cost']:,} ({stats['status']}{gap})"
    sheet.write(_MARGIN, sheet.height - 51, text, 8.5, color=QUIET)
    key = f"{BAR_KEY}   ·   numbers: modules as in the floorplans   ·   grey: infrastructure"
    sheet.write(_MARGIN, _MARGIN - 4, key, 6.8, color=QUIET)


def _draw_slot(sheet: Sheet, card: Box, slot: SlotView, slot_chain: SlotChainView, colours: Sequence[Colour]) -> None:
    sheet.rectangle(card, facecolor="#fbfbfa", edgecolor=INK, linewidth=1.1, zorder=2).set_gid(slot.name)
    left = card.left + 8
    _write_slot_name(sheet, card, slot)
    draw_bars(sheet, left, left + _BARS, card.top - _SLOT_HEAD, slot.use)
    names, top = Box(card.left + _NAMES, card.bottom, card.right - 6, card.top), card.top - _SLOT_HEAD
    columns = _module_columns(card.width)
    shown = slot.modules[: columns * _MOST_LINES]
    lines, width = -(-len(shown) // columns), names.width / columns
    for index, number in enumerate(shown):
        column, line = divmod(index, lines)
        left, y = names.left + column * width, top - (line + 1) * _LINE
        place = Box(left, y - 1.8, left + width - 4, y + 6.8)
        _draw_module(sheet, place, number, slot_chain.module_names[number - 1], colours[number - 1])
    rest = slot.modules[len(shown) :]
    note = f"{len(rest)} more: {', '.join(map(str, rest))}" if rest else "" if shown else "no module"
    if note:
        sheet.write(names.left, top - (lines + 1) * _LINE, clipped(note, names.width, _SIZE), _SIZE, color=QUIET)


def _write_slot_name(sheet: Sheet, card: Box, slot: SlotView) -> None:
    """Write the slot's name, right of it the board's own logic, and the host's streams at the right edge."""
    y, right = card.top - 12, card.right - 8
    name, host = slr_of(slot.name), ", ".join(slot.host)
    sheet.write(card.left + 8, y, name, 9, weight="bold")
    if host:
        sheet.write(right, y, host, 7, color=BAR, weight="bold", ha="right")
        right -= text_width(host, 7, bold=True) + 8
    left = card.left + 16 + text_width(name, 9, bold=True)
    infrastructure = ", ".join(item for item, _ in slot.infrastructure)
    if infrastructure:
        sheet.write(left, y, clipped(infrastructure, right - left, _SIZE), _SIZE, color=QUIET)


def _draw_module(sheet: Sheet, line: Box, number: int, name: str, colour: Colour) -> None:
    swatch, y = Box(line.left, line.bottom, line.left + 16, line.top), line.bottom + 1.8
    sheet.rectangle(swatch, facecolor=colour, edgecolor=darker(colour), linewidth=0.6, zorder=5)
    sheet.write(swatch.centre[0], y, str(number), _SIZE, weight="bold", ha="center")
    sheet.write(line.left + 20, y, shortened(name, line.width - 20, _SIZE), _SIZE)


def _draw_boundary(sheet: Sheet, lower: Box, upper: Box, boundary: BoundaryView) -> None:
    """Draw the band between two slots: arrows for the streams' directions, use of the SLL wires, the streams."""
    x, right = lower.left + 8, lower.right - 6
    for streams, column, (start, end) in (
        (boundary.down, x + 4, (upper.bottom, lower.top)),
        (boundary.up, x + 14, (lower.top, upper.bottom)),
    ):
        if streams:
            _draw_arrow(sheet, column, start, end)
    share = boundary.use_wires / boundary.capacity_wires if boundary.capacity_wires else 0.0
    y = upper.bottom - 11
    draw_bar(sheet, Box(x + 24, y - 0.6, x + 84, y + 5.6), Use(share, 1.0))
    text = f"{boundary.use_wires:,.0f} of {boundary.capacity_wires:,.0f} SLL wires ({share:.1%})"
    sheet.write(x + 90, y, clipped(text, right - x - 90, _SIZE), _SIZE)
    lines = [f"{arrow} {_list(streams)}" for arrow, streams in (("↓", boundary.down), ("↑", boundary.up)) if streams]
    for line in lines or ["no stream"]:
        y -= 9.5
        sheet.write(x + 24, y, clipped(line, right - x - 24, _SIZE), _SIZE, color=CROSSING if lines else QUIET)


def _draw_arrow(sheet: Sheet, x: float, start: float, end: float) -> None:
    style = {"arrowstyle": "-|>,head_width=0.28,head_length=0.5", "color": CROSSING, "linewidth": 1.6}
    style |= {"shrinkA": 0, "shrinkB": 0}
    sheet.axes.annotate("", xy=(x, end), xytext=(x, start), arrowprops=style, annotation_clip=False)


def _list(streams: Sequence[CrossingView]) -> str:
    return ",  ".join(stream_text(stream) for stream in streams)


def _draw_link(layout: _Layout, link: LinkView, numbers: Mapping[str, int]) -> None:
    """Draw a link's line, and at its source above the line what it is, below it the streams it carries."""
    start, end = layout.cards[link.source], layout.cards[link.target]
    row, next_row = (layout.row_of(numbers[slot]) for slot in (link.source, link.target))
    gutter = layout.gutters[link.name]
    path = link_path(start, end, (row, next_row), _GAP, gutter)
    draw_link(layout.sheet, link, path)
    if gutter:
        label_gutter(layout.sheet, link, path)
        return
    sheet, left, width = layout.sheet, start.right + 12, _GAP - 32
    y = start.centre[1] + 28
    sheet.write(left, y, clipped(link.name, width, 7.5), 7.5, color=LINK, weight="bold")
    kind = f"{link.kind}, {link.latency_us:g} µs" + (", assumed" if link.assumed else "")
    sheet.write(left, y - 9, clipped(kind, width, 6.2), 6.2, color=QUIET)
    _draw_load(sheet, (left, y - 21), "→", link.forward.use_gbps, link.gbps)
    y -= 41
    _draw_load(sheet, (left, y), "←", link.backward.use_gbps, link.gbps)
    streams = (*link.forward.streams, *link.backward.streams)
    room = max(min(_MOST_STREAMS, int((y - row.bottom) / _LINE) - 1), 0)
    lines = [stream_text(stream) for stream in streams[:room]]
    lines += [f"and {len(streams) - room} more"] if len(streams) > room else []
    for line in lines:
        y -= _LINE
        sheet.write(left, y, clipped(line, width, _SIZE), _SIZE, color=LINK)


def _draw_load(sheet: Sheet, at: Point, arrow: str, use_gbps: float, capacity_gbps: float) -> None:
    """Draw the load of one direction of a link."""
    left, y = at
    sheet.write(left, y, arrow, 8, color=LINK)
    draw_bar(sheet, Box(left + 12, y - 0.4, left + 40, y + 5.8), Use(use_gbps / capacity_gbps, 1.0))
    sheet.write(left + 44, y, load_text(use_gbps, capacity_gbps), _SIZE)
