"""How a long run is shown on standard error: live on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from floorflow.api import Callback, Event
from floorflow.cli.terminal import talk

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
    _parts: dict[str, float] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        """Tell of one event."""
        if event.best is not None:
            return
        if event.seconds is None:
            self.show(": ".join(text for text in (event.stage, event.note) if text))
        elif event.within:
            self._parts[event.stage] = self._parts.get(event.stage, 0.0) + event.seconds
        else:
            for part, spent in (self._parts or {event.stage: event.seconds}).items():
                self.finish(part, spent)
            self._parts.clear()


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Callback | None]:
    """Show the stages of what runs inside, unless ``quiet``; the cursor is back at the end, whatever the end is."""
    if quiet:
        yield None
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


def in_a_pipe(write: Callable[[str], None], clock: Callable[[], float]) -> Callback:
    """Return what writes a line at most every `PIPE_S` seconds, the first of them after as many."""
    started = last = clock()

    def show(text: str) -> None:
        nonlocal last
        if clock() - last >= PIPE_S:
            last = clock()
            write(f"{last - started:.0f} s: {text}")

    return Stages(show, lambda _name, _seconds: None)
