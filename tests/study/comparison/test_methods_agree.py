"""On real networks the exact folding equals brute force, where that can be had, and the monolithic model elsewhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from floorflow.backends.finn.options import CostModelName
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.folding import FoldingProblem, FoldingSolution
from floorflow.folding.methods import METHODS
from floorflow.papers.samo.folding.brute import combinations
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare
from tests.plans import EXAMPLES
from tests.study.recorded import recorded_networks
from tests.study.reference import reference_of

BOARDS = {
    "tfc_1w1a": "pynq-z1",
    "cnv_2w2a": "pynq-z1",
    "mobilenet_v1_w4a4": "alveo-u250",
    "resnet50_w1a2": "alveo-u250",
}


COMBINATIONS = 20_000


@pytest.mark.parametrize("counted", ["engines", "streams"])
@pytest.mark.parametrize("name", sorted(recorded_networks()))
def test_exact_equals_brute_force_wherever_that_can_be_had(name: str, counted: str) -> None:
    """Whole networks at short intervals, and pieces of all: as many neighbours as make 20,000 combinations."""
    network = recorded_networks()[name]
    problem = reference_of(network.dataflow, network.rows[-1], counted=counted).problem
    intervals = problem.intervals()
    tried = 0
    for interval in (intervals[0], intervals[len(intervals) // 2]):
        for first in range(0, len(problem.groups), 1 + len(problem.groups) // 2):
            part = piece(problem, first, interval)
            agree(part, interval, "brute")
            tried += 1
    assert tried >= 4


def piece(problem: FoldingProblem, first: int, interval: int) -> FoldingProblem:
    """Return consecutive groups from ``first`` on with the streams between them."""
    for last in range(len(problem.groups), first, -1):
        inside = [c for c in problem.couplings if first <= min(c.source, c.target) and max(c.source, c.target) < last]
        streams = tuple(replace(c, source=c.source - first, target=c.target - first) for c in inside)
        part = replace(problem, groups=problem.groups[first:last], couplings=streams)
        if combinations(part, interval) <= COMBINATIONS:
            break
    return part


def agree(problem: FoldingProblem, interval: int | None, method: str) -> None:
    exact, other = METHODS["exact"](problem, interval), METHODS[method](problem, interval)
    assert isinstance(exact, FoldingSolution)
    assert isinstance(other, FoldingSolution)
    assert (exact.stats.status, other.stats.status) == ("optimal", "optimal")
    assert exact.stats.objective == pytest.approx(other.stats.objective)
    if interval is None:
        assert exact.interval_cycles == other.interval_cycles


def example(name: str, costs: CostModelName) -> FoldingProblem:
    request = Request(Path(EXAMPLES / f"{name}.onnx"), BOARDS[name], costs=costs)
    return prepare(read_source(request.model), request, 1).problem


def test_the_monolithic_model_agrees() -> None:
    agree(example("tfc_1w1a", "finn"), None, "cpsat")


@pytest.mark.slow
@pytest.mark.parametrize("costs", ["finn", "estimated"])
@pytest.mark.parametrize("name", sorted(BOARDS))
def test_the_monolithic_model_agrees_on_all_examples(name: str, costs: CostModelName) -> None:
    """At twice the shortest interval; where CP-SAT stops at its limit (ResNet-50), its bounds hold the optimum."""
    problem = example(name, costs)
    shortest = METHODS["exact"](problem)
    assert isinstance(shortest, FoldingSolution)
    exact, other = (METHODS[method](problem, 2 * shortest.interval_cycles) for method in ("exact", "cpsat"))
    assert isinstance(exact, FoldingSolution)
    assert isinstance(other, FoldingSolution)
    assert other.stats.bound - 1e-9 <= exact.stats.objective <= other.stats.objective + 1e-9
    assert other.stats.objective == pytest.approx(
        exact.stats.objective, rel=1e-9 if other.stats.status == "optimal" else 0.01
    )
