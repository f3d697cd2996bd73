"""Bargains: what a little less rate would free, by the very search that `--fps` would make.

Each is folded and cut for the rate, not placed: how full slots are and how large engines follow from that, the wire
length does not. It is told only where each bargain is planned to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from floorflow.errors import InfeasibleError, LimitError
from floorflow.placement import PlacementSolution
from floorflow.request import Request
from floorflow.resources import total
from floorflow.search.candidate import Candidate, slot_demands
from floorflow.search.context import PlanningContext, longest_interval
from floorflow.search.findings import Bargain, Bargains, Figures
from floorflow.search.progress import Progress
from floorflow.search.search import Search, SearchResult

LESS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the rate that are given up."""
MOST_MODULES = 20
"""Modules of a plan up to which bargains are sought unasked: of larger ones they take longer than the plan."""
DIGITS = 4
"""Of the rates asked for."""


def bargains(
    context: PlanningContext,
    found: SearchResult,
    prepare: Callable[[Request, int], PlanningContext],
    search: Search,
    progress: Progress,
) -> Bargains | None:
    """Return the bargains of a finished search; None where none are sought, or nothing can be folded anew.

    ``prepare`` takes a request and a number of FPGAs, ``search`` what it prepared.
    """
    request = context.request
    if request.bargains_sought == "none" or request.keep_folding or request.objective == "latency":
        return None
    if request.objective == "resources" and request.fps is None:
        return None
    if request.bargains is None and len(found.candidate.modules) > MOST_MODULES:
        return None
    planned = request.bargains_sought == "plan"
    with progress.stage("bargains"):
        rows = _Rows(context, found, prepare, search, progress, planned).rows()
    return Bargains(figures_of(context, found.candidate, found.placements), rows, planned)


@dataclass(frozen=True)
class _Rows:
    context: PlanningContext
    found: SearchResult
    prepare: Callable[[Request, int], PlanningContext]
    search: Search
    progress: Progress
    planned: bool

    def rows(self) -> tuple[Bargain, ...]:
        """Return a bargain for each share; rates at which the same interval is the longest are planned once."""
        interval = self.found.candidate.interval_cycles
        rates = {less: self._fps(less) for less in LESS}
        slowest = self._prepared(rates[LESS[-1]])
        intervals = () if slowest is None else slowest.problem.intervals()
        known: dict[int, tuple[int | None, Figures | None]] = {}
        rows = []
        for less, fps in rates.items():
            most = longest_interval(self.context.platform, self._request(fps)) or 0
            longest = max((each for each in intervals if each <= most), default=interval)
            if longest <= interval:
                rows.append(Bargain(less, fps, interval, None))
                continue
            if longest not in known:
                self.progress.note(f"{less:.0%} less rate, {longest:,} cycles")
                known[longest] = self._figures(fps)
            rows.append(Bargain(less, fps, *known[longest]))
        return tuple(rows)

    def _fps(self, less: float) -> float:
        rate = self.context.platform.clock_mhz * 1e6 / self.found.candidate.interval_cycles
        return float(f"{rate * (1 - less):.{DIGITS}g}")

    def _request(self, fps: float) -> Request:
        """Return the request for another rate, on as many FPGAs."""
        return self.context.request.changed(fps=fps, objective=None, fpgas=len(self.context.platform.fpgas))

    def _prepared(self, fps: float) -> PlanningContext | None:
        try:
            return self.prepare(self._request(fps), len(self.context.platform.fpgas))
        except InfeasibleError:
            return None

    def _figures(self, fps: float) -> tuple[int | None, Figures | None]:
        """Return interval and figures of the design for a rate, None where none is found."""
        context = self._prepared(fps)
        if context is None:
            return None, None
        try:
            result = self.search(replace(context, floorplans=self.planned))
        except (InfeasibleError, LimitError):
            return None, None
        if result.interrupted:
            raise KeyboardInterrupt
        candidate = result.candidate
        if candidate.interval_cycles == self.found.candidate.interval_cycles:
            return candidate.interval_cycles, None
        return candidate.interval_cycles, figures_of(context, candidate, result.placements)


def figures_of(context: PlanningContext, candidate: Candidate, placements: Mapping[str, PlacementSolution]) -> Figures:
    """Return the figures of a design; ``placements`` by FPGA, none where it was not placed."""
    demands = slot_demands(candidate)
    available = {slot.name: slot.available.as_dict() for slot in context.platform.slots}
    shares = [
        (need / available[slot][name], slot, name)
        for slot, demand in demands.items()
        for name, need in demand.as_dict().items()
        if available[slot][name]
    ]
    share, slot, resource = max(shares, key=lambda each: each[0])
    slot_of = {engine: candidate.slot_of[module.name] for module in candidate.modules for engine in module.engines}
    engines = [
        (option.resources.as_dict()[name] / available[slot_of[engine]][name], engine, name)
        for engine, option in candidate.folded.options.items()
        for name in ("LUT", "DSP")
        if available[slot_of[engine]][name]
    ]
    _, engine, name = max(engines, key=lambda each: each[0])
    amount = candidate.folded.options[engine].resources.as_dict()[name]
    hpwl = sum(placement.hpwl for placement in placements.values()) if placements else None
    return Figures(slot, resource, share, engine, name, amount, total(demands.values()), hpwl)
