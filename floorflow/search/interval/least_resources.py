"""The search for the least resources, at a requested rate or at any."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.search.interval.highest_rate import attempt, place_shortest, row_sentence
from floorflow.search.interval.state import SearchState


def least_resources(run: SearchState, intervals: tuple[int, ...]) -> None:
    """Plan at the longest allowed interval; where that has no plan, at shorter ones, which change the folding.

    Options slower than a requested rate are gone already.
    """
    for longest in _ladder(intervals, run.context.search_limits.rate_attempts):
        if attempt(run, longest) and place_shortest(run):
            break


def what_ended(run: SearchState) -> str:
    """Return what ended the search, once the folding is held against its bound."""
    if run.context.request.fps is not None:
        return "the requested rate was met"
    failed = [row_sentence(row) for row in run.trace if row.verdict != "legal"]
    folding = run.best.candidate.folding if run.best is not None else None
    if folding and not failed and folding.budget == run.context.problem.budget and folding.stats.status == "optimal":
        return "least resources: no folding at any interval is less scarce"
    return "; ".join(["least resources for which a legal floorplan was found", *failed[-1:]])


def _ladder(intervals: tuple[int, ...], tries: int) -> Iterator[int]:
    """Yield the longest interval, then shorter ones in ever larger steps."""
    index, step = len(intervals) - 1, 1
    for _ in range(tries):
        if index < 0:
            return
        yield intervals[index]
        index, step = index - step, 2 * step
