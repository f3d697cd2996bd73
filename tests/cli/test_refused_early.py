"""Mistakes that cost nothing to see end with exit 2 before a solver, or anything else that is slow, is imported."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TFC

HEAVY = {"matplotlib", "networkx", "numpy", "onnx", "ortools", "pymetis"}
MOST_CPU_SECONDS = 0.5
OUT = ("-o", "{tmp}/out")
PLAN = ("plan", str(TFC), "-p", "pynq-z1", *OUT)

MISTAKES = {
    "no model": (("plan", "nowhere.onnx", "-p", "pynq-z1", *OUT), "nowhere.onnx: there is no such file"),
    "a folder as model": (("plan", "{tmp}", "-p", "pynq-z1", *OUT), "is a folder, expected a file"),
    "unknown platform": (("plan", str(TFC), "-p", "alveo-u25", *OUT), "did you mean alveo-u250"),
    "no board file": (("plan", str(TFC), "-p", "none.yaml", *OUT), "none.yaml: cannot be read"),
    "unknown link": ((*PLAN, "--link", "string"), "--link string: unknown kind of link"),
    "wrong effort": ((*PLAN, "--effort", "heroic"), "'heroic' is not one of"),
    "wrong method": ((*PLAN, "--place-method", "magic"), "'magic' is not one of"),
    "wrong fraction": ((*PLAN, "--cap", "LUT=7"), "--cap LUT=7: expected a fraction"),
    "wrong rate": ((*PLAN, "--fps", "0"), "greater than or equal to 0.001"),
    "more than the most FPGAs": ((*PLAN, "--fpgas", "3", "--max-fpgas", "2"), "--max-fpgas allows 2"),
    "no folding file": ((*PLAN, "--folding", "no.json"), "--folding no.json: there is no such file"),
    "no folder to write": (("plan", str(TFC), "-p", "pynq-z1", "-o", "/proc/no/out"), "cannot be written"),
    "unknown option": ((*PLAN, "--fsp", "3"), "No such option"),
    "no argument": (("plan",), "Missing argument"),
    "unknown command": (("plam",), "No such command"),
    "inspect without model": (("inspect", "nowhere.onnx"), "there is no such file"),
    "inspect for no part": (("inspect", str(TFC), "--part", "toaster"), "toaster"),
    "compare by no method": (("compare", str(TFC), "-p", "u250", "--methods", "magic"), "--methods magic: unknown"),
    "compare on auto": (("compare", str(TFC), "-p", "u250", "--fpgas", "auto"), "--fpgas auto has none"),
    "pareto of no resource": (("pareto", str(TFC), "-p", "u250", "--resources", "BRAM"), "'BRAM' is unknown"),
    "no plan to calibrate": (("calibrate", "{tmp}/no", "--reports", "{tmp}", *OUT), "is no folder"),
    "no lines to price": (("cost", "nowhere.jsonl"), "nowhere.jsonl"),
    "no such platform": (("platforms", "toaster"), "unknown platform 'toaster'"),
}


@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_mistakes_are_refused_before_anything_slow_is_imported(mistake: str, tmp_path: Path) -> None:
    arguments, word = MISTAKES[mistake]
    command = [word.replace("{tmp}", str(tmp_path)) for word in arguments]
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "floorflow", *command], capture_output=True, text=True, check=False
    )
    lines = ended.stderr.splitlines()
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines if line.startswith("import time:")}
    said = " ".join(line.strip("│ ") for line in lines if not line.startswith("import time:"))
    assert ended.returncode == 2
    assert word in said
    assert "pydantic" in imported
    assert not imported & HEAVY
    assert not (tmp_path / "out").exists()


def test_a_mistake_is_refused_in_half_a_second() -> None:
    def cpu_seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "floorflow", "plan", "nowhere.onnx", "-p", "u250", "-o", "never-made"],
            capture_output=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Whatever else runs on the machine makes it slower, never faster.
    assert min(cpu_seconds() for _ in range(4)) < MOST_CPU_SECONDS


def test_more_fpgas_than_the_board_can_link_are_refused_before_solvers_are_imported(tmp_path: Path) -> None:
    command = ["plan", str(TFC), "-p", "pynq-z1", "--fpgas", "2", "-o", str(tmp_path / "out")]
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "floorflow", *command], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "no link to one another" in ended.stderr
    assert not any(f"| {name}" in ended.stderr.replace("|  ", "| ") for name in ("ortools", "onnx", "matplotlib"))
