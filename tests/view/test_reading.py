from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.view.chart import Scale, _bars
from floorflow.view.geometry import Box, outside
from floorflow.view.reading import read_scene
from tests.view.fake_plan import CAP, fake_plan

if TYPE_CHECKING:
    from floorflow.target.platform import Platform

edges = st.tuples(st.integers(0, 12), st.integers(1, 8))


@given(st.lists(st.tuples(edges, edges), max_size=4))
def test_outside_covers_exactly_the_cells_that_no_hole_covers(
    holes: list[tuple[tuple[int, int], tuple[int, int]]],
) -> None:
    boxes = tuple(Box(x, y, x + width, y + height) for (x, width), (y, height) in holes)
    pieces = outside(Box(0, 0, 10, 10), boxes)
    for x in range(10):
        for y in range(10):
            cell = Box(x, y, x + 1, y + 1)
            assert sum(piece.overlaps(cell) for piece in pieces) == (not any(box.overlaps(cell) for box in boxes))


def test_modules_are_numbered_along_the_dataflow_whatever_their_order_in_the_plan(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 6)
    plan["phases"][0]["modules"].reverse()
    names = [module.name for module in read_scene(plan, "fpga0").modules]
    assert names == ["stem", "layer1_conv1", "layer1_conv2", "layer1_conv3", "layer1_conv4", "classifier"]


def test_streams_inside_a_module_are_left_out_and_parallel_ones_add_up(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    channels = plan["phases"][0]["channels"]
    first = next(channel for channel in channels if channel["name"] == "channel_1")
    channels.append({**first, "name": "again", "width_bits": 5})
    streams = {(stream.source, stream.target): stream for stream in read_scene(plan, "fpga0").streams}
    assert set(streams) == {
        (None, "stem"),
        ("stem", "layer1_conv1"),
        ("layer1_conv1", "classifier"),
        ("classifier", None),
    }
    assert streams["stem", "layer1_conv1"].width_bits == first["width_bits"] + 5
    assert streams[None, "stem"].far_end == "host in0"


def test_stream_to_another_fpga_names_the_module_there(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    floorplans = plan["phases"][0]["floorplan"]
    floorplans["fpga1"] = {"pblocks": {"classifier": floorplans["fpga0"]["pblocks"].pop("classifier")}}
    ends = {stream.far_end for stream in read_scene(plan, "fpga0").streams}
    assert ends == {"host in0", "", "module 3"}


def test_use_of_a_slot_is_demand_over_limit(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    plan["phases"][0]["partition"]["utilisation"]["fpga0.SLR0"]["LUT"] = CAP["LUT"] / 2
    slot = read_scene(plan, "fpga0").slots[0]
    assert slot.of_limit["LUT"] == pytest.approx(0.5)
    assert slot.module_count == 3


def test_resources_that_the_part_lacks_have_no_bar(pynq: Platform) -> None:
    assert "URAM" not in read_scene(fake_plan(pynq, 4), "fpga0").slots[0].of_limit


def test_every_engine_at_the_interval_is_marked_and_the_fastest_are_left_out(u250: Platform) -> None:
    plan = fake_plan(u250, 60)
    bars, left_out = _bars(plan, 0)
    engines = plan["phases"][0]["folding"]["engines"]
    interval = plan["phases"][0]["folding"]["cycles"]
    assert len(bars) + left_out == len(engines)
    slowest = {name for name, engine in engines.items() if engine["cycles"] == interval}
    assert {bar.name for bar in bars if bar.slowest} == slowest
    hidden = engines.keys() - {bar.name for bar in bars}
    assert left_out == len(hidden) > 0
    assert max(engines[name]["cycles"] for name in hidden) <= min(bar.cycles for bar in bars)


@given(st.integers(1, 10**9), st.booleans())
def test_axis_has_few_round_ticks_inside_the_interval(last: int, decades: bool) -> None:
    scale = Scale(0.5 if last < 10 else 1.0, float(last), 400.0, decades=decades and last > 1)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 11
    assert all(-1e-6 <= scale.at(tick) <= 400.001 for tick in ticks)
    assert scale.at(last) == pytest.approx(400.0)
