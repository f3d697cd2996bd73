"""Method ``brute``: every folding of every contiguous segment and every set of cuts, in numpy, where they are few.

Not SAMO's brute force, which filters foldings by the rules of an uncut network and is not exact for it.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import prod

import numpy as np

from floorflow.papers.samo.problem import Design, Ints, ScheduleAnswer, ScheduleProblem, joined
from floorflow.stats import SolveStats

MOST_POINTS = 20_000_000
"""Foldings of all segments beyond which nothing is enumerated."""
MOST_CUTS = 16
CHUNK = 1 << 16


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the design of least cost, or the proof that there is none; a reason where there are too many to look at.

    ``seed`` is not used.
    """
    del seed
    borders = problem.borders
    segments = [(a, b) for b in range(1, len(borders)) for a in range(b)]
    points = sum(prod(len(node.cycles) for node in problem.nodes[borders[a] : borders[b]]) for a, b in segments)
    if points > MOST_POINTS or len(borders) - 2 > MOST_CUTS:
        reason = f"{points:.3g} foldings of segments, {MOST_POINTS:,} at most are enumerated"
        return ScheduleAnswer(None, SolveStats("brute", "heuristic"), reason)
    best = {(a, b): _best_of(problem, borders[a], borders[b]) for a, b in segments}
    found = min((_joined_up(problem, best, inner) for inner in _subsets(len(borders))), key=lambda entry: entry[0])
    cost, path = found
    if not np.isfinite(cost):
        return ScheduleAnswer(None, SolveStats("brute", "infeasible"))
    cuts = tuple(borders[b] - 1 for _, b in path[:-1])
    rows = tuple(row for segment in path for row in best[segment][1])
    return ScheduleAnswer(Design(cuts, rows), SolveStats("brute", "optimal", cost, cost))


def _subsets(borders: int) -> Iterator[tuple[int, ...]]:
    """Yield every choice of borders between the first and the last, the fewest first."""
    for count in range(borders - 1):
        for inner in combinations(range(1, borders - 1), count):
            yield (0, *inner, borders - 1)


Best = tuple[float, tuple[int, ...]]


def _joined_up(
    problem: ScheduleProblem, best: dict[tuple[int, int], Best], path: tuple[int, ...]
) -> tuple[float, list[tuple[int, int]]]:
    segments = list(pairwise(path))
    cost = sum(problem.microseconds(best[segment][0]) for segment in segments)
    return cost + (len(segments) - 1) * problem.reconfiguration_us, segments


def _best_of(problem: ScheduleProblem, first: int, behind: int) -> Best:
    """Return the fewest cycles of a segment and the rows that have them; infinite if no folding is legal."""
    sizes = [len(node.cycles) for node in problem.nodes[first:behind]]
    best: Best = (np.inf, ())
    for start in range(0, prod(sizes), CHUNK):
        rows = np.stack(np.unravel_index(np.arange(start, min(start + CHUNK, prod(sizes))), sizes), axis=1)
        cycles = cycles_of(problem, first, rows)
        at = int(np.argmin(cycles))
        if cycles[at] < best[0]:
            best = float(cycles[at]), tuple(int(row) for row in rows[at])
    return best


def cycles_of(problem: ScheduleProblem, first: int, rows: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the cycles of foldings of a segment, (n, ) for rows (n, n_nodes): infinite where a rule is broken."""
    nodes = problem.nodes[first : first + rows.shape[1]]
    use = sum(node.use[rows[:, number]] for number, node in enumerate(nodes))
    cycles = np.max([node.cycles[rows[:, number]] for number, node in enumerate(nodes)], axis=0)
    legal = (use <= np.array(problem.limits)).all(axis=1)
    legal &= problem.within_bandwidth(first, first + len(nodes) - 1, cycles)
    for a, b in problem.edges:
        if first <= a and b < first + len(nodes):
            outputs = problem.nodes[a].foldings[rows[:, a - first], 1]
            legal &= joined(problem.nodes[a], outputs, problem.nodes[b].foldings[rows[:, b - first], 0])
    return np.where(legal, cycles, np.inf)
