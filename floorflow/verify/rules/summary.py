"""The summary of a plan, how full it is, and what several networks were to reach, derived again from the rest of it."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any

from floorflow.verify.facts import PhaseFacts, frames_per_second, parts_of
from floorflow.verify.records import RESOURCE_NAMES, Amounts, Record, add, amounts, limit_of
from floorflow.verify.rules.claims import RATE_TOLERANCE, check_stats
from floorflow.verify.rules.sums import slot_totals
from floorflow.verify.violations import Findings, close


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
    if shared is not None:  # its own rules judge the latency
        latency = next((e["latency_us"] for e in shared["networks"] if e["network"] == network["name"]), None)
        alone = {"sustained_fps": figures["fps"], "latency_us": latency}
    return {
        **figures,
        "interval_cycles": slowest["interval_cycles"],
        "bottleneck": slowest["estimates"]["bottleneck"],
        "sustained_fps": alone["sustained_fps"],
        "latency_us": alone["latency_us"],
    }


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


TIE_BREAKS = ("fullness", "scarcity")
"""What decides between designs of one interval."""

Share = tuple[float, str, str]
"""Demand over limit, slot, resource."""


def check_fullness(plan: Record, phases: list[PhaseFacts], findings: Findings) -> None:
    """Check every largest share: of slots, of what folding counted, and in the summary."""
    options = plan["options"]
    if options["tie_break"] not in TIE_BREAKS:
        expected = f"expected one of {', '.join(TIE_BREAKS)}"
        findings.add("plan-malformed", "options.tie_break", f"is {options['tie_break']!r}, {expected}")
    fullest: tuple[float, Record | None] = (0.0, None)
    for phase in phases:
        limits = cap_limits(phase, options)
        share, slot, resource = _of_slots(phase, limits)
        stats = phase.raw["partition"]["fullness"]
        _check_share(stats, share, f"{phase.where}.partition.fullness", findings)
        _check_foldings(phase, limits, share, findings)
        if share > fullest[0]:
            told = {"phase": phase.name, "slot": slot, "resource": resource, "share": share, "bound": stats["bound"]}
            fullest = share, told
    _check_fullest_share(plan["summary"]["fullness"], fullest[1], findings)


def cap_limits(phase: PhaseFacts, options: Record) -> dict[str, Amounts]:
    """Return cap x available of every slot."""
    available = {name: amounts(slot.entry["available"]) for name, slot in phase.slots.items()}
    return {name: limit_of(options["cap"], amount) for name, amount in available.items()}


def _of_slots(phase: PhaseFacts, limits: dict[str, Amounts]) -> Share:
    """Return the largest share of all slots; of equal ones the first by slot and resource."""
    totals = slot_totals(phase)
    shares = (
        (share, slot, resource)
        for slot, limit in limits.items()
        for share, resource in _shares(totals.get(slot, limit), limit)
    )
    return max(shares, key=lambda share: share[0], default=(0.0, "", ""))


def _shares(demand: Amounts, limit: Amounts) -> Iterator[tuple[float, str]]:
    """Yield demand over limit; a demand without a limit is reported where limits are judged."""
    for name in RESOURCE_NAMES:
        yield (demand[name] / limit[name] if limit[name] else 0.0), name


def _check_share(stats: Record, share: float, where: str, findings: Findings) -> None:
    check_stats(stats, where, findings)
    findings.expect("wrong-objective", where, "objective", stats["objective"], share)


def _check_foldings(phase: PhaseFacts, limits: dict[str, Amounts], largest: float, findings: Findings) -> None:
    """Check the share that each folding has of the sums; what bounds the sums bounds the fullest slot as well."""
    whole: Amounts = dict.fromkeys(RESOURCE_NAMES, 0)
    for limit in limits.values():
        whole = add(whole, limit)
    for network, part in phase.parts.items():
        folding, where = part["folding"], f"{phase.where} network {network}.folding.fullness"
        share = max(share for share, _ in _shares(amounts(folding["resources"]), whole))
        _check_share(folding["fullness"], share, where, findings)
        bound = folding["fullness"]["bound"]
        if bound is not None and bound > largest and not close(bound, largest):
            findings.add("bound-above-objective", where, f"bound {bound} is above the fullest slot's {largest}")


def _check_fullest_share(stated: Record | None, derived: dict[str, Any] | None, findings: Findings) -> None:
    if stated is None or derived is None:
        findings.expect("summary-differs", "summary.fullness", "fullness", stated, derived)
        return
    for key, value in derived.items():
        findings.expect("summary-differs", f"summary.fullness.{key}", key, stated[key], value)


HALF = 0.5
"""A network with less than this share of the rate that was asked for is starved, unless a least rate was asked for."""


def check_targets(plan: Record, findings: Findings) -> None:
    """Judge ``targets`` against options, clock and the networks' intervals."""
    options, stated = plan["options"], plan.get("targets")
    asked = {name: options.get(name) or {} for name in ("rates", "min_rate")}
    names = [network["name"] for network in plan["networks"]]
    for option, rates in asked.items():
        for name in sorted(rates.keys() - {*names}):
            findings.add("wrong-target", f"options.{option}", f"{name} is no network of the plan")
    if stated is None:
        if any(asked.values()) and plan.get("memory_schedule") is None:  # there rates are judged where it is
            findings.add("wrong-target", "targets", "is missing, though rates of networks were asked for")
        return
    rows = [row["network"] for row in stated["networks"]]
    if rows != names or len(names) < 2:
        message = f"are {', '.join(rows)}; the plan has {', '.join(names)}, and only several networks have targets"
        findings.add("wrong-target", "targets.networks", message)
        return
    ratios = [_check_target(plan, row, findings) for row in stated["networks"]]
    _check_stretch(stated, ratios, findings)
    if options["objective"] == "resources" and any(row["fps"] is None for row in stated["networks"]):
        told = "least resources are sought only at the rates of all networks"
        findings.add("wrong-target", "options.objective", told)


def _check_target(plan: Record, row: Record, findings: Findings) -> float:
    """Judge the target of a network, and return how many times its interval the network's is."""
    options, network = plan["options"], row["network"]
    where = f"targets network {network}"
    asked, least = ((options.get(name) or {}).get(network) for name in ("rates", "min_rate"))
    findings.expect("wrong-target", where, "fps", row["fps"], asked)
    findings.expect("wrong-target", where, "least_fps", row["least_fps"], least)
    interval = max((part["interval_cycles"] for _, part in parts_of(plan, network)), default=0)
    target = row["alone_cycles"] if asked is None else longest_interval(options["clock_mhz"], asked)
    findings.expect("wrong-target", where, "target_cycles", row["target_cycles"], target)
    if row["alone_cycles"] > interval:
        message = f"alone_cycles {row['alone_cycles']} is above the interval {interval} that it bounds"
        findings.add("bound-above-objective", where, message)
    share = min(1.0, target / interval) if interval else 0.0
    findings.expect("wrong-target", where, "share", row["share"], share)
    starved = asked is not None and least is None and share < HALF
    findings.expect("wrong-target", where, "starved", row["starved"], starved)
    if least is not None and interval > longest_interval(options["clock_mhz"], least):
        findings.add("rate-missed", where, f"an interval of {interval} cycles, {least:g} frames/s must be kept")
    if options["objective"] == "resources" and share < 1:
        findings.add("rate-missed", where, f"{share:.1%} of the rate, though least resources at it were sought")
    return interval / target if target else 0.0


def _check_stretch(stated: Record, ratios: list[float], findings: Findings) -> None:
    """Judge the worst of all; networks without a rate do not count as long as one that was asked for is missed."""
    asked = [ratio for ratio, row in zip(ratios, stated["networks"], strict=True) if row["fps"] is not None]
    counted = asked if any(ratio > 1 for ratio in asked) else ratios
    where = "targets.stretch"
    check_stats(stated["stretch"], where, findings)
    findings.expect("wrong-objective", where, "objective", stated["stretch"]["objective"], max(1.0, *counted))


def longest_interval(clock_mhz: float, fps: float) -> int:
    """Return the longest interval in cycles that reaches a rate."""
    return floor(clock_mhz * 1e6 / (fps * (1 - RATE_TOLERANCE)))
