"""What a schedule of the memory promises: rates, targets, who is starved, and the error of all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorflow.verify.records import Record
from floorflow.verify.violations import Findings, close

BYTES_PER_US = 1000.0
NEARLY = 1e-6
LEAST_SHARE = 0.5
"""Of its target that a network is to get, unless another rate was asked for."""
FAIRNESS = ("fps-error", "throughput-error")


def check_rates(shared: Record, known: Mapping[str, Sequence[tuple[str, float, float]]], findings: Findings) -> None:
    """Judge each network's rates, the error, and the period against what no schedule beats."""
    if shared["fairness"] not in FAIRNESS:
        findings.add("wrong-memory-rate", "memory_schedule.fairness", f"is {shared['fairness']!r:.60}")
    error = 0.0
    for network in shared["networks"]:
        _check_network(shared, network, known[network["network"]], findings)
        error += _error(network, two_sided=shared["two_sided"])
    findings.expect("wrong-memory-error", "memory_schedule", "error", shared["error"], error)
    bound = shared["error_bound"]
    if not 0 <= bound <= error * (1 + NEARLY) + NEARLY:
        findings.add("bound-above-objective", "memory_schedule", f"error_bound {bound} is above error {error}")
    _check_period(shared, known, findings)


def _check_network(
    shared: Record, network: Record, parts: Sequence[tuple[str, float, float]], findings: Findings
) -> None:
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


def _error(network: Record, *, two_sided: bool) -> float:
    away = (network["fps"] - network["target_fps"]) / network["target_fps"] if network["target_fps"] > 0 else 0.0
    return float(away**2 if two_sided or away < 0 else 0.0)


def _check_period(shared: Record, known: Mapping[str, Sequence[tuple[str, float, float]]], findings: Findings) -> None:
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


def frames_of(shared: Record, network: str) -> float | None:
    """Return the rate that a schedule gives a network, from its repetitions and the period."""
    entry: Record | None = next((each for each in shared["networks"] if each["network"] == network), None)
    return None if entry is None or shared["period_us"] <= 0 else entry["repetitions"] * 1e6 / shared["period_us"]


def latency_of(shared: Record, network: Record) -> float | None:
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
