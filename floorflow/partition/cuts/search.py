"""The search with cuts: walks of the annealer, cuts alone and jointly, any legal assignment, and then the best.

Each cut is bounded alone, with the slots on either side of it as one; then those that are parallel, jointly; then all
at once, with these results as inequalities and the best assignment known as a hint. Whether there is any legal
assignment is a phase of its own, where no walk met one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from floorflow.partition.arrays import Integers
from floorflow.partition.cuts.anneal import Annealer
from floorflow.partition.cuts.arrays import CutArrays, contracted, cut_arrays
from floorflow.partition.cuts.model import CutAnswer, KnownCost, choices, solve_cuts
from floorflow.partition.problem import PartitionProblem

_SHORT, _LONG = 1_000, 75_000
"""Moves of a walk of the annealer: for each group with a choice where it gives a start, and for a unit of work."""
_HEATS = (1.0, 1.0, 0.5, 0.2, 0.1)
"""Heat of long walks: from anywhere, then from the best."""
_ALWAYS, _FOR_WORK = 350, 35
"""Choices of slots up to which all cuts are tried at once: always, and more for each unit of work."""
_ANY = 1_000
"""Choices of slots up to which HiGHS looks for any legal assignment: of more its first relaxation takes seconds."""


@dataclass
class CutSearch:
    """What is known of a problem: the best assignment (G,), a bound in parts of 1 / scale, costs of sets of tables.

    ``work`` is what may be spent, in units of a few seconds. ``infeasible``: there is no legal assignment.
    """

    arrays: CutArrays
    work: float
    seed: int
    best: Integers | None = None
    origin: str = ""
    bound: int = 0
    known: list[KnownCost] = field(default_factory=list)
    infeasible: bool = False
    annealer: Annealer = field(init=False)

    def __post_init__(self) -> None:
        self.annealer = Annealer(self.arrays)

    @property
    def is_legal(self) -> bool:
        """Whether the best assignment is legal."""
        return self.excess == 0

    @property
    def excess(self) -> float:
        """By how much the best assignment exceeds limits, in whole ones; infinite without one."""
        return inf if self.best is None else self.arrays.excess(self.best)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to find."""
        return self.infeasible or (self.is_legal and self.cost <= self.bound)

    @property
    def cost(self) -> int:
        """Cost of the best assignment, in parts of 1 / scale."""
        return 0 if self.best is None else self.arrays.cost(self.best)

    def offer(self, assignment: Integers, origin: str) -> None:
        """Take an assignment if it exceeds less, or as little and costs less."""
        if self.best is None or self.annealer.key(assignment) < self.annealer.key(self.best):
            self.best, self.origin = assignment, origin

    def run(self) -> None:
        """Search until nothing is left or the work is done."""
        if not self.arrays.takes.any(axis=1).all():
            self.infeasible = True
            return
        self.bound_cuts()
        self.find_legal()
        if not self.is_done:
            self.solve_all()
        self._walk(int(_LONG * self.work), _HEATS)

    def find_legal(self, *, walks: bool = True) -> None:
        """Walk for a start; where none is legal, look for any."""
        if walks:
            self._walk(_SHORT * len(self.annealer.free), (1.0, 0.2))
        if not self.is_done and not self.is_legal:
            self._look_for_any()

    def _walk(self, moves: int, heats: Sequence[float]) -> None:
        """Anneal with these heats, from anywhere if heat is 1, else from the best."""
        for number, heat in enumerate(heats):
            if self.is_done:
                return
            start = self.best if heat < 1 else None
            self.offer(self.annealer.anneal(moves, self.seed + number, start, heat, self.bound), "annealing")

    def bound_cuts(self) -> None:
        """Bound each cut alone, then parallel ones jointly."""
        for cuts in (*((cut,) for cut in self.arrays.cuts), *self.arrays.axes):
            if self.is_done or len(self.arrays.cuts) == 1:
                return
            smaller, kept = contracted(self.arrays, cuts)
            at = {table: index for index, table in enumerate(kept)}
            inner = [
                KnownCost(tuple(at[t] for t in cost.tables), cost.least)
                for cost in self.known
                if all(t in at for t in cost.tables)
            ]
            answer = solve_cuts(smaller, self.work, known=inner)
            if self._is_refuted(answer):
                continue
            if answer.infeasible:
                self.infeasible = True
                return
            priced = tuple(t for t in kept if self.arrays.price[t] or self.arrays.toll[t])
            self.known.append(KnownCost(priced, answer.bound))
            self._sum_up()

    def _is_refuted(self, answer: CutAnswer) -> bool:
        """Whether HiGHS has lost an assignment that is legal: then nothing that it says is used."""
        return self.is_legal and (answer.infeasible or answer.bound > self.cost)

    def _sum_up(self) -> None:
        """Bound the cost by the sum of known costs that share no table, the greatest first."""
        used: set[int] = set()
        total = 0
        for cost in sorted(self.known, key=lambda cost: (-cost.least, cost.tables)):
            if not used & {*cost.tables}:
                used |= {*cost.tables}
                total += cost.least
        self.bound = max(self.bound, self.arrays.whole_steps(total))

    def _look_for_any(self) -> None:
        if choices(self.arrays.takes) > _ANY:
            return
        answer = solve_cuts(self.arrays, self.work, any_legal=True)
        self.infeasible = answer.infeasible
        if answer.assignment is not None:
            self.offer(answer.assignment, "any legal")

    def solve_all(self) -> None:
        """Solve all cuts at once, from the best assignment, where those are not too many."""
        if choices(self.arrays.takes) > _ALWAYS + _FOR_WORK * self.work:
            return
        start = self.best if self.is_legal else None
        answer = solve_cuts(self.arrays, self.work, known=self.known, start=start)
        if self._is_refuted(answer):
            return
        self.infeasible = answer.infeasible
        self.bound = max(self.bound, answer.bound)
        if answer.assignment is not None:
            self.offer(answer.assignment, "HiGHS")


def cut_search(problem: PartitionProblem, work: float, seed: int) -> CutSearch:
    """Return a search of a problem that nothing is known of yet."""
    return CutSearch(cut_arrays(problem), work, seed)
