"""Method ``brute``: every folding of every interval and every set of cuts, where they are few."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import inf, prod

from floorflow.papers.dpr.problem import Chunk, ChunkAnswer, ChunkProblem, Regions, cycles_of, loads_us, use_of
from floorflow.segments.paths import timeline
from floorflow.stats import SolveStats

MOST_POINTS = 300_000
"""Foldings of all intervals beyond which nothing is enumerated."""


def solve(problem: ChunkProblem, regions: Regions, *, static: bool = False) -> ChunkAnswer:
    """Return the fastest design, or the proof that there is none; a reason where there are too many to look at."""
    borders = problem.borders
    spans = [(a, b) for b in range(1, len(borders)) for a in range(b)]
    count = sum(prod(len(layer.cycles) for layer in problem.layers[borders[a] : borders[b]]) for a, b in spans)
    if count > MOST_POINTS:
        reason = f"{count:.3g} foldings of intervals, {MOST_POINTS:,} at most are enumerated"
        return ChunkAnswer(None, regions, SolveStats("brute", "heuristic"), reason)
    best: tuple[float, int, float] = (inf, 0, inf)
    design = None
    for cut in _cuts(len(borders), len(regions.sizes), static=static):
        path = [borders[number] for number in cut]
        chunks = _chunks(problem, regions, path)
        if chunks is not None:
            end = timeline(loads_us(problem, regions), [problem.us(chunk.cycles) for chunk in chunks])[-1].run_end_us
            area = sum(problem.area(use_of(problem, chunk)) for chunk in chunks)
            if (round(end, 6), len(chunks), area) < best:
                best, design = (round(end, 6), len(chunks), area), chunks
    if design is None:
        return ChunkAnswer(None, regions, SolveStats("brute", "infeasible"), "no cut and folding fits")
    return ChunkAnswer(design, regions, SolveStats("brute", "optimal", best[0], best[0]))


def _cuts(borders: int, regions: int, *, static: bool) -> Iterator[tuple[int, ...]]:
    """Yield the borders of all designs: uncut, or of more chunks than regions (see `paths.best_path`)."""
    yield (0, borders - 1)
    for inner in range(1, borders - 1):
        if inner >= regions and not static:
            for chosen in combinations(range(1, borders - 1), inner):
                yield (0, *chosen, borders - 1)


def _chunks(problem: ChunkProblem, regions: Regions, path: list[int]) -> tuple[Chunk, ...] | None:
    sizes = regions.sizes if len(path) > 2 else (regions.whole,)
    chunks = [_cheapest(problem, a, b, sizes[n % len(sizes)]) for n, (a, b) in enumerate(pairwise(path))]
    return tuple(chunk for chunk in chunks if chunk is not None) if all(chunks) else None


def _cheapest(problem: ChunkProblem, first: int, behind: int, size: Fraction) -> Chunk | None:
    limits, best, area = problem.limits(size), None, inf
    for rows in product(*(range(len(layer.cycles)) for layer in problem.layers[first:behind])):
        chunk = Chunk(first, behind, rows, cycles_of(problem, first, rows))
        used = use_of(problem, chunk)
        if (used <= limits).all() and (best is None or (chunk.cycles, problem.area(used)) < (best.cycles, area)):
            best, area = chunk, problem.area(used)
    return best
