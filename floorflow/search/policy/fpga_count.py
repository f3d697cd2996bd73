"""How many FPGAs: the number that was asked for, or the least one for which a legal plan is found."""

from __future__ import annotations

from collections.abc import Callable

from floorflow.errors import FloorflowError, InfeasibleError, LimitError
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.progress import Progress
from floorflow.search.interval.search import SearchResult
from floorflow.search.policy.what_fits import Prepare, explained


def least_fpgas(
    request: Request,
    prepare: Prepare,
    search: Callable[[PlanningContext], SearchResult],
    progress: Progress,
) -> tuple[PlanningContext, SearchResult, tuple[str, ...]]:
    """Search on ``request.fpgas`` FPGAs, or with ``auto`` on 1, 2, ... until a plan is found.

    Returns the context, the result, and a sentence for each smaller number that failed, with its reason.

    Raises
    ------
    InfeasibleError
        If an engine fits no slot: more FPGAs of the same kind cannot help. Or the largest number is proven too small.
        The hint names what would fit.
    LimitError
        If no plan was found, and that is not proven for every number.

    """
    counts = range(1, request.max_fpgas + 1) if request.fpgas == "auto" else (request.fpgas,)
    tried: list[str] = []
    last: FloorflowError | None = None
    for count in counts:
        if request.fpgas == "auto":
            progress.note(f"{count} FPGA{'s' if count > 1 else ''}")
        try:
            context = prepare(request, count)
        except InfeasibleError as error:
            raise explained(error, request, count, prepare) from error
        try:
            return context, search(context), tuple(tried)
        except (InfeasibleError, LimitError) as error:
            last = error
            tried.append(f"{count} FPGA{'s' if count > 1 else ''} would not do: {error}")
        if count == context.platform.most_fpgas:
            break
    if isinstance(last, InfeasibleError):
        raise explained(last, request, len(tried) if request.fpgas == "auto" else request.fpgas, prepare) from last
    raise last if last is not None else LimitError("no number of FPGAs was allowed", hint="raise --max-fpgas")
