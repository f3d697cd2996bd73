"""The way into Vivado that is asked for has to be one that the board takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import floorflow
from tests.conftest import TFC


@pytest.mark.parametrize(
    ("board", "flow", "told"),
    [
        ("pynq-z1", "vitis", "use --flow zynq"),
        ("zcu104", "vitis", "use --flow zynq"),
        ("alveo-u250", "zynq", "use --flow vitis"),
        ("xcku5p", "vitis", "FINN has no build for xcku5p, a bare part"),
        ("xcku5p", "zynq", "leave --flow out"),
    ],
)
def test_another_way_exits_2_and_names_the_one_that_fits(board: str, flow: str, told: str, tmp_path: Path) -> None:
    ended = floorflow("plan", TFC, "-p", board, "--flow", flow, "-o", tmp_path / "out")
    assert (ended.returncode, (tmp_path / "out").exists()) == (2, False)
    assert told in " ".join(ended.stderr.split())
