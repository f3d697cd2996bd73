"""The smallest FIFO depths that keep a period.

Smaller depths only add constraints, so the depths that keep a period form an upward closed set. Its member chosen here
is the least in the order *widest FIFO first* (then by name): the widest gets the least depth with which any depths of
the others keep the period, then the next widest, and so on. What must be stored on a branch is thus stored where it is
narrowest, and no depth can be lowered by even one word, alone, without losing the period.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from floorflow.errors import InfeasibleError
from floorflow.rates.deadlock import deadlock
from floorflow.rates.fifo_graph import Depths, FifoGraph
from floorflow.rates.precedence import Edges
from floorflow.rates.problem import RateProblem
from floorflow.rates.schedule import Waits, anchored
from floorflow.rates.self_timed import run
from floorflow.text.lists import some


class _Search:
    """Depths in force, and the earliest and latest waits under them."""

    def __init__(self, network: FifoGraph, period: int) -> None:
        self.network = network
        self.depths = [network.ample(fifo) for fifo in range(len(network.ends))]
        self.space: list[tuple[Edges, ...]] = [network.space(fifo, d) for fifo, d in enumerate(self.depths)]
        early = anchored(network, period, self.space, backward=False)
        late = None if early is None else anchored(network, period, self.space, backward=True)
        if early is None or late is None:
            raise InfeasibleError(f"no FIFO depths reach an interval of {period:,} cycles", hint="ask for a longer one")
        self.early: Waits = early
        self.late: Waits = late

    def keeps(self, fifo: int, depth: int) -> bool:
        """Whether the period survives that depth; if so the depth is in force from now on."""
        before = self.space[fifo]
        self.space[fifo] = self.network.space(fifo, depth)
        for edges in self.space[fifo]:
            self.early.add(edges)
        if not self.early.settle(self.space, self.late.x):
            self.space[fifo] = before
            return False
        for edges in self.space[fifo]:
            self.late.add(edges)
        self.late.settle(self.space)
        self.depths[fifo] = depth
        return True

    def least(self, fifo: int) -> None:
        """Put the least depth in force: upwards in growing steps, since small depths fail fast, then by halving."""
        low = self.network.problem.fifos[fifo].least_words
        failed, step = low - 1, 1
        while low < self.depths[fifo] and not self.keeps(fifo, low):
            failed, low, step = low, low + step, 2 * step
        while self.depths[fifo] - failed > 1:
            middle = (failed + self.depths[fifo]) // 2
            if not self.keeps(fifo, middle):
                failed = middle


def smallest_depths(network: FifoGraph, period: int) -> tuple[int, ...]:
    """Return the smallest depths that keep a period, by FIFO (see the module's text for what is smallest).

    Raises
    ------
    InfeasibleError
        If no depths keep that period.

    """
    search = _Search(network, period)
    fifos = network.problem.fifos
    free = [place for place, fifo in enumerate(fifos) if fifo.depth_words is None]
    for place in sorted(free, key=lambda p: (-fifos[p].width_bits, fifos[p].name)):
        search.least(place)
    return tuple(search.depths)


def shortest_period(network: FifoGraph) -> int:
    """Return the shortest whole interval that any FIFO depths reach.

    It is that of the slowest actor, or of the slowest team of actors that FIFOs of fixed depth tie together.

    Raises
    ------
    InfeasibleError
        If FIFOs of fixed depth deadlock.

    """
    return max(ceil(_team_interval(network, team)) for team in network.teams)


def _team_interval(network: FifoGraph, team: tuple[int, ...]) -> Fraction:
    """Return the interval of some actors by themselves."""
    actors = tuple(network.problem.actors[place] for place in team)
    if len(team) == 1:
        return Fraction(actors[0].cycles)
    names = {actor.name for actor in actors}
    fifos = tuple(f for f in network.problem.fifos if f.depth_words is not None and {f.source, f.target} <= names)
    alone = FifoGraph(RateProblem(actors, fifos))
    blocked = deadlock(alone, {})
    if blocked:
        raise InfeasibleError(f"FIFOs of fixed depth deadlock: {some(row.fifo for row in blocked)}")
    interval = run(alone, {}).interval_cycles
    return interval if interval is not None else Fraction(actors[0].cycles)


def keeps_period(network: FifoGraph, depths: Depths, period: int) -> bool:
    """Whether a schedule of that period exists under given depths."""
    space = [network.space(fifo, depth) for fifo, depth in enumerate(network.complete(depths))]
    return anchored(network, period, space, backward=False) is not None
