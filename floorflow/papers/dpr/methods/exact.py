"""Method ``exact``: the optimum over all cuts and foldings, with proof.

The lazy path on bounds of all intervals: when all intervals of the best path are solved its time is the bound of all
designs, and that of the best of the designs found the optimum, unless a limit on work ended the search in an interval.
Several slots of one problem share their `Intervals`.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np

from floorflow.papers.dpr.interval import Folded, Intervals, Slot
from floorflow.papers.dpr.problem import RESOURCES, UNITS, Chunk, ChunkAnswer, ChunkProblem, Ints, Regions, loads_us
from floorflow.segments.paths import Floats, Path, Span, best_path, lazy_path, spread, with_known
from floorflow.segments.table import SpanTable
from floorflow.stats import SolveStats

ROUNDING = 1e-9


def solve(
    problem: ChunkProblem,
    regions: Regions,
    *,
    static: bool = False,
    intervals: Intervals | None = None,
    most_us: float = inf,
) -> ChunkAnswer:
    """Return the fastest design on regions, or the proof that there is none; ``static``: in one chunk.

    ``most_us``: a design that takes longer is of no use; the search ends when there is no other.
    """
    known = intervals or Intervals(problem)
    whole, *slots = (_slot(problem, area) for area in (regions.whole, *regions.sizes))
    tables = tuple(known.on(slot) for slot in slots)
    search = _Search(problem, regions, known.on(whole), tables, static)
    path = lazy_path(search.hoped, lambda path: path is not None and path.us <= most_us and search.close(path))
    if path is None:
        slot = whole if static else max(slots)
        reason = shortage(problem.in_one_chunk() if static else problem, np.array(slot))
        return ChunkAnswer(None, regions, SolveStats("exact", "infeasible"), reason)
    if path.us > most_us:
        stats = SolveStats("exact", "heuristic", None, path.us)
        return ChunkAnswer(None, regions, stats, "slower than what is known")
    return search.best(path.us)


def _slot(problem: ChunkProblem, area: Fraction) -> Slot:
    return tuple(problem.limits(area).tolist())


@dataclass(frozen=True)
class _Search:
    """One problem on regions: ``whole`` is the table of an uncut network, ``tables`` are those of the regions."""

    problem: ChunkProblem
    regions: Regions
    whole: SpanTable[Folded]
    tables: tuple[SpanTable[Folded], ...]
    static: bool

    def hoped(self) -> Path | None:
        """Return the best path by bounds: an interval takes no less than a part, unless this moves more to memory."""
        contains = self.problem.memory_gbs is None
        costs = [spread(table.lowest) if contains else table.lowest for table in self.tables]
        whole = (0, len(self.problem.borders) - 1)
        folded = self.whole.answers.get(whole)
        uncut = Path(self.problem.us(float(self.whole.lowest[whole])), whole, folded.area if folded else 0.0)
        return self._best_path(costs, uncut)

    def best(self, bound: float) -> ChunkAnswer:
        """Return the best design of the intervals that are solved."""
        nothing = np.full_like(self.whole.lowest, inf)
        costs = [with_known(nothing, {s: f.cycles for s, f in table.answers.items()}) for table in self.tables]
        whole = (0, len(nothing) - 1)
        folded = self.whole.answers.get(whole, Folded(inf))
        path = self._best_path(costs, Path(self.problem.us(folded.cycles), whole, folded.area))
        if path is None:
            stats = SolveStats("exact", "heuristic", None, bound)
            reason = "the limit on work ended the search for a folding that fits"
            return ChunkAnswer(None, self.regions, stats, reason)
        borders, chunks = self.problem.borders, []
        for table, (a, b) in self._parts(path):
            one = table[a, b]
            chunks.append(Chunk(borders[a], borders[b], one.rows, int(one.cycles)))
        proven = path.us - bound <= ROUNDING * path.us
        stats = SolveStats("exact", "optimal" if proven else "feasible", path.us, path.us if proven else bound)
        return ChunkAnswer(tuple(chunks), self.regions, stats)

    def close(self, path: Path) -> bool:
        """Solve the intervals of a path that are open; return whether any was."""
        closed = [table.close([span]) for table, span in self._parts(path)]
        return any(closed)

    def _best_path(self, cycles: list[Floats], uncut: Path) -> Path | None:
        if self.static:
            return uncut if uncut.us < inf else None
        nothing = np.zeros_like(self.whole.lowest)
        areas = [with_known(nothing, {s: f.area for s, f in table.answers.items()}) for table in self.tables]
        costs = [each / self.problem.clock_mhz for each in cycles]
        return best_path(costs, loads_us(self.problem, self.regions), uncut, areas)

    def _parts(self, path: Path) -> list[tuple[SpanTable[Folded], Span]]:
        """Return the chunks of a path with the tables of their regions."""
        tables = self.tables if len(path.spans) > 1 else (self.whole,)
        return [(tables[number % len(tables)], span) for number, span in enumerate(path.spans)]


def shortage(problem: ChunkProblem, limits: Ints) -> str:
    """Return what is short of the block that lacks most, as a share of what it needs; that none is alone, if so."""
    worst, told = 0.0, "each block fits alone in some resource, none of all cuts fits in all of them"
    for first, behind in pairwise(problem.borders):
        layers = problem.layers[first:behind]
        least = np.sum([layer.use.min(axis=0) for layer in layers], axis=0)
        lacking = (least - limits) / np.maximum(least, 1)
        column = int(np.argmax(lacking))
        if lacking[column] > worst:
            worst = float(lacking[column])
            names = layers[0].name if len(layers) == 1 else f"{layers[0].name} to {layers[-1].name}"
            need, have = (amount / UNITS[column] for amount in (int(least[column]), max(0, int(limits[column]))))
            told = f"{names} needs {need:,g} {RESOURCES[column]} at least, {have:,g} are there: {need - have:,g} short"
    return told
