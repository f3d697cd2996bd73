"""Engines and shares chosen together: brute force agrees, wishes are kept; and rates without a schedule."""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from floorflow.backends.fcnnx.backend import front
from floorflow.bandwidth.joint import JointProblem, bound_on_any_schedule, choose, total_error
from floorflow.bandwidth.rates import Wish, most_fps, rate, unaware_rates, wish
from floorflow.bandwidth.repetitions import best_rates, scheduled_period
from floorflow.dataflow.traffic import EnginePoint, Subgraph
from floorflow.resources import Resources
from tests.backends.fcnnx.case import case, layers, row_problem

ZC706 = Resources(lut=218_600, ff=437_200, bram18=1_090, dsp=900)


def random_front(draw: random.Random, name: str) -> tuple[EnginePoint, ...]:
    points = []
    for _ in range(draw.randint(2, 4)):
        dsp = draw.randint(1, 20)
        parts = [
            Subgraph(f"c{n}.0", time := draw.uniform(2_000, 9_000) / dsp, time * draw.uniform(50, 900))
            for n in range(draw.randint(1, 3))
        ]
        use = Resources(lut=100 + 10 * dsp, ff=0, bram18=draw.randint(1, 15), dsp=dsp)
        points.append(EnginePoint(name, {"n": dsp}, tuple(parts), use))
    return tuple(points)


def random_choice(seed: int, *, two_sided: bool = False, least: float | None = None) -> JointProblem:
    draw = random.Random(seed)
    names = tuple(f"n{n}" for n in range(draw.randint(2, 3)))
    fronts = tuple(random_front(draw, name) for name in names)
    wishes = tuple(
        wish(points, 0.9, draw.uniform(100, 1500), least_fps=least, two_sided=two_sided) for points in fronts
    )
    limits = Resources(lut=draw.randint(250, 1200), ff=0, bram18=draw.randint(6, 40), dsp=draw.randint(8, 50))
    return JointProblem(names, fronts, wishes, limits, 0.9, slots=8)


def brute_force(problem: JointProblem) -> float:
    """Return the least error over all engines and all whole slots; infinite where least rates are out of reach."""
    best = np.inf
    for points in product(*problem.fronts):
        if any(
            sum(p.resources.as_tuple()[n] for p in points) > limit
            for n, limit in enumerate(problem.available.as_tuple())
        ):
            continue
        for slots in product(range(problem.slots + 1), repeat=len(points)):
            if sum(slots) <= problem.slots:
                fps = [rate(p, s / problem.slots * problem.bandwidth_gbs) for p, s in zip(points, slots, strict=True)]
                if all(f >= w.least_fps * (1 - 1e-9) for f, w in zip(fps, problem.wishes, strict=True)):
                    best = min(best, total_error(problem.wishes, fps))
    return best


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_choice_is_that_of_brute_force(seed: int, two_sided: bool) -> None:
    problem = random_choice(seed, two_sided=two_sided, least=0.0)
    answer, least = choose(problem), brute_force(problem)
    if np.isinf(least):
        assert (answer.points, answer.stats.status) == (None, "infeasible")
    else:
        assert answer.stats.status == "optimal"
        assert answer.stats.objective == pytest.approx(least, abs=1e-9)
        assert bound_on_any_schedule(problem) <= least + 1e-9 or two_sided


@pytest.mark.parametrize("seed", range(12))
def test_each_network_gets_its_least_rate_where_that_is_feasible_and_else_is_named(seed: int) -> None:
    problem = random_choice(seed)
    answer, least = choose(problem), brute_force(problem)
    if not np.isinf(least):
        assert answer.starved == ()
        assert answer.stats.objective == pytest.approx(least, abs=1e-9)
    elif answer.points is not None:
        assert answer.starved
        short = {
            n for n, w, f in zip(problem.names, problem.wishes, answer.frames_per_s, strict=True) if f < w.least_fps
        }
        assert set(answer.starved) == short


@pytest.mark.parametrize("seed", range(6))
def test_equal_networks_get_equal_shares(seed: int) -> None:
    points = random_front(random.Random(seed), "n")
    same = wish(points, 0.9, 1200)
    problem = JointProblem(("a", "b"), (points, points), (same, same), Resources(9999, 9999, 99, 0, 99), 0.9, slots=15)
    answer = choose(problem)
    assert answer.points is not None
    if answer.points[0] == answer.points[1]:
        assert answer.shares_gbs[0] == pytest.approx(answer.shares_gbs[1])
        assert answer.frames_per_s[0] == pytest.approx(answer.frames_per_s[1])
    choice = scheduled_period([points[0]] * 2, problem.names, problem.wishes, 0.9)
    assert choice.frames_per_s[0] == pytest.approx(choice.frames_per_s[1])


def test_more_than_the_target_is_a_fault_only_two_sided() -> None:
    rates = np.array([20.0, 25.0, 30.0])
    assert Wish(25.0).errors(rates) == pytest.approx([0.04, 0, 0])
    assert Wish(25.0, two_sided=True).errors(rates) == pytest.approx([0.04, 0, 0.04])


def test_the_target_is_what_is_asked_for_or_the_most_that_is_reached_alone() -> None:
    points = front("lenet5", layers("LeNet-5"), ZC706)
    most = most_fps(points, 0.9)
    assert wish(points, 0.9, 10.0) == Wish(10.0, 5.0)
    assert wish(points, 0.9, 10 * most).target_fps == most
    assert wish(points, 0.9, 10.0, "throughput-error").target_fps == most
    assert wish(points, 0.9, 10.0, least_fps=3.0).least_fps == 3.0


@pytest.mark.parametrize("seed", range(10))
def test_best_rates_are_within_engines_and_bytes_and_none_near_them_is_better(seed: int) -> None:
    problem, draw = random_choice(seed), random.Random(seed)
    engines = [points[0] for points in problem.fronts]
    found = np.array(best_rates(engines, problem.wishes, 0.9))
    moved, most = np.array([e.traffic_bytes for e in engines]), np.array([rate(e, 0.9) for e in engines])
    assert moved @ found <= 0.9e9 * (1 + 1e-9)
    assert (found <= most * (1 + 1e-9)).all()
    for _ in range(200):
        other = found * np.array([draw.uniform(0.8, 1.2) for _ in found])
        if moved @ other <= 0.9e9 and (other <= most).all():
            assert total_error(problem.wishes, found.tolist()) <= total_error(problem.wishes, other.tolist()) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_period_with_repetitions_is_no_better_than_its_bound(seed: int) -> None:
    problem = random_choice(seed, least=0.0)
    engines = [points[0] for points in problem.fronts]
    choice = scheduled_period(engines, problem.names, problem.wishes, 0.9, method="constant")
    assert choice.bound <= choice.error + 1e-9
    seconds = choice.answer.schedule.period_us / 1e6
    assert choice.frames_per_s == pytest.approx([n.repetitions / seconds for n in choice.problem.networks])


@pytest.mark.parametrize("number", range(4))
def test_unaware_rates_are_those_of_another_simulation(number: int) -> None:
    row = case()["expected"][number]
    found = unaware_rates(row_problem(row["row"], row["reps"]), float(row["row"][6:]))
    assert found == pytest.approx(row["fluid_prop_045_fps"], rel=0.01)


def test_a_memory_that_is_ample_leaves_every_engine_its_own_rate() -> None:
    problem = replace(row_problem("three@3.8", [1, 1, 1]), bandwidth_gbs=100.0)
    alone = [1e6 / times.sum() for times in problem.latencies]
    assert unaware_rates(problem, 100.0) == pytest.approx(alone, rel=1e-9)
