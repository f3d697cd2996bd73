"""The exact folding equals brute force, and its proofs hold."""

from dataclasses import replace
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.errors import InfeasibleError, required
from floorflow.folding import (
    FeasibilityOracle,
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    FoldingUnknown,
    exact,
    fitting,
    fold_at_interval,
    shortest_interval,
)
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.resources import RESOURCE_NAMES, Resources, scarcity, total

SILICON = Resources(lut=1000, ff=2000, bram18=50, uram=0, dsp=20)


def option(cycles: int, *amounts: int) -> Option:
    return Option({"PE": 1}, cycles, Resources(*amounts), (8,), (8,))


amounts = st.tuples(*(st.integers(0, top) for top in (300, 500, 20, 2, 8)))
engines = st.lists(
    st.lists(st.builds(lambda c, a: option(c, *a), st.integers(1, 8), amounts), min_size=1, max_size=4),
    min_size=1,
    max_size=5,
)
budgets = st.builds(Resources, *(st.integers(0, top) for top in (900, 1500, 60, 4, 25)))


def problem_of(options: list[list[Option]], budget: Resources) -> FoldingProblem:
    named = tuple(OptionGroup((f"e{i}",), tuple((o,) for o in row)) for i, row in enumerate(options))
    return FoldingProblem(named, budget, SILICON)


def brute_force(problem: FoldingProblem, interval: int) -> float | None:
    costs = [
        scarcity(use, SILICON)
        for pick in product(*(group.rows for group in problem.groups))
        if max(o.cycles for row in pick for o in row) <= interval
        and (use := total(o.resources for row in pick for o in row)).fits(problem.budget)
    ]
    return min(costs, default=None)


@given(engines, budgets, st.integers(1, 8))
def test_least_scarcity_equals_brute_force(options: list[list[Option]], budget: Resources, interval: int) -> None:
    problem = problem_of(options, budget)
    expected = brute_force(problem, interval)
    answer = fold_at_interval(problem, interval)
    if expected is None:
        assert isinstance(answer, FoldingInfeasible)
    else:
        assert isinstance(answer, FoldingSolution)
        assert answer.stats.status == "optimal"
        assert answer.stats.objective == pytest.approx(expected)
        assert answer.stats.bound == pytest.approx(expected)
        assert answer.resources.fits(budget)
        assert answer.interval_cycles <= interval


@given(engines, budgets)
def test_shortest_interval_equals_trying_them_all(options: list[list[Option]], budget: Resources) -> None:
    problem = problem_of(options, budget)
    intervals = problem.intervals()
    index = shortest_interval(intervals, lambda i: isinstance(fold_at_interval(problem, i), FoldingSolution))
    feasible = [i for i, interval in enumerate(intervals) if brute_force(problem, interval) is not None]
    assert index == (feasible[0] if feasible else None)


def test_an_interval_that_is_near_enough_to_one_that_fails_will_do() -> None:
    tried: list[int] = []

    def holds(interval: int) -> bool:
        tried.append(interval)
        return interval >= 777

    intervals = range(1, 1001)
    found = shortest_interval(intervals, holds, within=0.1)
    assert found is not None
    assert 777 <= intervals[found] <= 1.1 * 777
    near, tried[:] = len(tried), []
    exact = shortest_interval(intervals, holds)
    assert exact is not None
    assert (intervals[exact], len(tried) > near) == (777, True)


@st.composite
def coupled_problems(draw: st.DrawFn) -> FoldingProblem:
    """Groups of up to four rows in a row, two more streams between random groups, and ports that may not fit."""
    groups = draw(engines)
    problem = problem_of(groups, draw(budgets))
    ends = [(a, a + 1) for a in range(len(groups) - 1)]
    ends += draw(st.lists(st.tuples(*[st.integers(0, len(groups) - 1)] * 2), max_size=2))
    return replace(problem, couplings=tuple(draw(couplings_between(groups, a, b)) for a, b in ends))


def couplings_between(groups: list[list[Option]], a: int, b: int) -> st.SearchStrategy[Coupling]:
    classes = [
        st.lists(st.integers(0, 2), min_size=len(g), max_size=len(g)).map(np.array) for g in (groups[a], groups[b])
    ]
    price = st.one_of(amounts, st.just((UNBUILDABLE,) * 5))
    table = st.lists(price, min_size=9, max_size=9).map(lambda rows: np.array(rows).reshape(3, 3, 5))
    return st.builds(lambda p, q, use: Coupling(a, b, p, q, use), *classes, table)


@given(coupled_problems(), st.integers(1, 8), st.sampled_from([None, *RESOURCE_NAMES]))
def test_coupled_foldings_equal_brute_force(problem: FoldingProblem, interval: int, minimised: str | None) -> None:
    problem = replace(problem, minimised=minimised)
    expected = least_coupled(problem, interval)
    answer = fold_at_interval(problem, interval)
    if expected is None:
        assert isinstance(answer, FoldingInfeasible)
        return
    assert isinstance(answer, FoldingSolution)
    assert answer.stats.status == "optimal"
    assert answer.stats.objective == pytest.approx(expected)
    assert cost(answer.resources, minimised) == pytest.approx(expected)
    assert answer.resources.fits(problem.budget)
    quick = fold_at_interval(problem, interval, prove=False)
    assert isinstance(quick, FoldingSolution)
    assert quick.stats.bound is not None
    assert quick.stats.bound <= expected + 1e-9


@given(coupled_problems(), st.integers(1, 8), st.booleans())
def test_without_branching_a_folding_is_found_wherever_there_is_one_and_nothing_too_much_is_claimed(
    problem: FoldingProblem, interval: int, enumerable: bool
) -> None:
    """Problems this small are enumerated before any branching, unless they are said to be too many."""
    least = least_coupled(problem, interval)
    enumerate_all = exact._Search._enumerate
    with patch.object(exact._Search, "_enumerate", lambda *asked: enumerable and enumerate_all(*asked)):
        answer = fold_at_interval(problem, interval, branch=False)
    if isinstance(answer, FoldingUnknown):
        assert not enumerable
        return
    if least is None:
        assert isinstance(answer, FoldingInfeasible)
        return
    assert isinstance(answer, FoldingSolution)
    assert answer.resources.fits(problem.budget)
    assert answer.interval_cycles <= interval
    objective, bound = answer.stats.objective, answer.stats.bound
    assert objective is not None
    assert bound is not None
    assert objective == pytest.approx(cost(answer.resources, None))
    assert bound - 1e-9 <= least <= objective + 1e-9
    assert (answer.stats.status == "optimal") == (objective <= bound)
    # What is proven of it later may be said of it: it is no heuristic's.
    assert answer.stats.method.startswith("exact")


def test_without_branching_none_is_done_where_a_folding_is_known() -> None:
    either = [[option(1, 10 + e, 0, 3), option(1, 3, 0, 10 + 2 * e)] for e in range(4)]
    problem = problem_of(either, Resources(lut=30, bram18=30))
    with (
        patch.object(exact._Search, "_enumerate", return_value=False),
        patch.object(exact._Search, "_branch", side_effect=AssertionError),
    ):
        answer = fold_at_interval(problem, 1, branch=False)
        assert isinstance(answer, FoldingSolution)
        assert answer.stats.status == "feasible"
        with pytest.raises(AssertionError):
            fold_at_interval(problem, 1)


@given(coupled_problems(), st.permutations(range(1, 9)))
def test_probes_tell_what_can_be_folded_in_whatever_order_they_are_asked(
    problem: FoldingProblem, intervals: list[int]
) -> None:
    oracle = FeasibilityOracle(problem)
    for interval in intervals:
        least, answer = least_coupled(problem, interval), oracle(interval)
        assert isinstance(answer, FoldingInfeasible if least is None else FoldingSolution)
        if least is not None and isinstance(answer, FoldingSolution):
            assert answer.resources.fits(problem.budget)
            assert answer.interval_cycles <= interval
            assert answer.stats.bound is not None
            assert 0 <= answer.stats.bound <= least + 1e-9
            proven = oracle.least_scarce(interval)
            assert isinstance(proven, FoldingSolution)
            assert proven.stats.objective == proven.stats.bound == pytest.approx(least)


@given(coupled_problems(), st.permutations(range(1, 9)))
def test_what_is_remembered_of_other_intervals_drops_no_other_rows(
    problem: FoldingProblem, intervals: list[int]
) -> None:
    for interval in intervals:
        known, fresh = reduce_by_dominance(problem, interval), reduce_by_dominance(replace(problem, memo={}), interval)
        assert (known is None) == (fresh is None)
        if known is not None and fresh is not None:
            assert [rows.tolist() for rows in known.rows] == [rows.tolist() for rows in fresh.rows]


def least_coupled(problem: FoldingProblem, interval: int) -> float | None:
    costs = []
    for selection in product(*(range(len(group.rows)) for group in problem.groups)):
        use = sum(group.use[pick] for group, pick in zip(problem.groups, selection, strict=True))
        use = use + sum(
            c.use[c.source_class[selection[c.source]], c.target_class[selection[c.target]]] for c in problem.couplings
        )
        slowest = max(group.cycles[pick] for group, pick in zip(problem.groups, selection, strict=True))
        amount = Resources(*(int(value) for value in use))
        if slowest <= interval and amount.fits(problem.budget):
            costs.append(cost(amount, problem.minimised))
    return min(costs, default=None)


def cost(use: Resources, minimised: str | None) -> float:
    return scarcity(use, SILICON) if minimised is None else use.as_dict()[minimised]


def test_infeasibility_by_one_resource_names_need_and_limit() -> None:
    problem = problem_of([[option(1, 10, 0, 7)], [option(1, 10, 0, 6)]], Resources(lut=100, bram18=12))
    assert fold_at_interval(problem, 5) == FoldingInfeasible("BRAM18", 13, 12)


def test_infeasibility_by_combination_is_proven_too() -> None:
    either = [option(1, 10, 0, 0), option(1, 0, 0, 10)]
    problem = problem_of([either, either, either], Resources(lut=10, bram18=10))
    assert fold_at_interval(problem, 5) == FoldingInfeasible(None)


def test_engine_that_fits_no_slot_is_proven_infeasible_by_name() -> None:
    engine = OptionGroup(("MVAU_hls_3",), ((option(4, 500, 0, 9),), (option(8, 90, 0, 9),)))
    limits = [("fpga0.SLR0", Resources(lut=100, bram18=8)), ("fpga0.SLR1", Resources(lut=80, bram18=6))]
    with pytest.raises(
        InfeasibleError, match=r"proven infeasible by the cost model: engine MVAU_hls_3 .* 9 BRAM18, .*SLR0\) is 8"
    ):
        required(fitting(engine, limits))


def test_rate_above_the_widest_folding_is_proven_infeasible() -> None:
    with pytest.raises(InfeasibleError, match="needs 4 cycles a frame at its widest folding"):
        required(fitting(OptionGroup(("e",), ((option(4, 1),),)), [("s", Resources(lut=10))], interval_cap=3))


def test_tied_engines_are_folded_by_one_row() -> None:
    rows = ((option(2, 10), option(9, 1)), (option(4, 5), option(4, 5)))
    problem = FoldingProblem((OptionGroup(("window", "pool"), rows),), Resources(lut=100), SILICON)
    assert problem.intervals() == (4, 9)
    answer = fold_at_interval(problem, 4)
    assert isinstance(answer, FoldingSolution)
    assert [answer.options[name].cycles for name in ("window", "pool")] == [4, 4]
