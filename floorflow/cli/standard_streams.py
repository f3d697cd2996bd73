"""Standard output and error whose reader may leave, or whose device may be full."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class _Outlet(io.FileIO):
    """A file descriptor; what its reader no longer wants is dropped, so that a command ends as it would have ended."""

    def __init__(self, descriptor: int, *, must_be_written: bool) -> None:
        try:
            super().__init__(descriptor, "w", closefd=False)
            self._open = True
        except OSError:  # closed by whoever started us
            super().__init__(os.devnull, "w")
            self._open = False
        self._must_be_written = must_be_written
        self.given_up = False

    def write(self, data: object) -> int:
        """Write what there is to write.

        Raises
        ------
        ToolFailed
            The first time that it cannot be written, if it must be.

        """
        length = len(memoryview(data))  # type: ignore[arg-type]  # bytes or a buffer of them
        if self.given_up:
            return length
        try:
            return self._written(data)
        except BrokenPipeError:
            self.given_up = True
        except OSError as error:
            self.given_up = True
            if self._must_be_written:
                from floorflow.api import ToolFailed

                hint = "free some space, or send the output elsewhere"
                raise ToolFailed(f"standard output cannot be written: {error.strerror}", hint=hint) from None
        return length

    def _written(self, data: object) -> int:
        if not self._open:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return super().write(data)  # type: ignore[arg-type]


@contextmanager
def native_output_as_talk() -> Iterator[None]:
    """Send what native code writes to standard output to standard error: HiGHS tells of some nodes there."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # closed by whoever started us
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Exit 4 if standard output cannot be written; go on in silence where a reader has seen enough."""
    if sys.stdout is sys.__stdout__:
        sys.stdout = _stream(sys.stdout, 1, must_be_written=True)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _stream(sys.stderr, 2, must_be_written=False)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except Exception as error:
        # The help of all commands ends without what these import.
        from floorflow.api import ToolFailed
        from floorflow.cli.console import complain

        if not isinstance(error, ToolFailed):
            raise
        complain(str(error), error.hint, debug=False)
        sys.exit(error.exit_code)


def reader_is_gone() -> bool:
    """Tell whether nobody reads standard output any more."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _Outlet) and raw.given_up


def _stream(today: TextIO | None, descriptor: int, *, must_be_written: bool) -> TextIO:
    outlet = _Outlet(descriptor, must_be_written=must_be_written)
    return io.TextIOWrapper(
        io.BufferedWriter(outlet),
        encoding=getattr(today, "encoding", "utf-8"),
        errors="backslashreplace",  # a name that the locale lacks must not end a run that has found its plan
        line_buffering=not must_be_written or outlet.isatty(),
    )
