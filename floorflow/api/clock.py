"""A time limit on the clock: it ends a search as Ctrl-C does, early enough for the plan to be written."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from floorflow.errors import InputError, LimitError

KEPT_SHARE, KEPT_S = 0.35, 6.0
"""Share of a time limit, and seconds at most, that are kept for what follows the search: to place, record and write."""
LEAST_S = 1e-3
"""Seconds from which a timer rings; at 0 it would be off."""


@dataclass
class Clock:
    """Rings once, unless it is stopped before; ``is_over``: it has rung."""

    stop: Callable[[], object]
    is_over: bool = False

    def ring(self, *_: object) -> None:
        """End what runs."""
        self.is_over = True
        raise KeyboardInterrupt


@contextmanager
def time_limit(seconds: float | None, started: float) -> Iterator[Clock]:
    """Interrupt the block inside so long before a limit that a plan can still be made final.

    ``started``: when its seconds began, by `time.perf_counter`.

    Raises
    ------
    InputError
        If there is no timer: outside of the main thread, or on Windows.
    LimitError
        If nothing was found by then.

    """
    if seconds is None:
        yield Clock(int)
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        raise InputError("--time-limit: there is no timer here", hint="plan in the main thread, and not on Windows")
    clock = Clock(lambda: signal.setitimer(signal.ITIMER_REAL, 0))
    before = signal.signal(signal.SIGALRM, clock.ring)
    try:
        left = started + seconds - min(KEPT_SHARE * seconds, KEPT_S) - time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, max(left, LEAST_S))
        yield clock
    except KeyboardInterrupt:
        if not clock.is_over:
            raise
        raise LimitError(f"no plan was found within {seconds:g} s", hint="give it more time") from None
    finally:
        clock.stop()
        signal.signal(signal.SIGALRM, before)
