"""Each of many mistakes planted into a floorplan without a finding is named, with its line."""

import pytest

from floorflow.verify.xdc.findings import FINDINGS
from tests.verify.xdc.judging import found, judged, names

PREFIX = "level0_i/level1/level1_i/ulp"
U250 = f"""\
create_pblock pblock_a
resize_pblock [get_pblocks pblock_a] -add {{SLICE_X57Y540:SLICE_X84Y599}}
resize_pblock [get_pblocks pblock_a] -add {{DSP48E2_X8Y216:DSP48E2_X10Y239}}
resize_pblock [get_pblocks pblock_a] -add {{RAMB18_X4Y216:RAMB18_X4Y239 RAMB36_X4Y108:RAMB36_X4Y119}}
set_property IS_SOFT FALSE [get_pblocks pblock_a]
set_property CONTAIN_ROUTING TRUE [get_pblocks pblock_a]
set_property PARENT pblock_dynamic_SLR2 [get_pblocks pblock_a]
add_cells_to_pblock [get_pblocks pblock_a] [get_cells {{{PREFIX}/k_1/inst/a_1}}]
create_pblock pblock_b
resize_pblock [get_pblocks pblock_b] -add {{CLOCKREGION_X1Y12:CLOCKREGION_X1Y13}}
set_property IS_SOFT FALSE [get_pblocks pblock_b]
add_cells_to_pblock [get_pblocks pblock_b] [get_cells {{{PREFIX}/k_1/inst/b_1}}]
set_property USER_SLR_ASSIGNMENT SLR3 [get_cells {{{PREFIX}/k_1/inst/b_1}}]
set_property USER_SLL_REG TRUE [get_cells {{{PREFIX}/k_1/inst/b_1/tx_reg}}]
"""
Z7 = """\
create_pblock pblock_a
resize_pblock [get_pblocks pblock_a] -add {CLOCKREGION_X1Y1:CLOCKREGION_X1Y1}
add_cells_to_pblock [get_pblocks pblock_a] [get_cells a]
set_property RESET_AFTER_RECONFIG TRUE [get_pblocks pblock_a]
set_property HD.RECONFIGURABLE TRUE [get_cells a]
"""
A, B = "[get_pblocks pblock_a]", "[get_pblocks pblock_b]"
CELL_A = f"[get_cells {{{PREFIX}/k_1/inst/a_1}}]"
AT_A = "SLICE_X57Y540:SLICE_X84Y599"

Edit = tuple[str, str]
MUTANTS: dict[str, tuple[str, int, list[Edit]]] = {
    "beyond the die": ("range-outside-device", 2, [(AT_A, "SLICE_X57Y540:SLICE_X300Y599")]),
    "above the die": ("range-outside-device", 10, [("CLOCKREGION_X1Y13", "CLOCKREGION_X1Y16")]),
    "a corner misspelt": ("range-malformed", 2, [(AT_A, "SLICE_X57Y540:SLICE_84Y599")]),
    "two types in one range": ("range-malformed", 3, [("DSP48E2_X10Y239", "DSP48_X10Y239")]),
    "a corner on a Laguna column": ("range-corner-missing", 2, [(AT_A, "SLICE_X63Y660:SLICE_X84Y719")]),
    "a type of another family": (
        "site-type-unknown",
        3,
        [("DSP48E2_X8Y216:DSP48E2_X10Y239", "DSP48E1_X8Y216:DSP48E1_X10Y239")],
    ),
    "an SLR too many": ("slr-unknown", 10, [("CLOCKREGION_X1Y12:CLOCKREGION_X1Y13", "SLR4")]),
    "no DSP ranges": (
        "site-type-unconstrained",
        4,
        [(f"resize_pblock {A} -add {{DSP48E2_X8Y216:DSP48E2_X10Y239}}\n", "\n")],
    ),
    "no RAMB18 ranges": ("site-type-unconstrained", 4, [("RAMB18_X4Y216:RAMB18_X4Y239 ", "")]),
    "SLICE is forgotten": ("site-type-unconstrained", 4, [(f"resize_pblock {A} -add {{{AT_A}}}\n", "\n")]),
    "DSP in half the area": ("sites-left-out", 4, [("DSP48E2_X10Y239", "DSP48E2_X10Y227")]),
    "no ranges at all": (
        "pblock-without-ranges",
        9,
        [(f"resize_pblock {B} -add {{CLOCKREGION_X1Y12:CLOCKREGION_X1Y13}}\n", "\n")],
    ),
    "all removed again": (
        "pblock-without-ranges",
        11,
        [(f"set_property IS_SOFT FALSE {B}", f"resize_pblock {B} -remove SLR3")],
    ),
    "removed what is not there": (
        "removed-nothing",
        11,
        [(f"set_property IS_SOFT FALSE {B}", f"resize_pblock {B} -remove SLICE_X0Y0:SLICE_X3Y9")],
    ),
    "no cells": ("pblock-without-cells", 1, [(f"add_cells_to_pblock {A} {CELL_A}\n", "\n")]),
    "on the static region": ("shell-touched", 10, [("X1Y12:CLOCKREGION_X1Y13", "X5Y4:CLOCKREGION_X5Y5")]),
    "where a controller is placed": ("reserved-touched", 10, [("X1Y12:CLOCKREGION_X1Y13", "X4Y12:CLOCKREGION_X4Y13")]),
    "the shell's pblock": ("shell-pblock-created", 9, [("pblock_b", "pblock_dynamic_SLR3")]),
    "an older shell's prefix": (
        "cell-prefix",
        8,
        [(f"{PREFIX}/k_1/inst/a_1", "pfm_top_i/dynamic_region/k_1/inst/a_1")],
    ),
    "one on the other": ("pblock-overlap", 10, [("X1Y12:CLOCKREGION_X1Y13", "X2Y9:CLOCKREGION_X2Y9")]),
    "a parent that nobody creates": ("pblock-not-created", 7, [("pblock_dynamic_SLR2", "pblock_dynamic_SLR7b")]),
    "outside its parent": (
        "child-outside-parent",
        13,
        [("set_property USER_SLR_ASSIGNMENT SLR3", f"set_property PARENT pblock_a {B};#")],
    ),
    "its own ancestor": ("parent-circle", 7, [("PARENT pblock_dynamic_SLR2", "PARENT pblock_a")]),
    "over two SLRs": ("crosses-slr", 10, [("X1Y12:CLOCKREGION_X1Y13", "X1Y11:CLOCKREGION_X1Y12")]),
    "in another SLR than its pblock": ("cell-and-slr", 13, [("SLR_ASSIGNMENT SLR3", "SLR_ASSIGNMENT SLR1")]),
    "assigned to no SLR of the part": ("slr-unknown", 13, [("SLR_ASSIGNMENT SLR3", "SLR_ASSIGNMENT SLR9")]),
    "Laguna registers without Laguna": ("laguna-left-out", 14, [("inst/b_1/tx_reg", "inst/a_1/tx_reg")]),
    "Laguna at the top of the die": (
        "laguna-without-wires",
        10,
        [("CLOCKREGION_X1Y12:CLOCKREGION_X1Y13", "LAGUNA_X4Y840:LAGUNA_X7Y959 CLOCKREGION_X1Y15")],
    ),
    "used before it is created": (
        "used-before-created",
        1,
        [("create_pblock pblock_a\n", f"set_property IS_SOFT FALSE {A}\ncreate_pblock pblock_a\n")],
    ),
    "never created": ("pblock-not-created", 2, [("create_pblock pblock_a\n", "\n")]),
    "created twice": (
        "pblock-created-twice",
        9,
        [("create_pblock pblock_b\n", "create_pblock pblock_b;create_pblock pblock_b\n")],
    ),
    "a loop": (
        "control-flow",
        5,
        [(f"set_property IS_SOFT FALSE {A}", f"foreach p {{a}} {{set_property IS_SOFT FALSE {A}}}")],
    ),
    "a command of scripts": ("command-not-allowed", 5, [(f"set_property IS_SOFT FALSE {A}", "puts done")]),
    "a command misspelt": ("command-unknown", 1, [("create_pblock pblock_a\n", "create_pblok pblock_a\n")]),
    "an argument forgotten": ("command-malformed", 5, [(f"IS_SOFT FALSE {A}", f"IS_SOFT {A}")]),
    "a property misspelt": ("property-unknown", 5, [("IS_SOFT FALSE [get_pblocks pblock_a]", f"ISSOFT FALSE {A}")]),
    "a value misspelt": ("property-value", 5, [("IS_SOFT FALSE [get_pblocks pblock_a]", f"IS_SOFT FASLE {A}")]),
    "routing contained in a soft pblock": (
        "property-without-effect",
        6,
        [("IS_SOFT FALSE [get_pblocks pblock_a]", f"IS_SOFT TRUE {A}")],
    ),
    "a cell in two pblocks": (
        "cell-in-two-pblocks",
        12,
        [("inst/b_1}]\nset_property USER_SLR", "inst/a_1}]\nset_property USER_SLR")],
    ),
    "a cell added twice": ("cell-repeated", 8, [(CELL_A, f"{CELL_A}; add_cells_to_pblock {A} {CELL_A}")]),
    "a pattern that takes 10, too": ("cell-pattern-ambiguous", 8, [("inst/a_1}]", "inst/a_1*}]")]),
    "a variable never set": ("variable-unset", 2, [(f"{{{AT_A}}}", "$at")]),
    "an odd half of an interconnect": ("interconnect-split", 4, [(AT_A, "SLICE_X57Y540:SLICE_X83Y599")]),
    "block RAM of other tiles": (
        "block-ram-ranges-differ",
        4,
        [("RAMB18_X4Y239 ", "RAMB18_X4Y239 RAMB18_X5Y216:RAMB18_X5Y239 ")],
    ),
}
"""What is to be found, on which line, and the edits that plant it."""
ZYNQ_MUTANTS: dict[str, tuple[str, int, list[Edit]]] = {
    "half a clock region": (
        "clock-region-alignment",
        2,
        [("CLOCKREGION_X1Y1:CLOCKREGION_X1Y1", "SLICE_X50Y50:SLICE_X57Y79")],
    ),
    "another partition in its frames": (
        "frame-shared",
        5,
        [
            ("CLOCKREGION_X1Y1:CLOCKREGION_X1Y1", "SLICE_X50Y50:SLICE_X57Y74"),
            (
                "[get_cells a]\nset_property RESET",
                (
                    "[get_cells a]\ncreate_pblock pblock_c\n"
                    "resize_pblock pblock_c -add SLICE_X50Y75:SLICE_X57Y99;add_cells_to_pblock pblock_c c;"
                    "set_property HD.RECONFIGURABLE 1 [get_cells c]\nset_property RESET"
                ),
            ),
        ],
    ),
}


def mutated(text: str, edits: list[Edit]) -> str:
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize(("text", "part"), [(U250, "xcu250"), (Z7, "xc7z020")])
def test_nothing_is_found_in_the_floorplans_that_mutants_are_made_of(text: str, part: str) -> None:
    assert not judged(text, part).ordered


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_named(mutant: str) -> None:
    name, line, edits = MUTANTS[mutant]
    verdict = judged(mutated(U250, edits))
    assert (FINDINGS[name].severity if name != "pblock-overlap" else "error", name, line) in found(verdict)


@pytest.mark.parametrize("mutant", ZYNQ_MUTANTS)
def test_mutant_of_the_zynq_is_named(mutant: str) -> None:
    name, line, edits = ZYNQ_MUTANTS[mutant]
    assert ("error", name, line) in found(judged(mutated(Z7, edits), "xc7z020"))


def test_a_soft_pblock_over_a_soft_one_is_a_warning() -> None:
    text = "create_pblock p\nresize_pblock p -add SLR0\nadd_cells_to_pblock p a\n"
    both = text + text.replace("pblock p", "pblock q").replace(" p -add", " q -add").replace("pblock q a", "pblock q b")
    verdict = judged(both)
    assert ("warning", "pblock-overlap", 5) in found(verdict)
    assert verdict.is_legal


def test_nesting_without_parent_is_told_by_the_hierarchy_of_cells() -> None:
    text = (
        "create_pblock p\nresize_pblock p -add SLR0\nadd_cells_to_pblock p top/a\ncreate_pblock q\n"
        "resize_pblock q -add CLOCKREGION_X0Y0:CLOCKREGION_X0Y1\nadd_cells_to_pblock q top/a/b\n"
    )
    assert ("warning", "nested-without-parent", 5) in found(judged(text))
    assert not judged(text + "set_property PARENT p [get_pblocks q]\n").ordered


def test_every_finding_has_a_floorplan_that_shows_it() -> None:
    """Those with a report, of scripts and of reconfiguration without snapping have tests of their own."""
    shown = {name for name, _, _ in (MUTANTS | ZYNQ_MUTANTS).values()}
    others = {
        "not-evaluated",
        "cell-unmatched",
        "pblock-overfull",
        "pblock-nearly-full",
        "tile-split",
        "nested-without-parent",
    }
    assert shown | others == set(FINDINGS)
    assert len(MUTANTS | ZYNQ_MUTANTS) >= 30
    assert names(judged(U250)) == set()
