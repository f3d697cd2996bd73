"""Deterministic work: what was done, by counts that depend on the input alone and are the same in every run.

A unit is roughly a second of one core. It is counted where nearly all of the time goes: in solvers, enumerations,
prices, exchanges, analyses of FIFOs, partitions and draws of annealing. No clock decides what a run comes to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf


class WorkIsSpent(Exception):  # noqa: N818 - says how a search ended that had a limit, is no error
    """What `counted` allowed is spent."""


@dataclass
class Work:
    """What was ``spent`` so far, and the ``limit`` beyond which counting raises."""

    limit: float = inf
    spent: float = 0.0


_COUNTED: ContextVar[Work | None] = ContextVar("counted", default=None)


def count(units: float) -> None:
    """Count work that was done, where somebody wants to know.

    Raises
    ------
    WorkIsSpent
        If that is more than is allowed.

    """
    work = _COUNTED.get()
    if work is not None:
        work.spent += units
        if work.spent > work.limit:
            raise WorkIsSpent


@contextmanager
def counted(limit: float = inf) -> Iterator[Work]:
    """Count the work that is done inside, in this thread, and more than ``limit`` is not; who counts outside has it."""
    work, outside = Work(limit), _COUNTED.get()
    before = _COUNTED.set(work)
    try:
        yield work
    finally:
        _COUNTED.reset(before)
        if outside is not None:
            outside.spent += work.spent
