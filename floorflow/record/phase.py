"""A phase of the Plan, put together from its networks: modules, partition, floorplans and how likely all of it fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from floorflow.channels.cost_allocation import modules_between
from floorflow.dataflow.bands import outcome_of
from floorflow.dataflow.implementations import Likeness
from floorflow.facts import (
    FloorplanEntry,
    HopsEntry,
    ImplementationEntry,
    JoinedEntry,
    ModuleEntry,
    PartitionEntry,
    PblockEntry,
    PhaseEntry,
    PhaseNetworkEntry,
    PlacementTerms,
    PortEntry,
)
from floorflow.hardware import Fpga, anchor, bounding_box, free_cells, ranges
from floorflow.placement import Region
from floorflow.record import likelihood, streams
from floorflow.record.constraints import constraint_styles
from floorflow.record.long_streams import longest_streams
from floorflow.record.memories import memories
from floorflow.record.network_part import network_part
from floorflow.record.part import Part, PhaseRun
from floorflow.record.ports import FpgaPorts
from floorflow.record.reuse import shared_implementations
from floorflow.record.routing import routing_map
from floorflow.record.values import amounts, rectangle, statistics
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.search.candidate.candidate import slot_demands
from floorflow.search.candidate.slot_problem import Use, has_room


def phase(run: PhaseRun) -> PhaseEntry:
    """Return a phase; its networks share slots, boundaries and links."""
    channels = [streams.channels(part) for part in run.wholes]
    bands, fits = likelihood.bands_and_fits(run, channels)
    regions = {name: r for solution in run.placements.values() for name, r in solution.regions.items()}
    fpgas, request, costs = run.context.platform.fpgas, run.context.request, run.context.costs
    floorplan = {fpga.name: _floorplan(fpga, run) for fpga in fpgas}
    alike = shared_implementations(run, regions)
    styles = [constraint_styles(request, fpga, floorplan[fpga.name].pblocks) for fpga in fpgas]
    networks = [network_part(part) for part in run.parts]
    return PhaseEntry(
        name=run.name,
        region=run.region,
        loads_after=run.loads_after,
        networks=networks,
        channels=[channel for own in channels for channel in own],
        modules=[entry for part in run.wholes for entry in _modules(part, alike)],
        joined=[entry for part in run.wholes for entry in _joined(part)],
        implementations=[
            _implementation(module.name, part, regions[part.module(module.name)])
            for part in run.wholes
            for module in part.candidate.modules
            if alike[part.module(module.name)].implementation == part.module(module.name)
        ],
        memories=[entry for part in run.parts for entry in memories(part)],
        partition=_partition(run),
        floorplan=floorplan,
        constraint_styles={slot: style for own in styles for slot, style in own.items()},
        fifo_kind=costs.fifo_kind if costs.has_bands else "",
        bands=bands,
        fits=fits,
        slices_built=_builds_slices(run, networks),
    )


def _builds_slices(run: PhaseRun, networks: Sequence[PhaseNetworkEntry]) -> bool:
    backend, options = run.context.backend, run.context.request.backend_options
    timed = [part.estimates.throughput for part in networks]
    known = all(found is not None and found.interval_cycles is not None for found in timed)
    return backend.builds_slices(options, knows_depths=known)


def _modules(part: Part, alike: Mapping[str, Likeness]) -> list[ModuleEntry]:
    made = Counter(likeness.implementation for likeness in alike.values())
    return [
        ModuleEntry(
            name=part.module(module.name),
            engines=[part.id(engine) for engine in module.engines],
            like=likeness.like,
            implementation=likeness.implementation,
            reused=made[likeness.implementation] > 1,
            why_not=likeness.why_not,
            resources=amounts(part.candidate.demands[module.name]),
        )
        for module in part.candidate.modules
        for likeness in [alike[part.module(module.name)]]
    ]


def _joined(part: Part) -> list[JoinedEntry]:
    return [
        JoinedEntry(
            module=part.module(joined.module),
            modules=[part.module(name) for name in joined.parts],
            slot=joined.slot,
            why=joined.why,
        )
        for joined in part.candidate.joined
    ]


def _implementation(module: str, part: Part, region: Region) -> ImplementationEntry:
    candidate = part.candidate
    ends = modules_between(candidate.modules, candidate.channels)
    ports = []
    for channel in candidate.channels:
        source, target = ends[channel.name]
        if source != target and module in (source, target):
            entry = {
                "channel": part.channel_name(channel.name),
                "direction": "out" if source == module else "in",
                "width_bits": channel.width_bits,
            }
            ports.append(PortEntry.model_validate(entry))
    box = bounding_box(region)
    window = {"columns": box.columns, "rows": box.rows}
    return ImplementationEntry(name=part.module(module), window=window, ports=ports)


def _partition(run: PhaseRun) -> PartitionEntry:
    demands = [slot_demands(part.candidate) for part in run.wholes]
    return PartitionEntry(
        assignment={
            part.module(module): slot for part in run.wholes for module, slot in part.candidate.slot_of.items()
        },
        utilisation={
            slot.name: _shares(total(own[slot.name] for own in demands), slot.available)
            for slot in run.context.platform.slots
        },
        crossings=[crossing for part in run.wholes for crossing in streams.crossings(part)],
        loads=streams.loads(run),
        hops=_hops(run),
        cost=run.partition_cost,
        fullness=statistics(run.fullness),
        stats=statistics(run.partition_stats),
    )


def _hops(run: PhaseRun) -> HopsEntry:
    proofs = dict.fromkeys(part.result.hop_proof for part in run.parts)
    return HopsEntry(
        most=max(part.result.max_hops for part in run.parts),
        proof="; ".join(filter(None, proofs)),
        streams=[stream for part in run.wholes for stream in streams.far_streams(part)],
    )


def _shares(demand: Resources, available: Resources) -> dict[str, float]:
    pairs = zip(RESOURCE_NAMES, demand.as_tuple(), available.as_tuple(), strict=True)
    return {name: need / have if have else 0.0 for name, need, have in pairs}


def _floorplan(fpga: Fpga, run: PhaseRun) -> FloorplanEntry:
    placement, ports = run.placements[fpga.name], FpgaPorts(fpga, run)
    return FloorplanEntry(
        pblocks={
            part.module(name): _pblock(name, use, ports, part, placement.regions[part.module(name)])
            for part in run.wholes
            for name, use in likelihood.uses_of_part(part).items()
            if part.module(name) in placement.regions
        },
        hpwl=placement.hpwl,
        port_length=ports.length,
        sll_columns=ports.sll_columns(),
        longest=[entry for part in run.wholes for entry in longest_streams(part, fpga)],
        weights=PlacementTerms(**run.context.request.place_weights.as_dict()),
        terms=PlacementTerms(**asdict(placement.terms)),
        congestion=routing_map(placement.routing, fpga.device),
        stats=statistics(placement.stats),
    )


def _pblock(module: str, use: Use, ports: FpgaPorts, part: Part, region: Region) -> PblockEntry:
    fpga, costs, place = ports.fpga, part.context.costs, part.candidate.slot_of[module]
    device, name = fpga.device, part.module(module)
    supply = total(device.resources(rect) for rect in region)
    (slot,) = (slot for slot in fpga.slots if slot.name == place)
    is_whole = sum(rect.columns * rect.rows for rect in region) == free_cells(device, slot)
    return PblockEntry(
        slot=place,
        rectangles=[rectangle(rect) for rect in region],
        ranges=list(ranges(device, *region)),
        anchor=anchor(device, *region),
        demand=amounts(part.candidate.demands[module]),
        supply=amounts(supply),
        likelihood=outcome_of(use, costs.band).told(supply.as_dict()) if costs.has_bands else None,
        short=not is_whole and not has_room(part.context, device, use)(supply),
        ports=ports.entries(name),
        pins_per_row=ports.placed[name].pins_per_row,
    )
