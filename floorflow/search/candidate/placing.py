"""Place a candidate: the floorplan of every FPGA, and register slices for streams longer than one cycle's reach."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType

from floorflow.backends.placed import Home, PlacedStream
from floorflow.channels import Channel
from floorflow.channels.cost_allocation import modules_between
from floorflow.channels.slices import PlacedWay, SlicedStream, Slices, register_slices
from floorflow.dataflow.bands import estimate_of, fit_likelihood
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.errors import InputError, Refusal
from floorflow.facts.channel import slots_on_way
from floorflow.hardware import Fpga, Rect, StatedPblock, bounding_box, can_relocate, stream_weight, stream_wires
from floorflow.hardware.reach import Way, comfortable_tiles
from floorflow.placement import (
    Pin,
    PlacedModule,
    PlacementFailure,
    PlacementProblem,
    PlacementSolution,
    Weights,
    Wire,
    cut_to_fabric,
    grown,
)
from floorflow.request import MOST_OF_SLOT
from floorflow.resources import total
from floorflow.search.candidate.candidate import Candidate, slot_demands, slot_uses, uses_of
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.given_pblocks import by_module
from floorflow.search.candidate.made_once import made_once
from floorflow.search.candidate.members import parts_of
from floorflow.search.candidate.slot_problem import (
    caps_beside,
    channel_slots,
    fullest_supply,
    has_room,
    judged_outcome,
    least_supply,
)
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class PlacedCandidate:
    """A candidate with the floorplan of every FPGA, and the repair that led to it (empty: none was needed)."""

    candidate: Candidate
    placements: Mapping[str, PlacementSolution]
    repair: str
    problems: Mapping[str, PlacementProblem] = field(default_factory=dict)
    """What was asked for each FPGA: drafts."""

    @property
    def hpwl(self) -> float:
        """Wirelength of all FPGAs."""
        return sum(placement.hpwl for placement in self.placements.values())


def place_candidate(
    context: PlanningContext,
    candidate: Candidate,
    repair: str,
    hints: Mapping[str, Rect] | None = None,
    *,
    tight: bool = False,
) -> PlacedCandidate | PlacementFailure:
    """Place the modules of every FPGA; ``hints`` are rectangles, by module, to start from.

    ``tight``: where the modules of a slot do not pack otherwise, its rectangles may be as full as can be.
    """
    refusal = unbuildable(context, candidate)
    if refusal is not None:
        return PlacementFailure(refusal, SolveStats("cut", "heuristic"))
    placements, problems = {}, {}
    for fpga in context.platform.fpgas:
        problem, answer = _placed(context, candidate, fpga, hints or {}, tight=tight)
        if isinstance(answer, PlacementFailure):
            return answer
        placements[fpga.name], problems[fpga.name] = answer, problem
    return PlacedCandidate(candidate, placements, repair, problems)


def place_as_it_is(context: PlanningContext, candidate: Candidate) -> PlacedCandidate | PlacementFailure:
    """Place the modules of every FPGA, with room for all if that can be; slots may be tight where it cannot."""
    roomy = place_candidate(context, candidate, "")
    return roomy if isinstance(roomy, PlacedCandidate) else place_candidate(context, candidate, "", tight=True)


def unbuildable(context: PlanningContext, candidate: Candidate) -> Refusal | None:
    """Return why the back end's tool cannot build the engines in their slots, None if it can.

    InputError if what was asked for leaves no other slots and foldings.
    """
    number = {
        slot.name: (place, slr) for place, f in enumerate(context.platform.fpgas) for slr, slot in enumerate(f.slots)
    }
    slot_of = candidate.slot_of
    home = {e: (m.name, *number[slot_of[m.name]]) for m in candidate.modules for e in m.engines}
    streams = [
        _placed_stream(channel, home, [number[slot] for slot in slots])
        for channel, slots in _slots_of_slices(context, candidate)
    ]
    parts = [(part, *_inside(part, streams, home)) for part in parts_of(candidate.folded, context.together)]
    options, backend = context.request.backend_options, context.backend
    names = [name for part in parts for name in backend.unbuildable(*part, options)]
    if names:
        module = home[names[0]][0]
        return Refusal("unbuildable", place=slot_of[module], names=tuple(names))
    shells = [fpga.board.shell.name if fpga.board.shell else "" for fpga in context.platform.fpgas]
    wide = {name: w for part in parts for name, w in backend.unlinkable(*part, shells, options).items()}
    for name, (bits, most) in wide.items():
        modules = next([home[e][0] for e in (s.source, s.target) if e is not None] for s in streams if s.name == name)
        refusal = Refusal("wide stream", "bits", slot_of[modules[0]], bits, most, names=(name,))
        # A stream of the host always leaves its kernel.
        stay = len(modules) == 1 or pblocks_of(context, candidate).keys() >= {*modules}
        if stay and context.request.keep_folding:
            raise InputError(str(refusal), hint="the folding and the pblocks that are given leave no other way")
        return refusal
    return None


def _slots_of_slices(context: PlanningContext, candidate: Candidate) -> Iterator[tuple[Channel, tuple[str, ...]]]:
    """Yield every channel with the slot of each slice that is built, at SLR boundaries and between them."""
    ends = modules_between(candidate.modules, candidate.channels)
    for channel in candidate.channels:
        source, target = channel_slots(context, candidate.slot_of, ends[channel.name])
        steps = context.platform.route_steps(source, target)
        crossing = [slot for step in steps for slot in step.register_slots if context.platform.crossing_fifos]
        slices = candidate.slices.slots.get(channel.name, ())
        yield channel, slots_on_way(crossing, slices, list(context.limits), source)


def _inside(
    folded: FoldedDataflow, streams: Collection[PlacedStream], home: Mapping[str, Home]
) -> tuple[list[PlacedStream], dict[str, Home]]:
    """Return the streams and homes of one network: the tool builds each by itself."""
    engines = folded.options.keys()
    own = [stream for stream in streams if {stream.source, stream.target} & engines]
    return own, {engine: place for engine, place in home.items() if engine in engines}


def _placed_stream(channel: Channel, home: Mapping[str, Home], slices: Sequence[tuple[int, int]]) -> PlacedStream:
    stream = channel.stream
    return PlacedStream(
        channel.name,
        stream.source if stream.source in home else None,
        stream.source_port,
        stream.target if stream.target in home else None,
        stream.target_port,
        channel.source_width_bits,
        channel.target_width_bits,
        channel.converter,
        home[channel.converter_engine][0] if channel.converter else None,
        home[channel.fifo_engine][0],
        tuple(slices),
    )


def _placed(
    context: PlanningContext, candidate: Candidate, fpga: Fpga, hints: Mapping[str, Rect], *, tight: bool
) -> tuple[PlacementProblem, PlacementSolution | PlacementFailure]:
    """Draft the places of an FPGA's modules; where it may be, slots that fail are tight in the next try."""
    full: set[str] = set()
    while True:
        problem = replace(placement_problem(context, candidate, fpga, hints, full), draft=True)
        answer = context.solvers.place(problem)
        if not tight or not isinstance(answer, PlacementFailure) or answer.slot in full:
            return problem, answer
        full.add(answer.slot)


def placement_problem(
    context: PlanningContext,
    candidate: Candidate,
    fpga: Fpga,
    hints: Mapping[str, Rect],
    tight: Collection[str] = (),
) -> PlacementProblem:
    """State the placement of one FPGA's modules; ``hints`` are rectangles, by module, to start from.

    Rectangles of ``tight`` slots may be as full as can be; but a module that has a slot to itself has room in all that
    is free there, if not in a rectangle.
    """
    own_slots, slot_of, uses = {slot.name for slot in fpga.slots}, candidate.slot_of, uses_of(context, candidate)
    held, stated = Counter(slot_of.values()), pblocks_of(context, candidate)
    modules = tuple(
        PlacedModule(
            m.name,
            slot_of[m.name],
            candidate.demands[m.name],
            fullest_supply(context.request, estimate_of(uses[m.name]))
            if m.name in stated
            else least_supply(
                context, fpga.device, uses[m.name], tight=slot_of[m.name] in tight and held[slot_of[m.name]] > 1
            ),
        )
        for m in candidate.modules
        if slot_of[m.name] in own_slots
    )
    wires = tuple(_wires(context, candidate, fpga, {module.name for module in modules}))
    known = {module.name: hints[module.name] for module in modules if module.name in hints}
    request = context.request
    fixed = {module.name: stated[module.name].rect for module in modules if module.name in stated}
    before = context.previous.of(candidate.modules, slot_of)
    own = {module.name for module in modules}
    groups = made_once(context, candidate.folded, candidate.modules, candidate.channels)
    here = (tuple(name for name in group if name in own and name not in stated) for group in groups)
    return PlacementProblem(
        fpga.device,
        fpga.slots,
        modules,
        wires,
        request.whole_slot_fill,
        request.effort,
        hints=known,
        fixed=fixed,
        previous={module.name: before[module.name] for module in modules if module.name in before},
        weights=Weights(**request.place_weights.as_dict()),
        reach_tiles=comfortable_tiles(context.platform.clock_mhz),
        boundary_rows=tuple(_boundary_rows(fpga)),
        alike=tuple(group for group in here if len(group) > 1),
    )


def pblocks_of(context: PlanningContext, candidate: Candidate) -> Mapping[str, StatedPblock]:
    """Return the pblocks that the user states, by module."""
    earlier = {new: old for old, new in renamings(context.dataflow, candidate.folded.dataflow).items()}
    return by_module(context.stated, candidate.modules, earlier)


def _boundary_rows(fpga: Fpga) -> Iterator[float]:
    """Yield the SLR boundaries at which streams have registers, as rows."""
    if fpga.board.crossing_registers:
        for lower, upper in pairwise(fpga.device.slrs):
            yield (lower.top + upper.bottom) / 2


LONGER = 0.02
"""Share by which the wirelength may rise while pblocks grow."""


def finished(context: PlanningContext, placed: PlacedCandidate) -> PlacedCandidate:
    """Return the floorplans as good as the effort allows, where drafts are all that there is yet.

    A draft is the start of it only where none is found without: annealing found worse from there than from scratch.
    """
    placements = dict(placed.placements)
    for name, draft in placed.problems.items():
        found = placements[name]
        if context.request.start_from is not None and draft.previous:
            continue  # they lie as near to the plan that was started from as can be
        answer = context.solvers.place(replace(draft, draft=False, hints={}))
        if isinstance(answer, PlacementFailure):
            rects = {module: region[0] for module, region in found.regions.items() if len(region) == 1}
            answer = context.solvers.place(replace(draft, draft=False, hints=rects))
        # Near an earlier plan a draft may have shorter wires, as it was held against none from scratch; and so may one
        # of which no windows alike were asked.
        wished = bool(draft.previous or draft.alike)
        if isinstance(answer, PlacementSolution) and (wished or answer.is_no_worse(found)):
            placements[name] = answer
    return replace(placed, placements=placements)


def with_room(context: PlanningContext, placed: PlacedCandidate) -> PlacedCandidate:
    """Return the floorplans with pblocks that have grown into what is free of their slots.

    Where no confidence is sought pblocks stay as small as they can be. None reaches into the processor.
    """
    if not context.floorplans:
        return placed
    candidate, uses = placed.candidate, uses_of(context, placed.candidate)
    placements = {}
    for fpga in context.platform.fpgas:
        problem = placement_problem(context, candidate, fpga, {})
        tests = {module.name: has_room(context, fpga.device, uses[module.name]) for module in problem.modules}
        found = placed.placements[fpga.name]
        # What lies in windows alike would not after it had grown.
        alike = {name: found.regions[name][0] for name in _in_windows_alike(problem, found)}
        problem = replace(problem, fixed={**problem.fixed, **alike})
        if context.request.confidence_sought is not None:
            found = grown(problem, found, tests, longer=LONGER, most=MOST_OF_SLOT)
        placements[fpga.name] = cut_to_fabric(problem, found)
    return replace(placed, placements=placements)


def _in_windows_alike(problem: PlacementProblem, found: PlacementSolution) -> Iterator[str]:
    """Yield the modules of groups that lie in a window onto which that of another of the group moves."""
    regions = found.regions
    for group in problem.alike:
        for name in group:
            others = (other for other in group if other != name)
            if any(can_relocate(problem.device, regions[name], regions[other]) for other in others):
                yield name


def least_likely(
    context: PlanningContext, candidate: Candidate, placements: Mapping[str, PlacementSolution]
) -> tuple[float, str]:
    """Return how likely the slot or pblock holds what lies in it that is least likely to, and which that is.

    Of pblocks the resources count whose fill the user did not give. Without placements slots alone count.
    """
    uses, costs = slot_uses(context, candidate), context.costs
    found = [(fit_likelihood(uses[s.name], s.available, costs.band), s.name) for s in context.platform.slots]
    of_modules = uses_of(context, candidate)
    for fpga in context.platform.fpgas if placements else ():
        for module, region in placements[fpga.name].regions.items():
            supply = total(fpga.device.resources(rect) for rect in region)
            chance = judged_outcome(context, of_modules[module]).likelihood(supply.as_dict())
            found.append((chance, f"the pblock of {module} in {candidate.slot_of[module]}"))
    return min(found)


def _wires(context: PlanningContext, candidate: Candidate, fpga: Fpga, modules: Collection[str]) -> Iterator[Wire]:
    """Yield the wires of one FPGA's modules; an end elsewhere is the port through which the stream comes or goes."""
    for channel, source, target in stream_ends(context, candidate, fpga, modules):
        if source != target and not (isinstance(source, Pin) and isinstance(target, Pin)):
            yield Wire(source, target, stream_weight(channel.width_bits), stream_wires(channel.width_bits))


def stream_ends(
    context: PlanningContext, candidate: Candidate, fpga: Fpga, modules: Collection[str]
) -> Iterator[tuple[Channel, str | Pin, str | Pin]]:
    """Yield every channel with where it begins and ends as one FPGA sees it: in one of its modules, or at a pin."""
    engines = ((engine, module.name) for module in candidate.modules for engine in module.engines)
    owner = {engine: name for engine, name in engines if name in modules}
    first, last = context.platform.fpgas[0], context.platform.fpgas[-1]
    for channel in candidate.channels:
        stream = channel.stream
        source = owner.get(stream.source) or _pin(fpga, at_host=stream.from_outside and fpga is first)
        target = owner.get(stream.target) or _pin(fpga, at_host=stream.to_outside and fpga is last)
        yield channel, source, target


def _pin(fpga: Fpga, *, at_host: bool) -> Pin:
    """Return the host's port, or that of links where the FPGA has none of the host's streams."""
    port = fpga.host_port if at_host or fpga.link_port is None else fpga.link_port
    return Pin.at_centre(port)


Boxes = Mapping[str, tuple[str, Rect]]
"""FPGA and box of each module that has a pblock."""


def with_slices(
    context: PlanningContext,
    candidate: Candidate,
    placements: Mapping[str, PlacementSolution],
    least: Mapping[str, int] = MappingProxyType({}),
    without: Collection[str] = (),
) -> Candidate:
    """Return the candidate with slices on its long streams, as far as its slots hold them within their caps.

    ``least``: so many by channel at least, and none for those ``without``. Where the back end's tool cannot build them
    in several SLRs, streams over SLR boundaries get none.
    """
    ways = placed_ways(context, candidate, placements)
    found = replace(candidate, slices=replace(_slices(context, candidate, ways, least, without), ways=ways))
    if not found.slices.slots or unbuildable(context, found) is None:
        return found
    inside = {name: way for name, way in ways.items() if len({*way.slots}) == 1}
    kept = _slices(context, candidate, inside, least, without)
    reach = comfortable_tiles(context.platform.clock_mhz)
    dropped = {name: way.way.slices(reach) for name, way in ways.items() if name not in inside}
    left_out = dict(kept.left_out) | {name: count for name, count in dropped.items() if count}
    return replace(candidate, slices=replace(kept, left_out=left_out, ways=ways))


def _slices(
    context: PlanningContext,
    candidate: Candidate,
    ways: Mapping[str, PlacedWay],
    least: Mapping[str, int],
    without: Collection[str],
) -> Slices:
    demands = slot_demands(candidate)
    free = {slot: limit - demands[slot] for slot, limit in caps_beside(context, candidate.link_kernels).items()}
    streams = [_stream(context, channel, ways.get(channel.name)) for channel in candidate.channels]
    return register_slices(streams, comfortable_tiles(context.platform.clock_mhz), free, least, without)


def _stream(context: PlanningContext, channel: Channel, way: PlacedWay | None) -> SlicedStream:
    known = channel.needed_words > 0
    return SlicedStream(
        channel.name,
        channel.stream.source,
        channel.stream.target,
        channel.fifo_depth_words - channel.needed_words if known else None,
        context.costs.slice_resources(channel.width_bits),
        way,
    )


def placed_ways(
    context: PlanningContext, candidate: Candidate, placements: Mapping[str, PlacementSolution]
) -> dict[str, PlacedWay]:
    """Return the way of every stream between two pblocks of an FPGA, or a pblock and the host's port, by channel.

    One inside a pblock is of no length: it may need slices for others that it meets.
    """
    boxes = {
        module: (fpga, bounding_box(region))
        for fpga, placed in placements.items()
        for module, region in placed.regions.items()
    }
    return dict(_ways(context, candidate, boxes))


def _ways(context: PlanningContext, candidate: Candidate, boxes: Boxes) -> Iterator[tuple[str, PlacedWay]]:
    fpgas = context.platform.fpgas
    ends = modules_between(candidate.modules, candidate.channels)
    for channel in candidate.channels:
        stream, pair = channel.stream, ends[channel.name]
        source = _port(fpgas[0]) if stream.from_outside else boxes.get(pair[0])
        target = _port(fpgas[-1]) if stream.to_outside else boxes.get(pair[1])
        if source is not None and target is not None and source[0] == target[0]:
            slots = channel_slots(context, candidate.slot_of, pair)
            yield channel.name, _way(context, slots, _middle(source[1]), _middle(target[1]))


def _way(
    context: PlanningContext, slots: tuple[str, str], source: tuple[float, float], target: tuple[float, float]
) -> PlacedWay:
    """Return a way with the registers at the SLR boundaries between its ends; without any it is of one part."""
    regions = {slot.name: slot.region for slot in context.platform.slots}
    steps = context.platform.route_steps(*slots)
    pairs = [zip(step.joints, step.crossings, strict=True) for step in steps]
    found = [joint for pair in pairs for joint, crossing in pair if crossing.registers]
    joints = sorted(found, key=lambda joint: regions[joint[0]].bottom)
    rows = [(regions[lower].top + regions[upper].bottom) / 2 for lower, upper in joints]
    upwards = (joints[0][0], *(upper for _, upper in joints)) if joints else slots[:1]
    return PlacedWay(Way.between(source, target, rows), upwards, rises=source[1] <= target[1])


def _port(fpga: Fpga) -> tuple[str, Rect]:
    return fpga.name, fpga.host_port


def _middle(box: Rect) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.bottom + box.top) / 2
