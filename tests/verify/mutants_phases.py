"""Mistakes in plans of several phases: two by two, at a shared memory, in time and in a region."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.verify.planting import ONE_NETWORK, Files, Plan, Registry, first
from tests.verify.two_by_two import NAMES

PHASES = Registry()


def part(plan: Plan, phase: int, network: int) -> Plan:
    found: Plan = plan["phases"][phase]["networks"][network]
    return found


def channel(plan: Plan, phase: int, name: str) -> Plan:
    """Return a channel by the short name that it has in two_by_two."""
    full_name = NAMES[f"p{phase}", name]
    found: Plan = first(c for c in plan["phases"][phase]["channels"] if c["name"] == full_name)
    return found


@PHASES.mutant("port-mismatch")
def host_inputs_from_one(plan: Plan, files: Files) -> None:
    for phase in (0, 1):
        channel(plan, phase, "radar_echo")["source"] = "radar/host:in1"


@PHASES.mutant("cap-exceeded")
def networks_that_fit_only_one_at_a_time(plan: Plan, files: Files) -> None:
    available = plan["platform"]["fpgas"][0]["slots"][0]["available"]["LUT"]
    for network, engine, module in ((0, "camera/MVAU_hls_1", "back"), (1, "radar/AddStreams_hls_0", "fuse")):
        amount = int(available * plan["options"]["cap"]["LUT"] * 0.6)
        folding = part(plan, 1, network)["folding"]
        entry = first(m for m in plan["phases"][1]["modules"] if m["name"] == module)
        demand = plan["phases"][1]["floorplan"]["fpga0"]["pblocks"][module]["demand"]
        for amounts in (folding["engines"][engine]["resources"], folding["resources"], folding["budget"]):
            amounts["LUT"] += amount
        entry["resources"]["LUT"] += amount
        demand["LUT"] += amount
        plan["phases"][1]["partition"]["utilisation"]["fpga0.SLR0"]["LUT"] += amount / available


@PHASES.mutant("file-missing")
def files_of_a_phase_in_the_folder_of_all(plan: Plan, files: Files) -> None:
    for name in [name for name in files if name.startswith("phases/p0/")]:
        files[name.removeprefix("phases/p0/")] = files.pop(name)


@PHASES.mutant("cell-misplaced")
def cells_of_the_other_phase(plan: Plan, files: Files) -> None:
    name = "phases/p1/fpga0/pblocks.xdc"
    lines = files[name].split("\n")
    cells = [number for number, line in enumerate(lines) if line.startswith("add_cells")]
    one, other = lines[cells[0]], lines[cells[-1]]
    get = [line.partition("[get_cells ")[2] for line in (one, other)]
    lines[cells[0]], lines[cells[-1]] = one.replace(get[0], get[1]), other.replace(get[1], get[0])
    files[name] = "\n".join(lines)


AT_MEMORY = Registry()
TABLE, ROWS = "fcnnx/mcnn_hs.json", "fcnnx/mcnn_hs.csv"


def shared(plan: Plan) -> Plan:
    found: Plan = plan["memory_schedule"]
    return found


def network(plan: Plan, number: int = 0) -> Plan:
    found: Plan = shared(plan)["networks"][number]
    return found


def transfers(plan: Plan, number: int = 0) -> list[Plan]:
    name = network(plan, number)["network"]
    return [entry for entry in shared(plan)["transfers"] if entry["network"] == name]


@ONE_NETWORK.mutant("memory-schedule-needless")
def schedule_of_a_memory_that_no_engine_works_from(plan: Plan, files: Files) -> None:
    stats = {"method": "exact", "status": "optimal", "objective": 1.0, "bound": 1.0, "gap": 0.0}
    plan["memory_schedule"] = {
        "memory_gbs": 1.0,
        "bandwidth_gbs": 0.9,
        "fairness": "fps-error",
        "two_sided": False,
        "burst_beats": 1024,
        "limits_share": 1.0,
        "slots_total": 64,
        "period_us": 1.0,
        "error": 0.0,
        "error_bound": 0.0,
        "choice": stats,
        "schedule": stats,
        "networks": [],
        "transfers": [],
        "front": [],
    }


@AT_MEMORY.mutant("wrong-transfer-order")
def one_inference_less_than_stated(plan: Plan, files: Files) -> None:
    count = len(network(plan)["subgraphs"])
    last = transfers(plan)[-1]["run"]
    kept = [
        e for e in shared(plan)["transfers"] if e["network"] != network(plan)["network"] or e["run"] <= last - count
    ]
    shared(plan)["transfers"] = kept


def engine_of(plan: Plan) -> Plan:
    engines: Plan = plan["phases"][0]["networks"][0]["folding"]["engines"]
    found: Plan = next(iter(engines.values()))
    return found


RECONFIGURED = Registry()
BUFFERS = "phases/p1/buffers.json"


TARGETS = Registry()
COPIES = Registry()
LINKED = Registry()
LINKS = "vitis/floorflow.cfg"
HOST = "host/host.json"


def put(files: Files, old: str, new: str, file: str = LINKS) -> None:
    """Replace a text that a file holds, by default the configuration of copies."""
    assert old in files[file]
    files[file] = files[file].replace(old, new, 1)


def tell(files: Files, place: str, value: object) -> None:
    """Set what host.json says at keys and numbers behind dots."""
    content = held = json.loads(files[HOST])
    *way, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    for key in way:
        held = held[key]
    assert held[last] != value
    held[last] = value
    files[HOST] = json.dumps(content)


def row(plan: Plan, network: str) -> Plan:
    """Return the target of a network."""
    found: Plan = next(row for row in plan["targets"]["networks"] if row["network"] == network)
    return found


def at(number: int, field: str, change: Callable[[float], float | None]) -> Callable[[Plan], None]:
    def spoil(plan: Plan) -> None:
        step = plan["schedule"]["steps"][number]
        step[field] = change(step[field])

    return spoil


def of(field: str, change: Callable[[float], float]) -> Callable[[Plan], None]:
    def spoil(plan: Plan) -> None:
        plan["schedule"][field] = change(plan["schedule"][field])

    return spoil


IN_TIMELINES: dict[str, tuple[str, Callable[[Plan], None]]] = {
    "a run before its load ends": ("wrong-timeline", at(0, "run_start_us", lambda us: us - 1)),
    "a run before the batch lies in memory": ("wrong-timeline", at(1, "run_start_us", lambda us: us - 1)),
    "a run later than it could": ("wrong-timeline", at(1, "run_start_us", lambda us: us + 5)),
    "a load while the port is busy": ("wrong-timeline", at(1, "load_start_us", lambda us: us - 1)),
    "a load while its region runs": ("wrong-timeline", at(2, "load_start_us", lambda us: us - 1)),
    "a load in no time": ("wrong-timeline", at(1, "load_us", lambda _: 0.0)),
    "a load that is not told": ("wrong-timeline", at(1, "load_start_us", lambda _: None)),
    "a shorter period": ("wrong-timeline", of("period_us", lambda us: us * 0.9)),
    "a first load counted twice": ("wrong-timeline", of("reload_us", lambda us: us + 10)),
    "a run without the pipeline filled": ("wrong-schedule", at(0, "run_us", lambda us: us * 0.98)),
    "a memory that carries more": ("wrong-load-time", of("memory_gbps", lambda gbps: 2 * gbps)),
}


def chunks(change: Callable[[Plan], None]) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        path = out / "host" / "chunks.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def script(old: str, new: str) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        path = out / "dfx" / "dfx.tcl"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return spoil


def moved_pblock(out: Path) -> None:
    path = out / "phases" / "p0" / "fpga0" / "pblocks.unbound.tcl"
    path.write_text(path.read_text().replace("-parent {pblock_region_r0} \\\n    ", ""))


IN_REGION_FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "another cell": ("wrong-region-script", script("{top_i/r0}", "{top_i/r1}")),
    "another range": ("wrong-region-script", script("Y49", "Y48")),
    "no reset": ("wrong-region-script", script("reset TRUE", "reset FALSE")),
    "another part": ("wrong-region-script", script("xc7z020clg400-1", "xc7z010clg400-1")),
    "a phase not implemented": ("wrong-region-script", script("{r0} {p1}", "{r0} {p0}")),
    "no script": ("file-missing", lambda out: (out / "dfx" / "dfx.tcl").unlink()),
    "no chunks": ("file-missing", lambda out: (out / "host" / "chunks.json").unlink()),
    "two buffers at one place": ("wrong-chunks", chunks(lambda c: [b.update(offset=0) for b in c["buffers"]] and None)),
    "a shorter buffer": ("wrong-chunks", chunks(lambda c: c["buffers"][0].update(bytes=1))),
    "another writer": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(written_by=["p1"]))),
    "not packed anew": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(packed_from=None))),
    "released too early": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(last_step=0))),
    "less memory": ("wrong-chunks", chunks(lambda c: c.update(memory_bytes=1))),
    "another order": ("wrong-chunks", chunks(lambda c: c["steps"].reverse())),
    "a step less": ("wrong-chunks", chunks(lambda c: c["steps"].pop())),
    "another reference": ("wrong-chunks", chunks(lambda c: c.update(reference={"r0": "p1"}))),
    "a buffer twice": ("wrong-chunks", chunks(lambda c: c["buffers"].append(c["buffers"][0]))),
    "no batch": ("wrong-chunks", chunks(lambda c: c.pop("batch"))),
    "no parent": ("pblock-parent", moved_pblock),
}
