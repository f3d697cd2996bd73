"""After Ctrl-C: the best legal plan known, or that can be placed in a moment.

Only here does a clock decide anything, and only in a run that was interrupted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import replace

from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.placing import PlacedCandidate
from floorflow.search.candidate.repair import place_joined
from floorflow.search.interval.lowest_latency import latency_cycles
from floorflow.search.interval.state import SearchState

AT_ONCE_S = 1.0
"""Seconds in which candidates that were not placed yet may be, of the three in which an interrupted run ends."""


class _TimeIsUpError(Exception):
    """Raised out of whatever runs when the seconds are over."""


def place_best(run: SearchState, longest_cycles: int) -> bool:
    """Place the best candidate that was completed before Ctrl-C, without repairs, if no plan is known yet.

    Only plans of at most the longest interval count; whether there is one. A second Ctrl-C goes through.
    """
    if run.best is None:
        run.best = _within(AT_ONCE_S, lambda: _first_placed(run, longest_cycles))
    return run.best is not None and run.best.candidate.kept_cycles <= longest_cycles


def _first_placed(run: SearchState, longest_cycles: int) -> PlacedCandidate | None:
    hasty = replace(run.context, request=run.context.request.changed(effort="fast"))
    met = [candidate for candidate in run.completed if candidate.kept_cycles <= longest_cycles]
    for candidate in sorted(met, key=_merit(run)):
        answer = place_joined(hasty, candidate)
        if isinstance(answer, PlacedCandidate):
            run.legal(candidate.interval_cycles, "after Ctrl-C, without repairs")
            return answer
    return None


def _merit(run: SearchState) -> Callable[[Candidate], int]:
    """Return what ranks candidates, best first."""
    return latency_cycles if run.context.request.goal == "latency" else lambda candidate: candidate.kept_cycles


def _within(seconds: float, work: Callable[[], PlacedCandidate | None]) -> PlacedCandidate | None:
    """Return what the work gives, or None if the time was up before; nothing is begun where no timer can end it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return None
    before = signal.signal(signal.SIGALRM, _leave)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TimeIsUpError:
        return None
    finally:
        signal.signal(signal.SIGALRM, before)


def _leave(_signal: int, _frame: object) -> None:
    raise _TimeIsUpError
