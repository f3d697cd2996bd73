"""Boxes: what is left outside others, and the border around those that touch, against the cells that they cover."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.view.box import Box, borders, outside

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


@given(cells=covered_cells())
def test_lines_lie_where_one_side_alone_is_covered(cells):
    lines = list(borders(boxes_of(cells)))
    up = {(x, y) for (x, start), (_, end) in (line for line in lines if line[0][0] == line[1][0])
          for y in range(start, end)}  # fmt: skip
    along = {(x, y) for (start, y), (end, _) in (line for line in lines if line[0][1] == line[1][1])
             for x in range(start, end)}  # fmt: skip
    for x in range(SIZE + 1):
        for y in range(SIZE + 1):
            here = (x, y) in cells
            assert ((x, y) in up) == (here != ((x - 1, y) in cells))
            assert ((x, y) in along) == (here != ((x, y - 1) in cells))
    assert sum(math.dist(*line) for line in lines) == pytest.approx(len(up) + len(along)), "no line twice"


def test_an_l_of_two_boxes_has_six_sides():
    lines = {frozenset(line) for line in borders([Box(0, 0, 4, 1), Box(0, 1, 2, 3)])}
    corners = [(0, 0), (4, 0), (4, 1), (2, 1), (2, 3), (0, 3)]
    assert lines == {frozenset(side) for side in zip(corners, corners[1:] + corners[:1], strict=True)}


edges = st.tuples(st.integers(0, 12), st.integers(1, 8))


@given(st.lists(st.tuples(edges, edges), max_size=4))
def test_outside_covers_exactly_the_cells_that_no_hole_covers(
    holes: list[tuple[tuple[int, int], tuple[int, int]]],
) -> None:
    boxes = tuple(Box(x, y, x + width, y + height) for (x, width), (y, height) in holes)
    pieces = outside(Box(0, 0, 10, 10), boxes)
    for x in range(10):
        for y in range(10):
            cell = Box(x, y, x + 1, y + 1)
            assert sum(piece.overlaps(cell) for piece in pieces) == (not any(box.overlaps(cell) for box in boxes))
