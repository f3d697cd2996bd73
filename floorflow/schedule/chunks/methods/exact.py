"""Method ``exact``: the optimum over all cuts and foldings, with proof.

A shortest path on bounds of all intervals; the intervals of the best path are solved, their bounds become exact, and
the path is found again. When all intervals of the best path are solved it is the optimum: all others were judged by
bounds. Several slots of one problem share a `SegmentTable`.
"""

from __future__ import annotations

from math import inf

from floorflow.errors import LimitError
from floorflow.schedule.chunks.paths import Path, best_path
from floorflow.schedule.chunks.problem import Chunk, ChunkAnswer, ChunkProblem, Regions
from floorflow.schedule.chunks.segments import SegmentTable, Slot
from floorflow.schedule.chunks.timeline import loads_us
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

    ``most_us``: a design that takes longer is of no use; the search ends when there is no other. Where an interval's foldings reach a limit there is no design, and the bound is what was proven by then.
    """
    search = _Search(problem, regions, table or SegmentTable(problem), static=static, most_us=most_us)
    try:
        return search.answer()
    except LimitError as error:
        return ChunkAnswer(None, regions, SolveStats("exact", "heuristic", None, search.bound), str(error))


class _Search:
    """One problem on regions: which intervals are asked for."""

    def __init__(
        self, problem: ChunkProblem, regions: Regions, table: SegmentTable, *, static: bool, most_us: float
    ) -> None:
        self.problem, self.regions, self.table, self.static = problem, regions, table, static
        self.whole = self._slot_of(regions.whole)
        self.slots = [self._slot_of(size) for size in regions.sizes]
        self.bound, self.most_us = 0.0, most_us

    def _slot_of(self, area: object) -> Slot:
        return tuple(int(limit) for limit in self.problem.limits(area))  # type: ignore[arg-type]

    def answer(self) -> ChunkAnswer:
        """Return the optimum."""
        while True:
            path = self._path()
            if path is None:
                return ChunkAnswer(None, self.regions, SolveStats("exact", "infeasible"), "no cut and folding fits")
            self.bound = path.us
            if path.us > self.most_us:
                stats = SolveStats("exact", "heuristic", None, path.us)
                return ChunkAnswer(None, self.regions, stats, "slower than what is known")
            spans = self._spans(path)
            open_ = [span for span in spans if not self.table.is_known(*span)]
            if not open_:
                return self._design(path, spans)
            for span in open_:
                self.table.solved(*span)

    def _path(self) -> Path | None:
        borders = self.problem.borders
        count = len(borders)
        known: dict[tuple[int, int, int], tuple[float, float]] = {}
        # An interval takes no less than any part of it.
        for region, slot in enumerate(self.slots):
            for length in range(1, count):
                for a in range(count - length):
                    parts = [known[a, a + length - 1, region], known[a + 1, a + length, region]] if length > 1 else []
                    us, area = self._cost(a, a + length, slot)
                    known[a, a + length, region] = max([us, *(part[0] for part in parts)]), area
        uncut = self._cost(0, count - 1, self.whole)
        if self.static:
            return Path(uncut[0], (0, count - 1), uncut[1]) if uncut[0] < inf else None
        loads = loads_us(self.problem, self.regions)
        return best_path(count, uncut, lambda a, b, region: known[a, b, region], loads)

    def _cost(self, a: int, b: int, slot: Slot) -> tuple[float, float]:
        """Return what is known of an interval between borders: its time and area, or bounds of them."""
        first, behind = self.problem.borders[a], self.problem.borders[b]
        if self.table.is_known(first, behind, slot):
            folded = self.table.solved(first, behind, slot)
            return self.problem.us(folded.cycles), folded.area
        return self.problem.us(self.table.lower(first, behind, slot)), 0.0

    def _spans(self, path: Path) -> list[tuple[int, int, Slot]]:
        borders = self.problem.borders
        slots = self.slots if len(path.spans) > 1 else [self.whole]
        return [(borders[a], borders[b], slots[n % len(slots)]) for n, (a, b) in enumerate(path.spans)]

    def _design(self, path: Path, spans: list[tuple[int, int, Slot]]) -> ChunkAnswer:
        folded = [self.table.solved(*span) for span in spans]
        chunks = tuple(
            Chunk(first, behind, one.rows, int(one.cycles))
            for (first, behind, _), one in zip(spans, folded, strict=True)
        )
        return ChunkAnswer(chunks, self.regions, SolveStats("exact", "optimal", path.us, path.us))
