"""The files of a phase: the back end's, which tell the cells of engines, and the constraint files of each FPGA."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from floorflow.verify.facts import PhaseFacts, Phases
from floorflow.verify.files import Folder, PhaseFolder
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.phase_records import PblockRecord
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.records import PLAIN_NAME, repeated
from floorflow.verify.rules.constraints import Planned, Stated, compare, compare_ports, read_tcl, read_xdc
from floorflow.verify.tcl.words import UnreadableError
from floorflow.verify.violations import Findings

Reader = Callable[[str, str, str, Findings], Stated]
"""How a constraint file of an FPGA is read: text, where, part, findings."""
READERS: dict[str, Reader] = {"pblocks.xdc": read_xdc, "pblocks.tcl": read_tcl}
UNBOUND: dict[str, Reader] = {"pblocks.unbound.tcl": partial(read_tcl, unbound=True)}
"""What there is in their place until a build has told what cells are called."""
FILES = {**READERS, **UNBOUND}
BOUND_FILE = "bound.json"
"""Where a plan that is bound to a build tells the cell of every engine."""


def phase_prefix(plan: PlanRecord, phase: PhaseFacts) -> str:
    """Return what the paths of a phase's files begin with: they lie apart if there are several phases."""
    return "" if len(plan["phases"]) == 1 else f"phases/{phase.name}/"


def check_emitted(folder: Folder, plan: PlanRecord, phase: PhaseFacts, boards: Boards, *, build: Path | None) -> None:
    """Judge the back end's files and the constraint files of a phase, and its names against a build if one is given."""
    files = PhaseFolder(folder, phase.findings, phase_prefix(plan, phase))
    unbound = is_unbound(folder, plan, phase)
    cells = _cells(plan, phase, files, unbound=unbound)
    if build is not None:
        _check_build(phase, build, None if unbound else cells)
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
                stated = read(text, where, entry["part"], phase.findings)
            except UnreadableError as problem:
                phase.add("file-corrupt", where, f"line {problem.line}: {problem}")
                continue
            if planned is not None:
                compare(stated, planned, where, phase.findings)
            if planned is not None and planned.cells is not None and file == "pblocks.tcl":
                compare_ports(stated, planned, where, phase.findings)


def _check_build(phase: PhaseFacts, build: Path, cells: "Cells | None") -> None:
    if cells is None or not cells.are_read:
        told = "no bound.json tells what cells are called; run floorflow bind on this build first"
        phase.add("names-unbound", phase.where, told)
    elif phase.back_end is not None:
        phase.back_end.check_build(
            phase.raw, build, (cells.engines, cells.streams | dict.fromkeys(cells.slices, "")), phase.where
        )


@dataclass(frozen=True)
class Cells:
    """The cell of each engine, and the module of each cell that is a FIFO or a converter, as a build told them.

    ``slices``: the stream of each cell that is a register slice, which is in no module.
    """

    engines: dict[str, str]
    streams: dict[str, str] = field(default_factory=dict)
    slices: dict[str, str] = field(default_factory=dict)
    are_read: bool = False

    def of(self, module: str, engines: Sequence[str]) -> list[str]:
        """Return all cells of a module."""
        own = [self.engines[engine] for engine in engines if engine in self.engines]
        return own + [cell for cell, name in self.streams.items() if name == module]


def _cells(plan: PlanRecord, phase: PhaseFacts, files: PhaseFolder, *, unbound: bool) -> Cells | None:
    """Return the cells, after judging the back end's files; the words for their modules' while unbound."""
    back_end = phase.back_end
    told = None if back_end is None else back_end.files(plan, phase.raw, files, phase.where)
    if unbound:
        return Cells({e: f"members:{name}" for name, module in phase.modules.items() for e in module["engines"]})
    cells = None if told is None else Cells(told)
    if back_end is not None and back_end.names_are_read:
        cells = _bound_cells(files, phase)
    for cell, count in repeated([] if cells is None else [*cells.engines.values(), *cells.streams]):
        phase.add("cell-shared", phase.where, f"{count} engines are the cell {cell}")
    return cells


def is_unbound(folder: Folder, plan: PlanRecord, phase: PhaseFacts) -> bool:
    """Whether what a phase's cells are called is known only from a build, and no build has told it."""
    reads = phase.back_end is not None and phase.back_end.names_are_read
    return reads and not (folder.root / f"{phase_prefix(plan, phase)}{BOUND_FILE}").exists()


def _bound_cells(files: PhaseFolder, phase: PhaseFacts) -> Cells | None:
    """Return the cells as the file tells them, after reporting engines without one and cells of nothing."""
    content, where = files.json(BOUND_FILE), files.path(BOUND_FILE)
    if content is None:
        return None
    cells, streams, slices = (_texts(content.get(name, {})) for name in ("cells", "streams", "slices"))
    engines = {engine for module in phase.modules.values() for engine in module["engines"]}
    for engine in sorted(engines ^ {*cells}):
        phase.add("cell-missing", where, f"{engine} is told no cell, or is no engine")
    for cell, module in streams.items():
        if module not in phase.modules or phase.back_end is None or not phase.back_end.is_stream_cell(cell):
            phase.add("cell-unknown", where, f"{cell} of {module} is no FIFO or converter of a module")
    found = Counter(slices.values())
    planned = Counter(
        {
            c["name"]: c["slices"] + phase.crossing_fifos * len(c["crossing_slots"])
            for c in phase.channels
            if phase.raw["slices_built"]
        }
    )
    for name in sorted(name for name in found | planned if found[name] != planned[name]):
        phase.add("slice-missing", where, f"{found[name]} cells are slices of {name}, the plan has {planned[name]}")
    return Cells(cells, streams, slices, are_read=True)


def _texts(told: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in told.items()} if isinstance(told, dict) else {}


def is_constrained(phase: PhaseFacts, fpga: str) -> bool:
    """Whether anything is said of an FPGA's slots; what the plan does not say of one counts as something."""
    styles = phase.raw["constraint_styles"]
    return any(styles.get(slot.name) != "none" for slot in phase.slots.values() if slot.fpga == fpga)


def check_left_overs(folder: Folder, plan: PlanRecord, phases: Phases, findings: Findings) -> None:
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
        _check_network_folders(folder, plan, phase)


def _check_network_folders(folder: Folder, plan: PlanRecord, phase: PhaseFacts) -> None:
    """Judge that the back end's folders, one for each network if the plan has several, are of this phase's networks."""
    backend = plan["options"]["backend"]
    if len(plan["networks"]) == 1 or not PLAIN_NAME.holds(backend):
        return
    place = f"{phase_prefix(plan, phase)}{backend}/"
    known = tuple(f"{place}{network}/" for network in phase.parts)
    for where in folder.matching([f"{place}*/**/*"]):
        if not where.startswith(known):
            phase.add("network-files-unplanned", where, "the phase has no such network; a left-over of another plan?")


def _planned(phase: PhaseFacts, fpga: str, board: Board | None, cells: Cells | None) -> Planned | None:
    """Return what the constraint files of an FPGA must say; None if its board cannot be read.

    Its pblocks are those of the modules that the partition assigns to it, wherever the plan's floorplan has them. Cells
    are not judged where no part of the judge names them.
    """
    if board is None:
        return None
    blocks = {name: entry for held in phase.raw["floorplan"].values() for name, entry in held["pblocks"].items()}
    pblocks: dict[str, PblockRecord] = {}
    soft: dict[str, bool] = {}
    parents: dict[str, str | None] = {}
    planned: dict[str, str] = {}
    slrs: dict[str, str] = {}
    for name, module in phase.modules.items():
        slot = phase.slot_of_module(name)
        if slot is None or slot.fpga != fpga or name not in blocks:
            continue  # reported where assignment and pblocks are judged
        style = phase.raw["constraint_styles"].get(slot.name)
        own = [] if cells is None else cells.of(name, module["engines"])
        if style == "slr" and slot.slr < len(board.device.raw["slrs"]):
            slrs |= dict.fromkeys(own, board.slr_name(slot.slr))
        if style not in {"soft", "hard"}:
            continue
        pblock = f"pblock_{name}"
        pblocks[pblock], soft[pblock] = blocks[name], style == "soft"
        parents[pblock] = _parent(phase, board, slot.slr)
        planned |= dict.fromkeys(own, pblock)
    ports = _ports(phase, fpga, cells) if cells is not None and cells.are_read else {}
    return Planned(pblocks, soft, parents, None if cells is None else planned, slrs, ports)


def _parent(phase: PhaseFacts, board: Board, slr: int) -> str | None:
    """Return the pblock that those of modules lie in: the region's that the phase is loaded into, else the shell's."""
    region = phase.raw.get("region")
    if region is not None:
        return f"pblock_region_{region}"
    return board.parent_pblock(slr) if slr < len(board.device.raw["slrs"]) else None


def _ports(phase: PhaseFacts, fpga: str, cells: Cells) -> dict[str, tuple[list[int], list[int]]]:
    found: dict[str, tuple[list[int], list[int]]] = {}
    for name, module in phase.modules.items():
        slot = phase.slot_of_module(name)
        if slot is None or slot.fpga != fpga:
            continue
        for engine in module["engines"]:
            if engine not in cells.engines or (phase.back_end is not None and phase.back_end.reads_memory(engine)):
                continue
            into = [c["target_width_bits"] for c in phase.channels if c["target"] == engine]
            out = [c["source_width_bits"] for c in phase.channels if c["source"] == engine]
            found[cells.engines[engine]] = into, out
    return found
