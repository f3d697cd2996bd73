"""FINN's SetFolding as a folding method: its answer to a target, priced and limited like every other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.given_folding import given_folding_groups
from floorflow.backends.finn.folding.set_folding import Rules, Sizes, rules_of, set_folding
from floorflow.backends.finn.version import FinnVersion
from floorflow.channels import couplings
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.folding import FoldingProblem, FoldingSolution, FoldingUnknown, shortest_interval
from floorflow.folding.exact import FoldingAnswer
from floorflow.folding.interval_search import first_index_to_try
from floorflow.folding.methods import FoldingMethod
from floorflow.folding.selection import Evaluator
from floorflow.resources import shortfall

FINN_MAIN = Rules()
SAMPLES = 24
"""Intervals at which SetFolding is tried to find where its answers begin to keep the budget."""


@dataclass(frozen=True)
class NoSetFolding(FoldingUnknown):
    """SetFolding's answer is none: too slow, too large, or nothing that FINN can build. Nothing is proven by that."""


def solve(dataflow: Dataflow, costs: CostTable, finn: FinnVersion) -> FoldingMethod:
    """Return SetFolding as FINN has it."""
    return finn_method(dataflow, costs, rules_of(finn))


def finn_method(dataflow: Dataflow, costs: CostTable, rules: Rules = FINN_MAIN) -> FoldingMethod:
    """Return SetFolding on these engines as a method; memories stay as the engines have them, else FINN's defaults.

    Within an interval it gets the target that just allows it. Without one, the shortest interval is sought at which its
    answer keeps the budget, for it knows of none itself.
    """

    def at(problem: FoldingProblem, interval_cycles: int) -> FoldingSolution | NoSetFolding:
        target = interval_cycles if rules.target_is_enough else interval_cycles + 1
        answer = folded_as(dataflow, costs, set_folding(dataflow, target, rules), problem)
        if isinstance(answer, FoldingSolution) and answer.interval_cycles > interval_cycles:
            return NoSetFolding(f"SetFolding reaches {answer.interval_cycles:,} cycles, not {interval_cycles:,}")
        return answer

    def method(problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0) -> FoldingAnswer:
        del seed
        if interval_cycles is not None:
            return at(problem, interval_cycles)
        return _shortest(problem, at)

    return method


def _shortest(
    problem: FoldingProblem, at: Callable[[FoldingProblem, int], FoldingSolution | NoSetFolding]
) -> FoldingAnswer:
    """Return the answer at the shortest interval that has one.

    At long intervals too there may be none: FINN builds no matrix unit with very few SIMD. So samples tell where to
    bisect.
    """
    intervals = problem.intervals()
    start = first_index_to_try(problem)
    samples = sorted(set(np.linspace(start, len(intervals) - 1, SAMPLES).round().astype(int).tolist()))
    failed = start - 1
    answer: FoldingSolution | NoSetFolding = NoSetFolding()
    for place in samples:
        answer = at(problem, intervals[place])
        if isinstance(answer, FoldingSolution):
            span = intervals[failed + 1 : place + 1]
            index = shortest_interval(span, lambda i: isinstance(at(problem, i), FoldingSolution))
            return at(problem, span[-1 if index is None else index])
        failed = place
    return answer


def folded_as(
    dataflow: Dataflow, costs: CostTable, sizes: dict[str, Sizes], problem: FoldingProblem
) -> FoldingSolution | NoSetFolding:
    """Price a given folding as the problem prices: with streams if it does, under its budget."""
    engines = tuple(replace(e, folding={**e.folding, **sizes.get(e.name, {})}) for e in dataflow.engines)
    folded = replace(dataflow, engines=engines)
    try:
        groups = given_folding_groups(folded, costs)
    except InputError as error:
        return NoSetFolding(f"FINN cannot build it: {error}")
    streams = couplings(folded, groups, costs) if problem.couplings else ()
    alone = replace(problem, groups=groups, couplings=streams)
    folding = Evaluator(alone).solution([0] * len(groups), "finn", "heuristic")
    short = shortfall(folding.resources, problem.budget)
    if short:
        missing = ", ".join(f"{amount:,} {name}" for name, amount in short.items())
        return NoSetFolding(f"SetFolding's answer exceeds the budget by {missing}")
    return folding
