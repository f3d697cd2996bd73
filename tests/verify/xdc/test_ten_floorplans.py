"""Ten floorplans made by hand are judged rightly: four after public ones that were built, six with planted mistakes."""

import pytest

from tests.verify.xdc.judging import FLOORPLANS, Found, found, judged

OLD_U250, OLD_U280 = "xilinx_u250_xdma_201830_2", "xilinx_u280_xdma_201920_3"
FLOORPLANS_OF: dict[str, tuple[str, str | None, Found]] = {
    "u250_2018.tcl": ("xcu250", OLD_U250, {("note", "reserved-touched", line) for line in (9, 19, 29, 39)}),
    "u280_2019.tcl": ("xcu280-fsvh2892-2L-e", OLD_U280, {("note", "reserved-touched", 8)}),
    "ku5p_dfx.xdc": ("xcku5p-ffvb676-2-e", None, set()),
    "z7020_dfx.xdc": ("xc7z020clg400-1", None, set()),
    "u250_static.xdc": ("xcu250-figd2104-2L-e", OLD_U250, {("error", "shell-touched", 3)}),
    "u280_types.xdc": (
        "xcu280",
        "xilinx_u280_gen3x16_xdma_1_202211_1",
        {
            ("error", "range-corner-missing", 4),
            ("warning", "site-type-unconstrained", 4),
            ("warning", "crosses-slr", 4),
        },
    ),
    "ku5p_edges.xdc": (
        "XCKU5P-FFVB676-2-E",
        None,
        {("error", "interconnect-split", 5), ("error", "tile-split", 5), ("note", "sites-left-out", 5)},
    ),
    "z7020_rows.xdc": (
        "xc7z020",
        None,
        {
            ("error", "clock-region-alignment", 3),
            ("error", "frame-shared", 8),
            ("warning", "site-type-unconstrained", 3),
            ("warning", "site-type-unconstrained", 8),
        },
    ),
    "u55c_nested.xdc": (
        "xcu55c-fsvh2892-2L-e",
        "xilinx_u55c_gen3x16_xdma_3_202210_1",
        {("error", "child-outside-parent", 7), ("error", "cell-prefix", 8), ("warning", "crosses-slr", 6)},
    ),
    "zu7ev_order.xdc": (
        "xczu7ev-ffvc1156-2-e",
        None,
        {
            ("error", "used-before-created", 2),
            ("error", "control-flow", 6),
            ("error", "pblock-overlap", 10),
            ("warning", "cell-in-two-pblocks", 12),
        },
    ),
}
"""Part, shell that the names of cells tell, and all that is to be found: severity, name, line."""


@pytest.mark.parametrize("file", FLOORPLANS_OF)
def test_floorplan_is_judged_rightly(file: str) -> None:
    part, shell, expected = FLOORPLANS_OF[file]
    verdict = judged((FLOORPLANS / file).read_text(encoding="utf-8"), part, name=file)
    assert found(verdict) == expected
    assert (verdict.shell and verdict.shell.name) == shell
    assert verdict.is_legal == all(severity != "error" for severity, _, _ in expected)


def test_every_floorplan_of_the_folder_has_an_expectation() -> None:
    assert {path.name for path in FLOORPLANS.iterdir()} == {*FLOORPLANS_OF}
