"""Reconfigurable regions: the fewest frames by the rules of UG909, against a search of its own that tries all."""

from itertools import product

import pytest

from floorflow.assets import asset_folder
from floorflow.errors import InfeasibleError
from floorflow.hardware import (
    Device,
    Fpga,
    Rect,
    bitstream_bytes,
    confined,
    gaps,
    load_platform,
    read_device,
    region_grid,
)
from floorflow.placement.region import RegionNeed, RegionProblem, StaticPart, choose_regions
from floorflow.resources import Resources, total

DECOUPLER = StaticPart("decoupler", Resources(lut=200, ff=400))


def fpga_of(name: str) -> Fpga:
    return load_platform(name, 1).fpgas[0]


def load_device(part: str) -> Device:
    path = asset_folder("platforms") / "devices" / f"{part}.yaml"
    return read_device(path.read_text(encoding="utf-8"), path.name)


def problem(name: str, *needs: Resources, static: Resources | None = None) -> RegionProblem:
    fpga = fpga_of(name)
    own = tuple(StaticPart(item.name, item.resources) for item in fpga.board.placed_infrastructure)
    parts = (*own, DECOUPLER) if static is None else (StaticPart("static", static),)
    return RegionProblem(
        fpga.device, fpga.slots, tuple(RegionNeed(f"r{n}", need) for n, need in enumerate(needs)), parts
    )


NEEDS = {
    "small": Resources(lut=4000, ff=6000, bram18=20),
    "half": Resources(lut=20000, ff=20000, bram18=90, dsp=30),
    "large": Resources(lut=35000, ff=30000, bram18=150),
}


@pytest.mark.parametrize("need", NEEDS.values(), ids=NEEDS)
def test_one_region_has_the_fewest_frames_of_all_rectangles(need: Resources) -> None:
    asked = problem("pynq-z1", need)
    found = choose_regions(asked)
    device, static = asked.device, total(part.resources for part in asked.static)
    fill = asked.fill

    def fits(needed: Resources, held: Resources) -> bool:
        pairs = zip(needed.as_dict().items(), held.as_tuple(), strict=True)
        return all(amount <= fill[name] * have + 1e-6 for (name, amount), have in pairs)

    best = None
    # UG909: an edge lies left of an even column and right of an odd one, as INT_L is even and INT_R odd.
    for left, right in product(range(2, 72, 2), range(3, 72, 2)):
        for bottom, top in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            rect = Rect(left, 50 * bottom, right, 50 * top + 49) if left < right else None
            if rect is None or not _may_lie(device.layouts[bottom : top + 1], left, right):
                continue
            held = device.resources(rect)
            if fits(need, held) and fits(static, device.resources(device.bounds) - held):
                columns = "".join(row[left : right + 1] for row in device.layouts[bottom : top + 1])
                frames = sum(map(_frames, columns)) + 4 * (top - bottom + 1)
                best = frames if best is None else min(best, frames)
    assert best == found.stats.objective == found.stats.bound
    assert found.stats.status == "optimal"


def _may_lie(rows: tuple[str, ...], left: int, right: int) -> bool:
    edges = all(row[at].lower() in "mnbd" for row in rows for at in (left, left + 1, right - 1, right))
    return edges and not any(sign in row[left : right + 1] for row in rows for sign in ".s")


def _frames(sign: str) -> int:
    return {"b": 156, "d": 28}.get(sign.lower(), 36)


@pytest.mark.parametrize("name", ["pynq-z1", "zcu104"])
def test_two_regions_share_no_frame_and_leave_the_static_part_its_room(name: str) -> None:
    device = fpga_of(name).device
    half = Resources(lut=device.resources(device.bounds).lut // 5)
    asked = problem(name, half, half)
    found = choose_regions(asked)
    first, second = (region.rect for region in found.regions)
    height = device.rows_per_clock_region
    for rect in (first, second):
        assert rect.bottom % height == 0
        assert (rect.top + 1) % height == 0
    assert not first.overlaps(second)
    held = total(device.resources(rect) for region in found.regions for rect in region.owned)
    assert found.static_left == device.resources(device.bounds) - held
    assert found.static_need.fits(found.static_left)
    assert all(region.supply == total(map(device.resources, region.owned)) for region in found.regions)


def test_two_regions_have_the_fewest_frames_of_all_pairs() -> None:
    small, other = Resources(lut=6000, bram18=30), Resources(lut=9000, dsp=40)
    found = choose_regions(problem("pynq-z1", small, other))
    alone = [choose_regions(problem("pynq-z1", need)).stats.objective or 0 for need in (small, other)]
    assert sum(alone) <= (found.stats.objective or 0)
    again = choose_regions(problem("pynq-z1", other, small))
    assert again.stats.objective == found.stats.objective
    rows = sum(region.rect.rows // 50 for region in found.regions)
    assert sum(region.frames for region in found.regions) + 4 * rows == found.stats.objective


def test_a_region_over_the_clock_column_names_none_of_its_sites_and_snaps_to_routing() -> None:
    (region,) = choose_regions(problem("pynq-z1", NEEDS["large"])).regions
    assert region.rect.left < 33 < region.rect.right
    assert region.snapping_mode == "ROUTING"
    assert region.reset_after_reconfig
    assert {text.split("_X")[0] for text in region.ranges} == {"SLICE", "DSP48", "RAMB18", "RAMB36"}


def test_on_ultrascale_plus_the_clb_column_that_shares_interconnect_with_an_io_column_is_not_owned() -> None:
    (region,) = choose_regions(problem("zcu104", Resources(lut=90_000, dsp=500, bram18=200))).regions
    assert region.rect.left < 123 < region.rect.right
    assert region.snapping_mode == "ON"
    assert not region.reset_after_reconfig
    assert not any(rect.left <= column <= rect.right for rect in region.owned for column in range(123, 129))


def test_what_is_short_is_said_with_the_amount() -> None:
    with pytest.raises(InfeasibleError, match=r"BRAM18: 334 needed, \d+ allowed") as refused:
        choose_regions(problem("pynq-z1", Resources(lut=1000, bram18=300)))
    assert refused.value.exit_code == 3
    assert "short" in str(refused.value)


def test_a_static_part_that_is_too_large_is_named() -> None:
    with pytest.raises(InfeasibleError, match="static part"):
        choose_regions(problem("pynq-z1", Resources(lut=1000), static=Resources(lut=50_000)))


def test_regions_that_fit_alone_and_not_together_are_refused() -> None:
    need = Resources(lut=20_000)
    with pytest.raises(InfeasibleError, match="needed"):
        choose_regions(problem("pynq-z1", need, need, need))


def test_whole_xc7z020_has_the_documented_bitstream() -> None:
    device = load_device("xc7z020")
    grid = region_grid(device)
    # Beside what a region may span: two I/O columns of 42 frames and four of 30 (CMT, clock, VFRAME) each row; under
    # the processor two BRAM and two DSP columns are configured as elsewhere.
    others = 3 * (2 * (42 - 36) + 4 * (30 - 36)) + 2 * (2 * (156 - 36) + 2 * (28 - 36))
    assert bitstream_bytes(device, int(grid.frames.sum()) + others, 3) * 8 == 32_364_512


def test_whole_xcku5p_has_nearly_the_documented_bitstream() -> None:
    device = load_device("xcku5p")
    estimated = bitstream_bytes(device, int(region_grid(device).frames.sum()), 4) * 8
    assert abs(estimated - 123_449_024) < 0.02 * 123_449_024


def test_pblock_of_the_vendors_tutorial_is_made_of_whole_units() -> None:
    # KCU116 tutorial of UG947: SLICE_X9Y60:SLICE_X27Y179, columns 21 to 56 of xcku5p.
    grid = region_grid(load_device("xcku5p"))
    assert 21 in [first for first, _ in grid.units]
    assert 56 in [last for _, last in grid.units]


def test_edges_of_published_regions_on_xc7z020_are_those_of_units() -> None:
    # Edges away from special columns: artico3's slots (SLICE_X0 to X31, to X113), PYNQ's pr_join (X94 to X101), pr_0.
    grid = region_grid(load_device("xc7z020"))
    columns = grid.device.site_types["SLICE"].columns
    assert {columns[x] for x in (0, 94)} <= {first for first, _ in grid.units}
    assert {columns[x] for x in (31, 113, 101, 47)} <= {last for _, last in grid.units}


def test_confined_slot_has_what_the_region_owns() -> None:
    platform = load_platform("zcu104", 1)
    (region,) = choose_regions(problem("zcu104", Resources(lut=90_000, dsp=500, bram18=200))).regions
    (slot,) = confined(platform, {platform.slots[0].name: region.owned}).slots
    assert slot.available == region.supply
    assert slot.region == region.rect
    area = sum(rect.columns * rect.rows for rect in (*slot.keep_outs, *region.owned))
    assert area == region.rect.columns * region.rect.rows


def test_gaps_are_what_is_left() -> None:
    assert gaps(Rect(0, 0, 9, 9), [Rect(0, 0, 3, 9), Rect(6, 0, 9, 4)]) == (*(Rect(4, 0, 5, 4), Rect(4, 5, 9, 9)),)
