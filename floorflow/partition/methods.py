"""The partition methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from floorflow.partition.arrays import Integers, Tables, tabulate
from floorflow.partition.bounds import edge_bounds
from floorflow.partition.dp import contiguous
from floorflow.partition.exact import even_out, solve
from floorflow.partition.fm import Neighbourhood, improve
from floorflow.partition.fpga_first import links_first
from floorflow.partition.infeasibility import explain, impossible
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.problem import PartitionFailure, PartitionProblem, PartitionSolution, spanning_tree
from floorflow.partition.window_lns import improve_windows
from floorflow.stats import SolveStats, Status

Answer = PartitionSolution | PartitionFailure

DETERMINISTIC_LIMITS = {"fast": 0.3, "default": 1.0, "best": 20.0}
"""CP-SAT deterministic time units by effort; one unit is one to three seconds."""

_SMALL = 200
"""Modules times edges up to which CP-SAT alone is tried first."""

_LARGE = 4_000
"""Modules times edges from which CP-SAT is not given all slots at once if there is a start: it would find nothing."""

_LINKS = 0.2
"""Share of the limit for the assignment to whole FPGAs."""

_QUICK, _BOUND, _WINDOWS, _FULL, _EVEN, _REASON = 0.1, 0.4, 0.6, 0.25, 0.02, 0.1
"""Shares of the limit: small problems at once, edge bounds, windows, all slots, evening out, each trial of why not."""


def partition(problem: PartitionProblem, method: str = "auto", effort: str = "default", seed: int = 0) -> Answer:
    """Assign every module to a slot with the method of that name.

    The methods know trees of slots. Where links make rings they work on a tree of them, on which nothing is proven of
    the whole, and the answer is then priced on the shortest routes.
    """
    hopeless = impossible(problem)
    if hopeless is not None:
        return hopeless
    if problem.is_tree:
        return METHODS[method](problem, DETERMINISTIC_LIMITS[effort], seed)
    return _on_shortest_routes(problem, METHODS[method](spanning_tree(problem), DETERMINISTIC_LIMITS[effort], seed))


def _on_shortest_routes(problem: PartitionProblem, answer: Answer) -> Answer:
    if isinstance(answer, PartitionFailure):
        return replace(answer, reason=f"on a tree of the links: {answer.reason}", proven=False)
    if not problem.is_legal(answer.slot_of):
        return PartitionFailure("a link is overloaded once streams take their shortest routes", proven=False)
    stats = SolveStats(f"{answer.stats.method} on a tree of the links", "feasible", float(problem.cost(answer.slot_of)))
    return replace(answer, stats=stats)


@dataclass
class _Best:
    """The best assignment so far, who made it, and what is proven."""

    tables: Tables
    place: Integers | None = None
    origin: str = ""
    bound: int = 0

    def offer(self, place: Integers | None, origin: str) -> bool:
        """Take an assignment if it is better, by cost and then by fullness; the earlier one wins a tie."""
        around = Neighbourhood(self.tables)
        if place is None or (self.place is not None and around.key(place) >= around.key(self.place)):
            return False
        self.place, self.origin = place, origin
        return True

    @property
    def proven(self) -> bool:
        """Whether the best assignment costs no more than the bound."""
        return self.place is not None and self.tables.cost(self.place) <= self.bound


def _auto(problem: PartitionProblem, limit: float, seed: int) -> Answer:
    """Start from dp, metis and links first, search around each, then solve all at once from the best."""
    tables = tabulate(problem)
    best = _Best(tables)
    starts = {"metis": recursive_bipartition(tables, seed), "dp": contiguous(problem, tables)[0]}
    for name, place in starts.items():
        best.offer(place, name)
    if len(problem.demands) * len(problem.edges) <= _SMALL:
        outcome = solve(problem, tables, best.place, seed, limit * _QUICK)
        if outcome.status == "infeasible":
            return explain(problem, seed, limit * _REASON)
        best.bound = outcome.bound
        if outcome.status == "optimal":
            origin = f"{best.origin}+cpsat" if best.origin else "cpsat (neither METIS nor dp found a start)"
            best.offer(outcome.place, origin)
            best.origin = origin
            return _finished(problem, best, seed, limit)
    starts["links first"] = links_first(problem, tables, seed, limit * _LINKS)
    best.offer(starts["links first"], "links first")
    legal = {name: place for name, place in starts.items() if place is not None}
    for name, place in legal.items():
        best.offer(_searched(problem, tables, place, seed, limit * _WINDOWS / len(legal)), f"{name}+local search")
    return _completed(problem, best, seed, limit)


def _completed(problem: PartitionProblem, best: _Best, seed: int, limit: float) -> Answer:
    """Bound every edge and let CP-SAT loose on all slots, from the best assignment so far."""
    tables = best.tables
    least = edge_bounds(problem, seed, limit * _BOUND)
    if least is None:
        return explain(problem, seed, limit * _REASON)
    at_least = sum(edge.crossing.cost * wires for edge, wires in zip(problem.edges, least, strict=True))
    best.bound = max(best.bound, at_least)
    if not best.proven and (best.place is None or not _is_large(problem)):
        outcome = solve(problem, tables, best.place, seed, limit * _FULL, least_wires=least)
        if outcome.status == "infeasible":
            return explain(problem, seed, limit * _REASON)
        best.bound = max(best.bound, outcome.bound)
        better = best.offer(outcome.place, f"{best.origin}+cpsat".lstrip("+"))
        if best.place is None:
            return PartitionFailure("no assignment found within the limit", proven=False)
        if outcome.status == "optimal" and not better:
            best.origin += "+cpsat"
        elif not better:
            best.origin += " (cpsat found no better within the limit)"
        elif outcome.status == "feasible":
            again = _searched(problem, tables, best.place, seed, limit * _WINDOWS)
            best.offer(again, f"{best.origin}+local search")
    return _finished(problem, best, seed, limit)


def _is_large(problem: PartitionProblem) -> bool:
    return len(problem.demands) * len(problem.edges) > _LARGE


def _searched(problem: PartitionProblem, tables: Tables, place: Integers, seed: int, limit: float) -> Integers:
    return improve_windows(problem, tables, improve(tables, place), seed, limit)


def _finished(problem: PartitionProblem, best: _Best, seed: int, limit: float) -> Answer:
    """Even out the slots at the cost found, and say what is proven."""
    tables, place = best.tables, best.place
    if place is None:
        return PartitionFailure("no assignment found within the limit", proven=False)
    cost = tables.cost(place)
    if not _is_large(problem):
        best.offer(even_out(problem, tables, place, seed, limit * _EVEN), best.origin)
    status: Status = "optimal" if best.proven else "feasible"
    stats = SolveStats(best.origin, status, float(cost), float(min(cost, best.bound)))
    return PartitionSolution(tables.as_mapping(place if best.place is None else best.place), stats)


def _exact(problem: PartitionProblem, limit: float, seed: int) -> Answer:
    """Run CP-SAT without a start."""
    best = _Best(tabulate(problem), origin="cpsat")
    outcome = solve(problem, best.tables, None, seed, limit)
    if outcome.status == "infeasible":
        return explain(problem, seed, limit * _REASON)
    best.place, best.bound = outcome.place, outcome.bound
    return _finished(problem, best, seed, limit)


def _dp(problem: PartitionProblem, limit: float, seed: int) -> Answer:  # noqa: ARG001  (registered signature)
    """Assign contiguously, at the best."""
    tables = tabulate(problem)
    place, shortened = contiguous(problem, tables)
    return _heuristic(tables, place, "dp over a choice of ideals" if shortened else "dp")


def _metis(problem: PartitionProblem, limit: float, seed: int) -> Answer:  # noqa: ARG001  (registered signature)
    """Bisect recursively and refine."""
    tables = tabulate(problem)
    return _heuristic(tables, recursive_bipartition(tables, seed), "metis")


def _plain(problem: PartitionProblem, limit: float, seed: int) -> Answer:  # noqa: ARG001  (registered signature)
    """Bisect recursively as the paper has it, for comparison."""
    tables = tabulate(problem)
    return _heuristic(tables, recursive_bipartition(tables, seed, refine=False), "metis without refinement")


def _heuristic(tables: Tables, place: Integers | None, method: str) -> Answer:
    if place is None:
        return PartitionFailure(f"{method}: no legal assignment found", proven=False)
    return PartitionSolution(tables.as_mapping(place), SolveStats(method, "heuristic", float(tables.cost(place))))


METHODS: Mapping[str, Callable[[PartitionProblem, float, int], Answer]] = {
    "auto": _auto,
    "dp": _dp,
    "exact": _exact,
    "metis": _metis,
    "plain-metis": _plain,
}
