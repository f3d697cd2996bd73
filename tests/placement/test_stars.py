"""No layout, drawn at random, is shorter than the bounds of stars and of edges."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement.bounds.stars import Shapes, edge_bound, star_bound
from floorflow.placement.bounds.wires import Extent

RECTS = st.lists(
    st.builds(lambda x, y, w, h: Rect(x, y, x + w, y + h), *(st.integers(0, most) for most in (9, 9, 4, 4))),
    min_size=2,
    max_size=12,
)
BITS = st.lists(st.integers(1, 9), min_size=12, max_size=12)


def disjoint(rects: list[Rect]) -> list[Rect]:
    """Keep each rectangle that overlaps none before it."""
    kept: list[Rect] = []
    for rect in rects:
        if not any(rect.overlaps(other) for other in kept):
            kept.append(rect)
    return kept


def shapes_of(rects: list[Rect]) -> Shapes:
    return Shapes(np.array([rect.columns for rect in rects]), np.array([rect.rows for rect in rects]))


def extent_of(rect: Rect) -> Extent:
    return Extent(rect.columns, rect.rows, (-99, 99), (-99, 99))


@settings(max_examples=300, deadline=None)
@given(RECTS, BITS)
def test_no_star_of_disjoint_rectangles_is_shorter_than_its_bound(rects, bits) -> None:
    middle, *around = disjoint(rects)
    bits = bits[: len(around)]
    length = sum(
        width
        * (abs(r.left + r.right - middle.left - middle.right) + abs(r.bottom + r.top - middle.bottom - middle.top))
        for r, width in zip(around, bits, strict=True)
    )
    assert star_bound(shapes_of([middle]), [extent_of(r) for r in around], bits) <= length / 2


def test_the_fourth_side_of_a_square_is_as_near_as_the_first_and_a_fifth_neighbour_is_not() -> None:
    square = Extent(4, 4, (0, 0), (0, 0))
    shapes = Shapes(np.array([4]), np.array([4]))
    assert [star_bound(shapes, [square] * n, [1] * n) for n in range(6)] == [0, 4, 8, 12, 16, 24]


def test_a_module_is_not_narrow_for_one_neighbour_and_low_for_another() -> None:
    shapes, square = Shapes(np.array([8, 2]), np.array([2, 8])), Extent(4, 4, (0, 0), (0, 0))
    assert star_bound(shapes, [square] * 2, [1] * 2) == 6
    assert star_bound(shapes, [square] * 3, [1] * 3) == 12
    assert star_bound(shapes, [square] * 3, [1] * 3) > 3 * star_bound(shapes, [square], [1])


@settings(max_examples=300, deadline=None)
@given(RECTS, BITS)
def test_no_row_of_disjoint_rectangles_lies_nearer_to_an_edge_than_its_bound(rects, bits) -> None:
    kept = disjoint(rects)
    bits = bits[: len(kept)]
    # Rows are counted from the edge below row 0; 14 columns and rows hold all that is drawn.
    length = sum(width * (r.bottom + r.top + 1) / 2 for r, width in zip(kept, bits, strict=True))
    cells = [r.columns * r.rows for r in kept]
    assert edge_bound(np.full(14, 14), bits, cells) <= length + 1e-9
    assert edge_bound(np.full(14, 14), bits, [1] * len(kept)) <= length + 1e-9


def test_a_full_row_at_the_edge_sends_the_next_one_away() -> None:
    assert edge_bound(np.array([4, 4, 4]), [8, 1], [4, 4]) == 8 * 0.5 + 1 * 1.5
    assert edge_bound(np.array([0, 4, 4]), [8, 1], [4, 4]) == 8 * 1.5 + 1 * 2.5
