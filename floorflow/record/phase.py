"""A phase of the Plan: folding, modules, partition, floorplans and estimates of a finished design."""

from __future__ import annotations

from collections.abc import Collection

from floorflow.backends.finn.options import finn_options
from floorflow.backends.finn.rates.start_up import expected_interval
from floorflow.channels.cost_allocation import modules_between
from floorflow.hardware import Device, Fpga, Rect, Route, anchor, ranges
from floorflow.placement import PlacementSolution
from floorflow.record import likelihood, streams
from floorflow.record.throughput import sustained_fps, throughput_of
from floorflow.record.values import amounts, plain, rectangle, statistics
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.schema import (
    ChannelEntry,
    EstimatesEntry,
    FloorplanEntry,
    FoldedEntry,
    FoldingEntry,
    ImplementationEntry,
    ModuleEntry,
    PartitionEntry,
    PblockEntry,
    PhaseEntry,
    PortEntry,
    plan_attribute,
)
from floorflow.search.candidate import Candidate, slot_demands
from floorflow.search.context import PlanningContext
from floorflow.search.search import SearchResult
from floorflow.search.slot_problem import channel_routes


def phase(context: PlanningContext, result: SearchResult, measured: Collection[str] = ()) -> PhaseEntry:
    """Return the one phase of a plan in which nothing is swapped; ``measured`` engines are no estimates."""
    candidate = result.candidate
    rectangles = {name: r for solution in result.placements.values() for name, r in solution.rectangles.items()}
    channels = streams.channels(context, candidate)
    return PhaseEntry(
        folding=_folding(candidate, result.whole_budget_bound),
        channels=channels,
        modules=[
            ModuleEntry(
                name=m.name,
                engines=list(m.engines),
                implementation=m.name,
                reused=False,
                resources=amounts(candidate.demands[m.name]),
            )
            for m in candidate.modules
        ],
        implementations=[_implementation(m.name, candidate, rectangles[m.name]) for m in candidate.modules],
        partition=_partition(context, candidate),
        floorplan={f.name: _floorplan(f, candidate, result.placements[f.name]) for f in context.platform.fpgas},
        estimates=_estimates(context, candidate, channels, measured),
    )


def _folding(candidate: Candidate, whole_budget_bound: float | None) -> FoldingEntry:
    engines = {}
    for name, option in candidate.folded.options.items():
        chosen = {plan_attribute(key): plain(value) for key, value in option.folding.items()}
        entry = {"cycles": option.cycles, "resources": option.resources.as_dict(), **chosen}
        engines[name] = FoldedEntry.model_validate(entry)
    folding = candidate.folding
    return FoldingEntry(
        engines=engines,
        cycles=candidate.interval_cycles,
        resources=amounts(folding.resources),
        budget=amounts(folding.budget),
        stats=statistics(folding.stats),
        whole_budget_bound=whole_budget_bound,
    )


def _implementation(module: str, candidate: Candidate, rectangle: Rect) -> ImplementationEntry:
    ends = modules_between(candidate.modules, candidate.channels)
    ports = []
    for channel in candidate.channels:
        source, target = ends[channel.name]
        if source != target and module in (source, target):
            entry = {
                "channel": channel.name,
                "direction": "out" if source == module else "in",
                "width_bits": channel.width_bits,
            }
            ports.append(PortEntry.model_validate(entry))
    return ImplementationEntry(name=module, window={"columns": rectangle.columns, "rows": rectangle.rows}, ports=ports)


def _partition(context: PlanningContext, candidate: Candidate) -> PartitionEntry:
    demands = slot_demands(candidate)
    frames_per_s = _frames_per_s(context, candidate)
    return PartitionEntry(
        assignment=dict(candidate.slot_of),
        utilisation={slot.name: _shares(demands[slot.name], slot.available) for slot in context.platform.slots},
        crossings=streams.crossings(context, candidate, frames_per_s),
        loads=streams.loads(context, candidate, frames_per_s),
        cost=candidate.problem.cost(candidate.partition.slot_of),
        stats=statistics(candidate.partition.stats),
    )


def _shares(demand: Resources, available: Resources) -> dict[str, float]:
    pairs = zip(RESOURCE_NAMES, demand.as_tuple(), available.as_tuple(), strict=True)
    return {name: need / have if have else 0.0 for name, need, have in pairs}


def _floorplan(fpga: Fpga, candidate: Candidate, placement: PlacementSolution) -> FloorplanEntry:
    placed = [m.name for m in candidate.modules if m.name in placement.rectangles]
    return FloorplanEntry(
        pblocks={name: _pblock(name, fpga.device, candidate, placement.rectangles[name]) for name in placed},
        hpwl=placement.hpwl,
        congestion=dict(placement.congestion),
        stats=statistics(placement.stats),
    )


def _pblock(module: str, device: Device, candidate: Candidate, rect: Rect) -> PblockEntry:
    return PblockEntry(
        slot=candidate.slot_of[module],
        rectangle=rectangle(rect),
        ranges=list(ranges(device, rect)),
        anchor=anchor(device, rect),
        demand=amounts(candidate.demands[module]),
        supply=amounts(device.resources(rect)),
    )


def _frames_per_s(context: PlanningContext, candidate: Candidate) -> float:
    return context.platform.clock_mhz * 1e6 / candidate.interval_cycles


def _estimates(
    context: PlanningContext, candidate: Candidate, channels: list[ChannelEntry], measured: Collection[str]
) -> EstimatesEntry:
    clock_mhz = context.platform.clock_mhz
    options = candidate.folded.options
    calibrated = finn_options(context.request).costs == "calibrated"
    timed = throughput_of(context, candidate)
    return EstimatesEntry(
        clock_mhz=clock_mhz,
        cycles=candidate.interval_cycles,
        fps=_frames_per_s(context, candidate),
        sustained_fps=sustained_fps(timed, clock_mhz),
        latency_us=_latency_us(context, candidate),
        bottleneck=next(name for name, option in options.items() if option.cycles == candidate.interval_cycles),
        expected_cycles=expected_interval(candidate.folded),
        throughput=timed,
        bands=likelihood.bands(candidate, channels, measured) if calibrated else {},
        fits=likelihood.fits(context, candidate, channels, measured) if calibrated else {},
    )


def _latency_us(context: PlanningContext, candidate: Candidate) -> float:
    """Return FINN's critical path: engine cycles summed along the longest path, and the latency of links on it."""
    routes = channel_routes(context, candidate.modules, candidate.channels, candidate.slot_of)
    done_us: dict[str, float] = {}
    latest_us = 0.0
    order = {engine.name: i for i, engine in enumerate(candidate.folded.dataflow.engines)}
    for channel in sorted(candidate.channels, key=lambda c: order.get(c.stream.source, -1)):
        source, target = channel.stream.source, channel.stream.target
        arrival_us = done_us.get(source, 0.0) + routes.get(channel.name, Route()).latency_us
        if target in order:
            cycles_us = candidate.folded.options[target].cycles / context.platform.clock_mhz
            done_us[target] = max(done_us.get(target, 0.0), arrival_us + cycles_us)
        latest_us = max(latest_us, arrival_us)
    return max(latest_us, *done_us.values())
