from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.dom import minidom

import matplotlib as mpl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from floorflow.errors import InputError
from floorflow.hardware import load_platform
from floorflow.view import floorplan, folding_chart, overview, partition_chart, render, search_chart
from floorflow.view.contents.scene import PortView
from floorflow.view.draw.port_marks import _link_lines
from floorflow.view.pictures.files import svg_bytes
from floorflow.view.sheet.palette import BAR, CROSSING, LINK, STREAM
from tests.view.drawn import misplaced, written
from tests.view.fake_plan import fake_plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.hardware.platform import Platform

ROOT = Path(__file__).resolve().parents[3]
LONG_NAMES = [f"StreamingDataflowPartition_{index}_MVAU_rtl_{index}" for index in range(24)]


@pytest.mark.parametrize(
    ("board", "modules"),
    [
        ("alveo-u250", 10),
        ("alveo-u250", 60),
        ("xcku5p", 24),
        ("pynq-z1", 6),
    ],
)
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
    labels = [text for text, _ in written(floorplan(plan, u250, "fpga0")) if "…" in text and "\n" in text]
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
    rectangles = {patch.get_gid(): patch.get_window_extent() for patch in figure.axes[0].patches if patch.get_gid()}
    assert len(rectangles) == 10
    labels = {text.split("\n")[0].split()[-1]: box for text, box in written(figure) if "\n" in text}
    for name, rectangle in rectangles.items():
        label = labels[str(name)]
        assert rectangle.x0 <= label.x0
        assert label.x1 <= rectangle.x1
        assert rectangle.y0 <= label.y0
        assert label.y1 <= rectangle.y1


def test_a_pblock_of_several_rectangles_is_one_shape_with_its_label_in_the_largest(u250: Platform) -> None:
    plan = fake_plan(u250, 1)
    (pblock,) = plan["phases"][0]["floorplan"]["fpga0"]["pblocks"].values()
    pblock["rectangles"] = [
        {"left": 1, "bottom": 720, "right": 444, "top": 764},
        {"left": 1, "bottom": 765, "right": 200, "top": 959},
    ]
    figure = floorplan(plan, u250, "fpga0")
    (shape,) = [patch for patch in figure.axes[0].patches if patch.get_gid()]
    assert len(shape.get_path().vertices) == 6 + 1, "an L without a line between its rectangles"
    extent = shape.get_window_extent()
    (label,) = [box for text, box in written(figure) if text.startswith("1 ") and "\n" in text]
    assert label.x1 < extent.x0 + extent.width * 200 / 444
    assert label.y0 > extent.y0 + extent.height * 45 / 240
    assert misplaced(figure) == []


@pytest.mark.parametrize("modules", [1, 40])
def test_chart_texts_do_not_overlap(u250: Platform, modules: int) -> None:
    figure = folding_chart(fake_plan(u250, modules))
    assert misplaced(figure) == []


def test_render_gives_png_and_svg_of_every_picture(pynq: Platform) -> None:
    files = render(fake_plan(pynq, 4), pynq)
    stems = ("candidates", "floorplan_fpga0", "folding", "partition", "routing_fpga0")
    assert set(files) == {f"plots/{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    assert all(data.startswith(b"\x89PNG") for name, data in files.items() if name.endswith(".png"))


def two_fpgas() -> dict[str, bytes]:
    """Return pictures of two FPGAs, as SVG to save time."""
    platform = load_platform("alveo-u250", fpgas=2)
    plan = fake_plan(platform, 9)
    figures = (
        search_chart(plan),
        floorplan(plan, platform, "fpga1"),
        overview(plan, platform),
        partition_chart(plan),
    )
    return {str(index): svg_bytes(figure) for index, figure in enumerate(figures)}


def digest(files: dict[str, bytes]) -> str:
    return hashlib.sha256(b"".join(name.encode() + files[name] for name in sorted(files))).hexdigest()


def test_bytes_are_equal_in_another_process_with_another_hash_seed() -> None:
    script = (
        "import matplotlib; matplotlib.rcParams.update({'text.antialiased': False, 'savefig.facecolor': 'red'});"
        "from tests.view.pictures.test_pictures import digest, two_fpgas; print(digest(two_fpgas()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert digest(two_fpgas()) == run.stdout.strip()


def test_several_fpgas_have_a_floorplan_each_and_one_together() -> None:
    platform = load_platform("alveo-u250", fpgas=2)
    files = render(fake_plan(platform, 4), platform)
    assert {"plots/floorplan.png", "plots/floorplan_fpga0.svg", "plots/floorplan_fpga1.svg"} <= set(files)


def test_a_second_rendering_has_the_same_bytes(pynq: Platform) -> None:
    plan = fake_plan(pynq, 4)
    assert render(plan, pynq) == render(plan, pynq)


def chain_pictures(plan: dict[str, Any], platform: Platform) -> list[Figure]:
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
    identifiers = [patch.get_gid() for patch in figure.axes[0].patches if patch.get_gid()]
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
    assert len(data) < 500_000
    groups = minidom.parseString(data).getElementsByTagName("g")  # noqa: S318 - written by ourselves just now
    identifiers = [group.getAttribute("id") for group in groups]
    for module in plan["phases"][0]["modules"]:
        assert identifiers.count(module["name"]) == 1


def test_pictures_hold_no_version_and_no_time(pynq: Platform) -> None:
    for name, data in render(fake_plan(pynq, 4), pynq).items():
        assert mpl.__version__.encode() not in data, name
        assert b"dc:date" not in data
        assert b"tIME" not in data


def test_drawing_leaves_matplotlibs_settings_alone(pynq: Platform) -> None:
    before = dict(mpl.rcParams)
    render(fake_plan(pynq, 4), pynq)
    assert dict(mpl.rcParams) == before


def test_importing_view_does_not_load_matplotlib() -> None:
    script = "import sys, floorflow.view; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_unknown_fpga_is_named_with_the_known_ones(pynq: Platform) -> None:
    with pytest.raises(InputError, match=r"fpga7.*fpga0"):
        floorplan(fake_plan(pynq, 4), pynq, "fpga7")


def test_streams_are_listed_in_dataflow_order(u250: Platform) -> None:
    plan = fake_plan(u250, 8)
    texts = [text for text, _ in written(floorplan(plan, u250, "fpga0"))]
    starts = [text.split(" → ")[0] for text in texts if " → " in text and "SLR" not in text]
    numbers = [0 if start.startswith("host") else int(start) for start in starts]
    assert numbers == sorted(numbers)
    assert len(numbers) > 2


def marks(figure: Figure, colour: str) -> list[tuple[float, float]]:
    """Return the places of the marks of ports of a colour, in points."""
    lines = [line for line in figure.axes[0].lines if line.get_marker() == "D" and line.get_color() == colour]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


def test_streams_end_at_the_middle_of_the_ports_of_host_and_links() -> None:
    two = load_platform("alveo-u250", fpgas=2)
    plan = fake_plan(two, 4, homes=("fpga0.SLR3", "fpga0.SLR0", "fpga1.SLR0", "fpga1.SLR1"))
    axes = (figure := floorplan(plan, two, "fpga0")).axes[0]
    die = axes.images[0].get_extent()
    for colour, port in ((BAR, two.fpgas[0].host_port), (LINK, two.fpgas[0].link_port)):
        ((x, y),) = marks(figure, colour)
        assert port is not None
        column, row = (port.left + port.right + 1) / 2, (port.bottom + port.top + 1) / 2
        assert x == pytest.approx(die[0] + (die[1] - die[0]) * column / two.fpgas[0].device.column_count)
        assert y == pytest.approx(die[2] + (die[3] - die[2]) * row / two.fpgas[0].device.row_count)
    texts = [text for text, _ in written(figure)]
    assert any(text.startswith("host in0\n24 bit") for text in texts)
    assert any(text.startswith("to fpga1\n") for text in texts)


def test_ports_without_streams_are_not_marked(u250: Platform) -> None:
    figure = floorplan(fake_plan(u250, 2), u250, "fpga0")
    assert len(marks(figure, BAR)) == 1
    assert marks(figure, LINK) == []


def test_a_hosts_stream_to_another_slr_is_drawn_as_a_crossing(u250: Platform) -> None:
    def drawn(homes: tuple[str, str]) -> list[str]:
        axes = floorplan(fake_plan(u250, 2, names="ab", homes=homes), u250, "fpga0").axes[0]
        (lines,) = (c for c in axes.collections if isinstance(c, LineCollection) and c.get_alpha() is None)
        return sorted(to_hex(colour) for colour in lines.get_colors())

    assert drawn(("fpga0.SLR3", "fpga0.SLR0")) == sorted([CROSSING, CROSSING, BAR])
    assert drawn(("fpga0.SLR0", "fpga0.SLR0")) == sorted([BAR, BAR, STREAM])


def test_many_neighbours_at_a_port_are_only_counted() -> None:
    ports = [PortView(f"to fpga{number}", "fpga0.SLR0", at_left=False, gbps=2.0) for number in range(1, 6)]
    assert _link_lines(ports) == ("to 5 FPGAs", "10 Gb/s")
    assert _link_lines(ports[:1]) == ("to fpga1", "2 Gb/s")


def test_areas_without_fabric_lie_over_a_modules_fill_and_under_its_outline(pynq: Platform, u250: Platform) -> None:
    axes = floorplan(fake_plan(pynq, 1), pynq, "fpga0").axes[0]
    fill = next(patch for patch in axes.patches if patch.get_gid())
    hole = max(axes.images, key=lambda image: image.get_zorder())
    outline = next(
        patch
        for patch in axes.patches
        if patch.get_window_extent().bounds == fill.get_window_extent().bounds and not patch.fill
    )
    assert fill.get_zorder() < hole.get_zorder() < outline.get_zorder()
    assert len(floorplan(fake_plan(u250, 2), u250, "fpga0").axes[0].images) == 1
