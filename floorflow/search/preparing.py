"""What a search begins with: the model read, lowered and priced on the platform that was asked for."""

from __future__ import annotations

from floorflow.backends.backend import Source, backend_named
from floorflow.channels import couplings
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.folding import FoldingProblem, fitting
from floorflow.request import Request
from floorflow.resources import total
from floorflow.search.asked import platform_of
from floorflow.search.context import PlanningContext, largest_pblocks, longest_interval, slot_limits, solvers_of


def read(request: Request) -> Source:
    """Read the request's model, as far as its back end can."""
    return backend_named(request.backend).read(request.model, request.backend_options)


def prepare(source: Source, request: Request, fpgas: int, measured: Measurements = NO_MEASUREMENTS) -> PlanningContext:
    """Lower the model, price every engine's foldings, or the one to be kept, and keep those that fit some slot."""
    platform = platform_of(request, fpgas)
    technology = platform.technology
    backend = backend_named(request.backend)
    dataflow = backend.lower(source, technology, request.backend_options)
    if request.folding is not None:
        dataflow = backend.with_folding(dataflow, request.folding, technology)
    costs = backend.costs(technology, request.backend_options)
    limits, largest = slot_limits(platform, request), largest_pblocks(platform, request)
    places = [(slot, limits[slot].least(room)) for slot, held in largest.items() for room in held]
    longest = longest_interval(platform, request)
    carried = request.folding is None
    keep = request.keep_folding
    priced = backend.given_groups(dataflow, costs, carried=carried) if keep else costs.groups(dataflow)
    groups = tuple(fitting(group, places, longest) for group in measured.repriced(dataflow, priced))
    channels = couplings(dataflow, groups, costs)
    paths = dataflow.engine_pairs if request.goal == "latency" else None
    problem = FoldingProblem(groups, total(limits.values()), platform.silicon, channels, paths)
    solvers = solvers_of(request, dataflow, backend, costs)
    return PlanningContext(dataflow, platform, request, backend, costs, problem, solvers, largest)
