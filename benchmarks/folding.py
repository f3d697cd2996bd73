"""Fold networks under budgets from one SLR to four cards, and print a table of optima, proofs and seconds.

    python benchmarks/folding.py MODELS... [--costs calibrated] [--only "2 x U250"]

MODELS are files. Every row starts from nothing: the engines' foldings are enumerated and priced, the shortest interval
is found and the least scarce folding at it proven, converters and FIFOs included, in this process. `options` are the
seconds for the foldings alone; they are part of `all`. Reading and lowering the model are not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from floorflow.backends.finn import CostTable, Source, read_source
from floorflow.backends.finn.options import forget_options
from floorflow.channels import couplings
from floorflow.design import largest_pblocks, slot_limits
from floorflow.errors import InfeasibleError
from floorflow.folding import (
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    fitting,
    fold_at_interval,
    shortest_interval,
)
from floorflow.request import Request
from floorflow.resources import total
from floorflow.target import load_platform


@dataclass(frozen=True)
class Budget:
    """A number of cards of one board, or its first slot alone."""

    name: str
    board: str
    fpgas: int = 1
    slots: int | None = None


BUDGETS = (
    Budget("1 SLR of U250", "alveo-u250", slots=1),
    Budget("U250", "alveo-u250"),
    Budget("2 x U250", "alveo-u250", 2),
    Budget("4 x U250", "alveo-u250", 4),
    Budget("3 x KU5P", "xcku5p", 3),
    Budget("ZCU104", "zcu104"),
)


@dataclass(frozen=True)
class Row:
    """One network under one budget."""

    verdict: str
    interval: int | None
    bound: int | None
    gap: float | None
    foldings: int
    options_s: float
    all_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--costs", default="estimated")
    parser.add_argument("--only", help="one of the budgets")
    chosen = parser.parse_args()
    print("| network | budget | verdict | interval | bound | gap of scarcity | foldings | options s | all s |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = []
    for model in chosen.models:
        source = read_source(model)
        for budget in BUDGETS:
            if chosen.only in {None, budget.name}:
                rows.append(fold(source, budget, Request(model, budget.board, budget.fpgas, costs=chosen.costs)))
                print("| " + " | ".join([model.name.split(".")[0], budget.name, *cells(rows[-1])]) + " |", flush=True)
    seconds = [row.all_s for row in rows]
    proven = sum(row.gap in {None, 0.0} and row.verdict != "open" for row in rows)
    print(f"\n{proven} of {len(rows)} proven; median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s")


def cells(row: Row) -> list[str]:
    """Format one row."""
    gap = "" if row.gap is None else f"{row.gap:.2%}"
    numbers = ["" if n is None else f"{n:,}" for n in (row.interval, row.bound)]
    return [row.verdict, *numbers, gap, f"{row.foldings:,}", f"{row.options_s:.2f}", f"{row.all_s:.2f}"]


def fold(source: Source, budget: Budget, request: Request) -> Row:
    """Price and fold one network under one budget."""
    platform = load_platform(request.platform, budget.fpgas)
    technology = platform.fpgas[0].device.technology
    dataflow = source.lower(technology)
    slots = [slot.name for slot in platform.slots][: budget.slots]
    limits, rooms = slot_limits(platform, request), largest_pblocks(platform, request)
    places = [(slot, limits[slot].least(room)) for slot in slots for room in rooms[slot]]
    forget_options()
    start = time.perf_counter()
    costs = CostTable(technology, request.costs, request.runtime_weights, request.finn)
    priced = costs.groups(dataflow)
    try:
        groups = tuple(fitting(group, places) for group in priced)
    except InfeasibleError:
        spent = time.perf_counter() - start
        return Row("an engine fits no slot", None, None, None, 0, spent, spent)
    options_s = time.perf_counter() - start
    streams = couplings(dataflow, groups, costs)
    problem = FoldingProblem(groups, total(limits[slot] for slot in slots), platform.silicon, streams)
    verdict, interval, bound, gap = shortest(problem)
    foldings = sum(len(group.rows) for group in groups)
    return Row(verdict, interval, bound, gap, foldings, options_s, time.perf_counter() - start)


def shortest(problem: FoldingProblem) -> tuple[str, int | None, int | None, float | None]:
    """Return the verdict, the shortest interval with a folding, the bound on it, and the gap of its scarcity."""
    intervals = problem.intervals()

    def possible(interval: int) -> bool:
        return not isinstance(fold_at_interval(problem, interval, prove=False), FoldingInfeasible)

    first = shortest_interval(intervals, possible, problem.first_possible(intervals))
    if first is None:
        return "infeasible", None, None, None
    for interval in intervals[first:]:
        answer = fold_at_interval(problem, interval)
        if isinstance(answer, FoldingSolution):
            reached = answer.interval_cycles == intervals[first]
            verdict = "optimal" if reached and answer.stats.status == "optimal" else "open"
            return verdict, answer.interval_cycles, intervals[first], answer.stats.gap
    return "open", None, intervals[first], None


if __name__ == "__main__":
    main()
