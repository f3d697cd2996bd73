"""Assignments said to be optimal equal the best of all; failures said to be proven are true."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, partition
from tests.partition.problems import best_of_all, everything, problems


@given(problems(), st.sampled_from(["auto", "exact"]))
def test_exact_cost_equals_brute_force(problem: PartitionProblem, method: str) -> None:
    expected = best_of_all(problem, everything(problem))
    answer = partition(problem, method)
    if expected is None:
        assert isinstance(answer, PartitionFailure)
        assert answer.proven
    else:
        assert isinstance(answer, PartitionSolution)
        assert problem.is_legal(answer.slot_of)
        assert problem.cost(answer.slot_of) == expected == answer.stats.bound == answer.stats.objective
        assert answer.stats.status == "optimal"
