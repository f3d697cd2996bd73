"""The search for the least resources, at a requested rate or at any."""

from __future__ import annotations

from floorflow.search.highest_rate import row_sentence
from floorflow.search.state import SearchState


def least_resources(run: SearchState, intervals: tuple[int, ...]) -> str:
    """Fold for the longest allowed interval; where that cannot be placed, for shorter ones, which change the folding.

    Options slower than a requested rate are gone already.
    """
    longest = intervals[-1]
    for _ in range(run.context.search_limits.rate_attempts):
        if run.placed(longest):
            break
        candidate = run.candidates[longest]
        # The same folding answers every interval down to its own.
        shorter = [i for i in intervals if i < (candidate.interval_cycles if candidate else longest)]
        if not shorter:
            break
        longest = shorter[-1]
    if run.context.request.fps is not None:
        return "the requested rate was met"
    failed = [row_sentence(row) for row in run.trace if row.verdict != "legal"]
    folding = run.best.candidate.folding if run.best is not None else None
    if folding and not failed and folding.budget == run.context.problem.budget and folding.stats.status == "optimal":
        return "least resources: no folding at any interval is less scarce"
    return "; ".join(["least resources for which a legal floorplan was found", *failed[-1:]])
