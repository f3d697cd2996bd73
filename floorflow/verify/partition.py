"""The partition of a phase: assignment, the crossings on every channel's route, and their cost."""

from __future__ import annotations

from collections import Counter

from floorflow.verify.hardware.routes import Route, RouteStep
from floorflow.verify.phase_facts import PhaseFacts, stream_wires
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def check_assignment(phase: PhaseFacts, findings: Findings) -> None:
    """Judge that every module is in one slot that exists."""
    assignment, where = phase.raw["partition"]["assignment"], f"{phase.where}.partition.assignment"
    for name in phase.modules:
        if name not in assignment:
            findings.add("module-unassigned", where, f"{name} is in no slot")
    for name, slot in assignment.items():
        if name not in phase.modules:
            findings.add("module-unknown", where, f"{name} is no module")
        if slot not in phase.slots:
            findings.add("slot-unknown", where, f"{name} is in {slot}")


def check_crossings(phase: PhaseFacts, findings: Findings) -> None:
    """Judge the list of crossings and the cost; the crossings of a channel stand in the order of its route."""
    partition, where = phase.raw["partition"], f"{phase.where}.partition"
    listed: dict[str, list[Record]] = {}
    for crossing in partition["crossings"]:
        listed.setdefault(crossing["channel"], []).append(crossing)
    cost = 0
    for channel in phase.channels:
        route = phase.route(channel)
        stated = listed.pop(channel["name"], [])
        if route is None:
            continue  # reported where ends and links are judged
        cost += sum(stream_wires(channel["width_bits"]) * step.cost_per_wire for step in route)
        if _check_number(stated, route, f"{where} channel {channel['name']}", findings):
            for entry, step in zip(stated, route, strict=True):
                _check_crossing(phase, channel, entry, step, findings)
    for name in sorted(listed):
        findings.add("crossing-needless", where, f"{name} is no channel")
    findings.expect("wrong-cost", where, "cost", partition["cost"], cost)


def _check_number(stated: list[Record], route: Route, where: str, findings: Findings) -> bool:
    """Judge that there is one crossing for each step; name the first that is missing or too many."""
    steps = Counter((step.source.name, step.target.name) for step in route)
    entries = Counter((entry["source"], entry["target"]) for entry in stated)
    if len(stated) < len(route):
        source, target = next(iter(steps - entries))
        findings.add("crossing-missing", where, f"the crossing from {source} to {target} is not listed")
    if len(stated) > len(route):
        source, target = next(iter(entries - steps))
        findings.add("crossing-needless", where, f"it does not run from {source} to {target}, or is listed twice")
    return len(stated) == len(route)


def _check_crossing(phase: PhaseFacts, channel: Record, stated: Record, step: RouteStep, findings: Findings) -> None:
    where = f"{phase.where} crossing {channel['name']} {step.source.name}>{step.target.name}"
    derived = {
        "source": step.source.name,
        "target": step.target.name,
        "width_bits": channel["width_bits"],
        "gbps": phase.gbps(channel),
        "hops": step.hops,
        "kind": step.kind,
    }
    for key, value in derived.items():
        findings.expect("wrong-crossing", where, key, stated[key], value)
