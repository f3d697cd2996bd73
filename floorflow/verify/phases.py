"""The phases of a plan as facts: what lies where, and what the back end's part of the judge says of each engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floorflow.verify.backend_answers import BackEnd, EngineFacts
from floorflow.verify.ends import engine_id
from floorflow.verify.engines import PlannedEngine
from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.routes import Slot, roads
from floorflow.verify.judge import Judge
from floorflow.verify.phase_facts import PhaseFacts, links_of, slots_of
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def phases_of(plan: Record, boards: Mapping[str, Board], judge: Judge | None, findings: Findings) -> list[PhaseFacts]:
    """Return every phase with what the back end's part of the judge, if there is one, says of its engines."""
    slots = slots_of(plan)
    fpgas = {fpga["name"]: fpga for fpga in plan["platform"]["fpgas"]}
    links, clock_mhz = links_of(plan, slots), plan["options"]["clock_mhz"]
    between = roads(slots, ((b["lower"], b["upper"]) for b in plan["platform"]["boundaries"]), links.values())
    # An FPGA whose board cannot be read is reported already.
    stated = {name: fpga["crossing"]["registers"] for name, fpga in fpgas.items()}
    stages = stated | {name: board.raw["crossing_registers"] for name, board in boards.items()}
    phases = []
    networks = tuple(network["name"] for network in plan["networks"])
    for number, raw in enumerate(plan["phases"]):
        where = f"phases[{number}]"
        rows = _rows(plan, raw, slots)
        back_end = _back_end(plan, boards, judge, rows, findings)
        folded = folded_engines(rows, back_end, where)
        phase = PhaseFacts(where, raw, slots, links, fpgas, stages, folded, clock_mhz, networks, back_end, between)
        phases.append(phase)
    return phases


def _back_end(
    plan: Record, boards: Mapping[str, Board], judge: Judge | None, rows: Record, findings: Findings
) -> BackEnd | None:
    if judge is None:
        return None
    context = {
        "options": plan["options"]["backend_options"],
        "parts": [fpga["part"] for fpga in plan["platform"]["fpgas"]],
        "several_networks": len(plan["networks"]) > 1,
        "keep_folding": plan["options"].get("keep_folding") is True,
        "engines": rows,
        "cell_patterns": {fpga: board.raw["cell_pattern"] for fpga, board in boards.items()},
        "boards": {fpga: board.raw["name"] for fpga, board in boards.items()},
        "shells": {fpga: board.shell.get("name", "") for fpga, board in boards.items()},
        "memories": {fpga["name"]: fpga.get("host_memory") for fpga in plan["platform"]["fpgas"]},
        "hierarchies": {fpga: board.hierarchy for fpga, board in boards.items()},
    }
    return BackEnd(plan["options"]["backend"], judge, findings, context)


def folded_engines(rows: Mapping[str, Record], back_end: BackEnd | None, where: str) -> dict[str, PlannedEngine]:
    """Return the engines that have a folding, in the order of the networks."""
    folded: dict[str, PlannedEngine] = {}
    for name, row in rows.items():
        facts = EngineFacts() if back_end is None else back_end.engine(row, f"{where} engine {name}")
        folded[name] = PlannedEngine(name, row, facts)
    return folded


def _rows(plan: Record, phase: Record, slots: Mapping[str, Slot]) -> dict[str, dict[str, Any]]:
    """Return what the back end's part of the judge is told of each engine that has a folding in a phase, by its id."""
    parts = {part["network"]: part["folding"]["engines"] for part in phase["networks"]}
    module_of = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    rows = {}
    for network in plan["networks"]:
        folding = parts.get(network["name"], {})
        for engine in network["engines"]:
            name = engine_id(network["name"], engine["name"], several=len(plan["networks"]) > 1)
            if name in folding:
                known = {"id": name, "network": network["name"], "entry": engine, "folding": folding[name]}
                rows[name] = known | _place(plan, phase, slots, module_of.get(name))
    return rows


def _place(plan: Record, phase: Record, slots: Mapping[str, Slot], module: str | None) -> dict[str, Any]:
    """Tell where the engines of a module lie; what is unknown is None, and the part is then the first FPGA's."""
    slot = slots.get(phase["partition"]["assignment"].get(module, ""))
    fpgas = plan["platform"]["fpgas"]
    return {
        "module": module,
        "slot": slot and slot.name,
        "slr": slot and slot.slr,
        "dies": sum(other.fpga == slot.fpga for other in slots.values()) if slot else 0,
        "style": phase["constraint_styles"].get(slot.name) if slot else None,
        "fpga": slot and slot.fpga,
        "fpga_number": slot and slot.fpga_number,
        "part": fpgas[slot.fpga_number if slot else 0]["part"],
    }
