"""The two questions: what do given depths achieve, and what are the smallest depths."""

from dataclasses import dataclass

from floorflow.rates.deadlock import Blocked, deadlock
from floorflow.rates.depths import keeps_period, shortest_period, smallest_depths
from floorflow.rates.fifo_graph import Depths, FifoGraph, StepLimit
from floorflow.rates.problem import RateProblem
from floorflow.rates.schedule_depths import schedule_depths
from floorflow.rates.self_timed import run_frames, run_self_timed
from floorflow.rates.words import most_words_seen
from floorflow.stats import count

SIZED_S = 1.5e-3
"""Work of sizing FIFOs beside the steps of analyses, for each FIFO."""
SEARCHED_BURSTS = 1_000
"""Bursts a frame up to which depths are searched one by one; the search grows with their square."""


@dataclass(frozen=True)
class Sized:
    """Depths that keep ``interval_cycles``; `first_frame` gives the latencies with them.

    ``smallest`` says that no depth can be one word less; otherwise the depths are those of a good schedule.
    """

    interval_cycles: int
    depths: Depths
    smallest: bool


def size(
    problem: RateProblem,
    interval_cycles: int | None = None,
    most_bursts: int = SEARCHED_BURSTS,
    work: StepLimit | None = None,
) -> Sized:
    """Return small depths that keep an interval, by default the shortest that any depths reach.

    Up to ``most_bursts`` bursts a frame the depths are searched one by one and are the smallest; beyond, they are read
    off one schedule, which is never too little.

    Raises InfeasibleError if no depths reach the interval; LimitError if that takes more than ``work``.
    """
    count(SIZED_S * len(problem.fifos))
    graph = FifoGraph(problem, work)
    period = shortest_period(graph) if interval_cycles is None else interval_cycles
    smallest = problem.bursts <= most_bursts
    chosen = (smallest_depths if smallest else schedule_depths)(graph, period)
    depths = {fifo.name: depth for fifo, depth in zip(problem.fifos, chosen, strict=True)}
    return Sized(period, depths, smallest)


def blocked(problem: RateProblem, depths: Depths, work: StepLimit | None = None) -> tuple[Blocked, ...]:
    """Return the cycle of FIFOs that stop each other, or nothing if every frame ends."""
    return deadlock(FifoGraph(problem, work), depths)


def first_frame(problem: RateProblem, depths: Depths, work: StepLimit | None = None) -> tuple[int, int]:
    """Return first-word and first-frame latency in cycles, without the interval; the depths must not deadlock.

    LimitError if bursts are too long for the depths, or that takes more than ``work``.
    """
    timed = run_self_timed(FifoGraph(problem, work), depths, most_frames=1)
    return timed.first_word_cycles, timed.first_frame_cycles


def keeps(problem: RateProblem, depths: Depths, interval_cycles: int, work: StepLimit | None = None) -> bool:
    """Whether given depths keep an interval; LimitError if that takes more than ``work``."""
    return keeps_period(FifoGraph(problem, work), depths, interval_cycles)


def peak_words(problem: RateProblem, depths: Depths, frames: int, work: StepLimit | None = None) -> Depths:
    """Return the most words that lie in each FIFO while frames go through an empty pipeline as fast as they can.

    LimitError if bursts are too long for the depths, or that takes more than ``work``.
    """
    graph = FifoGraph(problem, work)
    run = run_frames(graph, depths, frames)
    found = {}
    for number, (fifo, (source, target)) in enumerate(zip(problem.fifos, graph.ends, strict=True)):
        waits = [(frame[source], frame[target]) for frame in run]
        sides = graph.written[number], graph.freed[number]
        found[fifo.name] = most_words_seen(*sides, waits, fifo.pipeline_cycles, fifo.return_cycles)
    return found
