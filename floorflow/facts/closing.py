"""What makes a plan hard to close timing on.

Each item comes with the number that would be comfortable and the option that gets there (docs/clock.md says where the
numbers come from). Whether a plan closes nobody knows before routing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from floorflow.errors import some
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.plan import Plan
from floorflow.facts.platform import SlotEntry
from floorflow.presets import CHANGES

COMFORTABLE_SLOT: Mapping[str, float] = CHANGES["safe"]["cap"].as_dict()
"""Share of what is available in a slot up to which it is comfortable: caps of the preset `safe`."""

COMFORTABLE_ENGINE = {"LUT": (0.25, 20_000), "DSP": (0.5, 128)}
"""The same for one engine, and an amount that is comfortable in any slot."""

COMFORTABLE_HOPS = 1
"""SLR boundaries that a stream crosses."""

NO_BUILD = "this plan cannot be built yet: the first lines say why"


@dataclass(frozen=True)
class Closing:
    """One item: what, where, how much was found and would be comfortable, and the option that gets there."""

    what: str
    where: str
    found: str
    comfortable: str
    way: str
    is_hard: bool

    def __str__(self) -> str:
        return f"{self.what}: {self.where}, {self.found} (comfortable: {self.comfortable}; {self.way})"


def closing(plan: Plan, phase: PhaseEntry) -> list[Closing]:
    """Return what makes a phase hard to close, the fullest slot first; only what there is in it."""
    slots = [*_full_slot(plan, phase), *_largest_engine(plan, phase)]
    streams = [*_longest_stream(plan, phase), *_hops(plan, phase), *_boundaries(plan, phase)]
    return [*_short_pblocks(phase), *slots, *streams]


def _short_pblocks(phase: PhaseEntry) -> Iterator[Closing]:
    """Yield the pblocks that have less room than they should have."""
    short = [name for name, entry in phase.pblocks.items() if entry.short]
    if short:
        found = f"{len(short)} short of room, its slot has no more"
        yield Closing(
            "pblocks", some(short), found, "none", "a lower --fps, a larger platform or more FPGAs", is_hard=True
        )


def _full_slot(plan: Plan, phase: PhaseEntry) -> Iterator[Closing]:
    """Yield the resource of a slot that takes most of what is comfortable."""
    used = phase.partition.utilisation
    shares = [
        (used[slot.name][r] / COMFORTABLE_SLOT[r], slot.name, r)
        for slot in plan.platform.slots
        for r in used[slot.name]
    ]
    much, slot, name = max(shares, key=lambda share: share[0], default=(0.0, "", "LUT"))
    if much:
        most = COMFORTABLE_SLOT[name]
        found = f"{used[slot][name]:.1%} used"
        yield Closing("full slot", f"{name} of {slot}", found, f"{most:.0%}", f"--cap {name}={most:g}", much > 1)


def _largest_engine(plan: Plan, phase: PhaseEntry) -> Iterator[Closing]:
    """Yield the engine that takes most of what is comfortable in its slot."""
    slots, slot_of = {slot.name: slot for slot in plan.slots_in(phase)}, phase.slot_of
    found = [
        (entry.resources.model_dump()[r] / limit, engine, r, limit)
        for engine, entry in phase.engines.items()
        for r, limit in _comfortable_engine(slots[slot_of[engine]]).items()
    ]
    much, engine, name, limit = max(found, key=lambda each: each[0], default=(0.0, "", "LUT", 0))
    if much:
        need, have = (
            of.model_dump()[name] for of in (phase.engines[engine].resources, slots[slot_of[engine]].available)
        )
        found_there = f"{need:,} {name}, {need / have:.0%} of {slot_of[engine]}"
        way = f"--max-engine-share {name}={COMFORTABLE_ENGINE[name][0]:g}"
        yield Closing("largest engine", plan.named(engine), found_there, f"{limit:,}", way, much > 1)


def _comfortable_engine(slot: SlotEntry) -> dict[str, int]:
    have = slot.available.model_dump()
    limits = {r: max(int(share * have[r]), least) for r, (share, least) in COMFORTABLE_ENGINE.items()}
    return {r: limit for r, limit in limits.items() if have[r]}


def _longest_stream(plan: Plan, phase: PhaseEntry) -> Iterator[Closing]:
    """Yield the stream with the longest way from one register or slice that is built to the next, inside one FPGA."""
    for one in plan.longest_streams(phase)[:1]:
        missing = "" if one.slices_built else "register slices in what is built, "
        way = f"{missing}--effort best may find shorter ways, a lower --fps makes pblocks smaller"
        most = one.row.comfortable_tiles
        yield Closing(
            "longest stream", one.row.channel, one.told, f"{most:,.0f}", way, is_hard=one.bare or one.tiles > most
        )


def _hops(plan: Plan, phase: PhaseEntry) -> Iterator[Closing]:
    """Yield the stream that crosses most SLR boundaries of an FPGA; one without registers is never comfortable."""
    crossings = [crossing for crossing in phase.partition.crossings if crossing.kind == "sll"]
    most = max(crossings, key=lambda crossing: crossing.hops, default=None)
    if most is not None and (most.hops > COMFORTABLE_HOPS or (plan.crossings_built(phase) and plan.build_ends)):
        found = f"{most.hops} SLR boundar{'y' if most.hops == 1 else 'ies'}, of {len(crossings)} streams that cross any"
        comfortable = f"{COMFORTABLE_HOPS}"
        way = "a lower --fps, where that leaves room"
        yield Closing("most hops", most.channel, found, comfortable, way, most.hops > COMFORTABLE_HOPS)


def _boundaries(plan: Plan, phase: PhaseEntry) -> Iterator[Closing]:
    """Yield whether streams have registers at the SLR boundaries that they cross; what is only planned is none."""
    rows = plan.registers_at_boundaries(phase)
    if not rows:
        return
    bare = [row for row in rows if not row.built]
    where = ", ".join(row.boundary for row in bare or rows)
    count = f"{sum(row.streams for row in bare or rows)} crossings"
    stages = any(row.stages for row in bare)
    found = f"{count}, registers {'planned, not built' if stages else 'neither planned nor built'}"
    found = found if bare else f"{count}, FIFOs of two words on each side"
    way = plan.options.backend_options.crossing_advice if plan.build_ends else NO_BUILD
    yield Closing("SLR boundaries", where, found, "registers on each side", way, is_hard=bool(bare))


def closing_rows(plan: Plan, phase: PhaseEntry) -> list[tuple[str, ...]]:
    """Return the table of what makes a phase hard to close, its heading first."""
    rows: list[tuple[str, ...]] = [("", "where", "found", "comfortable", "what gets there")]
    rows += [
        (item.what, item.where, item.found, item.comfortable, item.way if item.is_hard else "comfortable")
        for item in closing(plan, phase)
    ]
    return rows
