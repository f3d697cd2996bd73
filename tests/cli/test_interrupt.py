"""Ctrl-C in every stage: exit 130 in 3 s, the cursor back, a legal plan or nothing, and a sentence that says which."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from floorflow.verify import check
from tests.cli.interrupted import LAUNCH, Ended, interrupted_at
from tests.conftest import EXAMPLES, TFC

MOBILENET = EXAMPLES / "mobilenet_v1_w4a4.onnx"
MOST_CPU_S = 3.0
"""CPU seconds from Ctrl-C to the end; other processes may hold the machine."""

PLANS = {
    "lowering": ("⠋ lowering", MOBILENET, "-p", "zcu104"),
    "folding": ("folding: interval", MOBILENET, "-p", "zcu104"),
    "partition": ("partition: interval", MOBILENET, "-p", "alveo-u250", "--effort", "best"),
    "placing": ("placing: interval", MOBILENET, "-p", "alveo-u250", "--effort", "best"),
    "drawing": ("⠋ drawing", TFC, "-p", "pynq-z1", "--effort", "fast"),
}


def ends_well(ended: Ended) -> None:
    assert ended.code == 130, ended.said
    assert ended.cpu_s < MOST_CPU_S
    assert ended.cursor_is_back


@pytest.mark.parametrize(
    ("stage", "worked_cpu_s"), [*((stage, 0.0) for stage in PLANS), pytest.param("partition", 1.5, id="CP-SAT")]
)
def test_ctrl_c_leaves_a_legal_plan_or_nothing(stage: str, worked_cpu_s: float, tmp_path: Path) -> None:
    marker, *arguments = PLANS[stage]
    out = tmp_path / "out"
    ended = interrupted_at(str(marker), "plan", *arguments, "-o", out, worked_cpu_s=worked_cpu_s)
    ends_well(ended)
    if not out.exists():
        assert ended.last_sentence == "interrupted: nothing was written"
        assert stage != "drawing"
        return
    assert (
        ended.last_sentence == f"interrupted: the best legal plan known by then is written to {out}, without pictures"
    )
    assert json.loads((out / "plan.json").read_text())["interrupted"] is True
    assert not (out / "plots").exists()
    assert not check(out)


def test_ctrl_c_ends_the_reading_of_a_model(tmp_path: Path) -> None:
    model, out = tmp_path / "model.onnx", tmp_path / "out"
    os.mkfifo(model)
    ended = interrupted_at("reading", "plan", model, "-p", "zcu104", "-o", out)
    ends_well(ended)
    assert not out.exists()
    assert ended.last_sentence == "interrupted: nothing was written"


def test_ctrl_c_ends_a_search_for_fronts(tmp_path: Path) -> None:
    ended = interrupted_at("least ", "pareto", MOBILENET, "-p", "zcu104", "-o", tmp_path / "out")
    ends_well(ended)
    assert ended.last_sentence == "interrupted: nothing was written"
    assert list(tmp_path.iterdir()) == []


HARD = """
from ortools.sat.python import cp_model
from floorflow.solver import run_cpsat
import sys
model = cp_model.CpModel()
boxes = []
for number in range(60):
    x, y = (model.new_int_var(0, 900, "") for _ in range(2))
    boxes.append([model.new_fixed_size_interval_var(v, 90 + 7 * number % 50, "") for v in (x, y)])
model.add_no_overlap_2d([box[0] for box in boxes], [box[1] for box in boxes])
try:
    sys.stderr.write("begun\\n")
    run_cpsat(model, 0, 1e6)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_a_solve_without_end_hears_ctrl_c() -> None:
    ended = interrupted_at("begun", code=LAUNCH + HARD, worked_cpu_s=0.5)
    assert ended.code == 130, ended.said
    assert ended.cpu_s < MOST_CPU_S
