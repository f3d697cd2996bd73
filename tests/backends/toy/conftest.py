"""The toy back end in this process, and a plan of it on a card with several SLRs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.toy.toolbox import EDGES, ROOT, TOY, U250


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process find toykit, as if it had been installed."""
    monkeypatch.syspath_prepend(TOY)


@pytest.fixture(scope="session")
def on_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by a process of its own, which knows the toy back end by Python's path alone."""
    out = tmp_path_factory.mktemp("toy") / "out"
    words = [
        "plan",
        str(EDGES),
        "--backend",
        "toykit",
        "-o",
        str(out),
        *U250,
        "--backend-option",
        "most_lanes=256",
        "--max-hops",
        "3",
    ]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{TOY}", "COLUMNS": "200"}
    command = [sys.executable, "-m", "floorflow", *words]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    (out.parent / "told.txt").write_text(ended.stdout + ended.stderr)
    return out
