"""Placing a design, and what is tried when a slot's rectangles do not pack.

The remedies come in this order: modules move to other slots, neighbours merge into shared pblocks down to the slot,
and the network is folded anew under the tightened slot. A longer interval, the last one, is the search's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.design import Design, Setting, assign, by_slot, complete, slot_demands
from floorflow.folding import FoldingSolution, fold_at_interval
from floorflow.partition import PartitionFailure
from floorflow.placement import PlacedModule, PlacementFailure, PlacementProblem, PlacementSolution, Wire, place
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.target import Fpga

TIGHTENED = (0.92, 0.84)
"""Shares of its limit to which a slot whose placement failed is tightened."""


@dataclass(frozen=True)
class Placed:
    """A design with the floorplan of every FPGA, and the remedy that led to it (empty: none was needed)."""

    design: Design
    placements: Mapping[str, PlacementSolution]
    remedy: str

    @property
    def hpwl(self) -> float:
        """Wirelength of all FPGAs."""
        return sum(placement.hpwl for placement in self.placements.values())


def place_with_remedies(setting: Setting, design: Design) -> Placed | PlacementFailure:
    """Place the design as it is or with the first remedy that helps; else return the first failure."""
    answer = place_design(setting, design, "")
    if isinstance(answer, Placed):
        return answer
    slot = answer.slot
    return _moved(setting, design, slot) or _merged(setting, design, slot) or _refolded(setting, design, slot) or answer


def place_design(setting: Setting, design: Design, remedy: str) -> Placed | PlacementFailure:
    """Place the modules of every FPGA."""
    placements = {}
    for fpga in setting.platform.fpgas:
        answer = place(_problem(setting, design, fpga), "auto", setting.request.seed)
        if isinstance(answer, PlacementFailure):
            return answer
        placements[fpga.name] = answer
    return Placed(design, placements, remedy)


def _problem(setting: Setting, design: Design, fpga: Fpga) -> PlacementProblem:
    here = {slot.name for slot in fpga.slots}
    modules = tuple(
        PlacedModule(m.name, design.slot_of[m.name], design.demands[m.name])
        for m in design.modules
        if design.slot_of[m.name] in here
    )
    home = {e: m.name for m in design.modules for e in m.engines if design.slot_of[m.name] in here}
    pairs = [(home.get(c.stream.source), home.get(c.stream.target), c.width_bits) for c in design.channels]
    wires = tuple(Wire(a, b, bits) for a, b, bits in pairs if a is not None and b is not None and a != b)
    request = setting.request
    return PlacementProblem(fpga.device, fpga.slots, modules, wires, request.fill, request.effort)


def _moved(setting: Setting, design: Design, slot: str) -> Placed | None:
    """Assign the modules anew under a tighter limit of the slot that failed."""
    if len(setting.platform.slots) == 1:
        return None
    for share in TIGHTENED:
        moved = assign(setting, design.folding, design.modules, {slot: share})
        if setting.request.granularity == "slot" and isinstance(moved, Design):
            moved = by_slot(setting, moved, sorted(set(moved.slot_of.values())), keep=1)
        placed = _placed(setting, moved, f"modules moved out of {slot}")
        if placed is not None:
            return placed
    return None


def _merged(setting: Setting, design: Design, slot: str) -> Placed | None:
    """Merge neighbours in whichever slot fails, a third of its modules at a time, down to one a slot."""
    if setting.request.keep_granularity:
        return None
    while True:
        count = sum(place == slot for place in design.slot_of.values())
        if count <= 1:
            return None
        merged = by_slot(setting, design, [slot], max(1, count * 2 // 3))
        if not isinstance(merged, Design):
            return None
        answer = place_design(setting, merged, f"neighbours merged into {len(merged.modules)} modules")
        if isinstance(answer, Placed):
            return answer
        design, slot = merged, answer.slot


def _refolded(setting: Setting, design: Design, slot: str) -> Placed | None:
    """Fold anew with less of what the failed slot is fullest of, under a tighter limit of that slot."""
    need, limit = slot_demands(design)[slot].as_dict(), setting.limits[slot].as_dict()
    fullest = max(RESOURCE_NAMES, key=lambda r: need[r] / limit[r] if limit[r] else 0.0)
    used, budget = design.folding.resources.as_dict(), setting.problem.budget.as_dict()
    for share in TIGHTENED:
        less = Resources.from_dict(budget | {fullest: int(share * used[fullest])})
        folding = fold_at_interval(setting.problem.with_budget(less), design.interval_cycles)
        if not isinstance(folding, FoldingSolution):
            return None
        changed = complete(setting, folding, {slot: share})
        placed = _placed(setting, changed, f"folded anew with {share:.0%} of the {fullest}")
        if placed is not None:
            return placed
    return None


def _placed(setting: Setting, design: Design | PartitionFailure, remedy: str) -> Placed | None:
    if not isinstance(design, Design):
        return None
    answer = place_design(setting, design, remedy)
    return answer if isinstance(answer, Placed) else None
