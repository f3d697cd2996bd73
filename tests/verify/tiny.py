"""A plan folder made by hand from a case: the platform, and everything around the phase; and how to lay it on disk."""

import copy
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from floorflow.verify import check
from floorflow.verify.hardware.boards import Board
from tests.verify.dies import REPOSITORY, device
from tests.verify.tiny_bands import SOUGHT
from tests.verify.tiny_cases import CASES, CLOCK_MHZ, PORTS, Case
from tests.verify.tiny_network import RESOURCES, EngineRow, amounts, is_outside
from tests.verify.tiny_phase import CAP, PLACE_WEIGHTS, STATS, Part, limit_shares, phase_of_case

Plan = dict[str, Any]
Files = dict[str, str]

__all__ = ["CASES", "STATS", "Files", "Plan", "found_after", "read_folder", "tiny_plan", "write_folder"]

FILL = dict.fromkeys(RESOURCES)
CAGES = {"alveo-u250": 2}
OPTIONS = {
    "cap": CAP,
    "fill": FILL,
    "max_products": "1:8192,2:4096,3:1024",
    "max_engine_share": {"LUT": 0.25, "FF": 1.0, "BRAM18": 1.0, "URAM": 1.0, "DSP": 0.5},
    "confidence": SOUGHT,
    "constraint_style": "hard",
    "clock_mhz": CLOCK_MHZ,
    "backend": "finn",
    "backend_options": {
        "costs": "estimated",
        "finn": "main",
        "flow": "auto",
        "impl_style": "auto",
        "runtime_weights": "auto",
        "fifo_sizing": "floorflow",
        "crossings": "fifo",
    },
    "effort": "default",
    "fps": None,
    "granularity": "stage",
    "keep_granularity": False,
    "max_hops": None,
    "allow_cycles": False,
    "link_streams": None,
    "place_weights": PLACE_WEIGHTS,
    "host_port": None,
    "link": None,
    "objective": "throughput",
    "tie_break": "fullness",
    "topology": "chain",
    "models": ["tiny.onnx"],
    "platform": "tiny",
    "preset": "balanced",
    "fpgas": "auto",
    "seed": 0,
}


def _refused(phase: str, interval: int) -> dict[str, Any]:
    """Return a row of the trace about a shorter interval."""
    short = {"what": "budget", "resource": "LUT", "place": "", "needed": 12, "allowed": 10, "proven": True, "names": []}
    row = {"phase": phase, "interval_cycles": interval - 1, "verdict": "proven infeasible", "stage": "fold"}
    return row | {"refusals": [short], "detail": "LUT: at least 12 needed, 10 allowed"}


def tiny_plan(name: str) -> tuple[Plan, Files]:
    """Return plan and files (by relative path, plan.json excepted) of the legal folder of a case."""
    case = CASES[name]
    ground = Ground(case.board, case.fpgas)
    parts = [Part("tiny", case.network, case.latency_us)]
    phase = phase_of_case(case, ground.platform, ground.die, parts)
    plan = plan_of(ground, [network_entry("tiny", case.network.engines, case.network.interval)], [phase], None)
    plan["options"] |= {"max_hops": case.max_hops, "allow_cycles": case.allow_cycles}
    return plan, {**ground.files, **phase_files(plan, phase, case, ground, parts)}


class Ground:
    """A board, what FPGAs of it make a platform, and its files."""

    def __init__(self, board: str, fpgas: int) -> None:
        text = (REPOSITORY / "platforms" / "boards" / f"{board}.yaml").read_text(encoding="utf-8")
        self.raw = yaml.safe_load(text)
        self.die = device(self.raw["device"])
        self.boards = [Board(self.raw, self.die, number, fpgas) for number in range(fpgas)]
        self.platform = _platform(self.raw, self.boards)
        die = REPOSITORY / "platforms" / "devices" / f"{self.raw['device']}.yaml"
        self.files: Files = {
            f"platform/boards/{board}.yaml": text,
            f"platform/devices/{self.raw['device']}.yaml": die.read_text(encoding="utf-8"),
            "vivado/floorflow.tcl": (REPOSITORY / "tcl" / "floorflow.tcl").read_text(encoding="utf-8"),
        }


def network_entry(name: str, engines: Sequence[EngineRow], interval: int, phases: Sequence[str] = ("main",)) -> Plan:
    trace = [_refused(phase, interval) for phase in phases]
    return {
        "name": name,
        "operations": [{"name": "op", "type": "any", "inputs": [], "outputs": [], "macs": 0}],
        "engines": [_engine(*row) for row in engines],
        "search": {
            "interval_cycles": interval,
            "bound_cycles": interval,
            "joint_bound_cycles": interval,
            "gap": 0.0,
            "ended_by": "proof",
            "ended_at": {key: trace[0][key] for key in ("interval_cycles", "stage", "refusals")},
        },
        "trace": trace,
    }


def plan_of(ground: Ground, networks: list[Plan], phases: list[Plan], schedule: Plan | None) -> Plan:
    plan = {
        "schema": "floorflow-plan/2",
        "summary": summary_of(ground.platform, networks, phases, schedule),
        "version": "0",
        "seed": 0,
        "inputs": [],
        "calibration": None,
        "limits_lifted": [],
        "power": power_of(ground.platform, ground.raw, phases),
        "warnings": [],
        "interrupted": False,
        "options": OPTIONS,
        "platform": ground.platform,
        "networks": networks,
        "phases": phases,
        "schedule": schedule,
    }
    copied: Plan = json.loads(json.dumps(plan))
    return copied


def power_of(platform: Plan, board: dict[str, Any], phases: list[Plan]) -> Plan:
    """Return the watts of the platform's equal cards, all of UltraScale+, by what utilisation says lies there."""
    nanowatts = dict(zip(RESOURCES, (6.0, 28.0, 11_000.0, 44_000.0, 1_100.0), strict=True))
    cards, base = [], board["power"]["base_w"]
    for fpga in platform["fpgas"]:
        slots, names = fpga["slots"], {slot["name"] for slot in fpga["slots"]}
        used = [
            sum(
                phase["partition"]["utilisation"][s["name"]][r] * s["available"][r] * nanowatts[r]
                for s in slots
                for r in RESOURCES
            )
            for phase in phases
        ]
        kernels = [kernel for phase in phases for kernel in phase.get("link_kernels", [])]
        beside = [i["resources"] for i in (*platform["infrastructure"], *kernels) if i["slot"] in names]
        static = base + 2550 * sum(slot["capacity"]["LUT"] for slot in fpga["slots"]) / 1e9
        dynamic = CLOCK_MHZ * (sum(own[r] * nanowatts[r] for own in beside for r in RESOURCES) + max(used)) / 1e9
        cards.append({"fpga": fpga["name"], "static_w": static, "dynamic_w": dynamic, **_band(static + dynamic)})
    family = {"leakage_nw_per_lut": 2550.0, "dynamic_nw_per_mhz": nanowatts}
    assumed = {"clock_mhz": CLOCK_MHZ, "band": 1.5, "families": {"ultrascale+": family}}
    return {"cards": cards, "times": 1, "assumptions": assumed, **_band(sum(c["likely_w"] for c in cards))}


def _band(likely: float) -> dict[str, float]:
    return {"low_w": likely / 1.5, "likely_w": likely, "high_w": likely * 1.5}


def summary_of(platform: Plan, networks: list[Plan], phases: list[Plan], schedule: Plan | None) -> Plan:
    shares = [
        (phase["partition"]["utilisation"][slot["name"]][resource], phase["name"], slot["name"], resource)
        for phase in phases
        for fpga in platform["fpgas"]
        for slot in fpga["slots"]
        for resource in RESOURCES
    ]
    share, phase_name, slot_name, resource = max(shares, key=lambda row: row[0])
    return {
        "platform": platform["name"],
        "fpgas": len(platform["fpgas"]),
        "clock_mhz": CLOCK_MHZ,
        "phases": len(phases),
        "networks": [_network_summary(network, phases, schedule) for network in networks],
        "fullest": {"phase": phase_name, "slot": slot_name, "resource": resource, "share": share},
        "fullness": _fullness(platform, phases),
        "warnings": 0,
        "interrupted": False,
    }


def _fullness(platform: Plan, phases: list[Plan]) -> Plan:
    shares = [
        (share, phase, slot["name"], resource)
        for phase in phases
        for fpga in platform["fpgas"]
        for slot in fpga["slots"]
        for resource, share in limit_shares(platform, phase["partition"]["utilisation"], slot["name"]).items()
    ]
    share, phase, slot_name, resource = max(shares, key=lambda row: row[0])
    bound = phase["partition"]["fullness"]["bound"]
    return {"phase": phase["name"], "slot": slot_name, "resource": resource, "share": share, "bound": bound}


def _network_summary(network: Plan, phases: list[Plan], schedule: Plan | None) -> Plan:
    parts = [part for phase in phases for part in phase["networks"] if part["network"] == network["name"]]
    slowest = max(parts, key=lambda part: part["interval_cycles"])
    alone = schedule is None
    return {
        "network": network["name"],
        "fps": slowest["estimates"]["fps"] if schedule is None else schedule["batch"] * 1e6 / schedule["period_us"],
        "sustained_fps": slowest["estimates"]["sustained_fps"] if alone else None,
        "interval_cycles": slowest["interval_cycles"],
        "bound_cycles": network["search"]["bound_cycles"],
        "joint_bound_cycles": network["search"]["joint_bound_cycles"],
        "gap": network["search"]["gap"],
        "latency_us": slowest["estimates"]["latency_us"] if alone else None,
        "bottleneck": slowest["estimates"]["bottleneck"],
    }


def phase_files(plan: Plan, phase: Plan, case: Case, ground: Ground, parts: Sequence[Part]) -> Files:
    """Return the files of a phase, in a folder of its own if there are several."""
    prefix = f"phases/{phase['name']}/" if len(plan["phases"]) > 1 else ""
    ids = partition_ids(case, parts)
    files: Files = {}
    for part in parts:
        folder = f"finn/{part.name}" if len(plan["networks"]) > 1 else "finn"
        files |= _finn_files(folder, part, case, ids, phase["channels"])
    if len(ground.boards) > 1:
        files["topology.json"] = json.dumps(_topology(plan, phase))
    files["bound.json"] = json.dumps({"cells": _cells(plan, phase, case, ground, ids), "renamed": [], "notes": []})
    for fpga, board in zip(plan["platform"]["fpgas"], ground.boards, strict=True):
        files |= _constraints(phase, case, board, fpga["name"], ids, up=1 + prefix.count("/"))
    return {prefix + name: text for name, text in files.items()}


def _engine(name: str, attributes: dict[str, Any], weights: int, inputs: int, outputs: int) -> dict[str, Any]:
    bits = {"weight_bits": weights, "input_bits": inputs, "output_bits": outputs}
    known = {"name": name, "kind": name[:-2], "label": name, "role": "core", "operation": "op"}
    return {**known, "attributes": attributes, **bits}


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
        "boundaries": [
            {"name": f"fpga{n}.SLR{i}-fpga{n}.SLR{i + 1}", **_boundary(n, i), "wires": wires, "kind": "sll"}
            for n, board in pairs
            for i, wires in enumerate(board.sll_wires())
        ],
    }


def _boundary(fpga: int, below: int) -> dict[str, str]:
    return {"lower": f"fpga{fpga}.SLR{below}", "upper": f"fpga{fpga}.SLR{below + 1}"}


def _fpga(name: str, raw: dict[str, Any], board: Board) -> dict[str, Any]:
    slrs = [slr["name"] for slr in board.device.raw["slrs"]]
    slots = [
        {
            "name": f"{name}.{slr}",
            "fpga": name,
            "slr": slr,
            "half": "",
            "capacity": board.capacities[i],
            "available": board.available(i),
        }
        for i, slr in enumerate(slrs)
    ]
    fixed = {
        "board": raw["name"],
        "part": raw["part"],
        "device": raw["device"],
        "crossing": {"registers": 2, "fifos": True, "slices": False},
    }
    fixed |= {f"power_{name}": raw["power"].get(name) for name in ("limit_w", "base_w")}
    ports = dict(zip(("host_port", "link_port"), PORTS[raw["name"]], strict=True))
    host = {"host_slot": f"{name}.SLR0", "host_memory": raw["memories"][0]["name"] if "memories" in raw else None}
    return {"name": name, **host, "slots": slots, "unstated": board.unstated, **ports, **fixed}


def _link(link: dict[str, Any], lower: str, upper: str) -> dict[str, Any]:
    stated = {key: link[key] for key in ("kind", "gbps", "latency_us", "assumed")}
    stated |= {"reliable": True, "overhead": link.get("overhead", 0.0)}
    ends = {"source": f"{lower}.{link['slr']}", "target": f"{upper}.{link['slr']}"}
    return {"name": f"{lower}-{upper}", **stated, **ends}


def partition_ids(case: Case, parts: Sequence[Part]) -> dict[str, int]:
    """Each module is a partition of FINN's; each network's numbers begin with its inputs' DMA engines."""
    ids: dict[str, int] = {}
    first = 0
    for part in parts:
        first += sum(is_outside(stream.source) for stream in part.network.streams)
        modules = [name for name, engines in case.network.modules.items() if engines[0] in part.network.folding]
        ids |= {engine: first + n for n, name in enumerate(modules) for engine in case.network.modules[name]}
        first += len(modules)
    return ids


def _cell(case: Case, board: Board, engine: str, ids: dict[str, int]) -> str:
    """Name an engine as FINN does inside its partition, which here is its module."""
    pattern: str = board.raw["cell_pattern"]
    if "{partition}" not in pattern:
        return pattern.replace("{engine}", engine)
    kind = engine.rpartition("/")[2].rpartition("_")[0]
    order = [name for name in case.network.folding if ids[name] == ids[engine] and f"/{name}".count(f"/{kind}_")]
    name = f"{kind}_{order.index(engine)}"
    return pattern.replace("{engine}", name).replace("{partition}", str(ids[engine]))


def _cells(plan: Plan, phase: Plan, case: Case, ground: Ground, ids: dict[str, int]) -> dict[str, str]:
    """Return the cell of every engine, as a build is said to have told it."""
    boards = {fpga["name"]: board for fpga, board in zip(plan["platform"]["fpgas"], ground.boards, strict=True)}
    engines = [engine for module in phase["modules"] for engine in module["engines"]]
    return {engine: _cell(case, boards[case.slot_of(engine).split(".")[0]], engine, ids) for engine in engines}


def _topology(plan: Plan, phase: Plan) -> dict[str, Any]:
    """Return the file of who talks to whom."""
    fpgas, slots = plan["platform"]["fpgas"], {s["name"]: f for f in plan["platform"]["fpgas"] for s in f["slots"]}
    streams, cables, cages = [], {}, dict.fromkeys((fpga["name"] for fpga in fpgas), 0)
    passed = [c for c in phase["partition"]["crossings"] if c["kind"] == "link"]
    for link in plan["platform"]["links"]:
        ends = [{"card": slots[slot]["name"], "slot": slot} for slot in (link["source"], link["target"])]
        pair = {end["card"] for end in ends}
        over = [c for c in passed if {slots[c["source"]]["name"], slots[c["target"]]["name"]} == pair]
        for end in ends if over else ():
            end["cage"] = cages[end["card"]]
            cages[end["card"]] += 1
        cables |= {link["name"]: {**link, "ends": ends}} if over else {}
        streams += [(passed.index(c), c, link["name"]) for c in over]
    streams.sort(key=lambda row: row[0])
    told = ("name", "kind", "gbps", "latency_us", "ends")
    order = dict.fromkeys(name for _, _, name in streams)
    host = [[c["name"] for c in phase["channels"] if is_outside(c[side])] for side in ("source", "target")]
    return {
        "schema": "floorflow-topology/1",
        "phase": phase["name"],
        "clock_mhz": plan["options"]["clock_mhz"],
        "cards": [
            {
                **{key: fpga[key] for key in ("name", "board", "part")},
                "outside": host[0] * (fpga is fpgas[0]) + host[1] * (fpga is fpgas[-1]),
                "cages": CAGES.get(fpga["board"]),
            }
            for fpga in fpgas
        ],
        "cables": [{"link" if key == "name" else key: cables[name][key] for key in told} for name in order],
        "streams": [
            {
                "channel": c["channel"],
                "link": name,
                **{side: slots[c[side]]["name"] for side in ("source", "target")},
                "bits": c["width_bits"],
                "gbps": c["gbps"],
            }
            for _, c, name in streams
        ],
        "start_order": [fpga["name"] for fpga in reversed(fpgas)],
    }


def _inserted(engines: set[str], channels: list[Any]) -> dict[str, Any]:
    """Return an entry of floorplan.json for each FIFO, converter and DMA engine of a network."""
    own = [channel for channel in channels if {channel["source"], channel["target"]} & engines]
    kinds = ["StreamingFIFO_rtl" for _ in own]
    for channel in own:
        kinds += [channel["converter"], "StreamingFIFO_rtl"] if channel["converter"] else []
        kinds += ["IODMA_hls"] if (channel["source"] in engines) != (channel["target"] in engines) else []
    names = [f"{kind}_{kinds[:number].count(kind)}" for number, kind in enumerate(kinds)]
    place = {"slr": 0, "device_id": 0, "mem_port": ""}
    return {name: {"partition_id": 900 + number, **place} for number, name in enumerate(names)}


def _finn_files(folder: str, part: Part, case: Case, ids: dict[str, int], channels: list[Any]) -> Files:
    folding: dict[str, Any] = {"Defaults": {}}
    floorplan: dict[str, Any] = {"Defaults": {}}
    for name, entry in part.network.folding.items():
        node = name.rpartition("/")[2]
        folding[node] = {key: value for key, value in entry.items() if key not in ("cycles", "resources")}
        fpga, slr = case.slot_of(name).split(".")
        place = {"slr": int(slr[-1]), "device_id": int(fpga[-1]), "mem_port": ""}
        kind = node.rpartition("_")[0]
        number = sum(other.rpartition("_")[0] == kind for other in floorplan)  # anew in each phase
        floorplan[f"{kind}_{number}"] = {"partition_id": ids[name], **place}
    floorplan |= _inserted({*part.network.folding}, channels)
    return {f"{folder}/folding_config.json": json.dumps(folding), f"{folder}/floorplan.json": json.dumps(floorplan)}


def _constraints(phase: Plan, case: Case, board: Board, fpga: str, ids: dict[str, int], up: int) -> Files:
    steps = " ".join([".."] * up)
    source = f"source [file join [file dirname [file normalize [info script]]] {steps} vivado floorflow.tcl]"
    xdc, tcl = ["# made by hand"], [source]
    tcl.append(f"floorflow::begin -part {board.raw['part']}")
    blocks = phase["floorplan"][fpga]["pblocks"]
    engines = [engine for name in blocks for engine in case.network.modules[name]]
    tcl += [_ports(_cell(case, board, engine, ids), engine, phase["channels"]) for engine in engines]
    for name, block in blocks.items():
        full, ranges = f"pblock_{name}", " ".join(block["ranges"])
        parent, get = board.parent_pblock(int(block["slot"][-1])), f"[get_pblocks {{pblock_{name}}}]"
        cells = [_cell(case, board, engine, ids) for engine in case.network.modules[name]]
        xdc += [f"create_pblock {{{full}}}", f"resize_pblock {get} -add {{{ranges}}}"]
        xdc += [f"set_property PARENT [get_pblocks {{{parent}}}] {get}"] if parent else []
        xdc += [f"set_property IS_SOFT FALSE {get}"]
        xdc += [f"add_cells_to_pblock {get} [get_cells {{{cell}}}]" for cell in cells]
        options = f" -parent {{{parent}}}" if parent else ""
        tcl.append(f"floorflow::pblock {{{full}}} -ranges {{{ranges}}}{options} \\\n    -cells {{{' '.join(cells)}}}")
    compared = f" -ports {len(engines)}" if engines else ""
    tcl += [f"floorflow::end -pblocks {len(blocks)} -assigned 0{compared}", ""]
    return {f"{fpga}/pblocks.xdc": "\n".join(xdc) + "\n", f"{fpga}/pblocks.tcl": "\n".join(tcl)}


def _ports(cell: str, engine: str, channels: list[Any]) -> str:
    into = sorted(c["target_width_bits"] for c in channels if c["target"] == engine)
    out = sorted(c["source_width_bits"] for c in channels if c["source"] == engine)
    return f"floorflow::ports {{{cell}}} -in {{{' '.join(map(str, into))}}} -out {{{' '.join(map(str, out))}}}"


def write_folder(out: Path, plan: Plan, files: Files) -> Path:
    """Lay a plan folder on disk."""
    for name, content in {**files, "plan.json": json.dumps(plan, sort_keys=True)}.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return out


def read_folder(out: Path) -> tuple[Plan, Files]:
    """Return the plan of a folder, and its other files."""
    files = {path.relative_to(out).as_posix(): path.read_text("utf-8") for path in out.rglob("*") if path.is_file()}
    return json.loads(files.pop("plan.json")), files


def found_after(spoil: Callable[[Plan, Files], object], plan: Plan, files: Files, out: Path) -> set[str]:
    """Return what check finds, by name, in a copy of a plan and its files that a mistake is planted in."""
    plan, files = copy.deepcopy((plan, files))
    spoil(plan, files)
    return {violation.name for violation in check(write_folder(out, plan, files))}
