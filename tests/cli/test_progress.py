"""What a long run shows of its stages, on a terminal and in a pipe."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from floorflow.api import Best, load
from floorflow.api.events import Teller
from floorflow.cli.progress import PIPE_S, Shown, Stages, every
from tests.cli.interrupted import LAUNCH, on_a_terminal
from tests.command_line import floorflow
from tests.plans import TFC


def clock(*seconds: float) -> Iterator[float]:
    """Show these times, then the last of them for ever."""
    yield from seconds
    while True:
        yield seconds[-1]


def told(*seconds: float) -> tuple[list[str], Teller]:
    """Return stages by that clock, and the list of what is shown of them."""
    lines: list[str] = []
    ticks = clock(*seconds)
    shown = Shown(lambda: 0.0)

    def show(text: str, best: Best | None) -> None:
        shown.change(text, best)
        lines.append(shown.line().removeprefix("0 s: "))

    return lines, Teller(Stages(show, lambda name, spent: lines.append(f"{name} {spent:g} s")), lambda: next(ticks))


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
    shown = ["search", "folding", "search", "placing", "search", "folding", "search"]
    assert lines == [*shown, "folding 4 s", "placing 2 s"]


def test_parts_do_not_count_for_the_next_stage() -> None:
    lines, stages = told(0, 0, 1, 1, 1, 3)
    with stages.stage("search"), stages.stage("folding"):
        pass
    with stages.stage("drawing"):
        pass
    assert lines[-2:] == ["drawing", "drawing 2 s"]


def test_parts_of_a_stage_that_failed_count_for_the_next_of_its_name() -> None:
    lines, stages = told(0, 0, 1, 2, 5, 6, 6, 8, 9)
    with suppress(ValueError), stages.stage("search"):
        with stages.stage("folding"):
            pass
        raise ValueError
    with stages.stage("lowering"):
        pass
    with stages.stage("search"), stages.stage("folding"):
        pass
    first = ["search", "folding", "search", "lowering", "lowering 3 s"]
    assert lines == [*first, "search", "folding", "search", "folding 3 s"]


def test_a_stage_that_fails_is_not_told_as_finished() -> None:
    lines, stages = told(0, 1)
    with pytest.raises(ValueError, match="broken"), stages.stage("reading"):
        raise ValueError("broken")
    assert lines == ["reading"]


def test_the_best_so_far_and_its_bound_stand_behind_the_interval_at_hand() -> None:
    lines, stages = told(0)
    with stages.stage("search"):
        stages.best(None, 52902)
        with stages.stage("placing"):
            stages.note("interval 56,448 cycles")
        stages.best(56448, None)
        with stages.stage("partition"):
            stages.note("interval 54,000 cycles")
        stages.best(54000, None)
    known = "best 56,448 cycles, bound 52,902 cycles"
    assert lines[:-2] == [
        "search",
        "search; bound 52,902 cycles",
        "placing; bound 52,902 cycles",
        "placing: interval 56,448 cycles; bound 52,902 cycles",
        "search; bound 52,902 cycles",
        f"search; {known}",
        f"partition; {known}",
        f"partition: interval 54,000 cycles; {known}",
        f"search; {known}",
        "search; best 54,000 cycles, bound 52,902 cycles",
    ]


def test_the_best_of_a_search_is_not_that_of_the_next() -> None:
    lines, stages = told(0)
    for _ in range(2):
        with stages.stage("search"):
            stages.best(None, 100)
    assert lines[0] == "search"
    assert lines[3] == "search"


def test_something_is_done_every_few_seconds_until_the_end() -> None:
    done: list[str] = []
    waits = iter([False, False, True])
    asked: list[float] = []

    def ended_within(seconds: float) -> bool:
        asked.append(seconds)
        return next(waits)

    every(PIPE_S, ended_within, lambda: done.append("line"))
    assert asked == [5, 5, 5]
    assert done == ["line", "line"]


def test_before_the_first_stage_there_is_no_line() -> None:
    lines: list[str] = []
    shown = Shown(lambda: 0.0)
    shown.tell(lines.append)
    shown.change("reading", None)
    shown.tell(lines.append)
    assert lines == ["0 s: reading"]


def test_what_the_next_stages_are_for_is_said_on_a_line_of_its_own() -> None:
    said: list[str] = []
    stages = Teller(Stages(lambda _text, _best: None, lambda _name, _spent: None, said.append))
    stages.note("--fps 9000: the highest rate first")
    with stages.stage("search"):
        stages.note("interval 9 cycles")
    assert said == ["--fps 9000: the highest rate first"]


def test_a_pipe_is_told_the_same_again_only_now_and_then() -> None:
    lines: list[str] = []
    shown = Shown(lambda: 0.0)
    shown.change("extras: other requests: 5% less rate", None)
    for _ in range(6):
        shown.tell(lines.append)
    assert len(lines) == 1
    shown.tell(lines.append)
    shown.change("extras: page", None)
    shown.tell(lines.append)
    assert lines == [*["0 s: extras: other requests: 5% less rate"] * 2, "0 s: extras: page"]


SEARCHING = """
import sys
from floorflow.api.events import Teller
from floorflow.cli.progress import progress_shown
with progress_shown(quiet=False, pipe_s=0.01) as tell:
    stages = Teller(tell)
    with stages.stage("search"):
        stages.best(56448, 52902)
        with stages.stage("placing"):
            stages.note("interval 54,000 cycles " + "and more " * 40)
            sys.stdin.readline()
    with stages.stage("recording"):
        sys.stdin.readline()
sys.stderr.write("over\\n")
"""
"""A run that goes on when it gets a line, and has nothing to tell meanwhile."""


def test_a_pipe_is_told_while_a_stage_works_and_no_more_when_the_run_is_over() -> None:
    """Its reader waits for two lines of each stage: the thread has to write them, for no event comes."""
    with subprocess.Popen(
        [sys.executable, "-c", SEARCHING], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdin is not None
        assert run.stderr is not None
        searching = _lines_with("and more", 2, run.stderr)
        run.stdin.write("\n")
        run.stdin.flush()
        _lines_with("recording", 2, run.stderr)
        run.stdin.write("\n")
        run.stdin.flush()
        last = run.stderr.readlines()[-1]
    assert run.returncode == 0
    assert all(re.match(r"\d+ s: placing: interval 54,000 cycles and more ", line) for line in searching)
    assert all(line.endswith("and more ; best 56,448 cycles, bound 52,902 cycles\n") for line in searching)
    assert last == "over\n"


def _lines_with(word: str, count: int, stream: IO[str]) -> list[str]:
    """Read until so many lines with a word have come; return the last of them."""
    found: list[str] = []
    while len(found) < count:
        line = stream.readline()
        assert line, f"ended before {count} lines with {word}"
        found += [line] if word in line else []
    return found


def test_a_terminal_shows_interval_best_bound_and_time_on_one_line() -> None:
    said = on_a_terminal(code=f"{LAUNCH}{SEARCHING}", typed="\n\n", columns=100)
    lines = [line for line in re.split(r"[\r\n]+", said) if "54,000" in line]
    assert lines
    for line in lines:
        assert re.search(r"placing: interval 54,000 cycles .*…  best 56,448 cycles, bound 52,902 cycles  \d+ s$", line)
    assert "✓ placing" in re.sub(r"\x1b\[[0-9;]*m", "", said)


SHORT = ("plan", TFC, "-p", "pynq-z1", "--effort", "fast")


def test_a_short_run_tells_a_pipe_nothing_but_its_end(tmp_path: Path) -> None:
    loud = floorflow(*SHORT, "--no-plots", "-o", tmp_path / "loud")
    lines = [line for line in loud.stderr.splitlines() if " s: " not in line]
    assert lines == [f"the plan is written to {tmp_path / 'loud'}; pictures and the rest of the report follow"]
    assert loud.stdout.startswith("tfc_1w1a on pynq-z1: ")
    assert "\x1b" not in loud.stderr + loud.stdout


@pytest.fixture(scope="module")
def on_terminal(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a run says on a terminal, and where it writes."""
    out = tmp_path_factory.mktemp("terminal") / "out"
    return on_a_terminal(*SHORT, "--constraint-style", "soft", "-o", out), out


def test_a_terminal_keeps_every_finished_stage(on_terminal: tuple[str, Path]) -> None:
    said, _ = on_terminal
    ticks = [line.partition("✓")[2].split()[1] for line in said.splitlines() if "✓" in line]
    assert ticks == [
        "reading", "lowering", "folding", "partition", "placing", "recording", "writing", *["extras:"] * 3,
    ]  # fmt: skip


def test_the_end_of_a_run_names_files_that_are_there(on_terminal: tuple[str, Path]) -> None:
    said, out = on_terminal
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    summary = load(out).told(out, files)
    assert said.replace("\r\n", "\n").endswith(f"{summary}\n")
    (opened,) = [line for line in summary.splitlines() if line.startswith("open ")]
    names = opened.partition(f"{out}: ")[2].split(", ")
    assert names[0] == "report.html"
    assert files.issuperset(names)
