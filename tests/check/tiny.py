"""A plan folder made by hand: four engines in two modules, on one SLR (xcku5p) or on two (alveo-u250).

Foldings, cycles, widths and words are worked out on paper; only sites and resources of rectangles are counted.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import yaml

from floorflow.check.boards import Board
from floorflow.check.geometry import Device, Rectangle, anchor_of
from tests.check.dies import REPOSITORY, device, ranges_of
from tests.check.tiny_network import (
    ENGINES,
    FIRST,
    FOLDING,
    INTERVAL,
    LATENCY,
    MODULES,
    RESOURCES,
    STREAMS,
    add,
    amounts,
    channel,
    module_of,
)

Plan = dict[str, Any]
Files = dict[str, str]

STATS = {"method": "hand", "status": "optimal", "objective": 1.0, "bound": 1.0, "gap": 0.0}
CAP = {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}
CLOCK_MHZ = 200.0
ESTIMATES = {
    "clock_mhz": CLOCK_MHZ,
    "cycles": INTERVAL,
    "fps": CLOCK_MHZ * 1e6 / INTERVAL,
    "latency_us": LATENCY / CLOCK_MHZ,
    "bottleneck": FIRST,
}
OPTIONS = {
    "cap": CAP,
    "fill": FILL,
    "clock_mhz": CLOCK_MHZ,
    "costs": "estimated",
    "finn": "main",
    "effort": "default",
    "fps": None,
    "granularity": "stage",
    "objective": "throughput",
}
LAYOUTS = {
    "xcku5p": {"front": (Rectangle(5, 0, 59, 59), "SLR0"), "back": (Rectangle(60, 0, 101, 59), "SLR0")},
    "alveo-u250": {"front": (Rectangle(3, 0, 61, 59), "SLR0"), "back": (Rectangle(3, 240, 61, 299), "SLR1")},
}


def tiny_plan(board_name: str) -> tuple[Plan, Files]:
    """Return plan and files (by relative path, plan.json excepted) of a legal folder."""
    board_text = (REPOSITORY / "platforms" / "boards" / f"{board_name}.yaml").read_text(encoding="utf-8")
    raw = yaml.safe_load(board_text)
    board = Board(raw, device(raw["device"]))
    slr_of = {module: slr for module, (_, slr) in LAYOUTS[board_name].items()}
    channels = [channel(name, a, b, (wa, wb), words) for name, a, b, wa, wb, words in STREAMS]
    crossings = _cross(channels, slr_of)
    plan = {
        "schema": "floorflow-plan/1",
        "version": "0",
        "seed": 0,
        "inputs": [],
        "trace": [],
        "warnings": [],
        "options": OPTIONS,
        "platform": _platform(board),
        "networks": [{"name": "tiny", "operations": [], "engines": [_engine(*row) for row in ENGINES]}],
        "search": {"interval_cycles": INTERVAL, "bound_cycles": INTERVAL, "gap": 0.0, "ended_by": "proof"},
        "phases": [_phase(board, channels, crossings, LAYOUTS[board_name])],
    }
    plan = json.loads(json.dumps(plan))
    _fill_utilisation(plan)
    device_text = (REPOSITORY / "platforms" / "devices" / f"{raw['device']}.yaml").read_text(encoding="utf-8")
    files = {
        f"platform/boards/{board_name}.yaml": board_text,
        f"platform/devices/{raw['device']}.yaml": device_text,
        **_finn_files(slr_of),
        **_constraints(plan, board, slr_of),
    }
    return plan, files


def _engine(name: str, attributes: dict[str, Any], weights: int, inputs: int, outputs: int) -> dict[str, Any]:
    bits = {"weight_bits": weights, "input_bits": inputs, "output_bits": outputs}
    return {"name": name, "kind": name[:-2], "operation": "op", "attributes": attributes, **bits}


def _platform(board: Board) -> dict[str, Any]:
    slrs = [slr["name"] for slr in board.device.raw["slrs"]]
    slots = [
        {"name": f"fpga0.{slr}", "slr": slr, "capacity": board.capacities[i], "available": board.available(i)}
        for i, slr in enumerate(slrs)
    ]
    wires = list(board.sll_wires())
    return {
        "name": board.raw["name"],
        "links": [],
        "files": [f"boards/{board.raw['name']}.yaml", f"devices/{board.raw['device']}.yaml"],
        "fpgas": [
            {
                "name": "fpga0",
                "board": board.raw["name"],
                "part": board.raw["part"],
                "device": board.raw["device"],
                "host_slot": "fpga0.SLR0",
                "crossing_registers": 2,
                "slots": slots,
            }
        ],
        "infrastructure": [
            {"name": item["name"], "slot": f"fpga0.{item['slr']}", "resources": {**amounts(), **item["resources"]}}
            for item in board.infrastructure
        ],
        "slls": [
            {"lower": f"fpga0.SLR{i}", "upper": f"fpga0.SLR{i + 1}", "wires": count} for i, count in enumerate(wires)
        ],
    }


def _cross(channels: list[dict[str, Any]], slr_of: dict[str, str]) -> list[dict[str, Any]]:
    """Give channels between SLR0 and SLR1 their registers (one stage in each, two wires beside the data)."""
    crossings = []
    for entry in channels:
        ends = [
            "SLR0" if entry[end].startswith("host:") else slr_of[module_of(entry[end])] for end in ("source", "target")
        ]
        if ends[0] != ends[1]:
            flops = amounts(ff=entry["width_bits"] + 2)  # all widths here are whole bytes
            entry["crossing_registers"] = 2
            entry["crossing_resources"] = {"fpga0.SLR0": flops, "fpga0.SLR1": flops}
            gbps = entry["words_per_frame"] * entry["width_bits"] * (CLOCK_MHZ * 1e6 / INTERVAL) / 1e9
            crossings.append(
                {
                    "channel": entry["name"],
                    "source": f"fpga0.{ends[0]}",
                    "target": f"fpga0.{ends[1]}",
                    "width_bits": entry["width_bits"],
                    "gbps": gbps,
                    "hops": 1,
                    "kind": "sll",
                }
            )
    return crossings


def _phase(board: Board, channels: list[Any], crossings: list[Any], layout: dict[str, Any]) -> dict[str, Any]:
    held = {name: [FOLDING[engine]["resources"] for engine in engines] for name, engines in MODULES.items()}
    for entry in channels:
        held[entry["fifo_module"]].append(entry["fifo_resources"])
        if entry["converter"]:
            held[entry["converter_module"]].append(entry["converter_resources"])
    modules = [
        {"name": name, "engines": engines, "implementation": name, "reused": False, "resources": add(*held[name])}
        for name, engines in MODULES.items()
    ]
    return {
        "folding": {"engines": FOLDING, "cycles": INTERVAL, "stats": STATS},
        "channels": channels,
        "modules": modules,
        "implementations": [{"name": name, "window": {}, "ports": []} for name in MODULES],
        "partition": {
            "assignment": {name: f"fpga0.{slr}" for name, (_, slr) in layout.items()},
            "utilisation": {},
            "crossings": crossings,
            "cost": sum(crossing["width_bits"] + 2 for crossing in crossings),
            "stats": STATS,
        },
        "floorplan": {
            "fpga0": {
                "pblocks": {
                    module["name"]: pblock(board.device, *layout[module["name"]], module["resources"])
                    for module in modules
                },
                "hpwl": _hidden_length([area for area, _ in layout.values()]),
                "congestion": {},
                "stats": STATS,
            }
        },
        "estimates": ESTIMATES,
    }


def _hidden_length(areas: list[Rectangle]) -> float:
    """Wire length of the one stream between the two modules, 16 bits wide."""
    (first, second) = areas
    across = abs((first.left + first.right) / 2 - (second.left + second.right) / 2)
    return 16 * (across + abs((first.bottom + first.top) / 2 - (second.bottom + second.top) / 2))


def pblock(die: Device, area: Rectangle, slr: str, demand: dict[str, int]) -> dict[str, Any]:
    sites = die.sites(area)
    sides = {"left": area.left, "bottom": area.bottom, "right": area.right, "top": area.top}
    return {
        "slot": f"fpga0.{slr}",
        "rectangle": sides,
        "ranges": ranges_of(sites),
        "anchor": anchor_of(sites),
        "demand": demand,
        "supply": die.resources(area),
    }


def _fill_utilisation(plan: Plan) -> None:
    phase = plan["phases"][0]
    for slot in plan["platform"]["fpgas"][0]["slots"]:
        inside = [
            m["resources"] for m in phase["modules"] if phase["partition"]["assignment"][m["name"]] == slot["name"]
        ]
        flops = [c["crossing_resources"].get(slot["name"], amounts()) for c in phase["channels"]]
        demand = add(amounts(), *inside, *flops)
        shares = {r: demand[r] / slot["available"][r] if slot["available"][r] else 0.0 for r in RESOURCES}
        assert all(math.isfinite(share) for share in shares.values())
        phase["partition"]["utilisation"][slot["name"]] = {r: round(share, 9) for r, share in shares.items()}


FINN_NAMES = {"pe": "PE", "simd": "SIMD", "res_type": "resType"}


def _finn_files(slr_of: dict[str, str]) -> Files:
    folding: dict[str, Any] = {"Defaults": {}}
    floorplan: dict[str, Any] = {"Defaults": {"slr": [-1, ["all"]]}}
    for name, entry in FOLDING.items():
        chosen = {key: value for key, value in entry.items() if key not in ("cycles", "resources")}
        folding[name] = {FINN_NAMES.get(key, key): value for key, value in chosen.items()}
        slr = int(slr_of[module_of(name)][-1])
        floorplan[name] = {"slr": slr, "partition_id": slr + 1, "device_id": 0, "mem_port": ""}
    return {"finn/folding_config.json": json.dumps(folding), "finn/floorplan.json": json.dumps(floorplan)}


def _constraints(plan: Plan, board: Board, slr_of: dict[str, str]) -> Files:
    xdc, tcl = ["# made by hand"], ["source [file join [file dirname [info script]] .. vivado floorflow.tcl]"]
    tcl.append(f"floorflow::begin -part {board.raw['part']}")
    for name, block in plan["phases"][0]["floorplan"]["fpga0"]["pblocks"].items():
        slr, full, ranges = int(slr_of[name][-1]), f"pblock_{name}", " ".join(block["ranges"])
        parent, get = board.parent_pblock(slr), f"[get_pblocks {{pblock_{name}}}]"
        cells = [board.cell(engine, slr + 1) for engine in MODULES[name]]
        xdc += [f"create_pblock {{{full}}}", f"resize_pblock {get} -add {{{ranges}}}"]
        xdc += [f"set_property PARENT [get_pblocks {{{parent}}}] {get}"] if parent else []
        xdc += [f"set_property IS_SOFT FALSE {get}"]
        xdc += [f"add_cells_to_pblock {get} [get_cells {{{cell}}}]" for cell in cells]
        options = f" -parent {{{parent}}}" if parent else ""
        tcl.append(f"floorflow::pblock {{{full}}} -ranges {{{ranges}}}{options} \\\n    -cells {{{' '.join(cells)}}}")
    return {"fpga0/pblocks.xdc": "\n".join(xdc) + "\n", "fpga0/pblocks.tcl": "\n".join([*tcl, "floorflow::end", ""])}


def write_folder(out: Path, plan: Plan, files: Files) -> Path:
    """Lay a plan folder on disk."""
    for name, content in {**files, "plan.json": json.dumps(plan, sort_keys=True)}.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return out
