"""Bound constraint files pass the judge of anybody's floorplan alone, on the part and without the plan.

What it draws of them is what the plan's own picture shows.
"""

from pathlib import Path

import pytest

import floorflow as ff
from floorflow.api.checking_files import FloorplanVerdict
from floorflow.facts import read_plan
from floorflow.hardware.load import load_platform
from floorflow.verify.hardware.geometry import Device, Rectangle
from floorflow.view.box import Box
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.scene import read_scene
from tests.built_kernels import built, write
from tests.plans import EXAMPLES

PLANS = ("cnv_on_pynq", "branches_on_two_u250", "whole_slots_of_u250")
SHELL = "xilinx_u250_gen3x16_xdma_4_1_202210_1"
Cells = dict[int, int]
"""Rows, as a mask, by physical column."""


def bound(out: Path, folder: Path) -> Path:
    """Bind a plan to the kernels that FINN would make of it."""
    new = folder / "bound"
    ff.bind(out, write(built(read_plan(out / "plan.json")), folder / "build")).save(new)
    return new


def cells(boxes: tuple[Box, ...], die: Device) -> Cells:
    """Return what boxes cover of the columns with logic; of the others both pictures may show more or less."""
    found: Cells = {}
    for box in boxes:
        area = Rectangle(int(box.left), int(box.bottom), int(box.right) - 1, int(box.top) - 1)
        rows = die.rows_by_column(die.sites(area), free=False)
        for column, mask in rows.items():
            found[column] = found.get(column, 0) | mask
    return found


def judged(new: Path, fpga: str, part: str) -> FloorplanVerdict:
    return ff.check_floorplan(new / fpga / "pblocks.xdc", part=part)


def agree(out: Path, folder: Path) -> None:
    new = bound(out, folder)
    plan = read_plan(new / "plan.json")
    content = plan.model_dump(by_alias=True)
    assert ff.check(new).legal
    drawn = 0
    for fpga in plan.platform.fpgas:
        if not (new / fpga.name / "pblocks.xdc").exists():
            continue
        verdict = judged(new, fpga.name, fpga.part)
        assert {f.name for f in verdict.findings} <= {"reserved-touched"}, "controllers of channels that are not in use"
        assert verdict.legal
        assert verdict.shell == (SHELL if fpga.device == "xcu250" else None)
        die = verdict._judged.target.device
        scene = read_scene(content, fpga.name, 0)
        planned = {f"pblock_{m.name}": cells(m.boxes, die) for m in scene.modules if m.style in ("hard", "soft")}
        stated = {block.name: cells(block.boxes, die) for block in verdict.scene.pblocks}
        assert stated == planned
        drawn += len(stated)
        styles = {f"pblock_{m.name}": m.style for m in scene.modules if m.style in ("hard", "soft")}
        assert {block.name: block.style for block in verdict.scene.pblocks} == styles
    assert drawn, "no pblock was judged"


@pytest.mark.parametrize("name", PLANS)
def test_every_pblock_passes_alone_and_is_drawn_as_in_the_plan(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    agree(request.getfixturevalue(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(path.stem for path in EXAMPLES.glob("*.onnx")))
@pytest.mark.parametrize("board", ["alveo-u250", "xcku5p"])
def test_so_do_those_of_all_examples(model: str, board: str, tmp_path: Path) -> None:
    try:
        plan = ff.plan(str(EXAMPLES / f"{model}.onnx"), board, effort="fast", constraint_style="hard", plots=False)
    except ff.Infeasible:
        pytest.skip(f"{model} does not fit {board}")
    except ff.LimitReached:
        pytest.skip(f"no plan of {model} on {board} is found within the limits: there is nothing to judge")
    plan.save(tmp_path / "out")
    agree(tmp_path / "out", tmp_path)


def test_both_pictures_name_the_same_areas(cnv_on_pynq: Path, tmp_path: Path) -> None:
    new = bound(cnv_on_pynq, tmp_path)
    plan = read_plan(new / "plan.json")
    figure = floorplan(plan.model_dump(by_alias=True), load_platform("pynq-z1"), "fpga0")
    names = {shape.name for shape in figure.shapes} - {""}
    verdict = judged(new, "fpga0", plan.platform.fpgas[0].part)
    svg = verdict.picture.svg.decode()
    assert names
    assert all(f'id="pblock_{name}"' in svg for name in names)
    assert verdict.picture.png == judged(new, "fpga0", plan.platform.fpgas[0].part).picture.png, "the same bytes"
