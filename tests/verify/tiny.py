"""A plan folder made by hand from a case: the platform, and everything around the phase; and how to lay it on disk."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from floorflow.verify.hardware.boards import Board
from tests.verify.dies import REPOSITORY, device
from tests.verify.tiny_cases import CASES, CLOCK_MHZ, PORTS, Case
from tests.verify.tiny_network import HOST, amounts
from tests.verify.tiny_phase import STATS, phase_of_case

Plan = dict[str, Any]
Files = dict[str, str]

__all__ = ["CASES", "STATS", "Files", "Plan", "tiny_plan", "write_folder"]

CAP = {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}
OPTIONS = {
    "cap": CAP,
    "fill": FILL,
    "clock_mhz": CLOCK_MHZ,
    "backend": "finn",
    "backend_options": {"costs": "estimated", "finn": "main"},
    "effort": "default",
    "fps": None,
    "granularity": "stage",
    "link": None,
    "objective": "throughput",
    "topology": "chain",
}


def _refused(interval: int) -> dict[str, Any]:
    """Return a row of the trace about a shorter interval."""
    short = {"what": "budget", "resource": "LUT", "place": "", "needed": 12, "allowed": 10, "proven": True, "names": []}
    row = {"interval_cycles": interval - 1, "verdict": "proven infeasible", "stage": "fold", "refusals": [short]}
    return row | {"detail": "LUT: at least 12 needed, 10 allowed"}


def tiny_plan(name: str) -> tuple[Plan, Files]:
    """Return plan and files (by relative path, plan.json excepted) of the legal folder of a case."""
    case = CASES[name]
    board_text = (REPOSITORY / "platforms" / "boards" / f"{case.board}.yaml").read_text(encoding="utf-8")
    raw = yaml.safe_load(board_text)
    die = device(raw["device"])
    boards = [Board(raw, die, number, case.fpgas) for number in range(case.fpgas)]
    platform = _platform(raw, boards)
    interval = case.network.interval
    plan = {
        "schema": "floorflow-plan/1",
        "version": "0",
        "seed": 0,
        "inputs": [],
        "trace": [_refused(interval)],
        "warnings": [],
        "options": OPTIONS,
        "platform": platform,
        "networks": [{"name": "tiny", "operations": [], "engines": [_engine(*row) for row in case.network.engines]}],
        "search": {"interval_cycles": interval, "bound_cycles": interval, "gap": 0.0, "ended_by": "proof"},
        "phases": [phase_of_case(case, platform, die)],
    }
    plan = json.loads(json.dumps(plan))
    device_text = (REPOSITORY / "platforms" / "devices" / f"{raw['device']}.yaml").read_text(encoding="utf-8")
    files = {
        f"platform/boards/{case.board}.yaml": board_text,
        f"platform/devices/{raw['device']}.yaml": device_text,
        "vivado/floorflow.tcl": (REPOSITORY / "tcl" / "floorflow.tcl").read_text(encoding="utf-8"),
        **_finn_files(case),
    }
    for fpga, board in zip(platform["fpgas"], boards, strict=True):
        files |= _constraints(plan, case, board, fpga["name"])
    return plan, files


def _engine(name: str, attributes: dict[str, Any], weights: int, inputs: int, outputs: int) -> dict[str, Any]:
    bits = {"weight_bits": weights, "input_bits": inputs, "output_bits": outputs}
    return {"name": name, "kind": name[:-2], "operation": "op", "attributes": attributes, **bits}


def _platform(raw: dict[str, Any], boards: list[Board]) -> dict[str, Any]:
    names = [f"fpga{number}" for number in range(len(boards))]
    pairs = list(enumerate(boards))
    return {
        "name": raw["name"],
        "files": [f"boards/{raw['name']}.yaml", f"devices/{raw['device']}.yaml"],
        "fpgas": [_fpga(name, raw, board) for name, board in zip(names, boards, strict=True)],
        "links": [_link(raw["link"], lower, upper) for lower, upper in pairwise(names)],
        "infrastructure": [
            {"name": item["name"], "slot": f"fpga{n}.{item['slr']}", "resources": {**amounts(), **item["resources"]}}
            for n, board in pairs
            for item in board.infrastructure
        ],
        "slls": [
            {"lower": f"fpga{n}.SLR{i}", "upper": f"fpga{n}.SLR{i + 1}", "wires": wires}
            for n, board in pairs
            for i, wires in enumerate(board.sll_wires())
        ],
    }


def _fpga(name: str, raw: dict[str, Any], board: Board) -> dict[str, Any]:
    slrs = [slr["name"] for slr in board.device.raw["slrs"]]
    slots = [
        {"name": f"{name}.{slr}", "slr": slr, "capacity": board.capacities[i], "available": board.available(i)}
        for i, slr in enumerate(slrs)
    ]
    fixed = {"board": raw["name"], "part": raw["part"], "device": raw["device"], "crossing_registers": 2}
    ports = dict(zip(("host_port", "link_port"), PORTS[raw["name"]], strict=True))
    return {"name": name, "host_slot": f"{name}.SLR0", "slots": slots, **ports, **fixed}


def _link(link: dict[str, Any], lower: str, upper: str) -> dict[str, Any]:
    stated = {key: link[key] for key in ("kind", "gbps", "latency_us", "assumed")}
    ends = {"source": f"{lower}.{link['slr']}", "target": f"{upper}.{link['slr']}"}
    return {"name": f"{lower}-{upper}", **stated, **ends}


SOURCE = "source [file join [file dirname [file normalize [info script]]] .. vivado floorflow.tcl]"
FINN_NAMES = {"pe": "PE", "simd": "SIMD", "res_type": "resType"}


def _partition_id(case: Case, engine: str) -> int:
    """Each module is a partition of FINN's; the inputs' DMA engines come before."""
    inputs = sum(stream.source.startswith(HOST) for stream in case.network.streams)
    return list(case.network.modules).index(case.network.module_of(engine)) + inputs


def _cell_name(case: Case, board: Board, engine: str) -> str:
    """Name an engine as FINN does inside its partition, which here is its module."""
    if "{partition}" not in board.raw["cell_pattern"]:
        return engine
    kind = engine.rpartition("_")[0]
    inside = case.network.modules[case.network.module_of(engine)]
    order = [name for name, *_ in case.network.engines if name in inside and name.rpartition("_")[0] == kind]
    return f"{kind}_{order.index(engine)}"


def _finn_files(case: Case) -> Files:
    folding: dict[str, Any] = {"Defaults": {}}
    floorplan: dict[str, Any] = {"Defaults": {}}
    for name, entry in case.network.folding.items():
        chosen = {key: value for key, value in entry.items() if key not in ("cycles", "resources")}
        folding[name] = {FINN_NAMES.get(key, key): value for key, value in chosen.items()}
        fpga, slr = case.slot_of(name).split(".")
        place = {"slr": int(slr[-1]), "device_id": int(fpga[-1]), "mem_port": ""}
        floorplan[name] = {"partition_id": _partition_id(case, name), **place}
    return {"finn/folding_config.json": json.dumps(folding), "finn/floorplan.json": json.dumps(floorplan)}


def _constraints(plan: Plan, case: Case, board: Board, fpga: str) -> Files:
    xdc, tcl = ["# made by hand"], [SOURCE]
    tcl.append(f"floorflow::begin -part {board.raw['part']}")
    blocks = plan["phases"][0]["floorplan"][fpga]["pblocks"]
    for name, block in blocks.items():
        full, ranges = f"pblock_{name}", " ".join(block["ranges"])
        parent, get = board.parent_pblock(int(block["slot"][-1])), f"[get_pblocks {{pblock_{name}}}]"
        cells = [board.cell(_cell_name(case, board, e), _partition_id(case, e)) for e in case.network.modules[name]]
        xdc += [f"create_pblock {{{full}}}", f"resize_pblock {get} -add {{{ranges}}}"]
        xdc += [f"set_property PARENT [get_pblocks {{{parent}}}] {get}"] if parent else []
        xdc += [f"set_property IS_SOFT FALSE {get}"]
        xdc += [f"add_cells_to_pblock {get} [get_cells {{{cell}}}]" for cell in cells]
        options = f" -parent {{{parent}}}" if parent else ""
        tcl.append(f"floorflow::pblock {{{full}}} -ranges {{{ranges}}}{options} \\\n    -cells {{{' '.join(cells)}}}")
    tcl += [f"floorflow::end -pblocks {len(blocks)}", ""]
    return {f"{fpga}/pblocks.xdc": "\n".join(xdc) + "\n", f"{fpga}/pblocks.tcl": "\n".join(tcl)}


def write_folder(out: Path, plan: Plan, files: Files) -> Path:
    """Lay a plan folder on disk."""
    for name, content in {**files, "plan.json": json.dumps(plan, sort_keys=True)}.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return out
