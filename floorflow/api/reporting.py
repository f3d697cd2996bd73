"""Any utilisation report of Vivado as rows, tree and picture, and beside a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.pictures import Picture, drawn
from floorflow.api.targets import platform
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.resources import RESOURCE_NAMES, Resources, total

if TYPE_CHECKING:
    from floorflow.study.utilisation import Instance, Utilisation
    from floorflow.view.pictures.utilisation import Branch
    from floorflow.view.sheet import Sheet

DEPTH = 4
"""Levels of instances that are shown unless told."""


def utilisation(path: str | Path) -> Utilisation:
    """Read a report of ``report_utilization``: flat, ``-hierarchical``, by SLR, as text or as XML.

    Raises
    ------
    InputError
        If it is none, or malformed.

    """
    with whole_imports():
        from floorflow.study.utilisation import read_utilisation

    return read_utilisation(Path(path), _sites)


def _sites(part: str) -> Resources | None:
    """Return what a part has; None for one that floorflow does not know: shares are of what the design uses."""
    try:
        slots = platform(part).slots if part else []
    except InputError:
        slots = []
    return Resources(*(sum(slot[name] for slot in slots) for name in RESOURCE_NAMES)) if slots else None


def utilisation_text(found: Utilisation, beside: Sequence[dict[str, Any]] = (), depth: int = DEPTH) -> str:
    """Return a report in words: tables, the tree, and what `beside_plan` returned."""
    from floorflow.study.utilisation_text import utilisation_text as text

    return text(found, beside, depth)


def utilisation_data(found: Utilisation, beside: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Return a report as plain data, its tree whole; as ``floorflow report --json`` prints it."""
    return {**asdict(found), "plan": list(beside)}


def utilisation_picture(found: Utilisation, depth: int = DEPTH) -> Picture | None:
    """Return the instances of a report as a picture; None if it lists none."""
    from floorflow.study.utilisation import device_of, folded, shares_of

    def branch(each: Instance) -> Branch:
        from floorflow.view.pictures.utilisation import Branch

        weight = sum(shares_of(each.resources, device).values())
        told = f"{each.share:.1%} {each.resource}"
        return Branch(each.name, weight, each.share, told, tuple(map(branch, each.children)))

    def draw() -> Sheet:
        from floorflow.view.pictures.utilisation import utilisation_chart

        of = "shares of the device" if found.device else "shares of what the design uses"
        facts = ", ".join(filter(None, (found.part, found.state, of)))
        tops = [branch(folded(top, device, depth, 0.012 * top.share)) for top in found.instances]
        return utilisation_chart(f"{found.design or found.file}: use by instance", facts, tops)

    device = device_of(found)
    return Picture("utilisation", drawn(draw)) if any(device.as_tuple()) else None


def beside_plan(report: str | Path, folder: str | Path) -> list[dict[str, Any]]:
    """Return by slot and by pblock what the report counts of a plan's engines, and what the plan estimates of them.

    Only engines whose cells are surely known count, on both sides: ``known`` of ``engines``.

    Raises
    ------
    InputError
        If the plan has several phases, or the report is none by hierarchy or names no engine of the plan.

    """
    with whole_imports():
        from floorflow.backends.backend import backend_named
        from floorflow.backends.reports import SYNTHESIS
        from floorflow.facts import read_plan
        from floorflow.study.calibration.matching import match
        from floorflow.study.reports import read_reports

    plan = read_plan(Path(folder) / "plan.json")
    backend = backend_named(plan.options.backend)
    phase = plan.only_phase
    rows = match(plan, read_reports(Path(report), backend).reports, backend).of(SYNTHESIS)
    if not rows:
        raise InputError(f"{report}: names no engine of {folder}", hint="give report_utilization -hierarchical of it")
    slot_of = phase.slot_of

    def row(kind: str, place: str, engines: Iterable[str]) -> dict[str, Any]:
        names = list(engines)
        known = [name for name in names if name in rows]
        built = total(rows[name].resources or Resources() for name in known)
        estimate = total(phase.engines[name].resources.resources for name in known)
        sides = {"built": built.as_dict(), "estimate": estimate.as_dict()}
        return {"kind": kind, "place": place, "known": len(known), "engines": len(names), **sides}

    slots = sorted(set(slot_of.values()))
    found = [row("slot", slot, [name for name in slot_of if slot_of[name] == slot]) for slot in slots]
    found += [row("pblock", module.name, module.engines) for module in phase.modules]
    return [each for each in found if each["known"]]
