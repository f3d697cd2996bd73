"""What a phase takes: of each slot, how likely it is to fit, and module by module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from floorflow.emit.tables import chance, table, wrapped
from floorflow.emit.use import SlotUse
from floorflow.errors import some
from floorflow.facts import JoinedEntry, PhaseEntry, Plan
from floorflow.resources import RESOURCE_NAMES

_REASONS = {
    "for constants in logic": "part of",
    "for their FIFOs, converters or wires": "FIFOs",
    "for their windows": "window",
}
"""What a reason of `ModuleEntry.why_not` is about, by words that it holds."""


def slots(plan: Plan, phase: PhaseEntry, uses: Sequence[SlotUse]) -> list[str]:
    """Return the use of each slot against what is available and what is allowed."""
    caps = plan.options.cap.model_dump()
    rows: list[tuple[str, ...]] = [("of what is available", *RESOURCE_NAMES, "fullest, of its limit")]
    for use in uses:
        shares = phase.partition.utilisation[use.name]
        rows.append((use.name, *(f"{shares[r]:.0%}" for r in RESOURCE_NAMES), _fullest(use)))
    return table([*rows, ("allowed", *(f"{caps[r]:.0%}" for r in RESOURCE_NAMES), "")])


def _fullest(slot: SlotUse) -> str:
    used, name = slot.fullest
    if not used:
        return "empty"
    return f"{name}: {slot.demand.as_dict()[name]:,} of {slot.limit.as_dict()[name]:,} ({used:.0%})"


def fits(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return the least likely pblock and slot, and what each slot may need; nothing where costs know no error."""
    likely = {name: fit for name, fit in phase.fits.items() if any(fit.high.model_dump().values())}
    if not likely:
        return []
    worst = min(likely, key=lambda name: likely[name].likelihood)
    have = {slot.name: slot.available.model_dump() for slot in plan.slots_in(phase)}
    rows: list[tuple[str, ...]] = [("eight of ten lie in", "likely to fit", *RESOURCE_NAMES)]
    for name, fit in likely.items():
        low, high = fit.low.model_dump(), fit.high.model_dump()
        spans = [_span(low[r], high[r], have[name][r]) for r in RESOURCE_NAMES]
        rows.append((name, chance(fit.likelihood), *spans))
    told = least_likely(phase)
    whole = f"least likely slot: {worst}, {chance(likely[worst].likelihood)}; shares are of what is available there"
    return [*wrapped([*([f"least likely pblock: {told}"] if told else []), whole]), *table(rows)]


def least_likely(phase: PhaseEntry) -> str:
    """Return the pblock that is least likely to hold its module, with how likely; nothing if that is not known."""
    known = [
        (entry.likelihood, name, entry.slot)
        for held in phase.floorplan.values()
        for name, entry in held.pblocks.items()
        if entry.likelihood is not None
    ]
    if not known:
        return ""
    likelihood, name, slot = min(known)
    return f"{name} in {slot}, {chance(likelihood)}"


def _span(low: int, high: int, have: int) -> str:
    return f"{low / have:.0%} to {high / have:.0%}" if have else "-"


def modules(phase: PhaseEntry) -> list[str]:
    """Return slot and resources of each module, and which are several for which rectangles did not fit."""
    rows: list[tuple[str, ...]] = [("module", "slot", *RESOURCE_NAMES, "pblock fits", "engines")]
    pblocks = {name: entry for held in phase.floorplan.values() for name, entry in held.pblocks.items()}
    for module in phase.modules:
        amounts, entry = module.resources.model_dump(), pblocks.get(module.name)
        slot = phase.partition.assignment[module.name]
        likely = "-" if entry is None or entry.likelihood is None else chance(entry.likelihood)
        needs = [f"{amounts[r]:,}" for r in RESOURCE_NAMES]
        rows.append((module.name, slot, *needs, likely, str(len(module.engines))))
    return [*table(rows, left=2), *wrapped([*map(_joined, phase.joined), *_reuse(phase)])]


def _reuse(phase: PhaseEntry) -> Iterator[str]:
    """Tell, where modules are alike, how many circuits are made, and what keeps the others from being one."""
    count = len(phase.modules)
    alike, made = (len({getattr(m, key) for m in phase.modules}) for key in ("like", "implementation"))
    if alike == count:
        return
    yield (
        f"{count} modules of {alike} sorts, made as {made} implementations: reuse {1 - alike / count:.1%} by "
        f"kinds, dimensions and folding, {1 - made / count:.1%} truly"
    )
    reasons = Counter(sort for m in phase.modules for sort, words in _REASONS.items() if words in m.why_not)
    if reasons:
        yield "modules that are made anew: " + ", ".join(f"{number} {sort}" for sort, number in reasons.items())


def _joined(entry: JoinedEntry) -> str:
    parts = f"{len(entry.modules)} modules ({some(entry.modules)})"
    return f"{entry.module} is {parts} of {entry.slot} in one pblock, as pblocks of their own did not fit: {entry.why}"
