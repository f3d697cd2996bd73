"""The summary of a plan, derived again from the rest of it."""

from __future__ import annotations

from typing import Any

from floorflow.verify.memory_rates import frames_of
from floorflow.verify.records import RESOURCE_NAMES, Record
from floorflow.verify.violations import Findings


def parts_of(plan: Record, network: str) -> list[tuple[Record, Record]]:
    """Return each phase in which a network runs, with its part there."""
    return [(phase, part) for phase in plan["phases"] for part in phase["networks"] if part["network"] == network]


def frames_per_second(plan: Record, network: str) -> float | None:
    """Return the rate of a network: of its engines, or with a schedule of the whole period; None if there is none."""
    parts, schedule = parts_of(plan, network), plan["schedule"]
    shared = plan.get("memory_schedule")
    if shared is not None:
        return frames_of(shared, network)
    if schedule is not None:
        return schedule["batch"] * 1e6 / schedule["period_us"] if schedule["period_us"] > 0 else None
    longest = max((part["interval_cycles"] for _, part in parts), default=0)
    return plan["options"]["clock_mhz"] * 1e6 / longest if longest else None


def check_summary(plan: Record, findings: Findings) -> None:
    """Judge that the summary says nothing but what the plan says."""
    stated = plan["summary"]
    derived = {
        "platform": plan["platform"]["name"],
        "fpgas": len(plan["platform"]["fpgas"]),
        "clock_mhz": plan["options"]["clock_mhz"],
        "phases": len(plan["phases"]),
        "warnings": len(plan["warnings"]),
        "interrupted": plan["interrupted"],
    }
    for key, value in derived.items():
        findings.expect("summary-differs", f"summary.{key}", key, stated[key], value)
    _check_fullest(plan, findings)
    names = [network["name"] for network in plan["networks"]]
    rows = [row["network"] for row in stated["networks"]]
    if rows != names:
        findings.add("summary-differs", "summary.networks", f"are {', '.join(rows)}; the plan has {', '.join(names)}")
        return
    for network, row in zip(plan["networks"], stated["networks"], strict=True):
        for key, value in _network(plan, network).items():
            findings.expect("summary-differs", f"summary.networks {network['name']}.{key}", key, row[key], value)


def _network(plan: Record, network: Record) -> dict[str, Any]:
    parts = [part for _, part in parts_of(plan, network["name"])]
    figures = {
        "fps": frames_per_second(plan, network["name"]),
        "bound_cycles": network["search"]["bound_cycles"],
        "joint_bound_cycles": network["search"]["joint_bound_cycles"],
        "gap": network["search"]["gap"],
    }
    if not parts:
        return figures  # reported where networks are judged
    slowest = max(parts, key=lambda part: part["interval_cycles"])
    alone = slowest["estimates"] if len(plan["phases"]) == 1 else {"sustained_fps": None, "latency_us": None}
    shared = plan.get("memory_schedule")
    if shared is not None:
        alone = {"sustained_fps": figures["fps"], "latency_us": _shared_latency(shared, network["name"])}
    return {
        **figures,
        "interval_cycles": slowest["interval_cycles"],
        "bottleneck": slowest["estimates"]["bottleneck"],
        "sustained_fps": alone["sustained_fps"],
        "latency_us": alone["latency_us"],
    }


def _shared_latency(shared: Record, network: str) -> float | None:
    """Return what the schedule of the memory says of a frame's time, which is judged there."""
    return next((each["latency_us"] for each in shared["networks"] if each["network"] == network), None)


def _check_fullest(plan: Record, findings: Findings) -> None:
    """Judge the largest share of a slot's resource; of equal ones the first by phase, slot and resource."""
    stated, fullest = plan["summary"]["fullest"], _fullest(plan)
    if stated is None or fullest is None:
        findings.expect("summary-differs", "summary.fullest", "fullest", stated, fullest)
        return
    for key, value in fullest.items():
        findings.expect("summary-differs", f"summary.fullest.{key}", key, stated[key], value)


def _fullest(plan: Record) -> dict[str, Any] | None:
    best: dict[str, Any] | None = None
    slots = [slot["name"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]]
    for phase in plan["phases"]:
        for slot in slots:
            used = phase["partition"]["utilisation"].get(slot, {})
            for resource in RESOURCE_NAMES:
                share = used.get(resource, 0.0)
                if share > (best["share"] if best else 0.0):
                    best = {"phase": phase["name"], "slot": slot, "resource": resource, "share": share}
    return best
