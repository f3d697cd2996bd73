"""Area is a sixth resource: cells of the least rectangles keep a share of each slot's free cells."""

from dataclasses import replace

import pytest

from floorflow.errors import Refusal
from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, partition
from tests.partition.problems import chain


def with_cells(cells: int | None, free: tuple[int, ...], share: float = 1.0) -> PartitionProblem:
    """A chain of six modules for which two slots have resources enough each."""
    problem = chain(6, 10, [100] * len(free))
    rows = {name: (cells,) * len(free) for name in problem.demands}
    return replace(problem, cells=rows, free_cells=free, area_share=share)


@pytest.mark.parametrize("method", ["auto", "exact", "dp", "metis"])
def test_a_slot_without_area_left_sends_modules_on(method: str) -> None:
    problem = with_cells(10, (50, 50), 0.8)
    answer = partition(problem, method)
    assert isinstance(answer, PartitionSolution)
    assert problem.slot_cells(answer.slot_of) in {(40, 20), (20, 40), (30, 30)}
    assert set(partition(replace(problem, cells={}), method).slot_of.values()) == {0}  # type: ignore[union-attr]


def test_cells_may_differ_from_slot_to_slot() -> None:
    problem = with_cells(10, (50, 50))
    rows: dict[str, tuple[int | None, ...]] = {"m0": (None, 10), "m1": (None, 10)}
    answer = partition(replace(problem, cells={**problem.cells, **rows}))
    assert isinstance(answer, PartitionSolution)
    assert {answer.slot_of["m0"], answer.slot_of["m1"]} == {1}


@pytest.mark.parametrize("method", ["auto", "exact", "dp", "metis"])
def test_a_module_without_a_rectangle_is_named(method: str) -> None:
    alone = Refusal("module without rectangle", "cells", proven=True, names=("m0",))
    assert partition(with_cells(None, (50, 50)), method) == PartitionFailure((alone,))
    assert str(alone) == "no rectangle of any slot holds module m0"


def test_a_module_larger_than_the_share_of_a_slot_is_named() -> None:
    answer = partition(with_cells(45, (50, 40), 0.8))
    large = Refusal("module too large", "cells", "SLR0", 45, 40, proven=True, names=("m0",))
    assert answer == PartitionFailure((large,))


def test_cells_that_all_slots_together_lack_are_given() -> None:
    answer = partition(with_cells(20, (50, 50)))
    assert answer == PartitionFailure((Refusal("slots together", "cells", "", 120, 100, proven=True),))
    assert str(answer) == "cells: 120 needed, all slots together allow 100"


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_rectangles_that_cannot_be_shared_out_are_said(method: str) -> None:
    answer = partition(with_cells(16, (50, 47)), method)
    assert isinstance(answer, PartitionFailure)
    assert answer.refusals == (Refusal("area of each slot", "cells", proven=True),)
    assert answer.proven


def test_rows_of_another_length_than_the_slots_are_refused() -> None:
    with pytest.raises(ValueError, match="each slot"):
        replace(with_cells(10, (50, 50)), free_cells=(50,))
