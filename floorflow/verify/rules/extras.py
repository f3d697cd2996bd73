"""What stands beside a plan: the bound without limits, and bargains.

Bargains are rates that are lower by known shares, designs that reach them, and the plan's own figures beside them.
"""

from __future__ import annotations

import hashlib

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.files import Folder
from floorflow.verify.records import RESOURCE_NAMES, Record, add
from floorflow.verify.rules.summary import cap_limits
from floorflow.verify.rules.sums import slot_totals
from floorflow.verify.schema import departures
from floorflow.verify.violations import Findings, close

EXTRAS, EXTRAS_SCHEMA = "extras.json", "floorflow-extras/1"
WHERE = f"{EXTRAS}: bargains"
LESS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the rate that are given up."""
ROUNDED = 1e-3
"""Share by which a rate in four digits may be below what it is rounded down from."""
INSTEAD = "--objective resources"
"""What may stand beside a rate where the highest was asked for by name."""


def check_extras(folder: Folder, plan: Record, phases: list[PhaseFacts], findings: Findings) -> None:
    """Judge extras.json where there is one: that it belongs to this plan.json, and what it says."""
    if EXTRAS not in folder.matching([EXTRAS]):
        return
    told = folder.json(EXTRAS, findings)
    if told is None:
        return
    problems = list(departures(told, "extras_file")) or (
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
        _check_now(plan, phases[0], told["bargains"]["now"], WHERE, findings)
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


def _check_without_limits(plan: Record, stated: Record, findings: Findings) -> None:
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


def _check_request(plan: Record, told: Record, where: str, findings: Findings) -> None:
    """Judge whether the same command with what is told asks for this plan at another rate."""
    options = plan["options"]
    fpgas = [f"--fpgas {len(plan['platform']['fpgas'])}"] if options["fpgas"] == "auto" else []
    allowed = [fpgas, [*fpgas, INSTEAD]] if options["objective"] == "throughput" else [fpgas]
    if told["beside"] not in allowed:
        findings.add("wrong-bargain", where, f"beside --fps stands {told['beside']}, expected {fpgas}")
    if plan["calibration"] is not None:
        findings.add("wrong-bargain", where, "no command knows what the build of this plan measured")


def _check_rows(plan: Record, network: Record, told: Record, where: str, findings: Findings) -> None:
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


def _check_now(plan: Record, phase: PhaseFacts, now: Record, where: str, findings: Findings) -> None:
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
        findings.add("wrong-bargain", where, f"now.share is {now['share']}, the fullest {max(shares.values())}")
    whole = dict.fromkeys(RESOURCE_NAMES, 0)
    for demand in totals.values():
        whole = add(whole, demand)
    if any(now["resources"][name] != whole[name] for name in RESOURCE_NAMES):
        findings.add("wrong-bargain", where, f"now.resources are {now['resources']}, all slots hold {whole}")
    engine = phase.folded.get(now["engine"])
    held = {} if engine is None else engine.folding["resources"]
    if held.get(now["engine_resource"]) != now["amount"]:
        findings.add("wrong-bargain", where, f"{now['engine']} does not take {now['amount']} {now['engine_resource']}")
    hpwl = sum(plan["hpwl"] for plan in phase.raw["floorplan"].values())
    if now["hpwl"] is None or not close(now["hpwl"], hpwl):
        findings.add("wrong-bargain", where, f"now.hpwl is {now['hpwl']}, that of the floorplans {hpwl}")
