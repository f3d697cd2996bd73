"""The schedule of the external memory, replayed: nothing of it is taken from how schedules are made.

Rules from f-CNN^x (FPL 2018): in each round an engine has whole slots, no more than there are together (eq. 7); its
bytes come as fast as its slots carry them and it works no faster than at full speed (eq. 3 and 4); subgraphs of a
network run one after another, and in a period whole inferences; errors are eq. 5 and 6.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import floor

from floorflow.verify.facts import Phases
from floorflow.verify.plan_records import MemoryScheduleRecord, PlanRecord, SharingRecord, TransferRecord
from floorflow.verify.records import ROUNDING
from floorflow.verify.rules.claims import check_stats
from floorflow.verify.violations import Findings, close

Subgraphs = Sequence[tuple[str, float, float]]
"""Name, least time in us, bytes."""

BYTES_PER_US = 1000.0
"""Of 1 GB/s."""
NEARLY = 1e-6
LEAST_SHARE = 0.5
"""Of its target that a network is to get, unless another rate was asked for."""
FAIRNESS = ("fps-error", "throughput-error")


def check_rates(shared: MemoryScheduleRecord, known: Mapping[str, Subgraphs], findings: Findings) -> None:
    """Judge each network's rates, the error, and the period against what no schedule beats."""
    if shared["fairness"] not in FAIRNESS:
        findings.add("wrong-memory-rate", "memory_schedule.fairness", f"is {shared['fairness']!r:.60}")
    error = 0.0
    for network in shared["networks"]:
        _check_network(shared, network, known[network["network"]], findings)
        fps, target = network["fps"], network["target_fps"]
        away = (fps - target) / target if target > 0 else 0.0
        error += float(away**2 if shared["two_sided"] or away < 0 else 0.0)
    findings.expect("wrong-memory-error", "memory_schedule", "error", shared["error"], error)
    bound = shared["error_bound"]
    if not 0 <= bound <= error * (1 + NEARLY) + NEARLY:
        findings.add("bound-above-objective", "memory_schedule", f"error_bound {bound} is above error {error}")
    _check_period(shared, known, findings)


def _check_network(shared: MemoryScheduleRecord, network: SharingRecord, parts: Subgraphs, findings: Findings) -> None:
    where, name = f"memory_schedule network {network['network']}", "wrong-memory-rate"
    period, asked = shared["period_us"], network["asked_fps"]
    fps = network["repetitions"] * 1e6 / period if period > 0 else None
    findings.expect(name, where, "fps", network["fps"], fps)
    findings.expect(name, where, "latency_us", network["latency_us"], latency_of(shared, network))
    most = network["alone_fps"]
    target = most if asked is None or shared["fairness"] == "throughput-error" else min(asked, most)
    findings.expect(name, where, "target_fps", network["target_fps"], target)
    if not network["must"]:
        findings.expect(name, where, "least_fps", network["least_fps"], LEAST_SHARE * target)
    missed = network["fps"] < network["least_fps"] * (1 - NEARLY)
    findings.expect("starved-unnamed", where, "starved", network["starved"], missed)
    if network["must"] and missed:
        findings.add("rate-missed", where, f"{network['fps']:g} fps, at least {network['least_fps']:g} are asked for")
    bandwidth = shared["bandwidth_gbs"] * BYTES_PER_US
    time = sum(max(latency, moved / bandwidth) for _, latency, moved in parts) if bandwidth > 0 else 0.0
    own = 1e6 / time if time else 0.0
    if most < own * (1 - NEARLY):
        findings.add(name, where, f"alone_fps is {most:g}, this engine alone reaches {own:g}")
    unhindered = 1e6 / sum(latency for _, latency, _ in parts)
    if not 0 <= network["unaware_fps"] <= unhindered * (1 + NEARLY):
        told = f"unaware_fps is {network['unaware_fps']:g}, with a memory that never waits it is {unhindered:g}"
        findings.add(name, where, told)


def _check_period(shared: MemoryScheduleRecord, known: Mapping[str, Subgraphs], findings: Findings) -> None:
    """Judge the solver's period: no more than the table's, its bound no less than what is derived here if proven."""
    bandwidth = shared["bandwidth_gbs"] * BYTES_PER_US
    objective, period = shared["schedule"]["objective"], shared["period_us"]
    if bandwidth <= 0 or objective is None:
        findings.add("wrong-objective", "memory_schedule.schedule", f"objective is {objective}")
        return
    if objective > period * (1 + NEARLY):
        findings.add("wrong-objective", "memory_schedule.schedule", f"objective is {objective}, the period {period}")
    alone = [
        network["repetitions"] * sum(max(latency, moved / bandwidth) for _, latency, moved in known[network["network"]])
        for network in shared["networks"]
    ]
    volume = sum(
        network["repetitions"] * sum(moved for _, _, moved in known[network["network"]])
        for network in shared["networks"]
    )
    least = max(*alone, volume / bandwidth) if alone else 0.0
    for what, value in (("objective", objective), ("period_us", period)):
        if value < least and not close(value, least):
            told = f"{what} is {value}, no schedule is shorter than {least}"
            findings.add("wrong-objective", "memory_schedule.schedule", told)


def latency_of(shared: MemoryScheduleRecord, network: SharingRecord) -> float | None:
    """Return the longest that a frame takes from the start of its first subgraph to the end of its last, us."""
    starts: dict[int, float] = {}
    ends: dict[int, float] = {}
    for entry in shared["transfers"]:
        if entry["network"] == network["network"]:
            starts[entry["run"]] = min(entry["start_us"], starts.get(entry["run"], entry["start_us"]))
            ends[entry["run"]] = max(entry["end_us"], ends.get(entry["run"], entry["end_us"]))
    count = len(network["subgraphs"])
    runs, begins = count * network["repetitions"], -network["first"] % count
    if {*starts} != {*range(runs)}:
        return None
    longest = 0.0
    for first in range(begins, runs, count):
        last = first + count - 1
        longest = max(longest, ends[last % runs] + (shared["period_us"] if last >= runs else 0.0) - starts[first])
    return longest


BURST_EFFICIENCY = 0.9
"""Share of the memory's bandwidth that may be planned with."""
CLOSE = 1e-6
"""Relative: of times, of bytes and of speeds."""


def check_memory_schedule(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge the schedule of the memory, which plans of a back end have whose engines share it."""
    shared = plan.get("memory_schedule")
    wanted = any(phase.back_end is not None and phase.back_end.shares_memory for phase in phases)
    if (shared is not None) != wanted and all(phase.back_end is not None for phase in phases):
        told = "engines of the back end share the memory by a schedule" if wanted else "engines share no memory"
        findings.add("memory-schedule-needless" if shared else "memory-schedule-missing", "memory_schedule", told)
    if shared is None:
        return
    names = [network["network"] for network in shared["networks"]]
    if names != [network["name"] for network in plan["networks"]]:
        findings.add("wrong-memory-networks", "memory_schedule.networks", f"are {', '.join(names)}")
        return
    bandwidth = BURST_EFFICIENCY * shared["memory_gbs"]
    findings.expect("wrong-bandwidth", "memory_schedule", "bandwidth_gbs", shared["bandwidth_gbs"], bandwidth)
    check_stats(shared["choice"], "memory_schedule.choice", findings)
    check_stats(shared["schedule"], "memory_schedule.schedule", findings)
    for number, point in enumerate(shared["front"]):
        check_stats(point["stats"], f"memory_schedule.front[{number}].stats", findings)
    options = plan["options"]
    networks = shared["networks"]
    asked = {each["network"]: each["asked_fps"] for each in networks if each["asked_fps"] is not None}
    least = {each["network"]: each["least_fps"] for each in networks if each["must"]}
    findings.expect("wrong-memory-rate", "options", "rates", options.get("rates", {}), asked)
    findings.expect("wrong-memory-rate", "options", "min_rate", options.get("min_rate", {}), least)
    _check_limits(plan["options"]["cap"], shared, phases, findings)
    known = {name: _subgraphs(phases, shared["networks"][n], findings) for n, name in enumerate(names)}
    _check_transfers(shared, known, findings)
    check_rates(shared, known, findings)


def _check_limits(cap: Mapping[str, float], shared: MemoryScheduleRecord, phases: Phases, findings: Findings) -> None:
    """Judge that engines are within the share of the limits that they were chosen in."""
    share = shared["limits_share"]
    for phase in phases:
        for name, fraction in cap.items():
            limit = sum(floor(fraction * slot.entry["available"][name] + ROUNDING) for slot in phase.slots.values())
            used = sum(engine.folding["resources"][name] for engine in phase.folded.values())
            if not 0 < share <= 1 or used > share * limit * (1 + CLOSE):
                told = f"engines use {used} {name}, limits_share {share} of the limits are {share * limit:.0f}"
                findings.add("wrong-sum", "memory_schedule", told)


def _subgraphs(phases: Phases, network: SharingRecord, findings: Findings) -> Subgraphs:
    """Return a network's subgraphs as its folded engine has them, where that can be told; else as stated."""
    where = f"memory_schedule network {network['network']}"
    stated = [(part["name"], part["latency_us"], part["traffic_bytes"]) for part in network["subgraphs"]]
    for phase in phases:
        engine, back_end = phase.folded.get(network["engine"]), phase.back_end
        if engine is None or engine.row["network"] != network["network"] or back_end is None:
            continue
        if not back_end.shares_memory:
            return stated
        derived = back_end.subgraphs(engine.row, phase.clock_mhz, where)
        if len(derived) != len(stated):
            findings.add("wrong-subgraphs", where, f"has {len(stated)} subgraphs, its engine runs {len(derived)}")
            return stated
        for told, own in zip(stated, derived, strict=True):
            for what, one, other in zip(("name", "latency_us", "traffic_bytes"), told, own, strict=True):
                findings.expect("wrong-subgraphs", f"{where} subgraph {own[0]}", what, one, other)
        return derived
    findings.add("wrong-memory-networks", where, f"engine {network['engine']} is none of its own")
    return stated


def _check_transfers(shared: MemoryScheduleRecord, known: Mapping[str, Subgraphs], findings: Findings) -> None:
    """Judge order, bytes and speed network by network, and slots of all together."""
    strangers = sorted({entry["network"] for entry in shared["transfers"]} - {*known})
    if strangers:
        findings.add("wrong-memory-networks", "memory_schedule.transfers", f"there is no network {strangers[0]}")
    for network in shared["networks"]:
        name = network["network"]
        entries = [entry for entry in shared["transfers"] if entry["network"] == name]
        where = f"memory_schedule network {name}"
        for message in _out_of_order(entries, network, known[name], shared["period_us"]):
            findings.add("wrong-transfer-order", where, message)
        parts = {part: (latency, moved) for part, latency, moved in known[name]}
        for message in _amiss(entries, parts):
            findings.add("wrong-transfer-bytes", where, message)
        for message in _too_fast(entries, parts, shared):
            findings.add("transfer-too-fast", where, message)
    for message in _overloaded(shared):
        findings.add("memory-overloaded", "memory_schedule.transfers", message)


def _out_of_order(
    entries: Sequence[TransferRecord], network: SharingRecord, parts: Subgraphs, period_us: float
) -> Iterator[str]:
    """Yield where runs are not all subgraphs, as often as stated, one after another within the period."""
    names, count = [name for name, _, _ in parts], len(parts) * network["repetitions"]
    runs = sorted({entry["run"] for entry in entries})
    if runs != list(range(count)):
        yield f"has {len(runs)} runs, {network['repetitions']} times {len(parts)} subgraphs are {count}"
    now, run, slack = 0.0, 0, CLOSE * period_us
    for entry in entries:
        told = f"run {entry['run']} of {entry['subgraph']}"
        expected = names[(network["first"] + entry["run"]) % len(names)]
        if entry["subgraph"] != expected:
            yield f"{told}: expected {expected}"
        if entry["run"] < run or entry["start_us"] < now - slack:
            yield f"{told} begins at {entry['start_us']:.3f} us, before run {run} has ended at {now:.3f}"
        if not entry["start_us"] < entry["end_us"] <= period_us + slack:
            yield f"{told} is from {entry['start_us']:.3f} to {entry['end_us']:.3f} us, the period {period_us:.3f}"
        now, run = max(now, entry["end_us"]), max(run, entry["run"])


def _amiss(entries: Sequence[TransferRecord], parts: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    moved: dict[tuple[int, str], float] = {}
    for entry in entries:
        key = entry["run"], entry["subgraph"]
        moved[key] = moved.get(key, 0.0) + entry["traffic_bytes"]
    for (run, name), total in moved.items():
        needed = parts.get(name, (0.0, 0.0))[1]
        if abs(total - needed) > CLOSE * needed:
            yield f"run {run} of {name} moves {total:,.1f} bytes, it needs {needed:,.1f}"


def _too_fast(
    entries: Sequence[TransferRecord], parts: Mapping[str, tuple[float, float]], shared: MemoryScheduleRecord
) -> Iterator[str]:
    """Yield the transfers of more than their slots carry or the engine works off, and those of a wrong speed."""
    bandwidth = shared["bandwidth_gbs"] * BYTES_PER_US
    for entry in entries:
        latency, whole = parts.get(entry["subgraph"], (0.0, 0.0))
        length, moved = entry["end_us"] - entry["start_us"], entry["traffic_bytes"]
        told = f"run {entry['run']} of {entry['subgraph']} at {entry['start_us']:.3f} us"
        carried = entry["slots"] / max(shared["slots_total"], 1) * bandwidth * length
        if moved > carried * (1 + CLOSE):
            yield f"{told} moves {moved:,.1f} bytes, {entry['slots']} slots carry {carried:,.1f}"
        if whole <= 0 or length <= 0:
            continue
        least = max(latency, whole / bandwidth) * moved / whole if bandwidth else latency
        if length < least * (1 - CLOSE):
            yield f"{told} takes {length:.3f} us, at full speed {least:.3f}"
        if abs(entry["speed"] - least / length) > CLOSE:
            yield f"{told}: speed is {entry['speed']:.6f}, derived {least / length:.6f}"


def _overloaded(shared: MemoryScheduleRecord) -> Iterator[str]:
    """Yield the first moment at which all slots together are more than a round has."""
    slack = CLOSE * shared["period_us"]
    changes: list[tuple[float, int]] = []
    for entry in shared["transfers"]:
        if entry["end_us"] - entry["start_us"] > 2 * slack:
            changes += [(entry["start_us"] + slack, entry["slots"]), (entry["end_us"] - slack, -entry["slots"])]
    used = 0
    for at, slots in sorted(changes):
        used += slots
        if used > shared["slots_total"]:
            yield f"at {at:.3f} us {used} slots are taken, a round has {shared['slots_total']}"
            return
