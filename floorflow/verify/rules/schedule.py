"""How phases follow one another: each once, its time on the whole batch, loads, memory, buffers, and the sum.

Phases in regions fill their pipelines once a batch (Seyoum et al., eq. 5); others are told without that (SAMO, eq. 4).
One port loads one region at a time; a region is loaded when its last phase has run; a phase runs when it is loaded and
the batch of the phase before it lies in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from floorflow.verify.facts import End, PhaseFacts
from floorflow.verify.files import Folder
from floorflow.verify.hardware.boards import Board
from floorflow.verify.records import Record
from floorflow.verify.rules.claims import check_stats
from floorflow.verify.schema import departures, records
from floorflow.verify.violations import Findings

KINDS = ("reconfigure",)


def check_schedule(plan: Record, findings: Findings) -> None:
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
        _check_step(plan, phase, step, findings)
    if in_regions(plan):
        return  # loads hide behind runs, as `check_timeline` judges
    total = sum(step["load_us"] + step["run_us"] for step in schedule["steps"])
    findings.expect(name, "schedule", "period_us", schedule["period_us"], total)


def is_reconfigured(plan: Record) -> bool:
    """Whether the options ask for parts that run one after another."""
    return bool(plan["options"].get("reconfigure", "none") != "none")


def in_regions(plan: Record) -> bool:
    """Whether the options ask for parts that are swapped in regions."""
    return bool(plan["options"].get("reconfigure", "none") == "partial")


def _check_step(plan: Record, phase: Record, step: Record, findings: Findings) -> None:
    where = f"schedule.steps {phase['name']}"
    if step["load_us"] < 0:
        findings.add("wrong-schedule", where, f"load_us is {step['load_us']}, no time is negative")
    longest = max((part["interval_cycles"] for part in phase["networks"]), default=0)
    clock_mhz = plan["options"]["clock_mhz"]
    if clock_mhz > 0:
        run_us = plan["schedule"]["batch"] * longest / clock_mhz
        if in_regions(plan):
            filled = max((part["estimates"]["latency_us"] for part in phase["networks"]), default=0)
            run_us += filled - longest / clock_mhz
        findings.expect("wrong-schedule", where, "run_us", step["run_us"], run_us)


BUFFERS = "buffers.json"
BUFFERS_SCHEMA = "floorflow-buffers/1"


def check_reconfigured(
    folder: Folder, plan: Record, phases: Sequence[PhaseFacts], boards: Mapping[str, Board], findings: Findings
) -> None:
    """Judge a plan of partitions in time; others are left alone."""
    if not is_reconfigured(plan) or plan["schedule"] is None:
        return
    check_once(phases, findings)
    board = next(iter(boards.values()), None)
    if board is not None:
        _check_loads(plan, board, findings)
    _check_batch(plan, findings)
    _check_bandwidth(plan, phases, findings)
    _check_claims(plan, findings)
    for phase in phases:
        _check_buffers(folder, plan, phase, phases, findings)


def check_once(phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge that no engine is in two partitions; that each is in one is judged for all plans."""
    for name, count in Counter(name for phase in phases for name in phase.folded).items():
        if count > 1:
            findings.add("engine-in-two-partitions", f"engine {name}", f"{count} partitions have it, expected one")


def _check_loads(plan: Record, board: Board, findings: Findings) -> None:
    """Judge that the device is loaded before each phase but the first, in the board's time, and what memory carries."""
    schedule, raw = plan["schedule"], board.raw
    stated = raw.get("reconfiguration")
    if stated is None or "memory_gbps" not in raw:
        findings.add("wrong-load-time", "schedule", f"the file of {raw['name']} does not say how it is loaded anew")
        return
    findings.expect("wrong-load-time", "schedule", "memory_gbps", schedule.get("memory_gbps"), raw["memory_gbps"])
    if in_regions(plan):
        return  # loads are those of regions
    load_us = stated["ms"] * 1000
    for number, step in enumerate(schedule["steps"]):
        where = f"schedule.steps {step['phase']}"
        findings.expect("wrong-load-time", where, "load_us", step["load_us"], load_us if number else 0.0)
    again = load_us if len(schedule["steps"]) > 1 else 0.0
    findings.expect("wrong-load-time", "schedule", "reload_us", schedule.get("reload_us"), again)


def _check_batch(plan: Record, findings: Findings) -> None:
    batch, objective = plan["schedule"]["batch"], plan["schedule"].get("objective")
    asked = plan["options"].get("batch")
    if asked is not None:
        findings.expect("wrong-schedule", "schedule", "batch", batch, asked)
    if objective not in ("latency", "throughput") or (objective == "latency" and batch != 1):
        told = f"is {objective} with a batch of {batch}; expected throughput, or latency of one frame"
        findings.add("wrong-schedule", "schedule.objective", told)


def _check_bandwidth(plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge that what a phase moves to and from memory while it runs is less than the memory carries (SAMO, eq. 7)."""
    most = plan["schedule"].get("memory_gbps")
    if most is None:
        findings.add("too-fast-for-memory", "schedule.memory_gbps", "is not stated")
        return
    for phase in phases:
        gbps = 0.0
        for channel in phase.channels:
            ends = [phase.end(channel, side) for side in ("source", "target")]
            interval = phase.interval_cycles(channel)
            bits = channel["words_per_frame"] * channel["width_bits"]
            if interval:
                gbps += sum(map(_is_in_memory, ends)) * bits * phase.clock_mhz / interval / 1e3
        if gbps >= most:
            findings.add("too-fast-for-memory", phase.where, f"{gbps:g} Gb/s are moved, the memory carries {most:g}")


def _is_in_memory(end: End | None) -> bool:
    return end is not None and end.kind in ("host", "memory")


def _check_claims(plan: Record, findings: Findings) -> None:
    """Judge that what was minimised is the time of a batch, and that no proof is above it."""
    stats, period_us = plan["schedule"].get("stats"), plan["schedule"]["period_us"]
    if stats is None:
        findings.add("wrong-schedule", "schedule.stats", "are not stated")
        return
    check_stats(stats, "schedule.stats", findings)
    findings.expect("wrong-objective", "schedule.stats", "objective", stats["objective"], period_us)


def _check_buffers(
    folder: Folder, plan: Record, phase: PhaseFacts, phases: Sequence[PhaseFacts], findings: Findings
) -> None:
    """Judge that buffers.json of a phase tells of each of its streams at memory or at the host, and of nothing else."""
    name = f"{'' if len(phases) == 1 else f'phases/{phase.name}/'}{BUFFERS}"
    content = folder.json(name, findings)
    if content is None:
        return
    faults = list(departures(content, "buffers_file", name))
    for where, message in faults:
        findings.add("wrong-buffers", where, message)
    if faults:
        return
    batch = plan["schedule"]["batch"]
    expected = {"schema": BUFFERS_SCHEMA, "phase": phase.name, "batch": batch}
    findings.compare("wrong-buffers", name, content, expected)
    for key, side, other in (("loads", "source", "target"), ("stores", "target", "source")):
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
        stated = [{field: row[field] for field in records()["buffer_row"]} for row in content[key]]
        if stated != rows:
            findings.add("wrong-buffers", f"{name} {key}", "they are not those of the phase's channels")


TIMELINE = "wrong-timeline"


def check_timeline(plan: Record, findings: Findings) -> None:
    """Judge the times of a plan whose phases are swapped in regions; others are left alone."""
    schedule = plan["schedule"]
    if schedule is None or not in_regions(plan):
        return
    steps = schedule["steps"]
    unstated = [s["phase"] for s in steps if s.get("load_start_us") is None or s.get("run_start_us") is None]
    if unstated:
        findings.add(TIMELINE, "schedule.steps", f"do not say when {', '.join(unstated)} load and run")
        return
    loads = _loads(plan)
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


def _loads(plan: Record) -> Mapping[str | None, float]:
    """Return what each region takes to load, as the plan states it; that is judged with the regions."""
    entry = plan.get("reconfigurable") or {"regions": []}
    return {region["name"]: region["load_us"] for region in entry["regions"]}
