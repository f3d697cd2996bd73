"""The files of a phase: the back end's, which tell the cells of engines, and the constraint files of each FPGA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from floorflow.verify.files.constraints import Planned, Stated, compare, read_xdc
from floorflow.verify.files.reader import Folder, PhaseFolder
from floorflow.verify.files.script import read_tcl
from floorflow.verify.files.tcl import TclProblem
from floorflow.verify.hardware.boards import Board
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.plan_structure import is_plain_name
from floorflow.verify.templates import Record
from floorflow.verify.violations import Findings

Reader = Callable[[str, str, str, Findings], Stated]
"""How a constraint file of an FPGA is read: text, where, part, findings."""
READERS: dict[str, Reader] = {"pblocks.xdc": read_xdc, "pblocks.tcl": read_tcl}
UNBOUND: dict[str, Reader] = {"pblocks.unbound.tcl": partial(read_tcl, unbound=True)}
"""What there is in their place until a build has told what cells are called."""
FILES = {**READERS, **UNBOUND}
BOUND_FILE = "bound.json"
"""Where a plan that is bound to a build tells the cell of every engine."""


def phase_prefix(plan: Record, phase: PhaseFacts) -> str:
    """Return what the paths of a phase's files begin with: they lie apart if there are several phases."""
    return "" if len(plan["phases"]) == 1 else f"phases/{phase.name}/"


def check_emitted(
    folder: Folder, plan: Record, phase: PhaseFacts, boards: Mapping[str, Board], findings: Findings
) -> None:
    """Judge the back end's files and the constraint files of a phase."""
    files = PhaseFolder(folder, findings, phase_prefix(plan, phase))
    unbound = is_unbound(folder, plan, phase)
    cells = _cells(plan, phase, files, findings, unbound=unbound)
    for fpga, entry in phase.fpgas.items():
        if not is_constrained(phase, fpga):
            continue  # left-overs are reported elsewhere
        planned = _planned(phase, fpga, boards.get(fpga), cells)
        for file, read in (UNBOUND if unbound else READERS).items():
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
                compare(_of_engines(stated, phase), planned, where, findings)


def _cells(
    plan: Record, phase: PhaseFacts, files: PhaseFolder, findings: Findings, *, unbound: bool
) -> dict[str, str] | None:
    """Return the cell of each engine, after judging the back end's files; the word for its module's while unbound."""
    back_end = phase.back_end
    cells = None if back_end is None else back_end.files(plan, phase.raw, files, phase.where)
    if unbound:
        return {e: f"members:{name}" for name, module in phase.modules.items() for e in module["engines"]}
    if back_end is not None and back_end.names_are_read:
        cells = _bound_cells(files, phase, findings)
    for cell, count in Counter((cells or {}).values()).items():
        if count > 1:
            findings.add("cell-shared", phase.where, f"{count} engines are the cell {cell}")
    return cells


def is_unbound(folder: Folder, plan: Record, phase: PhaseFacts) -> bool:
    """Whether what a phase's cells are called is known only from a build, and no build has told it."""
    reads = phase.back_end is not None and phase.back_end.names_are_read
    return reads and not (folder.root / f"{phase_prefix(plan, phase)}{BOUND_FILE}").exists()


def _bound_cells(files: PhaseFolder, phase: PhaseFacts, findings: Findings) -> dict[str, str] | None:
    """Return the cell of every engine as the file tells it, after reporting engines without one."""
    content = files.json(BOUND_FILE)
    if content is None:
        return None
    told = content.get("cells")
    cells = {str(name): str(cell) for name, cell in told.items()} if isinstance(told, dict) else {}
    engines = {engine for module in phase.modules.values() for engine in module["engines"]}
    for engine in sorted(engines ^ {*cells}):
        findings.add("cell-missing", files.path(BOUND_FILE), f"{engine} is told no cell, or is no engine")
    return cells


def _of_engines(stated: Stated, phase: PhaseFacts) -> Stated:
    """Return what is stated of engines: FIFOs and converters, which a plan does not name, left out."""
    back_end = phase.back_end
    if back_end is None:
        return stated
    cells = [(place, cell) for place, cell in stated.cells if not back_end.is_stream_cell(cell)]
    return replace(stated, cells=cells, slrs=[(slr, c) for slr, c in stated.slrs if not back_end.is_stream_cell(c)])


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
        for file in (UNBOUND if is_unbound(folder, plan, phase) else READERS)
    }
    for where in folder.matching(f"{place}/{file}" for file in FILES for place in ("*", "phases/*/*")):
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
