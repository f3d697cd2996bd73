"""What a frame rate costs: the least of each resource, and the least scarcity, by interval on one platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from floorflow.backends.backend import Backend, Source
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InfeasibleError, InputError, LimitError
from floorflow.folding import fold_at_interval, shortage
from floorflow.request import Request, require_resources
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare, read, settled
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.study.comparison.compare import Bounds
from floorflow.study.pareto.fronts import OBJECTIVES, SCARCITY, Front, Point, Solve, fronts

POINTS = 12
"""Intervals of each front, unless told."""
SCHEMA = "floorflow-pareto/1"


@dataclass(frozen=True)
class Pareto:
    """The fronts of one network on one platform, all at the same intervals.

    ``budget`` are the summed limits that every folding keeps; no folding within it is faster than ``bound_cycles``.
    Shares of ``silicon`` add up to the scarcity.
    """

    network: str
    platform: str
    fpgas: int
    costs: str
    clock_mhz: float
    budget: Resources
    silicon: Resources
    bound_cycles: int
    fronts: tuple[Front, ...]
    dataflow: Dataflow = field(repr=False)
    backend: Backend = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON and for the picture."""
        return {
            "schema": SCHEMA,
            "network": self.network,
            "platform": self.platform,
            "fpgas": self.fpgas,
            "costs": self.costs,
            "clock_mhz": self.clock_mhz,
            "budget": self.budget.as_dict(),
            "silicon": self.silicon.as_dict(),
            "bound_cycles": self.bound_cycles,
            "fronts": [
                {
                    "objective": front.objective,
                    "seconds": round(front.seconds, 3),
                    "points": [self._point(front.objective, point) for point in front.points],
                }
                for front in self.fronts
            ],
        }

    def _point(self, objective: str, point: Point) -> dict[str, Any]:
        folding = point.folding
        return {
            "interval_cycles": point.interval_cycles,
            "frames_per_s": self.clock_mhz * 1e6 / point.interval_cycles,
            "status": point.status,
            "reason": point.reason,
            "value": _amount(objective, point.value),
            "bound": _amount(objective, point.bound),
            "gap": point.gap,
            "folding_cycles": None if folding is None else folding.interval_cycles,
            "resources": None if folding is None else folding.resources.as_dict(),
        }


def _amount(objective: str, value: float | None) -> float | int | None:
    """Write units of a resource as the whole numbers that they are."""
    return value if value is None or objective == SCARCITY else round(value)


def pareto(
    request: Request,
    resources: Sequence[str] = (),
    points: int = POINTS,
    progress: Progress = SILENT,
    *,
    solve: Solve = fold_at_interval,
    source: Source | None = None,
) -> Pareto:
    """Find the fronts of these ``resources``, all that the platform has if none is named, and that of the scarcity.

    Every folding keeps all limits of the platform, summed; the request's rate and objective do not count.

    Raises InputError if a resource is unknown or the platform has none of it, or if the number of FPGAs is ``auto``;
    InfeasibleError if no interval is possible, or an engine fits no slot; LimitError if the solver found no folding at
    any interval, and did not prove that there is none.
    """
    with progress.stage("reading"):
        context = _context(request, resources, source)
    objectives = _objectives(context, resources)
    with progress.stage("shortest interval"):
        first = Bounds(context.problem).interval_cycles()
    if first is None:
        raise _impossible(context)
    with progress.stage("fronts"):
        front_of_each = fronts(context.problem, objectives, first, points, progress=progress, solve=solve)
    _require_some(context, front_of_each)
    return Pareto(
        network=context.dataflow.name,
        platform=context.platform.name,
        fpgas=len(context.platform.fpgas),
        costs=context.costs.name,
        clock_mhz=context.platform.clock_mhz,
        budget=context.problem.budget,
        silicon=context.problem.silicon,
        bound_cycles=first,
        fronts=front_of_each,
        dataflow=context.dataflow,
        backend=context.backend,
    )


def _context(request: Request, resources: Sequence[str], source: Source | None) -> PlanningContext:
    request = settled(request)
    fpgas = request.fixed_fpgas("pareto")
    require_resources(resources, "--resources")
    return prepare(source or read(request), request.changed(objective=None, fps=None), fpgas)


def _objectives(context: PlanningContext, resources: Sequence[str]) -> list[str]:
    """Return the scarcity and the resources that were asked for, in the order of `OBJECTIVES`."""
    have = context.problem.silicon.as_dict()
    for name in resources:
        if not have[name]:
            board = context.platform.name
            raise InputError(f"--resources: {board} has no {name}", hint=f"leave {name} out, or take another board")
    wanted = set(resources) or {name for name in RESOURCE_NAMES if have[name]}
    return [name for name in OBJECTIVES if name == SCARCITY or name in wanted]


def _require_some(context: PlanningContext, fronts: Sequence[Front]) -> None:
    """Refuse fronts without a single folding."""
    statuses = {point.status for front in fronts for point in front.points}
    if statuses == {"infeasible"}:
        raise _impossible(context)
    if not statuses & {"optimal", "feasible"}:
        raise LimitError(
            f"no folding of {context.dataflow.name} on {context.platform.name} found within the solver's limit, "
            "though none is proven impossible",
            hint="try a higher --cap or more --fpgas",
        )


def _impossible(context: PlanningContext) -> InfeasibleError:
    problem = context.problem
    longest = problem.intervals()[-1]
    answer, short = fold_at_interval(problem, longest), shortage(problem, longest)
    return InfeasibleError(
        f"proven infeasible: {context.dataflow.name} does not fit {context.platform.name} at any interval: {answer} "
        f"in all slots together" + (f"; {short}" if short else ""),
        hint="a higher --cap, more --fpgas, a larger platform or a narrower network",
    )
