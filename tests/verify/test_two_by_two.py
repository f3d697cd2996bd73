"""The plan of two networks and two phases is legal and can be read; every mistake planted in it is found."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from floorflow import facts
from floorflow.emit.bundle import emit
from floorflow.hardware import load_platform
from floorflow.plugins import backend_object
from floorflow.verify import check, judge
from tests.verify.mutants import ACROSS, Mutant
from tests.verify.planting import Files, Plan
from tests.verify.tiny import found_after, write_folder
from tests.verify.two_by_two import two_by_two, write_two_by_two


@cache
def legal() -> tuple[Plan, Files]:
    return two_by_two()


def test_the_plan_is_legal_and_all_of_it_is_judged(tmp_path: Path) -> None:
    verdict = judge(write_two_by_two(tmp_path))
    assert verdict.violations == []
    counted = {key: verdict.checked[key] for key in ("networks", "phases", "engines", "channels", "constraint_files")}
    assert counted == {"networks": 2, "phases": 2, "engines": 8, "channels": 13, "constraint_files": 4}


def test_the_plan_can_be_read(tmp_path: Path) -> None:
    plan = facts.read_plan(write_two_by_two(tmp_path) / "plan.json")
    assert [phase.name for phase in plan.phases] == ["p0", "p1"]
    assert plan.phase_folder(1) == "phases/p1/"


@pytest.mark.parametrize("mutant", ACROSS, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *legal(), tmp_path)


def test_there_are_many_mistakes_each_with_its_title() -> None:
    assert len(ACROSS) >= 30
    assert max(Counter(mutant.title for mutant in ACROSS).values()) == 1


def test_the_files_that_floorflow_emits_of_the_plan_are_legal(tmp_path: Path) -> None:
    plan, files = legal()
    platform = {name: text for name, text in files.items() if name.startswith("platform/")}
    emitted = emit(facts.Plan.model_validate(plan), load_platform("alveo-u250"), backend_object("finn"), "0" * 64)
    bound = {name for name in files if name.endswith(("bound.json", "pblocks.tcl", "pblocks.xdc"))}
    assert {*files} - {*platform} - bound <= {*emitted}
    assert check(write_folder(tmp_path, plan, {**platform, **emitted})) == []
