"""The table of contents: from a model file to a finished bundle of files, stage by stage."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from floorflow.backends.finn import CostTable, lower
from floorflow.design import Setting
from floorflow.emit import emit
from floorflow.folding import FoldingProblem, fitting
from floorflow.network import read
from floorflow.plan import Plan
from floorflow.record import record
from floorflow.request import Request, limited
from floorflow.resources import Resources, total
from floorflow.search import search
from floorflow.target import Platform, load_platform, rooms


@dataclass(frozen=True)
class Outcome:
    """A plan and every file of its output folder, by relative path."""

    plan: Plan
    files: dict[str, str | bytes]


def plan(request: Request, progress: Callable[[str], None] = lambda _: None) -> Outcome:
    """Plan one network on one platform: read, lower, cost, search (fold ... place), record, emit, view."""
    network = read(request.model)
    platform = load_platform(request.platform, clock_mhz=request.clock_mhz)
    technology = platform.fpgas[0].device.technology
    dataflow = lower(network, technology, label_select=request.label_select)
    costs = CostTable(technology, request.costs, request.runtime_weights)

    limits = slot_limits(platform, request)
    largest = largest_pblocks(platform, request)
    places = [(slot, limits[slot].least(room)) for slot, held in largest.items() for room in held]
    longest = longest_interval(platform, request)
    groups = tuple(fitting(group, places, longest) for group in costs.groups(dataflow))
    problem = FoldingProblem(groups, total(limits.values()), platform.silicon)
    setting = Setting(dataflow, platform, request, costs, problem, largest)

    found = search(setting, progress)
    result = record(network, setting, found)
    return Outcome(result, bundle(result, platform, plots=request.plots))


def slot_limits(platform: Platform, request: Request) -> dict[str, Resources]:
    """Return what the design may use of each slot: cap x available."""
    return {slot.name: limited(slot.available, request.cap) for slot in platform.slots}


def largest_pblocks(platform: Platform, request: Request) -> dict[str, tuple[Resources, ...]]:
    """Return what the largest pblocks of each slot hold: fill x supply."""
    pairs = [(fpga.device, slot) for fpga in platform.fpgas for slot in fpga.slots]
    return {slot.name: tuple(limited(r, request.fill) for r in rooms(device, slot)) for device, slot in pairs}


def longest_interval(platform: Platform, request: Request) -> int | None:
    """Return the longest interval that reaches ``--fps``, or None if no rate was asked for."""
    if request.fps is None:
        return None
    return int(platform.fpgas[0].board.clock_mhz * 1e6 / (request.fps * (1 - 1e-6)))


def bundle(result: Plan, platform: Platform, *, plots: bool) -> dict[str, str | bytes]:
    """Return every file of the output folder but run.json."""
    text = result.to_json()
    files: dict[str, str | bytes] = {"plan.json": text}
    files |= {f"platform/{name}": content for name, content in platform.files.items()}
    files |= emit(result, platform, hashlib.sha256(text.encode()).hexdigest())
    if plots:
        from floorflow.view import render  # matplotlib is slow to import

        files |= render(result.model_dump(by_alias=True), platform)
    return files
