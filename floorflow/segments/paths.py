"""Segments one after another in time: what is known of all of them, the best path through them, and how it runs.

Every segment has a lower bound from the start; only those on the best path by these bounds are worked out
(`table.SpanTable`, `lazy_path`). A path costs one of two things. Where a load stands between two segments it is their
sum (`cheapest_path`). With several regions a load hides behind runs (`best_path`): a region's chunk runs when its load
and the run before have ended, for its input is the batch that the run before leaves in memory; one port loads one
region at a time, in order, each when its last chunk has run. With one region this is eq. 19 of Seyoum et al.: loads and
runs one after another. A network that is not cut is never loaded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Span = tuple[int, int]
"""A segment by its borders: its first element, and the one behind its last."""
State = tuple[float, ...]
"""End of the last load, then the ends of the last runs, as many as regions, the latest first."""
AnyPath = TypeVar("AnyPath")
TOLERANCE_US = 1e-6


def spread(lowest: Floats) -> Floats:
    """Return bounds of segments, each no less than that of any segment inside it."""
    inside = np.triu(np.ones_like(lowest, dtype=np.bool_), 1)
    wider = np.maximum.accumulate(np.where(inside, lowest, 0), axis=1)
    wider = np.maximum.accumulate(wider[::-1], axis=0)[::-1]
    return np.where(inside, wider, lowest)


def with_known(costs: Floats, known: Mapping[Span, float]) -> Floats:
    """Return costs of segments with those that are known in place."""
    costs = costs.copy()
    for span, cost in known.items():
        costs[span] = cost
    return costs


def lazy_path(best: Callable[[], AnyPath], solve: Callable[[AnyPath], bool]) -> AnyPath:
    """Return the best path by lower bounds of which nothing is left open.

    ``best`` finds a path by what is known so far; ``solve`` works out what is open on it and returns whether anything
    was. What is never looked at was judged by lower bounds: so the path that is left is the best of all.
    """
    while solve(path := best()):
        pass
    return path


def cheapest_path(costs: Floats, reconfiguration_us: float) -> tuple[float, list[Span] | None]:
    """Return the least cost of segments from the first border to the last, and them; infinite and None without any.

    Of equal paths that whose last segment begins first is taken, and so on backwards.
    """
    count = len(costs)
    least, before = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    least[0] = -reconfiguration_us
    for b in range(1, count):
        sums = least[:b] + costs[:b, b] + reconfiguration_us
        before[b] = int(np.argmin(sums))
        least[b] = sums[before[b]]
    if not np.isfinite(least[-1]):
        return np.inf, None
    path, b = [], count - 1
    while b > 0:
        path.append((int(before[b]), b))
        b = int(before[b])
    path.reverse()
    # Summed anew: the program's own sum begins below zero.
    return sum(float(costs[span]) for span in path) + (len(path) - 1) * reconfiguration_us, path


@dataclass(frozen=True)
class Path:
    """Borders from the first to the last, the time, and the area of all chunks."""

    us: float
    borders: tuple[int, ...]
    area: float

    @property
    def spans(self) -> list[Span]:
        """The chunks."""
        return list(pairwise(self.borders))


@dataclass(frozen=True)
class _Label:
    state: State
    area: float
    borders: tuple[int, ...]

    def no_worse(self, other: "_Label") -> bool:
        mine, theirs = (*self.state, self.area), (*other.state, other.area)
        return all(a <= b + TOLERANCE_US for a, b in zip(mine, theirs, strict=True))


def best_path(
    costs: Sequence[Floats], loads_us: Sequence[float], uncut: Path | None = None, areas: Sequence[Floats] = ()
) -> Path | None:
    """Return the path of the shortest time, then of fewest chunks, then of least area; None where all are infinite.

    ``costs`` are microseconds of each segment in each region, (n_borders, n_borders), or bounds of them, ``areas`` what
    each takes; ``uncut`` is the whole network in all of the area. Cut networks have more chunks than regions: one of
    fewer would do no better than the uncut one, which needs no more of any resource than all of its chunks. How much of
    a load hides depends on what ran before: so a path carries the ends of its last load and runs, and those that
    another path has all sooner, of as many chunks, are dropped.
    """
    paths = [] if uncut is None or uncut.us == inf else [uncut]
    regions, last = len(loads_us), len(costs[0]) - 1
    layer: dict[int, list[_Label]] = {0: [_Label((0.0,) * (1 + regions), 0.0, (0,))]}
    for chunk in range(last):
        region = chunk % regions
        best = min((path.us for path in paths), default=inf)
        layer = _longer(layer, costs[region], areas[region] if areas else None, loads_us[region], best)
        if chunk >= regions:
            paths += [Path(label.state[1], label.borders, label.area) for label in layer.get(last, ())]
        layer.pop(last, None)
    if not paths:
        return None
    least = min(path.us for path in paths)
    tied = [path for path in paths if path.us <= least + TOLERANCE_US]
    return min(tied, key=lambda path: (len(path.borders), path.area, path.borders))


def _longer(
    layer: dict[int, list[_Label]], costs: Floats, areas: Floats | None, load_us: float, best: float
) -> dict[int, list[_Label]]:
    """Return the labels of one more chunk by where it ends."""
    longer: dict[int, list[_Label]] = {}
    for start, labels in layer.items():
        for end in range(start + 1, len(costs)):
            run_us, area = float(costs[start, end]), 0.0 if areas is None else float(areas[start, end])
            for label in labels:
                state, _ = _after(label.state, load_us, run_us)
                if state[1] <= best + TOLERANCE_US and state[1] < inf:
                    _add(longer.setdefault(end, []), _Label(state, area + label.area, (*label.borders, end)))
    return longer


def _add(labels: list[_Label], label: _Label) -> None:
    """Add a label unless another is no worse, and drop those that it is no worse than."""
    if not any(other.no_worse(label) for other in labels):
        labels[:] = [other for other in labels if not label.no_worse(other)]
        labels.append(label)


@dataclass(frozen=True)
class Step:
    """A chunk's region and when it loads and runs, in microseconds from the first load on."""

    region: int
    load_start_us: float
    load_end_us: float
    run_start_us: float
    run_end_us: float


def timeline(loads_us: Sequence[float], runs_us: Sequence[float]) -> tuple[Step, ...]:
    """Return the steps of chunks that run so long, in regions that load so long in turn."""
    if len(runs_us) == 1:
        return (Step(0, 0.0, 0.0, 0.0, runs_us[0]),)
    state: State = (0.0,) * (1 + len(loads_us))
    steps = []
    for number, run_us in enumerate(runs_us):
        region = number % len(loads_us)
        state, times = _after(state, loads_us[region], run_us)
        steps.append(Step(region, *times))
    return tuple(steps)


def _after(state: State, load_us: float, run_us: float) -> tuple[State, tuple[float, float, float, float]]:
    """Return the state after one more chunk, and when that chunk loads and runs."""
    load_start = max(state[0], state[-1])
    load_end = load_start + load_us
    start = max(load_end, state[1])
    end = start + run_us
    return (load_end, end, *state[1:-1]), (load_start, load_end, start, end)


def parts_within(most: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to give each of so many at least one part, and all together at most so many parts."""
    if count == 0:
        yield ()
        return
    for first in range(most - (count - 1), 0, -1):
        for others in parts_within(most - first, count - 1):
            yield (first, *others)
