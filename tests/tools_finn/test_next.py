"""The commands of NEXT.md against the command line of the real FINN+."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import floorflow as ff
from tests.emit.test_next import commands
from tests.plans import FAST, TFC
from tests.tools import need_finn_plus


def test_finn_plus_takes_the_command_of_a_build(tmp_path: Path) -> None:
    """Its help says what stands behind ``finn build``: a configuration, then the model, and no option of ours."""
    program = need_finn_plus().parent / "finn"  # by its Python: an environment that was moved has no other
    ff.plan(TFC, "pynq-z1", finn="plus", **FAST).save(tmp_path / "out")
    builds = [words for _, words in commands((tmp_path / "out" / "NEXT.md").read_text()) if "finn" in words]
    ((path, finn, *words),) = builds
    assert (path, finn) == ("PYTHONPATH=.", "finn")
    environment = {**os.environ, "HOME": str(tmp_path), "COLUMNS": "200"}
    told = subprocess.run(
        [need_finn_plus(), program, words[0], "--help"], capture_output=True, text=True, check=True, env=environment
    ).stdout
    usage = re.search(r"Usage: finn build \[OPTIONS\] (.*)", told)
    assert usage is not None, told
    assert usage[1].split() == ["FLOW_CONFIG", "[MODEL]"]
    assert [word for word in words[1:] if word.startswith("-")] == []
    assert len(words) == 3
