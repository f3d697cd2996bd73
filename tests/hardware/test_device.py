import time

import numpy as np
import pytest

from floorflow.hardware.geometry import Rect
from floorflow.hardware.ranges import count_sites, parse_ranges, ranges, resources_of_sites
from floorflow.resources import RESOURCE_NAMES, Resources

PUBLISHED = {  # LUT, FF, BRAM18, URAM, DSP of the whole die: AMD's product tables and Vivado reports
    "xc7z020": (53200, 106400, 280, 0, 220),
    "xc7z045": (218600, 437200, 1090, 0, 900),
    "xcku5p": (216960, 433920, 960, 64, 1824),
    "xcu250": (1728000, 3456000, 5376, 1280, 12288),
    "xcu280": (1303680, 2607360, 4032, 960, 9024),
    "xcu50": (871680, 1743360, 2688, 640, 5952),
    "xcu55c": (1303680, 2607360, 4032, 960, 9024),
    "xcvu3p": (394080, 788160, 1440, 320, 2280),
    "xcvu9p": (1182240, 2364480, 4320, 960, 6840),
    "xczu3eg": (70560, 141120, 432, 0, 360),
    "xczu5ev": (117120, 234240, 288, 64, 1248),
    "xczu7ev": (230400, 460800, 624, 96, 1728),
    "xczu9eg": (274080, 548160, 1824, 0, 2520),
}


def random_rects(device, count, seed=1):
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, device.column_count, (count, 2)), axis=1)
    rows = np.sort(rng.integers(0, device.row_count, (count, 2)), axis=1)
    return np.stack([columns[:, 0], rows[:, 0], columns[:, 1], rows[:, 1]], axis=1)


def test_every_die_holds_what_its_maker_publishes(part, device, raw):
    assert device.resources(device.bounds).as_tuple() == PUBLISHED[part]
    official = raw.data["official_totals"]
    counted = device.resources(device.bounds).as_dict()
    assert {name: counted[name] for name in official if name != "LUTRAM"} == {
        name: amount for name, amount in official.items() if name != "LUTRAM"
    }


def test_every_clock_region_holds_what_the_source_counted(device, raw):
    content = raw.data["clock_region_content"]
    for y, layout in enumerate(raw.data["clock_region_layouts"]):
        for x, amounts in enumerate(content["layouts"][layout]):
            expected = dict(zip(content["fields"], amounts, strict=True))
            counted = device.resources(device.clock_region(x, y)).as_dict()
            assert counted == {name: expected[name] for name in RESOURCE_NAMES}, f"X{x}Y{y}"


def test_random_rectangles_agree_with_a_walk_over_the_raw_tiles(device, raw):
    rects = random_rects(device, 20)
    counted = device.resources_of(rects)
    for row, rect in zip(counted.tolist(), rects.tolist(), strict=True):
        assert row == list(raw.resources(Rect(*rect)).values()), rect


def test_random_rectangles_agree_with_a_count_of_the_raw_sites(device, raw):
    for rect in (Rect(*row) for row in random_rects(device, 200, seed=2).tolist()):
        expected = {name: int(sites.within(rect).sum()) for name, sites in raw.sites.items()}
        assert device.sites(rect) == {name: count for name, count in expected.items() if count}, rect


def test_every_site_has_a_name_of_its_own(device, raw):
    for name, sites in raw.sites.items():
        assert len(sites.inside(device.bounds)) == len(sites.x), name


def test_one_rectangle_and_many_give_the_same(device):
    rects = random_rects(device, 20, seed=3)
    single = [device.resources(Rect(*row)).as_tuple() for row in rects.tolist()]
    assert device.resources_of(rects).tolist() == [list(amounts) for amounts in single]


def test_the_kcu116_tutorial_pblock_comes_out_exactly(load_device):
    device = load_device("xcku5p")
    rect = Rect(21, 60, 56, 179)
    assert ranges(device, rect) == (
        "SLICE_X9Y60:SLICE_X27Y179",
        "DSP48E2_X1Y24:DSP48E2_X3Y71",
        "RAMB18_X1Y24:RAMB18_X2Y71",
        "RAMB36_X1Y12:RAMB36_X2Y35",
    )
    assert device.resources(rect) == Resources(lut=18240, ff=36480, bram18=96, uram=0, dsp=144)
    assert rect.left in device.left_edges
    assert rect.right in device.right_edges


def test_ku5p_rows_are_equal_in_fabric(load_device):
    device = load_device("xcku5p")
    columns = [
        (13920, 27840, 72, 0, 120),
        (12960, 25920, 48, 0, 120),
        (16320, 32640, 72, 16, 120),
        (11040, 22080, 48, 0, 96),
    ]
    for y in range(4):
        assert [device.resources(device.clock_region(x, y)).as_tuple() for x in range(4)] == columns


U250_HALF_SLRS = [  # LUT, FF, RAMB18, DSP, URAM as Vivado measured them under the shell
    (["CLOCKREGION_X0Y0:CLOCKREGION_X3Y3"], [], (216960, 433920, 768, 1536, 128)),
    (["CLOCKREGION_X4Y0:CLOCKREGION_X7Y3"], ["SLICE_X146Y230:SLICE_X205Y239"], (210560, 421120, 576, 1536, 192)),
    (["CLOCKREGION_X0Y4:CLOCKREGION_X3Y7"], ["SLICE_X115Y240:SLICE_X116Y479"], (213120, 426240, 768, 1536, 128)),
    (["CLOCKREGION_X0Y8:CLOCKREGION_X3Y11"], [], (216960, 433920, 768, 1536, 128)),
    (["CLOCKREGION_X4Y8:CLOCKREGION_X7Y11"], ["SLICE_X120Y480:SLICE_X202Y491"], (207648, 415296, 576, 1536, 192)),
    (["CLOCKREGION_X0Y12:CLOCKREGION_X3Y15"], [], (216960, 433920, 768, 1536, 128)),
    (["CLOCKREGION_X4Y12:CLOCKREGION_X7Y15"], [], (215040, 430080, 576, 1536, 192)),
]


@pytest.mark.parametrize(("added", "removed", "measured"), U250_HALF_SLRS)
def test_u250_half_slrs_hold_what_vivado_measured(load_device, added, removed, measured):
    device = load_device("xcu250")
    left = resources_of_sites(device, parse_ranges(device, added)) - resources_of_sites(
        device, parse_ranges(device, removed)
    )
    assert (left.lut, left.ff, left.bram18, left.dsp, left.uram) == measured


def test_hard_blocks_count_only_as_whole_tiles(load_device):
    device = load_device("xcku5p")
    dsp, uram = 23, 159
    assert [device.resources(Rect(dsp, 0, dsp, top)).dsp for top in (3, 4, 8, 9)] == [0, 2, 2, 4]
    assert [device.resources(Rect(uram, 1, uram, top)).uram for top in (28, 29, 43, 44)] == [0, 4, 4, 8]


def test_hbm_dies_lack_the_lowest_dsp(load_device):
    device = load_device("xcu280")
    assert device.resources(Rect(6, 0, 6, 59)).dsp == 18
    assert device.resources(Rect(6, 0, 6, 14)).dsp == 0
    assert ranges(device, Rect(6, 0, 6, 64)) == ("DSP48E2_X0Y0:DSP48E2_X0Y19",)


def test_seven_series_columns_hold_two_slices(load_device):
    device = load_device("xc7z020")
    assert device.sites(Rect(2, 0, 2, 0)) == {"SLICE": 2}
    assert ranges(device, Rect(3, 7, 3, 8)) == ("SLICE_X2Y7:SLICE_X3Y8",)


def test_edges_never_separate_an_interconnect_column_from_its_neighbours(device, raw):
    for layout in raw.data["layouts"].values():
        for column, char in enumerate(layout):
            if raw.data["legend"][char]["kind"] == "interconnect":
                assert not {column, column + 1} & set(device.left_edges.tolist())
                assert not {column - 1, column} & set(device.right_edges.tolist())


def test_edges_cut_the_fabric_into_pieces_that_hold_all_of_it(device):
    pieces = np.stack(
        [device.left_edges, 0 * device.left_edges, device.right_edges, 0 * device.left_edges + device.row_count - 1],
        axis=1,
    )
    assert tuple(device.resources_of(pieces).sum(axis=0)) == device.resources(device.bounds).as_tuple()
    assert (device.left_edges[1:] > device.right_edges[:-1]).all()


def test_rows_step_by_the_tallest_tile(device):
    has_uram = device.resources(device.bounds).uram > 0
    assert device.row_step == (15 if has_uram else 5)
    assert device.technology.has_uram is has_uram
    assert device.technology.architecture == device.architecture


def test_slrs_and_clock_regions_tile_the_die(device):
    assert [slr.bottom for slr in device.slrs] == [0, *(slr.top + 1 for slr in device.slrs[:-1])]
    assert device.slrs[-1].top == device.row_count - 1
    total = Resources()
    for y in range(device.clock_region_rows):
        for x in range(len(device.clock_region_columns)):
            total = total + device.resources(device.clock_region(x, y))
    assert total == device.resources(device.bounds)
    assert device.slr_region(device.slrs[0].name).bottom == 0
    with pytest.raises(KeyError):
        device.slr_region("SLR9")


@pytest.mark.parametrize(
    ("part", "wires"), [("xcu250", (23040,) * 3), ("xcu50", (23040,)), ("xcvu9p", (17280,) * 2), ("xcvu3p", ())]
)
def test_boundaries_have_their_wires(load_device, part, wires):
    assert load_device(part).sll_wires == wires


def test_what_lies_outside_the_die_holds_nothing(load_device):
    device = load_device("xczu3eg")
    beyond = Rect(0, 0, device.column_count + 50, device.row_count + 500)
    assert device.resources(beyond) == device.resources(device.bounds)
    assert device.resources(Rect(device.column_count, 0, device.column_count + 9, 9)) == Resources()


def test_a_hundred_thousand_rectangles_take_well_under_a_second(load_device):
    device = load_device("xcu250")
    rects = random_rects(device, 100_000)
    device.resources_of(rects[:1])
    start = time.perf_counter()
    device.resources_of(rects)
    assert time.perf_counter() - start < 2.0


def test_whole_die_ranges_name_every_site(device):
    masks = parse_ranges(device, ranges(device, device.bounds))
    expected = {name: count for name, count in device.sites(device.bounds).items() if name != "LAGUNA"}
    assert count_sites(masks) == expected
