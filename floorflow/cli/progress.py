"""How a long run is shown on standard error: live on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from floorflow.cli.terminal import talk
from floorflow.search.progress import SILENT, Progress

PIPE_S = 5.0
"""Seconds between two lines in a pipe, at least; shorter runs have none."""


@dataclass
class Stages:
    """The stages of a run as they come: ``show`` is told what is going on, ``finish`` what is done and its seconds.

    Parts of a stage come again and again: their seconds are summed, and they finish with the stage. Of such a stage
    the parts are told, of any other the stage itself. One that fails is not told as finished.
    """

    show: Callable[[str], None]
    finish: Callable[[str, float], None]
    clock: Callable[[], float] = time.perf_counter
    _open: list[str] = field(default_factory=list)
    _parts: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run a stage."""
        self._open.append(name)
        self.show(name)
        started = self.clock()
        try:
            yield
            self._end(name, self.clock() - started)
        finally:
            self._open.pop()

    def _end(self, name: str, seconds: float) -> None:
        if len(self._open) > 1:
            self._parts[name] = self._parts.get(name, 0.0) + seconds
            return
        for part, spent in (self._parts or {name: seconds}).items():
            self.finish(part, spent)
        self._parts.clear()

    def note(self, text: str) -> None:
        """Tell what the open stage does now."""
        self.show(": ".join((*self._open[-1:], text)))


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Progress]:
    """Show the stages of what runs inside, unless ``quiet``; the cursor is back at the end, whatever the end is."""
    if quiet:
        yield SILENT
    elif not talk.is_terminal:
        yield in_a_pipe(lambda line: talk.print(line, markup=False), time.perf_counter)
    else:
        try:
            with Live(Spinner("dots"), console=talk, transient=True) as live:
                yield Stages(lambda text: live.update(_spinner(text), refresh=True), _tick)
        finally:
            talk.show_cursor(show=True)


def _spinner(text: str) -> Spinner:
    return Spinner("dots", Text(text, no_wrap=True, overflow="ellipsis"))


def _tick(name: str, seconds: float) -> None:
    talk.print(f"[green]✓[/] {name:<18} {seconds:7.1f} s")


def in_a_pipe(write: Callable[[str], None], clock: Callable[[], float]) -> Progress:
    """Return stages that write a line at most every `PIPE_S` seconds, the first of them after as many."""
    started = last = clock()

    def show(text: str) -> None:
        nonlocal last
        if clock() - last >= PIPE_S:
            last = clock()
            write(f"{last - started:.0f} s: {text}")

    return Stages(show, lambda _name, _seconds: None, clock)
