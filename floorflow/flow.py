"""The table of contents: from a model file to a finished bundle of files, by mode."""

from collections.abc import Callable, Sequence
from functools import partial

from floorflow.backends.backend import Source
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.errors import required
from floorflow.facts.resource_plan import ResourcePlan
from floorflow.modes.answer import Question
from floorflow.modes.copies import copies
from floorflow.modes.in_time import in_regions, in_time, on_resources
from floorflow.modes.networks import at_memory, one_network, several_networks
from floorflow.modes.run import ModeResult, Run, recorded, with_extras
from floorflow.output.cache import cache_in
from floorflow.record.run import PlanWithFiles
from floorflow.request import Request
from floorflow.search.candidate.preparing import read, require_one_design, settled
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.several import SeveralRequest
from floorflow.solver import workers
from floorflow.stats import counted, kept_by

ONE = {"none": one_network, "full": in_time, "partial": in_regions}
"""Modes of one network, by how its device is loaded anew."""
SEVERAL = {False: several_networks, True: at_memory}
"""Modes of several, by whether they share the external memory."""


def plan(
    request: Request,
    progress: Progress = SILENT,
    measured: Measurements = NO_MEASUREMENTS,
    source: Source | None = None,
    *,
    searched: Callable[[], object] = int,
    anew: bool = False,
) -> PlanWithFiles:
    """Plan a network on a platform: read (unless ``source`` was), lower, cost, search, record, emit.

    ``searched`` is called when the search has ended. ``anew``: though the whole answer may be kept (`--cache`).

    The search goes round the stages between: fold, connect, cluster, partition (`candidate.complete`), place
    (`repairs`). Ctrl-C ends it with the best legal plan known, marked as interrupted, or is raised.
    """
    with kept_by(cache := cache_in(request.cache)), workers(request.jobs):
        request.require_files(model=source is None)
        request = settled(request)
        run = Run(_read([request], [source], progress), request, progress, measured)
        asked = Question(cache, run, [request])
        answer = None if anew else asked.answer()
        if answer is None:
            with counted() as work:
                found = (copies if request.has_copies else ONE[request.reconfigure])(run)
                searched()
                answer = recorded(found, progress)
            if isinstance(found, ModeResult) and isinstance(answer, PlanWithFiles):
                answer = with_extras(answer, found, work.spent)
            asked.keep(answer)
        searched()
        again = partial(plan, request, measured=measured, source=run.models[0], anew=True)
        return asked.with_extras(required(answer), again)


def plan_several(
    request: SeveralRequest,
    progress: Progress = SILENT,
    sources: Sequence[Source | None] = (),
    *,
    searched: Callable[[], object] = int,
) -> PlanWithFiles:
    """Plan several networks on a platform together; ``sources``: those that were read before, else None."""
    known = sources or [None] * len(request.each)
    for one, source in zip(request.each, known, strict=True):
        one.require_files(model=source is None)
    require_one_design(request.shared, 1, len(request.each))
    request = request.like(settled(request.shared))
    with kept_by(cache := cache_in(request.shared.cache)), workers(request.shared.jobs):
        run = Run(_read(request.each, known, progress), request.shared, progress)
        asked = Question(cache, run, request.each, request.own)
        answer = asked.answer()
        if answer is None:
            found = SEVERAL[request.shares_memory](run, request)
            searched()
            answer = recorded(found, progress)
            asked.keep(answer)
        searched()
        return required(answer)


def plan_on_resources(
    request: Request, progress: Progress = SILENT, source: Source | None = None
) -> tuple[ResourcePlan, dict[str, str]]:
    """Cut and fold a network for a platform of resources alone; return the plan, and all files but pictures."""
    request.require_files(model=source is None)
    run = Run(_read([request], [source], progress), request, progress)
    made = recorded(on_resources(run), progress)
    return required(made)


def _read(requests: Sequence[Request], sources: Sequence[Source | None], progress: Progress) -> list[Source]:
    """Return the models, those that were not read before as far as their back ends can."""
    with progress.stage("reading"):
        return [source or read(request) for request, source in zip(requests, sources, strict=True)]
