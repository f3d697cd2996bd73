"""Every error that a user can meet, with the exit code it ends in.

    FloorflowError            70  internal error, if nothing below fits
    ├── InputError             2  a file, an option or a value is not what was expected
    │   └── PlatformError      2  a platform, board or device file is unknown or malformed
    ├── InfeasibleError        3  proven: no plan exists under the given limits
    ├── ToolError              4  a tool that is needed failed or is missing
    └── LimitError             5  a limit was reached before a plan was found

``check`` answers 1 when it found violations; that is a verdict, not an error.
"""

from __future__ import annotations


class FloorflowError(Exception):
    """An error with a message for the user and a hint on what to do."""

    exit_code = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(FloorflowError):
    """A file, an option or a value is not what was expected."""

    exit_code = 2


class PlatformError(InputError):
    """A platform, board or device file is unknown or malformed."""


class InfeasibleError(FloorflowError):
    """Proven: no plan exists. The message names resource, place, need and limit."""

    exit_code = 3


class ToolError(FloorflowError):
    """A tool that is needed failed or is missing."""

    exit_code = 4


class LimitError(FloorflowError):
    """A limit was reached before a plan was found; nothing is proven."""

    exit_code = 5
