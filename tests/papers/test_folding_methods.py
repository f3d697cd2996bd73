"""Every folding method keeps its promises, and where something is proven, they agree."""

from dataclasses import replace
from itertools import pairwise
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.roles import described
from floorflow.dataflow.model import Dataflow, Engine, Option, Stream
from floorflow.dataflow.options import OptionGroup
from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.balance import Balance, layer_pairs
from floorflow.folding.methods import METHODS
from floorflow.folding.methods.exact import solve as exact
from floorflow.folding.selection import Evaluator
from floorflow.papers.coarse_grained.folding.cpsat import solve as cpsat
from floorflow.papers.samo.folding.brute import combinations
from floorflow.papers.samo.folding.brute import solve as brute
from floorflow.resources import Resources, scarcity
from tests.folding.test_exact import SILICON, coupled_problems, least_coupled, option, problem_of

HEURISTICS = ("rule", "annealing")


def shortest(problem: FoldingProblem) -> int | None:
    return next((i for i in problem.intervals() if least_coupled(problem, i) is not None), None)


@given(coupled_problems(), st.integers(1, 8))
@pytest.mark.parametrize("name", ["exact", "brute", "cpsat"])
def test_proving_methods_find_the_least_scarcity(name: str, problem: FoldingProblem, interval: int) -> None:
    expected, answer = least_coupled(problem, interval), METHODS[name](problem, interval)
    if expected is None:
        assert isinstance(answer, FoldingInfeasible)
        return
    assert isinstance(answer, FoldingSolution)
    assert (answer.stats.status, answer.interval_cycles <= interval) == ("optimal", True)
    assert answer.stats.objective == pytest.approx(expected)
    assert answer.stats.bound == pytest.approx(expected)
    assert scarcity(answer.resources, SILICON) == pytest.approx(expected)


@given(coupled_problems())
@pytest.mark.parametrize("name", ["exact", "brute", "cpsat"])
def test_proving_methods_find_the_shortest_interval(name: str, problem: FoldingProblem) -> None:
    expected, answer = shortest(problem), METHODS[name](problem)
    if expected is None:
        assert isinstance(answer, FoldingInfeasible)
        return
    assert isinstance(answer, FoldingSolution)
    assert answer.interval_cycles == expected
    assert answer.stats.objective == pytest.approx(least_coupled(problem, expected))


@given(coupled_problems(), st.one_of(st.none(), st.integers(1, 8)))
@pytest.mark.parametrize("name", HEURISTICS)
def test_heuristics_keep_interval_and_budget_and_claim_no_proof(
    name: str, problem: FoldingProblem, interval: int | None
) -> None:
    answer = METHODS[name](problem, interval)
    if isinstance(answer, FoldingInfeasible):
        # What they may say is that a group is too slow at every row.
        assert interval is not None
        assert not all(rows.size for rows in problem.rows_within(interval))
    elif isinstance(answer, FoldingSolution):
        best = least_coupled(problem, answer.interval_cycles)
        assert answer.resources.fits(problem.budget)
        assert answer.stats.status == "heuristic"
        assert answer.stats.bound is None
        assert best is not None
        assert answer.stats.objective >= best - 1e-12
        assert interval is None or answer.interval_cycles <= interval
    else:
        assert isinstance(answer, FoldingUnknown)


def ladder(count: int, rows: int) -> FoldingProblem:
    """Engines that halve their cycles for twice the LUTs."""
    options = [[option(2 ** (rows - r), 2**r * (engine + 1)) for r in range(rows)] for engine in range(count)]
    return problem_of(options, Resources(lut=700))


@pytest.mark.parametrize("name", HEURISTICS)
def test_heuristics_solve_what_is_easy(name: str) -> None:
    problem = ladder(5, 6)
    best = exact(problem)
    answer = METHODS[name](problem)
    assert isinstance(answer, FoldingSolution)
    assert isinstance(best, FoldingSolution)
    assert answer.interval_cycles == best.interval_cycles
    at_eight = METHODS[name](problem, 8)
    assert isinstance(at_eight, FoldingSolution)
    assert at_eight.resources == Resources(lut=8 * (1 + 2 + 3 + 4 + 5))


def test_brute_force_goes_to_a_million_combinations_and_no_further() -> None:
    million = problem_of([[option(10 - r, r * r + 1) for r in range(10)] for _ in range(6)], Resources(lut=300))
    assert combinations(million) == 10**6
    found, proven = brute(million), exact(million)
    assert isinstance(found, FoldingSolution)
    assert isinstance(proven, FoldingSolution)
    assert (found.interval_cycles, found.stats.objective) == (proven.interval_cycles, proven.stats.objective)
    more = replace(million, groups=(*million.groups, OptionGroup(("last",), ((option(1, 0),), (option(1, 1),)))))
    assert isinstance(brute(more), FoldingUnknown)


def test_equal_seeds_give_equal_answers() -> None:
    problem = ladder(6, 7)
    first, again = (METHODS["annealing"](problem, None, 3) for _ in range(2))
    assert first == again


def test_the_rule_repairs_a_start_that_exceeds_the_budget() -> None:
    """Unfolded, the first engine's memory is too deep."""
    deep = [option(8, 1, 0, 60), option(4, 5, 0, 2), option(2, 20, 0, 1)]
    answer = METHODS["rule"](problem_of([deep, [option(4, 3), option(2, 9)]], Resources(lut=100, bram18=10)), 4)
    assert isinstance(answer, FoldingSolution)
    assert answer.resources == Resources(lut=23, bram18=1)


def test_what_a_selection_uses_adds_up_with_streams() -> None:
    problem = ladder(3, 3)
    evaluator = Evaluator(problem)
    assert evaluator.use([0, 1, 2]).tolist() == [1 + 4 + 12, 0, 0, 0, 0]


# The coarse-grained floorplanning paper: layers of P x S multipliers, P a divisor of the output channels, S of the
# kernel's size times the input channels, both at most 64.
CNV = ((900, 27, 64), (784, 576, 64), (144, 576, 128), (100, 1152, 128), (9, 1152, 256), (1, 2304, 256))
CNV = (*CNV, (1, 256, 512), (1, 512, 512))
"""Output pixels, inputs of a neuron, neurons; the last layer, to 10 classes, is left out, as nothing balances it."""


def divisors(number: int) -> list[int]:
    return [n for n in range(1, 65) if number % n == 0]


def paper_layer(pixels: int, inputs: int, neurons: int) -> list[Option]:
    units = sorted({pixels * (inputs // s) * (neurons // p) for s in divisors(inputs) for p in divisors(neurons)})
    return [option(cycles, pixels * inputs * neurons // cycles // 64) for cycles in units]


def balanced(problem: FoldingProblem, balance: Balance) -> FoldingProblem:
    return replace(problem, couplings=(*problem.couplings, *balance.bars(problem.groups)))


@pytest.mark.parametrize(("epsilon", "cycles"), [(None, 7056), (0.5, 7056), (0.34, 7056), (0.25, 7200), (0.15, 10800)])
def test_balanced_rates_cost_what_they_do_in_the_papers_model(epsilon: float | None, cycles: int) -> None:
    problem = paper_cnv()
    pairs = tuple((f"e{i}", f"e{i + 1}") for i in range(len(CNV) - 1))
    answer = cpsat(balanced(problem, Balance() if epsilon is None else Balance(pairs, epsilon)))
    assert isinstance(answer, FoldingSolution)
    assert answer.interval_cycles == cycles
    if epsilon is not None:
        chain = [answer.options[f"e{i}"].cycles for i in range(len(CNV))]
        assert all(abs(a - b) <= epsilon * min(a, b) for a, b in pairwise(chain))


def test_no_folding_of_cnv_is_balanced_to_a_tenth() -> None:
    pairs = tuple((f"e{i}", f"e{i + 1}") for i in range(len(CNV) - 1))
    assert cpsat(balanced(paper_cnv(), Balance(pairs, 0.1))) == FoldingInfeasible(None)


def paper_cnv() -> FoldingProblem:
    return problem_of([paper_layer(*layer) for layer in CNV], Resources(lut=10**6))


def test_equally_scarce_foldings_are_told_apart_by_total_cycles() -> None:
    lazy = [option(8, 5), option(3, 5)]
    any_ratio = Balance((("e0", "e1"),), 1000.0)
    answer = cpsat(balanced(problem_of([lazy, [option(8, 1)]], Resources(lut=100)), any_ratio))
    assert isinstance(answer, FoldingSolution)
    assert answer.options["e0"].cycles == 3


def test_layers_follow_each_other_through_windows_pools_and_forks() -> None:
    kinds = ("MVAU_hls", "Thresholding_rtl", "DuplicateStreams_hls", "ConvolutionInputGenerator_rtl", "VVAU_hls")
    kinds = (*kinds, "AddStreams_hls", "MVAU_rtl")
    ends = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 5), (5, 6))
    names = [f"{kind}_{i}" for i, kind in enumerate(kinds)]
    engines = tuple(described(Engine(n, k, n, {}, 4 * ("V" in k), 0, 0)) for n, k in zip(names, kinds, strict=True))
    streams = tuple(Stream(names[a], 0, names[b], 0, 1, 1, 1) for a, b in ends)
    first, depthwise, last = names[0], names[4], names[6]
    assert sorted(layer_pairs(Dataflow("net", engines, streams))) == sorted(
        [(first, depthwise), (first, last), (depthwise, last)]
    )


def test_combinations_count_only_rows_that_are_fast_enough() -> None:
    problem = ladder(3, 4)
    assert combinations(problem) == prod([4, 4, 4])
    assert combinations(problem, 4) == prod([2, 2, 2])
