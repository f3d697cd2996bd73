"""`check` finds what is wrong in a plan of the toy back end, by the toy's own part of the judge."""

import ast
import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from floorflow.verify import check
from tests.backends.toy.mutants import BUILD, MUTANTS
from tests.backends.toy.toolbox import TOY
from tests.verify.planting import Mutant

CHANGED = (BUILD, "fpga0/pblocks.xdc")


@pytest.fixture(scope="module")
def legal(on_u250: Path) -> tuple[dict[str, Any], dict[str, str]]:
    files = {name: (on_u250 / name).read_text() for name in CHANGED}
    return json.loads((on_u250 / "plan.json").read_text()), files


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.title)
def test_it_is_found(mutant: Mutant, legal: tuple[Any, Any], on_u250: Path, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal)
    mutant.spoil(plan, files)
    assert (plan, files) != legal
    shutil.copytree(on_u250, tmp_path / "out", ignore=shutil.ignore_patterns("plots"))
    (tmp_path / "out" / "plan.json").write_text(json.dumps(plan))
    for name, text in files.items():
        (tmp_path / "out" / name).unlink()
        if text is not None:
            (tmp_path / "out" / name).write_text(text)
    assert mutant.expected in {violation.name for violation in check(tmp_path / "out")}


@pytest.mark.usefixtures("installed")
def test_the_plan_itself_is_legal(on_u250: Path) -> None:
    assert [*check(on_u250)] == []


def test_its_part_of_the_judge_imports_nothing_of_floorflow() -> None:
    tree = ast.parse((TOY / "toykit" / "judge.py").read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"fractions", "math", "typing"}
