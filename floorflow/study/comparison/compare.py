"""Folding methods side by side on one network and platform: what each finds, and how far that is from the optimum."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np

from floorflow.backends.backend import Source
from floorflow.dataflow.model import FoldedDataflow
from floorflow.errors import InputError
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.folding.balance import Balance, layer_pairs
from floorflow.folding.methods import FoldingMethod
from floorflow.folding.problem import FoldingAnswer, TooMany
from floorflow.request import Request
from floorflow.resources import Resources, scarcity, total
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare, read, settled
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.solvers import methods_of
from floorflow.search.interval.state import SearchState

CURVE_POINTS = 14
"""Intervals at which the bound is drawn."""


@dataclass(frozen=True)
class Entry:
    """What one method found. ``resources`` are engines, converters and FIFOs together.

    ``bound`` is proven for every folding of the problem at this interval, and ``gap`` is to it: (scarcity - bound) /
    scarcity. Without a folding all but ``verdict`` and ``seconds`` are None. ``folding`` goes by the names that engines
    have where FINN itself chooses hls and rtl.
    """

    method: str
    verdict: str
    seconds: float
    interval_cycles: int | None = None
    frames_per_s: float | None = None
    engines: Resources | None = None
    resources: Resources | None = None
    scarcity: float | None = None
    bound: float | None = None
    folding: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def gap(self) -> float | None:
        """Share of the scarcity that may be saved at most."""
        if self.scarcity is None or self.bound is None:
            return None
        return max(0.0, 1 - self.bound / self.scarcity) if self.scarcity else 0.0


@dataclass(frozen=True)
class Comparison:
    """All methods on one problem. ``bound_cycles``: no folding within the budget is faster.

    ``joint_bound_cycles``: no plan is faster, whichever slots its engines lie in; None where a rate was asked for or
    none is possible. ``curve`` holds intervals and the scarcity that no folding can be below there.
    """

    network: str
    platform: str
    costs: str
    clock_mhz: float
    requested_cycles: int | None
    bound_cycles: int | None
    joint_bound_cycles: int | None
    entries: tuple[Entry, ...]
    curve: tuple[tuple[int, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON and for the picture."""
        return {
            "schema": "floorflow-comparison/1",
            "network": self.network,
            "platform": self.platform,
            "costs": self.costs,
            "clock_mhz": self.clock_mhz,
            "requested_cycles": self.requested_cycles,
            "bound_cycles": self.bound_cycles,
            "joint_bound_cycles": self.joint_bound_cycles,
            "methods": [_entry_dict(entry, self.bound_cycles) for entry in self.entries],
            "curve": [{"interval_cycles": cycles, "scarcity_bound": bound} for cycles, bound in self.curve],
        }


def _entry_dict(entry: Entry, bound_cycles: int | None) -> dict[str, Any]:
    return {
        "method": entry.method,
        "verdict": entry.verdict,
        "seconds": round(entry.seconds, 3),
        "interval_cycles": entry.interval_cycles,
        "interval_over_bound": entry.interval_cycles / bound_cycles if entry.interval_cycles and bound_cycles else None,
        "frames_per_s": entry.frames_per_s,
        "engines": entry.engines.as_dict() if entry.engines else None,
        "resources": entry.resources.as_dict() if entry.resources else None,
        "scarcity": entry.scarcity,
        "bound": entry.bound,
        "gap": entry.gap,
        "folding": {name: dict(sorted(chosen.items())) for name, chosen in sorted(entry.folding.items())},
    }


def compare(
    request: Request,
    methods: Sequence[str],
    epsilon: float | None = None,
    progress: Progress = SILENT,
    source: Source | None = None,
) -> Comparison:
    """Fold by every method: the least resources at the request's rate, or the highest rate within the budget.

    ``epsilon`` balances the rates of consecutive layers in ``cpsat``, as its paper has it.

    Raises InputError if a method is unknown, or the number of FPGAs is ``auto``; InfeasibleError if an engine fits no
    slot.
    """
    request = settled(request)
    fpgas = request.fixed_fpgas("compare")
    with progress.stage("reading"):
        context = prepare(source or read(request), request.changed(objective=None), fpgas)
    known = _known(context, epsilon)
    unknown = [name for name in methods if name not in known]
    if unknown:
        raise InputError(f"folding method '{unknown[0]}' is unknown", hint=f"known are {', '.join(known)}")
    interval = None if request.fps is None else context.problem.intervals()[-1]
    bounds = Bounds(context.problem)
    entries = []
    for name in methods:
        with progress.stage(f"folding by {name}"):
            entries.append(_entry(name, known[name], context, interval, bounds))
    clock_mhz = context.platform.clock_mhz
    with progress.stage("bounds"):
        first = bounds.interval_cycles() if interval is None else None
        joint = None if first is None else _joint_bound_cycles(context, first)
        curve = tuple(_curve(bounds, [entry.interval_cycles for entry in entries if entry.interval_cycles], first))
    names = context.dataflow.name, context.platform.name
    return Comparison(*names, context.costs.name, clock_mhz, interval, first, joint, tuple(entries), curve)


def _known(context: PlanningContext, epsilon: float | None) -> Mapping[str, FoldingMethod]:
    known = methods_of(context.costs, context.engine_limits, context.request.backend_options)
    if epsilon is not None and "cpsat" in known:
        known["cpsat"] = _balanced(known["cpsat"], Balance(layer_pairs(context.dataflow), epsilon))
    return known


def _balanced(solve: FoldingMethod, balance: Balance) -> FoldingMethod:
    def method(problem: FoldingProblem, interval_cycles: int | None, seed: int) -> FoldingAnswer:
        tied = replace(problem, couplings=(*problem.couplings, *balance.bars(problem.groups)))
        return solve(tied, interval_cycles, seed)

    return method


def _entry(name: str, method: FoldingMethod, context: PlanningContext, interval: int | None, bounds: Bounds) -> Entry:
    problem = context.problem
    started = time.perf_counter()
    answer = method(problem, interval, context.request.seed)
    seconds = time.perf_counter() - started
    if not isinstance(answer, FoldingSolution):
        return Entry(name, _refusal(answer), seconds)
    engines = total(option.resources for option in answer.options.values())
    return Entry(
        method=name,
        verdict=answer.stats.status,
        seconds=seconds,
        interval_cycles=answer.interval_cycles,
        frames_per_s=context.platform.clock_mhz * 1e6 / answer.interval_cycles,
        engines=engines,
        resources=answer.resources,
        scarcity=scarcity(answer.resources, problem.silicon),
        bound=bounds.scarcity(answer.interval_cycles if interval is None else interval),
        folding=_foldings(context, answer),
    )


def _foldings(context: PlanningContext, answer: FoldingSolution) -> dict[str, dict[str, Any]]:
    """Return every engine's folding, with the attributes that it has if it is made of another kind than its own."""
    own = context.dataflow
    finished = context.backend.finished(FoldedDataflow(own, answer.options)).dataflow
    more = {
        before.name: {name: value for name, value in after.attributes.items() if name not in before.attributes}
        for before, after in zip(own.engines, finished.engines, strict=True)
    }
    return {name: {**option.folding, **more[name]} for name, option in answer.options.items()}


def _refusal(answer: FoldingAnswer) -> str:
    if isinstance(answer, FoldingInfeasible):
        return f"proven infeasible: {answer}"
    if isinstance(answer, TooMany):
        return f"not tried: {answer.combinations:.1e} combinations, {answer.allowed:.0e} allowed"
    return f"none found: {answer}"


class Bounds:
    """What is proven on the problem: the least scarcity by interval, the shortest interval; each found only once."""

    def __init__(self, problem: FoldingProblem) -> None:
        self.problem = problem
        self._proven: dict[int, FoldingAnswer] = {}
        self._quick = FeasibilityOracle(problem)

    def scarcity(self, interval_cycles: int) -> float | None:
        """Return the least scarcity at an interval, or what it is proven not to be below; None if there is none."""
        if interval_cycles not in self._proven:
            self._proven[interval_cycles] = self._quick.least_scarce(interval_cycles)
        answer = self._proven[interval_cycles]
        return answer.stats.bound if isinstance(answer, FoldingSolution) else None

    def interval_cycles(self) -> int | None:
        """Return the shortest interval that is not proven to be impossible; None if all are."""
        return self._quick.shortest(lambda answer: not isinstance(answer, FoldingInfeasible))

    def quick_scarcity(self, interval_cycles: int) -> float | None:
        """Return a lower bound on the scarcity at an interval, not always the best."""
        answer = self._quick(interval_cycles)
        return answer.stats.bound if isinstance(answer, FoldingSolution) else None


def _joint_bound_cycles(context: PlanningContext, first: int) -> int | None:
    """Return the shortest interval, from the folding bound on, not proven impossible for all assignments to slots."""
    run, intervals = SearchState(context, SILENT), context.problem.intervals()
    least = first if run.link_bound is None else max(first, run.link_bound.interval_cycles)
    return run.find_joint_bound(intervals, bisect_left(intervals, least)).interval_cycles


def _curve(bounds: Bounds, answered: Sequence[int], first: int | None) -> list[tuple[int, float]]:
    """Return the bound at intervals spread evenly over the ratio that the methods' answers span, and a bit beyond."""
    intervals = np.array(bounds.problem.intervals())
    if not answered:
        return []
    low, high = min(*answered, first or answered[0]) * 0.8, max(answered) * 2.5
    wanted = np.geomspace(low, high, CURVE_POINTS)
    places = np.searchsorted(intervals, [*wanted, *answered], side="right") - 1
    chosen = sorted({int(intervals[place]) for place in places if place >= 0})
    pairs = ((cycles, bounds.quick_scarcity(cycles)) for cycles in chosen[::-1])
    known = [(cycles, bound) for cycles, bound in pairs if bound is not None]
    # What holds at a longer interval holds at a shorter one.
    highest = accumulate((bound for _, bound in known), max)
    return [(cycles, bound) for (cycles, _), bound in zip(known, highest, strict=True)][::-1]
