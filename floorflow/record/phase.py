"""A phase of the Plan: folding, modules, partition, floorplans and estimates of a finished design."""

from __future__ import annotations

from collections.abc import Collection

from floorflow.backends.finn.rates.start_up import expected_interval
from floorflow.channels.cost_allocation import modules_between
from floorflow.hardware import Device, Fpga, Rect, anchor, ranges
from floorflow.placement import PlacementSolution
from floorflow.record import likelihood, streams
from floorflow.record.throughput import timing_of
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
from floorflow.search.candidate import Design, Setting, hops_of, slot_demands
from floorflow.search.search import Found


def phase(setting: Setting, found: Found, measured: Collection[str] = ()) -> PhaseEntry:
    """Return the one phase of a plan in which nothing is swapped; ``measured`` engines are no estimates."""
    design = found.design
    rectangles = {name: r for solution in found.placements.values() for name, r in solution.rectangles.items()}
    channels = streams.channels(setting, design)
    return PhaseEntry(
        folding=_folding(design, found.whole_budget_bound),
        channels=channels,
        modules=[
            ModuleEntry(
                name=m.name,
                engines=list(m.engines),
                implementation=m.name,
                reused=False,
                resources=amounts(design.demands[m.name]),
            )
            for m in design.modules
        ],
        implementations=[_implementation(m.name, design, rectangles[m.name]) for m in design.modules],
        partition=_partition(setting, design),
        floorplan={f.name: _floorplan(f, design, found.placements[f.name]) for f in setting.platform.fpgas},
        estimates=_estimates(setting, design, channels, measured),
    )


def _folding(design: Design, whole_budget_bound: float | None) -> FoldingEntry:
    engines = {}
    for name, option in design.folded.options.items():
        chosen = {plan_attribute(key): plain(value) for key, value in option.folding.items()}
        entry = {"cycles": option.cycles, "resources": option.resources.as_dict(), **chosen}
        engines[name] = FoldedEntry.model_validate(entry)
    folding = design.folding
    return FoldingEntry(
        engines=engines,
        cycles=design.interval_cycles,
        resources=amounts(folding.resources),
        budget=amounts(folding.budget),
        stats=statistics(folding.stats),
        whole_budget_bound=whole_budget_bound,
    )


def _implementation(module: str, design: Design, rectangle: Rect) -> ImplementationEntry:
    ends = modules_between(design.modules, design.channels)
    ports = []
    for channel in design.channels:
        source, target = ends[channel.name]
        if source != target and module in (source, target):
            entry = {
                "channel": channel.name,
                "direction": "out" if source == module else "in",
                "width_bits": channel.width_bits,
            }
            ports.append(PortEntry.model_validate(entry))
    return ImplementationEntry(name=module, window={"columns": rectangle.columns, "rows": rectangle.rows}, ports=ports)


def _partition(setting: Setting, design: Design) -> PartitionEntry:
    demands = slot_demands(design)
    frames_per_s = _frames_per_s(setting, design)
    return PartitionEntry(
        assignment=dict(design.slot_of),
        utilisation={slot.name: _shares(demands[slot.name], slot.available) for slot in setting.platform.slots},
        crossings=streams.crossings(setting, design, frames_per_s),
        loads=streams.loads(setting, design, frames_per_s),
        cost=design.problem.cost(design.partition.slot_of),
        stats=statistics(design.partition.stats),
    )


def _shares(demand: Resources, available: Resources) -> dict[str, float]:
    pairs = zip(RESOURCE_NAMES, demand.as_tuple(), available.as_tuple(), strict=True)
    return {name: need / have if have else 0.0 for name, need, have in pairs}


def _floorplan(fpga: Fpga, design: Design, placement: PlacementSolution) -> FloorplanEntry:
    here = [m.name for m in design.modules if m.name in placement.rectangles]
    return FloorplanEntry(
        pblocks={name: _pblock(name, fpga.device, design, placement.rectangles[name]) for name in here},
        hpwl=placement.hpwl,
        congestion=dict(placement.congestion),
        stats=statistics(placement.stats),
    )


def _pblock(module: str, device: Device, design: Design, rect: Rect) -> PblockEntry:
    return PblockEntry(
        slot=design.slot_of[module],
        rectangle=rectangle(rect),
        ranges=list(ranges(device, rect)),
        anchor=anchor(device, rect),
        demand=amounts(design.demands[module]),
        supply=amounts(device.resources(rect)),
    )


def _frames_per_s(setting: Setting, design: Design) -> float:
    return setting.platform.clock_mhz * 1e6 / design.interval_cycles


def _estimates(
    setting: Setting, design: Design, channels: list[ChannelEntry], measured: Collection[str]
) -> EstimatesEntry:
    clock_mhz = setting.platform.clock_mhz
    options = design.folded.options
    calibrated = setting.request.costs == "calibrated"
    return EstimatesEntry(
        clock_mhz=clock_mhz,
        cycles=design.interval_cycles,
        fps=_frames_per_s(setting, design),
        latency_us=_latency_us(setting, design),
        bottleneck=next(name for name, option in options.items() if option.cycles == design.interval_cycles),
        expected_cycles=expected_interval(design.folded),
        timing=timing_of(setting, design),
        bands=likelihood.bands(design, channels, measured) if calibrated else {},
        fits=likelihood.fits(setting, design, channels, measured) if calibrated else {},
    )


def _latency_us(setting: Setting, design: Design) -> float:
    """Return FINN's critical path: engine cycles summed along the longest path, and the latency of links on it."""
    link_us = {link.name: link.latency_us for link in setting.platform.links}
    ends = modules_between(design.modules, design.channels)
    done_us: dict[str, float] = {}
    latest_us = 0.0
    order = {engine.name: i for i, engine in enumerate(design.folded.dataflow.engines)}
    for channel in sorted(design.channels, key=lambda c: order.get(c.stream.source, -1)):
        source, target = channel.stream.source, channel.stream.target
        way = hops_of(setting, design.slot_of, ends[channel.name])
        arrival_us = done_us.get(source, 0.0) + sum(link_us[hop.link] for hop in way if hop.link is not None)
        if target in order:
            cycles_us = design.folded.options[target].cycles / setting.platform.clock_mhz
            done_us[target] = max(done_us.get(target, 0.0), arrival_us + cycles_us)
        latest_us = max(latest_us, arrival_us)
    return max(latest_us, *done_us.values())
