"""Streams are counted once, whether one end decides what they cost or both do."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.folding.dominance import restricted_to
from floorflow.folding.pricing import Pricing, group_by_interface
from floorflow.folding.problem import FoldingProblem
from floorflow.resources import Resources
from tests.folding.pairwise import LOOSE, random_problems, use_of


@given(random_problems(), st.integers(0, 2**32))
def test_what_choices_among_some_rows_use_is_what_they_use_among_all(problem: FoldingProblem, seed: int) -> None:
    random = np.random.default_rng(seed)
    keep = [np.flatnonzero(random.random(len(group.rows)) < 0.5) for group in problem.groups]
    keep = [rows if rows.size else np.zeros(1, dtype=np.int64) for rows in keep]
    pricing, left = Pricing(group_by_interface(problem, keep)), restricted_to(problem, keep)
    for rows in product(*(rows.tolist() for rows in keep)):
        use = use_of(problem, rows)
        buildable = (use < UNBUILDABLE).all()
        assert (left.total([int(np.searchsorted(a, row)) for a, row in zip(keep, rows, strict=True)]) == use).all()
        assert not buildable or (pricing.total(pricing.selection_of(rows)) == use).all()
        assert buildable or (pricing.total(pricing.selection_of(rows)) >= UNBUILDABLE).any()


def test_a_stream_that_one_end_decides_ties_no_groups() -> None:
    problem = two_groups(np.array([[[1] * 5, [2] * 5]]), [0], [0, 1])
    classes = group_by_interface(problem, [np.array([0]), np.array([0, 1])])
    assert not classes.pairs
    assert [use.tolist() for use in classes.use] == [[[0] * 5], [[1] * 5, [2] * 5]]


def test_a_stream_that_exceeds_the_budget_by_itself_is_kept_and_barred() -> None:
    problem = replace(two_groups(np.array([[[1] * 5, [9] * 5]]), [0], [0, 1]), budget=Resources(5, 5, 5, 5, 5))
    classes = group_by_interface(problem, [np.array([0]), np.array([0, 1])])
    assert classes.barred[0, 1].tolist() == [[False, True]]


def two_groups(use: np.ndarray, source: list[int], target: list[int]) -> FoldingProblem:
    """Groups whose rows use nothing, and a stream between them."""
    nothing = Option({}, 1, Resources(), (8,), (8,))
    groups = tuple(
        OptionGroup((name,), tuple((nothing,) for _ in classes)) for name, classes in (("a", source), ("b", target))
    )
    return FoldingProblem(groups, LOOSE, LOOSE, (Coupling(0, 1, np.array(source), np.array(target), use),))
