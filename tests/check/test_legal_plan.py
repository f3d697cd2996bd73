"""A legal plan passes, whatever the spelling of its constraint files."""

from __future__ import annotations

from pathlib import Path

import pytest

from floorflow.check import check
from tests.check.tiny import tiny_plan, write_folder

BOARDS = ("xcku5p", "alveo-u250")


@pytest.mark.parametrize("board", BOARDS)
def test_a_legal_plan_has_no_violations(board: str, tmp_path: Path) -> None:
    assert check(write_folder(tmp_path, *tiny_plan(board))) == []
