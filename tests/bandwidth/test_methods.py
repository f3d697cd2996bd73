"""Schedules of several networks at one memory: every method's are legal, the exact ones equal brute force."""

import random
from itertools import permutations

import numpy as np
import pytest
from ortools.linear_solver import pywraplp

from benchmarks.fcnnx_methods import METHODS, proposals, solve_by
from floorflow.bandwidth.constant_shares import least_period
from floorflow.bandwidth.exact import all_begins
from floorflow.bandwidth.fixed_order import best_speeds
from floorflow.bandwidth.problem import BandwidthProblem, ScheduledNetwork
from floorflow.dataflow.traffic import Subgraph
from tests.backends.fcnnx.case import TABLE_2, case, row_problem, set_problem
from tests.bandwidth.random_networks import random_problem
from tests.bandwidth.replay import Replay, replay, table_of

EXPECTED = {row["row"]: row for row in case()["expected"]}
QUICK = ("constant", "rcls")


def replayed(problem: BandwidthProblem, method: str) -> tuple[Replay, tuple[float, ...]]:
    """Return what the simulation makes of a method's emitted table, and the rates that the method predicts."""
    schedule = solve_by(method, problem).schedule
    problem = problem.beginning_with(schedule.first)
    needs = {n.name: [(s.name, s.latency_us, s.traffic_bytes) for s in n.subgraphs] for n in problem.networks}
    return replay(table_of(problem, schedule), needs), schedule.frames_per_s(problem)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("seed", range(4))
def test_a_simulation_of_the_hardware_finds_nothing_wrong(method: str, seed: int) -> None:
    found, predicted = replayed(random_problem(seed, networks=3, subgraphs=3), method)
    assert found.faults == []
    assert [*found.frames_per_s.values()] == pytest.approx(predicted, rel=0.02)


@pytest.mark.parametrize("row", EXPECTED)
@pytest.mark.parametrize(
    "method", [*QUICK, *(pytest.param(m, marks=pytest.mark.slow) for m in ("exact", "rcls-search"))]
)
def test_a_simulation_of_table_3_finds_nothing_wrong(method: str, row: str) -> None:
    found, predicted = replayed(row_problem(row, EXPECTED[row]["reps"]), method)
    assert found.faults == []
    assert [*found.frames_per_s.values()] == pytest.approx(predicted, rel=0.02)


def test_the_simulation_finds_what_is_wrong() -> None:
    problem = set_problem(3)
    schedule = solve_by("constant", problem).schedule
    table = table_of(problem, schedule)
    needs = {n.name: [(s.name, s.latency_us, s.traffic_bytes) for s in n.subgraphs] for n in problem.networks}
    table["slots_total"] -= 9
    assert any("slots of" in fault for fault in replay(table, needs).faults)
    table["slots_total"] += 9
    table["entries"][3]["slots"] //= 2
    assert any("of it done" in fault for fault in replay(table, needs).faults)
    table["entries"][2]["subgraph"] = "conv2.0"
    assert any("expected conv1.0" in fault for fault in replay(table, needs).faults)


def least_by_linear_programme(problem: BandwidthProblem, order: tuple[int, ...]) -> float:
    """Return the least period of an order of completions; stated anew: cumulative work at the end of each interval."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    ends = [solver.NumVar(0, solver.infinity(), f"end{k}") for k in range(len(order))]
    total = {n: np.concatenate([[0.0], times.cumsum()]) for n, times in enumerate(problem.latencies)}
    work = {n: [solver.NumVar(0, float(t[-1]), f"work{n},{k}") for k in range(len(order))] for n, t in total.items()}
    done = dict.fromkeys(total, 0)
    for k, completed in enumerate(order):
        length = ends[k] - ends[k - 1] if k else ends[0]
        used = []
        for n, times in total.items():
            step = work[n][k] - work[n][k - 1] if k else work[n][0]
            solver.Add(step >= 0)
            solver.Add(step <= length)
            if done[n] < len(times) - 1:
                used.append(step * float(problem.demands[n][done[n]] / problem.bytes_per_us))
                solver.Add(work[n][k] <= float(times[done[n] + 1]))
            else:
                solver.Add(step == 0)
        solver.Add(sum(used) <= length)
        done[completed] += 1
        solver.Add(work[completed][k] == float(total[completed][done[completed]]))
    solver.Minimize(ends[-1])
    assert solver.Solve() == pywraplp.Solver.OPTIMAL
    return float(ends[-1].solution_value())


def orders(problem: BandwidthProblem) -> set[tuple[int, ...]]:
    return set(permutations([n for n, network in enumerate(problem.networks) for _ in range(network.jobs)]))


@pytest.mark.parametrize("seed", range(6))
def test_slow_downs_for_an_order_are_the_best_there_are(seed: int) -> None:
    problem = random_problem(seed)
    for order in sorted(orders(problem))[:3]:
        found = best_speeds(problem, order)
        assert found is not None
        assert found.period_us == pytest.approx(least_by_linear_programme(problem, order), rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_exact_is_the_best_of_all_orders_with_all_slow_downs(seed: int) -> None:
    problem = random_problem(seed, subgraphs=2)
    least = min(
        least_by_linear_programme(problem.beginning_with(begin), order)
        for begin in all_begins(problem)
        for order in orders(problem)
    )
    answer = solve_by("exact", problem)
    assert answer.stats.status == "optimal"
    assert answer.stats.objective == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_no_method_beats_a_proven_bound_and_slow_downs_beat_full_speed(seed: int) -> None:
    problem = random_problem(seed, networks=3, subgraphs=2)
    found = {name: solve_by(name, problem).stats for name in METHODS}
    periods = {name: stats.objective or 0.0 for name, stats in found.items()}
    assert all((stats.bound or 0.0) <= periods[name] for name, stats in found.items())
    assert (found["exact"].bound or 0.0) <= min(periods.values()) * (1 + 1e-6)
    assert periods["exact"] <= min(periods.values()) * (1 + 1e-6)
    assert periods["ilp"] <= periods["rcls"] * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_constant_shares_fill_the_period_and_no_shorter_one(seed: int) -> None:
    problem = random_problem(seed, networks=3, subgraphs=4)
    period, shares = least_period(problem)
    runs = zip(problem.latencies, problem.traffic, shares, strict=True)
    times = [np.maximum(latencies, traffic / share).sum() for latencies, traffic, share in runs]
    assert max(times) == pytest.approx(period, rel=1e-9)
    assert sum(shares) <= problem.bytes_per_us * (1 + 1e-9)
    if period > problem.bound_us * (1 + 1e-9):
        assert sum(shares) == pytest.approx(problem.bytes_per_us)
        assert times == pytest.approx([period] * 3)


@pytest.mark.parametrize("seed", range(5))
def test_first_slow_downs_take_the_overload_of_an_unlimited_schedule_away(seed: int) -> None:
    problem = random_problem(seed, networks=3, subgraphs=3, repetitions=1)
    demands = [d.max() * s.min() for d, s in zip(problem.demands, proposals(problem), strict=True)]
    assert max(demands) <= problem.bytes_per_us * (1 + 1e-9)


@pytest.mark.parametrize("row", EXPECTED)
@pytest.mark.parametrize(("method", "key"), [("constant", "K_static_share_ms"), ("rcls", "K_RCLS_no_slowdown_ms")])
def test_periods_of_table_3_are_the_expected_ones_or_shorter(row: str, method: str, key: str) -> None:
    expected = EXPECTED[row]
    problem = row_problem(row, expected["reps"])
    assert problem.bound_us / 1e3 == pytest.approx(expected["K_LB_ms"], rel=1e-4)
    if key in expected:
        assert solve_by(method, problem).schedule.period_us / 1e3 <= expected[key] * 1.01


@pytest.mark.slow
@pytest.mark.parametrize("row", list(EXPECTED)[:4])
@pytest.mark.parametrize(("method", "key"), [("exact", "K_LP_time_varying_ms"), ("rcls-search", "K_RCLS_pattern_ms")])
def test_searched_periods_of_table_3_are_the_expected_ones_or_shorter(row: str, method: str, key: str) -> None:
    problem = row_problem(row, EXPECTED[row]["reps"])
    assert solve_by(method, problem).schedule.period_us / 1e3 <= EXPECTED[row][key] * 1.01


@pytest.mark.parametrize("number", [1, 2])
def test_sets_1_and_2_of_table_2_are_proven_by_all(number: int) -> None:
    for method in ("rcls", "ilp", "exact"):
        stats = solve_by(method, set_problem(number)).stats
        assert (stats.status, stats.objective) == ("optimal", pytest.approx(TABLE_2[number][2], rel=1e-4))


@pytest.mark.parametrize("number", [3, 4, 6])
def test_larger_sets_of_table_2_are_proven_with_slow_downs(number: int) -> None:
    stats = solve_by("exact", set_problem(number)).stats
    assert (stats.status, stats.objective) == ("optimal", pytest.approx(TABLE_2[number][2], rel=1e-4))


@pytest.mark.slow
def test_eight_networks_of_fifty_subgraphs_are_scheduled_with_a_bound_in_two_minutes() -> None:
    draw = random.Random(1)
    networks = []
    for number in range(8):
        times = [draw.uniform(100, 5000) for _ in range(50)]
        parts = tuple(Subgraph(f"c{n}.0", t, t * draw.uniform(50, 1200)) for n, t in enumerate(times))
        networks.append(ScheduledNetwork(f"n{number}", parts, draw.choice((1, 1, 2))))
    answer = solve_by("exact", BandwidthProblem(tuple(networks), 1.8))
    assert answer.seconds < 120
    assert answer.stats.gap is not None
    assert answer.stats.gap < 0.03


def test_equal_arguments_give_equal_schedules() -> None:
    problem = random_problem(3, networks=3, subgraphs=3)
    for method in METHODS:
        assert solve_by(method, problem).schedule == solve_by(method, problem).schedule
