"""The judge knows what several networks were to reach: a plan made by floorflow is legal, mistakes in it are found."""

import json
from pathlib import Path

import pytest

from floorflow.verify import check
from tests.conftest import made_once
from tests.several_models import planned
from tests.verify.mutants import TARGETS
from tests.verify.planting import Mutant
from tests.verify.tiny import found_after, read_folder


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan of two equal networks of which one asks for more than both can have."""

    def make(place: Path) -> Path:
        asked = {"left": 1_000_000.0, "right": 20_000_000.0}
        made = planned(place / "models", "left", "right", fps=asked, cap={"LUT": 0.4})
        made.save(place / "out")
        return place / "out"

    return made_once(tmp_path_factory, "two_targets", make)


def test_the_plan_is_legal_and_says_who_gets_how_much(folder: Path) -> None:
    assert check(folder) == []
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    left, right = plan["targets"]["networks"]
    assert right["share"] < 0.5
    assert right["starved"] is True
    assert left["share"] >= right["share"]
    assert any(line.startswith("starved: ") and "right" in line for line in plan["warnings"])
    assert plan["options"]["rates"] == {"left": 1_000_000.0, "right": 20_000_000.0}


@pytest.mark.parametrize("mutant", TARGETS.mutants, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, folder: Path, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *read_folder(folder), tmp_path)
