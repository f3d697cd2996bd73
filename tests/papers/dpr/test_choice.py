"""One option of each layer of an interval, against all choices."""

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.papers.dpr import choice
from floorflow.papers.dpr.choice import Options, cheapest, fitting

AMOUNT = st.integers(0, 12)
LAYERS = st.lists(st.lists(st.tuples(AMOUNT, AMOUNT, AMOUNT), min_size=1, max_size=4), min_size=1, max_size=4)
"""Cost and two resources of each option."""
AREA = np.array([40, 50])


def options_of(layers: list[list[tuple[int, int, int]]]) -> Options:
    rows = np.array([row for layer in layers for row in layer], dtype=np.int64)
    start = np.cumsum([0, *(len(layer) for layer in layers[:-1])])
    number = np.concatenate([np.arange(len(layer)) for layer in layers])
    return Options(rows[:, 0], rows[:, 1:], number, start)


def designs(layers: list[list[tuple[int, int, int]]], limits: tuple[int, int]) -> list[tuple[int, float]]:
    """Return cost and area of all choices within the limits."""
    sums = [tuple(map(sum, zip(*rows, strict=True))) for rows in product(*layers)]
    return [(c, a / 40 + b / 50) for c, a, b in sums if a <= limits[0] and b <= limits[1]]


@given(LAYERS, st.tuples(st.integers(0, 40), st.integers(0, 40)), st.integers(0, 20))
def test_the_cheapest_choice_is_the_best_of_all_and_of_equal_ones_that_of_least_area(
    layers: list[list[tuple[int, int, int]]], limits: tuple[int, int], enough: int
) -> None:
    known = [(max(cost, enough), area) for cost, area in designs(layers, limits)]
    found = cheapest(options_of(layers), np.array(limits), inf, AREA, enough=enough)
    assert (found.choice is not None) == bool(known) == (fitting(options_of(layers), np.array(limits)).bound < inf)
    if found.choice is None:
        assert found.bound == inf
        return
    area = sum(used / have for used, have in zip(found.choice.use, AREA.tolist(), strict=True))
    assert (max(found.choice.cost, enough), area) == pytest.approx(min(known), abs=1e-5)
    assert max(found.bound, enough) == max(found.choice.cost, enough)


def test_no_choice_costs_more_than_asked() -> None:
    layers = [[(5, 1, 1), (3, 4, 4)], [(5, 1, 1), (3, 4, 4)]]
    assert cheapest(options_of(layers), np.array([5, 5]), 8, AREA).choice is not None
    assert cheapest(options_of(layers), np.array([5, 5]), 7, AREA).bound == inf


def test_where_the_limit_on_work_ends_the_search_its_bound_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    layers = [[(int(c), int(a), 100 - int(a)) for c, a in random.integers(0, 99, (40, 2))] for _ in range(12)]
    limits = np.array([600, 600])
    best = cheapest(options_of(layers), limits, inf, AREA)
    monkeypatch.setattr(choice, "WORK_LIMIT", 1e-4)
    hurried = cheapest(options_of(layers), limits, inf, AREA)
    assert best.choice is not None
    assert hurried.bound < best.bound == best.choice.cost
    assert hurried.choice is None or hurried.choice.cost >= best.choice.cost
