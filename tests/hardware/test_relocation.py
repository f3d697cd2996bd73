"""Windows move to columns and rows that are the same: against a comparison cell by cell, on small dies."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware import Rect, anchors, can_relocate, load_platform
from floorflow.hardware.device import Device, SiteType, Slr
from floorflow.hardware.grid import Tile
from tests.placement.small import LEGEND

REGION_ROWS = 20
SLICES = SiteType("SLICE", (), (None,), 1, 1, 1)
KINDS = {**LEGEND, "U": Tile("uram", "", 10, first_row=10, sites={"URAM288": 4}, resources={"URAM": 4})}


def die(layouts: list[str], slrs: int = 1) -> Device:
    """Make a die of regions of 20 rows; a U has its one tile in the upper half of a region."""
    rows = REGION_ROWS * len(layouts) // slrs
    return Device(
        part="xctest",
        die="xctest",
        architecture="ultrascale+",
        rows_per_clock_region=REGION_ROWS,
        clock_region_columns=((0, len(layouts[0]) - 1),),
        layouts=tuple(layouts),
        legend=KINDS,
        slrs=tuple(Slr(f"SLR{i}", i * rows, (i + 1) * rows - 1) for i in range(slrs)),
        site_types={},
        sll_wires=(),
    )


def same(device: Device, one: Rect, other: Rect) -> bool:
    """Compare two rectangles cell by cell, from what the docs say alone."""
    if (one.columns, one.rows) != (other.columns, other.rows):
        return False
    for dy in range(one.rows):
        for dx in range(one.columns):
            if cell(device, one.left + dx, one.bottom + dy) != cell(device, other.left + dx, other.bottom + dy):
                return False
        if dy + 1 < one.rows and above(device, one.bottom + dy) != above(device, other.bottom + dy):
            return False
    return True


def cell(device: Device, column: int, row: int) -> tuple[str, int | None]:
    region, inside = divmod(row, REGION_ROWS)
    char = device.layouts[region][column]
    tile = device.legend[char]
    return char, (inside - tile.first_row) % tile.tile_rows if inside >= tile.first_row else None


def above(device: Device, row: int) -> str:
    if any(row == slr.top for slr in device.slrs):
        return "die"
    return {0: "region", REGION_ROWS // 2: "spine"}.get((row + 1) % REGION_ROWS, "")


@st.composite
def dies(draw: st.DrawFn) -> Device:
    width, count = draw(st.integers(2, 7)), draw(st.sampled_from([2, 4]))
    first = draw(st.text("CDBU", min_size=width, max_size=width))
    other = draw(st.text("CDBU", min_size=width, max_size=width))
    layouts = [first if draw(st.booleans()) else other for _ in range(count)]
    return die(layouts, draw(st.sampled_from([1, 2])))


@st.composite
def windows(draw: st.DrawFn, device: Device) -> Rect:
    left, bottom = draw(st.integers(0, device.column_count - 1)), draw(st.integers(0, device.row_count - 1))
    right = draw(st.integers(left, min(left + 2, device.column_count - 1)))
    return Rect(left, bottom, right, draw(st.integers(bottom, min(bottom + 24, device.row_count - 1))))


@given(st.data())
def test_anchors_are_the_rectangles_that_are_alike_cell_by_cell(data: st.DataObject) -> None:
    device = open_edges(data.draw(dies()))
    window = data.draw(windows(device))
    inside = data.draw(st.sampled_from([device.bounds, device.slr_region("SLR0")]))
    keep_outs = data.draw(st.lists(windows(device), max_size=1))
    every = [
        Rect(left, bottom, left + window.columns - 1, bottom + window.rows - 1)
        for bottom in range(inside.bottom, inside.top + 2 - window.rows)
        for left in range(inside.left, inside.right + 2 - window.columns)
    ]
    expected = [r for r in every if same(device, window, r) and not any(r.overlaps(hole) for hole in keep_outs)]
    assert anchors(device, window, inside, keep_outs) == expected
    assert all(can_relocate(device, (window,), (rect,)) == same(device, window, rect) for rect in every)


def open_edges(device: Device) -> Device:
    """Let pblocks start and end at every column, so that columns alone decide."""
    every = {"SLICE": replace(SLICES, columns=tuple(range(device.column_count)))}
    return replace(device, site_types=every)


def test_a_window_of_several_rectangles_moves_as_one() -> None:
    device = open_edges(die(["CDCDCD"] * 2))
    window = (Rect(0, 0, 1, 9), Rect(2, 0, 2, 4))
    assert can_relocate(device, window, (Rect(2, 0, 3, 9), Rect(4, 0, 4, 4)))
    assert can_relocate(device, window, (Rect(0, 20, 1, 29), Rect(2, 20, 2, 24)))
    assert not can_relocate(device, window, (Rect(2, 0, 3, 9), Rect(0, 0, 0, 4)))
    assert not can_relocate(device, window, (Rect(0, 0, 1, 9),))
    assert not can_relocate(device, window, (Rect(1, 0, 2, 9), Rect(3, 0, 3, 4)))


def test_hard_blocks_and_clock_spines_fix_the_rows() -> None:
    device = open_edges(die(["CDC"] * 2))
    window = Rect(0, 0, 2, 6)
    assert [rect.bottom for rect in anchors(device, window)] == [0, 10, 20, 30]
    across = Rect(0, 5, 2, 14)
    assert [rect.bottom for rect in anchors(device, across)] == [5, 25]


def test_on_a_real_die_every_anchor_is_a_legal_pblock_that_holds_the_same() -> None:
    (fpga,) = load_platform("xcku5p").fpgas
    device, (slot,) = fpga.device, fpga.slots
    left = int(device.left_edges[4])
    right = next(int(edge) for edge in device.right_edges if edge > left + 20)
    window = Rect(left, 15, right, 44)
    found = anchors(device, window, slot.region, slot.keep_outs)
    assert window in found
    assert len(found) > 1
    assert {device.resources(rect) for rect in found} == {device.resources(window)}
    assert {rect.left for rect in found} <= set(device.left_edges.tolist())
    assert {(rect.bottom - window.bottom) % device.rows_per_clock_region for rect in found} == {0}
