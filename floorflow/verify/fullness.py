"""How full a plan is of what it may use: the largest shares of limits, derived again, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import RESOURCE_NAMES, Amounts, Record, add, amounts, limit_of
from floorflow.verify.solver_claims import check_stats
from floorflow.verify.sums import slot_totals
from floorflow.verify.violations import Findings, close

TIE_BREAKS = ("fullness", "scarcity")
"""What decides between designs of one interval."""

Share = tuple[float, str, str]
"""Demand over limit, slot, resource."""


def check_fullness(plan: Record, phases: list[PhaseFacts], findings: Findings) -> None:
    """Check every largest share: of slots, of what folding counted, and in the summary."""
    options = plan["options"]
    if options["tie_break"] not in TIE_BREAKS:
        expected = f"expected one of {', '.join(TIE_BREAKS)}"
        findings.add("plan-malformed", "options.tie_break", f"is {options['tie_break']!r}, {expected}")
    fullest: tuple[float, Record | None] = (0.0, None)
    for phase in phases:
        limits = cap_limits(phase, options)
        share, slot, resource = _of_slots(phase, limits)
        stats = phase.raw["partition"]["fullness"]
        _check_share(stats, share, f"{phase.where}.partition.fullness", findings)
        _check_foldings(phase, limits, share, findings)
        if share > fullest[0]:
            told = {"phase": phase.name, "slot": slot, "resource": resource, "share": share, "bound": stats["bound"]}
            fullest = share, told
    _check_summary(plan["summary"]["fullness"], fullest[1], findings)


def cap_limits(phase: PhaseFacts, options: Record) -> dict[str, Amounts]:
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


def _check_share(stats: Record, share: float, where: str, findings: Findings) -> None:
    check_stats(stats, where, findings)
    findings.expect("wrong-objective", where, "objective", stats["objective"], share)


def _check_foldings(phase: PhaseFacts, limits: dict[str, Amounts], largest: float, findings: Findings) -> None:
    """Check the share that each folding has of the sums; what bounds the sums bounds the fullest slot as well."""
    whole: Amounts = dict.fromkeys(RESOURCE_NAMES, 0)
    for limit in limits.values():
        whole = add(whole, limit)
    for network, part in phase.parts.items():
        folding, where = part["folding"], f"{phase.where} network {network}.folding.fullness"
        share = max(share for share, _ in _shares(amounts(folding["resources"]), whole))
        _check_share(folding["fullness"], share, where, findings)
        bound = folding["fullness"]["bound"]
        if bound is not None and bound > largest and not close(bound, largest):
            findings.add("bound-above-objective", where, f"bound {bound} is above the fullest slot's {largest}")


def _check_summary(stated: Record | None, derived: dict[str, Any] | None, findings: Findings) -> None:
    if stated is None or derived is None:
        findings.expect("summary-differs", "summary.fullness", "fullness", stated, derived)
        return
    for key, value in derived.items():
        findings.expect("summary-differs", f"summary.fullness.{key}", key, stated[key], value)
