"""Weights that the host writes at run time, only where much rests on it: without them nothing fits, or it is slower.

UltraRAM has no initial contents: what lies there is garbage until software has written it. So a network is planned
without such weights first. If that has no plan, or one whose rate is more than a tenth below what they allow, it is
planned with them, and then with as few engines that have them as can be: `floorflow.folding.fewest` says how few any
folding at that interval needs, and for which engines that is least tight.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import OptionGroup
from floorflow.errors import INTERRUPTED, Refused, Stop, unproven
from floorflow.folding import FoldingProblem, restricted
from floorflow.folding.fewest import fewest_marked, least_full_marked
from floorflow.request import Objective
from floorflow.search.candidate.candidate import slots_of_engines, written_by_host
from floorflow.search.candidate.context import PlanningContext, in_short
from floorflow.search.candidate.findings import HostWeights, Outcome, SearchResult, Steps, TraceRow
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.interval.latency import latency_cycles
from floorflow.search.interval.rate import found_in_short, why_ended
from floorflow.search.interval.state import SearchState, shortest_possible

Marks = Sequence[NDArray[np.int64]]

WORTH = 0.9
"""Share of the rate that weights written by the host allow, which a design without them must reach."""
FEWER_WORK = 5.0
"""Units of work that a search with fewer of them may take."""
TRIES = 2
"""Sets of engines that are tried to have fewer of them."""


def spare_host_weights(context: PlanningContext, progress: Progress) -> Steps[Outcome]:
    """Search without engines that the host writes; where that costs much, with the fewest found."""
    spared = context.backend.spares_host(context.request.backend_options) and not context.request.keep_folding
    if not spared or not any(own.any() for own in marks_of(context, context.problem)):
        return (yield context)
    return (yield from _Sparing(context, progress).outcome())


def marks_of(context: PlanningContext, problem: FoldingProblem) -> Marks:
    """Return how many engines the host writes with each row of each group, (n_rows,) each."""
    known: dict[int, NDArray[np.int64]] = {}
    for group in problem.groups:
        if id(group.rows) not in known:
            known[id(group.rows)] = _marks(context, group)
    return [known[id(group.rows)] for group in problem.groups]


def _marks(context: PlanningContext, group: OptionGroup) -> NDArray[np.int64]:
    engines = [(context.dataflow.engine(name), group.options_of(name)) for name in group.engines]
    return np.asarray(np.stack([context.backend.host_writes(*each) for each in engines]).sum(axis=0), dtype=np.int64)


def without_host_weights(context: PlanningContext) -> PlanningContext | None:
    """Return the same without foldings that the host has to write; None if an engine has no others."""

    def among(problem: FoldingProblem) -> FoldingProblem | None:
        keep = [own == 0 for own in marks_of(context, problem)]
        return restricted(problem, keep) if all(rows.any() for rows in keep) else None

    problem = among(context.problem)
    unlimited = problem if context.problem is context.unlimited else among(context.unlimited)
    return None if problem is None or unlimited is None else replace(context, problem=problem, unlimited=unlimited)


@dataclass
class _Sparing:
    """A search without and with engines that the host writes; what is known goes into it at once, for Ctrl-C.

    ``bound`` and ``below`` are bounds on the cycles with and without, 0 where none is worked out, None where it is
    proven that nothing fits. ``plain`` is what was found without, if it was ``sought``.
    """

    context: PlanningContext
    progress: Progress
    bound: int | None = None
    below: int | None = None
    sought: bool = False
    plain: SearchResult | None = None
    best: SearchResult | None = None
    least: int = 0

    def outcome(self) -> Steps[Outcome]:
        """Return the better design for the rule."""
        refused: Refused | None = None
        with Stop() as stop:
            refused = yield from self._seek()
        if stop.heard:
            refused = INTERRUPTED
        if self.best is None or (refused is not None and not refused.interrupted):
            return refused or INTERRUPTED
        counts = self.plain is not None and (self.plain.likely or not self.best.likely)
        plain = self._cycles(self.plain) if self.plain is not None and counts else None
        ended = self.best.interrupted or refused is not None  # by then none had been found without
        host = HostWeights(self.least, self.bound, self.below, plain, self.sought or ended)
        return replace(self.best, host_weights=host, interrupted=ended)

    def _seek(self) -> Steps[Refused | None]:
        """Look for the best; return why there is none, or that a signal ended it."""
        without = without_host_weights(self.context)
        self.bound, self.below = self._bound(self.context), None if without is None else self._bound(without)
        # First where it may be near enough.
        if without is not None and self._is_near(self.below, self.bound):
            if (yield from self._seek_without(without)):
                return INTERRUPTED
            if self.plain is not None and self._settles(self.plain):
                return None
        full = yield self._with_them()
        if isinstance(full, Refused):
            return full if full.interrupted or self.plain is None else None
        self.best = full
        may_be_sought = not self.sought and not full.interrupted  # after a signal nothing is begun
        if without is not None and may_be_sought and self._is_near(self.below, self._cycles(full)):
            if (yield from self._seek_without(without)):
                return INTERRUPTED
            self.best = full
        likely = self.plain is not None and (self.plain.likely or not full.likely)
        enough = likely and self._is_enough(self._cycles(full))
        if full.interrupted or (self.plain is not None and self.plain.interrupted):
            self.best = replace(self.plain if self.plain is not None and enough else full, interrupted=True)
        elif enough:
            self.best = self.plain
        else:
            return (yield from self._have_fewer(full))
        return None

    def _with_them(self) -> PlanningContext:
        """Return the context with such weights; in short where they are not worth it but for what is likely to fit."""
        if self.plain is None or self.plain.likely or self._may_be_worth_it(self.plain):
            return self.context
        return replace(self.context, search_limits=in_short(self.context.search_limits))

    def _settles(self, plain: SearchResult) -> bool:
        """Whether what was found without is the plan."""
        if plain.interrupted or not plain.likely:
            return plain.interrupted
        return self._is_enough(self.bound) or not self._may_be_worth_it(plain)

    def _may_be_worth_it(self, plain: SearchResult) -> bool:
        """Whether a short search, that places nothing, finds a design with them for which one without is not enough."""
        if self.context.request.goal != "throughput":
            return True
        below = WORTH * self._cycles(plain)
        return found_in_short(self.context, below, plain.work_units, self.progress)[0] is not None

    def _seek_without(self, without: PlanningContext) -> Steps[bool]:
        """Look for a design without; whether a signal ended that before there was one."""
        self.sought = True
        found = yield without
        if isinstance(found, Refused) and found.interrupted:
            return True
        self.best = self.plain = None if isinstance(found, Refused) else found
        return False

    def _is_enough(self, cycles: int | None) -> bool:
        """Whether the design found without is worth as much as one of so many cycles."""
        return self.plain is not None and self._is_near(self._cycles(self.plain), cycles)

    def _is_near(self, without: int | None, cycles: int | None) -> bool:
        """Whether a design without is worth as much as one with, by their cycles, as far as these are known."""
        if self.context.request.goal == "resources":
            return without is not None
        return without is not None and WORTH * without <= (cycles or 0)

    def _bound(self, context: PlanningContext) -> int | None:
        """Return the folding bound; only whether anything fits where no interval is sought."""
        run = SearchState(context, SILENT)
        if not run.is_feasible(context.problem.intervals()[-1]):
            return None
        if context.request.goal != "throughput":
            return 0
        intervals, index = shortest_possible(run)
        return intervals[index]

    def _cycles(self, found: SearchResult) -> int:
        """Return what counts of a design."""
        latency = self.context.request.goal == "latency"
        return latency_cycles(found.candidate) if latency else found.candidate.kept_cycles

    def _have_fewer(self, full: SearchResult) -> Steps[Refused | None]:
        """Look for a design no worse than one found in which the host writes fewer engines."""
        problem, interval = self.context.problem, full.candidate.interval_cycles
        marks = marks_of(self.context, problem)
        with self.progress.stage("folding"):
            self.progress.note(f"fewest engines that the host writes at {interval:,} cycles")
            self.least = fewest_marked(problem, interval, marks).least or 0
        best = yield from self._with_fewer(full, marks)
        if best is None:
            return INTERRUPTED
        self.best, found = best, best.candidate
        if found.interval_cycles < interval and len(written_by_host(self.context, found)) > self.least:
            self.least = max(self.least, fewest_marked(problem, found.interval_cycles, marks).least or 0)
        return None

    def _with_fewer(self, full: SearchResult, marks: Marks) -> Steps[SearchResult | None]:
        """Return the first design with fewer that is found, or the given one, with the trace of all tries.

        None: a signal came before one was found.
        """
        count, tries = len(written_by_host(self.context, full.candidate)), list[TraceRow]()
        interval, goal = full.candidate.interval_cycles, self.context.request.goal
        for groups in self._sets(interval, marks, range(max(self.least, 1), count)):
            about = f"{len(groups)} engine{'s' * (len(groups) != 1)} for the host to write: "
            found = yield self._only(groups, marks, full)
            if isinstance(found, Refused):
                if found.interrupted:
                    return None
                refusals = unproven(found.refusals)
                tries.append(TraceRow(interval, "not found within the limit", "fold", f"{about}{found}", refusals))
                continue
            tries += _rows_of(found, about)
            fewer = len(written_by_host(self.context, found.candidate)) < count and found.likely >= full.likely
            if fewer and self._cycles(found) <= self._cycles(full):
                return _joined(full, found, tries, goal)
            if found.interrupted:
                return None
        return _joined(full, full, tries, goal)

    def _sets(self, interval: int, marks: Marks, counts: Iterable[int]) -> Iterator[frozenset[int]]:
        """Yield sets of groups for the host to write, ever larger, each that which leaves most of what is short."""
        yielded = set[frozenset[int]]()
        for most in list(counts)[:TRIES]:
            with self.progress.stage("folding"):
                self.progress.note(f"{most} engines for the host to write at {interval:,} cycles")
                rows = least_full_marked(self.context.problem, interval, marks, most)
            groups = frozenset(g for g, row in enumerate(rows or ()) if marks[g][row])
            if rows is not None and groups not in yielded:
                yielded.add(groups)
                yield groups

    def _only(self, groups: frozenset[int], marks: Marks, full: SearchResult) -> PlanningContext:
        """Return the same with only some groups for the host to write, at the interval of a design; at any for latency.

        Shorter ones have no plan even where the host may write all that it can, as far as is known.
        """
        interval, at_any = full.candidate.interval_cycles, self.context.request.goal == "latency"
        problem = self.context.problem
        keep = [
            ((own == 0) | (g in groups)) & (at_any | (group.cycles <= interval))
            for g, (group, own) in enumerate(zip(problem.groups, marks, strict=True))
        ]
        only, limits = restricted(problem, keep), in_short(self.context.search_limits)
        return replace(
            self.context,
            problem=only,
            unlimited=only,
            least_cycles=0 if at_any else interval,
            search_limits=limits,
            work_limit=FEWER_WORK,
            likely_alone=full.likely,
            slots_before=slots_of_engines(self.context, full.candidate),
        )


def _rows_of(found: SearchResult, about: str) -> list[TraceRow]:
    """Return what was tried among fewer foldings, each row with a word on them; of others nothing is proven."""
    return [
        replace(
            row,
            verdict="legal" if row.verdict == "legal" else "not found within the limit",
            detail=about + row.detail,
            refusals=unproven(row.refusals),
        )
        for row in found.trace
        if row.interval_cycles >= found.candidate.interval_cycles
    ]


def _joined(full: SearchResult, found: SearchResult, tries: Sequence[TraceRow], goal: Objective) -> SearchResult:
    """Return a design with the bounds of the search among all foldings, and what ended that.

    Where the shortest interval is not sought, a search's bound is its own interval, and none on another's.
    """
    interval = found.candidate.interval_cycles
    trace = (*full.trace, *tries)
    failed = [row for row in full.trace if row.verdict != "legal" and row.interval_cycles < interval]
    last = max(failed, key=lambda row: row.interval_cycles, default=None)
    ended_by = full.ended_by if interval == full.candidate.interval_cycles else why_ended(full, interval, last)
    return replace(
        found,
        context=full.context,
        bound_cycles=full.bound_cycles if goal == "throughput" else found.bound_cycles,
        joint_bound_cycles=full.joint_bound_cycles,
        trace=trace,
        ended_by=ended_by,
        ended_at=last,
        less_likely=full.less_likely or found.less_likely,
    )
