"""The partition: all FPGAs side by side, use and modules of their slots, and the load of boundaries and links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from floorflow.view.box import Box
from floorflow.view.colouring import colouring_of
from floorflow.view.links import LANE, Gutters, Row, rows_of
from floorflow.view.names import Plan
from floorflow.view.palette import CROSSING, INK, LINK, QUIET, Colour
from floorflow.view.parts import (
    BAR_KEY,
    BAR_ROW,
    MARGIN,
    draw_bar,
    draw_bars,
    draw_legend,
    draw_number,
    legend_height,
    write_head,
)
from floorflow.view.sheet import Sheet
from floorflow.view.slots import BoundaryView, LinkView, SlotChainView, SlotView, Use, read_slot_chain
from floorflow.view.streams import OUTSIDE_COLOURS
from floorflow.view.text import clipped, shortened, text_width

_HEADER, _CARD, _SINGLE_CARD, _GAP = 62.0, 290.0, 520.0, 132.0
"""Title, width of an FPGA among several and alone, and between two, all in points."""
_NAME, _KEY = 20.0, 16.0
"""Heights of an FPGA's name and of the key."""
_BARS, _SLOT_HEAD, _LINE, _SIZE = 136.0, 17.0, 10.5, 6.8
_NAMES, _NAME_WIDTH = 158.0, 170.0
"""Where the modules' names begin within a card, and the least width of one among several."""
_MOST_LINES, _MOST_STREAMS = 40, 6
_LEAST_WIDTH = 560.0
_BAND, _BAND_MORE = 38.0, 31.0
"""Height of the band between two slots, and more for each further boundary of the lower one to slots above it."""


@dataclass(frozen=True)
class _Layout:
    """Where each slot's card lies, in points, by the slot's name; the rows of FPGAs, and the gutters of links."""

    sheet: Sheet
    cards: Mapping[str, Box]
    rows: tuple[Row, ...]
    gutters: Gutters
    band: float


def partition_chart(plan: Plan, phase: int = 0) -> Sheet:
    """Draw the slots of all FPGAs with their modules and use, and the load of SLR boundaries and links."""
    chain, colours = read_slot_chain(plan, phase), colouring_of(plan, phase, None).colours
    layout = _lay_out(chain)
    sheet = layout.sheet
    _write_header(sheet, plan, chain, phase)
    for name, slots in chain.fpgas:
        card, board = layout.cards[slots[0].name], chain.boards.get(name, "")
        sheet.write(card.left, card.top + 6, name, 10, bold=True)
        left = card.left + text_width(name, 10, bold=True) + 6
        sheet.write(left, card.top + 6, shortened(board, card.right - left, 8), 8, colour=QUIET)
        for slot in slots:
            _draw_slot(sheet, layout.cards[slot.name], slot, chain, colours)
        for upper, lower in zip((None, *slots), slots, strict=False):
            _draw_boundaries(layout, chain, upper, lower)
    for link in chain.links:
        ends = layout.cards[link.entry["source"]], layout.cards[link.entry["target"]]
        if not layout.gutters.draw_link(sheet, link, ends, layout.rows, _GAP):
            row = next(row for row in layout.rows if row.bottom <= ends[0].bottom)
            _write_link(sheet, link, ends[0], row.bottom)
    return sheet


def _module_columns(card_width: float) -> int:
    """Return how many modules stand side by side beside a slot's bars."""
    return max(int((card_width - _NAMES) / _NAME_WIDTH), 1)


def _slot_height(slot: SlotView, card_width: float) -> float:
    lines = min(-(-len(slot.modules) // _module_columns(card_width)), _MOST_LINES + 1)
    return _SLOT_HEAD + max(len(slot.use) * BAR_ROW, lines * _LINE) + 9


def _lay_out(chain: SlotChainView) -> _Layout:
    """Stack the slots of each FPGA, those of the same level from the top at the same height along a row."""
    numbers = rows_of(len(chain.fpgas))
    wraps = len(numbers) > 1
    card, lane = _SINGLE_CARD if len(chain.fpgas) == 1 else _CARD, LANE * wraps
    levels = [_levels(chain, row, card) for row in numbers]
    gutters = Gutters.of(chain.links, [name for name, _ in chain.fpgas])
    below = gutters.lane_below
    last = below if any(gutters.by_link.values()) else 0.0
    lowers = [boundary.lower for boundary in chain.boundaries]
    band = _BAND + _BAND_MORE * (max(map(lowers.count, lowers), default=1) - 1)
    heights = [_NAME + sum(level) + band * (len(level) - 1) + below for level in levels]
    width = 2 * MARGIN + lane + len(numbers[0]) * (card + _GAP) - (0 if wraps else _GAP)
    header = _HEADER + legend_height(chain.networks)
    sheet = Sheet(max(width, _LEAST_WIDTH), header + sum(heights) - below + last + _KEY + MARGIN)
    cards: dict[str, Box] = {}
    rows, top = [], sheet.height - header
    for row, level, height in zip(numbers, levels, heights, strict=True):
        for column, number in enumerate(row):
            left, upper = MARGIN + lane + column * (card + _GAP), top - _NAME
            for slot, slot_height in zip(chain.fpgas[number][1], level, strict=False):
                cards[slot.name] = Box(left, upper - slot_height, left + card, upper)
                upper -= slot_height + band
        rows.append(Row(row, MARGIN + lane, top - height + below, sheet.width - MARGIN))
        top -= height
    return _Layout(sheet, cards, tuple(rows), gutters, band)


def _levels(chain: SlotChainView, row: range, card_width: float) -> list[float]:
    """Return the height of each SLR of a row, top down: that of its fullest slot."""
    stacks = [[_slot_height(slot, card_width) for slot in chain.fpgas[number][1]] for number in row]
    return [max(heights) for heights in zip_longest(*stacks, fillvalue=0.0)]


def _write_header(sheet: Sheet, plan: Plan, chain: SlotChainView, phase: int) -> None:
    partition = plan["phases"][phase]["partition"]
    stats = partition["stats"]
    gap = "" if stats["gap"] is None else f", gap {stats['gap']:.1%}"
    over_links = sum(len(streams) for link in chain.links for streams in link.streams)
    inside = sum(item["kind"] == "sll" for item in partition["crossings"])
    counts = f"{inside} streams over SLR boundaries" + (f", {over_links} over links" if chain.links else "")
    cost = f"{counts}   ·   cost {partition['cost']:,} ({stats['status']}{gap})"
    top = write_head(sheet, f"Partition of {chain.title}", chain.subtitle, cost)
    draw_legend(sheet, top + 2, chain.networks)
    key = f"{BAR_KEY}   ·   numbers: modules as in the floorplans   ·   grey: infrastructure"
    sheet.write(MARGIN, MARGIN - 4, key, 6.8, colour=QUIET)


def _draw_slot(sheet: Sheet, card: Box, slot: SlotView, chain: SlotChainView, colours: Sequence[Colour]) -> None:
    sheet.rectangle(card, fill="#fbfbfa", edge=INK, width=1.1, z=2, name=slot.name)
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
        colour, name = colours[number - 1], shortened(chain.module_names[number - 1], width - 24, _SIZE)
        draw_number(sheet, Box(left, y - 1.8, left + 16, y + 6.8), str(number), colour, _SIZE)
        sheet.write(left + 20, y, name, _SIZE)
    rest = slot.modules[len(shown) :]
    note = f"{len(rest)} more: {', '.join(map(str, rest))}" if rest else "" if shown else "no module"
    sheet.write(names.left, top - (lines + 1) * _LINE, clipped(note, names.width, _SIZE), _SIZE, colour=QUIET)


def _write_slot_name(sheet: Sheet, card: Box, slot: SlotView) -> None:
    """Write the slot's name, right of it the board's own logic, and the ends outside at the right edge."""
    y, right = card.top - 12, card.right - 8
    name = shortened(slot.label, card.width / 3, 9)
    sheet.write(card.left + 8, y, name, 9, bold=True)
    left = card.left + 16 + text_width(name, 9, bold=True)
    of_kind = {kind: [end.text for end in slot.outside if end.kind == kind] for kind in OUTSIDE_COLOURS}
    texts = [(", ".join(ends), OUTSIDE_COLOURS[kind]) for kind, ends in of_kind.items() if ends]
    share = (right - left - 8) / max(len(texts), 1) - 8
    for whole, colour in reversed(texts):
        text = shortened(whole, share * 0.9, 7)
        sheet.write(right, y, text, 7, colour=colour, bold=True, align="end")
        right -= text_width(text, 7, bold=True) + 8
    infrastructure = ", ".join(item for item, _ in slot.infrastructure)
    sheet.write(left, y, clipped(infrastructure, right - left, _SIZE), _SIZE, colour=QUIET)


def _draw_boundaries(layout: _Layout, chain: SlotChainView, upper: SlotView | None, lower: SlotView) -> None:
    """Draw the boundaries of a slot to slots above it in the band there; those to others than ``upper`` come last."""
    labels = {slot.name: slot.label for _, slots in chain.fpgas for slot in slots}
    card, above = layout.cards[lower.name], None if upper is None else upper.name
    top = card.top + layout.band if above is None else layout.cards[above].bottom
    own = [boundary for boundary in chain.boundaries if boundary.lower == lower.name]
    for index, boundary in enumerate(sorted(own, key=lambda boundary: boundary.upper != above)):
        to = f"to {labels[boundary.upper]}: "
        if boundary.upper == above:
            to, x = "", card.left + 12
            for streams, at, start, end in ((boundary.down, x, top, card.top), (boundary.up, x + 10, card.top, top)):
                if streams:
                    layout.sheet.arrow((at, start), (at, end), head=8.0, colour=CROSSING, width=1.6)
        _write_boundary(layout.sheet, card, top - index * _BAND_MORE, boundary, to)


def _write_boundary(sheet: Sheet, lower: Box, top: float, boundary: BoundaryView, to: str) -> None:
    """Write into the band above a slot, downwards from ``top``, the use of a boundary's SLL wires and its streams."""
    x, right, y = lower.left + 8, lower.right - 6, top - 11
    share = boundary.use_wires / boundary.capacity_wires if boundary.capacity_wires else 0.0
    draw_bar(sheet, Box(x + 24, y - 0.6, x + 84, y + 5.6), Use(share, 1.0))
    text = f"{to}{boundary.use_wires:,.0f} of {boundary.capacity_wires:,.0f} {boundary.what} ({share:.1%})"
    sheet.write(x + 90, y, clipped(text, right - x - 90, _SIZE), _SIZE)
    directions = (("↓", boundary.down), ("↑", boundary.up))
    lines = [f"{arrow} {',  '.join(stream.text for stream in streams)}" for arrow, streams in directions if streams]
    for line in lines or ["no stream"]:
        y -= 9.5
        sheet.write(x + 24, y, clipped(line, right - x - 24, _SIZE), _SIZE, colour=CROSSING if lines else QUIET)


def _write_link(sheet: Sheet, link: LinkView, start: Box, bottom: float) -> None:
    """Write at a link's source above its line what it is, below it the streams it carries."""
    left, width, y = start.right + 12, _GAP - 32, start.centre[1] + 28
    sheet.write(left, y, clipped(link.name, width, 7.5), 7.5, colour=LINK, bold=True)
    kind = f"{link.entry['kind']}, {link.entry['latency_us']:g} µs" + ", assumed" * link.entry["assumed"]
    sheet.write(left, y - 9, clipped(kind, width, 6.2), 6.2, colour=QUIET)
    for arrow, use_gbps, load, at in zip("→←", link.use_gbps, link.loads, (y - 21, y - 41), strict=True):
        sheet.write(left, at, arrow, 8, colour=LINK)
        draw_bar(sheet, Box(left + 12, at - 0.4, left + 40, at + 5.8), Use(use_gbps / link.payload_gbps, 1.0))
        sheet.write(left + 44, at, load, _SIZE)
    y -= 41
    streams = [stream.text for both in link.streams for stream in both]
    room = max(min(_MOST_STREAMS, int((y - bottom) / _LINE) - 1), 0)
    for line in [*streams[:room], *([f"and {len(streams) - room} more"] if len(streams) > room else [])]:
        y -= _LINE
        sheet.write(left, y, shortened(line, width, _SIZE), _SIZE, colour=LINK)
