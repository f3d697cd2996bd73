"""The largest clear rectangles of a slot, against a search over all legal ones."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware import Rect, clear_rectangles, load_platform, max_pblocks
from floorflow.resources import ZERO, Resources

KU5P = load_platform("xcku5p").fpgas[0]
U250 = load_platform("alveo-u250", fpgas=2)
REGION = Rect(30, 0, 60, 119)


def spans(low, high):
    return st.tuples(st.integers(low, high), st.integers(low, high)).map(sorted)


holes = st.builds(
    lambda columns, rows: Rect(columns[0], rows[0], columns[1], rows[1]),
    spans(REGION.left - 3, REGION.right + 3),
    spans(REGION.bottom, REGION.top),
)
slots = st.lists(holes, max_size=3).map(lambda rects: replace(KU5P.slots[0], region=REGION, keep_outs=tuple(rects)))


def clear_by_search(device, slot):
    """Return every rectangle with legal edges that touches no keep-out."""
    region, step = slot.region, device.row_step
    lefts = [int(p) for p in device.left_edges if region.left <= p <= region.right]
    rights = [int(p) for p in device.right_edges if region.left <= p <= region.right]
    bottoms = range(-(-region.bottom // step) * step, region.top + 1, step)
    tops = range(bottoms.start + step - 1, region.top + 1, step)
    sides = product(lefts, bottoms, rights, tops)
    rects = (Rect(*corners) for corners in sides if corners[0] <= corners[2] and corners[1] <= corners[3])
    return {rect for rect in rects if not any(rect.overlaps(hole) for hole in slot.keep_outs)}


@given(slot=slots)
def test_clear_rectangles_are_the_maximal_ones_of_all(slot):
    clear = clear_by_search(KU5P.device, slot)
    found = clear_rectangles(KU5P.device, slot)
    assert list(found) == sorted(set(found))
    assert set(found) <= clear
    assert all(any(large.contains(rect) for large in found) for rect in clear)
    assert not any(a.contains(b) for a, b in product(found, found) if a != b)


@given(slot=slots)
def test_whatever_a_clear_rectangle_holds_fits_a_room(slot):
    device, found = KU5P.device, max_pblocks(KU5P.device, slot)
    rects = np.array([rect.as_tuple() for rect in clear_by_search(device, slot)], dtype=np.int64).reshape(-1, 4)
    supplies = {Resources(*row) for row in np.unique(device.resources_of(rects), axis=0).tolist()}
    assert set(found) <= supplies
    assert all(any(supply.fits(room) for room in found) for supply in supplies)
    assert not any(a.fits(b) for a, b in product(found, found) if a != b)


def test_a_slot_without_keep_outs_is_one_room():
    (slot,) = KU5P.slots
    (rect,) = clear_rectangles(KU5P.device, slot)
    assert slot.region.contains(rect)
    assert max_pblocks(KU5P.device, slot) == (slot.capacity,)


def test_a_slot_that_is_kept_out_wholly_has_no_room():
    slot = replace(KU5P.slots[0], keep_outs=(KU5P.slots[0].region,))
    assert clear_rectangles(KU5P.device, slot) == ()
    assert max_pblocks(KU5P.device, slot) == ()


def test_a_keep_out_that_leaves_no_whole_tile_row_leaves_no_room():
    slot = replace(KU5P.slots[0], keep_outs=(Rect(0, 10, 229, 229),))
    assert KU5P.device.row_step == 15
    assert clear_rectangles(KU5P.device, slot) == ()


def test_u250_rooms_lie_beside_shell_and_memory_controller():
    device, slots_of_first = U250.fpgas[0].device, U250.fpgas[0].slots
    for slot in slots_of_first:
        for rect in clear_rectangles(device, slot):
            assert slot.region.contains(rect)
            assert not any(rect.overlaps(hole) for hole in slot.keep_outs)
    half = max_pblocks(device, slots_of_first[1])
    assert all(room.lut <= slots_of_first[1].available.lut for room in half)
    assert max_pblocks(device, slots_of_first[3]) == (slots_of_first[3].capacity,)
    assert ZERO not in max_pblocks(device, slots_of_first[0])
