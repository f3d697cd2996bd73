"""How a candidate is folded, partitioned and placed: the methods that a request names, and the back end's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from floorflow.backends.backend import Backend, Costs, Proposal
from floorflow.channels import couplings, not_convertible
from floorflow.dataflow.model import Attributes, Dataflow
from floorflow.errors import InputError, some
from floorflow.folding.latency import fold_at_interval
from floorflow.folding.methods import METHODS, FoldingMethod
from floorflow.folding.problem import (
    FoldingAnswer,
    FoldingProblem,
    FoldingSolution,
    FoldingUnknown,
    first_index_to_try,
    restricted,
    shortest_interval,
)
from floorflow.folding.selection import Evaluator
from floorflow.partition import partition
from floorflow.partition.problem import LIMITS
from floorflow.placement import place
from floorflow.placement.problem import PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.request import Request
from floorflow.resources import shortfall
from floorflow.search.candidate.context import PlanningContext, Solvers
from floorflow.search.candidate.engine_limits import EngineLimits
from floorflow.stats import Memo, kept


def solvers_of(request: Request, costs: Costs, limits: EngineLimits) -> Solvers:
    """Return the methods that a request names, with its effort and seed."""
    effort, seed = request.effort, request.seed
    method = methods_of(costs, limits, request.backend_options)[request.fold_method]

    def fold(problem: FoldingProblem, interval_cycles: int, *, branch: bool = True) -> FoldingAnswer:
        exact = request.fold_method == "exact"
        return (
            fold_at_interval(problem, interval_cycles, branch=branch)
            if exact
            else method(problem, interval_cycles, seed)
        )

    memo, way = Memo(), request.partition_method
    work = replace(LIMITS[effort], work=LIMITS[effort].work * SEARCH_SHARE) if effort != "best" else LIMITS[effort]
    if request.tie_break == "fullness" and effort != "best":
        work = replace(work, windows=FULLNESS_WINDOWS)

    def placing(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        # What moves modules on one FPGA leaves the problems of the others as they were.
        asked = problem, request.place_method, seed
        return memo.once(partial(kept, partial(place, *asked), "place", *asked), problem)

    return Solvers(
        fold,
        partial(fold, branch=effort == "best"),
        lambda problem, start, prove: partition(problem, way, work, seed, start=start, memo=memo, prove=prove),
        placing,
    )


SEARCH_SHARE = 0.15
"""Share of what a partition may take that one in a search gets: many follow on each other, each from the last."""
FULLNESS_WINDOWS = 20.0
"""Share of the same for local search where slots are to be evenly full: in narrow limits it takes longer."""


def with_limits(context: PlanningContext, limits: EngineLimits) -> PlanningContext:
    """Return the same with other limits on engines."""
    keep = [limits.allowed(group, context.places) for group in context.unlimited.groups]
    solvers = solvers_of(context.request, context.costs, limits)
    problem = restricted(context.unlimited, keep)
    return replace(context, engine_limits=limits, problem=problem, solvers=solvers)


SAMPLES = 24
"""Intervals at which proposals are tried to find where they begin to keep the budget."""


@dataclass(frozen=True)
class NoProposal(FoldingUnknown):
    """What was proposed is no folding: too slow, too large, or nothing to be built. Nothing is proven by that."""


@dataclass(frozen=True)
class Pricer:
    """Prices what a method called ``name`` proposes for engines, which must be within the limits on single ones."""

    name: str
    dataflow: Dataflow
    backend: Backend
    costs: Costs
    limits: EngineLimits

    def priced(self, foldings: Mapping[str, Attributes], problem: FoldingProblem) -> FoldingSolution | NoProposal:
        """Price a given folding as the problem prices: with streams if it does, under its budget."""
        engines = (replace(e, folding={**e.folding, **foldings.get(e.name, {})}) for e in self.dataflow.engines)
        folded = replace(self.dataflow, engines=tuple(engines))
        try:
            groups = self.backend.given_groups(folded, self.costs)
        except InputError as error:
            return NoProposal(f"what {self.name} proposes cannot be built: {error}")
        unlike = list(not_convertible(folded, groups, self.costs))
        if unlike:
            return NoProposal(f"what {self.name} proposes needs width converters that cannot be built: {some(unlike)}")
        above = [pair for group in groups for pair in self.limits.exceeded(group, 0)]
        if above:
            names = some([f"{engine} ({limit})" for engine, limit in above])
            return NoProposal(f"what {self.name} proposes exceeds the limits on single engines: {names}")
        streams = couplings(folded, groups, self.costs) if problem.couplings else ()
        alone = replace(problem, groups=groups, couplings=streams)
        folding = Evaluator(alone).solution([0] * len(groups), self.name, "heuristic")
        short = shortfall(folding.resources, problem.budget)
        if short:
            missing = ", ".join(f"{amount:,} {name}" for name, amount in short.items())
            return NoProposal(f"what {self.name} proposes exceeds the budget by {missing}")
        return folding


def method_of(pricer: Pricer, propose: Proposal) -> FoldingMethod:
    """Return a folding method that takes what is proposed for an interval.

    Without an interval the shortest is sought at which that keeps the budget, of which the proposal knows nothing.
    """

    def at(problem: FoldingProblem, interval_cycles: int) -> FoldingSolution | NoProposal:
        answer = pricer.priced(propose(pricer.dataflow, interval_cycles), problem)
        if isinstance(answer, FoldingSolution) and answer.interval_cycles > interval_cycles:
            return NoProposal(f"{pricer.name} reaches {answer.interval_cycles:,} cycles, not {interval_cycles:,}")
        return answer

    def method(problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0) -> FoldingAnswer:
        del seed
        if interval_cycles is not None:
            return at(problem, interval_cycles)
        return _shortest(problem, at)

    return method


def _shortest(
    problem: FoldingProblem, at: Callable[[FoldingProblem, int], FoldingSolution | NoProposal]
) -> FoldingAnswer:
    """Return the answer at the shortest interval that has one.

    At long intervals too there may be none, where the tool builds nothing so narrow. So samples tell where to bisect.
    """
    intervals = problem.intervals()
    start = first_index_to_try(problem)
    samples = sorted(set(np.linspace(start, len(intervals) - 1, SAMPLES).round().astype(int).tolist()))
    failed = start - 1
    answer: FoldingSolution | NoProposal = NoProposal()
    for sample in samples:
        answer = at(problem, intervals[sample])
        if isinstance(answer, FoldingSolution):
            span = intervals[failed + 1 : sample + 1]
            index = shortest_interval(span, lambda i: isinstance(at(problem, i), FoldingSolution))
            return at(problem, span[-1 if index is None else index])
        failed = sample
    return answer


def methods_of(costs: Costs, limits: EngineLimits, options: Any) -> dict[str, FoldingMethod]:
    """Return every folding method by name: those that need the problem alone, and the back end's own.

    ``limits`` are those on the engines of the network that is folded, which know it and its back end.
    """
    pricer = partial(Pricer, dataflow=limits.dataflow, backend=limits.backend, costs=costs, limits=limits)
    own = limits.backend.fold_methods(options)
    return {**METHODS, **{name: method_of(pricer(name), propose) for name, propose in own.items()}}
