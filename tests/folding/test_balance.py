"""Balanced rates: exact foldings equal brute force, whichever method keeps the balance, and segments keep it too."""

from dataclasses import replace
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.options import OptionGroup
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution, exact
from floorflow.folding import fold_at_interval as fold
from floorflow.folding.balance import Balance, joinable
from floorflow.folding.methods import METHODS
from floorflow.resources import Resources, scarcity, total
from tests.folding.test_exact import coupled_problems, option

SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])


def balanced(problem: FoldingProblem, epsilon: float) -> tuple[FoldingProblem, Balance]:
    """Tie each engine to the next, and the first to the last."""
    names = [engine for group in problem.groups for engine in group.engines]
    balance = Balance((*pairwise(names), (names[0], names[-1])), epsilon)
    return replace(problem, couplings=(*problem.couplings, *balance.bars(problem.groups))), balance


def least(problem: FoldingProblem, balance: Balance, interval: int) -> float | None:
    """Return the least scarcity over all balanced choices of rows, streams included."""
    costs = []
    for rows in product(*(range(len(group.rows)) for group in problem.groups)):
        chosen = [group.rows[row] for group, row in zip(problem.groups, rows, strict=True)]
        cycles = {
            n: o.cycles for g, c in zip(problem.groups, chosen, strict=True) for n, o in zip(g.engines, c, strict=True)
        }
        streams = (
            Resources(*c.use[c.source_class[rows[c.source]], c.target_class[rows[c.target]]].tolist())
            for c in problem.without_balance.couplings
        )
        use = total([*(o.resources for row in chosen for o in row), *streams])
        within = all(
            abs(cycles[a] - cycles[b]) <= balance.epsilon * min(cycles[a], cycles[b]) for a, b in balance.pairs
        )
        if within and max(cycles.values()) <= interval and use.fits(problem.budget):
            costs.append(scarcity(use, problem.silicon))
    return min(costs, default=None)


@given(coupled_problems(), SHARES, st.integers(1, 8), st.sampled_from([2, 20_000]))
def test_the_least_scarce_balanced_folding_equals_brute_force(
    free: FoldingProblem, epsilon: float, interval: int, most: int
) -> None:
    problem, balance = balanced(free, epsilon)
    expected = least(problem, balance, interval)
    with patch.object(exact, "MOST_BALANCED", most):
        answer = fold(problem, interval)
    if isinstance(answer, FoldingSolution):
        assert balance.is_kept({name: chosen.cycles for name, chosen in answer.options.items()})
        assert answer.stats.objective == pytest.approx(expected)
        assert answer.stats.status == "optimal"
    else:
        assert expected is None or (most == 2 and not isinstance(answer, FoldingInfeasible))


@given(coupled_problems(), SHARES, st.integers(1, 8))
def test_a_probe_of_balanced_rates_bounds_what_it_does_not_find(
    free: FoldingProblem, epsilon: float, interval: int
) -> None:
    problem, balance = balanced(free, epsilon)
    expected = least(problem, balance, interval)
    oracle = FeasibilityOracle(problem)
    for answer in (oracle.quick(interval), oracle(interval)):
        if isinstance(answer, FoldingSolution):
            assert answer.stats.bound <= expected + 1e-12 <= answer.stats.objective + 1e-9
        elif isinstance(answer, FoldingInfeasible):
            assert expected is None
    assert isinstance(oracle.least_scarce(interval), FoldingSolution) == (expected is not None)


@given(coupled_problems(), SHARES, st.integers(1, 8))
def test_other_methods_keep_the_balance_too(free: FoldingProblem, epsilon: float, interval: int) -> None:
    problem, balance = balanced(free, epsilon)
    expected = least(problem, balance, interval)
    for name in ("brute", "cpsat", "rule", "annealing"):
        answer = METHODS[name](problem, interval, 0)
        if isinstance(answer, FoldingSolution):
            assert balance.is_kept({engine: chosen.cycles for engine, chosen in answer.options.items()})
        if name in ("brute", "cpsat"):
            found = answer.stats.objective if isinstance(answer, FoldingSolution) else None
            assert found == (None if expected is None else pytest.approx(expected))


def ladder(name: str, *cycles: int) -> OptionGroup:
    return OptionGroup((name,), tuple((option(each, 100 // each),) for each in cycles))


def test_rows_without_a_partner_fall_away_along_a_chain() -> None:
    groups = (ladder("a", 8, 4, 2), ladder("b", 8, 4, 2), ladder("c", 2, 1))
    rows = [np.arange(len(group.rows)) for group in groups]
    bars = Balance((("a", "b"), ("b", "c")), 0.0).bars(groups)
    assert [left.tolist() for left in joinable(bars, rows)] == [[2], [2], [0]]


def test_layers_that_are_folded_already_bar_rows_of_their_neighbours() -> None:
    balance = Balance((("a", "b"), ("b", "c")), 0.5)
    (bars,) = balance.beside((ladder("b", 9, 6, 3),), {"a": 4, "x": 1})
    assert bars.only_bars
    rows = joinable((bars,), [np.arange(3)])
    assert [left.tolist() for left in rows] == [[1, 2]]


def test_a_share_counts_as_the_nearest_fraction_so_that_ends_belong_to_it() -> None:
    assert Balance(epsilon=0.1).allows(10, 11)
    assert not Balance(epsilon=0.1).allows(100, 111)
    assert Balance((("a", "b"),), 0.1).is_kept({"a": 1})
