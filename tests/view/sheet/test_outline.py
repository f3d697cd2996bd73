"""The outline of boxes that touch, against the cells that they cover."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.outline import outline

SIZE = 5


@st.composite
def covered_cells(draw):
    return draw(st.sets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), min_size=1))


def boxes_of(cells):
    """Return disjoint boxes over cells: runs of each row."""
    boxes = []
    for row in range(SIZE):
        start = None
        for column in range(SIZE + 1):
            if (column, row) in cells and start is None:
                start = column
            if (column, row) not in cells and start is not None:
                boxes.append(Box(start, row, column, row + 1))
                start = None
    return boxes


def winding(lines, x, y):
    """Return how often lines run around a point, counter-clockwise."""
    sides = [side for line in lines for side in pairwise([*line, line[0]])]
    up = sum(ax > x and ay < y < by for (ax, ay), (_, by) in sides)
    return up - sum(ax > x and by < y < ay for (ax, ay), (_, by) in sides)


@given(cells=covered_cells())
def test_the_lines_run_once_around_what_is_covered_and_not_around_the_rest(cells):
    lines = outline(boxes_of(cells))
    for column in range(SIZE):
        for row in range(SIZE):
            assert winding(lines, column + 0.5, row + 0.5) == ((column, row) in cells)


@given(cells=covered_cells())
def test_the_lines_are_as_long_as_the_border_between_covered_and_free_cells(cells):
    around = ((1, 0), (-1, 0), (0, 1), (0, -1))
    border = sum((column + x, row + y) not in cells for column, row in cells for x, y in around)
    lines = outline(boxes_of(cells))
    assert sum(math.dist(a, b) for line in lines for a, b in pairwise([*line, line[0]])) == pytest.approx(border)
    for line in lines:
        for (ax, ay), (bx, by), (cx, cy) in zip((line[-1], *line), line, (*line[1:], line[0]), strict=False):
            assert (ax - bx) * (by - cy) != (ay - by) * (bx - cx), "a point on a straight line is no corner"


def test_an_l_of_two_boxes_has_six_corners():
    (line,) = outline([Box(0, 0, 4, 1), Box(0, 1, 2, 3)])
    assert line == ((0, 0), (4, 0), (4, 1), (2, 1), (2, 3), (0, 3))
