"""Partitions that a device runs one after another: the whole device anew, regions of it, or by resources alone."""

from collections.abc import Callable
from dataclasses import replace

from floorflow.backends.backend import Unplaced
from floorflow.dataflow.measured import Measurements
from floorflow.errors import Refused
from floorflow.facts import Extras, Plan
from floorflow.facts.resource_plan import RESOURCE_PLAN_FILE, ResourcePlan, resource_report
from floorflow.modes.run import ModeResult, Run, with_files
from floorflow.record.in_time import record_in_regions, record_in_time
from floorflow.record.on_resources import finished_partitions, record_on_resources
from floorflow.record.run import PlanWithFiles
from floorflow.request import Objective
from floorflow.search.candidate.preparing import Priced, priced
from floorflow.search.candidate.progress import Progress, part_of
from floorflow.search.many.in_regions import InRegions, search_in_regions
from floorflow.search.many.on_resources import search_on_resources
from floorflow.search.many.phases import InPhases, search_in_time
from floorflow.search.policy.other_requests import extras
from floorflow.search.policy.relaxation import searched_under


def in_time(run: Run) -> ModeResult[PlanWithFiles] | Refused:
    """Cut a network in time for a device that is loaded anew, and search for each partition."""
    found = search_in_time(_lowered(run), searched_under(part_of(run.progress)), run.progress)
    if isinstance(found, Refused):
        return found
    return _in_phases(found, lambda: record_in_time(run.models[0], found, *_about(run)))


def in_regions(run: Run) -> ModeResult[PlanWithFiles] | Refused:
    """Cut a network in time for regions that are loaded in turn, and search for each partition."""
    found = search_in_regions(_lowered(run), searched_under(part_of(run.progress)), run.progress)
    if isinstance(found, Refused):
        return found
    return _in_phases(found, lambda: record_in_regions(run.models[0], found, *_about(run)))


def _lowered(run: Run) -> Priced:
    with run.progress.stage("lowering"):
        return priced(run.models[0], run.request, 1, run.measured)


def _about(run: Run) -> tuple[Objective, int, Measurements]:
    objective: Objective = "latency" if run.request.objective == "latency" else "throughput"
    return objective, run.request.frames, run.measured


def _in_phases(found: InPhases | InRegions, recorded: Callable[[], Plan]) -> ModeResult[PlanWithFiles]:
    slowest = max(found.phases, key=lambda phase: phase.result.candidate.interval_cycles)

    def beside(plan_sha256: str, most_work: float, progress: Progress) -> Extras | Refused | None:
        return extras(plan_sha256, slowest.context, slowest.result, most_work, progress)

    return ModeResult(with_files(found.whole, recorded), found.interrupted, beside)


def on_resources(run: Run) -> ModeResult[tuple[ResourcePlan, dict[str, str]]] | Refused:
    """Cut and fold a network for a platform of resources alone; all files but pictures come with the plan."""
    (model,), request = run.models, run.request
    found = search_on_resources(request, model, run.progress)
    if isinstance(found, Refused):
        return found

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

    return ModeResult(made, found.interrupted)
