"""The files of a phase: the back end's, which tell the cells of engines, and the constraint files of each FPGA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from floorflow.verify.files.constraints import Planned, Stated, compare, read_xdc
from floorflow.verify.files.reader import Folder, PhaseFolder
from floorflow.verify.files.script import read_tcl
from floorflow.verify.files.tcl import TclProblem
from floorflow.verify.hardware.boards import Board
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.plan_structure import is_plain_name
from floorflow.verify.templates import Record
from floorflow.verify.violations import Findings

READERS: dict[str, Callable[[str, str, str, Findings], Stated]] = {
    "pblocks.xdc": read_xdc,
    "pblocks.tcl": read_tcl,
}
"""How each constraint file of an FPGA is read: text, where, part, findings."""


def phase_prefix(plan: Record, phase: PhaseFacts) -> str:
    """Return what the paths of a phase's files begin with: they lie apart if there are several phases."""
    return "" if len(plan["phases"]) == 1 else f"phases/{phase.name}/"


def check_emitted(
    folder: Folder, plan: Record, phase: PhaseFacts, boards: Mapping[str, Board], findings: Findings
) -> None:
    """Judge the back end's files, which name the cells, and the constraint files of a phase."""
    prefix, back_end = phase_prefix(plan, phase), phase.back_end
    files = PhaseFolder(folder, findings, prefix)
    cells = None if back_end is None else back_end.files(plan, phase.raw, files, phase.where)
    for cell, count in Counter((cells or {}).values()).items():
        if count > 1:
            findings.add("cell-shared", phase.where, f"{count} engines are the cell {cell}")
    for fpga, entry in phase.fpgas.items():
        if not is_constrained(phase, fpga):
            continue  # left-overs are reported elsewhere
        planned = _planned(phase, fpga, boards.get(fpga), cells)
        for file, read in READERS.items():
            where = files.path(f"{fpga}/{file}")
            text = files.text(f"{fpga}/{file}")
            if text is None:
                continue
            try:
                stated = read(text, where, entry["part"], findings)
            except TclProblem as problem:
                findings.add("file-corrupt", where, str(problem))
                continue
            if planned is not None:
                compare(stated, planned, where, findings)


def is_constrained(phase: PhaseFacts, fpga: str) -> bool:
    """Whether anything is said of an FPGA's slots; what the plan does not say of one counts as something."""
    styles = phase.raw["constraint_styles"]
    return any(styles.get(slot.name) != "none" for slot in phase.slots.values() if slot.fpga == fpga)


def check_left_overs(folder: Folder, plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge that there are no constraint files but those of the plan's phases and FPGAs."""
    known = {
        f"{phase_prefix(plan, phase)}{fpga}/{file}"
        for phase in phases
        for fpga in phase.fpgas
        if is_constrained(phase, fpga)
        for file in READERS
    }
    for where in folder.matching(f"{place}/{file}" for file in READERS for place in ("*", "phases/*/*")):
        if where not in known:
            message = "the plan has no such FPGA or phase, or constrains nothing there; a left-over of another plan?"
            findings.add("constraints-unplanned", where, message)
    for phase in phases:
        _check_network_folders(folder, plan, phase, findings)


def _check_network_folders(folder: Folder, plan: Record, phase: PhaseFacts, findings: Findings) -> None:
    """Judge that the back end's folders, one for each network if the plan has several, are of this phase's networks."""
    backend = plan["options"]["backend"]
    if len(plan["networks"]) == 1 or not is_plain_name(backend):
        return
    place = f"{phase_prefix(plan, phase)}{backend}/"
    known = tuple(f"{place}{network}/" for network in phase.parts)
    for where in folder.matching([f"{place}*/**/*"]):
        if not where.startswith(known):
            findings.add(
                "network-files-unplanned", where, "the phase has no such network; a left-over of another plan?"
            )


def _planned(phase: PhaseFacts, fpga: str, board: Board | None, cells: Mapping[str, str] | None) -> Planned | None:
    """Return what the constraint files of an FPGA must say; None if its board cannot be read.

    Its pblocks are those of the modules that the partition assigns to it, wherever the plan's floorplan has them. Cells
    are not judged where no part of the judge names them.
    """
    if board is None:
        return None
    blocks = {name: entry for held in phase.raw["floorplan"].values() for name, entry in held["pblocks"].items()}
    pblocks: dict[str, Record] = {}
    soft: dict[str, bool] = {}
    parents: dict[str, str | None] = {}
    planned: dict[str, str] = {}
    slrs: dict[str, str] = {}
    for name, module in phase.modules.items():
        slot = phase.slot_of_module(name)
        if slot is None or slot.fpga != fpga or name not in blocks:
            continue  # reported where assignment and pblocks are judged
        style = phase.raw["constraint_styles"].get(slot.name)
        own = [cells[engine] for engine in module["engines"] if cells and engine in cells]
        if style == "slr" and slot.slr < len(board.device.raw["slrs"]):
            slrs |= dict.fromkeys(own, board.slr_name(slot.slr))
        if style not in {"soft", "hard"}:
            continue
        pblock = f"pblock_{name}"
        pblocks[pblock], soft[pblock] = blocks[name], style == "soft"
        parents[pblock] = board.parent_pblock(slot.slr) if slot.slr < len(board.device.raw["slrs"]) else None
        planned |= dict.fromkeys(own, pblock)
    return Planned(pblocks, soft, parents, None if cells is None else planned, slrs)
