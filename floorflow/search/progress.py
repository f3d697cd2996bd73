"""What a long run tells of itself while it works: the stage that it is in, and in a few words what it does there."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Progress(Protocol):
    """Who is told. Nothing that is decided depends on it."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Return the context of a stage; a stage inside another is a part of it, and may come again and again."""
        ...

    def note(self, text: str) -> None:
        """Tell what the stage does now."""
        ...


class _Silent:
    """Tells nobody."""

    def stage(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002  (the protocol's signature)
        return nullcontext()

    def note(self, text: str) -> None:
        pass


SILENT: Progress = _Silent()
