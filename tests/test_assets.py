"""Platforms by name: case does not count, a whole part of a name is enough, and a guess is never made."""

import json

import pytest
from typer.testing import CliRunner

from floorflow.assets import board_path, matching
from floorflow.cli.main import app
from floorflow.errors import PlatformError
from tests.plans import TFC


@pytest.mark.parametrize("name", ["alveo-u250", "Alveo-U250", "u250", "U250"])
def test_a_part_of_a_name_is_enough(name: str) -> None:
    assert board_path(name).stem == "alveo-u250"


@pytest.mark.parametrize("name", ["u25", "250", "alveo-u2500", "", "-"])
def test_a_piece_of_a_word_is_not(name: str) -> None:
    with pytest.raises(PlatformError, match="unknown platform"):
        board_path(name)


def test_a_name_that_fits_several_is_refused_with_all_of_them() -> None:
    names = ("alveo-u200", "alveo-u250", "vck190")
    assert matching("alveo", names) == ["alveo-u200", "alveo-u250"]
    assert matching("alveo-u200", names) == ["alveo-u200"]


def test_every_command_takes_such_names() -> None:
    shown = CliRunner().invoke(app, ["platforms", "ZCU104", "--json"])
    assert json.loads(shown.stdout)["name"] == "zcu104"
    inspected = CliRunner().invoke(app, ["inspect", str(TFC), "-p", "PYNQ-Z1", "--json"])
    assert json.loads(inspected.stdout)["part"] == "xc7z020clg400-1"
    fronts = CliRunner().invoke(app, ["pareto", str(TFC), "-p", "Pynq-z1", "--points", "2", "--json"])
    assert json.loads(fronts.stdout)["platform"] == "pynq-z1"
