"""Write down what a run decided as the Plan."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict

from floorflow import __version__
from floorflow.channels import Channel
from floorflow.channels.charge import crossing_shares, modules_between
from floorflow.dataflow.model import AttributeValue, Dataflow
from floorflow.dataflow.modules import module_of
from floorflow.design import Design, Setting, slot_demands
from floorflow.network import Network
from floorflow.placement import PlacementSolution
from floorflow.plan import (
    Amounts,
    ChannelEntry,
    CrossingEntry,
    EngineEntry,
    EstimatesEntry,
    FloorplanEntry,
    FoldedEntry,
    FoldingEntry,
    FpgaEntry,
    Fractions,
    ImplementationEntry,
    InfrastructureEntry,
    InputFile,
    IntervalBound,
    ModuleEntry,
    NetworkEntry,
    OperationEntry,
    Options,
    PartitionEntry,
    PblockEntry,
    PhaseEntry,
    Plan,
    PlatformEntry,
    PortEntry,
    RectangleEntry,
    SllEntry,
    SlotEntry,
    Stats,
    TraceEntry,
    plan_attribute,
)
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search import Found
from floorflow.stats import SolveStats
from floorflow.target import Platform, anchor, ranges


def record(network: Network, setting: Setting, found: Found) -> Plan:
    """Return the Plan of a finished search."""
    request = setting.request
    return Plan(
        schema="floorflow-plan/1",
        version=__version__,
        seed=request.seed,
        options=_options(request, setting.platform),
        inputs=[InputFile(path=request.model.name, sha256=_sha256(request))],
        platform=_platform(setting.platform),
        networks=[_network(network, setting.dataflow)],
        phases=[_phase(setting, found)],
        search=_bound(found),
        trace=[TraceEntry(**asdict(row)) for row in found.trace],
        warnings=[*setting.dataflow.notes, *_warnings(setting, found)],
    )


def _sha256(request: Request) -> str:
    return hashlib.sha256(request.model.read_bytes()).hexdigest()


def _amounts(resources: Resources) -> Amounts:
    return Amounts(**resources.as_dict())


def _stats(stats: SolveStats) -> Stats:
    return Stats.model_validate(stats.as_dict())


def _options(request: Request, platform: Platform) -> Options:
    return Options(
        cap=Fractions(**request.cap),
        clock_mhz=request.clock_mhz or platform.fpgas[0].board.clock_mhz,
        costs=request.costs,
        effort=request.effort,
        fill=Fractions(**request.fill),
        finn="main",
        fps=request.fps,
        granularity=request.granularity,
        objective="throughput" if request.fps is None else "resources",
        runtime_weights=request.runtime_weights,
    )


def _platform(platform: Platform) -> PlatformEntry:
    return PlatformEntry(
        name=platform.name,
        fpgas=[
            FpgaEntry(
                name=fpga.name,
                board=fpga.board.name,
                part=fpga.board.part,
                device=fpga.device.part,
                host_slot=fpga.host_slot,
                crossing_registers=fpga.board.crossing_registers,
                slots=[
                    SlotEntry(
                        name=slot.name,
                        slr=slot.slr,
                        capacity=_amounts(slot.capacity),
                        available=_amounts(slot.available),
                    )
                    for slot in fpga.slots
                ],
            )
            for fpga in platform.fpgas
        ],
        links=[],
        infrastructure=[
            InfrastructureEntry(name=i.name, slot=i.slot, resources=_amounts(i.resources))
            for i in platform.infrastructure
        ],
        slls=[SllEntry(lower=b.lower, upper=b.upper, wires=b.wires) for b in platform.boundaries],
        files=sorted(platform.files),
    )


def _network(network: Network, dataflow: Dataflow) -> NetworkEntry:
    return NetworkEntry(
        name=network.name,
        operations=[
            OperationEntry(name=o.name, type=o.type, inputs=list(o.inputs), outputs=list(o.outputs), macs=o.macs)
            for o in network.operations
        ],
        engines=[
            EngineEntry(
                name=e.name,
                kind=e.kind,
                operation=e.operation,
                attributes={name: _plain(value) for name, value in sorted(e.attributes.items())},
                weight_bits=e.weight_bits,
                input_bits=e.input_bits,
                output_bits=e.output_bits,
            )
            for e in dataflow.engines
        ],
    )


def _plain(value: AttributeValue) -> int | str | list[int]:
    return list(value) if isinstance(value, tuple) else value


def _phase(setting: Setting, found: Found) -> PhaseEntry:
    design = found.design
    homes = modules_between(design.modules, design.channels)
    return PhaseEntry(
        folding=_folding(design),
        channels=[_channel(c, setting, design, homes[c.name]) for c in design.channels],
        modules=[
            ModuleEntry(
                name=m.name,
                engines=list(m.engines),
                implementation=m.name,
                reused=False,
                resources=_amounts(design.demands[m.name]),
            )
            for m in design.modules
        ],
        implementations=[_implementation(m.name, design, found.placement) for m in design.modules],
        partition=_partition(setting, design),
        floorplan={setting.fpga.name: _floorplan(setting, design, found.placement)},
        estimates=_estimates(setting, design),
    )


def _folding(design: Design) -> FoldingEntry:
    engines = {}
    for name, option in design.folded.options.items():
        chosen = {plan_attribute(key): _plain(value) for key, value in option.folding.items()}
        engines[name] = FoldedEntry.model_validate(
            {"cycles": option.cycles, "resources": option.resources.as_dict(), **chosen}
        )
    return FoldingEntry(engines=engines, cycles=design.interval_cycles, stats=_stats(design.folding.stats))


def _channel(channel: Channel, setting: Setting, design: Design, ends: tuple[str, str]) -> ChannelEntry:
    stream = channel.stream
    way = _slots_on_way(setting, design, ends)
    stages = setting.fpga.board.crossing_registers
    home = module_of(design.modules)
    return ChannelEntry(
        name=channel.name,
        source=stream.source,
        source_port=stream.source_port,
        target=stream.target,
        target_port=stream.target_port,
        width_bits=channel.width_bits,
        words_per_frame=channel.words_per_frame,
        source_width_bits=channel.source_width_bits,
        target_width_bits=channel.target_width_bits,
        converter=channel.converter,
        converter_module=home[channel.converter_engine] if channel.converter else None,
        fifo_depth=channel.fifo_depth_words,
        fifo_module=home[channel.fifo_engine],
        crossing_registers=stages * (len(way) - 1),
        link=None,
        resources=_amounts(channel.fifo_resources + channel.converter_resources),
        converter_resources=_amounts(channel.converter_resources),
        fifo_resources=_amounts(channel.fifo_resources),
        crossing_resources={slot: _amounts(r) for slot, r in crossing_shares(channel, way, stages).items()},
    )


def _slots_on_way(setting: Setting, design: Design, ends: tuple[str, str]) -> list[str]:
    """Slots that a channel passes, from the lowest to the highest."""
    names = [slot.name for slot in setting.fpga.slots]
    low, high = sorted(names.index(design.slot_of.get(end, setting.fpga.host_slot)) for end in ends)
    return names[low : high + 1]


def _implementation(module: str, design: Design, placement: PlacementSolution) -> ImplementationEntry:
    rectangle = placement.rectangles[module]
    ends = modules_between(design.modules, design.channels)
    ports = []
    for channel in design.channels:
        source, target = ends[channel.name]
        if source != target and module in (source, target):
            direction = "out" if source == module else "in"
            ports.append(
                PortEntry.model_validate(
                    {"channel": channel.name, "direction": direction, "width_bits": channel.width_bits}
                )
            )
    return ImplementationEntry(name=module, window={"columns": rectangle.columns, "rows": rectangle.rows}, ports=ports)


def _partition(setting: Setting, design: Design) -> PartitionEntry:
    demands = slot_demands(design)
    return PartitionEntry(
        assignment=dict(design.slot_of),
        utilisation={slot.name: _shares(demands[slot.name], slot.available) for slot in setting.platform.slots},
        crossings=_crossings(setting, design),
        cost=design.problem.cost(design.partition.slot_of),
        stats=_stats(design.partition.stats),
    )


def _shares(demand: Resources, available: Resources) -> dict[str, float]:
    pairs = zip(RESOURCE_NAMES, demand.as_tuple(), available.as_tuple(), strict=True)
    return {name: need / have if have else 0.0 for name, need, have in pairs}


def _crossings(setting: Setting, design: Design) -> list[CrossingEntry]:
    ends = modules_between(design.modules, design.channels)
    frames_per_s = _frames_per_s(setting, design)
    crossings = []
    for channel in design.channels:
        source, target = (design.slot_of.get(end, setting.fpga.host_slot) for end in ends[channel.name])
        hops = len(_slots_on_way(setting, design, ends[channel.name])) - 1
        if hops:
            crossings.append(
                CrossingEntry(
                    channel=channel.name,
                    source=source,
                    target=target,
                    width_bits=channel.width_bits,
                    gbps=channel.words_per_frame * channel.width_bits * frames_per_s / 1e9,
                    hops=hops,
                    kind="sll",
                )
            )
    return crossings


def _floorplan(setting: Setting, design: Design, placement: PlacementSolution) -> FloorplanEntry:
    device = setting.fpga.device
    pblocks = {}
    for module in design.modules:
        rectangle = placement.rectangles[module.name]
        pblocks[module.name] = PblockEntry(
            slot=design.slot_of[module.name],
            rectangle=RectangleEntry(
                left=rectangle.left, bottom=rectangle.bottom, right=rectangle.right, top=rectangle.top
            ),
            ranges=list(ranges(device, rectangle)),
            anchor=anchor(device, rectangle),
            demand=_amounts(design.demands[module.name]),
            supply=_amounts(device.resources(rectangle)),
        )
    return FloorplanEntry(
        pblocks=pblocks,
        hpwl=placement.hpwl,
        congestion=dict(placement.congestion),
        stats=_stats(placement.stats),
    )


def _frames_per_s(setting: Setting, design: Design) -> float:
    clock_mhz = setting.request.clock_mhz or setting.fpga.board.clock_mhz
    return clock_mhz * 1e6 / design.interval_cycles


def _estimates(setting: Setting, design: Design) -> EstimatesEntry:
    clock_mhz = setting.request.clock_mhz or setting.fpga.board.clock_mhz
    options = design.folded.options
    bottleneck = next(name for name, option in options.items() if option.cycles == design.interval_cycles)
    return EstimatesEntry(
        clock_mhz=clock_mhz,
        cycles=design.interval_cycles,
        fps=_frames_per_s(setting, design),
        latency_us=_critical_path_cycles(design.folded.dataflow, {n: o.cycles for n, o in options.items()}) / clock_mhz,
        bottleneck=bottleneck,
    )


def _critical_path_cycles(dataflow: Dataflow, cycles: Mapping[str, int]) -> int:
    """Sum of engine cycles along the longest path, as FINN's dataflow_performance has it (pessimistic)."""
    arrival: dict[str, int] = {}
    for engine in dataflow.engines:
        before = [arrival[s.source] for s in dataflow.streams if s.target == engine.name and not s.from_host]
        arrival[engine.name] = max(before, default=0) + cycles[engine.name]
    return max(arrival.values())


def _bound(found: Found) -> IntervalBound:
    interval = found.design.interval_cycles
    bound = min(found.bound_cycles, interval)
    return IntervalBound(
        interval_cycles=interval,
        bound_cycles=bound,
        gap=round((interval - bound) / interval, 6),
        ended_by=found.ended_by,
    )


def _warnings(setting: Setting, found: Found) -> list[str]:
    options = found.design.folded.options
    written = sorted(n for n, o in options.items() if o.folding.get("runtime_writeable_weights"))
    warnings = []
    if written:
        warnings.append(
            f"URAM cannot be initialised: the weights of {', '.join(written)} must be written at run time over AXI-lite"
        )
    if setting.request.costs == "finn":
        warnings.append("costs are FINN's own estimates, in which some hardware costs nothing; real use is higher")
    return warnings
