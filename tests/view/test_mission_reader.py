"""What pictures read of plans with several networks and phases, slots of opaque names, and ends outside."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import floorflow.view
from floorflow.errors import InputError
from floorflow.view.channels import outside_end
from floorflow.view.names import TIMES, engines_by_id, module_networks, platform_text, read_networks
from floorflow.view.parts import time_text
from floorflow.view.pictures.folding import read_bars
from floorflow.view.pictures.search import read_search
from floorflow.view.pictures.timeline import read_timeline
from floorflow.view.scene import read_scene
from floorflow.view.slots import read_slot_chain
from tests.view.fake_plan import CLOCK_MHZ, fake_mission, fake_plan

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform


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
