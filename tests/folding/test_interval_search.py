"""The shortest interval is found in few tries, however the steps grow."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.folding import RATIO, shortest_interval

intervals = st.lists(st.integers(1, 10**7), min_size=1, max_size=300, unique=True).map(sorted)


@pytest.mark.parametrize("ratio", [None, RATIO])
@given(intervals, st.integers(0, 300), st.integers(0, 10**7))
def test_the_first_that_holds_is_found(ratio: float | None, cycles: list[int], start: int, least: int) -> None:
    tried: list[int] = []

    def holds(interval: int) -> bool:
        tried.append(interval)
        return interval >= least

    start %= len(cycles)
    found = shortest_interval(cycles, holds, start, ratio=ratio)
    expected = next((i for i, interval in enumerate(cycles) if i >= start and interval >= least), None)
    assert found == expected
    assert len(tried) == len(set(tried)) <= 2 + 2 * len(cycles).bit_length()


def test_steps_grow_by_the_ratio_and_its_squares_before_bisection() -> None:
    tried: list[int] = []

    def holds(interval: int) -> bool:
        tried.append(interval)
        return interval >= 10**5

    shortest_interval(range(10**3, 10**6), holds, ratio=2)
    growing = tried[: 1 + next(i for i, interval in enumerate(tried) if 10**5 <= interval < 10**6 - 1)]
    assert growing == [1_000, 999_999, 2_000, 8_000, 128_000]
    assert all(abs(a - b) < 128_000 for a, b in pairwise(tried[len(growing) :]))


def test_no_more_tries_than_allowed() -> None:
    tried: list[int] = []

    def holds(interval: int) -> bool:
        tried.append(interval)
        return interval >= 70

    found = shortest_interval(range(1, 101), holds, tries=3)
    assert found is not None
    assert len(tried) == 5
    assert range(1, 101)[found] >= 70
