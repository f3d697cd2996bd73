"""Bands, fits and calibration: values that no rule can derive must at least be what they are said to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.plan_structure import RESOURCE_NAMES
from floorflow.verify.templates import Record
from floorflow.verify.violations import Findings


def check_expectations(phase: PhaseFacts, findings: Findings) -> None:
    """Judge the bands of kinds, and the fits of slots, of which there is one for every slot or none."""
    for kind, bands in phase.raw["bands"].items():
        for message in _band_objections(bands):
            findings.add("wrong-band", f"{phase.where}.bands.{kind}", message)
    fits, where = phase.raw["fits"], f"{phase.where}.fits"
    if fits:
        for name in sorted({*fits} - {*phase.slots}):
            findings.add("slot-unknown", where, f"{name} is no slot")
        for name in sorted({*phase.slots} - {*fits}):
            findings.add("wrong-fit", where, f"{name} has none, other slots have")
    for name, fit in fits.items():
        if not 0 <= fit["likelihood"] <= 1:
            findings.add("wrong-fit", f"{where}.{name}", f"likelihood is {fit['likelihood']}, expected 0 to 1")
        for resource in RESOURCE_NAMES:
            low, high = fit["low"][resource], fit["high"][resource]
            if low > high:
                findings.add("wrong-fit", f"{where}.{name}", f"{resource}: low {low} is above high {high}")


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
