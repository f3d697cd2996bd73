"""How many FPGAs: the number that was asked for, or the least one for which a legal plan is found."""

from __future__ import annotations

from collections.abc import Callable

from floorflow.errors import FloorflowError, InfeasibleError, LimitError
from floorflow.request import Request
from floorflow.search.context import PlanningContext
from floorflow.search.progress import Progress
from floorflow.search.search import SearchResult


def least_fpgas(
    request: Request,
    prepare: Callable[[int], PlanningContext],
    search: Callable[[PlanningContext], SearchResult],
    progress: Progress,
) -> tuple[PlanningContext, SearchResult, tuple[str, ...]]:
    """Search on ``request.fpgas`` FPGAs, or with ``auto`` on 1, 2, ... until a plan is found.

    Returns the setting, what was found, and a sentence for each smaller number that failed, with its reason.

    Raises
    ------
    InfeasibleError
        If an engine fits no slot: more FPGAs of the same kind cannot help. Or the largest number is proven too small.
    LimitError
        If no plan was found, and that is not proven for every number.

    """
    if request.fpgas != "auto":
        context = prepare(request.fpgas)
        return context, search(context), ()
    tried: list[str] = []
    last: FloorflowError | None = None
    for count in range(1, request.max_fpgas + 1):
        progress.note(f"{count} FPGA{'s' if count > 1 else ''}")
        context = prepare(count)
        try:
            return context, search(context), tuple(tried)
        except (InfeasibleError, LimitError) as error:
            last = error
            tried.append(f"{count} FPGA{'s' if count > 1 else ''} would not do: {error}")
        if count == context.board.max_fpgas:
            break
    raise last if last is not None else LimitError("no number of FPGAs was allowed", hint="raise --max-fpgas")
