"""Every planted mistake is found, under its name."""

import copy
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from floorflow.verify import VIOLATIONS
from floorflow.verify.finn.build import FINDINGS
from floorflow.verify.finn.judge import findings as finn_findings
from tests.stitch.planted import MISTAKES
from tests.verify.mutants import ACROSS, COPIES, MUTANTS, REGIONS, TARGETS, Files, Mutant, Plan
from tests.verify.mutants_files import slices_asked
from tests.verify.mutants_phases import AT_MEMORY, IN_REGION_FILES, IN_TIMELINES, RECONFIGURED
from tests.verify.planting import ANY_PLAN, JOIN, LINK_CORES, TWO_FPGAS, TWO_SLRS, NotApplicable
from tests.verify.tiny import found_after, tiny_plan

CASE_FOR = {
    ANY_PLAN: "xcku5p",
    TWO_SLRS: "alveo-u250",
    TWO_FPGAS: "two join",
    LINK_CORES: "two alveo-u250",
    JOIN: "join",
}

NOT_OF_FINN = {"resources-too-few", "names-unbound"}
"""What only other back ends report, whose judges state least resources (test_judge.py), or only beside a build."""


@cache
def legal(case: str) -> tuple[Plan, Files]:
    return tiny_plan(case)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *legal(CASE_FOR[mutant.needs]), tmp_path)


def test_slices_that_are_asked_and_told_are_no_mistake(tmp_path: Path) -> None:
    assert slices_asked(*copy.deepcopy(legal("alveo-u250")))
    assert "slices-at-boundaries-differ" not in found_after(slices_asked, *legal("alveo-u250"), tmp_path)


def test_mutants_with_needs_do_not_apply_where_these_are_not_met() -> None:
    for mutant in MUTANTS:
        if mutant.needs:
            with pytest.raises(NotApplicable):
                mutant.spoil(*copy.deepcopy(legal("xcku5p")))


def test_titles_are_unique_and_every_violation_has_a_mutant() -> None:
    assert max(Counter(mutant.title for mutant in MUTANTS).values()) == 1
    everywhere = (*MUTANTS, *ACROSS, *RECONFIGURED.mutants, *TARGETS.mutants, *COPIES.mutants, *REGIONS.mutants)
    at_memory = {mutant.expected for mutant in AT_MEMORY.mutants} & {*VIOLATIONS}  # others are of the back end alone
    assert {mutant.expected for mutant in everywhere} | at_memory | {
        expected for expected, _ in (*IN_REGION_FILES.values(), *IN_TIMELINES.values())
    } | {expected for expected, _, _ in MISTAKES.values()} | NOT_OF_FINN == {*VIOLATIONS, *finn_findings} - {*FINDINGS}
