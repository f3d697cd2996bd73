"""Which modules of a phase are made once: equal circuits that lie on equal columns and rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from floorflow.channels.implementations import Circuits, Likeness, likenesses
from floorflow.hardware import Device, can_relocate
from floorflow.placement import Region
from floorflow.record.part import Part, PhaseRun

Home = tuple[Device, Region]


def shared_implementations(run: PhaseRun, regions: Mapping[str, Region]) -> dict[str, Likeness]:
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
    return {likeness.module: likeness for likeness in _where_windows_are_alike(found, homes)}


def _circuits(part: Part) -> Circuits:
    candidate, backend = part.candidate, part.context.backend
    in_logic = {
        engine.name: f"{constants} of {part.id(engine.name)}"
        for engine in candidate.folded.dataflow.engines
        if (constants := backend.in_logic(engine, candidate.folded.options[engine.name]))
    }
    names = {module.name: part.module(module.name) for module in candidate.modules}
    return Circuits(candidate.modules, candidate.folded, candidate.channels, in_logic, names)


def _where_windows_are_alike(found: tuple[Likeness, ...], homes: Mapping[str, Home]) -> list[Likeness]:
    """Let a module share the first implementation whose window can be moved onto its own."""
    windows: dict[str, list[str]] = {}
    placed = []
    for likeness in found:
        made = windows.setdefault(likeness.implementation, [])
        name = next((other for other in made if _moves(homes[other], homes[likeness.module])), likeness.module)
        if name == likeness.module:
            made.append(name)
        placed.append(replace(likeness, implementation=name))
    pairs = zip(placed, found, strict=True)
    return [_told(likeness, placed, windows[before.implementation]) for likeness, before in pairs]


def _moves(home: Home, other: Home) -> bool:
    return home[0].die == other[0].die and can_relocate(home[0], home[1], other[1])


def _told(likeness: Likeness, placed: list[Likeness], windows: list[str]) -> Likeness:
    """Give a reason to a module that has equals, all of them in other windows."""
    shared = sum(other.implementation == likeness.implementation for other in placed) > 1
    others = [name for name in windows if name != likeness.module]
    if shared or not others or likeness.why_not:
        return likeness
    return replace(likeness, why_not=f"its window is not on the columns and rows of that of {others[0]}")
