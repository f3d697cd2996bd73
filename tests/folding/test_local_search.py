"""Exchanges end where none helps, and what they remember is what they would work out again."""

from itertools import combinations, product
from unittest.mock import patch

import numpy as np
from hypothesis import given

from floorflow.folding import local_search
from floorflow.folding.dominance import Array
from floorflow.folding.lagrangian import lagrangian_bound
from floorflow.folding.local_search import LocalSearch
from floorflow.folding.problem import FoldingProblem
from tests.folding.pairwise import WEIGHTS, all_choices, budgets, knapsack_of, random_problems, use_of

FEW = 12
"""Selections that exchanges start from."""


@given(random_problems(), budgets)
def test_rows_beside_neighbours_use_what_whole_selections_differ_in(problem: FoldingProblem, budget: Array) -> None:
    pricing = knapsack_of(problem, budget).pricing
    search = LocalSearch(knapsack_of(problem, budget))
    for rows, _ in zip(all_choices(problem), range(FEW), strict=False):
        selection = pricing.selection_of(rows)
        for group, begin in enumerate(pricing.begins[:-1].tolist()):
            around, own = search.around(group, selection), int(selection[group]) - begin
            assert (around.cost == around.use @ WEIGHTS).all()
            for row, barred in enumerate(around.barred):
                if not barred and not around.barred[own]:
                    other = selection.copy()
                    other[group] = begin + row
                    change = pricing.total(other) - pricing.total(selection)
                    assert (around.use[row] - around.use[own] == change).all()


@given(random_problems(), budgets)
def test_what_is_remembered_changes_nothing(problem: FoldingProblem, budget: Array) -> None:
    knapsack = knapsack_of(problem, budget)
    lagrangian, search = lagrangian_bound(knapsack), LocalSearch(knapsack)
    for cut in lagrangian.cuts:
        found = search.run(cut.selection, lagrangian.prices)
        with patch.object(local_search, "MOST_REMEMBERED", 0):
            afresh = LocalSearch(knapsack).run(cut.selection, lagrangian.prices)
        assert (found is None) == (afresh is None)
        assert found is None or afresh is None or (found == afresh).all()


@given(random_problems(most=4), budgets)
def test_no_exchange_of_one_row_or_of_two_apart_helps_at_the_end(problem: FoldingProblem, budget: Array) -> None:
    knapsack = knapsack_of(problem, budget)
    search, pricing = LocalSearch(knapsack), knapsack.pricing
    found = search.run(pricing.selection_of(next(all_choices(problem))), np.zeros(5, dtype=np.int64))
    if found is None:
        return
    rows = pricing.rows_of(found)
    cost = int(use_of(problem, rows) @ WEIGHTS)
    groups = range(len(rows))
    apart = [pair for pair in combinations(groups, 2) if not search.near[pair]]
    for changed in [*((group,) for group in groups), *apart]:
        for taken in product(*(range(len(problem.groups[group].rows)) for group in changed)):
            other = list(rows)
            for group, row in zip(changed, taken, strict=True):
                other[group] = row
            use = use_of(problem, tuple(other))
            assert (use > budget).any() or int(use @ WEIGHTS) >= cost
