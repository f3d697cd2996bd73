"""The partition as a figure: all FPGAs side by side, use and modules of their slots, and the load between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan
from floorflow.view.contents.scene import LinkView, SlotChainView, SlotView, Use
from floorflow.view.contents.slot_chain import read_slot_chain
from floorflow.view.draw.boundaries import band_height, draw_boundaries
from floorflow.view.draw.legend import draw_legend, legend_height
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
from floorflow.view.draw.streams import OUTSIDE_COLOURS
from floorflow.view.draw.use_bars import BAR_KEY, BAR_ROW, draw_bar, draw_bars
from floorflow.view.pictures.floorplan import colours_in_order
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import INK, LINK, QUIET, Colour, darker
from floorflow.view.sheet.sheet import Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import clipped, shortened, text_width

_MARGIN, _HEADER, _CARD, _SINGLE_CARD, _GAP = 20.0, 56.0, 290.0, 520.0, 132.0
"""Margins, title, width of an FPGA among several and alone, and between two, all in points."""
_NAME, _KEY = 20.0, 16.0
"""Heights of an FPGA's name and of the key."""
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
        colours = colours_in_order(plan, phase)
        for name, slots in slot_chain.fpgas:
            _write_fpga(sheet, layout.cards[slots[0].name], name, slot_chain.boards.get(name, ""))
            for slot in slots:
                _draw_slot(sheet, layout.cards[slot.name], slot, slot_chain, colours)
        draw_boundaries(sheet, layout.cards, slot_chain)
        numbers = {slot.name: number for number, (_, slots) in enumerate(slot_chain.fpgas) for slot in slots}
        for link in slot_chain.links:
            _draw_link(layout, link, numbers)
        return sheet.figure


def _write_fpga(sheet: Sheet, card: Box, name: str, board: str) -> None:
    """Write an FPGA's name above its uppermost slot's card, with its board if that is not the others'."""
    sheet.write(card.left, card.top + 6, name, 10, weight="bold")
    if board:
        left = card.left + text_width(name, 10, bold=True) + 6
        sheet.write(left, card.top + 6, shortened(board, card.right - left, 8), 8, color=QUIET)


def _module_columns(card_width: float) -> int:
    """Return how many modules stand side by side beside a slot's bars."""
    return max(int((card_width - _NAMES) / _NAME_WIDTH), 1)


def _slot_height(slot: SlotView, card_width: float) -> float:
    lines = min(-(-len(slot.modules) // _module_columns(card_width)), _MOST_LINES + 1)
    return _SLOT_HEAD + max(len(slot.use) * BAR_ROW, lines * _LINE) + 9


def _lay_out(slot_chain: SlotChainView) -> _Layout:
    """Stack the slots of each FPGA, those of the same level from the top at the same height along a row."""
    numbers = rows_of(len(slot_chain.fpgas))
    single, wraps = len(slot_chain.fpgas) == 1, len(numbers) > 1
    card, lane = _SINGLE_CARD if single else _CARD, LANE * wraps
    levels = [_levels(slot_chain, row, card) for row in numbers]
    gutters = gutters_of(slot_chain.links, [name for name, _ in slot_chain.fpgas])
    below = lane_below(gutters)
    last = below if any(gutters.values()) else 0.0
    band = band_height(slot_chain)
    heights = [_NAME + sum(level) + band * (len(level) - 1) + below for level in levels]
    width = 2 * _MARGIN + lane + len(numbers[0]) * (card + _GAP) - (0 if wraps else _GAP)
    header = _HEADER + legend_height(slot_chain.networks)
    sheet = new_sheet(max(width, _LEAST_WIDTH), header + sum(heights) - below + last + _KEY + _MARGIN)
    cards: dict[str, Box] = {}
    rows = []
    top = sheet.height - header
    for row, level, height in zip(numbers, levels, heights, strict=True):
        for column, number in enumerate(row):
            left = _MARGIN + lane + column * (card + _GAP)
            cards |= _stack(slot_chain.fpgas[number][1], level, Box(left, 0, left + card, top - _NAME), band)
        rows.append(Row(row, _MARGIN + lane, top - height + below, sheet.width - _MARGIN))
        top -= height
    return _Layout(sheet, cards, tuple(rows), gutters)


def _levels(slot_chain: SlotChainView, row: range, card_width: float) -> list[float]:
    """Return the height of each SLR of a row, top down: that of its fullest slot."""
    stacks = [[_slot_height(slot, card_width) for slot in slot_chain.fpgas[number][1]] for number in row]
    depth = max(len(stack) for stack in stacks)
    return [max(stack[level] for stack in stacks if level < len(stack)) for level in range(depth)]


def _stack(slots: Sequence[SlotView], levels: Sequence[float], area: Box, band: float) -> dict[str, Box]:
    cards, top = {}, area.top
    for slot, height in zip(slots, levels, strict=False):
        cards[slot.name] = Box(area.left, top - height, area.right, top)
        top -= height + band
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
    draw_legend(sheet, _MARGIN, sheet.height - 55, slot_chain.networks)
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
    """Write the slot's name, right of it the board's own logic, and the ends outside at the right edge."""
    y, right = card.top - 12, card.right - 8
    name = shortened(slot.label, card.width / 3, 9)
    sheet.write(card.left + 8, y, name, 9, weight="bold")
    for text, colour in reversed(_outside_texts(slot, right - card.left - 24 - text_width(name, 9, bold=True))):
        sheet.write(right, y, text, 7, color=colour, weight="bold", ha="right")
        right -= text_width(text, 7, bold=True) + 8
    left = card.left + 16 + text_width(name, 9, bold=True)
    infrastructure = ", ".join(item for item, _ in slot.infrastructure)
    if infrastructure:
        sheet.write(left, y, clipped(infrastructure, right - left, _SIZE), _SIZE, color=QUIET)


def _outside_texts(slot: SlotView, room: float) -> list[tuple[str, str]]:
    """Return the ends outside at a slot, one text and colour a kind, in as many points as there are."""
    of_kind = {kind: [end.text for end in slot.outside if end.kind == kind] for kind in OUTSIDE_COLOURS}
    texts = [(", ".join(ends), OUTSIDE_COLOURS[kind]) for kind, ends in of_kind.items() if ends]
    share = room / max(len(texts), 1) - 8
    return [(shortened(text, share * 0.9, 7), colour) for text, colour in texts]


def _draw_module(sheet: Sheet, line: Box, number: int, name: str, colour: Colour) -> None:
    swatch, y = Box(line.left, line.bottom, line.left + 16, line.top), line.bottom + 1.8
    sheet.rectangle(swatch, facecolor=colour, edgecolor=darker(colour), linewidth=0.6, zorder=5)
    sheet.write(swatch.centre[0], y, str(number), _SIZE, weight="bold", ha="center")
    sheet.write(line.left + 20, y, shortened(name, line.width - 20, _SIZE), _SIZE)


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
        sheet.write(left, y, shortened(line, width, _SIZE), _SIZE, color=LINK)


def _draw_load(sheet: Sheet, at: Point, arrow: str, use_gbps: float, capacity_gbps: float) -> None:
    """Draw the load of one direction of a link."""
    left, y = at
    sheet.write(left, y, arrow, 8, color=LINK)
    draw_bar(sheet, Box(left + 12, y - 0.4, left + 40, y + 5.8), Use(use_gbps / capacity_gbps, 1.0))
    sheet.write(left + 44, y, load_text(use_gbps, capacity_gbps), _SIZE)
