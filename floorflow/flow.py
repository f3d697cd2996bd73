"""The table of contents: from a model file to a finished bundle of files, stage by stage."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from floorflow.backends.finn import CostTable, lower
from floorflow.design import Setting, largest_pblocks, longest_interval, slot_limits
from floorflow.emit import emit
from floorflow.folding import FoldingProblem, fitting
from floorflow.network import Network, read
from floorflow.outcome import Outcome
from floorflow.plan import Plan
from floorflow.record import record
from floorflow.request import Request
from floorflow.resources import total
from floorflow.search import INTERRUPTED, search
from floorflow.sizing import least_fpgas
from floorflow.target import Platform, load_platform


def plan(request: Request, progress: Callable[[str], None] = lambda _: None) -> Outcome:
    """Plan a network on a platform: read, lower, cost, search (fold ... place), record, emit, view."""
    network = read(request.model)
    setting, found, tried = least_fpgas(
        request, lambda fpgas: prepare(network, request, fpgas), lambda setting: search(setting, progress), progress
    )
    result = record(network, setting, found, tried)
    files = bundle(result, setting.platform)
    interrupted = found.ended_by == INTERRUPTED
    progress("drawing pictures")
    try:
        files |= render_if(result, setting.platform, wanted=request.plots and not interrupted)
    except KeyboardInterrupt:
        interrupted = True
    return Outcome(result, files, interrupted)


def prepare(network: Network, request: Request, fpgas: int) -> Setting:
    """Lower the network, price every engine's foldings and keep those that fit some slot."""
    platform = load_platform(request.platform, fpgas, request.clock_mhz)
    technology = platform.fpgas[0].device.technology
    dataflow = lower(network, technology, label_select=request.label_select)
    costs = CostTable(technology, request.costs, request.runtime_weights)
    limits, largest = slot_limits(platform, request), largest_pblocks(platform, request)
    places = [(slot, limits[slot].least(room)) for slot, held in largest.items() for room in held]
    longest = longest_interval(platform, request)
    groups = tuple(fitting(group, places, longest) for group in costs.groups(dataflow))
    problem = FoldingProblem(groups, total(limits.values()), platform.silicon)
    return Setting(dataflow, platform, request, costs, problem, largest)


def bundle(result: Plan, platform: Platform) -> dict[str, str | bytes]:
    """Return every file of the output folder but pictures and run.json."""
    text = result.to_json()
    files: dict[str, str | bytes] = {"plan.json": text}
    files |= {f"platform/{name}": content for name, content in platform.files.items()}
    return files | emit(result, platform, hashlib.sha256(text.encode()).hexdigest())


def render_if(result: Plan, platform: Platform, *, wanted: bool) -> dict[str, bytes]:
    """Return the pictures; matplotlib, slow to import, is loaded only here."""
    if not wanted:
        return {}
    from floorflow.view import render

    return render(result.model_dump(by_alias=True), platform)
