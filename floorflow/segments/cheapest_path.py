"""The dynamic program over cuts: segments one after another in time, with a reconfiguration between two of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cheapest_path(costs: Floats, reconfiguration_us: float) -> tuple[float, list[tuple[int, int]] | None]:
    """Return the least cost of segments from the first border to the last, and them; infinite and None without any."""
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
