"""Bands, fits and calibration: values that no rule can derive must at least be what they are said to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorflow.verify.hardware.routes import Slot
from floorflow.verify.outcomes import Need, Outcomes
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import RESOURCE_NAMES, Record
from floorflow.verify.violations import Findings


def check_expectations(phase: PhaseFacts, outcomes: Outcomes, findings: Findings) -> None:
    """Judge the bands of kinds, and the fits of slots.

    The bands themselves are the cost model's; what follows from them is derived again.
    """
    for kind, bands in phase.raw["bands"].items():
        for message in _band_objections(bands):
            findings.add("wrong-band", f"{phase.where}.bands.{kind}", message)
    if phase.raw["bands"]:
        for what in outcomes.unknown():
            findings.add("wrong-band", f"{phase.where}.bands", f"there is none for {what}")
    _check_fits(phase, outcomes, findings)


def _check_fits(phase: PhaseFacts, outcomes: Outcomes, findings: Findings) -> None:
    """Judge that there is a fit for every slot where there are bands, else none, and what each says."""
    fits, where = phase.raw["fits"], f"{phase.where}.fits"
    for name in sorted({*fits} - {*phase.slots}):
        findings.add("slot-unknown", where, f"{name} is no slot")
    if bool(fits) != bool(phase.raw["bands"]):
        findings.add("wrong-fit", where, "there are bands and no fits, or fits and no bands")
    elif fits:
        for name in sorted({*phase.slots} - {*fits}):
            findings.add("wrong-fit", where, f"{name} has none, other slots have")
    for name, fit in fits.items():
        if not 0 <= fit["likelihood"] <= 1:
            findings.add("wrong-fit", f"{where}.{name}", f"likelihood is {fit['likelihood']}, expected 0 to 1")
        if name in phase.slots and outcomes.is_known:
            _check_fit(fit, outcomes.of_slot(name), phase.slots[name], f"{where}.{name}", findings)


def _check_fit(fit: Record, need: Need, slot: Slot, where: str, findings: Findings) -> None:
    """Judge what bands and resources give of a slot: its likelihood to four digits, its tenths to one unit."""
    if objection := need.objection(fit["likelihood"], slot.entry["available"]):
        findings.add("wrong-fit", where, objection)
    for side, amounts in zip(("low", "high"), need.tenths(), strict=True):
        for resource in RESOURCE_NAMES:
            if abs(fit[side][resource] - amounts[resource]) > 1:
                message = f"{side} of {resource} is {fit[side][resource]}, derived {amounts[resource]}"
                findings.add("wrong-fit", where, message)


def _band_objections(bands: Record) -> Iterator[str]:
    for resource, factors in bands.items():
        if resource not in RESOURCE_NAMES:
            yield f"{resource} is none of {', '.join(RESOURCE_NAMES)}"
        elif len(factors) != 2 or not 0 < factors[0] <= factors[1]:
            yield f"{resource} is {factors}, expected two positive factors, the lower first"


def check_calibration(plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge that what was measured exists, and that factors are positive and of resources."""
    calibration = plan["calibration"]
    if calibration is None:
        return
    name, folded = "wrong-calibration", {engine for phase in phases for engine in phase.folded}
    for engine in calibration["measured"]:
        if engine not in folded or calibration["measured"].count(engine) > 1:
            findings.add(name, "calibration.measured", f"{engine} is no engine of the plan, or stands there twice")
    for kind, factors in calibration["factors"].items():
        for resource, factor in factors.items():
            if resource not in RESOURCE_NAMES or factor <= 0:
                message = f"{resource} is {factor}, expected a positive factor on a resource"
                findings.add(name, f"calibration.factors.{kind}", message)
