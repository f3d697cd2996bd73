"""How phases follow one another: each once, its time on the whole batch, loads, memory, buffers, and the sum.

Phases in regions fill their pipelines once a batch (Seyoum et al., eq. 5); others are told without that (SAMO, eq. 4).
One port loads one region at a time; a region is loaded when its last phase has run; a phase runs when it is loaded and
the batch of the phase before it lies in memory. Files that tell script and host of it are judged here as well.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from floorflow.verify.facts import End, PhaseFacts, Phases
from floorflow.verify.files import Folder
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.phase_records import PhaseRecord
from floorflow.verify.plan_records import PlanRecord, RegionRecord, ScheduleRecord, StepRecord
from floorflow.verify.records import SIDES, Record, Side, repeated
from floorflow.verify.rules.claims import check_stats
from floorflow.verify.schema import file_record, holds
from floorflow.verify.violations import Findings

KINDS = ("reconfigure",)


def check_schedule(plan: PlanRecord, findings: Findings) -> None:
    """Judge the schedule, which a plan has if it has several phases, or if partitions in time were asked for."""
    schedule, phases, name = plan["schedule"], plan["phases"], "wrong-schedule"
    asked = is_reconfigured(plan)
    if schedule is None:
        if len(phases) > 1 or asked:
            why = "the plan has several phases" if len(phases) > 1 else "options.reconfigure asks for one"
            findings.add(name, "schedule", f"is null, {why}")
        return
    if len(phases) == 1 and not asked:
        findings.add(name, "schedule", "is given, the plan has one phase")
        return
    if schedule["kind"] not in KINDS:
        findings.add(name, "schedule.kind", f"is {schedule['kind']}, expected {', '.join(KINDS)}")
    if schedule["batch"] < 1:
        findings.add(name, "schedule.batch", "must be at least one frame")
    listed, expected = [step["phase"] for step in schedule["steps"]], [phase["name"] for phase in phases]
    if listed != expected:
        findings.add(name, "schedule.steps", f"are {', '.join(listed)}; the phases are {', '.join(expected)}")
        return
    for phase, step in zip(phases, schedule["steps"], strict=True):
        _check_step(plan, schedule["batch"], phase, step, findings)
    if in_regions(plan):
        return  # loads hide behind runs, as `check_timeline` judges
    total = sum(step["load_us"] + step["run_us"] for step in schedule["steps"])
    findings.expect(name, "schedule", "period_us", schedule["period_us"], total)


def is_reconfigured(plan: PlanRecord) -> bool:
    """Whether the options ask for parts that run one after another."""
    return plan["options"].get("reconfigure", "none") != "none"


def in_regions(plan: PlanRecord) -> bool:
    """Whether the options ask for parts that are swapped in regions."""
    return plan["options"].get("reconfigure") == "partial"


def _check_step(plan: PlanRecord, batch: int, phase: PhaseRecord, step: StepRecord, findings: Findings) -> None:
    where = f"schedule.steps {phase['name']}"
    if step["load_us"] < 0:
        findings.add("wrong-schedule", where, f"load_us is {step['load_us']}, no time is negative")
    longest = max((part["interval_cycles"] for part in phase["networks"]), default=0)
    clock_mhz = plan["options"]["clock_mhz"]
    if clock_mhz > 0:
        run_us = batch * longest / clock_mhz
        if in_regions(plan):
            filled = max((part["estimates"]["latency_us"] for part in phase["networks"]), default=0)
            run_us += filled - longest / clock_mhz
        findings.expect("wrong-schedule", where, "run_us", step["run_us"], run_us)


BUFFERS = "buffers.json"
BUFFERS_SCHEMA = "floorflow-buffers/1"


def check_reconfigured(folder: Folder, plan: PlanRecord, phases: Phases, boards: Boards, findings: Findings) -> None:
    """Judge a plan of partitions in time; others are left alone."""
    schedule = plan["schedule"]
    if not is_reconfigured(plan) or schedule is None:
        return
    check_once(phases, findings)
    board = next(iter(boards.values()), None)
    if board is not None:
        _check_loads(schedule, board, findings, in_regions=in_regions(plan))
    asked = plan["options"].get("batch")
    batch, objective = schedule["batch"], schedule.get("objective")
    if asked is not None:
        findings.expect("wrong-schedule", "schedule", "batch", batch, asked)
    if objective not in ("latency", "throughput") or (objective == "latency" and batch != 1):
        told = f"is {objective} with a batch of {batch}; expected throughput, or latency of one frame"
        findings.add("wrong-schedule", "schedule.objective", told)
    _check_bandwidth(schedule.get("memory_gbps"), phases, findings)
    _check_claims(schedule, findings)
    for phase in phases:
        _check_buffers(folder, schedule["batch"], phase, phases)


def check_once(phases: Phases, findings: Findings) -> None:
    """Judge that no engine is in two partitions; that each is in one is judged for all plans."""
    for name, count in repeated(name for phase in phases for name in phase.folded):
        findings.add("engine-in-two-partitions", f"engine {name}", f"{count} partitions have it, expected one")


def _check_loads(schedule: ScheduleRecord, board: Board, findings: Findings, *, in_regions: bool) -> None:
    """Judge that the device is loaded before each phase but the first, in the board's time, and what memory carries."""
    raw = board.raw
    stated = raw.get("reconfiguration")
    if stated is None or "memory_gbps" not in raw:
        findings.add("wrong-load-time", "schedule", f"the file of {raw['name']} does not say how it is loaded anew")
        return
    findings.expect("wrong-load-time", "schedule", "memory_gbps", schedule.get("memory_gbps"), raw["memory_gbps"])
    if in_regions:
        return  # loads are those of regions
    load_us = stated["ms"] * 1000
    for number, step in enumerate(schedule["steps"]):
        where = f"schedule.steps {step['phase']}"
        findings.expect("wrong-load-time", where, "load_us", step["load_us"], load_us if number else 0.0)
    again = load_us if len(schedule["steps"]) > 1 else 0.0
    findings.expect("wrong-load-time", "schedule", "reload_us", schedule.get("reload_us"), again)


def _check_bandwidth(most: float | None, phases: Phases, findings: Findings) -> None:
    """Judge that what a phase moves to and from memory while it runs is less than the memory carries (SAMO, eq. 7)."""
    if most is None:
        findings.add("too-fast-for-memory", "schedule.memory_gbps", "is not stated")
        return
    for phase in phases:
        gbps = 0.0
        for channel in phase.channels:
            ends = [phase.end(channel, side) for side in SIDES]
            interval = phase.interval_cycles(channel)
            bits = channel["words_per_frame"] * channel["width_bits"]
            if interval:
                gbps += sum(map(_is_in_memory, ends)) * bits * phase.clock_mhz / interval / 1e3
        if gbps >= most:
            findings.add("too-fast-for-memory", phase.where, f"{gbps:g} Gb/s are moved, the memory carries {most:g}")


def _is_in_memory(end: End | None) -> bool:
    return end is not None and end.kind in ("host", "memory")


def _check_claims(schedule: ScheduleRecord, findings: Findings) -> None:
    """Judge that what was minimised is the time of a batch, and that no proof is above it."""
    stats, period_us = schedule.get("stats"), schedule["period_us"]
    if stats is None:
        findings.add("wrong-schedule", "schedule.stats", "are not stated")
        return
    check_stats(stats, "schedule.stats", findings)
    findings.expect("wrong-objective", "schedule.stats", "objective", stats["objective"], period_us)


def _check_buffers(folder: Folder, batch: int, phase: PhaseFacts, phases: Phases) -> None:
    """Judge that buffers.json of a phase tells of each of its streams at memory or at the host, and of nothing else."""
    name = f"{'' if len(phases) == 1 else f'phases/{phase.name}/'}{BUFFERS}"
    content = folder.json(name, phase.findings)
    if content is None:
        return
    if not holds(content, file_record("buffers_file"), phase.findings, "wrong-buffers", name):
        return
    expected = {"schema": BUFFERS_SCHEMA, "phase": phase.name, "batch": batch}
    phase.compare("wrong-buffers", name, content, expected)
    for key, side, other in (("loads", *SIDES), ("stores", *SIDES[::-1])):
        rows = [
            {
                "buffer": channel[side],
                "channel": channel["name"],
                "width_bits": channel["width_bits"],
                "words_per_frame": channel["words_per_frame"],
                "bytes_per_batch": batch * channel["words_per_frame"] * -(-channel["width_bits"] // 8),
                "phases": [p.name for p in phases if any(c[other] == channel[side] for c in p.channels)],
            }
            for channel in phase.channels
            if _is_in_memory(phase.end(channel, side))
        ]
        fields = rows[0].keys() if rows else ()
        stated = [{field: row[field] for field in fields} for row in content[key]]
        if stated != rows:
            phase.add("wrong-buffers", f"{name} {key}", "they are not those of the phase's channels")


TIMELINE = "wrong-timeline"


def check_timeline(plan: PlanRecord, findings: Findings) -> None:
    """Judge the times of a plan whose phases are swapped in regions; others are left alone."""
    schedule = plan["schedule"]
    if schedule is None or not in_regions(plan):
        return
    steps = schedule["steps"]
    unstated = [s["phase"] for s in steps if s.get("load_start_us") is None or s.get("run_start_us") is None]
    if unstated:
        findings.add(TIMELINE, "schedule.steps", f"do not say when {', '.join(unstated)} load and run")
        return
    entry = plan.get("reconfigurable")
    loads: dict[str | None, float] = {each["name"]: each["load_us"] for each in entry["regions"]} if entry else {}
    region_of = {phase["name"]: phase.get("region") for phase in plan["phases"]}
    port_free, ran = 0.0, 0.0
    region_free: dict[str | None, float] = {}
    for step in steps:
        region, where = region_of.get(step["phase"]), f"schedule.steps {step['phase']}"
        findings.expect(TIMELINE, where, "load_us", step["load_us"], loads.get(region, 0.0))
        begin = max(port_free, region_free.get(region, 0.0))
        findings.expect(TIMELINE, where, "load_start_us", step["load_start_us"], begin)
        port_free = begin + step["load_us"]
        start = max(port_free, ran)
        findings.expect(TIMELINE, where, "run_start_us", step["run_start_us"], start)
        ran = region_free[region] = start + step["run_us"]
    findings.expect(TIMELINE, "schedule", "period_us", schedule["period_us"], ran)
    findings.expect(TIMELINE, "schedule", "reload_us", schedule.get("reload_us", 0.0), 0.0)


SCRIPT, CHUNKS = "dfx/dfx.tcl", "host/chunks.json"
CHUNKS_SCHEMA = "floorflow-chunks/1"
_PAIR = re.compile(r"(\w+) \{?([^{}\\\n]*?)\}?(?: \\)?$")
_CONFIGURATION = re.compile(r"lappend configurations \[list \{[^{}]+\} \[dict create ([^\]]*)\]\]")
_WORD = re.compile(r"\{([^{}]*)\}")


def check_region_files(folder: Folder, plan: PlanRecord, phases: Phases, boards: Boards, findings: Findings) -> None:
    """Judge that script and chunks.json say what the plan does, and that there are none without regions."""
    stated, schedule = plan.get("reconfigurable"), plan["schedule"]
    if stated is None:
        for where, name in ((SCRIPT, "wrong-region-script"), (CHUNKS, "wrong-chunks")):
            if folder.matching([where]):
                findings.add(name, where, "the plan has no regions; a left-over of another plan?")
        return
    text = folder.text(SCRIPT, findings)
    if text is not None:
        _check_script(text, stated["regions"], phases, boards, findings)
    if schedule is not None:
        content = folder.json(CHUNKS, findings)
        if content is not None:
            _check_chunks(content, schedule["batch"], stated["regions"], phases, findings)


def _check_script(text: str, regions: list[RegionRecord], phases: Phases, boards: Boards, findings: Findings) -> None:
    stated = [_pairs(block) for block in text.split("lappend regions [dict create")[1:]]
    expected = [
        {
            "name": region["name"],
            "cell": region["cell"],
            "pblock": f"pblock_region_{region['name']}",
            "ranges": " ".join(region["ranges"]),
            "snapping": region["snapping_mode"],
            "reset": str(region["reset_after_reconfig"]).upper(),
        }
        for region in regions
    ]
    if stated != expected:
        findings.add("wrong-region-script", SCRIPT, "its regions are not the plan's")
    part = f"-part {{{next(iter(boards.values())).raw['part']}}}" if boards else ""
    if part not in text:
        findings.add("wrong-region-script", SCRIPT, f"it is for another part, expected {part}")
    sets = [_WORD.findall(words) for words in _CONFIGURATION.findall(text)]
    told = [dict(zip(words[::2], words[1::2], strict=False)) for words in sets]
    of_region: dict[str, list[str]] = {}
    for phase in phases:
        of_region.setdefault(str(phase.raw.get("region")), []).append(phase.name)
    for region, names in of_region.items():
        run = list(dict.fromkeys(one[region] for one in told if region in one))
        if run != names:
            findings.add("wrong-region-script", SCRIPT, f"region {region} is implemented with {run}, expected {names}")


def _pairs(block: str) -> dict[str, str]:
    lines = [line.strip().removesuffix("]") for line in block.partition("]")[0].splitlines()]
    return {match[1]: match[2] for match in map(_PAIR.fullmatch, lines) if match}


def _check_chunks(content: Record, batch: int, regions: list[RegionRecord], phases: Phases, findings: Findings) -> None:
    if not holds(content, file_record("chunks_file"), findings, "wrong-chunks", CHUNKS):
        return
    findings.expect("wrong-chunks", CHUNKS, "schema", content["schema"], CHUNKS_SCHEMA)
    findings.expect("wrong-chunks", CHUNKS, "batch", content["batch"], batch)
    left = {
        channel["target"]: (channel["width_bits"], channel["words_per_frame"])
        for phase in phases
        for channel in phase.channels
    }
    steps = [_step(phase, batch, left) for phase in phases]
    stated = content["steps"]
    for number, (told, step) in enumerate(zip(stated, steps, strict=False)):
        if {key: told[key] for key in step} != step:
            findings.add("wrong-chunks", f"{CHUNKS} step {number}", f"it is not what phase {step['phase']} does")
    findings.expect("wrong-chunks", CHUNKS, "number of steps", len(stated), len(steps))
    first: dict[str, str | None] = {region["name"]: None for region in regions}
    for phase in reversed(phases):
        first[str(phase.raw.get("region"))] = phase.name
    findings.expect("wrong-chunks", CHUNKS, "reference", content["reference"], first)
    _check_areas(content, steps, findings)


def _step(phase: PhaseFacts, batch: int, left: Mapping[str, tuple[int, int]]) -> Record:
    return {
        "phase": phase.name,
        "region": phase.raw.get("region"),
        "loads_after": phase.raw.get("loads_after"),
        "bitstream": f"{phase.name}.bit",
        "loads": [*_rows(phase, "source", batch, left)],
        "stores": [*_rows(phase, "target", batch, left)],
    }


def _rows(phase: PhaseFacts, side: Side, batch: int, left: Mapping[str, tuple[int, int]]) -> Iterator[Record]:
    """Yield what a phase loads or stores; words of another width than the buffer's are packed into an area apart."""
    for channel in phase.channels:
        end = phase.end(channel, side)
        if end is not None and end.kind in ("host", "memory"):
            name, width, words = channel[side], channel["width_bits"], channel["words_per_frame"]
            same = left.get(name, (width, words)) == (width, words)
            yield {
                "buffer": name,
                "area": name if same else f"{name} in {width} bits",
                "channel": channel["name"],
                "width_bits": width,
                "words_per_frame": words,
                "bytes": batch * words * -(-width // 8),
            }


def _areas(steps: Sequence[Record]) -> dict[str, Record]:
    """Return what must be said of each area but where it lies."""
    needed: dict[str, Record] = {}
    at: dict[str, set[int]] = {}
    for number, step in enumerate(steps):
        for side, key in (("stores", "written_by"), ("loads", "read_by")):
            for row in step[side]:
                held = needed.setdefault(row["area"], {"written_by": [], "read_by": [], "packed_from": None})
                held |= {field: row[field] for field in ("bytes", "width_bits", "words_per_frame")}
                held[key].append(step["phase"])
                if row["area"] != row["buffer"]:
                    held["packed_from"] = row["buffer"]
                at.setdefault(row["area"], set()).add(number)
                at.setdefault(row["buffer"], set()).add(number)
    for name, held in needed.items():
        outer = {0} if name.startswith("host:in") else {len(steps) - 1} if name.startswith("host:out") else set()
        held["first_step"], held["last_step"] = min(at[name] | outer), max(at[name] | outer)
        held["written_by"], held["read_by"] = held["written_by"] or ["host"], held["read_by"] or ["host"]
    return needed


def _check_areas(content: Record, steps: Sequence[Record], findings: Findings) -> None:
    """Judge sizes, who writes and reads, when, and that what is in use together lies apart."""
    needed = _areas(steps)
    stated = {entry["name"]: entry for entry in content["buffers"]}
    if stated.keys() != needed.keys() or len(stated) != len(content["buffers"]):
        findings.add("wrong-chunks", f"{CHUNKS} buffers", f"they are {sorted(stated)}, expected {sorted(needed)}")
        return
    for name, held in needed.items():
        entry, where = stated[name], f"{CHUNKS} buffer {name}"
        findings.compare("wrong-chunks", where, entry, held)
        if entry["offset"] + entry["bytes"] > content["memory_bytes"]:
            findings.add("wrong-chunks", where, "it ends behind the memory")
    for one, other in combinations(content["buffers"], 2):
        together = one["first_step"] <= other["last_step"] and other["first_step"] <= one["last_step"]
        first, second = sorted((one, other), key=lambda entry: int(entry["offset"]))
        if together and first["offset"] + first["bytes"] > second["offset"]:
            findings.add("wrong-chunks", f"{CHUNKS} buffers", f"{one['name']} and {other['name']} share bytes")
