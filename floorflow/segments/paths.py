"""The best way through an interval table: cuts for the shortest time, then fewest chunks, then least area.

With one region a chunk costs its run and its load. With several a load hides behind runs, and how much of it depends on
what ran before: so a path carries the ends of its last load and runs, and those that another path has all sooner, of as
many chunks, are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from floorflow.segments.timeline import State, after, first_state

TOLERANCE_US = 1e-6
Cost = Callable[[int, int, int], tuple[float, float]]
"""Microseconds and area of the interval between two borders in a region, or bounds of them."""


@dataclass(frozen=True)
class Path:
    """Borders from the first to the last, the time, and the area of all chunks."""

    us: float
    borders: tuple[int, ...]
    area: float

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The first border of each chunk and the border behind it."""
        return list(zip(self.borders, self.borders[1:], strict=False))


@dataclass(frozen=True)
class _Label:
    state: State
    area: float
    borders: tuple[int, ...]

    def no_worse(self, other: _Label) -> bool:
        mine, theirs = (*self.state, self.area), (*other.state, other.area)
        return all(a <= b + TOLERANCE_US for a, b in zip(mine, theirs, strict=True))


def best_path(count: int, uncut: tuple[float, float], cost: Cost, loads_us: tuple[float, ...]) -> Path | None:
    """Return the best path through borders 0 to ``count - 1``; None where all are infinite.

    ``uncut`` is the cost of the whole network in all of the area. Cut networks have more chunks than regions: one of
    fewer would do no better than the uncut one, which needs no more of any resource than all of its chunks.
    """
    paths = [Path(uncut[0], (0, count - 1), uncut[1])] if uncut[0] < float("inf") else []
    regions = len(loads_us)
    layer: dict[int, list[_Label]] = {0: [_Label(first_state(regions), 0.0, (0,))]}
    for chunk in range(count - 1):
        region = chunk % regions
        best = min((path.us for path in paths), default=float("inf"))
        layer = _longer(layer, count, lambda a, b, r=region: cost(a, b, r), loads_us[region], best)  # type: ignore[misc]
        if chunk >= regions:
            paths += [Path(label.state[1], label.borders, label.area) for label in layer.get(count - 1, ())]
        layer.pop(count - 1, None)
    if not paths:
        return None
    least = min(path.us for path in paths)
    tied = [path for path in paths if path.us <= least + TOLERANCE_US]
    return min(tied, key=lambda path: (len(path.borders), path.area, path.borders))


def _longer(
    layer: dict[int, list[_Label]],
    count: int,
    cost: Callable[[int, int], tuple[float, float]],
    load_us: float,
    best: float,
) -> dict[int, list[_Label]]:
    """Return the labels of one more chunk by where it ends."""
    longer: dict[int, list[_Label]] = {}
    for start, labels in layer.items():
        for end in range(start + 1, count):
            run_us, area = cost(start, end)
            for label in labels:
                state, _ = after(label.state, load_us, run_us)
                if state[1] <= best + TOLERANCE_US and state[1] < float("inf"):
                    _add(longer.setdefault(end, []), _Label(state, area + label.area, (*label.borders, end)))
    return longer


def _add(labels: list[_Label], label: _Label) -> None:
    """Add a label unless another is no worse, and drop those that it is no worse than."""
    if not any(other.no_worse(label) for other in labels):
        labels[:] = [other for other in labels if not label.no_worse(other)]
        labels.append(label)
