"""What a long run tells of itself: the stage that it is in, in a few words what it does there, and the best so far."""

from contextlib import AbstractContextManager, nullcontext


class Progress:
    """Who is told, by itself nobody. Nothing that is decided depends on it."""

    def stage(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002  (nobody is told)
        """Return the context of a stage; a stage inside another is a part of it, and may come again and again."""
        return nullcontext()

    def note(self, text: str) -> None:
        """Tell what the stage does now."""

    def best(self, interval_cycles: int | None, bound_cycles: int | None) -> None:
        """Tell the interval of the best design so far, and the shortest that is not proven impossible.

        None: as it was told before in the outermost stage, if at all.
        """


SILENT = Progress()


class _PartOf(Progress):
    """Tells stages and notes of a search whose best design is only a part of the plan, and so no best of it."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole

    def stage(self, name: str) -> AbstractContextManager[None]:
        return self._whole.stage(name)

    def note(self, text: str) -> None:
        self._whole.note(text)


def part_of(whole: Progress) -> Progress:
    """Return what tells of the search for a phase, or for one of several networks."""
    return _PartOf(whole)
