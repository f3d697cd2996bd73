"""The exact method: the proven optima of SAMO's cases, and brute force on small problems of every kind."""

from collections import Counter
from dataclasses import replace
from math import isclose

import pytest

from floorflow.errors import LimitError
from floorflow.papers.samo.methods import brute, exact
from floorflow.papers.samo.problem import evaluate
from tests.papers.samo.random_problems import random_problem
from tests.papers.samo.samo_cases import CASES, problem, size

MOST_NODES = 20
QUICK = [name for name in CASES if size(name) < MOST_NODES]
LARGE = [name for name in CASES if size(name) >= MOST_NODES]


def is_about(found: float | None, expected: float | None, share: float = 1e-12) -> bool:
    if found is None or expected is None:
        return found is expected
    return isclose(found, expected, rel_tol=share)


def require_optimum(name: str) -> None:
    answer, optimum = exact.solve(problem(name)), CASES[name]["optimum"]
    assert answer.stats.status == optimum["status"]
    assert is_about(answer.stats.objective, optimum.get("us"), 1e-6)
    if answer.design is not None:
        found = evaluate(problem(name), answer.design)
        assert not found.broken
        assert found.us == pytest.approx(answer.stats.objective, rel=1e-9)
        assert answer.stats.gap == 0


def test_small_networks_have_their_proven_optimum() -> None:
    assert len(QUICK) > 90
    for name in QUICK:
        require_optimum(name)


IN_EACH_RUN = ["fcn_mobilenetv1_b256__zc706", "finn_resnet50_w1a2_b1__u250_4slr"]


@pytest.mark.parametrize("name", [*IN_EACH_RUN, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_large_networks_have_their_proven_optimum(name: str) -> None:
    require_optimum(name)


def test_a_segment_that_is_too_fast_says_nothing_of_longer_ones() -> None:
    name = "fcn_tiny_b_b1__toy_small"
    assert exact.solve(problem(name)).stats.objective == pytest.approx(3920)


@pytest.mark.parametrize(("seeds", "least"), [(20, 1), pytest.param(200, 5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("residual", [False, True])
def test_it_equals_brute_force(residual: bool, seeds: int, least: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(seeds):
        case = random_problem(seed, residual=residual)
        expected, found = brute.solve(case), exact.solve(case)
        assert found.stats.status == expected.stats.status, seed
        assert is_about(found.stats.objective, expected.stats.objective), seed
        if found.design is not None:
            assert not evaluate(case, found.design).broken, seed
            seen["cut" if found.design.cuts else "whole"] += 1
            fast = replace(case, bandwidth_gbit_s=1e9)
            seen["slowed"] += exact.solve(fast).stats.objective < found.stats.objective
        seen[found.stats.status] += 1
    assert min(seen[kind] for kind in ("cut", "whole", "slowed", "infeasible")) >= least, seen


def test_folding_that_gives_up_leaves_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: object) -> None:
        raise LimitError("no answer")

    monkeypatch.setattr(exact, "decide", gives_up)
    answer = exact.solve(problem("fcn_lenet_b1__zc706"))
    assert (answer.design, answer.stats.status, answer.reason) == (None, "heuristic", "no answer")
    assert 0 < (answer.stats.bound or 0) <= 80


@pytest.mark.parametrize("seeds", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_folding_proves_what_prices_leave_open(monkeypatch: pytest.MonkeyPatch, seeds: int) -> None:
    plain = exact.decide
    monkeypatch.setattr(exact, "decide", lambda *given, **more: plain(*given, **more, rounds=0))
    for seed in range(seeds):
        case = random_problem(seed)
        assert is_about(exact.solve(case).stats.objective, brute.solve(case).stats.objective), seed
