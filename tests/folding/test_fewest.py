"""The fewest marked engines and the least full folding with so many are those of brute force."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.dominance import Array
from floorflow.folding.fewest import LEEWAY_GAP, fewest_marked, least_full_marked
from floorflow.folding.problem import FoldingProblem
from floorflow.resources import Resources
from tests.folding.pairwise import all_choices, random_problems, use_of

Case = tuple[FoldingProblem, list[Array], dict[tuple[int, ...], Array]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A problem whose budget holds some of its choices, which rows are marked, and what all legal choices use."""
    problem = draw(random_problems(5))
    use = {rows: use_of(problem, rows) for rows in all_choices(problem)}
    buildable = np.array([used for used in use.values() if (used < UNBUILDABLE).all()] or [[0] * 5])
    budget = np.sort(buildable, axis=0)[draw(st.integers(0, len(buildable) - 1))] + draw(st.integers(0, 6))
    marked = [
        np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
        for n in (len(group.rows) for group in problem.groups)
    ]
    legal = {rows: used for rows, used in use.items() if (used <= budget).all()}
    bounded = Resources(*budget.tolist())
    return replace(problem, budget=bounded), marked, legal


def marks(rows: tuple[int, ...], marked: list[Array]) -> int:
    return sum(int(own[row]) for own, row in zip(marked, rows, strict=True))


@given(cases())
def test_the_fewest_are_those_of_brute_force(case: Case) -> None:
    problem, marked, legal = case
    found = fewest_marked(problem, 1, marked)
    fewest = min((marks(rows, marked) for rows in legal), default=None)
    assert (found.count, found.proven) == (fewest, True)
    assert found.rows is None if fewest is None else found.rows in legal


@given(cases(), st.integers(0, 3))
def test_the_least_full_is_that_of_brute_force_within_the_gap(case: Case, most: int) -> None:
    problem, marked, legal = case
    budget = np.maximum(problem.budget.as_tuple(), 1)
    full = {rows: float((used / budget).max()) for rows, used in legal.items() if marks(rows, marked) <= most}
    found = least_full_marked(problem, 1, marked, most)
    assert (found is None) == (not full)
    if found is not None:
        assert full[found] <= min(full.values()) / (1 - LEEWAY_GAP) + 1e-6
