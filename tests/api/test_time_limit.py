"""A time limit: the best legal plan that there is by then, the same plan if nothing was cut short, or an error."""

import signal
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from tests.command_line import floorflow
from tests.plans import CNV, FAST, FREE, TFC

LONG_S = 1e6


def ringing_in(stage: str, times: int = 1) -> Callable[[ff.Event], None]:
    """Return what lets the clock ring when a stage begins for the nth time, as it would by itself at some point."""
    begun: list[str] = []

    def tell(event: ff.Event) -> None:
        if event.stage == stage and not event.note and event.seconds is None and event.best is None:
            begun.append(stage)
            if len(begun) == times:
                signal.raise_signal(signal.SIGALRM)

    return tell


def limited(stage: str, model: Path, board: str, times: int = 1, **options: Any) -> ff.Plan:
    return ff.plan(model, board, time_limit=LONG_S, progress=ringing_in(stage, times), **{**FAST, **options})


@pytest.fixture(scope="module")
def soon() -> ff.Plan:
    return limited("folding", CNV, "pynq-z1", times=2, constraint_style="hard")


def test_what_was_found_at_once_is_a_legal_plan(soon: ff.Plan, tmp_path: Path) -> None:
    is_legal_at_the_limit(soon, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "board"), [(CNV, "alveo-u250"), (TFC, "xcku5p")])
def test_so_it_is_on_cards_and_of_small_networks(model: Path, board: str, tmp_path: Path) -> None:
    is_legal_at_the_limit(limited("folding", model, board, times=2, **FREE), tmp_path)


def is_legal_at_the_limit(made: ff.Plan, tmp_path: Path) -> None:
    assert made.timed_out
    assert made.interrupted
    made.save(tmp_path / "out")
    assert ff.check(tmp_path / "out").legal
    (network,) = made.summary["networks"]
    assert network["bound_cycles"] <= network["interval_cycles"] <= 2 * network["bound_cycles"]
    assert "at the time limit" in (tmp_path / "out" / "report.txt").read_text()


def test_the_bound_of_what_was_found_at_once_holds_for_what_is_found_later(soon: ff.Plan, cnv_on_pynq: Path) -> None:
    (at_once,), (found,) = soon.summary["networks"], ff.load(cnv_on_pynq).summary["networks"]
    assert at_once["bound_cycles"] <= found["interval_cycles"] < at_once["interval_cycles"]


def test_a_search_whose_work_is_spent_ends_with_what_there_is_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(import_module("floorflow.search.interval.search"), "WORK", {"fast": 0.01})
    made = ff.plan(CNV, "pynq-z1", **FAST, **FREE)
    made.save(tmp_path / "out")
    assert ff.check(tmp_path / "out").legal
    (network,) = made.summary["networks"]
    assert network["bound_cycles"] <= network["interval_cycles"] <= 2 * network["bound_cycles"]
    assert "the work that this search may take was spent" in made.files["report.txt"].decode()


def test_a_plan_that_is_finished_in_time_is_the_same() -> None:
    free, within = (ff.plan(TFC, "pynq-z1", time_limit=limit, **FAST) for limit in (None, LONG_S))
    assert within.files == free.files
    assert not within.timed_out


def test_the_clock_is_stopped_when_the_search_has_ended() -> None:
    before = signal.getsignal(signal.SIGALRM)
    rings: list[Any] = []

    def tell(event: ff.Event) -> None:
        if event.stage == "recording":
            rings.append(signal.getitimer(signal.ITIMER_REAL))

    ff.plan(TFC, "pynq-z1", time_limit=LONG_S, progress=tell, **FAST)
    assert rings
    assert set(rings) == {(0.0, 0.0)}
    assert signal.getsignal(signal.SIGALRM) is before


def test_nothing_found_by_then_is_a_limit_reached() -> None:
    with pytest.raises(ff.LimitReached, match="no plan was found within 1e\\+06 s"):
        limited("lowering", TFC, "pynq-z1")


def test_the_command_line_says_it_and_writes_nothing(tmp_path: Path) -> None:
    answer = floorflow("plan", TFC, "-p", "pynq-z1", "--time-limit", "0.001", "-o", tmp_path / "out")
    assert (answer.returncode, (tmp_path / "out").exists()) == (5, False)
    assert "no plan was found within 0.001 s" in answer.stderr


@pytest.mark.parametrize("seconds", ["0", "-3", "soon"])
def test_a_limit_is_a_positive_number_of_seconds(seconds: str, tmp_path: Path) -> None:
    answer = floorflow("plan", TFC, "-p", "pynq-z1", "--time-limit", seconds, "-o", tmp_path / "out")
    assert answer.returncode == 2
    assert "--time-limit" in answer.stderr


def test_outside_of_the_main_thread_there_is_no_timer() -> None:
    caught: list[ff.InputError] = []

    def run() -> None:
        try:
            ff.plan(TFC, "pynq-z1", time_limit=LONG_S, **FAST)
        except ff.InputError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "--time-limit" in str(caught[0])
