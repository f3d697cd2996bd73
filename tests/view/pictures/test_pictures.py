from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.dom import minidom

import matplotlib as mpl
import pytest

from floorflow.api.pictures import pictures_of
from floorflow.errors import InputError
from floorflow.hardware import load_platform
from floorflow.view.channels import LinkPort
from floorflow.view.die import ABSENT
from floorflow.view.files import charts, svg_bytes
from floorflow.view.labels import link_lines
from floorflow.view.palette import BAR, COLUMN_COLOURS, CROSSING, LINK, STREAM
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.folding import folding_chart
from floorflow.view.pictures.overview import overview
from floorflow.view.pictures.partition import partition_chart
from floorflow.view.pictures.search import search_chart
from tests.view.drawn import misplaced, shapes_of, texts_of, written
from tests.view.fake_plan import fake_plan
from tests.view.two_fpgas import two_fpgas

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform
    from floorflow.view.sheet import Sheet

ROOT = Path(__file__).resolve().parents[3]
LONG_NAMES = [f"StreamingDataflowPartition_{index}_MVAU_rtl_{index}" for index in range(24)]


@pytest.mark.parametrize(("board", "modules"), [("alveo-u250", 10), ("alveo-u250", 60), ("xcku5p", 24), ("pynq-z1", 6)])
def test_no_text_of_a_floorplan_overlaps_another_or_leaves_the_sheet(board: str, modules: int) -> None:
    platform = load_platform(board)
    figure = floorplan(fake_plan(platform, modules), platform, "fpga0")
    assert misplaced(figure) == []


def test_long_names_neither_overlap_nor_spill(u250: Platform) -> None:
    plan = fake_plan(u250, len(LONG_NAMES), names=LONG_NAMES)
    for figure in (floorplan(plan, u250, "fpga0"), folding_chart(plan)):
        assert misplaced(figure) == []


def test_long_names_are_shortened_in_the_middle_where_there_is_room(u250: Platform) -> None:
    plan = fake_plan(u250, len(LONG_NAMES), names=LONG_NAMES)
    labels = [text for text in texts_of(floorplan(plan, u250, "fpga0")) if "…" in text and "\n" in text]
    assert len(labels) > 12
    assert all(label.split("…")[1] and "Str" in label for label in labels)


def test_numbers_of_tiny_pblocks_move_to_free_places(u250: Platform) -> None:
    plan = fake_plan(u250, 12)
    pblocks = plan["phases"][0]["floorplan"]["fpga0"]["pblocks"]
    for index, pblock in enumerate(pblocks.values()):
        left, bottom = 20 + 4 * (index % 4), 400 + 4 * (index // 4)
        pblock["rectangles"] = [{"left": left, "bottom": bottom, "right": left + 2, "top": bottom + 2}]
    assert misplaced(floorplan(plan, u250, "fpga0")) == []


def test_each_label_lies_in_its_rectangle(ku5p: Platform) -> None:
    figure = floorplan(fake_plan(ku5p, 10), ku5p, "fpga0")
    rectangles = {shape.name: shape.box for shape in figure.shapes if shape.name}
    assert len(rectangles) == 10
    labels = {text.split("\n")[0].split()[-1]: box for text, box in written(figure) if "\n" in text}
    assert all(rectangle.holds(labels[name]) for name, rectangle in rectangles.items())


def test_a_pblock_of_several_rectangles_is_one_shape_with_its_label_in_the_largest(u250: Platform) -> None:
    plan = fake_plan(u250, 1)
    (pblock,) = plan["phases"][0]["floorplan"]["fpga0"]["pblocks"].values()
    pblock["rectangles"] = [
        {"left": 1, "bottom": 720, "right": 444, "top": 764},
        {"left": 1, "bottom": 765, "right": 200, "top": 959},
    ]
    figure = floorplan(plan, u250, "fpga0")
    (shape,) = (shape for shape in figure.shapes if shape.name)
    border = next(shape for shape in figure.shapes if shape.kind == "border")
    assert border.svg.count("L") == 6, "an L without a line between its rectangles"
    (label,) = (box for text, box in written(figure) if text.startswith("1 ") and "\n" in text)
    assert label.right < shape.box.left + shape.box.width * 200 / 444
    assert label.bottom > shape.box.bottom + shape.box.height * 45 / 240
    assert misplaced(figure) == []


@pytest.mark.parametrize("modules", [1, 40])
def test_chart_texts_do_not_overlap(u250: Platform, modules: int) -> None:
    figure = folding_chart(fake_plan(u250, modules))
    assert misplaced(figure) == []


def test_render_gives_png_and_svg_of_every_picture_and_leaves_matplotlib_alone(pynq: Platform) -> None:
    before = dict(mpl.rcParams)
    files = pictures_of(fake_plan(pynq, 4), lambda: pynq).files
    assert dict(mpl.rcParams) == before
    stems = ("candidates", "floorplan_fpga0", "folding", "routing_fpga0")
    assert set(files) == {f"plots/{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    assert all(data.startswith(b"\x89PNG") for name, data in files.items() if name.endswith(".png"))
    for name, data in files.items():
        assert mpl.__version__.encode() not in data, name
        assert b"dc:date" not in data
        assert b"tIME" not in data
    assert pictures_of(fake_plan(pynq, 4), lambda: pynq).files == files, "the same bytes"


def test_bytes_are_equal_in_another_process_with_another_hash_seed() -> None:
    script = (
        "import matplotlib; matplotlib.rcParams.update({'text.antialiased': False, 'savefig.facecolor': 'red'});"
        "from tests.view.two_fpgas import two_fpgas; print(two_fpgas())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert two_fpgas() == run.stdout.strip()


def test_several_fpgas_have_a_floorplan_each_and_one_together() -> None:
    platform = load_platform("alveo-u250", fpgas=2)
    assert {"floorplan", "floorplan_fpga0", "floorplan_fpga1"} <= set(charts(fake_plan(platform, 4), platform))


def chain_pictures(plan: dict[str, Any], platform: Platform) -> list[Sheet]:
    fpgas = [floorplan(plan, platform, fpga.name) for fpga in platform.fpgas[:2]]
    return [partition_chart(plan), overview(plan, platform), *fpgas]


@pytest.mark.parametrize(("fpgas", "modules"), [(2, 60), (5, 9)])
def test_no_text_of_several_fpgas_overlaps_another_or_leaves_the_sheet(fpgas: int, modules: int) -> None:
    platform = load_platform("alveo-u250", fpgas=fpgas)
    for figure in chain_pictures(fake_plan(platform, modules), platform):
        assert misplaced(figure) == []


def test_streams_back_and_past_an_fpga_and_long_names_do_not_overlap(three: Platform) -> None:
    homes = [f"fpga{(index * 2) % 3}.SLR{index % 4}" for index in range(len(LONG_NAMES))]
    plan = fake_plan(three, len(LONG_NAMES), names=LONG_NAMES, homes=homes)
    for figure in chain_pictures(plan, three):
        assert misplaced(figure) == []


@pytest.mark.parametrize(("board", "modules"), [("alveo-u250", 120), ("xcku5p", 24), ("pynq-z1", 1)])
def test_no_text_of_one_fpgas_partition_overlaps_another_or_leaves_the_sheet(board: str, modules: int) -> None:
    figure = partition_chart(fake_plan(load_platform(board), modules))
    assert misplaced(figure) == []


def test_the_partition_identifies_every_slot(three: Platform) -> None:
    figure = partition_chart(fake_plan(three, 9))
    identifiers = [shape.name for shape in figure.shapes if shape.name]
    assert sorted(identifiers) == sorted(slot.name for slot in three.slots)


def traces() -> dict[str, list[dict[str, Any]]]:
    row = {"interval_cycles": 1568, "verdict": "legal", "stage": "place", "detail": "hpwl 201,920"}
    failed = {"verdict": "not found within the limit", "stage": "partition", "detail": "SLR1 is full " * 30}
    near = [{**row, **failed, "interval_cycles": 1567 - index} for index in range(60)]
    return {"none": [], "one": [row], "many": [*near, row], "far": [{**row, "interval_cycles": 10**9}, row]}


@pytest.mark.parametrize("trace", ["none", "one", "many", "far"])
@pytest.mark.parametrize("fps", [None, 100_000.0, 0.01])
@pytest.mark.parametrize("bound", [1568, 1567, 3])
def test_no_text_of_the_candidates_overlaps_another(ku5p: Platform, trace: str, fps: float | None, bound: int) -> None:
    plan = fake_plan(ku5p, 3)
    plan["options"]["fps"] = fps
    (network,) = plan["networks"]
    network["trace"] = traces()[trace]
    search = {"interval_cycles": 1568, "bound_cycles": bound, "gap": 1568 / bound - 1, "ended_by": "far " * 150}
    # A joint bound makes the line above the plot longest.
    network["search"] = search | {"joint_bound_cycles": 1568 if bound == 1567 else None, "ended_at": None}
    figure = search_chart(plan)
    assert misplaced(figure) == []


def test_svg_parses_and_identifies_every_module(u250: Platform) -> None:
    plan = fake_plan(u250, 60)
    data = svg_bytes(floorplan(plan, u250, "fpga0"))
    assert len(data) < 150_000
    shapes = minidom.parseString(data).getElementsByTagName("rect")  # noqa: S318 - written by ourselves just now
    identifiers = [shape.getAttribute("id") for shape in shapes]
    for module in plan["phases"][0]["modules"]:
        assert identifiers.count(module["name"]) == 1


def test_importing_view_does_not_load_matplotlib() -> None:
    script = "import sys, floorflow.view; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_unknown_fpga_is_named_with_the_known_ones(pynq: Platform) -> None:
    with pytest.raises(InputError, match=r"fpga7.*fpga0"):
        floorplan(fake_plan(pynq, 4), pynq, "fpga7")


def test_streams_are_listed_in_dataflow_order(u250: Platform) -> None:
    plan = fake_plan(u250, 8)
    texts = texts_of(floorplan(plan, u250, "fpga0"))
    starts = [text.split(" → ")[0] for text in texts if " → " in text and "SLR" not in text]
    numbers = [0 if start.startswith("host") else int(start) for start in starts]
    assert numbers == sorted(numbers)
    assert len(numbers) > 2


def test_streams_end_at_the_middle_of_the_ports_of_host_and_links() -> None:
    two = load_platform("alveo-u250", fpgas=2)
    plan = fake_plan(two, 4, homes=("fpga0.SLR3", "fpga0.SLR0", "fpga1.SLR0", "fpga1.SLR1"))
    figure = floorplan(plan, two, "fpga0")
    die = next(shape.box for shape in figure.shapes if shape.z == 1)
    for colour, port in ((BAR, two.fpgas[0].host_port), (LINK, two.fpgas[0].link_port)):
        (mark,) = shapes_of(figure, "diamond", fill=colour)
        assert port is not None
        column, row = (port.left + port.right + 1) / 2, (port.bottom + port.top + 1) / 2
        x, y = mark.box.centre
        assert x == pytest.approx(die.left + die.width * column / two.fpgas[0].device.column_count)
        assert y == pytest.approx(die.bottom + die.height * row / two.fpgas[0].device.row_count)
    texts = texts_of(figure)
    assert any(text.startswith("host in0\n24 bit") for text in texts)
    assert any(text.startswith("to fpga1\n") for text in texts)


def test_ports_without_streams_are_not_marked(u250: Platform) -> None:
    figure = floorplan(fake_plan(u250, 2), u250, "fpga0")
    assert len(shapes_of(figure, "diamond", fill=BAR)) == 1
    assert shapes_of(figure, "diamond", fill=LINK) == []


def test_a_hosts_stream_to_another_slr_is_drawn_as_a_crossing(u250: Platform) -> None:
    def drawn(homes: tuple[str, str]) -> list[str]:
        figure = floorplan(fake_plan(u250, 2, names="ab", homes=homes), u250, "fpga0")
        return sorted(shape.style["edge"] for shape in figure.shapes if shape.kind == "line" and shape.z == 10)

    assert drawn(("fpga0.SLR3", "fpga0.SLR0")) == sorted([CROSSING, CROSSING, BAR])
    assert drawn(("fpga0.SLR0", "fpga0.SLR0")) == sorted([BAR, BAR, STREAM])


def test_many_neighbours_at_a_port_are_only_counted() -> None:
    ports = [LinkPort(f"to fpga{number}", "fpga0.SLR0", at_left=False, gbps=2.0) for number in range(1, 6)]
    assert link_lines(ports) == ("to 5 FPGAs", "10 Gb/s")
    assert link_lines(ports[:1]) == ("to fpga1", "2 Gb/s")


def test_areas_without_fabric_lie_over_a_modules_fill_and_under_its_outline(pynq: Platform, u250: Platform) -> None:
    figure = floorplan(fake_plan(pynq, 1), pynq, "fpga0")
    fill = next(shape for shape in figure.shapes if shape.name)
    hole = max((shape for shape in figure.shapes if shape.kind == "area"), key=lambda shape: shape.z)
    outline = next(shape for shape in figure.shapes if shape.box == fill.box and "fill" not in shape.style)
    assert hole.style["fill"] == COLUMN_COLOURS[ABSENT]
    assert fill.z < hole.z < outline.z
    assert not shapes_of(floorplan(fake_plan(u250, 2), u250, "fpga0"), "area", fill=COLUMN_COLOURS[ABSENT])


def test_what_would_be_of_one_row_is_not_drawn(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 1)
    (network,), (phase,) = plan["networks"], plan["phases"]
    network["trace"] = network["trace"][:1]
    engines = phase["networks"][0]["folding"]["engines"]
    first = next(iter(engines))
    phase["networks"][0]["folding"]["engines"] = {first: engines[first]}
    assert not {"candidates", "folding", "partition"} & set(charts(plan, ku5p))
    assert {"candidates", "folding"} <= set(charts(fake_plan(ku5p, 2), ku5p))
    assert "partition" not in charts(fake_plan(ku5p, 2), ku5p), "all modules are in one slot"


def test_a_die_that_one_module_fills_has_no_floorplan(ku5p: Platform) -> None:
    plan = fake_plan(ku5p, 2)
    (phase,) = plan["phases"]
    phase["constraint_styles"] = dict.fromkeys(phase["constraint_styles"], "none")
    names = {module["name"] for module in phase["modules"]}
    drawn = {shape.name for shape in floorplan(plan, ku5p, "fpga0").shapes}
    assert names <= drawn, "asked for: where they would fit"
    plan["options"]["constraint_style"] = "auto"
    alone = floorplan(plan, ku5p, "fpga0")
    assert not names & {shape.name for shape in alone.shapes}
    assert any(text.startswith("no floorplan: ") for text in texts_of(alone))
    assert "routing_fpga0" not in charts(plan, ku5p)
