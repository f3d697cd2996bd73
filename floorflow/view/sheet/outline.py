"""The outline of boxes that touch: one shape, without the edges between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from floorflow.view.sheet.geometry import Box

Point = tuple[float, float]


def outline(boxes: Sequence[Box]) -> tuple[tuple[Point, ...], ...]:
    """Return the corners of each closed line around disjoint boxes: the shape lies at the left of every line.

    Lines around parts that do not touch, and around holes, are lines of their own.
    """
    onward: dict[Point, list[Point]] = defaultdict(list)
    for start, end in _edges(boxes):
        onward[start].append(end)
    lines = []
    while onward:
        lines.append(_corners(_walked(onward)))
    return tuple(lines)


def _edges(boxes: Sequence[Box]) -> Iterator[tuple[Point, Point]]:
    """Yield the sides of the grid's cells that have a box at their left and none at their right."""
    xs = sorted({x for box in boxes for x in (box.left, box.right)})
    ys = sorted({y for box in boxes for y in (box.bottom, box.top)})

    def inside(column: int, row: int) -> bool:
        if not (0 <= column < len(xs) - 1 and 0 <= row < len(ys) - 1):
            return False
        cell = Box(xs[column], ys[row], xs[column + 1], ys[row + 1])
        return any(box.holds(cell) for box in boxes)

    for column, (left, right) in enumerate(pairwise(xs)):
        for row, (bottom, top) in enumerate(pairwise(ys)):
            if inside(column, row):
                around = (
                    (inside(column, row - 1), (left, bottom), (right, bottom)),
                    (inside(column + 1, row), (right, bottom), (right, top)),
                    (inside(column, row + 1), (right, top), (left, top)),
                    (inside(column - 1, row), (left, top), (left, bottom)),
                )
                yield from ((start, end) for taken, start, end in around if not taken)


def _walked(onward: dict[Point, list[Point]]) -> list[Point]:
    """Take one closed line out of the edges that lead on from each point."""
    point = min(onward)
    line = []
    while point in onward:
        line.append(point)
        ends = onward[point]
        end = ends.pop(0)
        if not ends:
            del onward[point]
        point = end
    return line


def _corners(line: Sequence[Point]) -> tuple[Point, ...]:
    """Leave out the points of a closed line at which it goes straight on."""
    around = zip((line[-1], *line), line, (*line[1:], line[0]), strict=False)
    return tuple(
        point
        for before, point, after in around
        if not (before[0] == point[0] == after[0] or before[1] == point[1] == after[1])
    )
