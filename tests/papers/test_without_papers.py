"""An installation without published systems: it plans, and says in one line which commands it is without."""

import json
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


REFUSED = (
    ("compare", "--case", "examples/seyoum_case.json"),
    ("compare", "--case", "examples/seyoum_case.json", "--methods", "exact"),
    ("chunks", "examples/tfc_1w1a.onnx", "-p", "pynq-z1"),
    ("chunks", "--case", "examples/seyoum_case.json", "--method", "milp"),
)
PLANNED = ("plan", "examples/tfc_1w1a.onnx", "-p", "zcu104", "--effort", "fast", "--no-plots", "-o", "out")
SCRIPT = """
import json, sys
from typer.testing import CliRunner
from floorflow.cli.main import app
ended = [CliRunner().invoke(app, words) for words in json.loads(sys.argv[1])]
print(json.dumps([[each.exit_code, each.stderr] for each in ended]))
"""
"""Runs several commands in one process, which imports once."""


@pytest.fixture(scope="module")
def ended(without: Path) -> dict[tuple[str, ...], tuple[int, str]]:
    """Return exit code and messages of each command."""
    words = [sys.executable, "-c", SCRIPT, json.dumps([PLANNED, *REFUSED])]
    path = {"PYTHONPATH": str(without)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=without, env=os.environ | path)
    assert done.returncode == 0, done.stderr
    return dict(zip((PLANNED, *REFUSED), map(tuple, json.loads(done.stdout)), strict=True))


def test_it_plans(without: Path, ended: dict[tuple[str, ...], tuple[int, str]]) -> None:
    code, told = ended[PLANNED]
    assert code == 0, told
    assert (without / "out" / "plan.json").is_file()


@pytest.mark.parametrize("arguments", REFUSED)
def test_it_says_what_it_is_without(arguments: tuple[str, ...], ended: dict[tuple[str, ...], tuple[int, str]]) -> None:
    code, told = ended[arguments]
    assert code == 4, told
    assert "this installation is without it" in told
    assert "Traceback" not in told
