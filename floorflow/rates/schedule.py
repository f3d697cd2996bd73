"""Periodic schedules: the least waits that satisfy every constraint at one period, by max-plus relaxation.

A schedule with period P exists exactly if no cycle of constraints is longer than P times the frames it spans. The
waits are grown from 0 at the first burst of an anchor, the actor with the most cycles; if they must grow there too, a
cycle is too long. Every update of an actor handles all its bursts at once: demands of neighbours are gathered, then a
running maximum carries waits through the frame and round into the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from floorflow.errors import InfeasibleError
from floorflow.rates.fifo_graph import FifoGraph
from floorflow.rates.precedence import Precedences
from floorflow.rates.problem import Ints

UNREACHED = -(1 << 60)
"""Wait of a burst that nothing has constrained yet."""


@dataclass
class Waits:
    """Waits x of every burst of every actor relative to the anchor, growing as constraints are added.

    Forward, x is the earliest time (less the step number) at which a burst can start. Backward, x is minus the latest.
    """

    graph: FifoGraph
    period: int
    backward: bool
    anchor: int
    x: list[Ints] = field(init=False)
    _pending: list[list[Precedences]] = field(init=False)
    _slack: list[int] = field(init=False)

    def __post_init__(self) -> None:
        actors = self.graph.problem.actors
        self.x = [np.full(actor.steps.size, UNREACHED, dtype=np.int64) for actor in actors]
        self._pending = [[] for _ in actors]
        self._slack = [actor.cycles - self.period for actor in actors]

    def start(self) -> None:
        """Let the first burst of the anchor not wait at all; its others follow."""
        self.x[self.anchor][0] = 0
        self.x[self.anchor] = self.carried(self.x[self.anchor], self._slack[self.anchor])

    def start_evenly(self) -> None:
        """Spread the steps of the anchor over the whole period."""
        actor, spare = self.graph.problem.actors[self.anchor], -self._slack[self.anchor]
        waits = actor.begins * spare // actor.cycles
        self.x[self.anchor] = -waits if self.backward else waits

    def add(self, precedences: Precedences) -> None:
        """Take a constraint into account from the next `propagate` on."""
        self._pending[precedences.tail if self.backward else precedences.head].append(precedences)

    def propagate(
        self,
        space: Sequence[Sequence[Precedences]],
        limit: list[Ints] | None = None,
    ) -> bool:
        """Propagate until nothing changes; ``space`` are the constraints of the depths in force, by FIFO.

        Returns False, with the waits as they were before, if no schedule exists: the anchor moved, or a wait rose above
        minus ``limit``, the waits of the other direction.
        """
        old: dict[int, Ints] = {}
        upward = not self.backward
        while any(self._pending):
            for actor in self.graph.order if upward else reversed(self.graph.order):
                if not self._pending[actor]:
                    continue
                new = self._updated(actor)
                if new is None:
                    continue
                old.setdefault(actor, self.x[actor])
                self.x[actor] = new
                if self._impossible(actor, limit):
                    self._restore(old)
                    return False
                self.notify(actor, space)
            upward = not upward
        return True

    def _updated(self, actor: int) -> Ints | None:
        """Return an actor's waits under the demands that are pending, or None if they stay."""
        self.graph.spend(self.x[actor].size)
        x = self.x[actor].copy()
        for precedences in self._pending[actor]:
            shift = precedences.frames * self.period
            if self.backward:
                bursts, asked = precedences.at_tails(self.x[precedences.head])
            else:
                bursts, asked = precedences.at_heads(self.x[precedences.tail])
            x[bursts] = np.maximum(x[bursts], asked - shift)
        self._pending[actor] = []
        if np.array_equal(x, self.x[actor]):
            return None
        return self.carried(x, self._slack[actor])

    def carried(self, x: Ints, slack: int) -> Ints:
        """Carry waits to later bursts (earlier ones backward) and, less the cycles to spare, into the next frame."""
        along: Ints = np.maximum.accumulate(x[::-1])[::-1] if self.backward else np.maximum.accumulate(x)
        last = along[0] if self.backward else along[-1]
        carried: Ints = np.maximum(along, last + slack)
        return carried

    def _impossible(self, actor: int, limit: list[Ints] | None) -> bool:
        if actor == self.anchor and self.x[actor][0] > 0:
            return True
        return limit is not None and bool((self.x[actor] + limit[actor]).max() > 0)

    def notify(self, actor: int, space: Sequence[Sequence[Precedences]]) -> None:
        """Hand an actor's new waits to everyone that a constraint ties to it."""
        produced, consumed = self.graph.produced[actor], self.graph.consumed[actor]
        ahead, behind = (consumed, produced) if self.backward else (produced, consumed)
        for fifo in ahead:
            self.add(self.graph.data[fifo])
        for fifo in behind:
            for precedences in space[fifo]:
                self.add(precedences)

    def _restore(self, old: dict[int, Ints]) -> None:
        for actor, waits in old.items():
            self.x[actor] = waits
        self._pending = [[] for _ in self._pending]


def busiest(graph: FifoGraph, period: int) -> int:
    """Return the actor with the most cycles.

    InfeasibleError if it has more cycles than the period.
    """
    actors = graph.problem.actors
    position = max(range(len(actors)), key=lambda p: actors[p].cycles)
    if actors[position].cycles > period:
        name, cycles = actors[position].name, actors[position].cycles
        raise InfeasibleError(f"{name} takes {cycles:,} cycles a frame, longer than an interval of {period:,}")
    return position


def anchored(graph: FifoGraph, period: int, space: Sequence[Sequence[Precedences]], *, backward: bool) -> Waits | None:
    """Return the waits relative to the busiest actor, or None if no schedule has that period.

    InfeasibleError if that actor alone has more cycles than the period.
    """
    waits = Waits(graph, period, backward, busiest(graph, period))
    waits.start()
    waits.notify(waits.anchor, space)
    return waits if waits.propagate(space) else None
