"""Place a candidate: the floorplan of every FPGA."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from floorflow.hardware import Fpga, Rect
from floorflow.placement import (
    Pin,
    PlacedModule,
    PlacementFailure,
    PlacementProblem,
    PlacementSolution,
    Wire,
)
from floorflow.search.candidate import Candidate
from floorflow.search.context import PlanningContext


@dataclass(frozen=True)
class PlacedCandidate:
    """A candidate with the floorplan of every FPGA, and the repair that led to it (empty: none was needed)."""

    candidate: Candidate
    placements: Mapping[str, PlacementSolution]
    repair: str

    @property
    def hpwl(self) -> float:
        """Wirelength of all FPGAs."""
        return sum(placement.hpwl for placement in self.placements.values())


def place_candidate(
    context: PlanningContext, candidate: Candidate, repair: str, hints: Mapping[str, Rect] | None = None
) -> PlacedCandidate | PlacementFailure:
    """Place the modules of every FPGA; ``hints`` are rectangles, by module, to start from."""
    placements = {}
    for fpga in context.platform.fpgas:
        answer = context.solvers.place(placement_problem(context, candidate, fpga, hints or {}))
        if isinstance(answer, PlacementFailure):
            return answer
        placements[fpga.name] = answer
    return PlacedCandidate(candidate, placements, repair)


def placement_problem(
    context: PlanningContext, candidate: Candidate, fpga: Fpga, hints: Mapping[str, Rect]
) -> PlacementProblem:
    """State the placement of one FPGA's modules; ``hints`` are rectangles, by module, to start from."""
    own_slots = {slot.name for slot in fpga.slots}
    modules = tuple(
        PlacedModule(m.name, candidate.slot_of[m.name], candidate.demands[m.name])
        for m in candidate.modules
        if candidate.slot_of[m.name] in own_slots
    )
    wires = tuple(_wires(context, candidate, fpga, {module.name for module in modules}))
    known = {module.name: hints[module.name] for module in modules if module.name in hints}
    request = context.request
    return PlacementProblem(
        fpga.device, fpga.slots, modules, wires, request.fill.as_dict(), request.effort, hints=known
    )


def _wires(context: PlanningContext, candidate: Candidate, fpga: Fpga, modules: Collection[str]) -> Iterator[Wire]:
    """Yield the wires of one FPGA's modules; an end elsewhere is the port through which the stream comes or goes."""
    engines = ((engine, module.name) for module in candidate.modules for engine in module.engines)
    owner = {engine: name for engine, name in engines if name in modules}
    first, last = context.platform.fpgas[0], context.platform.fpgas[-1]
    for channel in candidate.channels:
        stream = channel.stream
        source = owner.get(stream.source) or _pin(fpga, at_host=stream.from_outside and fpga is first)
        target = owner.get(stream.target) or _pin(fpga, at_host=stream.to_outside and fpga is last)
        if source != target and not (isinstance(source, Pin) and isinstance(target, Pin)):
            yield Wire(source, target, channel.width_bits)


def _pin(fpga: Fpga, *, at_host: bool) -> Pin:
    """Return the host's port, or that of links where the FPGA has none of the host's streams."""
    port = fpga.host_port if at_host or fpga.link_port is None else fpga.link_port
    return Pin.at_centre(port)
