"""An FPGA that got no module: its files run to the end, its pictures are drawn, and check finds the plan legal."""

from pathlib import Path

import pytest

from floorflow.facts import read_plan
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import TFC
from tests.tools import need_tcl


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cap = dict.fromkeys(RESOURCE_NAMES, 1.0)
    request = Request(
        TFC, "xcku5p", fpgas=2, effort="fast", costs="estimated", cap=cap, fps=100_000, constraint_style="hard"
    )
    return make_plan(tmp_path_factory.mktemp("spare") / "out", request)


@pytest.fixture
def empty(out: Path) -> str:
    floorplans = read_plan(out / "plan.json").phases[0].floorplan
    (name,) = [name for name, floorplan in floorplans.items() if not floorplan.pblocks]
    return name


def test_the_plan_is_legal(out: Path) -> None:
    assert check(out) == []


def test_every_fpga_has_its_pictures(out: Path, empty: str) -> None:
    for name in (f"floorplan_{empty}", "floorplan"):
        assert (out / "plots" / f"{name}.png").stat().st_size > 10_000


def test_its_scripts_run_to_the_end(out: Path, empty: str) -> None:
    need_tcl()
    from tests.vivado_model import run_outputs

    device = out / "platform" / "devices" / "xcku5p.yaml"
    assert [model.pblocks for model in run_outputs(out, empty, [], device, {}).values()] == [{}]
    assert (out / empty / "pblocks.unbound.tcl").read_text().endswith("floorflow::end -pblocks 0 -assigned 0\n")


def test_the_report_says_so_and_what_it_means(out: Path, empty: str) -> None:
    text = (out / "report.txt").read_text()
    assert f"placement of {empty}  empty" in text
    assert f"{empty} holds no module: --fpgas 1 should give the same rate" in text
