"""Depths from one periodic schedule, for graphs too large for the search of single depths.

One actor sets the pace, its steps spread evenly over the period. Everything before it runs as late as its readers
allow, everything after it as soon as its words are there: each FIFO then holds what the two patterns at its ends make
it hold, and no wait is passed round and round between a writer and a reader. The busiest actor and the first source
are tried, and the one that stores fewer bits is kept. Then each actor in turn moves to its soonest or latest time
between its neighbours if that stores fewer bits, which carries what waits for a join to where it is narrowest. The
depths are the most words that lie in each FIFO; a pipeline that goes ahead whenever it can is never later than any
schedule, so they keep the period.
"""

import numpy as np

from floorflow.errors import InfeasibleError
from floorflow.rates.fifo_graph import FifoGraph
from floorflow.rates.precedence import Precedences
from floorflow.rates.problem import Ints
from floorflow.rates.schedule import UNREACHED, Waits, busiest
from floorflow.rates.words import most_words

ROUNDS = 3
"""Rounds of moves between neighbours."""
SHALLOW_WORDS = 33
"""A FIFO no deeper than this is one shift register for each bit: nothing is gained by moving words out of it."""


def schedule_depths(graph: FifoGraph, period: int) -> tuple[int, ...]:
    """Return depths, by FIFO, with which the period is kept.

    InfeasibleError if an actor has more cycles than the period, or FIFOs of fixed depth do not hold what this schedule
    stores.
    """
    first_source = graph.order[0]
    trials = []
    for anchor in dict.fromkeys((busiest(graph, period), first_source)):
        x = _grown_from(graph, period, anchor)
        depths = [_held(graph, x, fifo, period) for fifo in range(len(graph.ends))]
        bits = sum(fifo.width_bits * depth for fifo, depth in zip(graph.problem.fifos, depths, strict=True))
        trials.append((bits, anchor, x, depths))
    _, _, x, depths = min(trials, key=lambda trial: trial[:2])
    _settle_between_neighbours(graph, x, depths, period)
    for fifo, depth in zip(graph.problem.fifos, depths, strict=True):
        if fifo.depth_words is not None and fifo.depth_words < depth:
            raise InfeasibleError(f"FIFO {fifo.name} has {fifo.depth_words} words, the schedule needs {depth}")
    return tuple(depths)


def _grown_from(graph: FifoGraph, period: int, anchor: int) -> list[Ints]:
    """Return the waits of the schedule that grows from one actor.

    What neither leads to it nor comes of it, such as a second source before a join, runs as late as what is known by
    then allows, and what comes of that as soon as it can.
    """
    first = Waits(graph, period, backward=False, anchor=anchor)
    first.start_evenly()
    x = first.x
    while True:
        known = sum(map(_is_reached, x))
        for backward in (True, False):
            x = _grown_on(graph, period, anchor, x, backward=backward)
        late = next((place for place in graph.order if not _is_reached(x[place])), None)
        if late is None:
            return x
        if known == sum(map(_is_reached, x)):  # no stream joins the rest to what is known
            x[late] = np.zeros_like(x[late])


def _is_reached(waits: Ints) -> bool:
    return bool(waits[0] > UNREACHED // 2)


def _grown_on(graph: FifoGraph, period: int, anchor: int, x: list[Ints], *, backward: bool) -> list[Ints]:
    """Return the waits with those of all that comes of what is known, or backward of all that leads to it."""
    open_ends: list[tuple[Precedences, ...]] = [()] * len(graph.ends)
    waits = Waits(graph, period, backward=backward, anchor=anchor)
    known = [place for place, each in enumerate(x) if _is_reached(each)]
    for place in known:
        waits.x[place] = -x[place] if backward else x[place]
    for place in known:
        waits.notify(place, open_ends)
    waits.propagate(open_ends)
    return [-each if backward and _is_reached(each) else each for each in waits.x]


def _settle_between_neighbours(graph: FifoGraph, x: list[Ints], depths: list[int], period: int) -> None:
    """Try each actor at both its extremes, and again once a neighbour has moved."""
    trying = set(range(len(x)))
    for _ in range(ROUNDS):
        moved = {actor for actor in graph.order if actor in trying and _moved(graph, x, depths, actor, period)}
        beside = {fifo for actor in moved for fifo in graph.consumed[actor] + graph.produced[actor]}
        trying = {end for fifo in beside for end in graph.ends[fifo]}


def _moved(graph: FifoGraph, x: list[Ints], depths: list[int], actor: int, period: int) -> bool:
    """Move an actor to the soonest or latest time between its neighbours if that takes fewer bits."""
    beside = (*graph.consumed[actor], *graph.produced[actor])
    if max(depths[fifo] for fifo in beside) <= SHALLOW_WORDS:
        return False
    fifos = graph.problem.fifos
    best, changed = sum(fifos[fifo].width_bits * depths[fifo] for fifo in beside), False
    for waits in _extremes(graph, x, actor, period):
        if np.array_equal(waits, x[actor]):
            continue
        old, x[actor] = x[actor], waits
        held, bits = _held_below(graph, x, beside, period, best)
        if bits < best:
            best, changed = bits, True
            for fifo, depth in zip(beside, held, strict=True):
                depths[fifo] = depth
        else:
            x[actor] = old
    return changed


def _held_below(
    graph: FifoGraph, x: list[Ints], beside: tuple[int, ...], period: int, most_bits: int
) -> tuple[list[int], int]:
    """Return the least depths of some FIFOs and the bits of these, or only the first that reach ``most_bits``."""
    held: list[int] = []
    bits = 0
    for fifo in beside:
        held.append(_held(graph, x, fifo, period))
        bits += graph.problem.fifos[fifo].width_bits * held[-1]
        if bits >= most_bits:
            break
    return held, bits


def _extremes(graph: FifoGraph, x: list[Ints], actor: int, period: int) -> list[Ints]:
    """Return the soonest waits that an actor's inputs allow and the latest that its outputs do."""
    if not graph.consumed[actor] or not graph.produced[actor]:
        return []
    slack = graph.problem.actors[actor].cycles - period
    soonest = np.full_like(x[actor], UNREACHED)
    for fifo in graph.consumed[actor]:
        precedences = graph.data[fifo]
        bursts, asked = precedences.at_heads(x[precedences.tail])
        soonest[bursts] = np.maximum(soonest[bursts], asked)
    soonest = np.maximum.accumulate(soonest)
    latest = np.full_like(x[actor], -UNREACHED)
    for fifo in graph.produced[actor]:
        precedences = graph.data[fifo]
        bursts, asked = precedences.at_tails(-x[precedences.head])
        latest[bursts] = np.minimum(latest[bursts], -asked)
    latest = np.minimum.accumulate(latest[::-1])[::-1]
    return [np.maximum(soonest, soonest[-1] + slack), np.minimum(latest, latest[0] - slack)]


def _held(graph: FifoGraph, x: list[Ints], fifo: int, period: int) -> int:
    """Return the least depth of a FIFO under a schedule."""
    row, (source, target) = graph.problem.fifos[fifo], graph.ends[fifo]
    words = most_words(graph.written[fifo], graph.freed[fifo], (x[source], x[target]), row.place_cycles, period)
    return max(row.least_words, words)
