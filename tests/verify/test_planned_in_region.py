"""A plan whose phases lie in a region is legal as a whole, files included, and mistakes in these are found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorflow.hardware import load_platform
from floorflow.schema import Plan, read_plan
from floorflow.verify import check
from floorflow.view.pictures.floorplan import floorplan
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
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "region r0" in texts
    assert any("reconfigurable region" in text for text in texts)


Spoil = Callable[[dict[str, Any]], None]


def chunks(change: Spoil) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        path = out / "host" / "chunks.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def script(old: str, new: str) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        path = out / "dfx" / "dfx.tcl"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return spoil


def moved_pblock(out: Path) -> None:
    path = out / "phases" / "p0" / "fpga0" / "pblocks.unbound.tcl"
    path.write_text(path.read_text().replace("-parent {pblock_region_r0} \\\n    ", ""))


MISTAKES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "another cell": ("wrong-region-script", script("{top_i/r0}", "{top_i/r1}")),
    "another range": ("wrong-region-script", script("Y149", "Y99")),
    "no reset": ("wrong-region-script", script("reset TRUE", "reset FALSE")),
    "another part": ("wrong-region-script", script("xc7z020clg400-1", "xc7z010clg400-1")),
    "a phase not implemented": ("wrong-region-script", script("{r0} {p1}", "{r0} {p0}")),
    "no script": ("file-missing", lambda out: (out / "dfx" / "dfx.tcl").unlink()),
    "no chunks": ("file-missing", lambda out: (out / "host" / "chunks.json").unlink()),
    "two buffers at one place": ("wrong-chunks", chunks(lambda c: [b.update(offset=0) for b in c["buffers"]] and None)),
    "a shorter buffer": ("wrong-chunks", chunks(lambda c: c["buffers"][0].update(bytes=1))),
    "another writer": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(written_by=["p1"]))),
    "not packed anew": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(packed_from=None))),
    "released too early": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(last_step=0))),
    "less memory": ("wrong-chunks", chunks(lambda c: c.update(memory_bytes=1))),
    "another order": ("wrong-chunks", chunks(lambda c: c["steps"].reverse())),
    "a step less": ("wrong-chunks", chunks(lambda c: c["steps"].pop())),
    "another reference": ("wrong-chunks", chunks(lambda c: c.update(reference={"r0": "p1"}))),
    "a buffer twice": ("wrong-chunks", chunks(lambda c: c["buffers"].append(c["buffers"][0]))),
    "no batch": ("wrong-chunks", chunks(lambda c: c.pop("batch"))),
    "no parent": ("pblock-parent", moved_pblock),
}


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
