"""The memo of a run tells questions apart by all fields of their problems, those that nobody has thought of yet too."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from floorflow.folding import FoldingProblem
from floorflow.partition import PartitionProblem
from floorflow.placement import PlacementProblem
from floorflow.resources import Resources
from floorflow.stats import Memo, content
from tests.folding.test_exact import option, problem_of
from tests.partition.problems import chain as partition_chain
from tests.placement.small import chain as placement_chain
from tests.placement.small import device

DIE = device("CCCC", 2)


def folding() -> FoldingProblem:
    return problem_of([[option(4, 10), option(2, 30)], [option(4, 5)]], Resources(lut=60))


def placing() -> PlacementProblem:
    return placement_chain(DIE, [Resources(lut=8), Resources(lut=16)], fill={"LUT": 0.9})


def partitioning() -> PartitionProblem:
    return partition_chain(4, 10, [40, 40])


PROBLEMS = {"folding": folding, "placement": placing, "partition": partitioning}


def with_one_more_field(problem: Any, value: int) -> Any:
    """Return the problem as one of a class that asks for something that no caller knows of yet."""

    @dataclass(frozen=True)
    class Asked(type(problem)):  # type: ignore[misc]
        wish: int = 0

    known = {name: getattr(problem, name) for name in problem.__dataclass_fields__}
    return Asked, Asked(**known, wish=value)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_field_that_is_added_to_a_problem_tells_questions_apart(name: str) -> None:
    kind, first = with_one_more_field(PROBLEMS[name](), 0)
    memo = Memo()
    assert memo.once(lambda: "none", first) == "none"
    assert memo.once(lambda: "one", replace(first, wish=1)) == "one"
    assert memo.once(lambda: "again", kind(**{f: getattr(first, f) for f in first.__dataclass_fields__})) == "none"
    assert memo.once(lambda: "without", PROBLEMS[name]()) == "without"
    assert (memo.solved, memo.repeated) == (3, 1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_equal_problems_are_one_question(name: str) -> None:
    assert content(PROBLEMS[name]()) == content(PROBLEMS[name]())


@pytest.mark.parametrize(
    ("problem", "change"),
    [
        (placing(), {"reach_tiles": 3.0}),
        (placing(), {"fill": {"LUT": 0.8}}),
        (placing(), {"max_aspect": None}),
        (placing(), {"device": device("CCCC", 2)}),
        (partitioning(), {"barred": {"m0": frozenset({1})}}),
        (partitioning(), {"demands": dict(reversed(partitioning().demands.items()))}),
        (folding(), {"minimised": "LUT"}),
    ],
)
def test_problems_that_differ_in_a_field_are_two(problem: Any, change: dict[str, Any]) -> None:
    assert content(problem) != content(replace(problem, **change))


def test_what_is_left_out_of_a_comparison_is_no_part_of_the_question() -> None:
    @dataclass(frozen=True)
    class Problem:
        amounts: Any
        notes: list[str] = field(default_factory=list, compare=False)

    assert content(Problem(np.arange(3))) == content(Problem(np.arange(3), ["seen"]))
    assert content(Problem(np.arange(3))) != content(Problem(np.arange(3.0)))
    assert content(Problem([1, {"a": [2]}])) != content(Problem([1, {"a": [3]}]))


def test_what_has_neither_a_hash_nor_parts_is_equal_to_itself_alone() -> None:
    class Open:
        __hash__ = None  # type: ignore[assignment]

    one, other = Open(), Open()
    assert content([one]) == content([one]) != content([other])
