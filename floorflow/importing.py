"""Imports that signals do not break: a module half imported stays broken until the process ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole_imports() -> Iterator[None]:
    """Hold signals that Python code handles back while slow modules are imported inside; they are heard at the end.

    Only the main thread hears them, so that elsewhere there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    came: list[int] = []
    for number in held:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])
