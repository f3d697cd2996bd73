import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.errors import PlatformError
from floorflow.hardware.geometry import Rect
from floorflow.hardware.ranges import (
    anchor,
    count_sites,
    parse_range,
    parse_ranges,
    range_rect,
    ranges,
    resources_of_sites,
)
from tests.hardware.conftest import PARTS, device_of

DEVICES = {name: device_of(name) for name in PARTS}


@st.composite
def rectangles(draw):
    """Draw a die and a rectangle, often with an edge beside a hole, a Laguna column or a clock-region boundary."""
    device = DEVICES[draw(st.sampled_from(PARTS))]
    holes = [
        p for text in device.layouts for p, char in enumerate(text) if device.legend[char].kind in {"laguna", "other"}
    ]
    columns = st.integers(0, device.column_count - 1) | st.sampled_from(sorted(set(holes)))
    seams = [y * device.rows_per_clock_region + d for y in range(1, device.clock_region_rows) for d in (-1, 0, 25)]
    rows = st.integers(0, device.row_count - 1) | st.sampled_from([row for row in seams if row < device.row_count])
    (left, right), (bottom, top) = sorted((draw(columns), draw(columns))), sorted((draw(rows), draw(rows)))
    return device, Rect(left, bottom, right, top)


@given(rectangles())
def test_ranges_name_exactly_the_sites_of_the_rectangle(load_raw, drawn):
    device, rect = drawn
    masks = parse_ranges(device, ranges(device, rect))
    for name, sites in load_raw(device.part).sites.items():
        if name != "LAGUNA":
            expected = sites.mask(rect)
            assert np.array_equal(masks.get(name, np.zeros_like(expected)), expected), name
    assert "LAGUNA" not in masks


@given(rectangles())
def test_ranges_hold_the_resources_of_the_rectangle(drawn):
    device, rect = drawn
    assert resources_of_sites(device, parse_ranges(device, ranges(device, rect))) == device.resources(rect)


@given(rectangles())
def test_corners_exist(load_raw, drawn):
    device, rect = drawn
    for text in ranges(device, rect):
        name, left, bottom, right, top = re.fullmatch(r"(\w+)_X(\d+)Y(\d+):\1_X(\d+)Y(\d+)", text).groups()
        corners = {(int(x), int(y)) for x in (left, right) for y in (bottom, top)}
        assert corners <= load_raw(device.part).sites[name].inside(rect)


@given(rectangles())
def test_the_anchor_is_the_lowest_then_leftmost_slice(load_raw, drawn):
    device, rect = drawn
    slices = load_raw(device.part).sites["SLICE"].inside(rect)
    if slices:
        y, x = min((y, x) for x, y in slices)
        assert anchor(device, rect) == f"SLICE_X{x}Y{y}"
    else:
        with pytest.raises(ValueError, match="no SLICE"):
            anchor(device, rect)


def test_a_laguna_corner_splits_the_range_and_a_laguna_hole_does_not():
    device = DEVICES["xcu250"]
    laguna = device.site_types["SLICE"].columns[8]
    assert ranges(device, Rect(laguna, 60, laguna + 2, 239))[0] == "SLICE_X8Y60:SLICE_X9Y179"
    assert ranges(device, Rect(laguna, 60, laguna + 2, 239))[1] == "SLICE_X9Y180:SLICE_X9Y239"
    around = Rect(laguna - 3, 60, laguna + 2, 239)
    assert [text for text in ranges(device, around) if text.startswith("SLICE")] == ["SLICE_X6Y60:SLICE_X9Y239"]


def test_the_processor_splits_the_range():
    device = DEVICES["xczu7ev"]
    texts = [text for text in ranges(device, device.bounds) if text.startswith("SLICE")]
    assert texts == ["SLICE_X48Y0:SLICE_X111Y239", "SLICE_X0Y240:SLICE_X111Y359"]


def test_a_clock_region_range_names_all_its_sites(device):
    rect = device.clock_region(0, device.clock_region_rows - 1)
    top = device.clock_region_rows - 1
    text = f"CLOCKREGION_X0Y{top}:CLOCKREGION_X0Y{top}"
    assert range_rect(device, text) == rect
    assert count_sites(parse_ranges(device, [text])) == device.sites(rect)


def test_sites_named_twice_count_once():
    device = DEVICES["xcku5p"]
    masks = parse_ranges(device, ["SLICE_X0Y0:SLICE_X3Y9", "SLICE_X2Y5:SLICE_X4Y9", "SLICE_X0Y0"])
    assert count_sites(masks) == {"SLICE": 45}
    blocks = parse_ranges(device, ["RAMB36_X0Y0:RAMB36_X0Y1", "RAMB18_X0Y3:RAMB18_X0Y4"])
    assert resources_of_sites(device, blocks).bram18 == 5


def test_a_range_spans_columns_and_rows():
    device = DEVICES["xcku5p"]
    assert range_rect(device, "SLICE_X9Y60:SLICE_X27Y179") == Rect(21, 60, 56, 179)
    assert range_rect(device, "DSP48E2_X1Y24:DSP48E2_X3Y71") == Rect(23, 60, 44, 179)
    assert range_rect(DEVICES["xcu280"], "DSP48E2_X0Y0:DSP48E2_X0Y19") == Rect(6, 15, 6, 64)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SLICE_X0Y0:DSP48E2_X1Y1", "is no site range"),
        ("SLICE_X0Y0:SLICE_X1Y1:SLICE_X2Y2", "is no site range"),
        ("SLICE_X0", "is no site range"),
        ("", "is no site range"),
        ("SLICE_X5Y0:SLICE_X4Y9", "lower left"),
        ("SLICE_X0Y0:SLICE_X400Y9", "has no SLICE_X400Y0"),
        ("SLICE_X8Y0:SLICE_X9Y9", "has no SLICE_X8Y0; there are SLICE_X7Y0 and SLICE_X9Y0"),
        ("DSP48_X0Y0:DSP48_X0Y9", "has no DSP48_X0Y0"),
        ("CLOCKREGION_X0Y0:CLOCKREGION_X8Y0", "has no CLOCKREGION_X8Y0"),
    ],
)
def test_a_bad_range_says_what_is_wrong(text, complaint):
    with pytest.raises(PlatformError, match=complaint):
        parse_range(DEVICES["xcu250"], text)
