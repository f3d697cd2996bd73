"""Open tools place floorflow's plans: cells are read back, and lie in the boxes and on the dies of the plan."""

from __future__ import annotations

import importlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.plans import ROOT
from tests.tools import need_module, need_nextpnr, need_program

EXAMPLE = ROOT / "examples" / "open_proof"
GENERIC_OUTSIDE = 2
"""Cells that nextpnr-generic 0.4 may leave outside of all that have boxes: some networks had one or two, ours none."""

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def proof() -> Iterator[Any]:
    """The example's program, with its tools."""
    need_module("pyosys", "pyosys synthesises what nextpnr places")
    need_program("nextpnr-generic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOORFLOW_NEXTPNR", str(need_nextpnr().parents[1]))
        patch.syspath_prepend(EXAMPLE)  # and take away again what the program itself puts there
        yield importlib.import_module("proof")


@pytest.fixture(scope="module")
def gatemate(proof: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return proof.Proof.of(proof.TOOLS[0], tmp_path_factory.mktemp("gatemate"))


@pytest.fixture(scope="module")
def generic(proof: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return proof.Proof.of(proof.TOOLS[1], tmp_path_factory.mktemp("generic"))


def test_all_cells_lie_in_their_boxes_on_two_dies(gatemate: Any) -> None:
    placement, boxes = gatemate.place("planned", 1), gatemate.boxes["planned"]
    inside, boxed = placement.inside(boxes)
    assert inside == boxed > 2000
    between = gatemate.tool.edges[0]
    planned = json.loads((gatemate.out / "plan" / "plan.json").read_text())["phases"][0]["partition"]["assignment"]
    dies = {name: f"fpga0.SLR{int(y > between)}" for name, _, y in placement.cells if name}
    assert dies == {name: planned[module] for name, module in gatemate.cells.items()}
    assert set(dies.values()) == {"fpga0.SLR0", "fpga0.SLR1"}
    # Only what lies in an instance of the plan is told where to lie: no clock buffer, no pad.
    lines = (gatemate.out / "planned_1" / "boxes.ccf").read_text().splitlines()[1:-1]
    assert {line.split()[1].rstrip(";") for line in lines} == set(gatemate.cells)


def test_the_design_is_systemverilog_for_others_too(proof: Any, gatemate: Any) -> None:
    command = [need_program("verilator"), "--lint-only", "-Wno-WIDTH", "--top-module", "top"]
    subprocess.run([*command, gatemate.out / "plan" / "boxkit" / "top.sv", *proof.SOURCES], check=True)


@pytest.mark.slow
def test_a_scrambled_floorplan_is_longer_and_slower(generic: Any) -> None:
    planned, scrambled = (generic.place(name, 1) for name in ("planned", "scrambled"))
    for name, placement in (("planned", planned), ("scrambled", scrambled)):
        inside, boxed = placement.inside(generic.boxes[name])
        assert boxed > 1000
        assert boxed - inside <= GENERIC_OUTSIDE, name
    assert scrambled.wire > 1.05 * planned.wire
    assert scrambled.fmax_mhz < planned.fmax_mhz
    # The count tells: few cells in scrambled boxes lie in the plan's.
    inside, boxed = scrambled.inside(generic.boxes["planned"])
    assert inside < boxed / 2


@pytest.mark.slow
def test_without_boxes_hardly_a_cell_lies_in_its_own(generic: Any) -> None:
    inside, boxed = generic.place("free", 1).inside(generic.boxes["planned"])
    assert inside < boxed / 2


@pytest.mark.slow
def test_the_table_is_what_the_example_prints(proof: Any, tmp_path: Path) -> None:
    proof.main(tmp_path)
    assert (tmp_path / "table.md").read_text() in (EXAMPLE / "README.md").read_text()
    assert (tmp_path / "placed.png").read_bytes()[1:4] == b"PNG"
