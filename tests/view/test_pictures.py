from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING
from xml.dom import minidom

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from floorflow.errors import InputError
from floorflow.target.platform import load_platform
from floorflow.view import floorplan, folding_chart, render
from floorflow.view.files import svg_bytes
from tests.view.fake_plan import fake_plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    from floorflow.target.platform import Platform

ROOT = Path(__file__).resolve().parents[2]
LONG_NAMES = [f"StreamingDataflowPartition_{index}_MVAU_rtl_{index}" for index in range(24)]


def written(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every text of a figure with its box in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = (artist for artist in figure.findobj(Text) if artist.get_text())
    return [(text.get_text(), Text.get_window_extent(text, renderer)) for text in texts]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    return [
        (first, second)
        for (first, a), (second, b) in combinations(written(figure), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    ]


def spilling(figure: Figure) -> list[str]:
    sheet = figure.bbox
    return [
        text
        for text, box in written(figure)
        if box.x0 < sheet.x0 or box.x1 > sheet.x1 or box.y0 < sheet.y0 or box.y1 > sheet.y1
    ]


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
    assert overlapping(figure) == []
    assert spilling(figure) == []


def test_long_names_neither_overlap_nor_spill(u250: Platform) -> None:
    plan = fake_plan(u250, len(LONG_NAMES), names=LONG_NAMES)
    for figure in (floorplan(plan, u250, "fpga0"), folding_chart(plan)):
        assert overlapping(figure) == []
        assert spilling(figure) == []


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
        pblock["rectangle"] = {"left": left, "bottom": bottom, "right": left + 2, "top": bottom + 2}
    assert overlapping(floorplan(plan, u250, "fpga0")) == []


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


@pytest.mark.parametrize("modules", [1, 40])
def test_chart_texts_do_not_overlap(u250: Platform, modules: int) -> None:
    figure = folding_chart(fake_plan(u250, modules))
    assert overlapping(figure) == []
    assert spilling(figure) == []


def test_render_gives_png_and_svg_of_every_picture(pynq: Platform) -> None:
    files = render(fake_plan(pynq, 4), pynq)
    expected = {f"plots/{stem}.{kind}" for stem in ("floorplan_fpga0", "folding") for kind in ("png", "svg")}
    assert set(files) == expected
    assert all(data.startswith(b"\x89PNG") for name, data in files.items() if name.endswith(".png"))


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


def digest(platform: Platform, modules: int) -> str:
    files = render(fake_plan(platform, modules), platform)
    return hashlib.sha256(b"".join(name.encode() + files[name] for name in sorted(files))).hexdigest()


def test_bytes_are_equal_in_another_process_with_another_hash_seed(ku5p: Platform) -> None:
    script = (
        "from tests.view.test_pictures import digest; from floorflow.target.platform import load_platform;"
        "import matplotlib; matplotlib.rcParams.update({'text.antialiased': False, 'savefig.facecolor': 'red'});"
        "print(digest(load_platform('xcku5p'), 9))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert digest(ku5p, 9) == digest(ku5p, 9) == run.stdout.strip()


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
