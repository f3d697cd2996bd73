"""Method ``auto``: the best of several starts and a local search around each, then CP-SAT and bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from floorflow.errors import Refusal
from floorflow.partition.arrays import Integers, ProblemArrays, arrays_of
from floorflow.partition.bounds import cut_bounds, fpga_first, least_cost
from floorflow.partition.cuts.model import choices
from floorflow.partition.cuts.search import CutSearch, cut_search
from floorflow.partition.dp import contiguous
from floorflow.partition.exact import CutBound, even_out, window_lns
from floorflow.partition.exact import solve as solve_exactly
from floorflow.partition.fm import MoveEvaluator, fm_refine, is_legal
from floorflow.partition.infeasibility import LeastExcess, explain_infeasibility, least_excess, worst
from floorflow.partition.metis import bipartitioned, recursive_bipartition
from floorflow.partition.problem import Limits, PartitionAnswer, PartitionFailure, PartitionProblem, PartitionSolution
from floorflow.stats import SolveStats, Status

FAR = 2.0
"""Excess of the closest start, in whole limits, from which a large problem is not walked.

Of 22 such walks for DenseNet-121 on two cards none became legal, of 18 from nearer starts 7 did.
"""


@dataclass
class Best:
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


def solve(
    problem: PartitionProblem, limits: Limits, seed: int, start: Mapping[str, int] | None = None
) -> PartitionAnswer:
    """Start from what is given, dp, metis and whole FPGAs first, search around each, then prove."""
    arrays = arrays_of(problem)
    best = Best(arrays)
    given = None if start is None else arrays.as_array(start)
    starts = _starts(problem, arrays, seed, given)
    for name, assignment in starts.items():
        best.offer(assignment, name)
    if len(problem.demands) * len(problem.edges) <= limits.small:
        outcome = solve_exactly(problem, arrays, best.assignment, seed, limits.work * limits.quick)
        if outcome.status == "infeasible":
            return _refused(problem, arrays, given, seed, limits)
        best.bound = outcome.bound
        if outcome.status == "optimal":
            origin = f"{best.origin}+cpsat" if best.origin else "cpsat (neither METIS nor dp found a start)"
            best.offer(outcome.assignment, origin)
            best.origin = origin
            return finished(problem, best, seed, limits)
    if best.assignment is None:
        found = _made_legal(problem, arrays, given, seed, limits)
        if isinstance(found, PartitionFailure):
            return found
        best.offer(*found)
    if not limits.prove:
        _improve(problem, best, seed, limits.work * limits.first)
        return finished(problem, best, seed, limits)
    return _completed(problem, best, seed, limits)


def _starts(
    problem: PartitionProblem, arrays: ProblemArrays, seed: int, given: Integers | None
) -> dict[str, Integers | None]:
    """Return legal assignments to begin from, by who made them."""
    starts = {"metis": recursive_bipartition(arrays, seed), "dp": contiguous(problem, arrays)[0]}
    if given is not None and is_legal(arrays, given):
        starts["given"] = given
    return starts


def _made_legal(
    problem: PartitionProblem, arrays: ProblemArrays, given: Integers | None, seed: int, limits: Limits
) -> tuple[Integers, str] | PartitionFailure:
    """Bring the start of least excess to none, and say who did, or return why that fails."""
    found = least_excess(problem, arrays, _closest_start(arrays, given, seed), seed, limits.work * limits.legal)
    if found.assignment is not None and is_legal(arrays, found.assignment):
        return found.assignment, "least excess"
    if found.proven_infeasible:
        return _proven(problem, arrays, found, seed, limits)
    closest = _closest(arrays, found)
    search = _cuts_from(problem, closest, "least excess", seed, limits)
    if len(problem.demands) * len(problem.edges) <= limits.walked or search.excess < FAR:
        # A share of areas is a wish: no walk has met one that the least excess did not.
        search.find_legal(walks=not problem.cells)
    if search.best is not None and search.is_legal:
        return arrays.as_array(search.arrays.as_mapping(search.best)), f"cuts ({search.origin})"
    refusal = None if closest is None else worst(problem, closest)
    return PartitionFailure((refusal or Refusal("partition limit"),), closest=closest)


def _cuts_from(
    problem: PartitionProblem, start: Mapping[str, int] | None, origin: str, seed: int, limits: Limits
) -> CutSearch:
    """Return a search with cuts that begins from an assignment, legal or not, if there is one."""
    search = cut_search(problem, limits.work * limits.cuts, seed)
    if start is not None:
        search.offer(search.arrays.as_array(start), origin)
    return search


def _refused(
    problem: PartitionProblem, arrays: ProblemArrays, given: Integers | None, seed: int, limits: Limits
) -> PartitionFailure:
    """Say why a problem that is proven infeasible is, and what comes closest."""
    found = least_excess(problem, arrays, _closest_start(arrays, given, seed), seed, limits.work * limits.reason)
    return _proven(problem, arrays, found, seed, limits)


def _proven(
    problem: PartitionProblem, arrays: ProblemArrays, found: LeastExcess, seed: int, limits: Limits
) -> PartitionFailure:
    """Return the reason why a problem is infeasible, with the assignment that exceeds limits least."""
    failure = explain_infeasibility(problem, seed, limits.work * limits.reason)
    return replace(failure, closest=_closest(arrays, found))


def _closest(arrays: ProblemArrays, found: LeastExcess) -> Mapping[str, int] | None:
    return None if found.assignment is None else arrays.as_mapping(found.assignment)


def _closest_start(arrays: ProblemArrays, given: Integers | None, seed: int) -> Integers:
    """Return the start that exceeds limits least."""
    closest = [bipartitioned(arrays, seed), *([] if given is None else [fm_refine(arrays, given)])]
    return min(closest, key=MoveEvaluator(arrays).key)


def _completed(problem: PartitionProblem, best: Best, seed: int, limits: Limits) -> PartitionAnswer:
    """Bound cuts alone and jointly, search locally, and then solve all slots at once unless they are too many."""
    arrays, size = best.arrays, len(problem.demands) * len(problem.edges)
    cuts = cut_bounds(problem, seed, limits.work * limits.bound)
    if cuts is None:
        return explain_infeasibility(problem, seed, limits.work * limits.reason)
    best.bound = max(best.bound, least_cost(problem, cuts))
    if not best.proven:
        best.offer(fpga_first(problem, arrays, seed, limits.work * limits.fpgas), "links first")
        _improve(problem, best, seed, limits.work * limits.windows)
    if size <= limits.whole:  # after the search: a better start shortens the proof more than time does
        _solve_whole(problem, best, cuts, seed, limits)
    if not best.proven:
        _solve_by_cuts(problem, best, seed, limits)
    return finished(problem, best, seed, limits)


def _solve_whole(problem: PartitionProblem, best: Best, cuts: Sequence[CutBound], seed: int, limits: Limits) -> None:
    """Give CP-SAT all slots, from the best assignment so far, if that is not proven the best."""
    if best.proven:
        return
    outcome = solve_exactly(problem, best.arrays, best.assignment, seed, limits.work * limits.full, cuts=cuts)
    best.bound = max(best.bound, outcome.bound)
    if not best.offer(outcome.assignment, f"{best.origin}+cpsat"):
        best.origin += "+cpsat" if outcome.status == "optimal" else " (cpsat found no better within the limit)"


def _solve_by_cuts(problem: PartitionProblem, best: Best, seed: int, limits: Limits) -> None:
    """Give HiGHS all cuts, from the best assignment so far, where those are not too many."""
    if best.assignment is None or choices(best.arrays.takes) > limits.few:
        return
    search = _cuts_from(problem, best.arrays.as_mapping(best.assignment), best.origin, seed, limits)
    search.bound = best.bound * search.arrays.scale
    search.solve_all()
    best.bound = max(best.bound, search.bound // search.arrays.scale)
    if search.best is not None:
        best.offer(best.arrays.as_array(search.arrays.as_mapping(search.best)), f"{best.origin}+cuts")


def _improve(problem: PartitionProblem, best: Best, seed: int, work: float) -> None:
    if best.assignment is not None and not best.proven:
        improved = window_lns(problem, best.arrays, fm_refine(best.arrays, best.assignment), seed, work)
        best.offer(improved, f"{best.origin}+local search")


def finished(problem: PartitionProblem, best: Best, seed: int, limits: Limits) -> PartitionAnswer:
    """Even out the slots at the cost reached, and say what is proven."""
    arrays, assignment = best.arrays, best.assignment
    if assignment is None:
        return PartitionFailure((Refusal("partition limit"),))
    cost = arrays.cost(assignment)
    if limits.prove and len(problem.demands) * len(problem.edges) <= limits.large:
        best.offer(even_out(problem, arrays, assignment, seed, limits.work * limits.even), best.origin)
    status: Status = "optimal" if best.proven else "feasible"
    bound = float(min(cost, best.bound)) if limits.prove or best.proven else None
    if bound is None:
        status = "heuristic"
    stats = SolveStats(best.origin, status, float(cost), bound)
    return PartitionSolution(arrays.as_mapping(assignment if best.assignment is None else best.assignment), stats)
