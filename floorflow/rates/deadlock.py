"""Whether the pipeline can finish a frame at all, and if not which FIFOs hold each other up. No timing is needed."""

from dataclasses import dataclass
from typing import Literal

from floorflow.rates.fifo_graph import Depths, FifoGraph


@dataclass(frozen=True)
class Blocked:
    """A FIFO in a deadlock: ``empty``, so that its reader waits, or ``full``, so that its writer waits."""

    fifo: str
    state: Literal["empty", "full"]


def deadlock(graph: FifoGraph, depths: Depths) -> tuple[Blocked, ...]:
    """Return the cycle of FIFOs that stop each other, or nothing if every frame ends.

    Each actor runs as many steps as the words and places it finds allow, until all have finished one frame; a pipeline
    that empties once does so for ever.
    """
    chosen = graph.complete(depths)
    actors = graph.problem.actors
    done = [0] * len(actors)
    waiting = [True] * len(actors)
    downstream = True
    while any(waiting):
        for actor in graph.order if downstream else reversed(graph.order):
            if not waiting[actor]:
                continue
            graph.spend(0)
            reached = _reach(graph, chosen, done, actor)[0]
            waiting[actor] = False
            if reached > done[actor]:
                done[actor] = reached
                for fifo in graph.produced[actor] + graph.consumed[actor]:
                    waiting[sum(graph.ends[fifo]) - actor] = True
        downstream = not downstream
    stuck = [index for index, actor in enumerate(actors) if done[index] < actor.cycles]
    return _cycle(graph, chosen, done, stuck[0]) if stuck else ()


def _reach(graph: FifoGraph, depths: tuple[int, ...], done: list[int], actor: int) -> tuple[int, int | None]:
    """Return how many steps an actor can have done, and the FIFO that ends it."""
    best, culprit = graph.problem.actors[actor].cycles, None
    for fifo in graph.consumed[actor]:
        source = graph.ends[fifo][0]
        available = graph.written[fifo].before(done[source])
        step = graph.needed[fifo].step_at(available)
        if step < best:
            best, culprit = step, fifo
    for fifo in graph.produced[actor]:
        target = graph.ends[fifo][1]
        places = graph.freed[fifo].before(done[target]) + depths[fifo]
        step = graph.written[fifo].step_at(places)
        if step < best:
            best, culprit = step, fifo
    return best, culprit


def _cycle(graph: FifoGraph, depths: tuple[int, ...], done: list[int], actor: int) -> tuple[Blocked, ...]:
    """Follow from one stuck actor to the one it waits for, until one comes up again."""
    seen: list[int] = []
    rows: list[Blocked] = []
    while actor not in seen:
        seen.append(actor)
        _, fifo = _reach(graph, depths, done, actor)
        if fifo is None:
            return tuple(rows)
        source, target = graph.ends[fifo]
        rows.append(Blocked(graph.problem.fifos[fifo].name, "empty" if target == actor else "full"))
        actor = source if target == actor else target
    return tuple(rows[seen.index(actor) :])
