import pytest

from floorflow.hardware.geometry import Rect


def test_a_rectangle_counts_its_edges():
    rect = Rect(left=2, bottom=10, right=4, top=19)
    assert (rect.columns, rect.rows) == (3, 10)
    assert rect.as_tuple() == (2, 10, 4, 19)


@pytest.mark.parametrize(
    ("other", "overlaps", "contains"),
    [
        (Rect(3, 12, 4, 15), True, True),
        (Rect(4, 19, 9, 30), True, False),
        (Rect(5, 10, 6, 19), False, False),
        (Rect(2, 20, 4, 29), False, False),
    ],
)
def test_touching_edges_do_not_overlap_but_shared_ones_do(other, overlaps, contains):
    rect = Rect(2, 10, 4, 19)
    assert rect.overlaps(other) is other.overlaps(rect) is overlaps
    assert rect.contains(other) is contains


@pytest.mark.parametrize("corners", [(3, 0, 2, 9), (0, 5, 9, 4)])
def test_an_empty_rectangle_is_refused(corners):
    with pytest.raises(ValueError, match="empty rectangle"):
        Rect(*corners)
