"""A phase of the Plan, put together from its networks: modules, partition, floorplans and how likely all of it fits."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import floor

import numpy as np

from floorflow.backends.backend import Costs
from floorflow.channels import choices_of
from floorflow.channels.cost_allocation import modules_between
from floorflow.channels.implementations import Circuits, Likeness, in_windows_alike, likenesses
from floorflow.dataflow.bands import CROSSING, LESS, MORE, fit_likelihood, spread, uncertain_sum
from floorflow.dataflow.model import Attributes, Option, renamings
from floorflow.dataflow.options import OptionTable
from floorflow.facts import ChannelEntry, PhaseEntry
from floorflow.facts.memory import MemoryEntry
from floorflow.facts.module import ImplementationEntry, JoinedEntry, ModuleEntry, PortEntry
from floorflow.facts.partition import ConfidenceEntry, FitEntry, HopsEntry, LessLikelyEntry, PartitionEntry
from floorflow.facts.phase import PhaseNetworkEntry
from floorflow.hardware import Slot, bounding_box
from floorflow.placement import Region
from floorflow.record import streams
from floorflow.record.floorplan import constraint_styles, floorplan
from floorflow.record.network import network_part
from floorflow.record.part import Part, PhaseRun, uses_of_part
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, scarcity, total
from floorflow.search.candidate.candidate import slot_demands, slot_uses
from floorflow.search.candidate.made_once import in_logic as baked
from floorflow.search.candidate.placing import least_likely
from floorflow.search.candidate.slot_problem import Use

Item = tuple[str, str, Resources]
"""Slot, kind and estimate."""
Bands = dict[str, dict[str, tuple[float, float]]]
"""Factors by kind and resource."""


def phase(run: PhaseRun) -> PhaseEntry:
    """Return a phase; its networks share slots, boundaries and links."""
    channels = [streams.channels(part) for part in run.wholes]
    bands, fits = _bands_and_fits(run, channels)
    regions = {name: r for solution in run.placements.values() for name, r in solution.regions.items()}
    fpgas, request, costs = run.context.platform.fpgas, run.context.request, run.context.costs
    floorplans = {fpga.name: floorplan(fpga, run) for fpga in fpgas}
    alike = _shared_implementations(run, regions)
    styles = [constraint_styles(request, fpga, floorplans[fpga.name].pblocks) for fpga in fpgas]
    paces = streams.link_paces(run)
    networks = [network_part(part, paces) for part in run.parts]
    return PhaseEntry.of(
        run,
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
        floorplan=floorplans,
        constraint_styles={slot: style for own in styles for slot, style in own.items()},
        fifo_kind=costs.fifo_kind if costs.has_bands else "",
        bands=bands,
        fits=fits,
        confidence=_confidence(run),
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
        ModuleEntry.of(
            likeness,
            name=likeness.module,
            engines=[*map(part.id, module.engines)],
            reused=made[likeness.implementation] > 1,
            resources=part.candidate.demands[module.name],
        )
        for module in part.candidate.modules
        for likeness in [alike[part.module(module.name)]]
    ]


def _joined(part: Part) -> list[JoinedEntry]:
    return [
        JoinedEntry.of(joined, module=part.module(joined.module), modules=[*map(part.module, joined.parts)])
        for joined in part.candidate.joined
    ]


def _implementation(module: str, part: Part, region: Region) -> ImplementationEntry:
    candidate, box = part.candidate, bounding_box(region)
    ends = modules_between(candidate.modules, candidate.channels)
    ports = [
        PortEntry(
            channel=part.channel_name(channel.name),
            direction="out" if source == module else "in",
            width_bits=channel.width_bits,
        )
        for channel in candidate.channels
        for source, target in [ends[channel.name]]
        if source != target and module in (source, target)
    ]
    window = {"columns": box.columns, "rows": box.rows}
    return ImplementationEntry(name=part.module(module), window=window, ports=ports)


def _partition(run: PhaseRun) -> PartitionEntry:
    demands = [slot_demands(part.candidate) for part in run.wholes]
    return PartitionEntry.of(
        run,
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
        waiting_bits=sum(map(streams.waiting_bits, run.wholes)),
        cost=run.partition_cost,
        stats=run.partition_stats,
        wishes=next((part.result.wishes for part in run.parts if part.result.wishes), None),
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


def _bands_and_fits(run: PhaseRun, channels: Sequence[list[ChannelEntry]]) -> tuple[Bands, dict[str, FitEntry]]:
    """Return bands and fits of a phase, both empty where the cost model knows no error; ``channels`` by network."""
    costs = run.context.costs
    if not costs.has_bands:
        return {}, {}
    items = [item for part, own in zip(run.wholes, channels, strict=True) for item in _items(part, own)]
    items += [(s, CROSSING, need) for part in run.wholes for s, need in part.candidate.link_kernels.items()]
    return _bands(items, costs), _fits(run.context.platform.slots, items, costs)


def _confidence(run: PhaseRun) -> ConfidenceEntry | None:
    """Return which slot or pblock is least likely to fit; of one network alone what was found without that, too."""
    sought, parts = run.context.confidence, run.wholes
    if sought is None:
        return None
    chances = [least_likely(part.context, part.candidate, part.result.placements) for part in parts]
    told = [(chance, part.told(at)) for part, (chance, at) in zip(parts, chances, strict=True)]
    likelihood, place = min([*told, *(_shared_slots(parts) if len(parts) > 1 else ())])
    less = run.parts[0].result.less_likely if len(run.parts) == 1 else None
    without = None if less is None else LessLikelyEntry.of(less, likelihood=_rounded_down(less.likelihood))
    held = likelihood >= sought
    return ConfidenceEntry(held=held, likelihood=_rounded_down(likelihood), place=place, without=without)


def _shared_slots(parts: Sequence[Part]) -> Iterator[tuple[float, str]]:
    """Yield how likely each slot holds what all parts put there together, and its name."""
    context = parts[0].context
    uses = [slot_uses(part.context, part.candidate) for part in parts]
    for slot in context.platform.slots:
        use: dict[str, Resources] = defaultdict(lambda: ZERO)
        for kind, need in ((kind, need) for own in uses for kind, need in own[slot.name].items()):
            use[kind] += need
        yield fit_likelihood(use, slot.available, context.costs.band), slot.name


def _rounded_down(likelihood: float) -> float:
    return floor(likelihood * 1e4) / 1e4


def _bands(items: Sequence[Item], costs: Costs) -> Bands:
    """Return the factors for each kind and resource that the phase uses; what was measured has none."""
    whole: dict[str, Resources] = defaultdict(lambda: ZERO)
    for _, kind, need in items:
        whole[kind] = whole[kind] + need
    return {
        kind: {name: costs.band(kind, name) for name in RESOURCE_NAMES if use.as_dict()[name]}
        for kind, use in sorted(whole.items())
        if kind not in {CROSSING, LESS, MORE}
    }


def _fits(slots: Sequence[Slot], items: Sequence[Item], costs: Costs) -> dict[str, FitEntry]:
    """Return for every slot how likely it holds what lies in it, and the tenths of what that needs."""
    use: dict[str, dict[str, Resources]] = {slot.name: defaultdict(lambda: ZERO) for slot in slots}
    for slot, kind, need in items:
        use[slot][kind] = use[slot][kind] + need
    return {slot.name: _fit(use[slot.name], slot.available, costs) for slot in slots}


def _fit(use: Use, available: Resources, costs: Costs) -> FitEntry:
    low, high = spread(use, costs.band)
    likelihood = uncertain_sum(use, costs.band).told(available.as_dict())
    return FitEntry.model_validate({"likelihood": likelihood, "low": low, "high": high})


def _items(part: Part, channels: Sequence[ChannelEntry]) -> Iterator[Item]:
    """Yield slot, kind and estimate of what lies in every module, and of every run of crossing registers and slices."""
    for module, use in uses_of_part(part).items():
        for kind, need in use.items():
            yield part.candidate.slot_of[module], kind, need
    for channel in channels:
        for slot, registers in channel.crossing_resources.items():
            yield slot, CROSSING, registers.resources
        for slot, slices in channel.slice_resources.items():
            yield slot, part.context.costs.fifo_kind, slices.resources


def _shared_implementations(run: PhaseRun, regions: Mapping[str, Region]) -> dict[str, Likeness]:
    """Return each module of a phase beside its equals, all by the plan's names.

    Windows are as placement found them: an equal circuit on other columns is made anew.
    """
    devices = {slot.name: fpga.device for fpga in run.context.platform.fpgas for slot in fpga.slots}
    homes = {
        part.module(name): (devices[slot], regions[part.module(name)])
        for part in run.wholes
        for name, slot in part.candidate.slot_of.items()
    }
    found = likenesses(*map(_circuits, run.wholes))
    return {likeness.module: likeness for likeness in in_windows_alike(found, homes)}


def _circuits(part: Part) -> Circuits:
    candidate = part.candidate
    in_logic = {name: f"{told} of {part.id(name)}" for name, told in baked(part.context, candidate.folded).items()}
    names = {module.name: part.module(module.name) for module in candidate.modules}
    return Circuits(candidate.modules, candidate.folded, candidate.channels, in_logic, names)


LARGE_BITS = 8 * 18_432
"""What eight block RAMs of 18 Kbit hold: smaller memories decide little."""


def memories(part: Part) -> list[MemoryEntry]:
    """Return the large memories, those of weights first, each kind in the network's order."""
    return [*_weights(part), *_fifos(part)]


def _weights(part: Part) -> Iterator[MemoryEntry]:
    context, folded = part.context, part.candidate.folded
    earlier = {new: old for old, new in renamings(context.dataflow, folded.dataflow).items()}
    tables = {name: group.options_of(name) for group in context.problem.groups for name in group.engines}
    for engine in folded.dataflow.engines:
        option = folded.options[engine.name]
        memory = context.backend.weight_memory(engine, option)
        if memory is not None and memory.bits >= LARGE_BITS:
            alike = _alike(tables[earlier[engine.name]], option, context.backend.memory_attributes)
            styles = [(context.backend.weight_memory(engine, other), other.resources) for other in alike]
            others = [(found.style, use) for found, use in styles if found is not None]
            chosen = (memory.style, option.resources)
            yield _entry(part.id(engine.name), "weights", memory.bits, chosen, _cheapest(part, others))


def _alike(table: OptionTable, option: Option, attributes: tuple[str, ...]) -> Iterator[Option]:
    """Yield the foldings that differ from one only in where weights lie."""
    own = OptionTable.of([option])
    same = (table.cycles == option.cycles) & (table.widths_bits == own.widths_bits).all(axis=0)
    for row in np.flatnonzero(same).tolist():
        other = table[row]
        if other.kind == option.kind and _without(other.folding, attributes) == _without(option.folding, attributes):
            yield other


def _without(folding: Attributes, attributes: tuple[str, ...]) -> Attributes:
    return {name: value for name, value in folding.items() if name not in attributes}


def _fifos(part: Part) -> Iterator[MemoryEntry]:
    costs = part.context.costs
    for channel in part.candidate.channels:
        bits = channel.width_bits * channel.fifo_depth_words
        choices = choices_of(channel.stream, channel.width_bits, channel.fifo_depth_words, costs)
        if bits >= LARGE_BITS:
            others = [(choice.style, choice.resources) for choice in choices]
            chosen = (channel.fifo_style, channel.fifo_resources)
            yield _entry(part.channel_name(channel.name), "fifo", bits, chosen, _cheapest(part, others))


def _cheapest(part: Part, others: list[tuple[str, Resources]]) -> Mapping[str, Resources]:
    """Return the least scarce use of every style."""
    silicon = part.context.platform.silicon
    found: dict[str, Resources] = {}
    for style, use in sorted(others, key=lambda other: scarcity(other[1], silicon)):
        found.setdefault(style, use)
    return found


def _entry(
    name: str, kind: str, bits: int, chosen: tuple[str, Resources], others: Mapping[str, Resources]
) -> MemoryEntry:
    style, use = chosen
    choices = [{"style": other, "resources": own} for other, own in sorted(others.items()) if other != style]
    return MemoryEntry.model_validate(
        {"name": name, "kind": kind, "bits": bits, "style": style, "resources": use, "others": choices}
    )
