"""The table of contents: from a model file to a finished bundle of files, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from floorflow.backends.backend import Source, Unplaced
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.emit import bundle, plan_digest
from floorflow.facts import Extras, Plan
from floorflow.facts.resource_plan import RESOURCE_PLAN_FILE, ResourcePlan, resource_report
from floorflow.record import Outcome, record
from floorflow.record.at_memory import record_at_memory
from floorflow.record.in_time import record_in_regions, record_in_time
from floorflow.record.on_resources import finished_partitions, record_on_resources
from floorflow.record.run import cut_short, record_extras
from floorflow.record.several import record_several
from floorflow.request import Objective, Request
from floorflow.search.candidate.asked import settled
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare, priced, read
from floorflow.search.candidate.progress import SILENT, Progress, part_of
from floorflow.search.interval.search import SearchResult
from floorflow.search.many.at_memory import networks_at_memory, search_at_memory
from floorflow.search.many.in_regions import InRegions, search_in_regions
from floorflow.search.many.on_resources import search_on_resources
from floorflow.search.many.phases import InPhases, search_in_time
from floorflow.search.many.several import Networks, SeveralFound, networks_of, search_several
from floorflow.search.policy.bargains import Again, extras
from floorflow.search.policy.fewest_hops import search_nearest
from floorflow.search.policy.fpga_count import least_fpgas
from floorflow.search.policy.host_weights import search_sparing
from floorflow.search.policy.lifting import search_lifting
from floorflow.several import SeveralRequest
from floorflow.stats import Work, counted

Made = TypeVar("Made")


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
    with counted() as work:
        return _planned(request, progress, measured, source, work)


def _planned(
    request: Request, progress: Progress, measured: Measurements, source: Source | None, work: Work
) -> Outcome:
    request.require_files(model=source is None)
    request = settled(request)
    with progress.stage("reading"):
        model = source or read(request)
    if request.reconfigure != "none":
        return _plan_in_time(request, model, measured, progress, work)

    def prepared(asked: Request, fpgas: int, progress: Progress = SILENT) -> PlanningContext:
        with progress.stage("lowering"):
            return prepare(model, asked, fpgas, measured)

    def searched(context: PlanningContext, progress: Progress = SILENT) -> SearchResult:
        fpgas = len(context.platform.fpgas)
        asked = context.request
        # A bargain that the fastest design alone would meet is none, and to find that out takes a search of its own.
        falls_back = asked.fps is not None and context.floorplans
        at_any_rate = partial(prepared, asked.changed(fps=None), fpgas, progress) if falls_back else None
        one = partial(_searched_once, progress=progress, at_any_rate=at_any_rate)
        return search_lifting(context, one)

    prepare_now, search_now = partial(prepared, progress=progress), partial(searched, progress=progress)
    context, found, tried = least_fpgas(request, prepare_now, search_now, progress)

    def recorded() -> Plan:
        progress.best(found.candidate.interval_cycles, max(found.bound_cycles, found.joint_bound_cycles or 0))
        return record(model, context, found, tried, measured)

    made = _outcome(context, recorded, progress, interrupted=found.interrupted)
    return _with_extras(made, context, found, work.spent, Again(prepared, searched))


def _outcome(
    context: PlanningContext, recorded: Callable[[], Plan], progress: Progress, *, interrupted: bool
) -> Outcome:
    """Return what was recorded, with its files."""

    def made(interrupted: bool) -> Outcome:
        result = cut_short(recorded()) if interrupted else recorded()
        return Outcome(result, context.platform, bundle(result, context.platform, context.backend))

    return _recorded(made, progress, interrupted=interrupted)


def _recorded(make: Callable[[bool], Made], progress: Progress, *, interrupted: bool) -> Made:
    """Record what was found, marked if its search was ``interrupted``.

    A signal meanwhile has it recorded once more, and marked, for it is final and that is short; another goes through.
    """
    try:
        with progress.stage("recording"):
            return make(interrupted)
    except KeyboardInterrupt:
        if interrupted:
            raise
        return _recorded(make, progress, interrupted=True)


def _with_extras(
    made: Outcome, context: PlanningContext, found: SearchResult, most_work: float, again: Again | None = None
) -> Outcome:
    """Return how the extras of a plan are worked out, too, by at most so much work; an interrupted one has none."""

    def work_out(progress: Progress) -> Extras | None:
        beside = extras(context, found, most_work, progress, again)
        return None if beside is None else record_extras(beside, plan_digest(made.files))

    return made if made.plan.interrupted else replace(made, extras=work_out)


def _searched_once(
    context: PlanningContext, *, progress: Progress, at_any_rate: Callable[[], PlanningContext] | None = None
) -> SearchResult:
    """Search under the limits as they are: streams that go near, with few engines for the host to write."""
    one = partial(search_nearest, progress=progress, at_any_rate=at_any_rate)
    return search_sparing(context, search=one, progress=progress)


def plan_several(
    request: SeveralRequest, progress: Progress = SILENT, sources: Sequence[Source | None] = ()
) -> Outcome:
    """Plan several networks on a platform together; ``sources``: those that were read before, else None.

    Each is lowered and priced as if it were alone; one search folds, cuts and places the engines of all.
    """
    request, models = _read_several(request, sources, progress)
    if request.shares_memory:
        return _plan_at_memory(request, models, progress)
    known: dict[int, Networks] = {}
    made: list[SeveralFound] = []

    def prepared(asked: Request, fpgas: int) -> PlanningContext:
        with progress.stage("lowering"):
            known[fpgas] = networks_of(request.like(asked), models, fpgas)
            return known[fpgas].at_least()

    def searched(context: PlanningContext) -> SearchResult:
        one = partial(_searched_once, progress=part_of(progress))
        networks = known[len(context.platform.fpgas)]
        made.append(search_several(networks, partial(search_lifting, search=one), one, progress))
        return made[-1].result

    _, _, tried = least_fpgas(request.shared, prepared, searched, progress)
    found = made[-1]
    recorded = partial(record_several, models, found, tried)
    return _outcome(found.context, recorded, progress, interrupted=found.result.interrupted)


def _read_several(
    request: SeveralRequest, sources: Sequence[Source | None], progress: Progress
) -> tuple[SeveralRequest, list[Source]]:
    """Return the request with what its platform's file says, and the models."""
    known = sources or [None] * len(request.each)
    for one, source in zip(request.each, known, strict=True):
        one.require_files(model=source is None)
    request = request.like(settled(request.shared))
    with progress.stage("reading"):
        return request, [source or read(one) for one, source in zip(request.each, known, strict=True)]


def _plan_at_memory(request: SeveralRequest, models: Sequence[Source], progress: Progress) -> Outcome:
    """Plan engines that share the external memory: chosen together, scheduled, and placed as any other."""
    with progress.stage("lowering"):
        networks, wishes = networks_at_memory(request, models)
    one = partial(search_lifting, search=partial(_searched_once, progress=part_of(progress)))
    found = search_at_memory(request, networks, wishes, one, progress)
    placed, recorded = found.placed, partial(record_at_memory, models, found)
    made = _outcome(placed.context, recorded, progress, interrupted=placed.result.interrupted)
    return replace(made, seconds=found.choice.seconds)


def plan_on_resources(
    request: Request, progress: Progress = SILENT, source: Source | None = None
) -> tuple[ResourcePlan, dict[str, str]]:
    """Cut and fold a network for a platform of resources alone; return the plan, and all files but pictures."""
    request.require_files(model=source is None)
    with progress.stage("reading"):
        model = source or read(request)
    found = search_on_resources(request, model, progress)

    def made(interrupted: bool) -> tuple[ResourcePlan, dict[str, str]]:
        whole, parts = finished_partitions(found)
        result = record_on_resources(request, model, replace(found, interrupted=interrupted), whole, parts)
        files = {RESOURCE_PLAN_FILE: result.to_json(), "report.txt": resource_report(result)}
        for number, part in enumerate(parts):
            depths = {channel.name: channel.fifo_depth_words for channel in part.channels}
            about = result.platform.part, result.options.clock_mhz, request.backend_options
            own = found.whole.backend.unplaced_files(Unplaced(part.folded, result.network.name, number, depths, *about))
            files |= {f"phases/{part.name}/{name}": text for name, text in own.items()}
        return result, files

    return _recorded(made, progress, interrupted=found.interrupted)


def _plan_in_time(request: Request, model: Source, measured: Measurements, progress: Progress, work: Work) -> Outcome:
    """Plan partitions that one FPGA runs one after another: cut in time, and search for each partition."""

    def searched(context: PlanningContext) -> SearchResult:
        return search_lifting(context, partial(_searched_once, progress=part_of(progress)))

    with progress.stage("lowering"):
        whole = priced(model, request, 1, measured)
    found: InPhases | InRegions
    objective: Objective = "latency" if request.objective == "latency" else "throughput"
    about: tuple[Objective, int, Measurements] = (objective, request.frames, measured)
    if request.reconfigure == "partial":
        found = in_regions = search_in_regions(whole, searched, progress)
        recorded = partial(record_in_regions, model, in_regions, *about)
    else:
        found = in_time = search_in_time(whole, searched, progress)
        recorded = partial(record_in_time, model, in_time, *about)
    made = _outcome(found.whole, recorded, progress, interrupted=found.interrupted)
    slowest = max(found.phases, key=lambda phase: phase.result.candidate.interval_cycles)
    return _with_extras(made, slowest.context, slowest.result, work.spent)
