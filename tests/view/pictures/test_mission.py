"""Pictures of several networks, several phases, boards that differ, and slots that share an SLR."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from floorflow.errors import InputError
from floorflow.hardware import load_platform
from floorflow.view.die import die_of
from floorflow.view.files import charts, free_name
from floorflow.view.palette import BAR, MEMORY, OTHER_PHASE, TRACK
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.folding import folding_chart
from floorflow.view.pictures.overview import die_sizes, overview
from floorflow.view.pictures.partition import partition_chart
from floorflow.view.pictures.search import search_chart
from floorflow.view.pictures.timeline import timeline_chart
from tests.verify.two_by_two import two_by_two
from tests.view.drawn import misplaced, shapes_of, texts_of, written
from tests.view.fake_plan import fake_mission, fake_plan

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform


@pytest.mark.parametrize(("fpgas", "modules"), [(1, 12), (2, 60)])
@pytest.mark.parametrize("phase", [0, 1])
def test_no_text_of_a_missions_pictures_overlaps_another_or_leaves_the_sheet(
    fpgas: int, modules: int, phase: int
) -> None:
    platform = load_platform("alveo-u250", fpgas=fpgas)
    plan = fake_mission(platform, modules)
    pictures = [partition_chart(plan, phase), folding_chart(plan, phase, "mobile")]
    pictures += [floorplan(plan, platform, fpga.name, phase) for fpga in platform.fpgas]
    pictures += [overview(plan, platform, phase)] if fpgas > 1 else []
    assert [misplaced(figure) for figure in pictures] == [[] for _ in pictures]


def test_titles_name_networks_and_phase(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    assert "resnet18 + mobile on xcku5p, fpga0, phase p1" in texts_of(floorplan(plan, ku5p, "fpga0", 1))
    assert "Partition of resnet18 + mobile on xcku5p, phase p1" in texts_of(partition_chart(plan, 1))
    assert "Folding of mobile on xcku5p, phase p1" in texts_of(folding_chart(plan, 1, "mobile"))
    assert "Search for the interval of mobile on xcku5p" in texts_of(search_chart(plan, "mobile"))


def test_each_network_has_a_line_in_the_legend(ku5p: Platform) -> None:
    texts = texts_of(floorplan(fake_mission(ku5p), ku5p, "fpga0"))
    assert any(text.startswith("modules 1 to 6   ·   interval ") for text in texts)
    assert any(text.startswith("modules 7 to 10   ·   interval ") for text in texts)


MARKS = {"diamond": BAR, "square": MEMORY, "pentagon": OTHER_PHASE}


def test_host_memory_and_other_phases_have_a_mark_each_with_their_names(ku5p: Platform) -> None:
    figure = floorplan(fake_mission(ku5p), ku5p, "fpga0")
    marks = {kind: shapes_of(figure, kind, fill=colour) for kind, colour in MARKS.items()}
    assert [len(own) for own in marks.values()] == [1, 1, 1]
    assert len({own[0].box.centre for own in marks.values()}) == 3
    drawn = " ".join(texts_of(figure))
    for name in ("resnet18/host in0", "mobile/host in0", "resnet18/memory features", "mobile/phase p1/scores"):
        assert name in drawn


def test_a_missions_pictures_carry_network_and_phase_in_their_names(pynq: Platform) -> None:
    stems = {"candidates_resnet18", "candidates_mobile", "timeline"}
    for phase in ("p0", "p1"):
        stems |= {f"folding_resnet18_{phase}", f"folding_mobile_{phase}"}
        stems |= {f"floorplan_fpga0_{phase}", f"routing_fpga0_{phase}"}
    assert set(charts(fake_mission(pynq), pynq)) == stems


def test_pictures_whose_names_would_be_the_same_are_all_kept() -> None:
    first = free_name((), "folding", "a", "b_c")
    assert free_name((first,), "folding", "a_b", "c") != first


def test_the_timeline_draws_times_to_scale(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    figure = timeline_chart(plan)
    assert misplaced(figure) == []
    period_us = plan["schedule"]["period_us"]
    loads = [shape.box for shape in shapes_of(figure, "rect", hatch="/") if shape.z == 4]
    runs = [shape.box for shape in shapes_of(figure, "rect", fill=TRACK) if shape.z == 2]
    frame = next(shape.box for shape in figure.shapes if shape.kind == "rect" and shape.z == 3)
    for load, run, step in zip(loads[::2], runs, plan["schedule"]["steps"], strict=True):
        assert load.width / frame.width == pytest.approx(step["load_us"] / period_us)
        assert run.width / frame.width == pytest.approx(step["run_us"] / period_us)
    assert {"phase p0", "phase p1", "load 9.5 ms"} <= {text.split(",")[0] for text in texts_of(figure)}


def test_a_network_that_is_not_in_the_phase_is_named_with_those_that_are(ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    plan["phases"][1]["networks"].pop()
    with pytest.raises(InputError, match=r"phases\[1\] has no network 'mobile'; it has: resnet18"):
        folding_chart(plan, 1, "mobile")


def test_dies_that_differ_are_drawn_to_one_scale(mixed: Platform) -> None:
    first, second = (die_of(mixed, fpga.name) for fpga in mixed.fpgas)
    (width, height), (other_width, other_height) = die_sizes([first, second])
    assert height / other_height == pytest.approx(first.row_count / second.row_count)
    assert width / other_width == pytest.approx(first.column_count / second.column_count)
    assert die_sizes([second, second])[0][0] == width


def test_no_text_of_boards_that_differ_overlaps_another_or_leaves_the_sheet(mixed: Platform) -> None:
    plan = fake_plan(mixed, 14)
    for figure in (overview(plan, mixed), partition_chart(plan), floorplan(plan, mixed, "fpga1")):
        assert misplaced(figure) == []
    assert {"alveo-u250", "xcku5p"} <= set(texts_of(overview(plan, mixed)))


def test_slots_that_share_an_slr_are_drawn_one_above_the_other(halves: Platform) -> None:
    plan = fake_plan(halves, 8)
    for figure in (floorplan(plan, halves, "fpga0"), partition_chart(plan)):
        assert misplaced(figure) == []
        texts = dict(written(figure))
        assert texts["attic"].bottom > texts["fpga0.SLR0"].top


def test_a_boundary_to_a_slot_elsewhere_in_the_stack_is_named(u250: Platform) -> None:
    plan = fake_plan(u250, 12)
    plan["platform"]["boundaries"].append({"name": "by", "lower": "fpga0.SLR0", "upper": "fpga0.SLR2", "wires": 10})
    plan["phases"][0]["partition"]["loads"].append({"name": "by", "kind": "sll", "use": 5, "capacity": 10})
    figure = partition_chart(plan)
    assert misplaced(figure) == []
    assert "to SLR2: 5 of 10 SLL wires (50.0%)" in texts_of(figure)


def test_the_judges_plan_made_by_hand_is_drawn(u250: Platform) -> None:
    plan, _ = two_by_two()
    pictures = [timeline_chart(plan), *(search_chart(plan, name) for name in ("camera", "radar"))]
    for phase in (0, 1):
        pictures += [floorplan(plan, u250, "fpga0", phase), partition_chart(plan, phase)]
        pictures += [folding_chart(plan, phase, name) for name in ("camera", "radar")]
    assert [misplaced(figure) for figure in pictures] == [[] for _ in pictures]
