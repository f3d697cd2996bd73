"""Cells that a pattern takes out of another pblock, and pblocks that commands may make which were not run."""

import pytest

from tests.verify.xdc.judging import found, judged

TWO = """create_pblock p
resize_pblock p -add CLOCKREGION_X0Y0
create_pblock q
resize_pblock q -add CLOCKREGION_X1Y0
add_cells_to_pblock p [get_cells {pattern}]
add_cells_to_pblock q [get_cells {name}]
"""
LOOP = """foreach cell [get_cells -of_objects [get_nets n]] {
  create_pblock p1
}
"""


@pytest.mark.parametrize("pattern", ["top/*", "top/k_?", "top/k*"])
def test_a_pattern_that_takes_a_cell_of_another_pblock_is_told(pattern: str) -> None:
    verdict = judged(TWO.format(pattern=pattern, name="top/k_1"))
    assert ("warning", "cell-in-two-pblocks", 5) in found(verdict)
    assert verdict.is_legal


@pytest.mark.parametrize("name", ["top/k_1/inner", "top/other", "topmost"])
def test_a_pattern_takes_neither_deeper_cells_nor_other_names(name: str) -> None:
    verdict = judged(TWO.format(pattern="top/k*", name=name))
    assert "cell-in-two-pblocks" not in verdict.findings.by_name


def test_a_pattern_and_a_name_in_one_pblock_are_no_finding() -> None:
    text = TWO.format(pattern="top/*", name="top/k").replace("add_cells_to_pblock q", "add_cells_to_pblock p")
    assert "cell-in-two-pblocks" not in judged(text).findings.by_name


def test_a_pblock_that_a_loop_may_make_is_a_warning_and_else_an_error() -> None:
    use = "add_cells_to_pblock p1 top/k\n"
    after = judged(LOOP + use, name="a.tcl")
    assert ("warning", "pblock-not-created", 4) in found(after)
    assert after.is_legal
    assert ("error", "pblock-not-created", 1) in found(judged(use, name="a.tcl"))
    assert ("error", "pblock-not-created", 4) in found(judged(LOOP + use))


IN_TWO = """create_pblock p
resize_pblock p -add CLOCKREGION_X0Y0
create_pblock q
resize_pblock q -add CLOCKREGION_X1Y12
add_cells_to_pblock p [get_cells {a b}]
add_cells_to_pblock q a
"""


def test_a_cell_in_two_pblocks_is_a_warning_and_lies_in_the_later() -> None:
    verdict = judged(IN_TWO + "set_property USER_SLR_ASSIGNMENT SLR0 [get_cells a]\n")
    assert {("warning", "cell-in-two-pblocks", 6), ("error", "cell-and-slr", 7)} <= found(verdict)
    assert [[cell.text for cell in block.held] for block in verdict.created] == [["b"], ["a"]]
    back = judged(f"{IN_TWO}add_cells_to_pblock p a\nset_property USER_SLR_ASSIGNMENT SLR0 [get_cells a]\n")
    assert back.is_legal, "a pblock that was created first may be the last to take a cell"
    assert [block.held for block in back.created][1] == {}


def test_a_cell_that_was_taken_out_or_whose_pblock_is_gone_is_in_one() -> None:
    first, last = IN_TWO.rsplit("add_cells", 1)
    for between in ("remove_cells_from_pblock p a\n", "delete_pblocks p\n"):
        assert "cell-in-two-pblocks" not in judged(f"{first}{between}add_cells{last}").findings.by_name
