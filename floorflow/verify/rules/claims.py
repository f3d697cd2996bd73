"""What solvers say about their answers: gap and status from objective and bound."""

from collections import Counter
from collections.abc import Iterable

from floorflow.verify.facts import PhaseFacts, frames_per_second, parts_of
from floorflow.verify.graphs import critical_path
from floorflow.verify.phase_records import FoldedRecord, FoldingRecord, StatsRecord
from floorflow.verify.plan_records import FpgaRecord, NetworkRecord, PlanRecord, SearchRecord
from floorflow.verify.records import RESOURCE_NAMES, TERMS
from floorflow.verify.violations import Findings, close

STATUSES = ("optimal", "feasible", "heuristic")
"""Statuses that an answer in a plan can have; an infeasible problem has no answer."""


RATE_TOLERANCE = 1e-6
"""Share by which a rate may stay below the one asked for."""


SCARCE = ("LUT", "BRAM18", "URAM", "DSP")
"""Resources that scarcity counts."""


OBJECTIVES = ("throughput", "latency", "resources")
"""What a plan can be made for."""


def check_phase_stats(phase: PhaseFacts, objective_of_plan: str) -> None:
    """Check every stats object of a phase, and that its objective is what the plan's own numbers give."""
    for network, part in phase.parts.items():
        where = f"{phase.where} network {network}.folding"
        value = _folding_value(phase, network, part["folding"], objective_of_plan)
        _check_claim(part["folding"]["stats"], value, f"{where}.stats", phase.findings)
        objective, whole = part["folding"]["stats"]["objective"], part["folding"]["whole_budget_bound"]
        if whole is not None and objective is not None and whole > objective and not close(whole, objective):
            phase.add("bound-above-objective", where, f"whole_budget_bound {whole} is above {objective}")
        check_folding_sum(phase, network)
    partition = phase.raw["partition"]
    _check_claim(partition["stats"], partition["cost"], f"{phase.where}.partition.stats", phase.findings)
    for fpga, floorplan in phase.raw["floorplan"].items():
        value = sum(floorplan["weights"][term] * floorplan["terms"][term] for term in TERMS)
        _check_claim(floorplan["stats"], value, f"{phase.where}.floorplan.{fpga}.stats", phase.findings)


def _folding_value(phase: PhaseFacts, network: str, folding: FoldingRecord, objective_of_plan: str) -> float:
    """Return what folding minimised: the scarcity of what it counted, or the longest path of engine cycles."""
    if objective_of_plan != "latency":
        return scarcity([folding], phase.fpgas.values())
    streams = ((channel["source"], channel["target"], 0.0) for channel in phase.channels_of(network))
    return critical_path(streams, {name: entry["cycles"] for name, entry in folding["engines"].items()})


def _check_claim(stats: StatsRecord, value: float, where: str, findings: Findings) -> None:
    """Check a stats object; of an answer without proof, a solver may know less than the plan shows, never more."""
    check_stats(stats, where, findings)
    objective = stats["objective"]
    if objective is None or close(objective, value):
        return
    if stats["status"] == "optimal" or objective < value:
        findings.add("wrong-objective", where, f"objective is {objective}, derived {value}")


def check_folding_sum(phase: PhaseFacts, network: str) -> None:
    """Check what the folding counted: engines, converters and FIFOs no deeper than they became, in its budget."""
    folding = phase.parts[network]["folding"]
    least: Counter[str] = Counter()
    for engine in folding["engines"].values():
        least.update({name: engine["resources"][name] for name in RESOURCE_NAMES})
    for channel in phase.channels_of(network):
        least.update({name: channel["converter_resources"][name] for name in RESOURCE_NAMES})
    for name in RESOURCE_NAMES:
        amount, most = folding["resources"][name], folding["budget"][name]
        if not least[name] <= amount <= most:
            limits = f"expected {least[name]} (engines and converters) to {most} (budget)"
            phase.add("wrong-sum", f"{phase.where} network {network}.folding.resources", f"{name} {amount}: {limits}")


def scarcity(engines: Iterable[FoldingRecord | FoldedRecord], fpgas: Iterable[FpgaRecord]) -> float:
    """Return what engines use of the silicon of all slots, summed over the scarce resources that the part has."""
    used: Counter[str] = Counter()
    silicon: Counter[str] = Counter()
    for engine in engines:
        used.update({name: engine["resources"][name] for name in SCARCE})
    for fpga in fpgas:
        for slot in fpga["slots"]:
            silicon.update({name: slot["capacity"][name] for name in SCARCE})
    return sum(used[name] / silicon[name] for name in SCARCE if silicon[name])


def check_search(plan: PlanRecord, findings: Findings) -> None:
    """Check what the plan says of each network's search: the interval found, its distance from the bound, its rate."""
    options = plan["options"]
    if options["objective"] not in OBJECTIVES or (options["objective"] == "throughput" and options["fps"] is not None):
        asked = f"is {options['objective']!r} with fps {options['fps']}, expected one of {', '.join(OBJECTIVES)}"
        findings.add("plan-malformed", "options.objective", f"{asked}, and throughput only without fps")
    for network in plan["networks"]:
        where, search = f"network {network['name']}.search", network["search"]
        interval, bound = search["interval_cycles"], search["bound_cycles"]
        longest = max((part["interval_cycles"] for _, part in parts_of(plan, network["name"])), default=interval)
        findings.expect("wrong-interval", where, "interval_cycles", interval, longest)
        if bound > interval:
            findings.add("bound-above-objective", where, f"bound {bound} is above interval {interval}")
        gap = max(0.0, (interval - bound) / interval) if interval else 0.0
        findings.expect("wrong-gap", where, "gap", search["gap"], gap)
        _check_joint_bound(search, options["objective"], where, findings)
        if options["objective"] != "throughput":
            findings.expect("wrong-bound", where, "bound_cycles", bound, interval)
        _check_ended(network, where, findings)
        _check_other_order(plan, search, where, findings)
        reached = frames_per_second(plan, network["name"])
        reached = reached and reached * (plan.get("replicas") or {"copies": 1})["copies"]
        if options["fps"] is not None and reached is not None and reached < options["fps"] * (1 - RATE_TOLERANCE):
            findings.add("rate-missed", where, f"{reached:g} fps, {options['fps']} are asked for")


def _check_joint_bound(search: SearchRecord, objective: str, where: str, findings: Findings) -> None:
    """Check that the joint bound lies between the folding bound and the interval; that it is one is claimed."""
    joint = search["joint_bound_cycles"]
    if joint is None:
        return
    if objective != "throughput":
        findings.expect("wrong-bound", where, f"joint_bound_cycles with objective {objective}", joint, None)
    if joint > search["interval_cycles"]:
        detail = f"joint_bound_cycles {joint} is above interval {search['interval_cycles']}"
        findings.add("bound-above-objective", where, detail)
    elif joint < search["bound_cycles"]:
        detail = f"joint_bound_cycles {joint} is below bound_cycles {search['bound_cycles']}, which bounds it too"
        findings.add("wrong-bound", where, detail)


def _check_other_order(plan: PlanRecord, search: SearchRecord, where: str, findings: Findings) -> None:
    """Check what the other order of FPGAs would give: told of several, no better than the bound, else no worse."""
    other = search.get("other_order")
    if other is None:
        return
    cycles, interval = other["cycles"], search["interval_cycles"]
    if len(plan["platform"]["fpgas"]) == 1:
        findings.add("wrong-bound", where, "other_order is told of one FPGA")
    if cycles is not None and cycles < search["bound_cycles"]:
        findings.add("wrong-bound", where, f"other_order.cycles {cycles} is below bound_cycles, which bounds it too")
    if cycles is not None and not plan["options"]["allow_cycles"] and (cycles >= interval or other["proven"]):
        findings.add("wrong-bound", where, f"other_order.cycles {cycles} is no faster than the plan, or proven absent")


def _check_ended(network: NetworkRecord, where: str, findings: Findings) -> None:
    """Check that the plan says what ended a search: a sentence and, where it was a try that failed, a row's facts."""
    search = network["search"]
    if not search["ended_by"].strip():
        findings.add("search-unexplained", where, "ended_by does not say what ended the search")
    ended_at = search["ended_at"]
    if ended_at is None:
        return
    failed = [
        (row["interval_cycles"], row["stage"], row["refusals"]) for row in network["trace"] if row["verdict"] != "legal"
    ]
    if (ended_at["interval_cycles"], ended_at["stage"], ended_at["refusals"]) not in failed:
        tried = f"{ended_at['interval_cycles']} cycles ({ended_at['stage']})"
        findings.add("search-unexplained", where, f"ended_at {tried} is no failed row of the trace")


def check_stats(stats: StatsRecord, where: str, findings: Findings) -> None:
    """Check one stats object."""
    objective, bound, status = stats["objective"], stats["bound"], stats["status"]
    if status not in STATUSES:
        findings.add("wrong-status", where, f"status is {status}, expected one of {', '.join(STATUSES)}")
    if objective is None or bound is None:
        findings.expect("wrong-gap", where, "gap without objective and bound", stats["gap"], None)
        if status == "optimal":
            findings.add("wrong-status", where, "optimal without objective and bound")
        return
    if bound > objective and not close(bound, objective):
        findings.add("bound-above-objective", where, f"bound {bound} is above objective {objective}")
    derived = 0.0 if objective <= bound else (objective - bound) / abs(objective) if objective else None
    findings.expect("wrong-gap", where, "gap", stats["gap"], derived)
    if status == "optimal" and derived != 0 and not close(objective, bound):
        findings.add("wrong-status", where, f"optimal, but objective {objective} is above bound {bound}")
