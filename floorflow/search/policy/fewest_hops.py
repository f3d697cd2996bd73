"""Streams cross one SLR boundary at most, and more only where no assignment does with so few, or where asked for.

What is proven is either that no assignment of engines to slots will do, however they are folded (the relaxation behind
the joint bound), or that none of the modules of the plan will, with the foldings and FIFOs that they have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from floorflow.errors import FloorflowError, InfeasibleError, LimitError, Refusal, sentence
from floorflow.folding import FoldingSolution
from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, partition
from floorflow.search.candidate.assignment import assign, clustered
from floorflow.search.candidate.candidate import Candidate, folded_by
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.hops import longest_stretch, near
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.interval.search import SearchResult, search
from floorflow.search.interval.state import whole_stages
from floorflow.segments import Impossible, SlotRelaxation

WORK = 4.0
"""What a proof over all foldings may take, in CP-SAT's work units, roughly seconds."""


def search_nearest(
    context: PlanningContext, progress: Progress = SILENT, at_any_rate: Callable[[], PlanningContext] | None = None
) -> SearchResult:
    """Find the best legal design (`search`) whose streams cross as few SLR boundaries of an FPGA as they can.

    Raises
    ------
    InfeasibleError, LimitError
        As `search`, for the fewest boundaries that are not proven to be too few.

    """
    try:
        return search(context, progress, at_any_rate)
    except (InfeasibleError, LimitError) as error:
        if context.request.max_hops is not None:
            raise
        found = _further(context, progress, at_any_rate, error)
        if found is None:
            raise
        return found


def _further(
    context: PlanningContext,
    progress: Progress,
    at_any_rate: Callable[[], PlanningContext] | None,
    error: FloorflowError,
) -> SearchResult | None:
    """Return a plan with more hops, and the proof that fewer will not do; None if there is no such plan or proof."""
    for most in range(context.max_hops, longest_stretch(context.platform)):
        nearer, further = replace(context, max_hops=most), replace(context, max_hops=most + 1)
        with progress.stage("partition"):
            progress.note(f"whether {most} hops are too few")
            proof = _engines_proof(nearer)
            if not proof and not _modules_need_more(nearer):
                return None
        try:
            result = search(further, progress, at_any_rate)
        except (InfeasibleError, LimitError):
            continue
        proof = proof or _modules_proof(nearer, result.candidate)
        if proof:
            return replace(result, max_hops=most + 1, hop_proof=proof)
        if result.interrupted:
            raise KeyboardInterrupt
        hint = f"streams over {most + 1} SLR boundaries have a plan: --max-hops {most + 1}"
        raise type(error)(str(error), hint, error.refusals) from error
    return None


def _engines_proof(context: PlanningContext) -> str:
    """Return the proof that no engines, however folded, can lie so near each other; empty if there is none."""
    problem, limits = context.problem, list(context.limits.values())
    relaxation = SlotRelaxation(problem, limits, whole_stages(context), context.inside, near(context))
    answer, _ = relaxation.at(problem.intervals()[-1], WORK)
    if not isinstance(answer, Impossible):
        return ""
    return f"{_hops_refused(context, 'engines')}, however they are folded (CP-SAT)"


def _hops_refused(context: PlanningContext, of: str) -> str:
    return sentence(Refusal("hops", allowed=context.max_hops, proven=True, names=(of,)))


def _modules_need_more(context: PlanningContext) -> bool:
    """Whether the modules of a folding of least resources are proven to need more hops."""
    folding = context.solvers.fold_nearly(context.problem, context.problem.intervals()[-1])
    if not isinstance(folding, FoldingSolution):
        return False
    answer = _nearest(context, folding)
    return isinstance(answer, PartitionFailure) and answer.proven and any(r.what == "hops" for r in answer.refusals)


def _modules_proof(context: PlanningContext, candidate: Candidate) -> str:
    """Return the proof that the modules of a plan cannot lie so near each other; empty if there is none."""
    answer = _nearest(context, candidate.folding)
    if not isinstance(answer, PartitionFailure) or not answer.proven:
        return ""
    return f"{_hops_refused(context, 'the modules')}, folded as they are (CP-SAT)"


def _nearest(context: PlanningContext, folding: FoldingSolution) -> Candidate | PartitionFailure:
    """Assign the modules of a folding, as they are before any are merged, by the method that proves most."""
    request = context.request

    def exactly(
        problem: PartitionProblem, start: Mapping[str, int] | None, _: bool
    ) -> PartitionSolution | PartitionFailure:
        return partition(problem, "auto", request.effort, request.seed, start=start)

    proving = replace(context, solvers=replace(context.solvers, partition=exactly))
    return assign(proving, folding, clustered(context, folded_by(context, folding), {}), prove=True)
