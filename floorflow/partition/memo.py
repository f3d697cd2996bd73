"""What was already answered: equal partition problems are not solved twice. Whoever asks keeps the memo."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from floorflow.partition.effort import Limits
from floorflow.partition.problem import PartitionAnswer, PartitionFailure, PartitionProblem

Key = tuple[Hashable, ...]


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


@dataclass
class PartitionMemo:
    """Answers by the content of their problems; ``solved`` and ``repeated`` count what was asked."""

    answers: dict[Key, Answered] = field(default_factory=dict)
    solved: int = 0
    repeated: int = 0


def key_of(problem: PartitionProblem, method: str, limits: Limits, seed: int) -> Key:
    """Return what two calls must have in common for one answer to serve both."""
    content = (
        tuple(problem.demands.items()),
        problem.streams,
        problem.slots,
        tuple((e.a, e.b, e.crossing, e.name) for e in problem.edges),
        (problem.host_in, problem.host_out, problem.frames_per_s),
        (tuple(problem.cells.items()), problem.free_cells, problem.area_share, tuple(problem.barred.items())),
        (problem.max_hops, problem.fpgas),
    )
    return (*content, method, limits, seed)
