"""How far a budget is from one that fits: the scale is proven, is reached, and names what is in the way."""

from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.folding.infeasible import CLOSE, shortage
from floorflow.resources import Resources
from tests.folding.test_exact import coupled_problems, option, problem_of


def scaled(problem: FoldingProblem, scale: float) -> FoldingProblem:
    return problem.with_budget(Resources(*(floor(n * scale + 1e-6) for n in problem.budget.as_tuple())))


@given(coupled_problems(), st.integers(1, 8))
def test_the_scale_fits_and_nothing_below_the_proven_one_does(problem: FoldingProblem, interval: int) -> None:
    if 0 in problem.budget.as_tuple() or not isinstance(fold_at_interval(problem, interval), FoldingInfeasible):
        return
    short = shortage(problem, interval)
    if short is None:
        without_limits = problem.with_budget(Resources(*[UNBUILDABLE - 1] * 5))
        assert isinstance(fold_at_interval(without_limits, interval), FoldingInfeasible)
        return
    assert isinstance(fold_at_interval(scaled(problem, short.scale), interval), FoldingSolution) or short.scale > 10**5
    below = scaled(problem, short.proven_scale * 0.99)
    assert isinstance(fold_at_interval(below, interval), FoldingInfeasible)
    assert short.proven_scale <= short.scale <= short.proven_scale * (1 + CLOSE) + 1.0
    assert short.need == pytest.approx(short.scale * short.limit)


def test_the_message_names_resource_scale_and_engines() -> None:
    engines = [[option(4, 10, 0, 30), option(2, 40, 0, 28)], [option(4, 5, 0, 6)], [option(4, 5, 0, 2)]]
    short = shortage(problem_of(engines, Resources(lut=60, ff=10, bram18=18, uram=1, dsp=1)), 4)
    assert short is not None
    assert str(short) == (
        "BRAM18 binds: it fits with limits 2.00 times as large, where it needs 36 BRAM18 and has 18, "
        "most of it in e0 (78%), e1 (17%), e2 (6%)"
    )
    assert short.proven_scale == pytest.approx(2.0, rel=CLOSE)


def test_resources_are_weighed_against_each_other() -> None:
    """LUTs or BRAMs: all in LUTs needs twice the budget, half and half does with the budget half as large again."""
    either = [option(1, 10, 0, 0), option(1, 0, 0, 10)]
    short = shortage(problem_of([either] * 4, Resources(lut=10, ff=1, bram18=20, uram=1, dsp=1)), 1)
    assert short is not None
    assert short.scale == pytest.approx(1.5)


def test_no_scale_gives_what_the_platform_lacks() -> None:
    only_uram = [option(1, 1, 0, 0, 3)]
    assert shortage(problem_of([only_uram], Resources(lut=10, bram18=10)), 1) is None


def test_no_scale_makes_an_engine_faster() -> None:
    assert shortage(problem_of([[option(9, 1)]], Resources(lut=10)), 3) is None
