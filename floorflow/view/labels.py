"""Texts on the die: the label that fits into each module's rectangle, and what enters and leaves at its ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from floorflow.view.box import Box, Point
from floorflow.view.channels import LinkPort
from floorflow.view.die import Frame
from floorflow.view.palette import LINK
from floorflow.view.scene import ModuleView, Scene
from floorflow.view.sheet import Sheet
from floorflow.view.streams import OUTSIDE_COLOURS
from floorflow.view.text import Occupied, block_size, shortened

_PADDING = 3.0
"""Points between a label's text and the edge of its box."""
_PORT_SIZE = 6.8
_MOST = 2
"""Neighbours named beside a port in one direction; of more only the number is given."""
_MOST_ENDS, _MOST_WIDTH, _SMALL_WIDTH = 6, 130.0, 94.0
"""Ends outside that are named beside a mark, and points that a name may take; the last beside a small die."""
_MARKS = {"host": "diamond", "memory": "square", "phase": "pentagon"}
_MARK = 7.0
"""Points across a mark."""
_NEAR = 50.0
"""Points from an edge of the die within which a port's text stands outside that edge."""
_REACH = 18.0
"""Points between the die's edge and a text outside it: the strip of the clock regions' numbers."""
_STRIP = 54.0
"""Points that a text there may take with its box: beyond lie the use of the slots and the table of modules."""

Wording = tuple[tuple[str, ...], float]
"""Lines of a label and their font size."""


@dataclass(frozen=True)
class Label:
    """A label: lines of text in ``box`` (points), turned by 90 degrees if ``turned``.

    ``leader`` is the point that a label outside its area belongs to, else None.
    """

    lines: tuple[str, ...]
    size: float
    turned: bool
    box: Box
    leader: Point | None = None

    def draw(self, sheet: Sheet) -> None:
        """Draw it in its box, with a line to where it belongs if that is elsewhere."""
        if self.leader is not None:
            sheet.line(self.leader, self.box.centre, width=0.6, z=12)
        plate = {"fill": "white", "edge": "#6b7078", "width": 0.5, "pad": 1.8}
        text, at = "\n".join(self.lines), self.box.centre
        sheet.write(*at, text, self.size, align="middle", middle=True, turned=self.turned, plate=plate, z=13)


def place_labels(
    placed: Sequence[tuple[int, Box, Iterator[Wording]]], occupied: Occupied, least_type: float = 0.0
) -> dict[int, Label]:
    """Return a label for each numbered area in points, in the first of its wordings that fits; none overlap.

    No text is smaller than ``least_type``.

    Labels that fit into their area are placed first; numbers of smaller ones take what is left.
    """
    labels: dict[int, Label] = {}
    for number, area, wordings in placed:
        readable = (wording for wording in wordings if wording[1] >= least_type)
        label = _inside(readable, area, occupied)
        if label is not None:
            labels[number] = label
    for number, area, _ in placed:
        if number not in labels:
            labels[number] = _outside(str(number), area, occupied, max(least_type, 6.0))
    return labels


def _inside(wordings: Iterator[Wording], area: Box, occupied: Occupied) -> Label | None:
    for lines, size in wordings:
        width, height = _boxed(lines, size)
        for turned in (False, True):
            box = Box.around(*area.centre, *((height, width) if turned else (width, height)))
            if area.holds(box) and occupied.take_first([box]):
                return Label(lines, size, turned, box)
    return None


def _outside(number: str, area: Box, occupied: Occupied, size: float) -> Label:
    """Put the number on the nearest free place around a rectangle too small to hold it."""
    width, height = _boxed((number,), size)
    x, y = area.centre
    steps = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
    places = (
        Box.around(x + step_x * reach, y + step_y * reach, width, height)
        for reach in range(0, 180, 3)
        for step_x, step_y in steps
    )
    middle = Box.around(x, y, width, height)
    box = occupied.take_first(places) or middle
    return Label((number,), size, turned=False, box=box, leader=None if box == middle else (x, y))


def _boxed(lines: tuple[str, ...], size: float) -> tuple[float, float]:
    width, height = block_size(lines, size, bold=True)
    return width + 2 * _PADDING, height + _PADDING


def module_wordings(module: ModuleView) -> Iterator[Wording]:
    """Go from the fullest wording of a module to the shortest."""
    layer, headline = module.contents.layer_text(110.0, 7.0), module.contents.headline
    if layer:
        yield (f"{module.number}  {module.name}", f"{layer}: {headline}"), 8.0
        for size in (8.0, 7.0, 6.5):
            yield (f"{module.number}  {module.name}", layer), size
    yield from name_wordings(module.number, module.name)


def name_wordings(number: int, name: str) -> Iterator[Wording]:
    """Go from number and name to the number alone."""
    for size in (8.0, 7.0, 6.5):
        yield (f"{number}  {name}",), size
        yield (str(number), name), size
    for width, size in ((120.0, 7.5), (80.0, 7.0), (56.0, 6.5)):
        yield (str(number), shortened(name, width, size)), size
    yield from number_wordings(number)


def number_wordings(number: int) -> Iterator[Wording]:
    """Go from a large number to a small one."""
    for size in (8.0, 7.0, 6.0, 5.0):
        yield (str(number),), size


@dataclass(frozen=True)
class _Port:
    """A port that streams use: their ends' names, what is written of them, its area and the mark's box in points."""

    names: tuple[str, ...]
    lines: tuple[str, ...]
    area: Box
    mark: Box
    colour: str
    kind: str


def draw_port_marks(
    sheet: Sheet, frame: Frame, scene: Scene, occupied: Occupied, *, small: bool = False
) -> dict[str, Box]:
    """Mark the ports that streams use and write beside them which; return the mark in points by a stream's end.

    On a ``small`` die those of links are left out, and texts stand outside it; in a style with a page there are none.
    """
    ports = _ports(frame, scene, small=small)
    for port in ports:
        occupied.take(port.mark)
    for port in ports:
        sheet.rectangle(port.area, edge=port.colour, width=1.6, z=8)
        sheet.mark(port.mark.centre, port.kind, 5.5, fill=port.colour, edge="white", z=14)
        if sheet.style.is_whole:
            _write_port(sheet, frame, scene, port, occupied, small=small)
    return {name: port.mark for port in ports for name in port.names}


def _ports(frame: Frame, scene: Scene, *, small: bool) -> list[_Port]:
    """Return the ports in use; of those in one place the later stand beside the first."""
    ports: list[_Port] = []
    width_bits = _outside_bits(scene)
    for kind, colour in OUTSIDE_COLOURS.items():
        known = [name for name in width_bits if scene.outside[name].kind == kind]
        for box in dict.fromkeys(map(scene.host_port_of, known)):
            own = {name: width_bits[name] for name in known if scene.host_port_of(name) == box}
            area = frame.place(box)
            lines = _outside_lines(own, _SMALL_WIDTH if small else _MOST_WIDTH)
            ports.append(_Port(tuple(own), lines, area, _free_mark(area, ports), colour, _MARKS[kind]))
    if not small and scene.ports and scene.link_port is not None:
        area = frame.place(scene.link_port)
        names = tuple(port.name for port in scene.ports)
        ports.append(_Port(names, link_lines(scene.ports), area, _free_mark(area, ports), LINK, "diamond"))
    return ports


def _outside_bits(scene: Scene) -> dict[str, int]:
    """Return the bits of all streams of each end outside by its text."""
    width_bits: dict[str, int] = {}
    for stream in scene.streams:
        for end in (stream.source, stream.target):
            if end in scene.outside:
                width_bits[end] = width_bits.get(end, 0) + stream.width_bits
    return dict(sorted(width_bits.items()))


def _outside_lines(width_bits: Mapping[str, int], most_width: float) -> tuple[str, ...]:
    """Name ends outside with their bits: two lines each, one if they are many, of very many only the first."""
    ends = [(shortened(name, 0.9 * most_width, _PORT_SIZE), f"{bits} bit") for name, bits in width_bits.items()]
    if len(ends) <= _MOST:
        return tuple(line for end in ends for line in end)
    rest = [f"and {len(ends) - _MOST_ENDS} more"] if len(ends) > _MOST_ENDS else []
    return (*(f"{name}  {bits}" for name, bits in ends[:_MOST_ENDS]), *rest)


def _free_mark(area: Box, ports: Sequence[_Port]) -> Box:
    """Return the middle of an area, or the first place above it that no other mark takes."""
    x, y = area.centre
    steps = (Box.around(x, y + 2 * _MARK * step, _MARK, _MARK) for step in range(len(ports) + 1))
    return next(mark for mark in steps if not any(port.mark.overlaps(mark) for port in ports))


def link_lines(ports: Sequence[LinkPort]) -> tuple[str, ...]:
    """Name each neighbour and its load, or of many only how many they are."""
    lines: list[str] = []
    for direction in ("from", "to"):
        group = [port for port in ports if port.name.startswith(f"{direction} ")]
        if len(group) > _MOST:
            lines += [f"{direction} {len(group)} FPGAs", f"{sum(port.gbps for port in group):.3g} Gb/s"]
        else:
            lines += [line for port in group for line in (port.name, f"{port.gbps:.3g} Gb/s")]
    return tuple(lines)


def _write_port(sheet: Sheet, frame: Frame, scene: Scene, port: _Port, occupied: Occupied, *, small: bool) -> None:
    """Write what uses a port at a free place off its streams, the nearest such, with a line to its mark."""
    width, height = block_size(port.lines, _PORT_SIZE, bold=True)
    x, y = port.mark.centre
    middles = {module.name: frame.place(module.box).centre for module in scene.modules}
    ends = [pair for s in scene.streams for pair in ((s.source, s.target), (s.target, s.source))]
    far_ends = [middles[far] for near, far in ends if near in port.names and far in middles]
    shares = [step / 60 for step in range(61)]
    lines = [[(x + t * (far_x - x), y + t * (far_y - y)) for t in shares] for far_x, far_y in far_ends]

    def lines_hidden(box: Box) -> int:
        hides = ((box.left <= px <= box.right and box.bottom <= py <= box.top for px, py in line) for line in lines)
        return sum(map(any, hides))

    beside = (1.1 * _SMALL_WIDTH, frame.die.width, 2 * _PADDING) if small else (_STRIP, _NEAR, _REACH)
    places = list(_places(frame.die, port.mark.centre, (width + 2 * _PADDING, height + _PADDING), beside))
    box = min([place for place in places if occupied.free(place, 1.5)] or places, key=lines_hidden)
    occupied.take(box)
    nearest = min(max(x, box.left), box.right), min(max(y, box.bottom), box.top)
    sheet.line((x, y), nearest, colour=port.colour, width=0.5, dashes=(3.0, 2.0), z=8.5)  # thin: it is no stream
    plate = {"fill": "white", "edge": port.colour, "width": 0.6, "pad": 1.0}
    sheet.sign(box, "\n".join(port.lines), _PORT_SIZE, colour=port.colour, plate=plate, z=13)


def _places(die: Box, mark: Point, size: Point, beside: tuple[float, float, float]) -> Iterator[Box]:
    """Yield places for a text, the best first: outside the edge that the mark is near, then around the mark.

    ``beside`` the die: the most width of a text there, how near an edge its mark is, and how far off that it stands.
    """
    (x, y), (width, height), (strip, near, reach) = mark, size, beside
    sides = (x - die.left, die.left - reach - width / 2), (die.right - x, die.right + reach + width / 2)
    outside = [centre for distance, centre in sorted(sides) if width <= strip and distance < near]
    for step in sorted(range(-12, 13), key=lambda step: (abs(step), step)):
        for centre_x in outside:
            yield Box.around(centre_x, y + 4 * step, width, height)
    for distance in range(1, 40):
        away = _MARK / 2 + 3 * distance
        for step_x, step_y in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            place = Box.around(x + step_x * (away + width / 2), y + step_y * (away + height / 2), width, height)
            if die.holds(place):
                yield place
