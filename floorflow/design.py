"""A candidate design at one interval: the stages from folding to partition run in a row, as a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from floorflow.channels import Channel, ChannelCosts, connect
from floorflow.channels.charge import engine_charges, module_resources, modules_between
from floorflow.dataflow.model import Dataflow, FoldedDataflow
from floorflow.dataflow.modules import Module, Wire, cluster, merge, module_of
from floorflow.folding import FoldingProblem, FoldingSolution
from floorflow.partition import (
    Boundary,
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    Place,
    partition,
)
from floorflow.request import Request, limited
from floorflow.resources import Resources
from floorflow.target import Fpga, Platform


@dataclass(frozen=True)
class Setting:
    """What stays the same for all candidates of a run."""

    dataflow: Dataflow
    platform: Platform
    request: Request
    costs: ChannelCosts
    problem: FoldingProblem
    rooms: Mapping[str, tuple[Resources, ...]]
    """What the largest pblocks of each slot hold, at the allowed fill."""

    @property
    def fpga(self) -> Fpga:
        """The one FPGA that plans use so far."""
        return self.platform.fpgas[0]

    @property
    def limits(self) -> dict[str, Resources]:
        """Limit of every slot: cap x available."""
        return {slot.name: limited(slot.available, self.request.cap) for slot in self.platform.slots}


@dataclass(frozen=True)
class Design:
    """A folded, connected, clustered and partitioned network. ``slot_of`` maps modules to slot names."""

    folding: FoldingSolution
    folded: FoldedDataflow
    modules: tuple[Module, ...]
    channels: tuple[Channel, ...]
    demands: Mapping[str, Resources]
    slot_of: Mapping[str, str]
    partition: PartitionSolution
    problem: PartitionProblem

    @property
    def interval_cycles(self) -> int:
        """Initiation interval."""
        return self.folding.interval_cycles


def complete(
    setting: Setting, folding: FoldingSolution, tightened: Mapping[str, float] | None = None
) -> Design | PartitionFailure:
    """Run connect, cluster and partition on one folding.

    ``tightened`` scales the limit of single slots (a remedy when placement failed there).
    """
    folded = FoldedDataflow(setting.dataflow, folding.options)
    first = connect(folded, setting.costs)
    wires = [
        Wire(c.stream.source, c.stream.target, c.width_bits)
        for c in first
        if not (c.stream.from_host or c.stream.to_host)
    ]
    modules = cluster(setting.dataflow, wires, engine_charges(folded, first), setting.request.granularity)
    design = assign(setting, folding, modules, tightened)
    if setting.request.granularity == "slot" and isinstance(design, Design):
        return by_slot(setting, design, sorted(set(design.slot_of.values())), keep=1)
    return design


def assign(
    setting: Setting, folding: FoldingSolution, modules: Sequence[Module], tightened: Mapping[str, float] | None = None
) -> Design | PartitionFailure:
    """Partition given modules; FIFO depths follow from which boundaries the channels turn out to cross."""
    folded = FoldedDataflow(setting.dataflow, folding.options)
    home = module_of(modules)
    crossed: dict[str, int] = {}
    failure = PartitionFailure("crossing FIFOs do not fit beside their modules", proven=False)
    # FIFOs at crossings are deeper, which changes demands, which may move modules: a few rounds settle it.
    for _ in range(4):
        channels = connect(folded, setting.costs, home, crossed)
        problem = partition_problem(setting, modules, module_resources(modules, folded, channels), channels, tightened)
        answer = partition(problem, "auto", setting.request.effort, setting.request.seed)
        if isinstance(answer, PartitionFailure):
            return answer
        needed = _boundaries_crossed(problem, answer.slot_of)
        final = connect(folded, setting.costs, home, needed)
        demands = module_resources(modules, folded, final)
        settled = replace(problem, demands=demands)
        if settled.is_legal(answer.slot_of):
            names = {m: problem.slots[s].name for m, s in answer.slot_of.items()}
            return Design(folding, folded, tuple(modules), final, demands, names, answer, settled)
        crossed = {name: max(crossed.get(name, 0), hops) for name, hops in needed.items()}
    return failure


def by_slot(setting: Setting, design: Design, slots: Sequence[str], keep: int) -> Design | PartitionFailure:
    """Merge neighbouring modules of ``slots`` until at most ``keep`` are left in each; the assignment stays."""
    modules = design.modules
    slot_of = dict(design.slot_of)
    for slot in slots:
        while len([m for m in modules if slot_of[m.name] == slot]) > keep:
            inside = [m for m in modules if slot_of[m.name] == slot]
            joined = _cheapest_pair(inside, design)
            modules = merge(modules, joined, setting.dataflow)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    home = module_of(modules)
    index = {place.name: i for i, place in enumerate(design.problem.slots)}
    placed = {name: index[slot] for name, slot in slot_of.items()}
    rough = partition_problem(setting, modules, dict.fromkeys(slot_of, Resources()), design.channels, None)
    needed = {
        channel.name: high - low
        for channel, stream in zip(design.channels, _streams(modules, design.channels), strict=True)
        for low, high in [rough.span(stream, placed)]
    }
    channels = connect(design.folded, setting.costs, home, needed)
    demands = module_resources(modules, design.folded, channels)
    problem = partition_problem(setting, modules, demands, channels, None)
    if not problem.is_legal(placed):
        return PartitionFailure("merged modules exceed a limit", proven=False)
    stats = replace(design.partition.stats, objective=float(problem.cost(placed)))
    answer = PartitionSolution(placed, stats)
    return Design(design.folding, design.folded, modules, channels, demands, slot_of, answer, problem)


def partition_problem(
    setting: Setting,
    modules: Sequence[Module],
    demands: Mapping[str, Resources],
    channels: Sequence[Channel],
    tightened: Mapping[str, float] | None,
) -> PartitionProblem:
    """State the assignment of modules to the slots of the FPGA."""
    scale = tightened or {}
    names = [slot.name for slot in setting.fpga.slots]
    limits = setting.limits
    uniform = {name: {r: scale.get(name, 1.0) for r in limits[name].as_dict()} for name in names}
    return PartitionProblem(
        demands=dict(demands),
        streams=_streams(modules, channels),
        slots=tuple(Place(name, limited(limits[name], uniform[name]), setting.rooms[name]) for name in names),
        boundaries=tuple(Boundary(b.wires) for b in setting.platform.boundaries),
        host=names.index(setting.fpga.host_slot),
        register_stages=setting.fpga.board.crossing_registers,
    )


def slot_demands(design: Design) -> dict[str, Resources]:
    """Return the demand of every slot, crossing registers included."""
    demands = design.problem.slot_demands(design.partition.slot_of)
    return {place.name: demand for place, demand in zip(design.problem.slots, demands, strict=True)}


def _streams(modules: Sequence[Module], channels: Sequence[Channel]) -> tuple[ModuleStream, ...]:
    ends = modules_between(modules, channels)
    return tuple(
        ModuleStream(
            name=c.name,
            source=None if c.stream.from_host else ends[c.name][0],
            target=None if c.stream.to_host else ends[c.name][1],
            wires=c.sll_wires,
        )
        for c in channels
    )


def _boundaries_crossed(problem: PartitionProblem, slot_of: Mapping[str, int]) -> dict[str, int]:
    spans = {stream.name: problem.span(stream, slot_of) for stream in problem.streams}
    return {name: high - low for name, (low, high) in spans.items() if high > low}


def _cheapest_pair(inside: Sequence[Module], design: Design) -> tuple[str, str]:
    """Return the two modules joined by the widest stream whose union is smallest; else the first two."""
    names = {m.name for m in inside}
    ends = modules_between(design.modules, design.channels)
    home = {e: m.name for m in inside for e in m.engines}
    best: tuple[tuple[int, int, str, str], tuple[str, str]] | None = None
    for channel in design.channels:
        a, b = home.get(channel.stream.source), home.get(channel.stream.target)
        if a is None or b is None or a == b or not {a, b} <= names or channel.name not in ends:
            continue
        size = sum(design.folded.options[e].resources.lut for m in inside if m.name in (a, b) for e in m.engines)
        key = (size, -channel.width_bits, a, b)
        if best is None or key < best[0]:
            best = key, (a, b)
    return best[1] if best else (inside[0].name, inside[1].name)
