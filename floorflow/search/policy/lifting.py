"""Limits on single engines that would leave a network without a plan are lifted, for as few engines as will do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from floorflow.errors import InfeasibleError, LimitError
from floorflow.folding import FeasibilityOracle, FoldingInfeasible
from floorflow.folding.fewest import fewest_marked
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.engine_limits import EngineLimits
from floorflow.search.interval.search import Search, SearchResult


def search_lifting(context: PlanningContext, search: Search) -> SearchResult:
    """Search under the limits on engines; where that finds no plan, with them lifted for as few engines as will do.

    Raises
    ------
    InfeasibleError
        If there is no plan whatever engines may be.
    LimitError
        If none was found, and that is not proven.

    """
    try:
        return search(context)
    except (InfeasibleError, LimitError):
        if context.problem is context.unlimited:
            raise
    *first, last = _lifted(context)
    for limits in first:
        with suppress(InfeasibleError, LimitError):
            return search(context.within(limits))
    return search(context.within(last))


def _lifted(context: PlanningContext) -> Iterator[EngineLimits]:
    """Yield the limits lifted for the fewest engines, if the sums of resources ask for that; then for all."""
    limits, longest = context.engine_limits, context.unlimited.intervals()[-1]
    within = context.problem.intervals()[-1]
    if isinstance(FeasibilityOracle(context.problem)(within), FoldingInfeasible):
        groups = context.unlimited.groups
        marked = [(~limits.allowed(group, context.places)).astype(np.int64) for group in groups]
        found = fewest_marked(context.unlimited, longest, marked)
        if found.rows is not None:
            above = [limits.exceeded(group, row) for group, row in zip(groups, found.rows, strict=True)]
            yield limits.exempting([pair for pairs in above for pair in pairs], "none of the network")
    engines = [engine.name for engine in context.dataflow.engines]
    yield limits.exempting([(engine, name) for engine in engines for name in limits.names], "no plan found")
