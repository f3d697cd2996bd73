"""An installation without published systems: it plans, and says in one line which commands it is without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package and what it reads, without ``floorflow/papers``."""
    copy = tmp_path_factory.mktemp("without")
    shutil.copytree(ROOT / "floorflow", copy / "floorflow", ignore=shutil.ignore_patterns("papers", "__pycache__"))
    for name in ("platforms", "tcl", "examples"):
        (copy / name).symlink_to(ROOT / name)
    return copy


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "floorflow", *arguments]
    path = {"PYTHONPATH": str(copy)}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=copy, env=os.environ | path)


def test_it_plans(without: Path) -> None:
    options = ("-p", "zcu104", "--effort", "fast", "--no-plots", "-o", "out")
    done = run(without, "plan", "examples/tfc_1w1a.onnx", *options)
    assert done.returncode == 0, done.stderr
    assert (without / "out" / "plan.json").is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "--case", "examples/seyoum_case.json"),
        ("compare", "--case", "examples/seyoum_case.json", "--methods", "exact"),
        ("chunks", "examples/tfc_1w1a.onnx", "-p", "pynq-z1"),
        ("chunks", "--case", "examples/seyoum_case.json", "--method", "milp"),
    ],
)
def test_it_says_what_it_is_without(without: Path, arguments: tuple[str, ...]) -> None:
    done = run(without, *arguments)
    assert done.returncode == 4, done.stderr
    assert "this installation is without it" in done.stderr
    assert "Traceback" not in done.stderr
