"""Whether the pipeline can finish a frame at all, and if not which FIFOs hold each other up. No timing is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from floorflow.rates.fifo_graph import Depths, FifoGraph


@dataclass(frozen=True)
class Blocked:
    """A FIFO in a deadlock: ``empty``, so that its reader waits, or ``full``, so that its writer waits."""

    fifo: str
    state: Literal["empty", "full"]


def deadlock(network: FifoGraph, depths: Depths) -> tuple[Blocked, ...]:
    """Return the cycle of FIFOs that stop each other, or nothing if every frame ends.

    Each actor runs as many steps as the words and places it finds allow, until all have finished one frame; a pipeline
    that empties once does so for ever.
    """
    chosen = network.complete(depths)
    actors = network.problem.actors
    done = [0] * len(actors)
    waiting = [True] * len(actors)
    downstream = True
    while any(waiting):
        for actor in network.order if downstream else reversed(network.order):
            reached = _reach(network, chosen, done, actor)[0] if waiting[actor] else done[actor]
            waiting[actor] = False
            if reached > done[actor]:
                done[actor] = reached
                for fifo in network.produced[actor] + network.consumed[actor]:
                    waiting[sum(network.ends[fifo]) - actor] = True
        downstream = not downstream
    stuck = [place for place, actor in enumerate(actors) if done[place] < actor.cycles]
    return _cycle(network, chosen, done, stuck[0]) if stuck else ()


def _reach(network: FifoGraph, depths: tuple[int, ...], done: list[int], actor: int) -> tuple[int, int | None]:
    """Return how many steps an actor can have done, and the FIFO that ends it."""
    best, culprit = network.problem.actors[actor].cycles, None
    for fifo in network.consumed[actor]:
        source = network.ends[fifo][0]
        there = network.written[fifo].before(done[source])
        step = network.needed[fifo].step_at(there)
        if step < best:
            best, culprit = step, fifo
    for fifo in network.produced[actor]:
        target = network.ends[fifo][1]
        places = network.freed[fifo].before(done[target]) + depths[fifo]
        step = network.written[fifo].step_at(places)
        if step < best:
            best, culprit = step, fifo
    return best, culprit


def _cycle(network: FifoGraph, depths: tuple[int, ...], done: list[int], actor: int) -> tuple[Blocked, ...]:
    """Follow from one stuck actor to the one it waits for, until one comes up again."""
    seen: list[int] = []
    rows: list[Blocked] = []
    while actor not in seen:
        seen.append(actor)
        _, fifo = _reach(network, depths, done, actor)
        if fifo is None:
            return tuple(rows)
        source, target = network.ends[fifo]
        rows.append(Blocked(network.problem.fifos[fifo].name, "empty" if target == actor else "full"))
        actor = source if target == actor else target
    return tuple(rows[seen.index(actor) :])
