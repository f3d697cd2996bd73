"""The published methods: never better than the optimum, never worse than SAMO's own, and equal from run to run."""

from dataclasses import replace
from math import inf

import pytest

from floorflow.papers.samo.methods import annealing, brute, rule, schedule_methods
from floorflow.papers.samo.methods.annealing import CODED, PUBLISHED, SCALED, anneal
from floorflow.papers.samo.problem import ScheduleAnswer, evaluate
from tests.papers.samo.random_problems import random_problem
from tests.papers.samo.samo_cases import CASES, problem, size

SEEDS = range(3)
SMALL = [name for name in CASES if size(name) <= 8]
RULED = SMALL[::9]
ANNEALED = [name for name in SMALL if CASES[name].get("samo_annealing")][::12]
OTHERS = [name for number, name in enumerate(ANNEALED) if number % 6]


def require_legal(name: str, answer: ScheduleAnswer) -> None:
    if answer.design is None:
        assert answer.reason
        return
    found = evaluate(problem(name), answer.design)
    assert not found.broken
    assert found.us == pytest.approx(answer.stats.objective, rel=1e-9)
    assert found.us >= CASES[name]["optimum"]["us"] * (1 - 1e-9)


def require_rule_no_worse(name: str) -> None:
    answer, samo = rule.solve(problem(name)), (CASES[name].get("samo_rule") or {}).get("us")
    require_legal(name, answer)
    assert samo is None or (answer.stats.objective or inf) <= samo * (1 + 1e-9)


def best_annealed(name: str) -> float:
    answers = [annealing.solve(problem(name), seed) for seed in SEEDS]
    for answer in answers:
        require_legal(name, answer)
    return min(answer.stats.objective or inf for answer in answers)


def samo_annealed(name: str) -> float:
    return min(run["best_us"] for run in CASES[name]["samo_annealing"])


def test_rule_is_never_worse_than_samos_on_small_networks() -> None:
    for name in RULED:
        require_rule_no_worse(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in RULED])
def test_rule_is_never_worse_than_samos(name: str) -> None:
    require_rule_no_worse(name)


@pytest.mark.parametrize("name", [*ANNEALED[::6], *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_annealing_is_no_worse_than_samos(name: str) -> None:
    assert best_annealed(name) <= samo_annealed(name) * (1 + 1e-9)


@pytest.mark.slow
def test_annealing_is_no_worse_than_samos_in_nine_cases_of_ten() -> None:
    names = [name for name, case in CASES.items() if case.get("samo_annealing")]
    good = sum(best_annealed(name) <= samo_annealed(name) * (1 + 1e-9) for name in names)
    assert good >= 0.9 * len(names)


def test_temperatures_in_units_of_throughput_are_a_random_walk() -> None:
    # A batch's cost is images a us, about 1e-3: at K = 1 every legal move passes. Scaled ones end near the best.
    case = problem("finn_tfc_w4a4_b256__zc706")
    walk = anneal(case, replace(PUBLISHED, hold=2000), 0)
    scaled = anneal(case, replace(SCALED, moves=10, hold=2000), 0)
    assert walk.last_us > 2 * walk.best_us
    assert scaled.last_us < 1.5 * scaled.best_us


def test_the_coded_schedule_stops_where_it_never_cools() -> None:
    case = replace(random_problem(3), limits=(0.0, 0.0, 0.0, 0.0))
    assert anneal(case, replace(CODED, most_moves=500), 0).best_us == inf


def test_brute_equals_the_optimum_and_says_what_is_too_large() -> None:
    for name in (name for name, case in CASES.items() if case.get("samo_brute")):
        assert brute.solve(problem(name)).stats.objective == pytest.approx(CASES[name]["optimum"]["us"], rel=1e-9)
    refused = brute.solve(problem("fcn_cnv_b1__zc706"))
    assert (refused.design, refused.stats.status) == (None, "heuristic")
    assert "foldings of segments" in refused.reason


@pytest.mark.parametrize("name", ["annealing", "brute", "exact", "rule"])
def test_equal_seeds_give_equal_answers(name: str) -> None:
    method, case = schedule_methods()[name], problem("hls_tiny_d_b256__toy_small")
    assert method(case, 7) == method(case, 7)


@pytest.mark.parametrize("seeds", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_heuristics_are_legal_on_every_kind_of_problem(seeds: int) -> None:
    short = replace(SCALED, factor=0.9, moves=20, hold=200)
    for seed in range(seeds):
        case = random_problem(seed, residual=seed % 2 == 1)
        least = brute.solve(case).stats.objective
        annealed = anneal(case, short, seed)
        answer = rule.solve(case)
        found = [(annealed.best, annealed.best_us), (answer.design, answer.stats.objective or inf)]
        for design, us in found:
            if us < inf:
                assert not evaluate(case, design).broken, seed
                assert us >= least * (1 - 1e-12), seed
