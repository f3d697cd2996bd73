"""No table shortens a number, however narrow the terminal."""

import io
import re
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from floorflow import api
from floorflow.cli.fitting_table import FittingTable
from floorflow.cli.platforms import platform_tables, platforms_table
from floorflow.cli.studies import comparison_table, pareto_table

TFC = Path(__file__).resolve().parents[2] / "examples" / "tfc_1w1a.onnx"
PART = "xczu7ev-ffvc1156-2-e"
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w.,]*\d)")


def printed(table: RenderableType, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False, color_system=None).print(table)
    return stream.getvalue()


def numbers(text: str) -> set[str]:
    return {found.replace(",", "") for found in NUMBER.findall(text)}


@pytest.mark.parametrize("width", [60, 80, 110])
def test_platforms_show_every_number_at_every_width(width: int) -> None:
    chosen, links = [platform.as_dict() for platform in api.platforms()], api.link_kinds()
    shown = [table for platform in chosen for table in platform_tables(platform, links)]
    for table in (platforms_table(chosen), *shown):
        narrow, wide = printed(table, width), printed(table, 200)
        assert "…" not in narrow
        assert numbers(narrow) == numbers(wide)
        assert max(map(len, narrow.splitlines())) <= width


@cache
def study_tables() -> tuple[RenderableType, ...]:
    comparison = api.compare(TFC, "pynq-z1", methods=["exact", "rule"])
    fronts = api.pareto(TFC, "pynq-z1", resources=["LUT", "FF", "BRAM18"], points=2)
    return comparison_table(comparison.as_dict()), pareto_table(fronts.as_dict())


@pytest.mark.parametrize("width", [60, 80, 110])
def test_studies_show_every_number_at_every_width(width: int) -> None:
    for table in study_tables():
        narrow, wide = printed(table, width), printed(table, 200)
        assert "…" not in narrow
        assert numbers(narrow) == numbers(wide)


def test_a_table_that_fits_has_a_row_a_line_and_one_that_does_not_a_block() -> None:
    table = FittingTable("t", names=["name"], numbers=["LUT"], prose=["verdict"])
    table.add_row("a", "1,234,567", "proven to be optimal within the limits that were given")
    table.add_row("b", "", "none")
    wide, narrow = printed(table, 100), printed(table, 30)
    assert "a      1,234,567   proven to be optimal" in wide
    assert "LUT      1,234,567" in narrow
    assert narrow.count("LUT") == 1


@pytest.mark.parametrize("width", [40, 60, 80, 110])
def test_sentences_are_wrapped_between_words(width: int) -> None:
    table = FittingTable("t", names=["name"], numbers=["LUT"], prose=["verdict"])
    table.add_row("method", "12", "needs 1,234,567 LUT where no more than 7,654,321 LUT are free " * 3)
    assert numbers(printed(table, width)) == {"12", "1234567", "7654321"}
