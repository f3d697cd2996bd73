"""The Plan of equal copies of one network: each under a name of its own, as it sees the card, in its own place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from floorflow.backends.backend import Source
from floorflow.dataflow.measured import Measurements
from floorflow.facts import Plan
from floorflow.facts.replicas import CopyEntry, ReplicasEntry
from floorflow.facts.values import RectangleEntry
from floorflow.folding.least_full import fullness
from floorflow.folding.problem import FoldingSolution
from floorflow.folding.selection import Evaluator
from floorflow.hardware import Fpga, Platform
from floorflow.hardware.copies import seen_from
from floorflow.network import Network
from floorflow.placement.objective import solved
from floorflow.placement.problem import Pin, PlacementProblem, PlacementSolution
from floorflow.record.part import MAIN, Part, PhaseRun, alone
from floorflow.record.run import record_runs
from floorflow.request import Request
from floorflow.resources import total
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import Fullness
from floorflow.search.candidate.placing import placement_problem
from floorflow.search.many.copies import CopiesFound, Copy
from floorflow.several import plain_name
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class CopyOf:
    """A model as a copy of it has it: under the copy's name."""

    source: Source
    name: str

    @property
    def network(self) -> Network:
        """What was read."""
        return replace(self.source.network, name=self.name)

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return self.source.sha256


@dataclass(frozen=True)
class OnCards:
    """Copies on each of some equal cards, of which so many are counted."""

    found: CopiesFound
    count: int
    cards: int
    tried: tuple[str, ...] = ()


def record_copies(source: Source, asked: Request, on: OnCards, measured: Measurements) -> Plan:
    """Return the Plan of copies; ``asked``: for what the user asked."""
    name = plain_name(source.network.name)
    found = on.found
    sources = [source] if len(found.copies) == 1 else [CopyOf(source, f"{name}_{n}") for n in range(len(found.copies))]
    parts = tuple(_part(found, copy, each.network.name) for copy, each in zip(found.copies, sources, strict=True))
    run = alone(parts[0]) if len(parts) == 1 else _run(found, parts)
    entry = _entry(name, on, [plain_name(part.network) for part in parts])
    # Caps may follow from a risk; rate, cards and channels are those of all copies.
    same = {option: getattr(asked, option) for option in ("replicas", "fpgas", "fps", "host_port")}
    asked = found.whole.request.changed(**same)
    told = [*on.tried, *_above_the_memory(found, parts)]
    return record_runs(sources, [run], None, told, measured, asked=asked, replicas=entry)


def _part(found: CopiesFound, copy: Copy, name: str) -> Part:
    """Return a copy as it sees the card, with what the card has beside all copies."""
    whole, own = found.whole, copy.result.context
    several = len(found.copies) > 1
    platform = seen_from(whole.platform, copy.place.memory) if several else whole.platform
    context = replace(whole, platform=platform, max_hops=own.max_hops)
    candidate = replace(copy.result.candidate, narrowed=None)
    caps = total(cap_limits(context).values())
    folding = _folding(context, candidate)
    share = float(fullness(folding.resources, caps))
    stats = SolveStats("not sought", "heuristic", share)
    result = replace(
        copy.result,
        candidate=replace(candidate, folding=folding),
        bound_cycles=found.bound_cycles,
        joint_bound_cycles=None,
        ended_by=f"the same design in {len(found.copies)} place{'s' if several else ''}, planned for the tightest "
        f"alone: {copy.result.ended_by}",
        whole_budget_bound=None,
        fullness=Fullness(stats, copy.result.fullness.slots),
        ended_at=None,
        less_likely=None,
        other_order=None,
        without_balance=None,
        evenness=None,
    )
    return Part(plain_name(name), context, result, prefix=f"{name}/" if several else "")


def _folding(context: PlanningContext, candidate: Candidate) -> FoldingSolution:
    """Return the folding as the sums of the whole card count it; nothing is claimed of it."""
    options = candidate.folding.options
    rows = [group.rows.index(tuple(options[name] for name in group.engines)) for group in context.unlimited.groups]
    return Evaluator(context.unlimited).solution(rows, candidate.folding.stats.method, "heuristic")


def _run(found: CopiesFound, parts: tuple[Part, ...]) -> PhaseRun:
    pairs = [(part.candidate.problem, part.candidate.partition.slot_of) for part in parts]
    cost = sum(problem.crossing_cost(slot_of) for problem, slot_of in pairs)
    stats = SolveStats("equal copies", "heuristic", cost)
    if cost == 0:
        stats = SolveStats("equal copies", "optimal", cost, 0)
    (fpga,) = found.whole.platform.fpgas
    demands = [slot_demands(part.candidate) for part in parts]
    limits = cap_limits(found.whole)
    full = max(fullness(total(own[slot] for own in demands), limit) for slot, limit in limits.items())
    placements = {fpga.name: _placed(fpga, parts)}
    return PhaseRun(MAIN, parts, cost, stats, placements, SolveStats("not sought", "heuristic", float(full)))


def _placed(fpga: Fpga, parts: Sequence[Part]) -> PlacementSolution:
    """Return the placements of all copies on a card as one."""
    stated = [_renamed(part) for part in parts]
    whole = replace(
        stated[0],
        slots=fpga.slots,
        modules=tuple(module for one in stated for module in one.modules),
        wires=tuple(wire for one in stated for wire in one.wires),
    )
    regions = {
        part.module(name): region
        for part in parts
        for name, region in part.result.placements[fpga.name].regions.items()
    }
    method = parts[0].result.placements[fpga.name].stats.method
    return solved(whole, regions, None, method)


def _renamed(part: Part) -> PlacementProblem:
    """State the placement of a copy, modules by the plan's names."""
    (fpga,) = part.context.platform.fpgas
    problem = placement_problem(part.context, part.candidate, fpga, {})

    def end(of: str | Pin) -> str | Pin:
        return part.module(of) if isinstance(of, str) else of

    modules = tuple(replace(module, name=part.module(module.name)) for module in problem.modules)
    wires = tuple(replace(w, source=end(w.source), target=end(w.target)) for w in problem.wires)
    return replace(problem, modules=modules, wires=wires, fixed={}, previous={})


def _above_the_memory(found: CopiesFound, parts: Sequence[Part]) -> Iterator[str]:
    """Say which memory channels carry less than the copies at them read and write."""
    peak = found.whole.platform.fpgas[0].board.memory_gbps
    if peak is None:
        return
    needs: dict[str, float] = {}
    for copy, part in zip(found.copies, parts, strict=True):
        ends = [c for c in part.candidate.channels if c.stream.from_outside or c.stream.to_outside]
        gbps = sum(channel.wire_bits_per_frame for channel in ends) * part.frames_per_s / 1e9
        needs[copy.place.memory or "the host's port"] = needs.get(copy.place.memory or "the host's port", 0.0) + gbps
    for memory, gbps in needs.items():
        if gbps > peak:
            yield f"copies at {memory} read and write {gbps:.4g} Gb/s at full rate, more than the {peak:g} of its peak"


def _entry(name: str, on: OnCards, names: Sequence[str]) -> ReplicasEntry:
    found, clock_hz = on.found, on.found.whole.platform.clock_mhz * 1e6
    return ReplicasEntry(
        network=name,
        copies=on.count,
        cards=on.cards,
        fps=on.count * clock_hz / found.interval_cycles,
        bound_fps=on.count * clock_hz / found.bound_cycles,
        placed=list(_copies(found.whole.platform, found, names)),
        tried=[*found.tried],
    )


def _copies(platform: Platform, found: CopiesFound, names: Sequence[str]) -> Iterator[CopyEntry]:
    for copy, name in zip(found.copies, names, strict=True):
        (fpga,) = seen_from(platform, copy.place.memory).fpgas
        port = RectangleEntry.model_validate(fpga.host_port, from_attributes=True)
        memory = fpga.board.host_memory
        yield CopyEntry(network=name, fpga=fpga.name, slot=fpga.host_slot, memory=memory, port=port)
