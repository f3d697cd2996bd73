"""Slots that do not meet follow the best of several layouts each; annealing in a tight slot stays legal."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.placement import PlacementSolution, place
from floorflow.placement.layout import Layout, parts_of
from floorflow.placement.methods.auto import crossed
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device


@dataclass(frozen=True)
class Separate:
    """Costs (layouts, groups) of layouts whose boxes tell by their left side which layout each module follows."""

    costs: list[list[int]]
    groups: list[list[int]]

    def __call__(self, layout: Layout) -> float:
        return sum(self.costs[layout.boxes[group[0], 0]][number] for number, group in enumerate(self.groups))


def test_modules_that_may_meet_through_others_are_one_group() -> None:
    may_overlap = np.zeros((5, 5), dtype=np.bool_)
    for a, b in ((0, 3), (3, 4), (1, 1)):
        may_overlap[a, b] = may_overlap[b, a] = True
    assert parts_of(may_overlap) == [[0, 3, 4], [1], [2]]


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_each_group_follows_its_best_layout_where_groups_do_not_matter_to_each_other(costs) -> None:
    groups = [[0, 3], [1], [2, 4]]
    layouts = [Layout(np.full((5, 4), number), np.ones(5, dtype=np.bool_)) for number in range(len(costs))]
    cost = Separate(costs, groups)
    found = crossed(groups, layouts, cost)
    assert cost(found) == sum(map(min, zip(*costs, strict=True)))
    assert all(len(set(found.boxes[group, 0])) == 1 for group in groups)


def test_modules_that_fill_a_slot_are_annealed_without_overlap() -> None:
    sizes = (10, 9, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2)
    problem = chain(device("ICCCC", 4), [Resources(lut=8 * size) for size in sizes])
    found = place(problem, "auto", seed=1)
    assert isinstance(found, PlacementSolution)
    assert_legal(problem, found)
