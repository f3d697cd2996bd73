"""When each chunk loads and runs, in microseconds from the first load on.

A region's chunk runs when its load and the run before have ended, for its input is the batch that the run before leaves
in memory. One port loads one region at a time, in order, each when its last chunk has run. With one region this is
eq. 19: loads and runs one after another. A network that is not cut is never loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


def parts_within(most: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to give each of so many at least one part, and all together at most so many parts."""
    if count == 0:
        yield ()
        return
    for first in range(most - (count - 1), 0, -1):
        for others in parts_within(most - first, count - 1):
            yield (first, *others)
