"""The plan's power: worked out again from slots, modules and clock by figures of this file's own; limits and words."""

from floorflow.verify.facts import PhaseFacts, Phases
from floorflow.verify.hardware.boards import commercial
from floorflow.verify.plan_records import FpgaRecord, PlanRecord
from floorflow.verify.records import RESOURCE_NAMES, Amounts, add, amounts
from floorflow.verify.rules.sums import slot_totals
from floorflow.verify.violations import Findings

NAME, UNSAID = "wrong-power", "power-unsaid"
BAND = 1.5
LEAKAGE = {"7series": 1000.0, "ultrascale+": 2550.0, "versal": 2550.0}
"""Nanowatts of each LUT that a die holds."""
PER_MHZ = dict(zip(RESOURCE_NAMES, (6.0, 28.0, 11e3, 44e3, 1.1e3), strict=True))
"""Nanowatts a MHz of each LUT, FF, BRAM18, URAM and DSP in use, of UltraScale+; twice as much on 7 series."""


def family_of(part: str) -> str:
    """Return how figures name the family of a part."""
    name = commercial(part)
    if name.startswith("xc7"):
        return "7series"
    return "versal" if name.startswith(("xcv80", "xcvc", "xcve", "xcvh", "xcvm", "xcvp")) else "ultrascale+"


def check_power(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge the watts of each card and of all, and that a card above its board's limit is told of."""
    stated, fpgas, clock_mhz = plan["power"], plan["platform"]["fpgas"], plan["options"]["clock_mhz"]
    findings.expect(NAME, "power", "cards", [card["fpga"] for card in stated["cards"]], [f["name"] for f in fpgas])
    figures = {
        family: {"leakage_nw_per_lut": LEAKAGE[family], "dynamic_nw_per_mhz": _per_mhz(family)}
        for family in {family_of(fpga["part"]) for fpga in fpgas}
    }
    by = {"clock_mhz": clock_mhz, "band": BAND, "families": figures}
    findings.compare(NAME, "power.assumptions", stated["assumptions"], by)
    copies, all_watts = plan.get("replicas"), 0.0
    times = 1 if copies is None else copies["cards"]
    findings.expect(NAME, "power", "times", stated["times"], times)
    for fpga, card in zip(fpgas, stated["cards"], strict=False):
        static, dynamic = _watts(plan, fpga, phases, clock_mhz)
        all_watts += static + dynamic
        derived = {"static_w": static, "dynamic_w": dynamic, **_band(static + dynamic)}
        findings.compare(NAME, f"power {fpga['name']}", card, derived)
        limit, said = fpga["power_limit_w"], f"power: {fpga['name']} is likely to draw "
        if limit is not None and static + dynamic > limit and not any(w.startswith(said) for w in plan["warnings"]):
            told = f"{fpga['name']} is likely to draw {static + dynamic:g} W of the {limit:g} W that its board may"
            findings.add(UNSAID, "warnings", f"no warning says that {told}")
    findings.compare(NAME, "power", stated, _band(times * all_watts))


def _per_mhz(family: str) -> dict[str, float]:
    return {name: watts * (2 if family == "7series" else 1) for name, watts in PER_MHZ.items()}


def _watts(plan: PlanRecord, fpga: FpgaRecord, phases: Phases, clock_mhz: float) -> tuple[float, float]:
    """Return what a card draws at rest, and what its logic takes beside: of phases in one region the most."""
    family, slots = family_of(fpga["part"]), {slot["name"] for slot in fpga["slots"]}
    held = amounts({})
    for item in plan["platform"]["infrastructure"]:
        held = add(held, amounts(item["resources"])) if item["slot"] in slots else held
    most: dict[str | None, float] = {}
    for phase in phases:
        region = phase.raw.get("region")
        most[region] = max(most.get(region, 0.0), _drawn(_on(phase, slots), family, clock_mhz))
    leakage = LEAKAGE[family] * sum(amounts(slot["capacity"])["LUT"] for slot in fpga["slots"]) / 1e9
    return leakage + (fpga["power_base_w"] or 0.0), _drawn(held, family, clock_mhz) + sum(most.values())


def _on(phase: PhaseFacts, slots: set[str]) -> Amounts:
    held = amounts({})
    for slot, use in slot_totals(phase).items():
        held = add(held, use) if slot in slots else held
    for kernel in phase.raw.get("link_kernels", []):
        held = add(held, amounts(kernel["resources"])) if kernel["slot"] in slots else held
    return held


def _drawn(held: Amounts, family: str, clock_mhz: float) -> float:
    by_name = _per_mhz(family)
    return clock_mhz * sum(by_name[name] * held[name] for name in RESOURCE_NAMES) / 1e9


def _band(likely: float) -> dict[str, float]:
    return {"low_w": likely / BAND, "likely_w": likely, "high_w": likely * BAND}
