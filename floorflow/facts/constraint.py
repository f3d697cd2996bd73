"""What the constraint files hold the tools to, slot by slot, why no more than that, and which pblocks lack room."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from floorflow.facts.floorplan import Floorplans, PblockEntry
from floorflow.facts.platform import FpgaEntry, PlatformFacts
from floorflow.facts.text import chance, table, wrapped
from floorflow.request.choices import MOST_OF_FPGA, MOST_OF_SLOT, ConstraintStyle

SlotStyle = Literal["none", "slr", "soft", "hard"]

STYLE_WORDS = {"hard": "hard pblocks", "soft": "soft pblocks", "slr": "SLR assignment alone", "none": "nothing"}
"""What the constraint files say of a slot, by its style."""


def filled_by_one(asked: ConstraintStyle, pblocks: Mapping[str, PblockEntry]) -> str:
    """Return what is said of a die of one SLR that one module fills: no pblock is needed; nothing of any other.

    Only there nothing is constrained without having been asked for.
    """
    return f"no floorplan: {_on_one_die(pblocks)}, no pblock is needed" if asked == "auto" and pblocks else ""


def constrained(
    asked: ConstraintStyle,
    fpgas: Collection[FpgaEntry],
    platform: PlatformFacts,
    floorplans: Floorplans,
    styles: Mapping[str, SlotStyle],
) -> list[str]:
    """Return what is said of each slot, with the reason where that is less than hard pblocks, and what is short."""
    rows, short = [], []
    for fpga in fpgas:
        pblocks = floorplans[fpga.name].pblocks
        for slot in fpga.slots:
            inside = {name: entry for name, entry in pblocks.items() if entry.slot == slot.name}
            one_die, free = platform.dies[fpga.name] == 1, platform.free_cells[slot.name]
            why = _why(asked, free, inside, one_die=one_die) if inside else "empty"
            no_floorplan = asked == "auto" and styles[slot.name] == "none" and inside
            word = "no floorplan" if no_floorplan else STYLE_WORDS[styles[slot.name]]
            rows.append((slot.name, word, f"{why}: no pblock is needed" if no_floorplan else why))
            lacking = [_short(name, entry) for name, entry in inside.items() if entry.short]
            short += [f"short of room in {slot.name}, which has no more: {', '.join(lacking)}"] if lacking else []
    return [*table(rows, left=2), *wrapped(short)]


def _why(asked: ConstraintStyle, free: int, pblocks: dict[str, PblockEntry], *, one_die: bool) -> str:
    """Tell why the constraints of a slot are what they are, where that is not asked for."""
    if asked == "auto":
        return _on_one_die(pblocks) if one_die else _among_slrs(free, pblocks)
    if asked == "slr" and one_die:
        return "asked for SLRs, and there is one"
    whole = [name for name, entry in pblocks.items() if entry.cells == free]
    if asked == "hard" and whole:
        return f"{whole[0]} has all that is free there"
    return f"--constraint-style {asked}"


def _on_one_die(pblocks: Mapping[str, PblockEntry]) -> str:
    total = sum(entry.demand.LUT for entry in pblocks.values())
    largest = max(pblocks, key=lambda name: pblocks[name].demand.LUT)
    share = pblocks[largest].demand.LUT / total if total else 0.0
    return f"the module {largest} has {share:.0%} of the plan's LUTs" if share > MOST_OF_FPGA else "one die"


def _among_slrs(free: int, pblocks: dict[str, PblockEntry]) -> str:
    for name, entry in pblocks.items():
        covered = entry.cells / free
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
