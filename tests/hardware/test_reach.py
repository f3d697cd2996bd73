"""The ways of a stream from register to register, and the slices that make them short enough."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware.reach import Way, comfortable_tiles, reach_tiles


def test_a_reach_is_240_tiles_at_250_mhz() -> None:
    assert reach_tiles(250) == 240
    assert comfortable_tiles(250) == 144


def test_a_stream_inside_an_slr_is_one_way() -> None:
    way = Way.between((10, 20), (110, 5))
    assert (way.columns, way.rows, way.longest_tiles) == (100, (15,), 115)


def test_a_stream_over_boundaries_has_registers_at_their_rows() -> None:
    way = Way.between((0, 500), (30, 100), (240, 480))
    assert way.rows == (140, 240, 20)
    assert way.longest_tiles == 240


@pytest.mark.parametrize(("tiles", "slices"), [(0, 0), (100, 0), (100.5, 1), (200, 1), (250, 2)])
def test_each_slice_begins_a_way_of_one_reach(tiles: float, slices: int) -> None:
    assert Way(tiles, (0,)).slices(100) == slices


def _fewest(way: Way, reach: int) -> int:
    """Try every sharing of the columns among the ways."""
    parts = product(range(int(way.columns) + 1), repeat=len(way.rows) - 1)
    shares = ((*own, int(way.columns) - sum(own)) for own in parts if sum(own) <= way.columns)
    return min(
        sum(max(0, -int(-(own + rows) // reach) - 1) for own, rows in zip(each, way.rows, strict=True))
        for each in shares
    )


@given(st.integers(0, 12), st.lists(st.integers(0, 9), min_size=1, max_size=3), st.integers(1, 7))
def test_slices_are_the_fewest_of_all_sharings_of_the_columns(columns: int, rows: list[int], reach: int) -> None:
    way = Way(columns, tuple(rows))
    assert way.slices(reach) == _fewest(way, reach)


@given(st.integers(0, 40), st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(1, 50))
def test_no_slice_is_needed_exactly_where_the_longest_way_is_within_reach(
    columns: int, rows: list[int], reach: int
) -> None:
    way = Way(columns, tuple(rows))
    assert (way.slices(reach) == 0) == (way.longest_tiles <= reach)


WAYS = st.builds(Way, st.integers(0, 40), st.lists(st.integers(0, 30), min_size=1, max_size=4).map(tuple))


@given(WAYS, st.integers(0, 6))
def test_so_many_slices_are_just_enough_for_the_longest_way_that_they_leave(way: Way, slices: int) -> None:
    tiles = way.longest_with(slices)
    if tiles:
        assert way.slices(tiles * (1 + 1e-12)) <= slices
        assert way.slices(tiles * (1 - 1e-6)) > slices
    else:
        assert way.tiles == 0


@given(WAYS, st.integers(1, 50), st.data())
def test_slices_between_registers_cut_rows_and_all_tiles(way: Way, reach: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(way.rows) - 1))
    parts = way.slices_between(reach, first)
    assert sum(parts) == way.slices(reach)
    assert all(rows <= (count + 1) * reach for rows, count in zip(way.rows, parts, strict=True))
    assert way.tiles <= sum(count + 1 for count in parts) * reach
