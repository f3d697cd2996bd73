"""Imports that Ctrl-C does not break: a module half imported stays broken until the process ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole_imports() -> Iterator[None]:
    """Hold Ctrl-C back while slow modules are imported inside; it is heard at the end.

    Only the main thread hears it, so that elsewhere there is nothing to hold back.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)
