"""With a report by hierarchy pblocks are told how full they are, and cells that it does not have are named."""

from tests.verify.xdc.judging import found, judged

NEED = {"LUT": 1000, "FF": 2000, "BRAM18": 4, "URAM": 0, "DSP": 12}
ROWS = {
    "": {**NEED, "LUT": 40_000},
    "top": {**NEED, "LUT": 30_000},
    "top/a": {**NEED, "LUT": 12_000},
    "top/a/x": {**NEED, "LUT": 10_000},
    "top/b": NEED,
}
AREA = "resize_pblock p -add CLOCKREGION_X1Y12\n"  # 11,520 LUT
P = f"create_pblock p\n{AREA}"
Q = "create_pblock q\nresize_pblock q -add CLOCKREGION_X2Y13\n"


def test_what_does_not_fit_is_an_error_and_what_is_nearly_full_a_warning() -> None:
    verdict = judged(f"{P}add_cells_to_pblock p top/a\n", report=ROWS)
    assert ("error", "pblock-overfull", 2) in found(verdict)
    assert any(one.found == "12,000 LUT of 11,520 (104%)" for one in verdict.ordered)
    assert found(judged(f"{P}add_cells_to_pblock p top/a/x\n", report=ROWS)) == {("warning", "pblock-nearly-full", 2)}
    assert not judged(f"{P}add_cells_to_pblock p top/b\n", report=ROWS).ordered


def test_cells_in_another_pblock_are_not_counted_twice() -> None:
    text = f"{P}add_cells_to_pblock p top/a\n{Q}add_cells_to_pblock q top/a/x\n"
    p, q = judged(text, report=ROWS).fullness
    assert p.demand is not None
    assert q.demand is not None
    assert (p.demand["LUT"], q.demand["LUT"]) == (2_000, 10_000)


def test_a_parent_holds_its_child() -> None:
    text = (
        "create_pblock p\nresize_pblock p -add CLOCKREGION_X1Y12:CLOCKREGION_X2Y13\nadd_cells_to_pblock p top/a\n"
        f"{Q}add_cells_to_pblock q top/b\nset_property PARENT p [get_pblocks q]\n"
    )
    p, q = judged(text, report=ROWS).fullness
    assert p.demand is not None
    assert q.demand is not None
    assert (p.demand["LUT"], q.demand["LUT"]) == (13_000, 1_000)


def test_a_cell_that_the_report_lacks_is_an_error_unless_it_may_lie_deeper() -> None:
    assert ("error", "cell-unmatched", 3) in found(judged(f"{P}add_cells_to_pblock p top/c\n", report=ROWS))
    assert ("note", "cell-unmatched", 3) in found(judged(f"{P}add_cells_to_pblock p top/b/deep\n", report=ROWS))
    assert not judged(f"{P}add_cells_to_pblock p [get_cells top/b*]\n", report=ROWS).ordered


def test_types_that_are_left_out_count_by_what_cells_need() -> None:
    text = "create_pblock p\nresize_pblock p -add SLICE_X57Y540:SLICE_X84Y599\nadd_cells_to_pblock p top/b\n"
    assert found(judged(text)) == {("warning", "site-type-unconstrained", 2)}
    assert found(judged(text, report=ROWS)) == {("error", "site-type-unconstrained", 2)}
    none = {**ROWS, "top/b": {**NEED, "BRAM18": 0, "DSP": 0}}
    assert found(judged(text, report=none)) == {("note", "site-type-unconstrained", 2)}
