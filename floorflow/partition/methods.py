"""The partition methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from floorflow.errors import Refusal, unproven
from floorflow.partition.arrays import Integers, ProblemArrays, arrays_of
from floorflow.partition.bounds import edge_bounds
from floorflow.partition.dp import contiguous
from floorflow.partition.exact import even_out, solve
from floorflow.partition.fm import MoveEvaluator, fm_refine
from floorflow.partition.fpga_first import fpga_first
from floorflow.partition.infeasibility import explain_infeasibility, obviously_infeasible
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.problem import PartitionFailure, PartitionProblem, PartitionSolution, spanning_tree
from floorflow.partition.window_lns import window_lns
from floorflow.stats import SolveStats, Status

PartitionAnswer = PartitionSolution | PartitionFailure

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


def partition(
    problem: PartitionProblem, method: str = "auto", effort: str = "default", seed: int = 0
) -> PartitionAnswer:
    """Assign every module to a slot with the method of that name.

    The methods know trees of slots. Where links make rings they work on a tree of them, on which nothing is proven of
    the whole, and the answer is then priced on the shortest routes.
    """
    infeasibility = obviously_infeasible(problem)
    if infeasibility is not None:
        return infeasibility
    if problem.is_tree:
        return METHODS[method](problem, DETERMINISTIC_LIMITS[effort], seed)
    return _on_shortest_routes(problem, METHODS[method](spanning_tree(problem), DETERMINISTIC_LIMITS[effort], seed))


def _on_shortest_routes(problem: PartitionProblem, answer: PartitionAnswer) -> PartitionAnswer:
    if isinstance(answer, PartitionFailure):
        return replace(answer, refusals=(Refusal("tree of links"), *unproven(answer.refusals)))
    if not problem.is_legal(answer.slot_of):
        return PartitionFailure((Refusal("shortest routes"),))
    stats = SolveStats(f"{answer.stats.method} on a tree of the links", "feasible", float(problem.cost(answer.slot_of)))
    return replace(answer, stats=stats)


@dataclass
class _Best:
    """The best assignment so far, who made it, and what is proven."""

    arrays: ProblemArrays
    assignment: Integers | None = None
    origin: str = ""
    bound: int = 0

    def offer(self, assignment: Integers | None, origin: str) -> bool:
        """Take an assignment if it is better, by cost and then by fullness; the earlier one wins a tie."""
        evaluator = MoveEvaluator(self.arrays)
        if assignment is None or (
            self.assignment is not None and evaluator.key(assignment) >= evaluator.key(self.assignment)
        ):
            return False
        self.assignment, self.origin = assignment, origin
        return True

    @property
    def proven(self) -> bool:
        """Whether the best assignment costs no more than the bound."""
        return self.assignment is not None and self.arrays.cost(self.assignment) <= self.bound


def _auto(problem: PartitionProblem, limit: float, seed: int) -> PartitionAnswer:
    """Start from dp, metis and whole FPGAs first, search around each, then solve all at once from the best."""
    arrays = arrays_of(problem)
    best = _Best(arrays)
    starts = {"metis": recursive_bipartition(arrays, seed), "dp": contiguous(problem, arrays)[0]}
    for name, assignment in starts.items():
        best.offer(assignment, name)
    if len(problem.demands) * len(problem.edges) <= _SMALL:
        outcome = solve(problem, arrays, best.assignment, seed, limit * _QUICK)
        if outcome.status == "infeasible":
            return explain_infeasibility(problem, seed, limit * _REASON)
        best.bound = outcome.bound
        if outcome.status == "optimal":
            origin = f"{best.origin}+cpsat" if best.origin else "cpsat (neither METIS nor dp found a start)"
            best.offer(outcome.assignment, origin)
            best.origin = origin
            return _finished(problem, best, seed, limit)
    starts["links first"] = fpga_first(problem, arrays, seed, limit * _LINKS)
    best.offer(starts["links first"], "links first")
    legal = {name: assignment for name, assignment in starts.items() if assignment is not None}
    for name, assignment in legal.items():
        best.offer(_improved(problem, arrays, assignment, seed, limit * _WINDOWS / len(legal)), f"{name}+local search")
    return _completed(problem, best, seed, limit)


def _completed(problem: PartitionProblem, best: _Best, seed: int, limit: float) -> PartitionAnswer:
    """Bound every edge and give CP-SAT all slots, from the best assignment so far."""
    arrays = best.arrays
    least = edge_bounds(problem, seed, limit * _BOUND)
    if least is None:
        return explain_infeasibility(problem, seed, limit * _REASON)
    at_least = sum(edge.crossing.cost * wires for edge, wires in zip(problem.edges, least, strict=True))
    best.bound = max(best.bound, at_least)
    if not best.proven and (best.assignment is None or not _is_large(problem)):
        outcome = solve(problem, arrays, best.assignment, seed, limit * _FULL, least_wires=least)
        if outcome.status == "infeasible":
            return explain_infeasibility(problem, seed, limit * _REASON)
        best.bound = max(best.bound, outcome.bound)
        better = best.offer(outcome.assignment, f"{best.origin}+cpsat".lstrip("+"))
        if best.assignment is None:
            return PartitionFailure((Refusal("partition limit"),))
        if outcome.status == "optimal" and not better:
            best.origin += "+cpsat"
        elif not better:
            best.origin += " (cpsat found no better within the limit)"
        elif outcome.status == "feasible":
            improved = _improved(problem, arrays, best.assignment, seed, limit * _WINDOWS)
            best.offer(improved, f"{best.origin}+local search")
    return _finished(problem, best, seed, limit)


def _is_large(problem: PartitionProblem) -> bool:
    return len(problem.demands) * len(problem.edges) > _LARGE


def _improved(
    problem: PartitionProblem, arrays: ProblemArrays, assignment: Integers, seed: int, limit: float
) -> Integers:
    return window_lns(problem, arrays, fm_refine(arrays, assignment), seed, limit)


def _finished(problem: PartitionProblem, best: _Best, seed: int, limit: float) -> PartitionAnswer:
    """Even out the slots at the cost reached, and say what is proven."""
    arrays, assignment = best.arrays, best.assignment
    if assignment is None:
        return PartitionFailure((Refusal("partition limit"),))
    cost = arrays.cost(assignment)
    if not _is_large(problem):
        best.offer(even_out(problem, arrays, assignment, seed, limit * _EVEN), best.origin)
    status: Status = "optimal" if best.proven else "feasible"
    stats = SolveStats(best.origin, status, float(cost), float(min(cost, best.bound)))
    return PartitionSolution(arrays.as_mapping(assignment if best.assignment is None else best.assignment), stats)


def _exact(problem: PartitionProblem, limit: float, seed: int) -> PartitionAnswer:
    """Run CP-SAT without a start."""
    best = _Best(arrays_of(problem), origin="cpsat")
    outcome = solve(problem, best.arrays, None, seed, limit)
    if outcome.status == "infeasible":
        return explain_infeasibility(problem, seed, limit * _REASON)
    best.assignment, best.bound = outcome.assignment, outcome.bound
    return _finished(problem, best, seed, limit)


def _dp(problem: PartitionProblem, limit: float, seed: int) -> PartitionAnswer:  # noqa: ARG001  (registered signature)
    """Assign contiguously, at the best."""
    arrays = arrays_of(problem)
    assignment, shortened = contiguous(problem, arrays)
    return _heuristic(arrays, assignment, "dp over a choice of ideals" if shortened else "dp")


def _metis(problem: PartitionProblem, limit: float, seed: int) -> PartitionAnswer:  # noqa: ARG001  (registered signature)
    """Bisect recursively and refine."""
    arrays = arrays_of(problem)
    return _heuristic(arrays, recursive_bipartition(arrays, seed), "metis")


def _plain(problem: PartitionProblem, limit: float, seed: int) -> PartitionAnswer:  # noqa: ARG001  (registered signature)
    """Bisect recursively as the paper has it, for comparison."""
    arrays = arrays_of(problem)
    return _heuristic(arrays, recursive_bipartition(arrays, seed, refine=False), "metis without refinement")


def _heuristic(arrays: ProblemArrays, assignment: Integers | None, method: str) -> PartitionAnswer:
    if assignment is None:
        return PartitionFailure((Refusal("partition method", names=(method,)),))
    return PartitionSolution(
        arrays.as_mapping(assignment), SolveStats(method, "heuristic", float(arrays.cost(assignment)))
    )


METHODS: Mapping[str, Callable[[PartitionProblem, float, int], PartitionAnswer]] = {
    "auto": _auto,
    "dp": _dp,
    "exact": _exact,
    "metis": _metis,
    "plain-metis": _plain,
}
