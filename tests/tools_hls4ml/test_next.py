"""The commands of NEXT.md against the command line of the real hls4ml."""

from __future__ import annotations

import subprocess
from pathlib import Path

import floorflow as ff
from tests.emit.test_next import commands
from tests.plans import FAST, TFC
from tests.tools import need_hls4ml


def test_hls4ml_takes_every_command(tmp_path: Path) -> None:
    program = need_hls4ml().parent / "hls4ml"
    ff.plan(TFC, "zcu104", backend="hls4ml", **FAST).save(tmp_path / "out")
    own = [words for _, words in commands((tmp_path / "out" / "NEXT.md").read_text()) if words[0] == "hls4ml"]
    assert [words[1] for words in own] == ["convert", "build"]
    for _, command, *words in own:
        told = subprocess.run(
            [need_hls4ml(), program, command, "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert all(word in told for word in words if word.startswith("-"))
