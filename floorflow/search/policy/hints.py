"""What would fit where a request is proven infeasible: each option is named only if a calculation says that it would.

Would fit means that the folding bound and the links no longer forbid it: the same test that ended in exit 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import ceil

from floorflow.backends.backend import backend_named
from floorflow.errors import Refusal, Refused
from floorflow.hardware import described_fpgas
from floorflow.request import MOST_EPSILON, Request
from floorflow.search.candidate.context import reachable_fps
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval.highest_rate import shortest_possible
from floorflow.search.interval.search import Prepare
from floorflow.search.interval.state import SearchState

def with_options_that_would_do(refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Refused:
    """Return a refusal with a hint that names what would fit; ``prepare`` takes a request and a number of FPGAs."""
    all_ways = (_loosened, _rates, _caps, _balances, _counts)
    ways = [way for ways in all_ways for way in ways(refused, request, fpgas, prepare)]
    if ways:
        hint = f"by the folding bound this would do: {' or '.join(ways)}"
    else:
        hint = f"no lower rate, higher cap or other number of FPGAs alone would do; try {refused.hint}"
    return replace(refused, hint=hint)


def _loosened(_refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name options of the back end that forbid less, with the highest rate that the bound then allows."""
    for words, options in backend_named(request.backend).loosened(request.backend_options):
        run = _prepared(request.changed(backend_options=options), fpgas, prepare)
        if run is not None and run.is_feasible(run.context.problem.intervals()[-1]):
            intervals, index = shortest_possible(run)
            yield f"{words} (up to {reachable_fps(run.context.platform, intervals[index])} frames/s)"


def _rates(_refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the highest rate that the bound allows, if a rate was asked for."""
    if request.fps is None:
        return
    run = _prepared(request.changed(fps=None), fpgas, prepare)
    if run is None:
        return
    intervals, index = shortest_possible(run)
    if run.is_feasible(intervals[index]):
        yield f"--fps {reachable_fps(run.context.platform, intervals[index])}"


def _caps(refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the least cap, in hundredths, of one short resource that would do."""
    for refusal in refused.refusals:
        cap = request.cap.as_dict().get(refusal.resource)
        if refusal.what not in ("budget", "larger budget", "engine too large") or cap is None or cap >= 1:
            continue
        fits = partial(_fits_capped, request, fpgas, prepare, refusal.resource)
        if not fits(100):
            continue
        low, high = int(cap * 100 + 1e-9), 100
        # Most often the shortage itself tells the least cap.
        guess = min(high, max(low + 1, _scaled(cap, refusal)))
        for hundredths in (guess, guess - 1):
            if low < hundredths < high:
                low, high = (low, hundredths) if fits(hundredths) else (hundredths, high)
        yield f"--cap {refusal.resource}={_least(fits, low, high) / 100:g}"
        return


def _scaled(cap: float, refusal: Refusal) -> int:
    """Return the cap, in hundredths, at which the limit is what is needed."""
    return ceil(cap * (refusal.needed or 0) / max(1, refusal.allowed or 0) * 100 - 1e-9)


def _fits_capped(request: Request, fpgas: int, prepare: Prepare, resource: str, hundredths: int) -> bool:
    return _fits(request.changed(cap={**request.cap.as_dict(), resource: hundredths / 100}), fpgas, prepare)


def _least(fits: Callable[[int], bool], failed: int, fitting: int) -> int:
    """Return the least number that fits, between one that does not and one that does."""
    while fitting - failed > 1:
        middle = (failed + fitting) // 2
        failed, fitting = (failed, middle) if fits(middle) else (middle, fitting)
    return fitting


def _balances(_refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the least imbalance, in hundredths, that would do, if rates are to be balanced."""
    if request.epsilon is None or not _fits(request.changed(epsilon=None), fpgas, prepare):
        return

    def fits(hundredths: int) -> bool:
        return _fits(request.changed(epsilon=hundredths / 100), fpgas, prepare)

    low = int(request.epsilon * 100 + 1e-9)
    high = 2 * low + 10
    while high < MOST_EPSILON * 100 and not fits(high):
        low, high = high, 2 * high
    yield f"--epsilon {_least(fits, low, high) / 100:g}" if high < MOST_EPSILON * 100 else "no --epsilon"


def _counts(refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the nearest number of FPGAs that would do: fewer where a link forbids the plan, else more."""
    if request.fpgas == "auto" or described_fpgas(request.platform) is not None:
        return
    if any(refusal.what == "link" for refusal in refused.refusals):
        counts = range(fpgas - 1, 0, -1)
    else:
        counts = range(fpgas + 1, _most_fpgas(request, prepare) + 1)
    for count in counts:
        if _fits(request, count, prepare):
            yield f"--fpgas {count}"
            return


def _most_fpgas(request: Request, prepare: Prepare) -> int:
    """Return the most FPGAs that the board can be linked to and the request allows."""
    run = _prepared(request.changed(fps=None), 1, prepare)
    return 1 if run is None else min(request.max_fpgas, run.context.platform.most_fpgas)


def _fits(request: Request, fpgas: int, prepare: Prepare) -> bool:
    run = _prepared(request, fpgas, prepare)
    return run is not None and run.is_feasible(run.context.problem.intervals()[-1])


def _prepared(request: Request, fpgas: int, prepare: Prepare) -> SearchState | None:
    """Return a search that has not begun, or None if it cannot; limits on engines give way where they leave nothing."""
    context = prepare(request, fpgas)
    if isinstance(context, Refused):
        return None
    run = SearchState(context, SILENT)
    if context.problem is context.unlimited or run.is_feasible(context.problem.intervals()[-1]):
        return run
    return SearchState(replace(context, problem=context.unlimited), SILENT)
