"""What modules and slots may turn out to need: bands on estimates, as the plan states them, added up by kind.

Estimates of one kind are off by one factor, kinds are independent; the factor of a kind is normal, and one tenth of it
lies below the band and one above (docs/plan.md, *Likelihood*). What is decided or measured is off by nothing. Values
that no rule can derive must at least be what they are said to be.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, erfc, floor, hypot, sqrt

from floorflow.verify.facts import PhaseFacts, Phases
from floorflow.verify.hardware.routes import Slot
from floorflow.verify.phase_records import FitRecord
from floorflow.verify.plan_records import OptionsRecord, PlanRecord
from floorflow.verify.records import RESOURCE_NAMES, Amounts, add, amounts
from floorflow.verify.violations import Findings

TENTH_DEVIATIONS = 1.2816
"""Standard deviations of a normal distribution from its mean to its upper tenth."""

FOURTH_DIGIT, NEAR = 1e-4, 1e-9
"""By how much a likelihood of four digits may be below its chance, and by how much two chances differ by rounding."""

MOST_TOLD = 0.98
"""Above it no likelihood is told of what may turn out otherwise."""

_SURE, _LESS, _MORE = "", "less in doubt", "more in doubt"
"""Stand for the kinds of what is off by nothing, and of what versions of the tool may take less and more."""
_DECIDED = {_SURE: (1.0, 1.0), _LESS: (-1.0, 0.0), _MORE: (0.0, 1.0)}

Use = dict[str, Amounts]
"""Estimates by kind."""


@dataclass(frozen=True)
class Need:
    """Mean and standard deviation of each resource."""

    of: Mapping[str, tuple[float, float]]

    def chance(self, have: Mapping[str, int], judged: Collection[str] = RESOURCE_NAMES) -> float:
        """Return the probability that there is enough of each judged resource, as if they were independent."""
        product = 1.0
        for name in judged:
            mean, spread = self.of[name]
            if spread:
                product *= erfc((mean - have[name]) / (spread * sqrt(2))) / 2
            elif mean > have[name] + NEAR:
                return 0.0
        return product

    def objection(self, stated: float, have: Mapping[str, int]) -> str:
        """Tell what is wrong with a likelihood as a plan states it: the chance to four digits, never rounded up.

        It is at most `MOST_TOLD` unless nothing can turn out otherwise.
        """
        is_sure = not any(spread for _, spread in self.of.values())
        chance = min(self.chance(have), 1.0 if is_sure else MOST_TOLD)
        wrong = not chance - FOURTH_DIGIT <= stated <= chance + NEAR
        return f"likelihood is {stated}, derived {chance:.6f}" if wrong else ""

    def tenths(self) -> tuple[Amounts, Amounts]:
        """Return what one outcome in ten stays below and one in ten exceeds, of each resource."""
        low = {name: max(0, floor(mean - TENTH_DEVIATIONS * by + 1e-9)) for name, (mean, by) in self.of.items()}
        high = {name: ceil(mean + TENTH_DEVIATIONS * by - 1e-9) for name, (mean, by) in self.of.items()}
        return low, high


@dataclass(frozen=True)
class Outcomes:
    """The bands of a phase, and which of its engines were measured."""

    phase: PhaseFacts
    measured: Collection[str]

    @property
    def bands(self) -> dict[str, dict[str, list[float]]]:
        """Factors by kind and resource; empty where the cost model knows no error."""
        return self.phase.raw["bands"]

    @cached_property
    def is_known(self) -> bool:
        """Whether there are bands, two numbers each, for all that modules need; what is amiss is reported elsewhere."""
        pairs = [factors for kind in self.bands.values() for factors in kind.values()]
        return bool(pairs) and all(len(pair) == 2 and 0 < pair[0] <= pair[1] for pair in pairs) and not self.unknown()

    @cached_property
    def by_module(self) -> dict[str, Use]:
        """What lies in each module."""
        uses: dict[str, Use] = {name: {} for name in self.phase.modules}
        for engine, module in self.phase.module_of.items():
            if engine in self.phase.folded:
                folded = self.phase.folded[engine]
                kind = _SURE if engine in self.measured else folded.kind
                _put(uses[module], kind, folded.folding["resources"])
                doubt = None if kind == _SURE else folded.folding.get("doubt")
                if doubt is not None:
                    _put(uses[module], _LESS, doubt["less"])
                    _put(uses[module], _MORE, doubt["more"])
        for channel in self.phase.channels:
            if channel["fifo_module"] in uses:
                _put(uses[channel["fifo_module"]], self.phase.raw["fifo_kind"], channel["fifo_resources"])
            if channel["converter_module"] in uses and channel["converter"] is not None:
                _put(uses[channel["converter_module"]], channel["converter"], channel["converter_resources"])
        for name, ports in self.phase.port_registers.items():
            if any(ports.values()):
                _put(uses[name], _SURE, ports)
        return uses

    def unknown(self) -> list[str]:
        """Return what has resources of a kind without a band for them."""
        return sorted(
            f"{kind} {name}"
            for kind, use in _together(self.by_module.values()).items()
            for name in RESOURCE_NAMES
            if kind not in _DECIDED and use[name] and name not in self.bands.get(kind, {})
        )

    def of_module(self, module: str) -> Need:
        """Return what a module may need."""
        return self._need(self.by_module[module])

    def of_slot(self, slot: str) -> Need:
        """Return what may be needed in a slot: its modules, its share of crossing registers, slices, link kernels."""
        assigned = self.phase.raw["partition"]["assignment"]
        use = _together(held for name, held in self.by_module.items() if assigned.get(name) == slot)
        for channel in self.phase.channels:
            if slot in channel["crossing_resources"]:
                _put(use, _SURE, channel["crossing_resources"][slot])
            if slot in channel["slice_resources"]:
                _put(use, self.phase.raw["fifo_kind"], channel["slice_resources"][slot])
        for kernel in self.phase.raw.get("link_kernels", []):
            if kernel["slot"] == slot:
                _put(use, _SURE, kernel["resources"])
        return self._need(use)

    def _need(self, use: Use) -> Need:
        return Need({name: self._moments(use, name) for name in RESOURCE_NAMES})

    def _moments(self, use: Use, name: str) -> tuple[float, float]:
        mean, spreads = 0.0, []
        for kind in sorted(use):
            low, high = _DECIDED[kind] if kind in _DECIDED else self.bands.get(kind, {}).get(name, (1.0, 1.0))
            mean += use[kind][name] * (low + high) / 2
            spreads.append(use[kind][name] * (high - low) / (2 * TENTH_DEVIATIONS))
        return mean, hypot(*spreads)


def _put(use: Use, kind: str, entry: Mapping[str, int]) -> None:
    use[kind] = add(use[kind], amounts(entry)) if kind in use else amounts(entry)


def _together(uses: Iterable[Use]) -> Use:
    both: Use = {}
    for use in uses:
        for kind, entry in use.items():
            _put(both, kind, entry)
    return both


def check_expectations(phase: PhaseFacts, outcomes: Outcomes) -> None:
    """Judge the bands of kinds, and the fits of slots.

    The bands themselves are the cost model's; what follows from them is derived again.
    """
    for kind, bands in phase.raw["bands"].items():
        for message in _band_objections(bands):
            phase.add("wrong-band", f"{phase.where}.bands.{kind}", message)
    if phase.raw["bands"]:
        for what in outcomes.unknown():
            phase.add("wrong-band", f"{phase.where}.bands", f"there is none for {what}")
    _check_fits(phase, outcomes)


def _check_fits(phase: PhaseFacts, outcomes: Outcomes) -> None:
    """Judge that there is a fit for every slot where there are bands, else none, and what each says."""
    fits, where = phase.raw["fits"], f"{phase.where}.fits"
    for name in sorted({*fits} - {*phase.slots}):
        phase.add("slot-unknown", where, f"{name} is no slot")
    if bool(fits) != bool(phase.raw["bands"]):
        phase.add("wrong-fit", where, "there are bands and no fits, or fits and no bands")
    elif fits:
        for name in sorted({*phase.slots} - {*fits}):
            phase.add("wrong-fit", where, f"{name} has none, other slots have")
    for name, fit in fits.items():
        if not 0 <= fit["likelihood"] <= 1:
            phase.add("wrong-fit", f"{where}.{name}", f"likelihood is {fit['likelihood']}, expected 0 to 1")
        if name in phase.slots and outcomes.is_known:
            _check_fit(fit, outcomes.of_slot(name), phase.slots[name], f"{where}.{name}", phase.findings)


def _check_fit(fit: FitRecord, need: Need, slot: Slot, where: str, findings: Findings) -> None:
    """Judge what bands and resources give of a slot: its likelihood to four digits, its tenths to one unit."""
    if objection := need.objection(fit["likelihood"], slot.entry["available"]):
        findings.add("wrong-fit", where, objection)
    for side, stated, derived in zip(("low", "high"), (fit["low"], fit["high"]), need.tenths(), strict=True):
        for resource in RESOURCE_NAMES:
            if abs(stated[resource] - derived[resource]) > 1:
                message = f"{side} of {resource} is {stated[resource]}, derived {derived[resource]}"
                findings.add("wrong-fit", where, message)


def check_confidence(options: OptionsRecord, phase: PhaseFacts, outcomes: Outcomes) -> None:
    """Judge whether each slot and pblock is as likely to fit as the options ask, and what the plan says of it."""
    stated, sought, where = phase.raw["confidence"], options["confidence"], f"{phase.where}.confidence"
    if sought == "none" or options.get("risk") is not None or not phase.raw["bands"]:
        phase.expect("wrong-confidence", where, "confidence, where none is sought or no error is known", stated, None)
        return
    if stated is None:
        phase.add("wrong-confidence", where, f"is null, {sought} is sought")
        return
    if not outcomes.is_known:
        return
    least, place = min(_chances(options, phase, outcomes), default=(1.0, "nothing"))
    if not least - FOURTH_DIGIT - NEAR <= stated["likelihood"] <= least + NEAR:
        phase.add("wrong-confidence", where, f"likelihood is {stated['likelihood']}, derived {least:.6f} ({place})")
    if abs(least - sought) > NEAR and stated["held"] != (least > sought):
        told = "held" if stated["held"] else "not held"
        phase.add("wrong-confidence", where, f"{sought} is said to be {told}, derived {least:.6f} ({place})")
    without, longest = stated["without"], max(part["interval_cycles"] for part in phase.raw["networks"])
    if without is not None and without["likelihood"] >= sought:
        phase.add("wrong-confidence", where, f"what was found without it is {without['likelihood']} likely to fit")
    if without is not None and options["objective"] == "throughput" and without["interval_cycles"] > longest:
        phase.add("wrong-confidence", where, f"without it {without['interval_cycles']} cycles, {longest} with it")


def _chances(options: OptionsRecord, phase: PhaseFacts, outcomes: Outcomes) -> Iterator[tuple[float, str]]:
    """Yield how likely each slot and pblock is to fit; of pblocks no resource counts whose fill the user gave."""
    for name, slot in phase.slots.items():
        yield outcomes.of_slot(name).chance(slot.entry["available"]), name
    judged = [name for name in RESOURCE_NAMES if options["fill"][name] is None]
    for floorplan in phase.raw["floorplan"].values():
        for name, entry in floorplan["pblocks"].items():
            if name in phase.modules:
                yield outcomes.of_module(name).chance(entry["supply"], judged), name


def _band_objections(bands: Mapping[str, list[float]]) -> Iterator[str]:
    for resource, factors in bands.items():
        if resource not in RESOURCE_NAMES:
            yield f"{resource} is none of {', '.join(RESOURCE_NAMES)}"
        elif len(factors) != 2 or not 0 < factors[0] <= factors[1]:
            yield f"{resource} is {factors}, expected two positive factors, the lower first"


def check_calibration(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
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
