"""Sites and resources of rectangles: AMD's own example, holes, HBM rows, and a count row by row."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.verify.hardware.geometry import Device, Rectangle, anchor_of
from floorflow.verify.hardware.ranges import SiteRange, exists, parse_range, rectangle_of_range, sites_of_range
from tests.verify.dies import device, ranges_of
from tests.verify.tiny_network import RESOURCES

die = cache(device)


def test_the_kcu116_tutorial_pblock_has_amds_ranges() -> None:
    columns = die("xcku5p").raw["site_columns"]["SLICE"]
    area = Rectangle(columns[9], 60, columns[27], 179)
    assert ranges_of(die("xcku5p").sites(area)) == [
        "DSP48E2_X1Y24:DSP48E2_X3Y71",
        "RAMB18_X1Y24:RAMB18_X2Y71",
        "RAMB36_X1Y12:RAMB36_X2Y35",
        "SLICE_X9Y60:SLICE_X27Y179",
    ]
    supply = die("xcku5p").resources(area)
    assert supply == {"LUT": 18240, "FF": 36480, "BRAM18": 96, "URAM": 0, "DSP": 144}


@pytest.mark.parametrize("name", ["xcku5p", "xcu250", "xcu280", "xc7z020", "xc7z045", "xczu7ev"])
def test_whole_dies_hold_what_amd_publishes(name: str) -> None:
    official, counted = die(name).raw["official_totals"], die(name).resources(die(name).whole)
    assert {key: counted[key] for key in official if key in counted} == {
        key: value for key, value in official.items() if key in counted
    }


def test_dsp_rows_of_hbm_dies_are_numbered_above_the_interface() -> None:
    u280 = die("xcu280")
    column = u280.raw["site_columns"]["DSP48E2"][0]
    assert u280.sites(Rectangle(column, 0, column, 14)) == {}
    assert u280.sites(Rectangle(column, 15, column, 19)) == {("DSP48E2", 0): 0b11}
    assert u280.sites(Rectangle(column, 60, column, 64)) == {("DSP48E2", 0): 0b11 << 18}


def test_laguna_columns_are_holes_among_slices() -> None:
    u250 = die("xcu250")
    assert not exists(u250, "SLICE", 8, 0)
    assert exists(u250, "SLICE", 8, 60)
    assert anchor_of(u250.sites(Rectangle(16, 0, 18, 119))) == "SLICE_X9Y0"


def test_static_ranges_become_rectangles_of_columns_and_rows() -> None:
    columns = die("xcku5p").raw["site_columns"]
    slices = rectangle_of_range(die("xcku5p"), SiteRange("SLICE", 2, 7, 3, 9))
    blocks = rectangle_of_range(die("xcku5p"), SiteRange("RAMB36", 0, 1, 0, 2))
    assert slices == Rectangle(columns["SLICE"][2], 7, columns["SLICE"][3], 9)
    assert blocks == Rectangle(columns["RAMB36"][0], 5, columns["RAMB36"][0], 14)


@pytest.mark.parametrize(
    "text", ["SLICE_X0Y0", "SLICE_X1Y0:SLICE_X0Y0", "SLICE_X0Y0:RAMB18_X0Y0", "SLICE_X0Y0:SLICE_X0Y0 ", "slice_X0Y0:*"]
)
def test_other_spellings_of_ranges_are_refused(text: str) -> None:
    assert parse_range(text) is None


def count_row_by_row(device: Device, area: Rectangle) -> dict[str, int]:
    """Walk every row: a tile counts at its top row if all its rows lie in the rectangle."""
    total = dict.fromkeys(RESOURCES, 0)
    for row in range(area.bottom, area.top + 1):
        region, inner = divmod(row, device.region_rows)
        for column in range(area.left, area.right + 1):
            entry = device.legend_at(column, region)
            height, first = entry.get("tile_rows", 0), entry.get("first_row", 0)
            at_top = height and inner >= first and (inner - first) % height == height - 1
            if at_top and row - height + 1 >= area.bottom:
                for name in RESOURCES:
                    total[name] += entry.get("resources", {}).get(name, 0)
    return total


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_counting_agrees_with_a_walk_over_every_row(data: st.DataObject) -> None:
    device = die(data.draw(st.sampled_from(["xcu280", "xc7z045"])))
    left, bottom = data.draw(st.integers(0, device.columns - 1)), data.draw(st.integers(0, device.rows - 1))
    right = data.draw(st.integers(left, min(device.columns - 1, left + 40)))
    area = Rectangle(left, bottom, right, data.draw(st.integers(bottom, min(device.rows - 1, bottom + 90))))
    counted = count_row_by_row(device, area)
    assert device.resources(area) == counted
    sites = device.sites(area)
    blocks = sum(mask.bit_count() for (kind, _), mask in sites.items() if kind == "RAMB18")
    assert blocks == counted["BRAM18"]
    named = [sites_of_range(device, span) for text in ranges_of(sites) if (span := parse_range(text))]
    assert sum(mask.bit_count() for part in named for mask in part.values()) == sum(
        mask.bit_count() for (kind, _), mask in sites.items() if kind != "LAGUNA"
    )
