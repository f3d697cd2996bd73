"""What solvers say about their answers: gap and status from objective and bound."""

from __future__ import annotations

from floorflow.check.shape import Record
from floorflow.check.violations import Findings, same

STATUSES = ("optimal", "feasible", "heuristic")
"""Statuses that an answer in a plan can have; an infeasible problem has no answer."""


RATE_TOLERANCE = 1e-6
"""Share by which a rate may stay below the one asked for."""


def check_phase_stats(phase: Record, where: str, findings: Findings) -> None:
    """Judge every stats object of a phase."""
    check_stats(phase["folding"]["stats"], f"{where}.folding.stats", findings)
    check_stats(phase["partition"]["stats"], f"{where}.partition.stats", findings)
    for fpga, floorplan in phase["floorplan"].items():
        check_stats(floorplan["stats"], f"{where}.floorplan.{fpga}.stats", findings)


def check_search(plan: Record, findings: Findings) -> None:
    """Judge what the plan says of the search: the interval found, its distance from the folding optimum, its rate."""
    search, options = plan["search"], plan["options"]
    interval, bound = search["interval_cycles"], search["bound_cycles"]
    findings.expect("wrong-interval", "search", "interval_cycles", interval, plan["phases"][0]["folding"]["cycles"])
    if bound > interval:
        findings.add("bound-above-objective", "search", f"bound {bound} is above interval {interval}")
    gap = max(0.0, (interval - bound) / interval) if interval else 0.0
    findings.expect("wrong-gap", "search", "gap", search["gap"], gap)
    if not search["ended_by"].strip():
        findings.add("search-unexplained", "search", "ended_by does not say what ended the search")
    if options["fps"] is not None and options["clock_mhz"] * 1e6 < options["fps"] * (1 - RATE_TOLERANCE) * interval:
        findings.add("rate-missed", "search", f"{interval} cycles are too long for the {options['fps']} fps asked for")


def check_stats(stats: Record, where: str, findings: Findings) -> None:
    """Judge one stats object."""
    objective, bound, gap, status = (stats[key] for key in ("objective", "bound", "gap", "status"))
    if status not in STATUSES:
        findings.add("wrong-status", where, f"status is {status}, expected one of {', '.join(STATUSES)}")
    if objective is None or bound is None:
        findings.expect("wrong-gap", where, "gap without objective and bound", gap, None)
        if status == "optimal":
            findings.add("wrong-status", where, "optimal without objective and bound")
        return
    if bound > objective and not same(bound, objective):
        findings.add("bound-above-objective", where, f"bound {bound} is above objective {objective}")
    derived = 0.0 if objective <= bound else (objective - bound) / abs(objective) if objective else None
    findings.expect("wrong-gap", where, "gap", gap, derived)
    if status == "optimal" and derived != 0 and not same(objective, bound):
        findings.add("wrong-status", where, f"optimal, but objective {objective} is above bound {bound}")
