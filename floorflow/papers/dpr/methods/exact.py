"""Method ``exact``: the optimum over all cuts and foldings, with proof.

A shortest path on bounds of all intervals; the intervals of the best path are solved, their bounds become exact, and
the path is found again. When all intervals of the best path are solved its time is the bound of all designs, and that
of the best of the designs found: the optimum, unless a limit on work ended the search in an interval. Several slots of
one problem share a `SegmentTable`.
"""

from __future__ import annotations

from math import inf

import numpy as np

from floorflow.papers.dpr.problem import Chunk, ChunkAnswer, ChunkProblem, Regions
from floorflow.papers.dpr.segments import SegmentTable, Slot
from floorflow.papers.dpr.shortage import shortage
from floorflow.papers.dpr.timeline import loads_us
from floorflow.segments.paths import Path, best_path
from floorflow.stats import SolveStats


def solve(
    problem: ChunkProblem,
    regions: Regions,
    *,
    static: bool = False,
    table: SegmentTable | None = None,
    most_us: float = inf,
) -> ChunkAnswer:
    """Return the fastest design on regions, or the proof that there is none; ``static``: in one chunk.

    ``most_us``: a design that takes longer is of no use; the search ends when there is no other.
    """
    return _Search(problem, regions, table or SegmentTable(problem), static=static, most_us=most_us).answer()


ROUNDING = 1e-9


class _Search:
    """One problem on regions: which intervals are asked for."""

    def __init__(
        self, problem: ChunkProblem, regions: Regions, table: SegmentTable, *, static: bool, most_us: float
    ) -> None:
        self.problem, self.regions, self.table, self.static = problem, regions, table, static
        self.whole = self._slot_of(regions.whole)
        self.slots = [self._slot_of(size) for size in regions.sizes]
        self.most_us = most_us

    def _slot_of(self, area: object) -> Slot:
        return tuple(int(limit) for limit in self.problem.limits(area))  # type: ignore[arg-type]

    def answer(self) -> ChunkAnswer:
        """Return the fastest design that was found, with the bound of all."""
        while True:
            path = self._path(lower=True)
            if path is None:
                slot = self.whole if self.static else max(self.slots)
                reason = shortage(self.problem.in_one_chunk() if self.static else self.problem, np.array(slot))
                return ChunkAnswer(None, self.regions, SolveStats("exact", "infeasible"), reason)
            if path.us > self.most_us:
                stats = SolveStats("exact", "heuristic", None, path.us)
                return ChunkAnswer(None, self.regions, stats, "slower than what is known")
            open_ = [span for span in self._spans(path) if not self.table.is_known(*span)]
            if not open_:
                return self._best(path.us)
            for span in open_:
                self.table.solved(*span)

    def _best(self, bound: float) -> ChunkAnswer:
        """Return the best design of the intervals that are solved."""
        path = self._path(lower=False)
        if path is None:
            stats = SolveStats("exact", "heuristic", None, bound)
            return ChunkAnswer(None, self.regions, stats, "the limit on work ended the search for a folding that fits")
        spans = self._spans(path)
        folded = [self.table.solved(*span) for span in spans]
        chunks = tuple(
            Chunk(first, behind, one.rows, int(one.cycles))
            for (first, behind, _), one in zip(spans, folded, strict=True)
        )
        proven = path.us - bound <= ROUNDING * path.us
        stats = SolveStats("exact", "optimal" if proven else "feasible", path.us, path.us if proven else bound)
        return ChunkAnswer(chunks, self.regions, stats)

    def _path(self, *, lower: bool) -> Path | None:
        """Return the best path: by bounds, or by designs that were found."""
        count = len(self.problem.borders)
        known: dict[tuple[int, int, int], tuple[float, float]] = {}
        # An interval takes no less than any part of it, unless the part moves more to and from memory.
        contains = lower and self.problem.memory_gbs is None
        for region, slot in enumerate(self.slots):
            for length in range(1, count):
                for a in range(count - length):
                    us, area = self._cost(a, a + length, slot, lower=lower)
                    if contains and length > 1:
                        us = max(us, known[a, a + length - 1, region][0], known[a + 1, a + length, region][0])
                    known[a, a + length, region] = us, area
        uncut = self._cost(0, count - 1, self.whole, lower=lower)
        if self.static:
            return Path(uncut[0], (0, count - 1), uncut[1]) if uncut[0] < inf else None
        loads = loads_us(self.problem, self.regions)
        return best_path(count, uncut, lambda a, b, region: known[a, b, region], loads)

    def _cost(self, a: int, b: int, slot: Slot, *, lower: bool) -> tuple[float, float]:
        """Return what is known of an interval between borders: its time and area, or bounds of them."""
        first, behind = self.problem.borders[a], self.problem.borders[b]
        if self.table.is_known(first, behind, slot):
            folded = self.table.solved(first, behind, slot)
            return self.problem.us(folded.lower if lower else folded.cycles), folded.area
        return (self.problem.us(self.table.lower(first, behind, slot)), 0.0) if lower else (inf, 0.0)

    def _spans(self, path: Path) -> list[tuple[int, int, Slot]]:
        borders = self.problem.borders
        slots = self.slots if len(path.spans) > 1 else [self.whole]
        return [(borders[a], borders[b], slots[n % len(slots)]) for n, (a, b) in enumerate(path.spans)]
