"""The judge's floor of a slot: as large as the planner says, and no rectangle around another reaches further."""

import random

import pytest

from floorflow.hardware import free_cells, known_platforms, load_platform
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.hardware.interconnect import Floor, row_step, units
from tests.verify.dies import device


@pytest.mark.parametrize("board", known_platforms())
def test_planner_and_judge_count_the_same_free_cells(board: str) -> None:
    for fpga in load_platform(board, 1).fpgas:
        die = device(fpga.device.part)
        for number, slot in enumerate(fpga.slots):
            floor = Floor(die, die.slr_rows(number), [Rectangle(*hole.as_tuple()) for hole in slot.keep_outs])
            assert floor.free_cells == free_cells(fpga.device, slot)


@pytest.mark.parametrize("part", ["xcu250", "xc7z020", "xczu7ev", "xcku5p"])
def test_planner_and_judge_cut_rectangles_at_the_same_edges(part: str) -> None:
    board = {"xcu250": "alveo-u250", "xc7z020": "pynq-z1", "xczu7ev": "zcu104", "xcku5p": "xcku5p"}[part]
    planned = load_platform(board, 1).fpgas[0].device
    edges = list(zip(planned.left_edges.tolist(), planned.right_edges.tolist(), strict=True))
    assert units(device(part)) == edges
    assert row_step(device(part)) == planned.row_step


@pytest.mark.parametrize("seed", range(4))
def test_the_widest_rectangles_are_found_around_another(seed: int) -> None:
    die, rng = device("xcku5p"), random.Random(seed)
    edges, step = units(die), row_step(die)

    def rectangle(columns: int, rows: int) -> Rectangle:
        left, low = rng.randrange(len(edges) - columns), rng.randrange(die.rows // step - rows)
        return Rectangle(edges[left][0], low * step, edges[left + columns - 1][1], (low + rows) * step - 1)

    area = rectangle(6, 2)
    others = [other for other in (rectangle(5, 3) for _ in range(6)) if not other.overlaps(area)]
    found = list(Floor(die, die.slr_rows(0), others[:1]).around(area, others[1:]))
    for wide in found:
        assert wide.left <= area.left <= area.right <= wide.right
        assert not any(wide.overlaps(other) for other in others)
        for left in (first for first, _ in edges if first < wide.left):
            assert any(Rectangle(left, wide.bottom, wide.right, wide.top).overlaps(other) for other in others)
        for right in (last for _, last in edges if last > wide.right):
            assert any(Rectangle(wide.left, wide.bottom, right, wide.top).overlaps(other) for other in others)
    spans = {(wide.bottom, wide.top) for wide in found}
    for bottom in range(0, area.bottom + 1, step):
        for top in range(area.top, die.rows, step):
            clear = not any(Rectangle(area.left, bottom, area.right, top).overlaps(other) for other in others)
            assert ((bottom, top) in spans) == clear
