"""A plan whose phases lie in a region is legal as a whole, files included, and mistakes in these are found."""

import json
import shutil
from pathlib import Path

import pytest

from floorflow.facts import Plan, read_plan
from floorflow.hardware import load_platform
from floorflow.verify import check
from floorflow.view.pictures.floorplan import floorplan
from tests.verify.mutants_phases import IN_REGION_FILES as MISTAKES
from tests.verify.planned_in_region import planned_in_region


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("region") / "out"
    planned_in_region(folder)
    return folder


@pytest.fixture(scope="module")
def plan(out: Path) -> Plan:
    return read_plan(out / "plan.json")


def test_the_plan_is_legal(out: Path, plan: Plan) -> None:
    assert len(plan.phases) == 2
    assert check(out) == []


def test_modules_are_children_of_the_regions_pblock(out: Path) -> None:
    text = (out / "phases" / "p1" / "fpga0" / "pblocks.unbound.tcl").read_text()
    assert text.count("-parent {pblock_region_r0}") == text.count("floorflow::pblock ")


def test_the_picture_shows_the_region_with_the_modules_inside(plan: Plan) -> None:
    figure = floorplan(json.loads(plan.to_json()), load_platform("pynq-z1", 1), "fpga0", 1)
    texts = [text.text for text in figure.texts]
    assert "region r0" in texts
    assert any("reconfigurable region" in text for text in texts)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_files_is_found(name: str, out: Path, tmp_path: Path) -> None:
    expected, spoil = MISTAKES[name]
    copy = tmp_path / "out"
    shutil.copytree(out, copy)
    spoil(copy)
    assert expected in {violation.name for violation in check(copy)}


def test_files_of_regions_are_a_left_over_in_a_plan_without_any(out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "out"
    shutil.copytree(out, copy)
    content = json.loads((copy / "plan.json").read_text())
    content["reconfigurable"] = None
    (copy / "plan.json").write_text(json.dumps(content))
    assert {"wrong-region-script", "wrong-chunks", "region-unknown"} <= {v.name for v in check(copy)}
