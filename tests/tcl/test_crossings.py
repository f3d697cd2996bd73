"""vitis/crossings.tcl inserts a slice a boundary into the linked block design, for just the crossings of the plan."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.tools import need_tcl

need_tcl()

from tests.vivado_model import VivadoError, VivadoModel  # noqa: E402  (needs tkinter)
from tests.vivado_model.block_designs import BlockDesign, Cell  # noqa: E402

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "tcl" / "floorflow_crossings.tcl"
U250 = ROOT / "platforms" / "devices" / "xcu250.yaml"
KERNELS = {"/idma0": 0, "/k_1": 0, "/k_2": 2, "/k_3": 1, "/odma0": 0}
STREAMS = {"/idma0": 1, "/k_1": 16, "/k_2": 4, "/k_3": 1}
"""Bytes that each kernel sends to the next."""
ROWS = ["{SLR0 SLR2 16 a}", "{SLR2 SLR1 4 b}", "{SLR1 SLR0 1 {c d}}"]
SLICES = {
    "/k_1": ["/floorflow_crossing_0_SLR0_SLR1", "/floorflow_crossing_0_SLR1_SLR2", "/k_2"],
    "/k_2": ["/floorflow_crossing_2_SLR2_SLR1", "/k_3"],
    "/k_3": ["/floorflow_crossing_1_SLR1_SLR0", "/odma0"],
}


def linked() -> BlockDesign:
    """Return the block design of five kernels in a row, the middle ones in other SLRs than DMA engines."""
    names = list(KERNELS)
    cells = {
        name: Cell(
            {"CONFIG.SLR_ASSIGNMENTS": f"SLR{slr}"},
            {"m_axis_0": ("Master", STREAMS.get(name, 1)), "s_axis_0": ("Slave", STREAMS.get(name, 1))},
        )
        for name, slr in KERNELS.items()
    }
    joined = {f"{one}_m_axis_0": [f"{one}/m_axis_0", f"{two}/s_axis_0"] for one, two in pairwise(names)}
    nets = {"/clk": [f"{name}/ap_clk" for name in names], "/rst": [f"{name}/ap_rst_n" for name in names]}
    return BlockDesign({**cells, "/hmss": Cell({}, {})}, joined, nets)


def run(folder: Path, block: BlockDesign, rows: list[str] = ROWS, do: str = "insert_slices") -> VivadoModel:
    names = [name for slices in SLICES.values() for name in slices[:-1]]
    halves = [f"level0_i/ulp{name}/inst/dual_slr.{half}" for name in names for half in ("slr_master", "slr_slave")]
    model = VivadoModel(U250, halves)
    model.add_block_design(block)
    script = folder / "script.tcl"
    script.write_text(f"source {{{LIBRARY}}}\nfloorflow::crossings {{\n" + "\n".join(rows) + f"\n}}\nfloorflow::{do}\n")
    model.run_tcl(script)
    return model


def test_each_boundary_of_each_crossing_has_a_slice_with_clock_and_reset(tmp_path: Path) -> None:
    block = linked()
    model = run(tmp_path, block)
    assert {name: block.way(f"{name}/m_axis_0") for name in SLICES} == SLICES
    assert block.way("/idma0/m_axis_0") == ["/k_1"]
    made = sorted(name for slices in SLICES.values() for name in slices[:-1])
    assert sorted(name for name in block.cells if "crossing" in name) == made
    for name in made:
        settings = {"CONFIG.REG_CONFIG": "15", "CONFIG.NUM_SLR_CROSSINGS": "1"}
        assert block.cells[name].properties.items() >= settings.items()
        assert (f"{name}/aclk" in block.nets["/clk"], f"{name}/aresetn" in block.nets["/rst"]) == (True, True)
    assert model.output == ["floorflow: 4 register slices inserted for 3 streams over SLR boundaries"]


def test_the_halves_of_each_slice_lie_on_the_sides_of_its_boundary(tmp_path: Path) -> None:
    slr_of = run(tmp_path, linked(), do="place_slices").slr_of
    assert len(slr_of) == 8
    for cell, slr in slr_of.items():
        _, source, target = cell.split("/")[2].rsplit("_", 2)
        assert slr == (source if cell.endswith("slr_master") else target)


def clock_of_its_own(block: BlockDesign) -> None:
    block.nets["/clk"].remove("/k_3/ap_clk")
    block.nets["/clk2"] = ["/k_3/ap_clk"]


FAULTS: dict[str, tuple[str, Callable[[BlockDesign], object]]] = {
    "a kernel in another SLR": (
        r"lacks \{\{SLR0 SLR2 16\} \{SLR2 SLR1 4\}\} and has \{\{SLR0 SLR3 16\} \{SLR3 SLR1 4\}\}",
        lambda block: block.cells["/k_2"].properties.update({"CONFIG.SLR_ASSIGNMENTS": "SLR3"}),
    ),
    "another width": (
        r"lacks \{\{SLR2 SLR1 4\}\} and has \{\{SLR2 SLR1 8\}\}",
        lambda block: block.cells["/k_2"].streams.update(m_axis_0=("Master", 8)),
    ),
    "a stream that is not linked": (r"lacks \{\{SLR1 SLR0 1\}\} and has \{\}", lambda b: b.joined.pop("/k_3_m_axis_0")),
    "a crossing beside": (
        r"lacks \{\} and has \{\{SLR3 SLR0 1\}\}",
        lambda block: block.cells["/idma0"].properties.update({"CONFIG.SLR_ASSIGNMENTS": "SLR3"}),
    ),
    "two clocks": ("have no clock, or different ones", clock_of_its_own),
    "no clock": ("have no clock", lambda block: block.nets["/clk"].clear()),
    "no reset": ("has no pin ap_rst_n", lambda block: setattr(block.cells["/k_1"], "pins", ("ap_clk",))),
    "a core that takes another value": (
        "has CONFIG.REG_CONFIG 1, not the 15",
        lambda block: setattr(block, "stubborn", {"CONFIG.REG_CONFIG": "1"}),
    ),
    "a second run": (
        "slices of ours already",
        lambda block: block.cells.update({"/floorflow_crossing_0_SLR0_SLR1": Cell({}, {})}),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_the_plan_stops_the_link(fault: str, tmp_path: Path) -> None:
    block, (told, spoil) = linked(), FAULTS[fault]
    spoil(block)
    with pytest.raises(VivadoError, match=told):
        run(tmp_path, block)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([*ROWS, ROWS[1]], r"lacks \{\{SLR2 SLR1 4\}\} and has \{\}"),
        (ROWS[:2], r"has \{\{SLR1 SLR0 1\}\} beside"),
        (["{SLR0 SLR0 4 a}"], "is none; expected"),
        (["{SLR0 SLR1 0 a}"], "is none; expected"),
    ],
)
def test_rows_that_are_not_what_is_linked_stop_it(rows: list[str], told: str, tmp_path: Path) -> None:
    block = linked()
    with pytest.raises(VivadoError, match=told):
        run(tmp_path, block, rows)
    assert not any("crossing" in name for name in block.cells)


def test_a_slice_without_its_halves_stops_the_placement(tmp_path: Path) -> None:
    with pytest.raises(VivadoError, match="floorflow_crossing_0_SLR2_SLR3' has 0 cells slr_master, expected one"):
        run(tmp_path, linked(), ["{SLR2 SLR3 1 a}"], do="place_slices")
