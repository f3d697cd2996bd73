"""The judge knows copies of a network: a plan made by floorflow is legal, mistakes in it and in its links are found."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from floorflow.verify import check
from tests.conftest import made_once
from tests.plans import FAST, TFC
from tests.verify.mutants import COPIES
from tests.verify.planting import Mutant
from tests.verify.tiny import found_after, read_folder

COUNT = 5


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan of five copies on a card, two of them in one SLR."""

    def make(place: Path) -> Path:
        ff.plan(TFC, "alveo-u250", replicas=COUNT, **FAST).save(place / "out")
        return place / "out"

    return made_once(tmp_path_factory, "five_copies", make)


def test_the_plan_is_legal_and_says_what_all_copies_give(folder: Path) -> None:
    assert check(folder) == []
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    own, networks = plan["replicas"], plan["summary"]["networks"]
    assert own["copies"] == len(networks) == COUNT
    assert own["fps"] == pytest.approx(sum(network["fps"] for network in networks))
    assert own["fps"] <= own["bound_fps"]
    slots = [copy["slot"] for copy in own["placed"]]
    assert max(slots.count(slot) for slot in slots) == 2
    taken = [(item["name"], item["slot"]) for item in plan["platform"]["infrastructure"]]
    for slot in {*slots}:
        assert taken.count(("input_dma", slot)) == slots.count(slot)
        controllers = [name for name, where in taken if where == slot and name.endswith(" controller")]
        assert len(controllers) <= 1


def test_vectors_of_the_users_own_are_taken(folder: Path, tmp_path: Path) -> None:
    def other(_plan: Any, files: dict[str, str]) -> None:
        files["finn/build.yaml"] = re.sub(r"build/floorflow_(input|expected)", r"/data/\1", files["finn/build.yaml"])

    assert not found_after(other, *read_folder(folder), tmp_path)


@pytest.mark.parametrize("mutant", COPIES.mutants, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, folder: Path, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *read_folder(folder), tmp_path)
