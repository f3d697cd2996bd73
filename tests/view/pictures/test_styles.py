"""A floorplan in all styles and by all colourings: type that can be read, colours that all eyes tell apart."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from typer.testing import CliRunner

import floorflow as ff
from floorflow.cli.main import app
from floorflow.errors import InputError
from floorflow.hardware import load_platform
from floorflow.view.colouring import COLOURINGS, colouring_of
from floorflow.view.files import pdf_bytes
from floorflow.view.names import modules_in_order
from floorflow.view.palette import APART, UNKNOWN, level_colour
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.overview import overview
from floorflow.view.sheet import STYLES, Sheet
from tests.view.drawn import misplaced, shapes_of, texts_of
from tests.view.fake_plan import fake_mission, fake_plan

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

COLUMNS_IN = {"paper": 3.5, "wide paper": 7.16}
LEAST_PT = 7.0
EYES = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}  # fmt: skip
"""What is left of linear RGB (Machado, Oliveira, Fernandes 2009, severity 1)."""
TO_XYZ = np.array([[0.41246, 0.35758, 0.18044], [0.21267, 0.71515, 0.07218], [0.01933, 0.11919, 0.95030]])
WHITE = TO_XYZ.sum(axis=1)
APART_DE, SHADES_DE = 12.0, 5.0
"""Least distances in CIELAB, where about 2 are seen side by side: of names, and of a quarter of a scale."""


def seen(colour: str, eyes: NDArray[Any], opacity: float = 0.82) -> NDArray[Any]:
    """Return a colour, as hard pblocks have it over the white of the die, in CIELAB."""
    rgb = opacity * np.array(to_rgb(colour)) + 1 - opacity
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(eyes @ linear, 0, 1) / WHITE
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES.values(), ids=EYES)
def test_all_eyes_tell_names_and_levels_apart(eyes: NDArray[Any]) -> None:
    names = [seen(colour, eyes) for colour in (*APART, UNKNOWN)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(names, 2)) > APART_DE
    levels = [seen(level_colour(level / 4), eyes) for level in range(5)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(levels, 2)) > SHADES_DE
    assert [level[0] for level in levels] == sorted((level[0] for level in levels), reverse=True), "fuller is darker"


def pictures(style: str) -> list[Sheet]:
    """Return floorplans and overviews of dies tall and flat, with few modules and with many."""
    u250, pynq, two = (load_platform("alveo-u250"), load_platform("pynq-z1"), load_platform("alveo-u250", fpgas=2))
    drawn = [floorplan(fake_plan(u250, 28), u250, "fpga0", style=STYLES[style])]
    drawn.append(floorplan(fake_mission(pynq), pynq, "fpga0", 1, style=STYLES[style], by="fill"))
    drawn.append(overview(fake_plan(two, 12), two, style=STYLES[style], by="slot"))
    many = load_platform("alveo-u250", fpgas=5)
    return [*drawn, overview(fake_plan(many, 30), many, style=STYLES[style])]


@pytest.mark.parametrize("style", STYLES)
def test_texts_of_a_page_are_large_enough_and_stand_alone(style: str) -> None:
    for sheet in pictures(style):
        assert misplaced(sheet) == []
        size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', sheet.svg())
        assert size is not None
        scale = float(size[1]) / sheet.width
        if style in COLUMNS_IN:
            assert float(size[1]) == pytest.approx(72 * COLUMNS_IN[style], abs=0.1)
            assert min(text.style["size"] for text in sheet.texts) * scale >= LEAST_PT - 1e-6
            assert float(size[2]) <= 72 * 9.0, "it stands on a page with its caption"
        elif style == "slide":
            assert (float(size[1]), float(size[2])) == (960, 540)
            assert min(text.style["size"] for text in sheet.texts) * scale >= 11


def test_a_page_names_all_modules_or_says_how_many_it_does_not(two_cards: Platform) -> None:
    plan = fake_plan(two_cards, 120)
    texts = texts_of(overview(plan, two_cards, style=STYLES["slide"]))
    told = [re.fullmatch(r"and (\d+) more modules", text) for text in texts]
    (more,) = (match for match in told if match)
    assert 0 < int(more[1]) < 120
    few = texts_of(overview(fake_plan(two_cards, 12), two_cards, style=STYLES["paper"]))
    assert {str(number) for number in range(1, 13)} <= set(few)
    assert not any(" more modules" in text for text in few)


@pytest.fixture
def two_cards() -> Platform:
    return load_platform("alveo-u250", fpgas=2)


@pytest.mark.parametrize("by", COLOURINGS)
def test_a_legend_has_each_colour_that_is_named_and_no_other(by: str, ku5p: Platform) -> None:
    plan = fake_mission(ku5p)
    sheet, colouring = floorplan(plan, ku5p, "fpga0", by=by), colouring_of(plan, 0, by)
    assert colouring.says in texts_of(sheet)
    assert len(colouring.colours) == len(modules_in_order(plan, 0))
    for text, colour in colouring.samples:
        assert text in texts_of(sheet)
        assert shapes_of(sheet, "rect", fill=colour)
    if not colouring.is_scale:
        assert {colour for _, colour in colouring.samples} == set(colouring.colours)


def test_colours_follow_what_they_say(u250: Platform) -> None:
    plan = fake_plan(u250, 8)
    modules = modules_in_order(plan, 0)
    pblocks = plan["phases"][0]["floorplan"]["fpga0"]["pblocks"]
    for number, module in enumerate(modules):
        pblock = pblocks[module["name"]]
        pblock["demand"] = {name: 0.1 * (number + 1) * pblock["supply"][name] for name in pblock["demand"]}
        pblock["likelihood"] = None if number == 0 else 1 - 0.05 * number
    filled = colouring_of(plan, 0, "fill")
    assert [text for text, _ in filled.samples] == ["0%", "20%", "40%", "60%", "80%"]
    lightness = [seen(colour, np.eye(3))[0] for colour in filled.colours]
    assert lightness == sorted(lightness, reverse=True)
    likely = colouring_of(plan, 0, "likelihood")
    assert likely.colours[0] == UNKNOWN
    assert likely.samples[-1] == ("not known", UNKNOWN)
    slots = colouring_of(plan, 0, "slot")
    homes = [plan["phases"][0]["partition"]["assignment"][module["name"]] for module in modules]
    assert len(set(zip(homes, slots.colours, strict=True))) == len(set(homes)) == len(set(slots.colours))


def test_a_pdf_has_the_size_of_its_column_and_no_date(pynq: Platform) -> None:
    sheet = floorplan(fake_plan(pynq, 4), pynq, "fpga0", style=STYLES["paper"])
    made = pdf_bytes(sheet)
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", made)
    assert box is not None
    assert float(box[1]) == pytest.approx(252, abs=0.01)
    assert float(box[2]) == pytest.approx(sheet.height * sheet.style.scale, abs=0.01)
    assert b"CreationDate" not in made
    assert b"/FontFile2" in made
    assert pdf_bytes(sheet) == made


def test_a_saved_plan_is_drawn_again(cnv_on_u250: Path, tmp_path: Path) -> None:
    def draw(*arguments: str | Path) -> tuple[int, str]:
        ended = CliRunner().invoke(app, ["draw", str(cnv_on_u250), *map(str, arguments)])
        return ended.exit_code, ended.output

    pdf = tmp_path / "column.pdf"
    assert draw("--style", "paper", "--by", "kind", "-o", pdf) == (0, f"written to {pdf}\n")
    assert b"/MediaBox [ 0 0 252 " in pdf.read_bytes()
    assert draw("--style", "paper", "-o", pdf)[0] == 2, "it is there"
    wide = tmp_path / "wide.svg"
    assert draw("floorplan_fpga0", "--style", "paper", "--columns", "2", "-o", wide)[0] == 0
    assert 'width="515.5pt"' in wide.read_text()
    plain = tmp_path / "again.png"
    assert draw("floorplan_fpga0", "-o", plain)[0] == 0
    assert plain.read_bytes() == ff.load(cnv_on_u250).pictures["floorplan_fpga0"].png
    code, said = draw("folding", "--style", "slide", "-o", tmp_path / "no.svg")
    assert code == 2
    assert "there are floorplan_fpga0" in said
    assert draw("--columns", "2", "-o", tmp_path / "no.svg")[0] == 2


def test_an_unknown_colouring_is_refused(pynq: Platform) -> None:
    with pytest.raises(InputError, match="no colouring is called 'mood'"):
        floorplan(fake_plan(pynq, 2), pynq, "fpga0", by="mood")
