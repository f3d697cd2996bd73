"""Self-timed execution from an empty pipeline: when the first words come out, and at what interval frames follow.

Every actor goes ahead as soon as it can. Within a frame the waits of all bursts are relaxed together; what earlier
frames demand of it is known by then. The interval is found when the waits of the last frames repeat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from floorflow.errors import LimitError
from floorflow.rates.fifo_graph import Depths, FifoGraph
from floorflow.rates.precedence import Precedences
from floorflow.rates.problem import Ints

Frame = list[Ints]


@dataclass(frozen=True)
class SelfTimedRun:
    """Cycles until a sink has read the first word of the first frame and until all sinks have ended that frame.

    ``interval_cycles`` is None if it was not asked for.
    """

    first_word_cycles: int
    first_frame_cycles: int
    interval_cycles: Fraction | None


def run_self_timed(graph: FifoGraph, depths: Depths, most_frames: int = 200) -> SelfTimedRun:
    """Run frames until they repeat; ``most_frames`` of 1 gives the latencies only. The depths must not deadlock.

    LimitError if frames do not repeat within ``most_frames``, or bursts are too long for the depths.
    """
    space = [graph.space(fifo, depth) for fifo, depth in enumerate(graph.complete(depths))]
    memory = max((precedences.frames for rows in space for precedences in rows), default=0) + 1
    frames = [_next_frame(graph, space, [])]
    first, last = _sink_times(graph, frames[0])
    if most_frames == 1:
        return SelfTimedRun(first, last, None)
    while len(frames) < most_frames:
        frames.append(_next_frame(graph, space, frames))
        interval = _repeats(frames, memory)
        if interval is not None:
            return SelfTimedRun(first, last, interval)
    raise LimitError(f"no steady interval within {most_frames} frames", hint="raise most_frames")


def run_frames(graph: FifoGraph, depths: Depths, frames: int) -> list[Frame]:
    """Return the waits of all bursts in each of so many frames from an empty pipeline; the depths must not deadlock."""
    space = [graph.space(fifo, depth) for fifo, depth in enumerate(graph.complete(depths))]
    run: list[Frame] = []
    for _ in range(frames):
        run.append(_next_frame(graph, space, run))
    return run


def _next_frame(graph: FifoGraph, space: Sequence[Sequence[Precedences]], frames: list[Frame]) -> Frame:
    actors = graph.problem.actors
    x = [_after(frames[-1][position], actor.cycles) if frames else np.zeros_like(actor.steps)
         for position, actor in enumerate(actors)]  # fmt: skip
    inside: list[list[Precedences]] = [[graph.data[fifo] for fifo in row] for row in graph.consumed]
    for precedences in (precedences for rows in space for precedences in rows):
        if precedences.frames == 0:
            inside[precedences.head].append(precedences)
        elif precedences.frames <= len(frames):
            _raise(x[precedences.head], frames[-precedences.frames][precedences.tail], precedences)
    _relax(graph, x, inside)
    return x


def _after(waits: Ints, cycles: int) -> Ints:
    return np.full_like(waits, int(waits[-1]) + cycles)


def _raise(head: Ints, tail: Ints, precedences: Precedences) -> None:
    bursts, asked = precedences.at_heads(tail)
    head[bursts] = np.maximum(head[bursts], asked)


def _relax(graph: FifoGraph, x: Frame, inside: list[list[Precedences]]) -> None:
    """Raise the waits of one frame until they satisfy every constraint inside it."""
    heads_of: list[set[int]] = [set() for _ in x]
    for rows in inside:
        for precedences in rows:
            heads_of[precedences.tail].add(precedences.head)
    dirty = [True] * len(x)
    # Waits that exceed every burst of the graph run one by one grow for ever.
    bound = max(int(waits.max()) for waits in x) + sum(actor.cycles for actor in graph.problem.actors)
    bound += sum(fifo.latency_cycles + fifo.return_cycles for fifo in graph.problem.fifos) * max(
        w.total for w in graph.written
    )
    upward = True
    while any(dirty):
        for actor in graph.order if upward else reversed(graph.order):
            if not dirty[actor]:
                continue
            dirty[actor] = False
            graph.spend(x[actor].size)
            new = x[actor].copy()
            for precedences in inside[actor]:
                _raise(new, x[precedences.tail], precedences)
            new = np.maximum.accumulate(new)
            if np.array_equal(new, x[actor]):
                continue
            if new[-1] > bound:
                raise LimitError("bursts are too long for the FIFO depths", hint="use shorter bursts")
            x[actor] = new
            for head in heads_of[actor]:
                dirty[head] = True
        upward = not upward


def _repeats(frames: list[Frame], memory: int) -> Fraction | None:
    """Return the interval once the last ``memory`` frames equal earlier ones but for one shift of time."""
    for apart in range(1, len(frames) - memory + 1):
        shift = int(frames[-1][0][0] - frames[-1 - apart][0][0])
        pairs = ((frames[-1 - back], frames[-1 - back - apart]) for back in range(memory))
        if all(np.array_equal(new, old + shift) for a, b in pairs for new, old in zip(a, b, strict=True)):
            return Fraction(shift, apart)
    return None


def _sink_times(graph: FifoGraph, frame: Frame) -> tuple[int, int]:
    """Return the cycles until the sinks of the graph have read a first word, and until all have ended the frame."""
    firsts, lasts = [], []
    for fifo, (_, target) in enumerate(graph.ends):
        if not graph.produced[target]:
            words = graph.needed[fifo]
            burst = int(words.burst_of(np.zeros(1, dtype=np.int64))[0])
            firsts.append(int(frame[target][burst]) + words.step_at(0) + 1)
            lasts.append(int(frame[target][-1]) + graph.problem.actors[target].cycles)
    return min(firsts), max(lasts)
