"""The least fullness equals brute force, and so does the least scarcity among what is as good as that."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.folding.least_full import EXCESS, fullness, least_full, least_scarce_of_least_full, nearly_as_full
from floorflow.resources import Resources, scarcity
from tests.folding.pairwise import use_of
from tests.folding.test_exact import SILICON, coupled_problems, option, problem_of


def legal_uses(problem: FoldingProblem, interval: int) -> list[Resources]:
    """Return what every folding uses that keeps interval and budget."""
    fast = [[i for i, cycles in enumerate(group.cycles) if cycles <= interval] for group in problem.groups]
    uses = (Resources(*use_of(problem, rows).tolist()) for rows in product(*fast))
    return [use for use in uses if use.fits(problem.budget)]


@given(coupled_problems(), st.integers(1, 8))
def test_the_least_largest_share_equals_brute_force(problem: FoldingProblem, interval: int) -> None:
    uses = legal_uses(problem, interval)
    answer = least_full(problem, interval)
    if not uses:
        assert isinstance(answer, FoldingInfeasible)
        return
    least = min(fullness(use, problem.budget) for use in uses)
    assert isinstance(answer, FoldingSolution)
    assert answer.resources.fits(problem.budget)
    assert fullness(answer.resources, problem.budget) == least
    assert answer.stats.status == "optimal"
    assert answer.stats.objective == answer.stats.bound == pytest.approx(float(least))


@given(coupled_problems(), st.integers(1, 8))
def test_then_the_least_scarcity_within_one_per_cent_of_it_equals_brute_force(
    problem: FoldingProblem, interval: int
) -> None:
    uses = legal_uses(problem, interval)
    answer = least_scarce_of_least_full(problem, interval)
    if not uses:
        assert isinstance(answer, FoldingInfeasible)
        return
    least = min(fullness(use, problem.budget) for use in uses)
    near = [use for use in uses if fullness(use, problem.budget) <= least * (1 + EXCESS)]
    assert isinstance(answer, FoldingSolution)
    assert fullness(answer.resources, problem.budget) <= least * (1 + EXCESS)
    assert answer.stats.status == "optimal"
    assert answer.stats.objective == pytest.approx(min(scarcity(use, SILICON) for use in near))
    assert answer.fullness is not None
    assert answer.fullness.objective == pytest.approx(float(least))


def test_what_is_plenty_is_used_where_the_other_is_short() -> None:
    """By the sum of shares LUTs are cheaper, and would fill up while block RAM stays empty."""
    either = [option(1, 200, 0, 0), option(1, 0, 0, 14)]
    problem = problem_of([either] * 4, Resources(lut=1000, ff=1, bram18=50, uram=0, dsp=20))
    answer = least_scarce_of_least_full(problem, 1)
    assert isinstance(answer, FoldingSolution)
    assert answer.resources == Resources(lut=400, bram18=28)
    assert answer.fullness is not None
    assert (answer.fullness.status, answer.fullness.objective) == ("optimal", pytest.approx(0.56))


def test_scarcity_decides_between_foldings_that_are_equally_full() -> None:
    forced, free = [option(1, 500)], [option(1, 90), option(1, 0, 0, 2), option(1, 0, 0, 0, 0, 10)]
    problem = problem_of([forced, free], Resources(lut=1000, ff=1, bram18=50, uram=0, dsp=20))
    answer = least_scarce_of_least_full(problem, 1)
    assert isinstance(answer, FoldingSolution)
    assert answer.resources == Resources(lut=500, bram18=2)


def test_a_resource_that_is_not_there_is_never_used() -> None:
    problem = problem_of([[option(1, 900), option(1, 1, 0, 0, 1)]], Resources(lut=1000, ff=1, bram18=1, dsp=1))
    answer = least_full(problem, 1)
    assert isinstance(answer, FoldingSolution)
    assert answer.resources == Resources(lut=900)
    none = least_full(replace(problem, budget=Resources(lut=800, ff=1, bram18=1, dsp=1)), 1)
    assert isinstance(none, FoldingInfeasible)


def test_the_budget_says_what_is_nearly_as_full() -> None:
    problem = problem_of([[option(1, 500)]], Resources(lut=1000, ff=300, bram18=50, dsp=20))
    answer = least_full(problem, 1)
    assert isinstance(answer, FoldingSolution)
    assert nearly_as_full(problem, answer) == Resources(lut=505, ff=151, bram18=25, dsp=10)
    assert nearly_as_full(problem, answer, Fraction(5)) == problem.budget
