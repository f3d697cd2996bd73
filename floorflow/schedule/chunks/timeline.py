"""When each chunk loads and runs, in microseconds from the first load on.

A region's chunk runs when its load and the run before have ended, for its input is the batch that the run before leaves
in memory. One port loads one region at a time, in order, each when its last chunk has run. With one region this is
eq. 19: loads and runs one after another. A network that is not cut is never loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floorflow.schedule.chunks.problem import ChunkAnswer, ChunkProblem, Regions

State = tuple[float, ...]
"""End of the last load, then the ends of the last runs, as many as regions, the latest first."""


@dataclass(frozen=True)
class Step:
    """A chunk's region and when it loads and runs."""

    region: int
    load_start_us: float
    load_end_us: float
    run_start_us: float
    run_end_us: float


def after(state: State, load_us: float, run_us: float) -> tuple[State, Step]:
    """Return the state after one more chunk, and when that chunk loads and runs; its region is left at 0."""
    load_start = max(state[0], state[-1])
    load_end = load_start + load_us
    start = max(load_end, state[1])
    end = start + run_us
    return (load_end, end, *state[1:-1]), Step(0, load_start, load_end, start, end)


def first_state(regions: int) -> State:
    """Return the state before the first load."""
    return (0.0,) * (1 + regions)


def loads_us(problem: ChunkProblem, regions: Regions) -> tuple[float, ...]:
    """Return how long each region takes to load."""
    return tuple(problem.load.us(size) for size in regions.sizes)


def timeline(problem: ChunkProblem, regions: Regions, cycles: Sequence[int]) -> tuple[Step, ...]:
    """Return the steps of chunks of so many cycles a batch."""
    if len(cycles) == 1:
        return (Step(0, 0.0, 0.0, 0.0, problem.us(cycles[0])),)
    loads, state, steps = loads_us(problem, regions), first_state(len(regions.sizes)), []
    for number, chunk in enumerate(cycles):
        region = number % len(loads)
        state, step = after(state, loads[region], problem.us(chunk))
        steps.append(Step(region, step.load_start_us, step.load_end_us, step.run_start_us, step.run_end_us))
    return tuple(steps)


def timeline_of(problem: ChunkProblem, answer: ChunkAnswer) -> tuple[Step, ...]:
    """Return the steps of an answer; none without a design."""
    return timeline(problem, answer.regions, [chunk.cycles for chunk in answer.chunks or ()]) if answer.chunks else ()
