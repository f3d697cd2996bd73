"""A plan on a platform of resources alone: schedule.json and the files of its partitions, with every number anew."""

from pathlib import Path
from typing import Any

from floorflow.verify.back_end import BackEnd, Judge, Row, judge_of
from floorflow.verify.facts import PhaseFacts, Phases, folded_engines
from floorflow.verify.files import SCHEDULE, Folder, PhaseFolder, shipped_file
from floorflow.verify.plan_records import EngineRecord
from floorflow.verify.records import RESOURCE_NAMES, SIDES, Record, add, amounts, excess, limit_of
from floorflow.verify.rules.across import check_passing, check_runs
from floorflow.verify.rules.channels import check_costs, check_streams, ports_of
from floorflow.verify.rules.claims import check_stats
from floorflow.verify.rules.fifos import check_unplaced_fifos
from floorflow.verify.rules.schedule import check_once
from floorflow.verify.rules.throughput import check_engine
from floorflow.verify.schema import file_record, holds
from floorflow.verify.violations import Findings

PREFIX, FILE = "samo:", "samo.yaml"


def stated_platform(name: str, findings: Findings) -> Record | None:
    """Return what the shipped file says of a platform, with ``part``; None after reporting that it says nothing."""
    path = shipped_file("platforms", FILE)
    content = None if path is None else _yaml(path, findings)
    if content is None or not holds(content, file_record("samo_file"), findings, "platform-malformed", FILE):
        return None
    entry: Record | None = content["platforms"].get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if entry is None:
        findings.add("platform-mismatch", "platform.name", f"{FILE} has no platform {name}")
        return None
    board = shipped_file("platforms", f"boards/{entry['board']}.yaml")
    part = None if board is None else (_yaml(board, findings) or {}).get("part")
    return {**entry, "part": part}


def _yaml(path: Path, findings: Findings) -> Record | None:
    return Folder(path.parent).yaml(path.name, findings)


REPORT, RESOURCE_PLAN_SCHEMA = "report.txt", "floorflow-schedule/1"


def is_resource_plan(folder: Folder) -> bool:
    """Whether a folder holds such a plan: schedule.json stands in the place of plan.json."""
    return (folder.root / SCHEDULE).exists() and not (folder.root / "plan.json").exists()


def judge_resource_plan(folder: Folder, findings: Findings) -> dict[str, int]:
    """Report every rule that is broken; return how many things of each kind were judged."""
    plan = _read(folder, findings)
    if plan is None:
        return {}
    part = judge_of(plan["options"], findings)
    phases: list[PhaseFacts] = []
    try:
        stated = stated_platform(plan["platform"]["name"], findings)
        if stated is not None:
            _check_platform(plan, stated, findings)
        phases += [_phase(plan, number, part, findings) for number in range(len(plan["partitions"]))]
        networks: Any = {"networks": [plan["network"]]}
        check_runs(networks, phases, findings)
        check_once(phases, findings)
        check_passing(phases, findings)
        _check_cuts(phases, findings)
        _check_times(plan, findings)
        for phase, raw in zip(phases, plan["partitions"], strict=True):
            _check_partition(plan, phase, raw)
            if phase.back_end is not None:
                files = PhaseFolder(folder, findings, f"phases/{phase.name}/")
                phase.back_end.unplaced_files(phase.raw, files, plan["options"]["clock_mhz"], phase.where)
        there = {name.split("/")[1] for name in folder.matching(["phases/*/**/*"])}
        for name in sorted(there - {phase.name for phase in phases}):
            findings.add("phase-unknown", f"phases/{name}", "the plan has no such partition")
        folder.text(REPORT, findings)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        # A value that no rule foresaw is the plan's fault, never a reason to give no verdict.
        findings.add("plan-malformed", "partitions", f"cannot be judged: {type(error).__name__}: {error!s:.200}")
    return {
        "partitions": len(phases),
        "engines": sum(len(phase.folded) for phase in phases),
        "channels": sum(len(phase.channels) for phase in phases),
        "files": sum(data is not None for data in folder.known.values()),
    }


def _read(folder: Folder, findings: Findings) -> Record | None:
    plan = folder.json(SCHEDULE, findings)
    if plan is None:
        return None
    if not holds(plan, file_record("schedule_file"), findings, "plan-malformed"):
        return None
    if plan["schema"] != RESOURCE_PLAN_SCHEMA:
        told = f"is {plan['schema']!r:.60}, this floorflow reads {RESOURCE_PLAN_SCHEMA}"
        findings.add("plan-malformed", "schema", told)
    elif not plan["partitions"]:
        findings.add("plan-malformed", "partitions", "must not be empty")
    elif plan["options"]["clock_mhz"] <= 0 or plan["batch"] < 1:
        findings.add("plan-malformed", "options.clock_mhz, batch", "must be above nothing")
    else:
        return plan
    return None


def _check_platform(plan: Record, stated: Record, findings: Findings) -> None:
    """Judge the platform's facts by its own file, and what of it may be used."""
    facts, name, cap = plan["platform"], "platform-mismatch", plan["options"]["cap"]
    resources = {each: stated["resources"].get(each, 0) for each in RESOURCE_NAMES}
    findings.expect(name, "platform", "name", facts["name"], plan["options"]["platform"])
    findings.compare(name, "platform", facts, {key: stated[key] for key in ("board", "part", "memory_gbps")})
    load_us = stated["ms"] * 1e3
    findings.expect("wrong-load-time", "platform", "reconfiguration_us", facts["reconfiguration_us"], load_us)
    findings.expect(name, "platform", "resources", amounts(facts["resources"]), resources)
    if cap is not None and not all(0 < cap[each] <= 1 for each in RESOURCE_NAMES):
        findings.add("fraction-out-of-range", "options.cap", f"{cap} is not all in (0, 1]")
    limits = resources if cap is None else limit_of(cap, resources)
    findings.expect("wrong-budget", "platform", "limits", amounts(facts["limits"]), limits)


def _phase(plan: Record, number: int, judge: Judge | None, findings: Findings) -> PhaseFacts:
    """Return a partition as a phase with no place: engines with what follows from them, and channels."""
    partition, network = plan["partitions"][number], plan["network"]
    where, name = f"partitions[{number}]", network["name"]
    channels = [_channel(stream) for stream in partition["streams"]]
    runs = {
        "network": name,
        "interval_cycles": partition["interval_cycles"],
        "folding": {"engines": partition["engines"]},
    }
    raw: Any = {"name": partition["name"], "networks": [runs], "channels": channels, "modules": []}
    engines = [engine for engine in network["engines"] if engine["name"] in partition["engines"]]
    rows = {engine["name"]: _row(plan, engine, partition) for engine in engines}
    for unknown in sorted({*partition["engines"]} - {*rows}):
        findings.add("engine-unknown", where, f"{unknown} is folded, the network has it not")
    options = plan["options"]["backend_options"]
    context = {"options": options, "parts": [plan["platform"]["part"]], "several_networks": False, "engines": rows}
    back_end = None if judge is None else BackEnd(plan["options"]["backend"], judge, findings, context)
    folded = folded_engines(rows, back_end, where)
    return PhaseFacts(where, raw, {}, {}, {}, {}, folded, plan["options"]["clock_mhz"], findings, (name,), back_end)


def _row(plan: Record, engine: EngineRecord, partition: Record) -> Row:
    return {
        "id": engine["name"],
        "network": plan["network"]["name"],
        "entry": engine,
        "folding": partition["engines"][engine["name"]],
        "module": None,
        "slot": None,
        "slr": None,
        "style": None,
        "fpga": None,
        "dies": 0,
        "fpga_number": None,
        "part": plan["platform"]["part"],
    }


def _channel(stream: Record) -> Record:
    wires = max(stream["source_width_bits"], stream["target_width_bits"], 1)
    return {**stream, "width_bits": wires, "words_per_frame": -(-stream["elements"] * stream["element_bits"] // wires)}


def _check_cuts(phases: Phases, findings: Findings) -> None:
    """Judge that one stream alone is live at a cut: there is one engine to write it and one to read it."""
    for before in range(len(phases) - 1):
        written = {c["target"] for phase in phases[: before + 1] for c in phase.channels if _in_memory(c["target"])}
        read = {c["source"] for phase in phases[before + 1 :] for c in phase.channels if _in_memory(c["source"])}
        if len(written & read) > 1:
            told = f"{', '.join(sorted(written & read))} are live behind it, expected one"
            findings.add("wrong-buffers", phases[before].where, told)


def _in_memory(end: str) -> bool:
    return end.startswith("memory:")


def _check_times(plan: Record, findings: Findings) -> None:
    """Judge the time of a batch by SAMO's equations 3 and 4, and what is claimed of it."""
    name, options, partitions = "wrong-schedule", plan["options"], plan["partitions"]
    load_us, clock_mhz = plan["platform"]["reconfiguration_us"], options["clock_mhz"]
    frames = 1 if options["reconfigure"] == "none" or options["objective"] == "latency" else 256
    findings.expect(name, "schedule", "batch", plan["batch"], options["batch"] or frames)
    if options["reconfigure"] == "none" and len(partitions) > 1:
        findings.add(name, "partitions", f"are {len(partitions)}, and the options ask for none")
    for number, part in enumerate(partitions):
        where = f"partitions[{number}]"
        findings.expect(name, where, "name", part["name"], f"p{number}")
        findings.expect("wrong-load-time", where, "load_us", part["load_us"], load_us if number else 0.0)
        findings.expect(name, where, "run_us", part["run_us"], plan["batch"] * part["interval_cycles"] / clock_mhz)
    cycles = sum(part["interval_cycles"] for part in partitions)
    period_us = plan["batch"] * cycles / clock_mhz + (len(partitions) - 1) * load_us
    findings.expect(name, "schedule", "period_us", plan["period_us"], period_us)
    again = load_us if len(partitions) > 1 else 0.0
    findings.expect("wrong-load-time", "schedule", "reload_us", plan["reload_us"], again)
    fps = plan["batch"] * 1e6 / period_us if period_us else 0
    findings.expect("wrong-estimate", "schedule", "fps", plan["fps"], fps)
    check_stats(plan["stats"], "stats", findings)
    findings.expect("wrong-objective", "stats", "objective", plan["stats"]["objective"], period_us)


def _check_partition(plan: Record, phase: PhaseFacts, raw: Record) -> None:
    """Judge foldings, streams, sums, limits and memory of a partition (eq. 2, 6 and 7)."""
    cycles = [check_engine(engine, phase) for engine in phase.folded.values()]
    phase.expect("wrong-interval", phase.where, "interval_cycles", raw["interval_cycles"], max(cycles, default=0))
    check_streams(phase)
    streams = raw["streams"]
    for channel, stream in zip(phase.channels, streams, strict=True):
        stated, where = (stream["elements"], stream["element_bits"]), f"{phase.where} channel {channel['name']}"
        for side, port in zip(SIDES, ports_of(phase, channel), strict=True):
            if port is not None and stated != (port.elements, port.bits):
                told = f"{stated[0]} elements of {stated[1]} bits, {channel[side]} has {port.elements} of {port.bits}"
                phase.add("stream-mismatch", where, told)
    check_unplaced_fifos(phase, plan["platform"]["part"])
    check_costs(phase)
    _check_joined(phase)
    _check_use(plan, phase, raw)
    _check_memory(plan, phase, raw)
    check_stats(raw["folding"], f"{phase.where}.folding", phase.findings)


def _check_joined(phase: PhaseFacts) -> None:
    """Judge what the engines at both ends of a stream have to agree on."""
    for channel in phase.channels:
        source, target = (phase.folded.get(channel[side]) for side in SIDES)
        if phase.back_end is not None and source is not None and target is not None:
            phase.back_end.check_joined(source.row, target.row, f"{phase.where} channel {channel['name']}")


def _check_use(plan: Record, phase: PhaseFacts, raw: Record) -> None:
    used = dict.fromkeys(RESOURCE_NAMES, 0)
    for engine in raw["engines"].values():
        used = add(used, amounts(engine["resources"]))
    for channel in phase.channels:
        used = add(add(used, amounts(channel["converter_resources"])), amounts(channel["fifo_resources"]))
    phase.expect("wrong-sum", phase.where, "resources", amounts(raw["resources"]), used)
    limits = amounts(plan["platform"]["limits"])
    over = excess(used, limits)
    if over:
        phase.add("cap-exceeded", phase.where, over)
    shares = {name: used[name] / limits[name] for name in RESOURCE_NAMES if limits[name]}
    for name in sorted({*shares, *raw["shares"]}):
        stated = raw["shares"].get(name)
        phase.expect("wrong-utilisation", phase.where, f"share of {name}", stated, shares.get(name))


def _check_memory(plan: Record, phase: PhaseFacts, raw: Record) -> None:
    """Judge what a partition moves to and from memory, which is less than the memory carries (eq. 7)."""
    bits = dict.fromkeys(SIDES, 0)
    for channel, stream in zip(phase.channels, raw["streams"], strict=True):
        for side in bits:
            end = phase.end(channel, side)
            if end is not None and end.kind in ("host", "memory"):
                bits[side] += stream["elements"] * stream["element_bits"]
    phase.expect("wrong-buffers", phase.where, "loaded_bits", raw["loaded_bits"], bits["source"])
    phase.expect("wrong-buffers", phase.where, "stored_bits", raw["stored_bits"], bits["target"])
    cycles = max(raw["interval_cycles"], 1)
    gbps = sum(bits.values()) * phase.clock_mhz / cycles / 1e3
    phase.expect("wrong-buffers", phase.where, "gbps", raw["gbps"], gbps)
    most = plan["platform"]["memory_gbps"]
    if gbps >= most:
        phase.add("too-fast-for-memory", phase.where, f"{gbps:g} Gb/s are moved, the memory carries {most:g}")
