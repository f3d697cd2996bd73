"""Equal copies of one network: one card first, then more cards, each loaded with the same copies."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from floorflow.errors import Refused, outcome_of
from floorflow.modes.run import ModeResult, Run, with_files
from floorflow.record.copies import OnCards, record_copies
from floorflow.record.run import PlanWithFiles
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import Priced, context_of, elsewhere, platform_of, priced
from floorflow.search.candidate.progress import part_of
from floorflow.search.interval.search import search
from floorflow.search.many.copies import CopiesFound, CopiesSearch
from floorflow.search.policy.relaxation import searched_under

MOST_REACHING = 64
"""Copies that `auto` goes up to for a rate."""


def copies(run: Run) -> ModeResult[PlanWithFiles] | Refused:
    """Search for equal copies of a network."""
    request = run.request
    with run.progress.stage("lowering"):
        lowered = outcome_of(partial(priced, run.models[0], _alone(request, 1), 1, run.measured))
    if isinstance(lowered, Refused):
        return lowered
    on = _on_cards(run, lowered)
    if isinstance(on, Refused):
        return on
    found = on.found
    # Whether a copy lies on its own does not matter for the files.
    recorded = partial(record_copies, run.models[0], request, on, run.measured)
    interrupted = any(copy.result.interrupted for copy in found.copies)
    return ModeResult(with_files(found.whole, recorded), interrupted)


def _alone(request: Request, count: int) -> Request:
    """Return what is asked of one of so many copies."""
    fps = None if request.fps is None else request.fps / count
    return request.changed(replicas=None, fpgas=1, fps=fps)


def _search(run: Run, lowered: Priced, request: Request) -> CopiesSearch:
    def seen(asked: Request, memories: Sequence[str | None]) -> PlanningContext | Refused:
        with run.progress.stage("lowering"):
            there = partial(platform_of, asked, 1, memories)
            return outcome_of(lambda: context_of(elsewhere(lowered, asked, there())))

    settle = partial(search, progress=run.progress)
    return CopiesSearch(request, seen, searched_under(part_of(run.progress)), settle, run.progress)


def _on_cards(run: Run, lowered: Priced) -> OnCards | Refused:
    """Return copies on as few cards as will do, or on as many as were asked for."""
    request = run.request
    if request.replicas == "auto" and request.fps is None:
        cards = 1 if request.fpgas == "auto" else request.fpgas
        found = _search(run, lowered, _alone(request, 1)).most()
        return found if isinstance(found, Refused) else OnCards(found, len(found.copies) * cards, cards)
    refused: Refused | None = None
    tried: list[str] = []
    for count, cards in _numbers(request):
        found = _search(run, lowered, _alone(request, count)).exactly(-(-count // cards))
        if isinstance(found, CopiesFound):
            return OnCards(found, count, cards, tuple(tried))
        refused = found
        if found.interrupted:
            break
        tried.append(f"{_told(count, cards)}: {found}")
    if refused is None:
        raise ValueError("no number of copies was tried")
    hint = refused.hint if request.fpgas == "auto" else "fewer copies, or more cards: --fpgas auto"
    return replace(refused, hint=hint)


def _numbers(request: Request) -> Iterator[tuple[int, int]]:
    """Yield numbers of copies and cards in the order in which they are tried."""
    if request.replicas == "auto":
        cards = 1 if request.fpgas == "auto" else request.fpgas
        yield from ((count, min(count, cards)) for count in range(1, MOST_REACHING + 1))
        return
    count = request.replicas or 1
    most = min(count, request.max_fpgas)
    yield from ((count, cards) for cards in (range(1, most + 1) if request.fpgas == "auto" else [request.fpgas]))


def _told(count: int, cards: int) -> str:
    return f"{count} cop{'ies' if count > 1 else 'y'} on {cards} card{'s' if cards > 1 else ''}"
