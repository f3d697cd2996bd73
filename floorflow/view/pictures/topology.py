"""Which card talks to which: cards with their cages, the cables between them, and what flows over each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from floorflow.facts.partition import CrossingEntry
from floorflow.facts.platform import LinkEntry
from floorflow.facts.topology import Cable, linked_crossings, start_order
from floorflow.view.box import Box
from floorflow.view.channels import outside_ends
from floorflow.view.names import Plan, fpga_names, fpga_of_slots, headline, platform_text
from floorflow.view.palette import BAR, LINK, QUIET, RULE, TRACK
from floorflow.view.parts import MARGIN, draw_key, write_head
from floorflow.view.sheet import Sheet
from floorflow.view.text import clipped

_HEADER, _KEY = 64.0, 22.0
_HOST, _CARD, _TALL, _BETWEEN = 118.0, 188.0, 62.0, 22.0
"""Room for the host's streams left of cards; width and height of a card, and what lies between two, in points."""
_LANE, _FIRST = 22.0, 40.0
"""Between two cables that run side by side, and from a card to the first of them, in points."""
_TOLD, _LINES, _WIDE = 15.0, 52.0, 250.0
"""From the last cable to what is said of cables, and height and width of what is said of one, in points."""
_BAR_LEFT, _BAR_WIDTH, _BAR_HEIGHT = 92.0, 84.0, 6.0
_CAGE = 7.0


@dataclass(frozen=True)
class CableView:
    """A cable between two cards by their places, its cages there, and Gb/s and streams each way, of ``carries``."""

    cable: Cable
    ends: tuple[int, int]
    cages: tuple[int, int]
    gbps: tuple[float, float]
    streams: tuple[int, int]

    @property
    def carries(self) -> float:
        """Gb/s each way for streams, without what the link adds to each bit."""
        return self.cable.link.gbps / (1 + self.cable.link.overhead)


def read_cables(plan: Plan, phase: int = 0) -> tuple[tuple[CableView, ...], tuple[str, ...]]:
    """Return the cables that carry streams, by the places of their cards, and the order in which cards are started."""
    names, found = fpga_names(plan), list[CableView]()
    links = [LinkEntry.model_validate(row) for row in plan["platform"]["links"]]
    rows = (row for row in plan["phases"][phase]["partition"]["crossings"] if row["kind"] == "link")
    streams = linked_crossings(names, fpga_of_slots(plan), links, [CrossingEntry.model_validate(row) for row in rows])
    for cable in {one.cable.link.name: one.cable for one in streams}.values():
        low, high = sorted(cable.cages, key=names.index)
        own = [one for one in streams if one.cable.link.name == cable.link.name]
        ways = [[one.stream.gbps for one in own if one.source == end] for end in (low, high)]
        found.append(
            CableView(
                cable,
                (names.index(low), names.index(high)),
                (cable.cages[low], cable.cages[high]),
                (sum(ways[0]), sum(ways[1])),
                (len(ways[0]), len(ways[1])),
            )
        )
    order = start_order(list(names), {(one.source, one.target) for one in streams}, names[0])
    return tuple(sorted(found, key=lambda one: one.ends)), tuple(order)


def lanes(cables: Sequence[CableView]) -> list[int]:
    """Return the lane of each cable beside the cards, the nearest that none on its way has; the shortest go first."""
    taken: list[list[tuple[int, int]]] = []
    found = dict[int, int]()
    for number, one in sorted(enumerate(cables), key=lambda row: row[1].ends[1] - row[1].ends[0]):
        low, high = one.ends
        free = (k for k, held in enumerate(taken) if all(high <= a or b <= low for a, b in held))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append(one.ends)
        found[number] = lane
    return [found[number] for number in range(len(cables))]


def topology_chart(plan: Plan, phase: int = 0) -> Sheet:
    """Draw the cards one below another, the cables beside them, and what each carries of what it can."""
    cables, order = read_cables(plan, phase)
    names, used = fpga_names(plan), lanes(cables)
    step = _TALL + _BETWEEN
    body = max(len(names) * step - _BETWEEN, len(cables) * _LINES)
    left = MARGIN + _HOST
    told = left + _CARD + _FIRST + _LANE * max(len({*used}) - 1, 0) + _TOLD
    sheet = Sheet(told + _WIDE + MARGIN, MARGIN + _KEY + body + _HEADER)
    top = MARGIN + _KEY + body
    start = " → ".join(order)
    title = f"topology: {headline(plan, platform_text(plan), phase)}"
    write_head(sheet, title, f"cards are started in the order {start}: who receives first")
    cards = [Box(left, top - k * step - _TALL, left + _CARD, top - k * step) for k in range(len(names))]
    for number, box in enumerate(cards):
        _draw_card(sheet, box, plan, number, order.index(names[number]) + 1)
    _draw_host(sheet, plan, phase, cards)
    wanted = [(cards[one.ends[0]].centre[1] + cards[one.ends[1]].centre[1]) / 2 for one in cables]
    places = spread(wanted, _LINES, MARGIN + _KEY + _LINES / 2, top - _LINES / 2)
    heights = _heights(cables, cards)
    for number, one in enumerate(cables):
        x = left + _CARD + _FIRST + _LANE * used[number]
        ends = heights[number]
        _draw_cable(sheet, one, (cards[one.ends[0]].right, x), ends)
        middle = _clear(places[number], ends, [y for other in heights for y in other])
        sheet.line((x, middle), (told - 6, middle), (told - 6, places[number]), colour=RULE, width=0.7, z=2)
        sheet.mark((x, middle), "circle", 4.0, fill=LINK, z=9)
        _tell(sheet, one, names, told, places[number])
    entries = [("cable; arrows: the way that streams take", "line", {"colour": LINK, "width": 2.4})]
    bars = ("carried, of what the cable carries each way", "area", {"fill": BAR, "edge": None})
    draw_key(sheet, MARGIN, [*entries, bars])
    return sheet


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Return heights near those that are wanted, none nearer to another than ``apart``, all between low and high."""
    order = sorted(range(len(wanted)), key=lambda k: (-wanted[k], k))
    found = dict[int, float]()
    above = high + apart
    for k in order:
        found[k] = above = min(wanted[k], above - apart)
    below = low - apart
    for k in reversed(order):
        found[k] = below = max(found[k], below + apart)
    return [found[k] for k in range(len(wanted))]


def _clear(wanted: float, ends: tuple[float, float], others: Sequence[float]) -> float:
    """Return a height between both ends, near that which is wanted, beside which no cable passes to a card."""
    low, high = min(ends) + 4, max(ends) - 4
    steps = sorted((low + k * (high - low) / 24 for k in range(25)), key=lambda y: abs(y - wanted))
    return next((y for y in steps if all(abs(y - other) > 5 for other in others)), (low + high) / 2)


def _draw_card(sheet: Sheet, box: Box, plan: Plan, number: int, started: int) -> None:
    fpga = plan["platform"]["fpgas"][number]
    sheet.rectangle(box, fill="#f7f7f5", edge=RULE, width=1.2, z=3, name=fpga["name"])
    sheet.write(box.left + 9, box.top - 17, fpga["name"], 11, bold=True)
    for line, text in enumerate((fpga["board"], fpga["part"])):
        sheet.write(box.left + 9, box.top - 31 - 11 * line, clipped(text, _CARD - 60, 7.5), 7.5, colour=QUIET)
    sheet.write(box.left + 9, box.bottom + 7, f"started {_nth(started)}", 7.5)


def _nth(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"


def _draw_host(sheet: Sheet, plan: Plan, phase: int, cards: Sequence[Box]) -> None:
    """Draw what enters at the first card, and leaves at the last."""
    channels = plan["phases"][phase]["channels"]
    for box, side, up in ((cards[0], "source", 10.0), (cards[-1], "target", -10.0)):
        ends = [end.text for end in outside_ends(c[side] for c in channels).values()]
        if not ends:
            continue
        y, text = box.centre[1] + up, ends[0] if len(ends) == 1 else f"{ends[0]} and {len(ends) - 1} more"
        points = [(MARGIN, y), (box.left, y)]
        sheet.arrow(*(points if side == "source" else reversed(points)), head=8.0, width=1.4, z=4)
        sheet.write(MARGIN, y + 6, clipped(text, _HOST - 12, 7.5), 7.5)


def _heights(cables: Sequence[CableView], cards: Sequence[Box]) -> list[tuple[float, float]]:
    """Return the height of each cable's cage at its two cards: those to cards above stand above."""
    held: dict[int, list[tuple[int, int]]] = {}
    for number, one in enumerate(cables):
        for card, other in (one.ends, reversed(one.ends)):
            held.setdefault(card, []).append((other, number))
    places = dict[tuple[int, int], float]()
    for card, own in held.items():
        for place, (_, number) in enumerate(sorted(own), 1):
            places[number, card] = cards[card].top - _TALL * place / (len(own) + 1)
    return [(places[number, one.ends[0]], places[number, one.ends[1]]) for number, one in enumerate(cables)]


def _draw_cable(sheet: Sheet, one: CableView, across: tuple[float, float], ends: tuple[float, float]) -> None:
    edge, x = across
    sheet.line((edge, ends[0]), (x, ends[0]), (x, ends[1]), (edge, ends[1]), colour=LINK, width=2.4, z=8)
    for way, (y, cage) in enumerate(zip(ends, one.cages, strict=True)):
        sheet.rectangle(Box(edge - _CAGE, y - _CAGE / 2, edge, y + _CAGE / 2), fill=LINK, edge=LINK, z=9)
        sheet.write(edge - _CAGE - 3, y, f"cage {cage}", 6.5, align="end", middle=True)
        if one.streams[1 - way]:
            sheet.arrow((x, y), (edge, y), head=9.0, colour=LINK, width=2.4, z=8)


def _tell(sheet: Sheet, one: CableView, names: Sequence[str], left: float, y: float) -> None:
    """Say of a cable what it is, and of both ways what it carries."""
    link, ends = one.cable.link, [names[k] for k in one.ends]
    sheet.write(left, y + 14, clipped(link.name, _WIDE, 8.5), 8.5, bold=True)
    told = f"{link.kind}, {one.carries:.4g} Gb/s each way for streams, {link.latency_us:g} us"
    sheet.write(left, y + 3, clipped(told, _WIDE, 7), 7, colour=QUIET)
    for line, (text, gbps, streams) in enumerate(_ways(one, ends)):
        base = y - 8 - 11 * line
        sheet.write(left, base, clipped(text, _BAR_LEFT - 6, 7), 7)
        bar = Box(left + _BAR_LEFT, base - 0.5, left + _BAR_LEFT + _BAR_WIDTH, base - 0.5 + _BAR_HEIGHT)
        sheet.rectangle(bar, fill=TRACK, z=3)
        share = gbps / one.carries if one.carries else 0.0
        if gbps:
            width = max(_BAR_WIDTH * min(share, 1.0), 0.8)
            sheet.rectangle(Box(bar.left, bar.bottom, bar.left + width, bar.top), fill=BAR, z=4)
        said = f"{gbps:.3g} Gb/s, {streams} stream{'' if streams == 1 else 's'}" if streams else "nothing"
        sheet.write(bar.right + 6, base, said, 7, colour=QUIET)


def _ways(one: CableView, ends: Sequence[str]) -> Iterator[tuple[str, float, int]]:
    for way in (0, 1):
        yield f"{ends[way]} → {ends[1 - way]}", one.gbps[way], one.streams[way]
