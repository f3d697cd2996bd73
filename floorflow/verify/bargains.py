"""Bargains: rates that are lower by known shares, designs that reach them, and the plan's own figures beside them."""

from __future__ import annotations

from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.plan_structure import RESOURCE_NAMES
from floorflow.verify.sums import add, amounts, slot_totals
from floorflow.verify.templates import Record
from floorflow.verify.violations import Findings, close

LESS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the rate that are given up."""
ROUNDED = 1e-3
"""Relative distance of a rate in four digits from what it is rounded from."""


def check_bargains(plan: Record, phases: list[PhaseFacts], findings: Findings) -> None:
    """Judge the bargains of each network that has some."""
    for network in plan["networks"]:
        told = network["search"].get("bargains")
        if told is not None:
            where = f"network {network['name']}.search.bargains"
            (phase,) = phases[:1]
            _check_rows(plan, network, told, where, findings)
            _check_now(phase, told["now"], where, findings)


def _check_rows(plan: Record, network: Record, told: Record, where: str, findings: Findings) -> None:
    own, clock_mhz = network["search"]["interval_cycles"], plan["options"]["clock_mhz"]
    if [row["less"] for row in told["rows"]] != list(LESS):
        findings.add("wrong-bargain", where, f"the rates are not lower by {', '.join(map(str, LESS))}")
    for row in told["rows"]:
        asked, cycles = clock_mhz * 1e6 / own * (1 - row["less"]), row["interval_cycles"]
        if abs(row["fps"] / asked - 1) > ROUNDED:
            findings.add("wrong-bargain", where, f"{row['less']} less rate is {asked}, not {row['fps']}")
        if cycles is not None and clock_mhz * 1e6 / cycles < row["fps"] * (1 - 1e-6):
            findings.add("wrong-bargain", where, f"{cycles} cycles do not reach {row['fps']} frames/s")
        if (row["figures"] is None) != (cycles is None or cycles == own):
            findings.add("wrong-bargain", where, f"figures and interval of {row['less']} less rate do not go together")
        if row["figures"] is not None and (row["figures"]["hpwl"] is None) == told["planned"]:
            findings.add("wrong-bargain", where, "there is a wire length just where floorplans were made")


def _check_now(phase: PhaseFacts, now: Record, where: str, findings: Findings) -> None:
    """Derive the plan's own figures again."""
    totals = slot_totals(phase)
    available = {name: amounts(slot.entry["available"]) for name, slot in phase.slots.items()}
    shares = {
        (slot, name): demand[name] / available[slot][name]
        for slot, demand in totals.items()
        for name in RESOURCE_NAMES
        if available[slot][name]
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
    if engine is None or engine.folding["resources"][now["engine_resource"]] != now["amount"]:
        findings.add("wrong-bargain", where, f"{now['engine']} does not take {now['amount']} {now['engine_resource']}")
    hpwl = sum(plan["hpwl"] for plan in phase.raw["floorplan"].values())
    if now["hpwl"] is None or not close(now["hpwl"], hpwl):
        findings.add("wrong-bargain", where, f"now.hpwl is {now['hpwl']}, that of the floorplans {hpwl}")
