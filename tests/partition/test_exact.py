"""Assignments said to be optimal equal the best of all; failures said to be proven are true."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.partition import METHODS, PartitionFailure, PartitionProblem, PartitionSolution, partition
from floorflow.partition.problem import LIMITS
from tests.partition.problems import best_of_all, everything, problems, wished


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


@given(wished(), st.sampled_from(sorted(METHODS)), st.booleans())
def test_every_method_keeps_what_is_wished(problem: PartitionProblem, method: str, tries_all: bool) -> None:
    # A limit on sizes below all problems sends small ones the way of the large ones.
    effort = LIMITS["default"] if tries_all else replace(LIMITS["default"], small=-1)
    expected, answer = best_of_all(problem, everything(problem)), partition(problem, method, effort)
    if isinstance(answer, PartitionFailure):
        assert not answer.proven or expected is None
        assert method in {"dp", "metis", "plain-metis"} or expected is None
        return
    assert problem.is_legal(answer.slot_of)
    assert expected is not None
    assert problem.cost(answer.slot_of) == answer.stats.objective
    assert expected <= answer.stats.objective
    assert answer.stats.bound is None or answer.stats.bound <= expected
    if answer.stats.status == "optimal":
        assert answer.stats.objective == expected


@pytest.mark.slow
@settings(max_examples=200)
@given(wished(), st.sampled_from(["auto", "exact", "cuts"]))
def test_what_is_wished_costs_what_it_must(problem: PartitionProblem, method: str) -> None:
    expected, answer = best_of_all(problem, everything(problem)), partition(problem, method)
    assert isinstance(answer, PartitionFailure) == (expected is None)
    assert isinstance(answer, PartitionFailure) or answer.stats.bound == answer.stats.objective == expected
