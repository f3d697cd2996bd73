"""Problems that searches for plans met: proven optimal on one card, a first answer on two full ones."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from floorflow.errors import Refusal
from floorflow.partition import PartitionFailure, PartitionSolution, partition

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from partition import read_problem  # type: ignore[import-not-found]  # noqa: E402


@pytest.mark.parametrize(
    ("name", "max_hops", "cost"),
    [
        ("squeezenet_u250", None, 152),
        ("squeezenet_u250", 1, 152),
        ("mobilenet_v2_u250", None, 82),
        ("mobilenet_v2_u250", 1, 104),
        ("resnet18_w3a3_u250", 1, 410),
    ],
)
def test_networks_on_a_u250_are_proven(name: str, max_hops: int | None, cost: int) -> None:
    problem = replace(read_problem(BENCHMARKS / "data" / "partition" / f"{name}.json"), max_hops=max_hops)
    answer = partition(problem)
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
    assert (answer.stats.status, answer.stats.objective) == ("optimal", cost)


def test_what_no_assignment_of_one_hop_can_hold_is_proven_with_the_hops_that_it_takes() -> None:
    problem = read_problem(BENCHMARKS / "data" / "partition" / "resnet18_w3a3_u250_full.json")
    answer = partition(replace(problem, max_hops=1))
    assert isinstance(answer, PartitionFailure)
    assert answer.refusals == (Refusal("hops", "SLR boundaries", "", 2, 1, proven=True),)


@pytest.mark.parametrize("max_hops", [None, 1])
def test_two_full_cards_get_a_first_answer(max_hops: int | None) -> None:
    problem = replace(read_problem(BENCHMARKS / "data" / "partition" / "resnet50_2xu250.json"), max_hops=max_hops)
    answer = partition(problem, prove=False)
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
