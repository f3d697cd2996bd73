"""The verdict: read a plan folder and apply every rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from floorflow.verify.channels import check_channels, check_costs
from floorflow.verify.edge_loads import check_loads
from floorflow.verify.engines import FoldedEngine
from floorflow.verify.fifos import check_fifos
from floorflow.verify.files.constraints import Planned, Stated, compare, read_xdc
from floorflow.verify.files.reader import Folder, check_library, open_folder
from floorflow.verify.files.script import read_tcl
from floorflow.verify.files.tcl import TclProblem
from floorflow.verify.finn.files import FLOORPLAN_FILE, FOLDING_FILE, check_floorplan_file, check_folding_file
from floorflow.verify.finn.styles import check_styles
from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.parts import has_uram, is_versal
from floorflow.verify.hardware.routes import roads
from floorflow.verify.partition import check_assignment, check_crossings
from floorflow.verify.pblocks import check_floorplan
from floorflow.verify.phase_facts import PhaseFacts, links_of, slots_of
from floorflow.verify.plan_structure import PLAN, Record, departures
from floorflow.verify.platforms import check_files, check_platform, load_boards
from floorflow.verify.solver_claims import check_folding_sum, check_phase_stats, check_search
from floorflow.verify.sums import check_implementations, check_membership, check_slots, check_sums
from floorflow.verify.throughput import check_engines, check_throughput, check_types
from floorflow.verify.violations import Findings, Violation

SCHEMA = "floorflow-plan/1"

READERS: dict[str, Callable[[str, str, str, Findings], Stated]] = {
    "pblocks.xdc": read_xdc,
    "pblocks.tcl": read_tcl,
}
"""How each constraint file of an FPGA is read: text, where, part, findings."""


@dataclass(frozen=True)
class Verdict:
    """Every rule that a plan breaks, none if it is legal, and how many things of each kind were judged."""

    violations: list[Violation]
    checked: dict[str, int]


def check(out: Path) -> list[Violation]:
    """Return every rule that the plan in a folder breaks; empty means that the plan is legal.

    Raises
    ------
    NotAPlan
        If the folder is none that `floorflow plan` wrote.

    """
    return judge(out).violations


def judge(out: Path) -> Verdict:
    """Return every rule that the plan in a folder breaks, and what was judged.

    Raises
    ------
    NotAPlan
        If the folder is none that `floorflow plan` wrote.

    """
    folder, findings = open_folder(out), Findings()
    plan = _read_plan(folder, findings)
    if plan is None:
        return Verdict(findings.violations, {})
    boards = load_boards(folder, plan, findings)
    check_files(folder, plan, findings)
    check_library(folder, findings)
    check_platform(plan, boards, findings)
    check_engines(plan, findings)
    check_search(plan, findings)
    phases = _phases(plan, boards)
    try:
        for phase in phases:
            _check_phase(plan, phase, boards, findings)
        _check_emitted(folder, phases[0], boards, findings)
        check_styles(folder, plan, phases[0], findings)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError) as error:
        # A value that no rule foresaw is the plan's fault, never a reason to give no verdict.
        findings.add("plan-malformed", "phases", f"cannot be judged: {type(error).__name__}: {error!s:.200}")
    return Verdict(findings.violations, _judged(folder, phases, boards))


def _judged(folder: Folder, phases: list[PhaseFacts], boards: dict[str, Board]) -> dict[str, int]:
    """Count what was there to be judged, and could be."""
    return {
        "boards": len({id(board) for board in boards.values()}),
        "fpgas": len(phases[0].fpgas),
        "slots": len(phases[0].slots),
        "engines": sum(len(phase.raw["folding"]["engines"]) for phase in phases),
        "foldings": sum(len(phase.folded) for phase in phases),
        "channels": sum(len(phase.raw["channels"]) for phase in phases),
        "modules": sum(len(phase.modules) for phase in phases),
        "pblocks": sum(len(held["pblocks"]) for phase in phases for held in phase.raw["floorplan"].values()),
        "constraint_files": sum(name.partition("/")[2] in READERS for name in folder.known),
        "files": sum(data is not None for data in folder.known.values()),
    }


def _read_plan(folder: Folder, findings: Findings) -> Record | None:
    plan = folder.json("plan.json", findings)
    if plan is None:
        return None
    problems = list(departures(plan, PLAN, ""))
    if not problems and plan["schema"] != SCHEMA:
        problems.append(("schema", f"is {plan['schema']}, expected {SCHEMA}"))
    if not problems and not (plan["phases"] and plan["platform"]["fpgas"]):
        problems.append(("phases, platform.fpgas", "must not be empty"))
    for where, message in problems:
        findings.add("plan-malformed", where, message)
    return None if problems else plan


def _phases(plan: Record, boards: dict[str, Board]) -> list[PhaseFacts]:
    slots = slots_of(plan)
    fpgas = {fpga["name"]: fpga for fpga in plan["platform"]["fpgas"]}
    links, clock_mhz = links_of(plan, slots), plan["options"]["clock_mhz"]
    between = roads(slots, ((sll["lower"], sll["upper"]) for sll in plan["platform"]["slls"]), links.values())
    # An FPGA whose board cannot be read is reported already.
    stated = {name: fpga["crossing_registers"] for name, fpga in fpgas.items()}
    stages = stated | {name: board.raw["crossing_registers"] for name, board in boards.items()}
    return [
        PhaseFacts(f"phases[{number}]", raw, slots, links, fpgas, stages, _folded(plan, raw), clock_mhz, between)
        for number, raw in enumerate(plan["phases"])
    ]


def _folded(plan: Record, phase: Record) -> dict[str, FoldedEngine]:
    """Return the engines that have a folding, in the order of the networks."""
    parts = [fpga["part"] for fpga in plan["platform"]["fpgas"]]
    flavour = str(plan["options"]["backend_options"].get("finn", "main"))
    uram, versal = all(map(has_uram, parts)), all(is_versal(part, flavour) for part in parts)
    folding = phase["folding"]["engines"]
    return {
        engine["name"]: FoldedEngine(engine["name"], engine, folding[engine["name"]], flavour, uram, versal)
        for network in plan["networks"]
        for engine in network["engines"]
        if engine["name"] in folding
    }


def _check_phase(plan: Record, phase: PhaseFacts, boards: dict[str, Board], findings: Findings) -> None:
    options = plan["options"]
    for network in plan["networks"]:
        for engine in network["engines"]:
            if engine["name"] not in phase.folded:
                findings.add("engine-missing", phase.where, f"{engine['name']} has no folding")
    check_throughput(phase, findings)
    check_types(phase, findings)
    check_channels(phase, findings)
    check_fifos(phase, findings)
    if options["backend_options"].get("costs") != "finn":
        check_costs(phase, findings)
    check_membership(phase, findings)
    check_implementations(phase, findings)
    check_sums(phase, findings)
    check_assignment(phase, findings)
    check_slots(phase, options["cap"], findings)
    check_crossings(phase, findings)
    check_loads(phase, plan["platform"]["slls"], findings)
    check_floorplan(phase, boards, options["fill"], findings)
    check_folding_sum(phase.raw, phase.where, findings)
    check_phase_stats(phase.raw, phase.fpgas.values(), options["objective"], phase.where, findings)


def _check_emitted(folder: Folder, phase: PhaseFacts, boards: dict[str, Board], findings: Findings) -> None:
    """Judge FINN's files and the constraint files; they hold the first phase."""
    folding = folder.json(FOLDING_FILE, findings)
    if folding is not None:
        check_folding_file(folding, phase, findings)
    floorplan = folder.json(FLOORPLAN_FILE, findings)
    ids = check_floorplan_file(floorplan, phase, findings) if floorplan is not None else {}
    for fpga, entry in phase.fpgas.items():
        planned = _planned(phase, fpga, boards.get(fpga), ids)
        for file, read in READERS.items():
            where = f"{fpga}/{file}"
            text = folder.text(where, findings)
            if text is None:
                continue
            try:
                stated = read(text, where, entry["part"], findings)
            except TclProblem as problem:
                findings.add("file-corrupt", where, str(problem))
                continue
            if planned is not None:
                compare(stated, planned, where, findings)
    for where in folder.matching(f"*/{file}" for file in READERS):
        if where.partition("/")[0] not in phase.fpgas:
            findings.add("constraints-unplanned", where, "the plan has no such FPGA; a left-over of another plan?")


def _planned(phase: PhaseFacts, fpga: str, board: Board | None, ids: dict[str, int]) -> Planned | None:
    """Return what the constraint files of an FPGA must say; None if its board cannot be read.

    Its pblocks are those of the modules that the partition assigns to it, wherever the plan's floorplan has them.
    """
    if board is None:
        return None
    blocks = {name: entry for held in phase.raw["floorplan"].values() for name, entry in held["pblocks"].items()}
    pblocks: dict[str, Record] = {}
    parents: dict[str, str | None] = {}
    cells: dict[str, str] = {}
    names = _names_in_kernels(phase, board, ids)
    for name, module in phase.modules.items():
        slot = phase.slot_of_module(name)
        if slot is None or slot.fpga != fpga or name not in blocks:
            continue  # reported where assignment and pblocks are judged
        pblock = f"pblock_{name}"
        pblocks[pblock] = blocks[name]
        parents[pblock] = board.parent_pblock(slot.slr) if slot.slr < len(board.device.raw["slrs"]) else None
        cells |= {board.cell(names.get(engine, engine), ids.get(engine, "")): pblock for engine in module["engines"]}
    return Planned(pblocks, parents, cells)


def _names_in_kernels(phase: PhaseFacts, board: Board, ids: dict[str, int]) -> dict[str, str]:
    """Return the names that FINN gives to engines inside their partitions: each op type is counted anew in each.

    Where the board's cells have no partition in their names, FINN's stitched design is one with the engines' own names.
    """
    if "{partition}" not in board.raw["cell_pattern"]:
        return {}
    names: dict[str, str] = {}
    for number in set(ids.values()):
        counted: dict[str, int] = {}
        for engine, folded in phase.folded.items():
            if ids.get(engine) == number:
                names[engine] = f"{folded.kind}_{counted.get(folded.kind, 0)}"
                counted[folded.kind] = counted.get(folded.kind, 0) + 1
    return names
