"""When the chunks of an answer load and run."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.papers.dpr.problem import ChunkAnswer, ChunkProblem, Regions
from floorflow.segments.timeline import Step, after, first_state


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
