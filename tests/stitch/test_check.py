"""What `check` says of stitched plans: nothing of those that plan wrote, and the name of each planted mistake."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorflow.verify import check
from floorflow.verify.facts import PhaseFacts, phases_of
from floorflow.verify.files import Folder
from floorflow.verify.rules import platform
from floorflow.verify.rules.stitched import check_stitched
from floorflow.verify.verify import judge_of
from floorflow.verify.violations import Findings
from tests.conftest import Planned
from tests.plans import PLANS
from tests.stitch.planted import MISTAKES, Edit

Judged = Callable[[Mapping[str, Edit]], set[str]]


@pytest.fixture(scope="module")
def cnv(planned: Planned) -> Path:
    return planned(PLANS["CNV stitched over several SLRs"])


@pytest.fixture(scope="module")
def judged(cnv: Path) -> Judged:
    """The names that the rule finds once some files are edited."""
    plan: Any = json.loads((cnv / "plan.json").read_text())
    folder, findings = Folder(cnv), Findings()
    boards = platform.load_boards(folder, plan, findings)
    (phase,) = phases_of(plan, boards, judge_of(plan["options"], findings), findings)

    def found(edits: Mapping[str, Edit]) -> set[str]:
        known: dict[str, bytes | None] = {name: edit((cnv / name).read_text()).encode() for name, edit in edits.items()}
        own: PhaseFacts = replace(phase, findings=Findings())
        check_stitched(Folder(cnv, known), plan, own, boards)
        return {violation.name for violation in own.findings.told()}

    return found


def test_a_stitched_plan_is_legal(cnv: Path) -> None:
    assert check(cnv) == []


@pytest.mark.parametrize(("expected", "file", "edit"), MISTAKES.values(), ids=MISTAKES)
def test_a_planted_mistake_is_found(judged: Judged, expected: str, file: str, edit: Edit) -> None:
    assert expected in judged({file: edit})


def test_the_rule_finds_nothing_where_nothing_is_planted(judged: Judged) -> None:
    assert judged({}) == set()


def test_a_missing_file_and_a_left_over_are_told(cnv: Path, planned: Planned, tmp_path: Path) -> None:
    shutil.copytree(cnv, tmp_path / "out")
    (tmp_path / "out/fpga0/top/assemble.tcl").unlink()
    assert {violation.name for violation in check(tmp_path / "out")} == {"file-missing"}
    other = tmp_path / "other"
    shutil.copytree(planned(PLANS["TFC on a Kintex"]), other)
    shutil.copy(cnv / "cells.json", other)
    assert {violation.name for violation in check(other)} == {"stitch-names-differ"}
