"""Proof for small problems: branching over orders of completions, each prefix bounded by a linear programme.

With the first completions fixed, what follows is relaxed: a tail long enough for the slowest network's rest and for the
bytes of all. A prefix of all completions is exact. Every way to begin the period is a tree of its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from floorflow.bandwidth.fixed_order import Order, running
from floorflow.bandwidth.lookahead import Begin
from floorflow.bandwidth.problem import BandwidthProblem
from floorflow.solver import LinearModel, run_highs

NODES = 600
"""Linear programmes at most."""
_ENOUGH = 1e-7
"""Relative gap that is none."""


@dataclass(frozen=True)
class Proof:
    """What branching found: a bound, and the best begin and order if they beat the start."""

    bound_us: float
    begin: Begin | None
    order: Order | None


def all_begins(problem: BandwidthProblem) -> list[Begin]:
    """Return every way to begin the period, that of the networks' first subgraphs first."""
    return list(product(*(range(len(network.subgraphs)) for network in problem.networks)))


def proven(problem: BandwidthProblem, period_us: float, begins: Sequence[Begin], nodes: int = NODES) -> Proof:
    """Return a bound on every schedule that begins in one of these ways; ``period_us``: of the best one known.

    Best first, so that the bound is the least of what is open when the nodes run out.
    """
    best, found = period_us, Proof(problem.bound_us, None, None)
    heap: list[tuple[float, int, Begin, Order]] = [(problem.bound_us, n, begin, ()) for n, begin in enumerate(begins)]
    number, totals = len(heap), [network.jobs for network in problem.networks]
    while heap and heap[0][0] < best * (1 - _ENOUGH) and nodes > 0:
        _, _, begin, prefix = heapq.heappop(heap)
        rotated = problem.beginning_with(begin)
        for network, total in enumerate(totals):
            if prefix.count(network) == total:
                continue
            order = (*prefix, network)
            bound, nodes, number = max(prefix_bound(rotated, order), problem.bound_us), nodes - 1, number + 1
            if bound >= best * (1 - _ENOUGH):
                continue
            if len(order) == problem.jobs:
                best, found = bound, Proof(bound, begin, order)
            else:
                heapq.heappush(heap, (bound, number, begin, order))
    return Proof(min(heap[0][0], best) if heap else best, found.begin, found.order)


def prefix_bound(problem: BandwidthProblem, prefix: Order) -> float:
    """Return a period that no schedule beats whose first completions are these; exact if they are all."""
    model, bandwidth = LinearModel(), problem.bytes_per_us
    lengths = [model.column(1.0) for _ in prefix]
    of_run: dict[tuple[int, int], list[int]] = {}
    for interval, at in enumerate(running(problem, prefix)):
        terms = [(lengths[interval], -1.0)]
        for number, place in enumerate(at):
            if place is not None:
                column = model.column()
                of_run.setdefault((number, place), []).append(column)
                model.row([(column, 1.0), (lengths[interval], -1.0)], upper=0.0)
                terms.append((column, float(problem.demands[number][place]) / bandwidth))
        model.row(terms, upper=0.0)
    tail, moved, bytes_left = model.column(1.0), [], 0.0
    for number, (latency, demand) in enumerate(zip(problem.latencies, problem.demands, strict=True)):
        done = prefix.count(number)
        for place in range(done):
            model.row([(c, 1.0) for c in of_run[number, place]], float(latency[place]), float(latency[place]))
        open_ = of_run.get((number, done), [])
        if open_:
            model.row([(c, 1.0) for c in open_], upper=float(latency[done]))
        model.row([(tail, 1.0), *((c, 1.0) for c in open_)], lower=float(latency[done:].sum()))
        moved += [(c, float(demand[done]) / bandwidth) for c in open_]
        bytes_left += float((latency[done:] * demand[done:]).sum()) / bandwidth
    model.row([(tail, 1.0), *moved], lower=bytes_left)
    answer = run_highs(model, 1)
    return answer.objective if answer.values is not None else 0.0
