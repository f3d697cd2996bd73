"""Signals that end a run: Ctrl-C, SIGTERM and SIGHUP are heard alike, and each has an exit code of its own.

A scheduler's limit, ``timeout``, ``docker stop`` and a connection that is lost so leave what Ctrl-C leaves. Only the
command line installs this: whoever uses the Python API keeps their own handlers.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SAME_S = 0.3
"""Seconds within which another signal is the same: ``timeout`` sends it to the process, and then to its group."""

_heard: list[tuple[int, float]] = []


def hear_signals() -> None:
    """Raise KeyboardInterrupt when one comes; one that is ignored, as SIGHUP is under ``nohup``, stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    now = time.monotonic()
    if not _heard or now - _heard[-1][1] >= SAME_S:
        _heard.append((number, now))
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignore what was heard from now on: the run is ending with its exit code, and nothing may change that."""
    for number in SIGNALS:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


def was_ended() -> bool:
    """Tell whether a signal has come."""
    return bool(_heard)


def exit_code() -> int:
    """Return the exit code of the first signal that came: 130, 143 or 129; that of Ctrl-C where none was heard here."""
    return 128 + (_heard[0][0] if _heard else signal.SIGINT)
