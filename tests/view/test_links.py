"""The ways of links on the sheet: straight between neighbours, else each round below the row in a gutter of its own."""

from itertools import pairwise

import pytest

from floorflow.view.box import Box
from floorflow.view.links import LANE, Gutters, Row, link_path, rows_of
from floorflow.view.slots import LinkView

FPGAS = ("fpga0", "fpga1", "fpga2", "fpga3")
BOXES = [Box(left, 50, left + 100, 80) for left in (0, 200, 400, 600)]
ROW = Row(range(4), 0, 20, 700)


def link(source: int, target: int) -> LinkView:
    fpgas = f"fpga{source}", f"fpga{target}"
    return LinkView({"name": "-".join(fpgas)}, fpgas)


def test_neighbours_need_no_room_below_and_others_a_gutter_each() -> None:
    chain = [link(n, n + 1) for n in range(3)]
    assert set(Gutters.of(chain, FPGAS).by_link.values()) == {0}
    assert Gutters.of(chain, FPGAS).lane_below == LANE
    full = Gutters.of([*chain, link(0, 2), link(1, 3), link(0, 3)], FPGAS)
    assert sorted(full.by_link.values()) == [0, 0, 0, 1, 2, 3]
    assert full.lane_below > LANE


def test_rows_share_the_fpgas_evenly() -> None:
    assert [[len(row) for row in rows_of(count)] for count in (1, 4, 5, 8, 9)] == [[1], [4], [3, 2], [4, 4], [3, 3, 3]]


@pytest.mark.parametrize(("source", "target"), [(0, 2), (1, 3), (0, 3)])
def test_a_link_between_others_touches_no_fpga_between(source: int, target: int) -> None:
    path = link_path(BOXES[source], BOXES[target], (ROW, ROW), gap=100, gutter=1)
    assert path[0] == (BOXES[source].right, 58)
    assert path[-1] == (BOXES[target].left, 58)
    for (x0, y0), (x1, y1) in pairwise(path):
        assert x0 == x1 or y0 == y1
        for box in BOXES:
            across = min(x0, x1) < box.right and max(x0, x1) > box.left
            along = min(y0, y1) < box.top and max(y0, y1) > ROW.bottom
            assert not (across and along)
