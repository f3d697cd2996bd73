"""Signals in every stage: 130, 143 or 129 in 3 s, the cursor back, a legal plan or nothing, and a sentence on which."""

import json
import signal
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from floorflow.api.folders import holds
from floorflow.cli import main, signals
from floorflow.cli.terminal import save_whole
from floorflow.output import require_free, write
from floorflow.verify import check
from tests.cli.interrupted import LAUNCH, Ended, interrupted_at
from tests.plans import CNV, EXAMPLES, TFC

MOBILENET = EXAMPLES / "mobilenet_v1_w4a4.onnx"
SMALL = (TFC, "-p", "pynq-z1", "--effort", "fast")
MOST_CPU_S = 3.0
"""CPU seconds from Ctrl-C to the end; other processes may hold the machine."""

PLANS = {
    "lowering": ("⠋ lowering", MOBILENET, "-p", "zcu104"),
    "folding": ("folding: interval", CNV, "-p", "zcu104"),
    "partition": ("partition: interval", MOBILENET, "-p", "alveo-u250", "--effort", "best"),
    "placing": ("placing: interval", CNV, "-p", "alveo-u250", "--effort", "best"),
}


def ends_well(ended: Ended, code: int = 130) -> None:
    assert ended.code == code, ended.said
    assert ended.cpu_s < MOST_CPU_S
    assert ended.cursor_is_back


@pytest.mark.parametrize(
    ("stage", "worked_cpu_s"),
    [
        *((stage, 0.0) for stage in ("lowering", "placing")),
        *(pytest.param(stage, 0.0, marks=pytest.mark.slow) for stage in ("folding", "partition")),
        pytest.param("partition", 1.5, id="CP-SAT", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_leaves_a_legal_plan_or_nothing(stage: str, worked_cpu_s: float, tmp_path: Path) -> None:
    marker, *arguments = PLANS[stage]
    out = tmp_path / "out"
    ended = interrupted_at(str(marker), "plan", *arguments, "-o", out, worked_cpu_s=worked_cpu_s)
    ends_well(ended)
    if not out.exists():
        assert ended.last_sentence == "interrupted: nothing was written"
        return
    best = "interrupted: the best legal plan known by then is written to"
    assert ended.last_sentence == f"{best} {out}, without pictures and extras"
    assert json.loads((out / "plan.json").read_text())["interrupted"] is True
    assert not (out / "plots").exists()
    assert not check(out)


@pytest.mark.slow
def test_a_signal_during_the_extras_leaves_the_whole_plan(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = interrupted_at("extras: drawing", "plan", *SMALL, "-o", out, number=signal.SIGTERM)
    ends_well(ended, 143)
    finished = f"interrupted: the plan is finished and is written to {out}"
    assert ended.last_sentence == f"{finished}, without pictures, extras.json, report.html"
    assert json.loads((out / "plan.json").read_text())["interrupted"] is False
    assert sorted(path.name for path in out.iterdir() if path.name in {"plots", "extras.json"}) == []
    assert not check(out)


@pytest.mark.slow
def test_a_lost_terminal_leaves_what_ctrl_c_leaves(tmp_path: Path) -> None:
    """So does a limit of time: its signal comes below, once a best is shown."""
    out = tmp_path / "out"
    ends_well(interrupted_at("best ", "plan", *SMALL, "-o", out, number=signal.SIGHUP), 129)
    assert not check(out)


def test_a_signal_ends_the_imports_before_any_command() -> None:
    early = f"{LAUNCH}import gc; gc.set_threshold = lambda _: signal.raise_signal(signal.SIGTERM); "
    words = [sys.executable, "-c", f"{early}from floorflow.__main__ import main; main()", "platforms"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (143, "", "interrupted: nothing was written\n")


SIGNALS = f"""{LAUNCH}
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from floorflow.cli.signals import hear_signals, exit_code
import time
hear_signals()
signal.raise_signal(signal.SIGHUP)
heard = []
for wait in (0, 0, 0.5):
    time.sleep(wait)
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        heard.append(wait)
print(heard, exit_code())
"""


def test_what_nohup_ignores_stays_ignored_and_timeout_that_sends_twice_is_one_signal() -> None:
    told = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True, check=True)
    assert told.stdout == "[0, 0.5] 143\n"


@pytest.mark.parametrize("cpu_s", [0.1, *(pytest.param(0.07 * n, marks=pytest.mark.slow) for n in range(10))])
def test_killed_once_a_best_is_shown_a_plan_is_there(cpu_s: float, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("plan", TFC, "-p", "zcu104", "-o", out)
    ended = interrupted_at("best ", *words, worked_cpu_s=cpu_s, number=signal.SIGTERM)
    ends_well(ended, 143)
    assert not check(out)


def test_ctrl_c_ends_the_reading_of_a_model(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = interrupted_at("reading", "plan", MOBILENET, "-p", "zcu104", "-o", out)
    ends_well(ended)
    assert not out.exists()
    assert ended.last_sentence == "interrupted: nothing was written"


@pytest.mark.slow
def test_a_signal_ends_a_search_for_fronts(tmp_path: Path) -> None:
    ended = interrupted_at("least ", "pareto", CNV, "-p", "zcu104", "-o", tmp_path / "out", number=signal.SIGTERM)
    ends_well(ended, 143)
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


@dataclass
class Kept:
    """A plan whose parts are interrupted as the test says."""

    files: dict[str, str]
    waited: bool = False
    told_late: bool = False
    interrupted: bool = False
    timed_out: bool = False

    def save(self, folder: Path, *, force: bool, **_others: object) -> None:
        require_free(folder, force=force)
        write(folder, self.files, {}, force=force)
        if self.waited:  # as a signal does until all files have moved
            raise KeyboardInterrupt

    def is_in(self, folder: Path) -> bool:
        return holds(folder, {name: text.encode() for name, text in self.files.items()})

    def save_extras(self, folder: Path, **_others: object) -> tuple[str, ...]:
        return ("extras.json",)

    def told(self, folder: Path, names: Collection[str]) -> str:
        if self.told_late and "extras.json" in names:
            raise KeyboardInterrupt
        return f"a plan in {folder}"


@pytest.mark.parametrize(
    ("made", "without"),
    [
        (Kept({"plan.json": "{}"}, waited=True), ", without pictures and extras"),
        (Kept({"plan.json": "{}"}, told_late=True), ""),
    ],
    ids=["waited for the moves", "after the extras"],
)
def test_what_is_written_when_a_signal_came_is_said_and_not_written_again(
    made: Kept, without: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ending = save_whole(made, out, force=False, progress=None, tell=lambda: None)
    assert ending.summary == f"a plan in {out}"
    assert ending.interrupted == f"the plan is finished and is written to {out}{without}"
    assert (out / "plan.json").is_file()


@pytest.mark.parametrize(("code", "told"), [(70, 70), (2, 143), (0, 143)])
def test_a_fault_of_ours_is_told_as_one_after_a_signal_too(
    code: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "app", lambda: sys.exit(code))
    monkeypatch.setattr(signals, "_heard", [(signal.SIGTERM, 0.0)])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == told
