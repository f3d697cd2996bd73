"""What a plan says of the whole of it, derived again: summary, fullness, targets of networks, and what is beside it.

In extras.json stand the bound without limits, and bargains: rates that are lower by known shares, designs
that reach them, and the plan's own figures.
"""

import hashlib
from collections.abc import Iterator, Mapping
from math import floor

from floorflow.verify.facts import (
    PhaseFacts,
    Phases,
    believed_fps,
    believed_latency_us,
    frames_per_second,
    parts_of,
)
from floorflow.verify.files import Folder
from floorflow.verify.phase_records import StatsRecord
from floorflow.verify.plan_records import (
    FullestRecord,
    FullnessRecord,
    NetworkRecord,
    OptionsRecord,
    PlanRecord,
    TargetRecord,
    TargetsRecord,
)
from floorflow.verify.records import RESOURCE_NAMES, Amounts, Record, add, amounts, limit_of
from floorflow.verify.rules.claims import RATE_TOLERANCE, check_stats
from floorflow.verify.rules.sums import slot_totals
from floorflow.verify.schema import departures, file_record
from floorflow.verify.violations import Findings, close


def check_summary(plan: PlanRecord, findings: Findings) -> None:
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
    findings.compare_at("summary-differs", "summary", stated, derived)
    _check_fullest("fullest", stated["fullest"], _fullest(plan), findings)
    names = [network["name"] for network in plan["networks"]]
    rows = [row["network"] for row in stated["networks"]]
    if rows != names:
        findings.add("summary-differs", "summary.networks", f"are {', '.join(rows)}; the plan has {', '.join(names)}")
        return
    for network, row in zip(plan["networks"], stated["networks"], strict=True):
        where = f"summary.networks {network['name']}"
        findings.compare_at("summary-differs", where, row, _network(plan, network))


def _network(plan: PlanRecord, network: NetworkRecord) -> dict[str, object]:
    parts = [part for _, part in parts_of(plan, network["name"])]
    figures: dict[str, object] = {
        "fps": frames_per_second(plan, network["name"]),
        "bound_cycles": network["search"]["bound_cycles"],
        "joint_bound_cycles": network["search"]["joint_bound_cycles"],
        "gap": network["search"]["gap"],
    }
    if not parts:
        return figures  # reported where networks are judged
    slowest = max(parts, key=lambda part: part["interval_cycles"])
    estimates, shared = slowest["estimates"], plan.get("memory_schedule")
    sustained, latency = None, None
    if shared is not None:  # its own rules judge the latency
        sustained = frames_per_second(plan, network["name"])
        latency = next((e["latency_us"] for e in shared["networks"] if e["network"] == network["name"]), None)
    elif len(plan["phases"]) == 1:
        sustained, latency = estimates["sustained_fps"], believed_latency_us(estimates)
        figures["fps"] = believed_fps(estimates)
    return {
        **figures,
        "interval_cycles": slowest["interval_cycles"],
        "bottleneck": estimates["bottleneck"],
        "sustained_fps": sustained,
        "latency_us": latency,
    }


def _check_fullest(
    name: str, stated: Mapping[str, object] | None, derived: Mapping[str, object] | None, findings: Findings
) -> None:
    if stated is None or derived is None:
        findings.expect("summary-differs", f"summary.{name}", name, stated, derived)
    else:
        findings.compare_at("summary-differs", f"summary.{name}", stated, derived)


def _fullest(plan: PlanRecord) -> FullestRecord | None:
    """Return the largest share of a slot's resource; of equal ones the first by phase, slot and resource."""
    best: FullestRecord | None = None
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


def check_fullness(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Check every largest share: of slots, of what folding counted, and in the summary."""
    options = plan["options"]
    if options["tie_break"] not in TIE_BREAKS:
        expected = f"expected one of {', '.join(TIE_BREAKS)}"
        findings.add("plan-malformed", "options.tie_break", f"is {options['tie_break']!r}, {expected}")
    fullest: tuple[float, FullnessRecord | None] = (0.0, None)
    for phase in phases:
        limits = cap_limits(phase, options)
        share, slot, resource = _of_slots(phase, limits)
        stats = phase.raw["partition"]["fullness"]
        _check_share(stats, share, f"{phase.where}.partition.fullness", findings)
        _check_foldings(phase, limits, share)
        if share > fullest[0]:
            place: FullestRecord = {"phase": phase.name, "slot": slot, "resource": resource, "share": share}
            fullest = share, {**place, "bound": stats["bound"]}
    _check_fullest("fullness", plan["summary"]["fullness"], fullest[1], findings)


def cap_limits(phase: PhaseFacts, options: OptionsRecord) -> dict[str, Amounts]:
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


def _check_share(stats: StatsRecord, share: float, where: str, findings: Findings) -> None:
    check_stats(stats, where, findings)
    findings.expect("wrong-objective", where, "objective", stats["objective"], share)


def _check_foldings(phase: PhaseFacts, limits: dict[str, Amounts], largest: float) -> None:
    """Check the share that each folding has of the sums; what bounds the sums bounds the fullest slot as well."""
    whole: Amounts = dict.fromkeys(RESOURCE_NAMES, 0)
    for limit in limits.values():
        whole = add(whole, limit)
    for network, part in phase.parts.items():
        folding, where = part["folding"], f"{phase.where} network {network}.folding.fullness"
        share = max(share for share, _ in _shares(amounts(folding["resources"]), whole))
        _check_share(folding["fullness"], share, where, phase.findings)
        bound = folding["fullness"]["bound"]
        if bound is not None and bound > largest and not close(bound, largest):
            phase.add("bound-above-objective", where, f"bound {bound} is above the fullest slot's {largest}")


HALF = 0.5
"""A network with less than this share of the rate that was asked for is starved, unless a least rate was asked for."""


def check_targets(plan: PlanRecord, findings: Findings) -> None:
    """Judge ``targets`` against options, clock and the networks' intervals."""
    options, stated = plan["options"], plan.get("targets")
    asked = {"rates": options.get("rates") or {}, "min_rate": options.get("min_rate") or {}}
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


def _check_target(plan: PlanRecord, row: TargetRecord, findings: Findings) -> float:
    """Judge the target of a network, and return how many times its interval the network's is."""
    options, network = plan["options"], row["network"]
    where = f"targets network {network}"
    asked, least = options.get("rates", {}).get(network), options.get("min_rate", {}).get(network)
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


def _check_stretch(stated: TargetsRecord, ratios: list[float], findings: Findings) -> None:
    """Judge the worst of all; networks without a rate do not count as long as one that was asked for is missed."""
    asked = [ratio for ratio, row in zip(ratios, stated["networks"], strict=True) if row["fps"] is not None]
    counted = asked if any(ratio > 1 for ratio in asked) else ratios
    where = "targets.stretch"
    check_stats(stated["stretch"], where, findings)
    findings.expect("wrong-objective", where, "objective", stated["stretch"]["objective"], max(1.0, *counted))


def longest_interval(clock_mhz: float, fps: float) -> int:
    """Return the longest interval in cycles that reaches a rate."""
    return floor(clock_mhz * 1e6 / (fps * (1 - RATE_TOLERANCE)))


EXTRAS, EXTRAS_SCHEMA = "extras.json", "floorflow-extras/1"
WHERE = f"{EXTRAS}: bargains"
LESS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the rate that are given up."""
ROUNDED = 1e-3
"""Share by which a rate in four digits may be below what it is rounded down from."""
INSTEAD = "--objective resources"
"""What may stand beside a rate where the highest was asked for by name."""


def check_extras(folder: Folder, plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge extras.json where there is one: that it belongs to this plan.json, and what it says."""
    if EXTRAS not in folder.matching([EXTRAS]):
        return
    told = folder.json(EXTRAS, findings)
    if told is None:
        return
    problems = list(departures(told, file_record("extras_file"))) or (
        [] if told["schema"] == EXTRAS_SCHEMA else [("schema", f"is {told['schema']!r:.60}, expected {EXTRAS_SCHEMA}")]
    )
    for where, message in problems:
        findings.add("plan-malformed", f"{EXTRAS}: {where}", message)
    if problems:
        return
    digest = hashlib.sha256(folder.data("plan.json", findings) or b"").hexdigest()
    if told["plan_sha256"] != digest:
        findings.add("foreign-extras", EXTRAS, f"is of a plan.json with SHA-256 {told['plan_sha256']!r:.80}")
        return
    if told["without_limits"] is not None:
        _check_without_limits(plan, told["without_limits"], findings)
    if told["bargains"] is not None:
        if len(plan["networks"]) > 1 or len(phases) != 1:
            findings.add("wrong-bargain", EXTRAS, "bargains are of one network in one phase")
            return
        _check_request(plan, told["bargains"], WHERE, findings)
        _check_rows(plan, plan["networks"][0], told["bargains"], WHERE, findings)
        _check_now(plan, phases[0], told["bargains"]["now"], WHERE)
    _check_left_out(told, findings)


def _check_left_out(told: Record, findings: Findings) -> None:
    """Judge that every share of the rate has its bargain or is told as left out, and nothing is both."""
    left = {each["what"]: each["less"] for each in told["left_out"]}
    if len(left) < len(told["left_out"]) or not {*left} <= {"bargains", "without_limits"}:
        findings.add("wrong-bargain", f"{EXTRAS}: left_out", f"names {', '.join(left)}, expected each once")
    if any(not each["option"].startswith("--") for each in told["left_out"]):
        findings.add("wrong-bargain", f"{EXTRAS}: left_out", "names no option with which it is worked out")
    if "without_limits" in left and told["without_limits"] is not None:
        findings.add("wrong-bargain", f"{EXTRAS}: left_out", "names without_limits, which is there")
    rows = [] if told["bargains"] is None else [row["less"] for row in told["bargains"]["rows"]]
    shares = [*rows, *left.get("bargains", [])]
    if shares != (list(LESS) if told["bargains"] is not None else []):
        findings.add("wrong-bargain", WHERE, f"the rates are not lower by {', '.join(map(str, LESS))}")


def _check_without_limits(plan: PlanRecord, stated: Record, findings: Findings) -> None:
    """Check that limits are named where, and only where, lifting them gives a lower bound; that one is claimed."""
    options, where = plan["options"], f"{EXTRAS}: without_limits"
    search = plan["networks"][0]["search"]
    lifted = {
        "max_products": options["max_products"] != "none",
        "max_engine_share": any(share < 1 for share in options["max_engine_share"].values()),
    }
    if options["objective"] != "throughput" or not any(lifted.values()):
        findings.add("wrong-bound", where, "though throughput is not sought, or there are no limits")
    lower = stated["bound_cycles"] < search["bound_cycles"]
    if stated["bound_cycles"] > search["bound_cycles"] or lower != bool(stated["options"]):
        told = f"{stated['bound_cycles']} cycles without {', '.join(stated['options']) or 'any limit'}"
        findings.add("wrong-bound", where, f"{told}, {search['bound_cycles']} under the limits")
    for name in stated["options"]:
        if not lifted.get(name, False):
            findings.add("wrong-bound", where, f"{name!r:.60} is no limit of the options")


def _check_request(plan: PlanRecord, told: Record, where: str, findings: Findings) -> None:
    """Judge whether the same command with what is told asks for this plan at another rate."""
    options = plan["options"]
    fpgas = [f"--fpgas {len(plan['platform']['fpgas'])}"] if options["fpgas"] == "auto" else []
    allowed = [fpgas, [*fpgas, INSTEAD]] if options["objective"] == "throughput" else [fpgas]
    if told["beside"] not in allowed:
        findings.add("wrong-bargain", where, f"beside --fps stands {told['beside']}, expected {fpgas}")
    if plan["calibration"] is not None:
        findings.add("wrong-bargain", where, "no command knows what the build of this plan measured")


def _check_rows(plan: PlanRecord, network: NetworkRecord, told: Record, where: str, findings: Findings) -> None:
    own, clock_mhz = network["search"]["interval_cycles"], plan["options"]["clock_mhz"]
    for row in told["rows"]:
        if row["less"] not in LESS or row["interval_cycles"] == 0:
            findings.add("wrong-bargain", where, f"{row['less']} less rate in {row['interval_cycles']} cycles is none")
            continue
        asked, cycles = clock_mhz * 1e6 / own * (1 - row["less"]), row["interval_cycles"]
        if not -1e-9 <= 1 - row["fps"] / asked <= ROUNDED:
            findings.add("wrong-bargain", where, f"{row['less']} less rate is {asked}, rounded down not {row['fps']}")
        if cycles is not None and clock_mhz * 1e6 / cycles < row["fps"] * (1 - 1e-6):
            findings.add("wrong-bargain", where, f"{cycles} cycles do not reach {row['fps']} frames/s")
        if (row["figures"] is None) != (cycles is None or cycles == own):
            findings.add("wrong-bargain", where, f"figures and interval of {row['less']} less rate do not go together")
        if row["figures"] is not None and (row["figures"]["hpwl"] is None) == told["planned"]:
            findings.add("wrong-bargain", where, "there is a wire length just where floorplans were made")


def _check_now(plan: PlanRecord, phase: PhaseFacts, now: Record, where: str) -> None:
    """Derive the plan's own figures again."""
    totals = slot_totals(phase)
    shares = {
        (slot, name): totals[slot][name] / limit[name]
        for slot, limit in cap_limits(phase, plan["options"]).items()
        for name in RESOURCE_NAMES
        if slot in totals and limit[name]
    }
    told = shares.get((now["slot"], now["resource"]))
    if told is None or not close(told, now["share"]) or not close(told, max(shares.values())):
        phase.add("wrong-bargain", where, f"now.share is {now['share']}, the fullest {max(shares.values())}")
    whole = dict.fromkeys(RESOURCE_NAMES, 0)
    for demand in totals.values():
        whole = add(whole, demand)
    if any(now["resources"][name] != whole[name] for name in RESOURCE_NAMES):
        phase.add("wrong-bargain", where, f"now.resources are {now['resources']}, all slots hold {whole}")
    engine = phase.folded.get(now["engine"])
    held = {} if engine is None else engine.folding["resources"]
    if held.get(now["engine_resource"]) != now["amount"]:
        phase.add("wrong-bargain", where, f"{now['engine']} does not take {now['amount']} {now['engine_resource']}")
    hpwl = sum(plan["hpwl"] for plan in phase.raw["floorplan"].values())
    if now["hpwl"] is None or not close(now["hpwl"], hpwl):
        phase.add("wrong-bargain", where, f"now.hpwl is {now['hpwl']}, that of the floorplans {hpwl}")
