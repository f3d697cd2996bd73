"""The table of contents: from a model file to a finished bundle of files, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from floorflow.backends.backend import Source, backend_named
from floorflow.channels import couplings
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.emit import bundle
from floorflow.folding import FoldingProblem, fitting
from floorflow.hardware import Platform
from floorflow.record import record
from floorflow.request import Request
from floorflow.resources import total
from floorflow.schema import Plan
from floorflow.search.asked import platform_of, settled
from floorflow.search.context import PlanningContext, largest_pblocks, longest_interval, slot_limits, solvers_of
from floorflow.search.fpga_count import least_fpgas
from floorflow.search.progress import SILENT, Progress
from floorflow.search.search import SearchResult, search


@dataclass(frozen=True)
class Outcome:
    """A plan on its platform, and its files, content by relative path; pictures and run.json come with the API."""

    plan: Plan
    platform: Platform
    files: dict[str, str | bytes]


def plan(
    request: Request,
    progress: Progress = SILENT,
    measured: Measurements = NO_MEASUREMENTS,
    source: Source | None = None,
) -> Outcome:
    """Plan a network on a platform: read (unless ``source`` was), lower, cost, search, record, emit.

    `search` goes round the stages between: fold, connect, cluster, partition (`candidate.complete`), place (`repairs`).
    Ctrl-C ends it with the best legal plan known, marked as interrupted, or is raised.
    """
    request.require_files(model=source is None)
    request = settled(request)
    with progress.stage("reading"):
        model = source or read(request)

    any_rate = request.changed(fps=None) if request.fps is not None else None

    def prepared(asked: Request, fpgas: int) -> PlanningContext:
        with progress.stage("lowering"):
            return prepare(model, asked, fpgas, measured)

    def searched(context: PlanningContext) -> SearchResult:
        fpgas = len(context.platform.fpgas)
        return search(context, progress, None if any_rate is None else partial(prepared, any_rate, fpgas))

    context, found, tried = least_fpgas(request, prepared, searched, progress)

    def outcome(found: SearchResult) -> Outcome:
        with progress.stage("recording"):
            result = record(model, context, found, tried, measured)
            files = bundle(result, context.platform, context.backend)
        return Outcome(result, context.platform, files)

    try:
        return outcome(found)
    except KeyboardInterrupt:
        if found.interrupted:
            raise
        return outcome(replace(found, interrupted=True))


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
