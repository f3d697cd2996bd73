"""What pictures read of plans: of one network and of several, phases, FPGAs, slots of opaque names, ends outside."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import floorflow.view
from floorflow.errors import InputError
from floorflow.view.box import Box
from floorflow.view.channels import outside_end
from floorflow.view.names import TIMES, engines_by_id, frames_text, module_networks, platform_text, read_networks
from floorflow.view.parts import Axis, spaced_ticks, time_text
from floorflow.view.pictures.folding import read_bars
from floorflow.view.pictures.search import read_search, read_trace
from floorflow.view.pictures.timeline import read_timeline
from floorflow.view.scene import Contents, read_contents, read_scene
from floorflow.view.slots import Use, read_slot_chain
from floorflow.view.text import text_width, wrapped
from tests.view.fake_plan import CAP, CLOCK_MHZ, fake_mission, fake_plan

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
    assert ends_on(plan, "fpga0") == {("host in0", "a"), ("a", "to fpga1"), ("from fpga1", "c"), ("c", "to fpga1")}
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


@pytest.mark.parametrize(
    ("end", "text"),
    [
        ("host:in0", "host in0"),
        ("cnv/host:out1", "cnv/host out1"),
        ("memory:features", "memory features"),
        ("cnv/phase:p1/features", "cnv/phase p1/features"),
        ("cnv/MVAU_hls_0", None),
        ("host_in0", None),
    ],
)
def test_ends_outside_are_told_from_engines_and_named(end: str, text: str | None) -> None:
    found = outside_end(end)
    assert (found and found.text) == text


def test_modules_belong_to_the_networks_of_their_engines_and_have_their_numbers(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    assert module_networks(plan, 0) == (0,) * 6 + (1,) * 4
    assert [(view.name, view.modules) for view in read_networks(plan, 0)] == [("resnet18", (1, 6)), ("mobile", (7, 10))]
    assert [(view.name, view.modules) for view in read_networks(plan, 1)] == [("resnet18", (1, 6)), ("mobile", (7, 7))]
    assert "resnet18/MVAU_rtl_0" in engines_by_id(plan)


def test_a_plan_of_one_network_has_no_legend_and_bare_names(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    assert read_networks(plan, 0) == ()
    assert "MVAU_rtl_0" in engines_by_id(plan)
    assert read_scene(plan, "fpga0").title == "resnet18_w3a3 on xcku5p, fpga0"


def test_streams_from_and_to_memory_and_other_phases_end_outside(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    for phase, ends in enumerate(
        (
            {("resnet18/host in0", "layer0"), ("layer5", "resnet18/memory features")}
            | {("mobile/host in0", "tiny0"), ("tiny3", "mobile/phase p1/scores")},
            {("resnet18/memory features", "layer6"), ("layer11", "resnet18/host out0")}
            | {("mobile/phase p0/scores", "tiny4"), ("tiny4", "mobile/host out0")},
        )
    ):
        scene = read_scene(plan, "fpga0", phase)
        found = {(s.source, s.target) for s in scene.streams if {s.source, s.target} & scene.outside.keys()}
        assert found == ends
        assert {end.text for end in scene.slots[0].outside} == {end for pair in ends for end in pair if "/" in end}


def test_slots_that_share_an_slr_go_by_their_own_names(halves: Platform, u250: Platform) -> None:
    slots = read_scene(fake_plan(halves, 6), "fpga0").slots
    assert [(slot.label, slot.slr) for slot in slots] == [("attic", "SLR0"), ("fpga0.SLR0", "SLR0")]
    assert {number for slot in slots for number in slot.modules} == set(range(1, 7))
    assert [slot.label for slot in read_scene(fake_plan(u250, 4), "fpga0").slots] == ["SLR3", "SLR2", "SLR1", "SLR0"]


def test_boundaries_between_slots_of_any_name_carry_their_streams(halves: Platform) -> None:
    plan = fake_plan(halves, 2, names="ab", homes=("fpga0.SLR0", "attic"))
    (boundary,) = read_slot_chain(plan).boundaries
    assert [stream.ends for stream in boundary.up] == [("1", "2")]
    assert [stream.ends for stream in boundary.down] == [("2", "host out0")]


def test_streams_go_over_the_boundaries_of_the_planners_route(square: Platform) -> None:
    """Two ways round a square are equally short; the picture shows the one whose wires are counted."""
    plan = fake_plan(square, 2, names="ab", homes=("a", "d"))
    over = {(b.lower, b.upper) for b in read_slot_chain(plan).boundaries for s in b.up if s.ends == ("1", "2")}
    steps = square.graph.slots_on(0, square.graph.route(0, 3))
    assert len(steps) == 3
    assert over == {(square.slots[a].name, square.slots[b].name) for a, b in pairwise(steps)}


def test_titles_name_the_board_of_equal_fpgas_and_else_the_platform(mixed: Platform, three: Platform) -> None:
    assert platform_text(fake_plan(three, 3)) == f"3 {TIMES} alveo-u250"
    plan = fake_plan(mixed, 3)
    assert platform_text(plan) == "u250-and-ku5p"
    assert read_slot_chain(plan).boards == {"fpga0": "alveo-u250", "fpga1": "xcku5p"}
    assert read_scene(plan, "fpga1").title == "resnet18_w3a3 on xcku5p, fpga1"
    assert read_slot_chain(fake_plan(three, 3)).boards == {}


def test_each_network_has_its_own_search(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    plan["networks"][1]["search"]["bound_cycles"] = 7
    assert read_search(plan, "mobile").search["bound_cycles"] == 7
    assert read_search(plan, "resnet18").search["bound_cycles"] > 7
    with pytest.raises(InputError, match=r"no network 'lenet'.*resnet18, mobile"):
        read_search(plan, "lenet")


def test_steps_follow_one_another_over_the_period(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    first, second = read_timeline(plan)
    assert (first.phase, first.start_us, second.phase) == ("p0", 0.0, "p1")
    assert second.start_us == first.load_us + first.run_us
    assert second.start_us + second.load_us + second.run_us == pytest.approx(plan["schedule"]["period_us"])
    run = plan["phases"][1]["networks"][1]
    assert second.runs[1].run_us == 64 * run["interval_cycles"] / CLOCK_MHZ
    assert max(run.run_us for run in second.runs) == pytest.approx(second.run_us)


def test_a_plan_of_one_phase_has_no_timeline(ku5p: Platform) -> None:
    with pytest.raises(InputError, match="schedule is null"):
        read_timeline(fake_plan(ku5p, 3))


@pytest.mark.parametrize(
    ("time_us", "text"), [(0.0, "0 µs"), (12.5, "12.5 µs"), (9500.0, "9.5 ms"), (2.5e6, "2.5 s"), (4.2e9, "4,200 s")]
)
def test_times_are_written_in_their_unit(time_us: float, text: str) -> None:
    assert time_text(time_us) == text


def test_engines_go_by_the_back_ends_labels_roles_and_parallelism(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 2)
    (network,), (entry,) = plan["networks"], plan["phases"][0]["networks"]
    core = next(engine for engine in network["engines"] if engine["role"] == "core")
    core |= {"kind": "Conv3D", "label": "conv"}
    folded = entry["folding"]["engines"][core["name"]]
    ways = [{"name": name, "value": value, "most": 64} for name, value in (("coarse_in", 4), ("fine", 9), ("split", 0))]
    folded |= {"attributes": {"fine": 9, "memory": "rom", "spill": "rom"}, "parallelism": ways}
    scene = read_scene(plan, "fpga0")
    assert scene.parallelism == f"coarse_in{TIMES}fine{TIMES}split"
    assert scene.modules[0].contents.headline == f"conv 4{TIMES}9{TIMES}0"
    bar = next(bar for bar in read_bars(plan, entry)[0] if bar.name == core["name"])
    assert bar.note == "coarse_in 4 · fine 9 · rom"


def test_a_module_without_weights_is_told_by_its_core_engine(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 3)
    for engine in plan["networks"][0]["engines"]:
        engine["weight_bits"] = 0
    assert read_scene(plan, "fpga0").modules[1].contents.headline.startswith("MVAU ")


def test_pictures_know_no_kind_or_attribute_of_a_back_end() -> None:
    words = re.compile(
        r"MVAU|VVAU|SIMD|\bPE\b|Thresholding|ConvolutionInput|Streaming|FMPadding|mem_mode|ram_style|FINN"
    )
    sources = sorted(Path(floorflow.view.__file__).parent.rglob("*.py"))
    assert len(sources) > 20
    assert [path.name for path in sources if words.search(path.read_text(encoding="utf-8"))] == []
