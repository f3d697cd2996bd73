"""What a long run tells of itself while it works: an event for each thing that happens, given to one function."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from floorflow.search.candidate.progress import SILENT, Progress


@dataclass(frozen=True, slots=True)
class Best:
    """The interval of the best design so far, and the shortest that is not proven impossible; None: not known."""

    interval_cycles: int | None
    bound_cycles: int | None


NOTHING_FOUND = Best(None, None)


@dataclass(frozen=True, slots=True)
class Event:
    """A stage begins (nothing more), tells what it does now (a note) or the best so far, or ends (its seconds).

    ``within``: the stages that it is a part of, the outermost first. A stage may come again and again. One that fails
    has no end. ``stage`` is empty where something is told between stages. ``best`` holds from then on, until the next
    or the end of the outermost stage.
    """

    stage: str
    within: tuple[str, ...] = ()
    note: str = ""
    seconds: float | None = None
    best: Best | None = None


Callback = Callable[[Event], None]
"""Who is told, in the thread that works. Nothing that is decided depends on it; what it raises ends the run."""


@dataclass
class Teller(Progress):
    """Makes events of the stages of one run."""

    tell: Callback
    clock: Callable[[], float] = time.perf_counter
    _open: list[str] = field(default_factory=list)
    _best: Best = NOTHING_FOUND

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run a stage."""
        within = tuple(self._open)
        if not within:
            self._best = NOTHING_FOUND
        self._open.append(name)
        started = self.clock()
        try:
            self.tell(Event(name, within))
            yield
            self.tell(Event(name, within, seconds=self.clock() - started))
        finally:
            self._open.pop()

    def note(self, text: str) -> None:
        """Tell what the open stage does now."""
        *within, stage = self._open or [""]
        self.tell(Event(stage, tuple(within), text))

    def best(self, interval_cycles: int | None, bound_cycles: int | None) -> None:
        """Tell the best design so far and the bound on its interval; None: as before."""
        *within, stage = self._open or [""]
        known = self._best
        self._best = Best(interval_cycles or known.interval_cycles, bound_cycles or known.bound_cycles)
        self.tell(Event(stage, tuple(within), best=self._best))


def told_to(callback: Callback | None) -> Progress:
    """Return what tells the stages of a run to a function, or to nobody."""
    return SILENT if callback is None else Teller(callback)
