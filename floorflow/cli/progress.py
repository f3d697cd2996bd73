"""How a long run is shown on standard error: live on a terminal, a plain line now and then in a pipe.

Both show the stage and what it does now, which of a search is the interval at hand, the best interval so far with its
bound, and the seconds since the start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from floorflow.api import Best, Callback, Event
from floorflow.cli.console import plain, talk

PIPE_S = 5.0
"""Seconds between two lines in a pipe, and before the first; shorter runs have none."""
_SAME = 6
"""Times of these after which a pipe is told the same again."""
JOBS_PIPE_S = 30.0
"""The same of builds and sweeps, which take hours."""


@dataclass
class Stages:
    """The stages of a run as they come: ``show`` is told what is going on, ``finish`` what is done and its seconds.

    ``say`` is told the notes between stages, which say what the next ones are for.

    Parts of a stage come again and again: their seconds are summed, and they finish with the stage. Of such a stage
    the parts are told, of any other the stage itself. One that fails is not told as finished: its parts wait for the
    next of its name.
    """

    show: Callable[[str, Best | None], None]
    finish: Callable[[str, float], None]
    say: Callable[[str], None] = lambda _: None
    _text: str = ""
    _best: Best | None = None
    _parts: dict[str, dict[str, float]] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        """Tell of one event."""
        if event.seconds is None:
            self._going_on(event)
        elif event.within:
            parts = self._parts.setdefault(event.within[0], {})
            parts[event.stage] = parts.get(event.stage, 0.0) + event.seconds
            self._text = event.within[-1]  # which goes on
            self.show(self._text, self._best)
        else:
            for part, spent in (self._parts.pop(event.stage, None) or {event.stage: event.seconds}).items():
                self.finish(part, spent)

    def _going_on(self, event: Event) -> None:
        if event.note and not event.stage:
            self.say(event.note)
        if event.best is not None:
            self._best = event.best
        else:
            self._text = ": ".join(text for text in (event.stage, event.note) if text)
            if not event.within and not event.note:
                self._best = None  # another stage, or another search
        self.show(self._text, self._best)


@dataclass
class Shown:
    """What is shown at any time: the stage and what it does, the best so far, the seconds since the start."""

    clock: Callable[[], float] = time.perf_counter
    text: str = ""
    best: str = ""
    told: tuple[str, str] = ("", "")
    repeats: int = 0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def change(self, text: str, best: Best | None) -> None:
        """Show something else from now on."""
        self.text, self.best = text, _words(best)

    @property
    def elapsed(self) -> str:
        """The seconds since the start."""
        return f"{self.clock() - self.started:.0f} s"

    def tell(self, write: Callable[[str], None]) -> None:
        """Write a line, but none before the first stage, and the same again only now and then."""
        self.repeats = self.repeats + 1 if (self.text, self.best) == self.told else 0
        self.told = self.text, self.best
        if self.text and self.repeats % _SAME == 0:
            write(self.line())

    def line(self) -> str:
        """Return a line for a pipe."""
        return f"{self.elapsed}: {'; '.join(part for part in (self.text, self.best) if part)}"


def _words(best: Best | None) -> str:
    """Return the best so far and its bound, or what there is of it."""
    known = [] if best is None else [("best", best.interval_cycles), ("bound", best.bound_cycles)]
    return ", ".join(f"{name} {cycles:,} cycles" for name, cycles in known if cycles is not None)


@contextmanager
def progress_shown(*, quiet: bool, pipe_s: float = PIPE_S) -> Iterator[Callback | None]:
    """Show the stages of what runs inside, unless ``quiet``; the cursor is back at the end, whatever the end is."""
    if quiet:
        yield None
    elif not talk.is_terminal:
        with _in_a_pipe(pipe_s) as tell:
            yield tell
    else:
        try:
            with _on_a_terminal() as tell:
                yield tell
        finally:
            talk.show_cursor(show=True)


@contextmanager
def _on_a_terminal() -> Iterator[Callback]:
    """Show one line that changes, and above it every stage that is finished."""
    line = _Line()
    with Live(get_renderable=line.renderable, console=talk, transient=True) as live:

        def show(text: str, best: Best | None) -> None:
            line.change(text, best)
            live.refresh()

        yield Stages(show, _tick, lambda note: talk.print(plain(note)))


class _Line:
    """The line that changes: a spinner and the stage on the left, best, bound and seconds on the right."""

    def __init__(self) -> None:
        self._shown = Shown()
        self._spinner = Spinner("dots")

    def change(self, text: str, best: Best | None) -> None:
        """Show something else from now on."""
        self._shown.change(text, best)
        self._spinner = Spinner("dots", Text(text))
        # A table measures its cells at time 0, from which the spinner would count its turns.
        self._spinner.start_time = talk.get_time()

    def renderable(self) -> Table:
        """Return the line as of now."""
        line = Table.grid(expand=True, padding=(0, 2, 0, 0))
        line.add_column(ratio=1, no_wrap=True)
        line.add_column(no_wrap=True, justify="right")
        line.add_column(no_wrap=True, justify="right")
        line.add_row(self._spinner, self._shown.best, self._shown.elapsed)
        return line


def _tick(name: str, seconds: float) -> None:
    talk.print(f"[green]✓[/] {name:<18} {seconds:7.1f} s")


@contextmanager
def _in_a_pipe(every_s: float) -> Iterator[Callback]:
    """Write a line every so many seconds, in a thread of its own: a stage may have nothing to tell for long."""
    shown, ended, write = Shown(), threading.Event(), partial(talk.print, markup=False)
    tell = partial(shown.tell, write)
    thread = threading.Thread(target=every, args=(every_s, ended.wait, tell), daemon=True)
    thread.start()
    try:
        yield Stages(shown.change, lambda _name, _seconds: None, lambda note: write(f"{shown.elapsed}: {note}"))
    finally:
        ended.set()
        thread.join()


def every(seconds: float, ended_within: Callable[[float], bool], act: Callable[[], None]) -> None:
    """Act every so many seconds, first after as many, until the end comes within them."""
    while not ended_within(seconds):
        act()
