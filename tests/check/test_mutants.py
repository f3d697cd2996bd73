"""Every planted mistake is found, under its name."""

from __future__ import annotations

import copy
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from floorflow.check import VIOLATIONS, check
from tests.check.mutants import MUTANTS, Files, Mutant, NotApplicable, Plan
from tests.check.tiny import tiny_plan, write_folder

BOARDS = ("xcku5p", "alveo-u250")
NEEDS_TWO_SLRS = {
    *("crossing_not_listed", "crossing_rate_understated", "crossing_registers_forgotten"),
    *("more_wires_than_the_boundary_has", "boundary_with_invented_wires", "corner_in_a_laguna_hole"),
    *("pblock_on_the_shell", "slot_changed_in_the_pblock_only", "parent_forgotten", "one_partition_in_two_slrs"),
    *("slr_changed_in_the_plan_but_not_in_the_constraints", "crossing_listed_twice"),
}


@cache
def legal(board: str) -> tuple[Plan, Files]:
    return tiny_plan(board)


def board_for(mutant: Mutant) -> str:
    return "alveo-u250" if mutant.title in NEEDS_TWO_SLRS else "xcku5p"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal(board_for(mutant)))
    mutant.spoil(plan, files)
    found = {violation.name for violation in check(write_folder(tmp_path, plan, files))}
    assert mutant.expected in found


def test_mutants_that_need_two_slrs_do_not_apply_to_one() -> None:
    for mutant in MUTANTS:
        if mutant.title in NEEDS_TWO_SLRS:
            with pytest.raises(NotApplicable):
                mutant.spoil(*copy.deepcopy(legal("xcku5p")))


def test_titles_are_unique_and_every_violation_has_a_mutant() -> None:
    assert max(Counter(mutant.title for mutant in MUTANTS).values()) == 1
    assert {mutant.expected for mutant in MUTANTS} == set(VIOLATIONS)
