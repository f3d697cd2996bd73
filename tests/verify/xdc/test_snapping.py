"""Snapping pblocks hold what Vivado leaves of their ranges (UG909), and keep their children inside by themselves."""

import pytest

from floorflow.verify.hardware.geometry import describe, difference
from floorflow.verify.hardware.interconnect import Interconnect
from tests.verify.xdc.judging import found, judged, target

TUTORIAL = """\
create_pblock rp_slr0
add_cells_to_pblock [get_pblocks rp_slr0] [get_cells -quiet [list design_1_i/rp_slr0]]
resize_pblock [get_pblocks rp_slr0] -add {SLICE_X9Y180:SLICE_X14Y239 SLICE_X0Y180:SLICE_X5Y239}
resize_pblock [get_pblocks rp_slr0] -add {DSP48E2_X0Y72:DSP48E2_X0Y95 RAMB18_X0Y72:RAMB18_X0Y95}
resize_pblock [get_pblocks rp_slr0] -add {RAMB36_X0Y36:RAMB36_X0Y47}
set_property SNAPPING_MODE ON [get_pblocks rp_slr0]
create_pblock slr0_cross_column0
add_cells_to_pblock [get_pblocks slr0_cross_column0] [get_cells -quiet design_1_i/crossing/*_slice_0/*]
resize_pblock [get_pblocks slr0_cross_column0] -add {SLICE_X6Y180:SLICE_X9Y239}
resize_pblock [get_pblocks slr0_cross_column0] -add {LAGUNA_X0Y120:LAGUNA_X1Y239}
set_property IS_SOFT FALSE [get_pblocks slr0_cross_column0]
"""
"""After AMD's tutorial on abstract shells per SLR (xcu250): beside Laguna the region does not have SLICE_X9."""

F2 = """\
create_pblock pblock_CL
resize_pblock pblock_CL -add {CLOCKREGION_X0Y8:CLOCKREGION_X7Y11}
resize_pblock pblock_CL -add {CLOCKREGION_X0Y4:CLOCKREGION_X3Y7 CLOCKREGION_X5Y1:CLOCKREGION_X5Y7}
resize_pblock pblock_CL -add {CLOCKREGION_X0Y0:CLOCKREGION_X3Y3 CLOCKREGION_X4Y0:CLOCKREGION_X7Y0}
resize_pblock pblock_CL -add {CLOCKREGION_X4Y3:CLOCKREGION_X4Y3 CLOCKREGION_X6Y1:CLOCKREGION_X6Y1}
resize_pblock pblock_CL -add {SLICE_X176Y240:SLICE_X188Y719 DSP48E2_X25Y90:DSP48E2_X26Y281 \\
  LAGUNA_X24Y120:LAGUNA_X25Y599 RAMB18_X11Y96:RAMB18_X11Y287 RAMB36_X11Y48:RAMB36_X11Y143 \\
  URAM288_X4Y64:URAM288_X4Y191}
resize_pblock pblock_CL -add {SLICE_X120Y240:SLICE_X145Y479 DSP48E2_X16Y90:DSP48E2_X19Y185 \\
  LAGUNA_X16Y120:LAGUNA_X19Y359 RAMB18_X8Y96:RAMB18_X9Y191 RAMB36_X8Y48:RAMB36_X9Y95 URAM288_X2Y64:URAM288_X2Y127}
resize_pblock pblock_CL -remove SLICE_X120Y300:SLICE_X121Y359
resize_pblock pblock_CL -add {CLOCKREGION_X4Y6:CLOCKREGION_X4Y7}
resize_pblock pblock_CL -add {CLOCKREGION_X4Y4:CLOCKREGION_X4Y4}
resize_pblock pblock_CL -add {SLICE_X120Y120:SLICE_X145Y179 DSP48E2_X16Y42:DSP48E2_X19Y65 \\
  RAMB18_X8Y48:RAMB18_X9Y71 RAMB36_X8Y24:RAMB36_X9Y35 URAM288_X2Y32:URAM288_X2Y47}
resize_pblock pblock_CL -add {SLICE_X118Y60:SLICE_X145Y119 DSP48E2_X16Y18:DSP48E2_X19Y41 \\
  RAMB18_X8Y24:RAMB18_X9Y47 RAMB36_X8Y12:RAMB36_X9Y23 URAM288_X2Y16:URAM288_X2Y31}
resize_pblock pblock_CL -add {SLICE_X206Y60:SLICE_X219Y119 DSP48E2_X30Y18:DSP48E2_X30Y41 \\
  RAMB18_X12Y24:RAMB18_X12Y47 RAMB36_X12Y12:RAMB36_X12Y23}
resize_pblock pblock_CL -add {SLICE_X221Y60:SLICE_X232Y119 DSP48E2_X31Y18:DSP48E2_X31Y41 \\
  RAMB18_X13Y24:RAMB18_X13Y47 RAMB36_X13Y12:RAMB36_X13Y23 BUFG_GT_X1Y24:BUFG_GT_X1Y47 \\
  GTYE4_COMMON_X1Y1:GTYE4_COMMON_X1Y1 GTYE4_CHANNEL_X1Y4:GTYE4_CHANNEL_X1Y7}
set_property SNAPPING_MODE ON [get_pblocks pblock_CL]
set_property IS_SOFT 0 [get_pblocks pblock_CL]
resize_pblock pblock_CL -remove {SLICE_X178Y240:SLICE_X190Y479 DSP48E2_X25Y90:DSP48E2_X26Y185 \\
  LAGUNA_X24Y120:LAGUNA_X25Y359 RAMB18_X11Y96:RAMB18_X11Y191 RAMB36_X11Y48:RAMB36_X11Y95 URAM288_X4Y64:URAM288_X4Y127}
resize_pblock pblock_CL -remove {SLICE_X176Y240:SLICE_X177Y479}
add_cells_to_pblock pblock_CL [get_cells [list WRAPPER/CL]]
"""
"""What AWS's small shell for F2 leaves to the user: its own ranges, added and taken away in its own order."""

NESTED = """\
create_pblock outer
resize_pblock outer -add {CLOCKREGION_X0Y0:CLOCKREGION_X1Y1}
set_property SNAPPING_MODE ON [get_pblocks outer]
add_cells_to_pblock outer top/a
create_pblock inner
resize_pblock inner -add {CLOCKREGION_X1Y0:CLOCKREGION_X2Y0}
set_property PARENT outer [get_pblocks inner]
add_cells_to_pblock inner top/a/b
"""


def test_what_snapping_drops_overlaps_nothing() -> None:
    """All 16 overlaps of the tutorial's 104 pblocks are of this kind, and it builds."""
    assert found(judged(TUTORIAL)) == set()
    off = judged(TUTORIAL.replace("SNAPPING_MODE ON", "SNAPPING_MODE OFF"))
    assert ("error", "pblock-overlap", 10) in found(off)


def test_what_the_shell_of_aws_leaves_is_what_its_board_says() -> None:
    verdict = judged(F2, "xcvu47p")
    (left,) = (held.sites for held in verdict.held)
    device = verdict.target.device
    static = target(None, "aws-f2").own_shell
    assert static is not None
    taken = {key: mask for key, mask in difference(device.all_sites, left).items() if key[0] != "LAGUNA"}
    kept = {key: mask for key, mask in static.static.sites.items() if key[0] != "LAGUNA"}
    assert describe(difference(taken, kept)) == "no site"
    assert describe(difference(kept, taken)) == "no site"


def test_an_odd_half_is_dropped_with_what_hangs_on_it() -> None:
    grid = target("xcku5p", None).device
    wires = Interconnect(grid)
    assert wires.snapped({}) == {}
    verdict = judged("create_pblock p\nresize_pblock p -add CLOCKREGION_X1Y1\n", "xcku5p")
    (block,) = verdict.created
    assert wires.snapped(block.sites) == block.sites, "a clock region has whole pairs"
    less = {key: mask for key, mask in block.sites.items() if key[0] != "SLICE" or key[1] % 2}
    snapped = wires.snapped(less)
    assert wires.snapped(snapped) == snapped
    assert not difference(snapped, less)
    assert sum(mask.bit_count() for mask in snapped.values()) < sum(mask.bit_count() for mask in less.values())


def test_reconfigurable_pblocks_of_ultrascale_plus_snap_unless_told_not_to() -> None:
    text = (
        "create_pblock p\nresize_pblock p -add {SLICE_X2Y0:SLICE_X8Y59 DSP48E2_X0Y0:DSP48E2_X0Y23}\n"
        "add_cells_to_pblock p rp\nset_property HD.RECONFIGURABLE 1 [get_cells rp]\n"
    )
    severities = {
        mode: {one.severity for one in judged(text + set_, "xcku5p").ordered if one.name == "interconnect-split"}
        for mode, set_ in {
            "": "",
            "ON": "set_property SNAPPING_MODE ON [get_pblocks p]\n",
            "OFF": "set_property SNAPPING_MODE OFF [get_pblocks p]\n",
        }.items()
    }
    assert severities == {"": {"warning"}, "ON": {"warning"}, "OFF": {"error"}}


@pytest.mark.parametrize(
    ("edges", "severity"), [("SLICE_X50Y0:SLICE_X59Y49", None), ("SLICE_X50Y0:SLICE_X57Y49", "error")]
)
def test_back_to_back_columns_of_7_series_stay_together(edges: str, severity: str | None) -> None:
    text = (
        f"create_pblock p\nresize_pblock p -add {{{edges} RAMB18_X3Y0:RAMB18_X3Y19 RAMB36_X3Y0:RAMB36_X3Y9}}\n"
        "add_cells_to_pblock p rp\nset_property HD.RECONFIGURABLE 1 [get_cells rp]\n"
    )
    told = {one.severity for one in judged(text, "xc7z020").ordered if one.name == "interconnect-split"}
    assert told == ({severity} if severity else set())
    hard = text.replace("set_property HD.RECONFIGURABLE 1 [get_cells rp]", "set_property IS_SOFT 0 [get_pblocks p]")
    assert "interconnect-split" not in {one.name for one in judged(hard, "xc7z020").ordered}


def test_a_child_of_a_snapping_parent_is_kept_inside_with_a_warning() -> None:
    assert found(judged(NESTED)) == {("warning", "child-outside-parent", 7)}
    assert found(judged(NESTED + "set_property SNAPPING_MODE NESTED [get_pblocks inner]\n")) == set()
    hard = judged(NESTED.replace("set_property SNAPPING_MODE ON [get_pblocks outer]\n", "\n"))
    assert found(hard) == {("error", "child-outside-parent", 7)}


def test_a_grandchild_is_kept_inside_what_is_left_of_its_parent() -> None:
    text = (
        f"{NESTED}create_pblock inmost\nresize_pblock inmost -add CLOCKREGION_X2Y0\nadd_cells_to_pblock inmost top/c\n"
        "set_property PARENT inner [get_pblocks inmost]\n"
        "set_property SNAPPING_MODE NESTED [get_pblocks {inner inmost}]\n"
    )
    held = {one.name: one.sites for one in judged(text).held}
    assert held["inner"]
    assert held["inmost"] == {}, "all of it lies in what inner loses"


@pytest.mark.parametrize(
    ("how", "severity"),
    [
        ("", None),
        ("set_property IS_SOFT FALSE [get_pblocks p]\n", "note"),
        ("set_property CONTAIN_ROUTING TRUE [get_pblocks p]\nset_property IS_SOFT 0 [get_pblocks p]\n", "warning"),
        ("set_property PARENT pblock_dynamic_SLR0 [get_pblocks p]\n", "warning"),
    ],
)
def test_a_split_pair_is_as_grave_as_what_hangs_on_it(how: str, severity: str | None) -> None:
    text = "create_pblock p\nresize_pblock p -add {SLICE_X3Y0:SLICE_X5Y59}\nadd_cells_to_pblock p top/a\n"
    told = {one.severity for one in judged(text + how).ordered if one.name == "interconnect-split"}
    assert told == ({severity} if severity else set())
