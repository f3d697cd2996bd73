"""Problems that searches for plans met: proven optimal on one card, a first answer on two full ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from floorflow.partition import PartitionSolution, partition

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from partition import read_problem  # type: ignore[import-not-found]  # noqa: E402


@pytest.mark.parametrize(
    ("name", "cost"), [("squeezenet_u250", 140), ("mobilenet_v2_u250", 64), ("resnet18_w3a3_u250", 320)]
)
def test_networks_on_a_u250_are_proven(name: str, cost: int) -> None:
    problem = read_problem(BENCHMARKS / "data" / "partition" / f"{name}.json")
    answer = partition(problem)
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
    assert (answer.stats.status, answer.stats.objective) == ("optimal", cost)


def test_two_full_cards_get_a_first_answer() -> None:
    problem = read_problem(BENCHMARKS / "data" / "partition" / "resnet50_2xu250.json")
    answer = partition(problem, prove=False)
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
