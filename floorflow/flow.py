"""The table of contents: from a model file to a finished bundle of files, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from floorflow.backends.finn.config.folding_file import with_given_folding
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.given_folding import given_folding_groups
from floorflow.backends.finn.options import finn_options
from floorflow.backends.finn.read.source import Source, read_source
from floorflow.channels import couplings
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.emit import bundle
from floorflow.folding import FoldingProblem, fitting
from floorflow.hardware import Platform, load_platform
from floorflow.network import FloatBits
from floorflow.record import record
from floorflow.request import Request
from floorflow.resources import total
from floorflow.schema import Plan
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
            files = bundle(result, context.platform)
        return Outcome(result, context.platform, files)

    try:
        return outcome(found)
    except KeyboardInterrupt:
        if found.interrupted:
            raise
        return outcome(replace(found, interrupted=True))


def read(request: Request) -> Source:
    """Read the request's model as its back end does."""
    asked = finn_options(request)
    return read_source(request.model, FloatBits(asked.weight_bits, asked.activation_bits))


def prepare(source: Source, request: Request, fpgas: int, measured: Measurements = NO_MEASUREMENTS) -> PlanningContext:
    """Lower the model, price every engine's foldings, or the one to be kept, and keep those that fit some slot."""
    platform = load_platform(request.platform, fpgas, request.clock_mhz, request.link, request.topology)
    technology = platform.fpgas[0].device.technology
    asked = finn_options(request)
    dataflow = source.lower(technology, asked.label_select, asked.finn)
    if request.folding is not None:
        dataflow = with_given_folding(dataflow, request.folding, technology)
    costs = CostTable(technology, asked.costs, asked.runtime_weights, asked.finn, asked.styles_are_open)
    limits, largest = slot_limits(platform, request), largest_pblocks(platform, request)
    places = [(slot, limits[slot].least(room)) for slot, held in largest.items() for room in held]
    longest = longest_interval(platform, request)
    carried = request.folding is None
    priced = given_folding_groups(dataflow, costs, carried=carried) if request.keep_folding else costs.groups(dataflow)
    groups = tuple(fitting(group, places, longest) for group in measured.repriced(dataflow, priced))
    channels = couplings(dataflow, groups, costs)
    paths = dataflow.engine_pairs if request.goal == "latency" else None
    problem = FoldingProblem(groups, total(limits.values()), platform.silicon, channels, paths)
    return PlanningContext(dataflow, platform, request, costs, problem, solvers_of(request, dataflow, costs), largest)
