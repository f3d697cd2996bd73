"""What the constraint files hold the tools to, slot by slot, why no more than that, and which pblocks lack room."""

from __future__ import annotations

from floorflow.emit.constraints import STYLE_WORDS
from floorflow.emit.tables import chance, table, wrapped
from floorflow.facts import PblockEntry, PhaseEntry, Plan
from floorflow.hardware import Fpga, Platform, Slot, free_cells
from floorflow.request import MOST_OF_FPGA, MOST_OF_SLOT


def constrained(plan: Plan, phase: PhaseEntry, platform: Platform) -> list[str]:
    """Return what is said of each slot, with the reason where that is less than hard pblocks, and what is short."""
    rows, short = [], []
    for fpga in platform.fpgas:
        pblocks = phase.floorplan[fpga.name].pblocks
        for slot in fpga.slots:
            inside = {name: entry for name, entry in pblocks.items() if entry.slot == slot.name}
            style = phase.constraint_styles[slot.name]
            why = _why(plan, fpga, slot, inside) if inside else "empty"
            rows.append((slot.name, STYLE_WORDS[style], why))
            lacking = [_short(name, entry) for name, entry in inside.items() if entry.short]
            short += [f"short of room in {slot.name}, which has no more: {', '.join(lacking)}"] if lacking else []
    return [*table(rows, left=2), *wrapped(short)]


def _why(plan: Plan, fpga: Fpga, slot: Slot, pblocks: dict[str, PblockEntry]) -> str:
    """Tell why the constraints of a slot are what they are, where that is not asked for."""
    asked, one_die = plan.options.constraint_style, len(fpga.device.slrs) == 1
    if asked == "auto":
        return _on_one_die(pblocks) if one_die else _among_slrs(fpga, slot, pblocks)
    if asked == "slr" and one_die:
        return "asked for SLRs, and there is one"
    free = free_cells(fpga.device, slot)
    whole = [name for name, entry in pblocks.items() if _cells(entry) == free]
    if asked == "hard" and whole:
        return f"{whole[0]} has all that is free there"
    return f"--constraint-style {asked}"


def _on_one_die(pblocks: dict[str, PblockEntry]) -> str:
    total = sum(entry.demand.LUT for entry in pblocks.values())
    largest = max(pblocks, key=lambda name: pblocks[name].demand.LUT)
    share = pblocks[largest].demand.LUT / total if total else 0.0
    return f"{largest} has {share:.0%} of the LUTs" if share > MOST_OF_FPGA else "one die"


def _among_slrs(fpga: Fpga, slot: Slot, pblocks: dict[str, PblockEntry]) -> str:
    free = free_cells(fpga.device, slot)
    for name, entry in pblocks.items():
        covered = _cells(entry) / free
        if covered > MOST_OF_SLOT:
            return f"the pblock of {name} would cover {covered:.0%} of the slot"
        if entry.short:
            return f"the pblock of {name} would lack room"
    return "each pblock has the room that it should have"


def _short(name: str, entry: PblockEntry) -> str:
    demand, supply = entry.demand.model_dump(), entry.supply.model_dump()
    shares = {key: need / supply[key] for key, need in demand.items() if supply[key]}
    fullest = max(shares, key=lambda key: shares[key])
    likely = "" if entry.likelihood is None else f", {chance(entry.likelihood)} likely to hold it"
    return f"{name} ({shares[fullest]:.0%} full of {fullest}{likely})"


def _cells(entry: PblockEntry) -> int:
    return sum((r.right - r.left + 1) * (r.top - r.bottom + 1) for r in entry.rectangles)
