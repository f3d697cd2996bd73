"""What several networks that share a platform were to reach: their rates, what each gets of them, and the worst."""

from __future__ import annotations

from math import floor

from floorflow.verify.records import Record
from floorflow.verify.solver_claims import RATE_TOLERANCE, check_stats
from floorflow.verify.summary import parts_of
from floorflow.verify.violations import Findings

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
