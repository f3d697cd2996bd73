"""Find the label that fits into each module's rectangle: as much of number, name and folding as there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from floorflow.view.contents.scene import ModuleView
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.text import Occupied, block_size, shortened

PADDING = 3.0
"""Points between a label's text and the edge of its box."""

Wording = tuple[tuple[str, ...], float]
"""Lines of a label and their font size."""


@dataclass(frozen=True)
class Label:
    """A module's label: lines of text in ``box`` (points), turned by 90 degrees if ``turned``.

    ``leader`` is the point of the module that a label outside its rectangle belongs to, else None.
    """

    lines: tuple[str, ...]
    size: float
    turned: bool
    box: Box
    leader: tuple[float, float] | None = None


def place_labels(
    placed: Sequence[tuple[ModuleView, Box]], occupied: Occupied, *, names: bool = True
) -> dict[str, Label]:
    """Return a label for each module, given their rectangles in points; labels do not overlap one another.

    Without ``names`` a label is only the module's number. Labels that fit into their rectangle are placed first;
    numbers of smaller rectangles take what is left.
    """
    labels: dict[str, Label] = {}
    for module, area in placed:
        label = _inside(_wordings(module) if names else _numbers(module), area, occupied)
        if label is not None:
            labels[module.name] = label
            occupied.take(label.box)
    for module, area in placed:
        if module.name not in labels:
            labels[module.name] = _outside(str(module.number), area, occupied)
            occupied.take(labels[module.name].box)
    return labels


def place_names(placed: Sequence[tuple[int, str, Box]], occupied: Occupied) -> dict[int, Label]:
    """Return a label for each of some numbered and named boxes: its number and name, or its number alone."""
    labels: dict[int, Label] = {}
    for number, name, area in placed:
        label = _inside(_name_wordings(number, name), area, occupied)
        if label is not None:
            labels[number] = label
            occupied.take(label.box)
    for number, _, area in placed:
        if number not in labels:
            labels[number] = _outside(str(number), area, occupied)
            occupied.take(labels[number].box)
    return labels


def _name_wordings(number: int, name: str) -> Iterator[Wording]:
    for size in (8.0, 7.0, 6.5):
        yield (f"{number}  {name}",), size
        yield (str(number), name), size
    for width, size in ((120.0, 7.5), (80.0, 7.0), (56.0, 6.5)):
        yield (str(number), shortened(name, width, size)), size
    for size in (8.0, 7.0, 6.0, 5.0):
        yield (str(number),), size


def _inside(wordings: Iterator[Wording], area: Box, occupied: Occupied) -> Label | None:
    """Return the first wording that fits into ``area``."""
    for lines, size in wordings:
        width, height = _boxed(lines, size)
        for turned in (False, True):
            box = Box.around(*area.centre, *((height, width) if turned else (width, height)))
            if area.holds(box) and occupied.free(box):
                return Label(lines, size, turned, box)
    return None


def _wordings(module: ModuleView) -> Iterator[Wording]:
    """Go from the fullest wording to the shortest."""
    number, name = str(module.number), module.name
    layer, headline = module.contents.layer_text(110.0, 7.0), module.contents.headline
    if layer:
        yield (f"{number}  {name}", f"{layer}: {headline}"), 8.0
        for size in (8.0, 7.0, 6.5):
            yield (f"{number}  {name}", layer), size
    for size in (8.0, 7.0, 6.5):
        yield (f"{number}  {name}",), size
        yield (number, name), size
    for width, size in ((120.0, 7.5), (80.0, 7.0), (56.0, 6.5)):
        yield (number, shortened(name, width, size)), size
    yield from _numbers(module)


def _numbers(module: ModuleView) -> Iterator[Wording]:
    for size in (8.0, 7.0, 6.0, 5.0):
        yield (str(module.number),), size


def _boxed(lines: tuple[str, ...], size: float) -> tuple[float, float]:
    width, height = block_size(lines, size, bold=True)
    return width + 2 * PADDING, height + PADDING


def _outside(number: str, area: Box, occupied: Occupied) -> Label:
    """Put the number on the nearest free place around a rectangle too small to hold it."""
    size = 6.0
    width, height = _boxed((number,), size)
    x, y = area.centre
    for distance in range(60):
        reach = distance * 3.0
        for step_x, step_y in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            box = Box.around(x + step_x * reach, y + step_y * reach, width, height)
            if occupied.free(box):
                return Label((number,), size, turned=False, box=box, leader=(x, y) if reach else None)
    return Label((number,), size, turned=False, box=Box.around(x, y, width, height))
