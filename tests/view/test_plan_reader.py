from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.view.box import Box
from floorflow.view.names import frames_text
from floorflow.view.parts import Axis, spaced_ticks
from floorflow.view.pictures.folding import read_bars
from floorflow.view.pictures.search import read_search, read_trace
from floorflow.view.scene import Contents, read_contents, read_scene
from floorflow.view.slots import Use, read_slot_chain
from floorflow.view.text import text_width, wrapped
from tests.view.fake_plan import CAP, fake_plan

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform


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
        ("host in0", "stem"),
        ("stem", "layer1_conv1"),
        ("layer1_conv1", "classifier"),
        ("classifier", "host out0"),
    }
    assert streams["stem", "layer1_conv1"].width_bits == first["width_bits"] + 5


HOMES = ("fpga0.SLR0", "fpga1.SLR3", "fpga0.SLR1", "fpga1.SLR0", "fpga1.SLR1", "fpga2.SLR2")
"""To the second FPGA, back, and forth again; the third module also feeds the last, past the second FPGA."""


def ends_on(plan: dict[str, Any], fpga: str) -> set[tuple[str, str]]:
    return {(stream.source, stream.target) for stream in read_scene(plan, fpga).streams}


def test_streams_of_other_fpgas_end_at_ports_or_pass_from_port_to_port(three: Platform) -> None:
    plan = fake_plan(three, 6, names="abcdef", homes=HOMES)
    assert ends_on(plan, "fpga0") == {
        ("host in0", "a"),
        ("a", "to fpga1"),
        ("from fpga1", "c"),
        ("c", "to fpga1"),
    }
    assert ends_on(plan, "fpga1") == {
        ("from fpga0", "b"),
        ("b", "to fpga0"),
        ("from fpga0", "d"),
        ("d", "e"),
        ("e", "to fpga2"),
        ("from fpga0", "to fpga2"),
    }
    assert ends_on(plan, "fpga2") == {("from fpga1", "f"), ("f", "host out0")}


def test_streams_of_one_module_over_one_link_add_up(three: Platform) -> None:
    plan = fake_plan(three, 6, names="abcdef", homes=HOMES)
    stream = next(item for item in read_scene(plan, "fpga0").streams if item.source == "c")
    crossings = plan["phases"][0]["partition"]["crossings"]
    channels = {channel["name"]: channel for channel in plan["phases"][0]["channels"]}
    leaving = [c for c in crossings if (c["kind"], c["source"]) == ("link", "fpga0.SLR2")]
    widths = [c["width_bits"] for c in leaving if channels[c["channel"]]["source"] == "MVAU_rtl_2"]
    assert len(widths) == 2
    assert stream.width_bits == sum(widths)


def test_the_hosts_stream_passes_through_fpgas_without_a_module(three: Platform) -> None:
    plan = fake_plan(three, 2, names="ab", homes=("fpga1.SLR0", "fpga1.SLR1"))
    assert ends_on(plan, "fpga0") == {("host in0", "to fpga1")}
    assert ends_on(plan, "fpga2") == {("from fpga1", "host out0")}


def test_ports_add_up_the_load_and_lie_towards_the_neighbour(three: Platform) -> None:
    plan = fake_plan(three, 30)
    crossings = plan["phases"][0]["partition"]["crossings"]
    ports = {port.name: port for port in read_scene(plan, "fpga1").ports}
    for name, ends, at_left in (("from fpga0", ("fpga0", "fpga1"), True), ("to fpga2", ("fpga1", "fpga2"), False)):
        slots = tuple(f"{fpga}.SLR2" for fpga in ends)
        load = sum(c["gbps"] for c in crossings if (c["source"], c["target"]) == slots)
        assert ports[name].gbps == pytest.approx(load) != 0
        assert ports[name].at_left is at_left
        assert ports[name].slot == "fpga1.SLR2"


def test_use_of_a_slot_stands_beside_its_limit(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    plan["phases"][0]["partition"]["utilisation"]["fpga0.SLR0"]["LUT"] = CAP["LUT"] / 2
    slot = read_scene(plan, "fpga0").slots[0]
    assert slot.use["LUT"] == Use(CAP["LUT"] / 2, CAP["LUT"])
    assert slot.modules == (1, 2, 3)


def test_resources_that_the_part_lacks_have_no_bar(pynq: Platform) -> None:
    assert "URAM" not in read_scene(fake_plan(pynq, 4), "fpga0").slots[0].use


def test_every_engine_at_the_interval_is_marked_and_the_fastest_are_left_out(u250: Platform) -> None:
    plan = fake_plan(u250, 60)
    (entry,) = plan["phases"][0]["networks"]
    bars, left_out = read_bars(plan, entry)
    engines, interval = entry["folding"]["engines"], entry["interval_cycles"]
    assert len(bars) + left_out == len(engines)
    slowest = {name for name, engine in engines.items() if engine["cycles"] == interval}
    assert {bar.name for bar in bars if bar.slowest} == slowest
    hidden = engines.keys() - {bar.name for bar in bars}
    assert left_out == len(hidden) > 0
    assert max(engines[name]["cycles"] for name in hidden) <= min(bar.cycles for bar in bars)


def test_each_boundary_carries_the_streams_whose_way_leads_over_it(three: Platform) -> None:
    chain = read_slot_chain(fake_plan(three, 6, names="abcdef", homes=HOMES))
    over = {item.lower: ([s.ends for s in item.down], [s.ends for s in item.up]) for item in chain.boundaries}
    assert len(over) == 9
    assert over["fpga0.SLR0"] == ([], [("1", "2")])
    assert sorted(over["fpga0.SLR1"][1]) == [("1", "2"), ("3", "4"), ("3", "6")]
    assert over["fpga0.SLR1"][0] == [("2", "3")]
    assert over["fpga0.SLR2"] == ([], []), "above the link"
    assert over["fpga1.SLR0"] == ([("3", "4")], [("4", "5")])
    assert over["fpga1.SLR1"] == ([("3", "4")], [("5", "6")])
    assert over["fpga1.SLR2"] == ([("2", "3")], [("1", "2")])
    assert sorted(over["fpga2.SLR1"][0]) == [("6", "host out0")]


def test_links_have_streams_and_load_in_each_direction(three: Platform) -> None:
    plan = fake_plan(three, 6, names="abcdef", homes=HOMES)
    loads = {item["name"]: item["use"] for item in plan["phases"][0]["partition"]["loads"]}
    first, second = read_slot_chain(plan).links
    assert {s.ends for s in first.streams[0]} == {("1", "2"), ("3", "4"), ("3", "6")}
    assert {s.ends for s in first.streams[1]} == {("2", "3")}
    assert {s.ends for s in second.streams[0]} == {("3", "6"), ("5", "6")}
    assert second.streams[1] == ()
    assert first.use_gbps == (loads["fpga0>fpga1"], loads["fpga1>fpga0"])
    assert first.use_gbps[1] > 0


def test_the_last_failure_is_the_longest_interval_below_the_choice(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    (network,) = plan["networks"]
    assert read_search(plan, None).last_failure == int(0.97 * network["search"]["interval_cycles"])
    network["trace"] = [row for row in network["trace"] if row["verdict"] == "legal"]
    assert read_search(plan, None).last_failure is None


def test_of_a_long_search_the_end_is_shown(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    trace = plan["networks"][0]["trace"]
    trace *= 20
    shown, left_out = read_trace(read_search(plan, None))
    assert [row.number for row in shown] == list(range(left_out + 1, len(trace) + 1))
    assert 0 < left_out < len(trace)


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])), st.integers(1, 3))
def test_wrapped_lines_fit_and_keep_the_words_in_order(text: str, most_lines: int) -> None:
    lines = wrapped(text, 120.0, 7.0, most_lines)
    assert len(lines) <= most_lines
    assert all(text_width(line, 7.0) <= 120.0 for line in lines)
    shown = " ".join(lines).split("…")[0]
    assert " ".join(text.split()).startswith(shown)


@given(st.floats(1, 1e9), st.floats(1, 1e6), st.booleans())
def test_an_axis_has_few_round_ticks(first: float, span: float, logarithmic: bool) -> None:
    axis = Axis(Box(0, 0, 400, 1), first, first * span, logarithmic=logarithmic and span >= 4)
    assert 1 <= len(axis.ticks) <= 12
    assert all(-1e-6 <= axis.at(tick) <= 400.001 for tick in axis.ticks)
    assert axis.at(axis.last) == pytest.approx(400.0)
    spaced = spaced_ticks(first, max(axis.last, 1.3 * first))
    assert len(spaced) <= 8
    assert all(first <= number <= max(axis.last, 1.3 * first) for number in spaced)


@pytest.mark.parametrize(
    ("fps", "text"),
    [(159438.776, "159,438"), (498.99, "498"), (99.99, "99.9"), (0.0159, "0.015"), (6.25e6, "6,250,000")],
)
def test_rates_are_never_rounded_up(fps: float, text: str) -> None:
    assert frames_text(fps) == text


def contents_of(plan: dict[str, Any], names: list[str]) -> Any:
    return read_contents(plan, 0, names)


def test_a_module_names_its_layer_first_and_at_most_two_operations(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 4)
    names = plan["phases"][0]["modules"][0]["engines"]
    engines = {engine["name"]: engine for engine in plan["networks"][0]["engines"]}
    for name, operation in zip(names, ("Pad", "Im2Col", "Conv", "Quant"), strict=True):
        engines[name]["operation"] = operation
    contents = contents_of(plan, names)
    assert contents.operations_text(500.0, 7.0) == "Conv, Pad +2 more"
    assert contents.layer_text(500.0, 7.0) == "Conv"


def test_merged_modules_count_their_engines_and_name_the_range_of_operations(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 4)
    contents = contents_of(plan, [engine["name"] for engine in plan["networks"][0]["engines"]])
    assert contents.operations_text(500.0, 7.0) == "Conv_0 to Conv_3"
    assert contents.engines_text(500.0, 7.0).startswith("12 engines: 4 MVAU, 3 pad, ")


@given(st.floats(20, 300))
def test_engines_are_never_cut_within_a_word(width: float) -> None:
    words = ("MVAU 16x32", "window", "threshold")
    shown = Contents(words, (), 4, is_merged=False).engines_text(width, 7.0)
    assert all(part in (*words, "4 engines", "+1 more", "+2 more") for part in shown.split(", "))
