"""What solvers say about their answers: gap and status from objective and bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from floorflow.verify.graphs import critical_path
from floorflow.verify.plan_structure import Record
from floorflow.verify.violations import Findings, same

STATUSES = ("optimal", "feasible", "heuristic")
"""Statuses that an answer in a plan can have; an infeasible problem has no answer."""


RATE_TOLERANCE = 1e-6
"""Share by which a rate may stay below the one asked for."""


SCARCE = ("LUT", "BRAM18", "URAM", "DSP")
"""Resources that scarcity counts."""


OBJECTIVES = ("throughput", "latency", "resources")
"""What a plan can be made for."""


def check_phase_stats(
    phase: Record, fpgas: Iterable[Record], objective_of_plan: str, where: str, findings: Findings
) -> None:
    """Check every stats object of a phase, and that its objective is what the plan's own numbers give."""
    folding = phase["folding"]
    for_latency = objective_of_plan == "latency"
    claims = [
        ("folding", folding["stats"], latency_cycles(phase) if for_latency else scarcity([folding], fpgas)),
        ("partition", phase["partition"]["stats"], phase["partition"]["cost"]),
    ]
    for fpga, floorplan in phase["floorplan"].items():
        claims.append((f"floorplan.{fpga}", floorplan["stats"], floorplan["hpwl"]))
    for place, stats, value in claims:
        check_stats(stats, f"{where}.{place}.stats", findings)
        objective = stats["objective"]
        # Of an answer that is not proven, a solver may know less than the plan shows; it must never claim more.
        if objective is not None and (stats["status"] == "optimal" or objective < value):
            findings.expect("wrong-objective", f"{where}.{place}.stats", "objective", objective, value)
    objective, whole = folding["stats"]["objective"], folding["whole_budget_bound"]
    if whole is not None and objective is not None and whole > objective and not same(whole, objective):
        findings.add("bound-above-objective", f"{where}.folding", f"whole_budget_bound {whole} is above {objective}")


def latency_cycles(phase: Record) -> float:
    """Return the sum of engine cycles along the longest path, links left out."""
    streams = ((channel["source"], channel["target"], 0.0) for channel in phase["channels"])
    return critical_path(streams, {name: entry["cycles"] for name, entry in phase["folding"]["engines"].items()})


def check_folding_sum(phase: Record, where: str, findings: Findings) -> None:
    """Check what the folding counted: engines, converters and FIFOs no deeper than they became, in its budget."""
    folding = phase["folding"]
    least: Counter[str] = Counter()
    for engine in folding["engines"].values():
        least.update(engine["resources"])
    for channel in phase["channels"]:
        least.update(channel["converter_resources"])
    for name, amount in folding["resources"].items():
        if not least[name] <= amount <= folding["budget"][name]:
            limits = f"expected {least[name]} (engines and converters) to {folding['budget'][name]} (budget)"
            findings.add("wrong-sum", f"{where}.folding.resources", f"{name} {amount}: {limits}")


def scarcity(engines: Iterable[Record], fpgas: Iterable[Record]) -> float:
    """Return what engines use of the silicon of all slots, summed over the scarce resources that the part has."""
    used: Counter[str] = Counter()
    silicon: Counter[str] = Counter()
    for engine in engines:
        used.update({name: engine["resources"][name] for name in SCARCE})
    for fpga in fpgas:
        for slot in fpga["slots"]:
            silicon.update({name: slot["capacity"][name] for name in SCARCE})
    return sum(used[name] / silicon[name] for name in SCARCE if silicon[name])


def check_search(plan: Record, findings: Findings) -> None:
    """Check what the plan says of the search: the interval found, its distance from the folding optimum, its rate."""
    search, options = plan["search"], plan["options"]
    interval, bound = search["interval_cycles"], search["bound_cycles"]
    findings.expect("wrong-interval", "search", "interval_cycles", interval, plan["phases"][0]["folding"]["cycles"])
    if bound > interval:
        findings.add("bound-above-objective", "search", f"bound {bound} is above interval {interval}")
    gap = max(0.0, (interval - bound) / interval) if interval else 0.0
    findings.expect("wrong-gap", "search", "gap", search["gap"], gap)
    if options["objective"] not in OBJECTIVES or (options["objective"] == "throughput" and options["fps"] is not None):
        asked = f"is {options['objective']!r} with fps {options['fps']}, expected one of {', '.join(OBJECTIVES)}"
        findings.add("plan-malformed", "options.objective", f"{asked}, and throughput only without fps")
    if not search["ended_by"].strip():
        findings.add("search-unexplained", "search", "ended_by does not say what ended the search")
    if options["fps"] is not None and options["clock_mhz"] * 1e6 < options["fps"] * (1 - RATE_TOLERANCE) * interval:
        findings.add("rate-missed", "search", f"{interval} cycles are too long for the {options['fps']} fps asked for")


def check_stats(stats: Record, where: str, findings: Findings) -> None:
    """Check one stats object."""
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
