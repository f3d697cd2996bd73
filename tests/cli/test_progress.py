"""What a long run shows of its stages, on a terminal and in a pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from floorflow.api import load
from floorflow.api.events import Teller
from floorflow.cli.ending import written
from floorflow.cli.progress import PIPE_S, Stages, in_a_pipe
from tests.cli.interrupted import RUN, on_a_terminal
from tests.conftest import TFC


def clock(*seconds: float) -> Iterator[float]:
    """Show these times, then the last of them for ever."""
    yield from seconds
    while True:
        yield seconds[-1]


def told(*seconds: float) -> tuple[list[str], Teller]:
    """Return stages by that clock, and the list of what is shown of them."""
    lines: list[str] = []
    ticks = clock(*seconds)
    shown = Stages(lines.append, lambda name, spent: lines.append(f"{name} {spent:g} s"))
    return lines, Teller(shown, lambda: next(ticks))


def test_a_stage_is_told_as_it_begins_and_with_its_seconds_as_it_ends() -> None:
    lines, stages = told(10, 12.5)
    with stages.stage("reading"):
        stages.note("model")
    assert lines == ["reading", "reading: model", "reading 2.5 s"]


def test_parts_that_come_again_are_summed_and_told_once() -> None:
    lines, stages = told(0, 0, 1, 1, 3, 3, 6, 7)
    with stages.stage("search"):
        for part in ("folding", "placing", "folding"):
            with stages.stage(part):
                pass
    assert lines == ["search", "folding", "placing", "folding", "folding 4 s", "placing 2 s"]


def test_parts_do_not_count_for_the_next_stage() -> None:
    lines, stages = told(0, 0, 1, 1, 1, 3)
    with stages.stage("search"), stages.stage("folding"):
        pass
    with stages.stage("drawing"):
        pass
    assert lines[-2:] == ["drawing", "drawing 2 s"]


def test_a_stage_that_fails_is_not_told_as_finished() -> None:
    lines, stages = told(0, 1)
    with pytest.raises(ValueError, match="broken"), stages.stage("reading"):
        raise ValueError("broken")
    assert lines == ["reading"]


def test_a_pipe_gets_a_line_every_few_seconds_at_most() -> None:
    lines: list[str] = []
    now = [0.0]
    stages = Teller(in_a_pipe(lines.append, lambda: now[0]))
    with stages.stage("placing"):
        for tenth in range(200):
            now[0] = tenth / 10
            stages.note(f"module {tenth}")
    assert lines == [f"{5 * n} s: placing: module {50 * n}" for n in (1, 2, 3)]
    assert PIPE_S == 5


def test_a_short_run_tells_a_pipe_nothing_but_its_end(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, "plan", TFC, "-p", "pynq-z1", "--no-plots", "--effort", "fast"]
    loud, quiet, machine = (
        subprocess.run([*command, "-o", tmp_path / str(n), *extra], capture_output=True, text=True, check=True)
        for n, extra in enumerate(([], ["--quiet"], ["--json", "--quiet"]))
    )
    lines = [line for line in loud.stderr.splitlines() if " s: " not in line]
    assert lines[0].startswith("tfc_1w1a on pynq-z1: ")
    assert "\x1b" not in loud.stderr
    assert quiet.stderr == machine.stderr == quiet.stdout == ""


def test_a_terminal_keeps_every_finished_stage(tmp_path: Path) -> None:
    said = on_a_terminal("plan", TFC, "-p", "pynq-z1", "--effort", "fast", "-o", tmp_path / "out")
    ticks = [line.partition("✓")[2].split()[1] for line in said.splitlines() if "✓" in line]
    assert ticks == [
        "reading", "lowering", "folding", "partition", "placing", "recording", "drawing", "writing",
    ]  # fmt: skip


def test_the_end_of_a_run_names_files_that_are_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = on_a_terminal("plan", TFC, "-p", "pynq-z1", "--effort", "fast", "-o", out)
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    end = written(out, files, load(out).next_steps(out))
    assert end in said.replace("\r\n", "\n")
    named = [word for line in end.splitlines()[1:] for word in line.replace("=", " ").replace(";", "").split()]
    paths = [Path(word) for word in named if word.startswith(str(out))]
    assert [path.name for path in paths] == [
        "floorplan_fpga0.png", "report.txt", "out", "folding_config.json", "pblocks.tcl",
    ]  # fmt: skip
    assert all(path.exists() for path in paths)
