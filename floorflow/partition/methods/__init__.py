"""Partition methods by name, a file for each; a new one is a file with ``solve(problem, limits, seed, start)``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from floorflow.errors import Refusal, unproven
from floorflow.partition.infeasibility import obviously_infeasible
from floorflow.partition.problem import (
    LIMITS,
    Limits,
    PartitionAnswer,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    as_one,
    plain_tree,
)
from floorflow.stats import Memo, SolveStats, content, count, kept, methods_in

SOLVED_S, EDGE_S = 1e-2, 5e-4
"""Work of a problem beside its solvers and moves, and of each edge that it has."""


class PartitionMethod(Protocol):
    """A way to partition: equal arguments give an equal answer."""

    def __call__(
        self, problem: PartitionProblem, limits: Limits, seed: int, start: Mapping[str, int] | None, /
    ) -> PartitionAnswer:
        """Return a solution, or a failure as a value; ``start`` is an assignment to begin from, legal or not."""


METHODS: Mapping[str, PartitionMethod] = methods_in("partition")


@dataclass(frozen=True)
class Answered:
    """An answer, and whether the proof that the limits allow was tried, too."""

    answer: PartitionAnswer
    tried_to_prove: bool

    @property
    def is_final(self) -> bool:
        """Whether no further work can change it: it is proven."""
        if isinstance(self.answer, PartitionFailure):
            return self.answer.proven
        return self.answer.stats.status == "optimal"


def partition(
    problem: PartitionProblem,
    method: str = "auto",
    effort: str | Limits = "default",
    seed: int = 0,
    *,
    start: Mapping[str, int] | None = None,
    memo: Memo | None = None,
    prove: bool = True,
) -> PartitionAnswer:
    """Assign every module to a slot with the method of that name.

    ``start`` is an assignment to begin from; a legal one is never made worse, any other is first brought to the least
    excess over the limits. Without ``prove`` the first good legal answer is returned, of which nothing need be
    known. A problem in ``memo`` is solved no further where its answer is proven or as much was tried; else
    what is there is a start. Slot indices of ``start`` are those of the problem; it must name every module.

    Method ``cuts`` knows any graph of slots. Others know trees: where there are rings, ``auto`` and ``exact`` are
    ``cuts``, and the rest work on a tree of the links; the answer is then priced on the shortest routes.
    """
    limits = replace(LIMITS[effort] if isinstance(effort, str) else effort, prove=prove)
    if start is not None and (missing := [name for name in problem.demands if name not in start]):
        raise ValueError(f"the start names no slot for {', '.join(missing)}")
    infeasibility = obviously_infeasible(problem)
    if infeasibility is not None:
        return infeasibility
    if memo is None:
        return _solved(problem, method, limits, seed, start)
    key = content((problem, method, replace(limits, prove=True), seed))
    known: Answered | None = memo.answers.get(key)
    if known is not None and _suffices(known, problem, limits, start):
        memo.repeated += 1
        return known.answer
    if known is not None and isinstance(known.answer, PartitionSolution):
        start = (
            start if start is not None and _is_better(problem, start, known.answer.slot_of) else known.answer.slot_of
        )
    memo.solved += 1
    asked = problem, method, limits, seed, start
    answer = kept(partial(_solved, *asked), "partition", *asked)
    memo.answers[key] = Answered(answer, limits.prove)
    return answer


def _suffices(known: Answered, problem: PartitionProblem, limits: Limits, start: Mapping[str, int] | None) -> bool:
    """Whether what is known is all that this call could ask for: proven, or as much was tried from no worse a start."""
    if known.is_final:
        return True
    if limits.prove and not known.tried_to_prove:
        return False
    if start is None:
        return True
    return isinstance(known.answer, PartitionSolution) and not _is_better(problem, start, known.answer.slot_of)


def _is_better(problem: PartitionProblem, start: Mapping[str, int], known: Mapping[str, int]) -> bool:
    return problem.is_legal(start) and problem.cost(start) < problem.cost(known)


def _solved(
    problem: PartitionProblem, method: str, limits: Limits, seed: int, start: Mapping[str, int] | None
) -> PartitionAnswer:
    if problem.together and method != "cuts":
        return _of_groups(problem, _solved(as_one(problem), method, limits, seed, start))
    count(SOLVED_S + EDGE_S * len(problem.edges))
    if not problem.is_plain and method in {"auto", "exact"}:
        method = "cuts"
    if problem.is_plain or method == "cuts":
        return METHODS[method](problem, limits, seed, start)
    answer = METHODS[method](plain_tree(problem), limits, seed, start)
    if isinstance(answer, PartitionFailure):
        return replace(answer, refusals=(Refusal("tree of links"), *unproven(answer.refusals)))
    if not problem.is_legal(answer.slot_of):
        return PartitionFailure((Refusal("shortest routes"),))
    stats = SolveStats(f"{answer.stats.method} on a tree of the links", "feasible", float(problem.cost(answer.slot_of)))
    return replace(answer, stats=stats)


def _of_groups(problem: PartitionProblem, answer: PartitionAnswer) -> PartitionAnswer:
    """Return the answer of a problem in which what shares a slot is one module."""

    def each(slot_of: Mapping[str, int]) -> dict[str, int]:
        slots = {name: slot_of[group[0]] for group in problem.groups for name in group}
        return {name: slots[name] for name in problem.demands}

    if isinstance(answer, PartitionSolution):
        return replace(answer, slot_of=each(answer.slot_of))
    return replace(answer, closest=None if answer.closest is None else each(answer.closest))
