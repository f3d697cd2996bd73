"""Laguna columns of streams over an SLR boundary: nearest to the line, or of least distance where these are full."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware import load_platform
from floorflow.hardware.routing import laguna_columns
from floorflow.placement import Pin
from floorflow.placement.crossing_columns import BoundaryCrossing, crossing_columns

COLUMNS = (10, 20, 30)


def crossing(name: str, wires: int, source: tuple[int, int], target: tuple[int, int]) -> BoundaryCrossing:
    return BoundaryCrossing(name, wires, Pin(*source), Pin(*target))


def test_a_stream_crosses_in_the_column_nearest_to_the_line_between_its_ends() -> None:
    found = crossing_columns([crossing("s", 66, (0, 0), (120, 200))], 61, COLUMNS, 100)
    assert found == {"s": {20: 66}}  # the line is at column 18 in row 30.5


def test_the_line_of_a_level_stream_is_met_in_its_middle() -> None:
    assert crossing("s", 1, (40, 60), (20, 60)).column2(61) == 30


def test_full_columns_leave_the_rest_to_the_next() -> None:
    found = crossing_columns([crossing(name, 66, (40, 0), (40, 200)) for name in "ab"], 61, COLUMNS, 100)
    assert sum(wires.get(20, 0) for wires in found.values()) == 100
    assert {name: sum(wires.values()) for name, wires in found.items()} == {"a": 66, "b": 66}


def test_more_wires_than_columns_have_are_refused() -> None:
    with pytest.raises(ValueError, match="330 wires in 3 columns of 100"):
        crossing_columns([crossing("s", 330, (0, 0), (0, 200))], 61, COLUMNS, 100)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 80), st.integers(0, 80)), min_size=1, max_size=3))
def test_no_way_to_share_out_wires_is_shorter(rows: list[tuple[int, int, int]]) -> None:
    crossings = [crossing(str(n), wires, (a, 0), (b, 200)) for n, (wires, a, b) in enumerate(rows)]
    found = crossing_columns(crossings, 61, COLUMNS, 6)

    def away(shares: tuple[tuple[int, ...], ...]) -> int:
        pairs = zip(crossings, shares, strict=True)
        return sum(n * abs(2 * k - c.column2(61)) for c, share in pairs for k, n in zip(COLUMNS, share, strict=True))

    def ways(wires: int) -> list[tuple[int, ...]]:
        return [(a, b, wires - a - b) for a in range(wires + 1) for b in range(wires + 1 - a)]

    every = itertools.product(*(ways(c.wires) for c in crossings))
    fitting = [shares for shares in every if all(sum(column) <= 6 for column in zip(*shares, strict=True))]
    assert away(tuple(tuple(found[c.stream].get(k, 0) for k in COLUMNS) for c in crossings)) == min(map(away, fitting))


@pytest.mark.parametrize(("board", "free"), [("alveo-u250", [8, 8, 16]), ("alveo-u280", [14, 14]), ("xcku5p", [])])
def test_a_design_crosses_in_the_columns_that_the_shell_leaves(board: str, free: list[int]) -> None:
    platform = load_platform(board)
    found = laguna_columns(platform.fpgas[0].board, platform.fpgas[0].device)
    assert [len(boundary.columns) for boundary in found] == free
    for boundary, stated in zip(found, platform.boundaries, strict=True):
        assert len(boundary.columns) * boundary.wires_per_column >= stated.wires
