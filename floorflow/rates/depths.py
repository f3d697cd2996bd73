"""The smallest FIFO depths that keep a period.

Smaller depths only add constraints, so the depths that keep a period form an upward closed set. Its member chosen here
is the least in the order *widest FIFO first* (then by name): the widest gets the least depth with which any depths of
the others keep the period, then the next widest, and so on. What must be stored on a branch is thus stored where it is
narrowest, and no depth can be lowered by even one word, alone, without losing the period.
"""

from fractions import Fraction
from math import ceil

from floorflow.errors import InfeasibleError, some
from floorflow.rates.deadlock import deadlock
from floorflow.rates.fifo_graph import Depths, FifoGraph
from floorflow.rates.precedence import Precedences
from floorflow.rates.problem import RateProblem
from floorflow.rates.schedule import Waits, anchored
from floorflow.rates.self_timed import run_self_timed


class _Search:
    """Depths in force, and the earliest and latest waits under them."""

    def __init__(self, graph: FifoGraph, period: int) -> None:
        self.graph = graph
        self.depths = [graph.ample(fifo) for fifo in range(len(graph.ends))]
        self.space: list[tuple[Precedences, ...]] = [graph.space(fifo, d) for fifo, d in enumerate(self.depths)]
        early = anchored(graph, period, self.space, backward=False)
        late = None if early is None else anchored(graph, period, self.space, backward=True)
        if early is None or late is None:
            raise InfeasibleError(f"no FIFO depths reach an interval of {period:,} cycles", hint="ask for a longer one")
        self.early: Waits = early
        self.late: Waits = late

    def keeps(self, fifo: int, depth: int) -> bool:
        """Whether the period survives that depth; if so the depth is in force from now on."""
        before = self.space[fifo]
        self.space[fifo] = self.graph.space(fifo, depth)
        for precedences in self.space[fifo]:
            self.early.add(precedences)
        if not self.early.propagate(self.space, self.late.x):
            self.space[fifo] = before
            return False
        for precedences in self.space[fifo]:
            self.late.add(precedences)
        self.late.propagate(self.space)
        self.depths[fifo] = depth
        return True

    def least(self, fifo: int) -> None:
        """Put the least depth in force: upwards in growing steps, since small depths fail fast, then by halving."""
        low = self.graph.problem.fifos[fifo].least_words
        failed, step = low - 1, 1
        while low < self.depths[fifo] and not self.keeps(fifo, low):
            failed, low, step = low, low + step, 2 * step
        while self.depths[fifo] - failed > 1:
            middle = (failed + self.depths[fifo]) // 2
            if not self.keeps(fifo, middle):
                failed = middle


def smallest_depths(graph: FifoGraph, period: int) -> tuple[int, ...]:
    """Return the smallest depths that keep a period, by FIFO (see the module's text for what is smallest).

    InfeasibleError if no depths keep that period.
    """
    search = _Search(graph, period)
    fifos = graph.problem.fifos
    free = [position for position, fifo in enumerate(fifos) if fifo.depth_words is None]
    for position in sorted(free, key=lambda p: (-fifos[p].width_bits, fifos[p].name)):
        search.least(position)
    return tuple(search.depths)


def shortest_period(graph: FifoGraph) -> int:
    """Return the shortest whole interval that any FIFO depths reach.

    It is that of the slowest actor, or of the slowest team of actors that FIFOs of fixed depth tie together.

    InfeasibleError if FIFOs of fixed depth deadlock.
    """
    return max(ceil(_team_interval(graph, team)) for team in graph.teams)


def _team_interval(graph: FifoGraph, team: tuple[int, ...]) -> Fraction:
    """Return the interval of some actors by themselves."""
    actors = tuple(graph.problem.actors[position] for position in team)
    if len(team) == 1:
        return Fraction(actors[0].cycles)
    names = {actor.name for actor in actors}
    fifos = tuple(f for f in graph.problem.fifos if f.depth_words is not None and {f.source, f.target} <= names)
    alone = FifoGraph(RateProblem(actors, fifos), graph.work)
    blocked = deadlock(alone, {})
    if blocked:
        raise InfeasibleError(f"FIFOs of fixed depth deadlock: {some(row.fifo for row in blocked)}")
    interval = run_self_timed(alone, {}).interval_cycles
    return interval if interval is not None else Fraction(actors[0].cycles)


def keeps_period(graph: FifoGraph, depths: Depths, period: int) -> bool:
    """Whether a schedule of that period exists under given depths."""
    space = [graph.space(fifo, depth) for fifo, depth in enumerate(graph.complete(depths))]
    return anchored(graph, period, space, backward=False) is not None
