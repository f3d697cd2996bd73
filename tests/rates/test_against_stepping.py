import pytest

from floorflow.rates import RateProblem, blocked, first_frame, size
from floorflow.rates.fifo_graph import FifoGraph
from floorflow.rates.self_timed import run_self_timed
from tests.rates.graphs import random_problem
from tests.rates.stepping import DEADLOCK, simulate

GRAPHS = 200
GROUPS = 10
groups = pytest.mark.parametrize("group", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, GROUPS))])
"""Every tenth graph, from the first on in each run."""


def widest_first(problem: RateProblem) -> list[str]:
    return [f.name for f in sorted(problem.fifos, key=lambda f: (-f.width_bits, f.name))]


@groups
def test_interval_latency_and_depths_equal_the_stepped_pipeline(group: int) -> None:
    for seed in range(group, GRAPHS, GROUPS):
        problem = random_problem(seed).single_steps()
        sized = size(problem)
        assert sized.smallest
        seen = simulate(problem, sized.depths)
        assert seen.interval_cycles == sized.interval_cycles == max(a.cycles for a in problem.actors)
        assert (seen.first_word_cycles, seen.first_frame_cycles) == first_frame(problem, sized.depths)


@groups
def test_one_word_less_loses_the_rate(group: int) -> None:
    binding = 0
    for seed in range(group, GRAPHS, GROUPS):
        problem = random_problem(seed).single_steps()
        sized = size(problem)
        for fifo, depth in sized.depths.items():
            if depth > 1:
                binding += 1
                less = {**sized.depths, fifo: depth - 1}
                seen = simulate(problem, less).interval_cycles
                assert seen > sized.interval_cycles
                stopped = blocked(problem, less)
                interval = None if stopped else run_self_timed(FifoGraph(problem), less).interval_cycles
                assert seen == (DEADLOCK if stopped else interval)
    assert binding > GRAPHS // GROUPS


@groups
def test_no_depths_of_narrower_fifos_would_allow_a_wide_one_to_be_smaller(group: int) -> None:
    for seed in range(group, GRAPHS // 2, GROUPS):
        problem = random_problem(seed).single_steps()
        sized, graph = size(problem), FifoGraph(problem)
        chosen = {fifo.name: graph.ample(place) for place, fifo in enumerate(problem.fifos)}
        for name in widest_first(problem):
            chosen[name] = sized.depths[name]
            if chosen[name] > 1:
                assert simulate(problem, {**chosen, name: chosen[name] - 1}).interval_cycles > sized.interval_cycles


@groups
def test_depths_of_longer_bursts_and_of_one_schedule_keep_the_rate(group: int) -> None:
    bits = {"smallest": 0, "schedule": 0, "bursts": 0}
    for seed in range(group, GRAPHS, GROUPS):
        problem = random_problem(seed)
        fine = problem.single_steps()
        wide = {fifo.name: fifo.width_bits for fifo in problem.fifos}
        sizings = {
            "smallest": size(fine),
            "schedule": size(fine, most_bursts=0),
            "bursts": size(problem, most_bursts=0),
        }
        for way, sized in sizings.items():
            assert simulate(fine, sized.depths).interval_cycles == sized.interval_cycles
            bits[way] += sum(wide[name] * depth for name, depth in sized.depths.items())
    assert bits["smallest"] <= bits["schedule"] < 1.25 * bits["smallest"]
    assert bits["bursts"] < 1.5 * bits["smallest"]


@pytest.mark.parametrize("words", [1, 2, 3])
def test_cutting_bursts_moves_no_word(words: int) -> None:
    for seed in range(20):
        problem = random_problem(seed)
        cut = problem.with_bursts_of(words)
        assert all(m.counts.max() <= words for a in cut.actors for m in a.writes)
        depths = {fifo.name: 40 for fifo in problem.fifos}
        assert simulate(cut, depths) == simulate(problem, depths)
        assert cut.bursts >= problem.bursts
