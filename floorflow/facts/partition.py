"""Which slot each module lies in, what passes between slots, and how full and how likely to hold all of it they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.text import chance, number, table, wrapped
from floorflow.facts.values import Amounts, PlanModel, Stats
from floorflow.resources import RESOURCE_NAMES, Resources


class CrossingEntry(PlanModel):
    """A run of SLR boundaries in one FPGA, or a link, that a channel passes."""

    channel: str
    source: str
    target: str
    width_bits: int
    gbps: float
    hops: int
    kind: Literal["sll", "link"]


class LoadEntry(PlanModel):
    """What an SLR boundary (wires) or one direction of a link (Gb/s) carries, and what it can."""

    name: str
    kind: Literal["sll", "link"]
    use: float
    capacity: float

    @property
    def share(self) -> float:
        """Share of the capacity that is carried."""
        return self.use / self.capacity if self.capacity else 0.0


class BoundaryRegisters(PlanModel):
    """Register stages of a stream at one SLR boundary, and their flip-flops."""

    boundary: str
    stages: int
    flip_flops: int


class FarStreamEntry(PlanModel):
    """A stream over several SLR boundaries of an FPGA, one after the other, and the registers that it relies on."""

    channel: str
    source: str
    target: str
    hops: int
    registers: list[BoundaryRegisters]


class HopsEntry(PlanModel):
    """How many SLR boundaries of an FPGA a stream may cross, why so many, and the streams that cross more than one.

    ``proof``: why no assignment does with fewer, empty where as many were asked for, or one will do.
    """

    most: Annotated[int, Field(ge=1)]
    proof: str
    streams: list[FarStreamEntry]


EvennessEnd = Literal["least full", "fewest crossings", "taken"]
EvennessRule = Literal["comfortable", "nearly least full", "all limits"]
RULES: Mapping[EvennessRule, str] = {
    "comfortable": "every slot stays below 60% of its LUT and 75% of its BRAM18, so that crossings alone decide",
    "nearly least full": "none found stays comfortable: crossings are fewest within a tenth of the least fullness",
    "all limits": "crossings are fewest within all limits, for nothing was found or placed within less",
}


class WeighedEntry(PlanModel):
    """A partition: its largest share of a limit, what its crossings cost, and streams over links."""

    end: EvennessEnd
    fullness: Stats
    crossings: Stats
    links: int


class EvennessEntry(PlanModel):
    """What fullness costs in crossings with the plan's foldings; ``passed``: rules whose designs had no floorplan."""

    rule: EvennessRule
    passed: list[EvennessRule]
    rows: list[WeighedEntry]

    @property
    def told(self) -> str:
        """The rule and, where that is another design, the least full one."""
        even, _, taken = self.rows
        passed = [f"no floorplan was found for what is {rule}" for rule in self.passed]
        share, cost = even.fullness.objective or 0, number(even.crossings.objective)
        other = f"least full found: {share:.1%} at a crossing cost of {cost}"
        return "; ".join([RULES[self.rule], *passed, *([other] if even.fullness != taken.fullness else [])])


class PartitionEntry(PlanModel):
    """Which slot each module lies in; ``fullness`` is of the largest share of any limit of any slot."""

    assignment: dict[str, str]
    utilisation: dict[str, dict[str, float]]
    crossings: list[CrossingEntry]
    loads: list[LoadEntry]
    hops: HopsEntry
    cost: int
    fullness: Stats
    stats: Stats
    evenness: EvennessEntry | None = None

    @property
    def counted(self) -> str:
        """How many runs of SLR boundaries and links streams pass."""
        kinds = [crossing.kind for crossing in self.crossings]
        links = f", {kinds.count('link')} over links" if "link" in kinds else ""
        return f"{kinds.count('sll')} SLR crossings{links}"


def crossings(partition: PartitionEntry, wires_of: Callable[[int], int]) -> list[str]:
    """Return every run of SLR boundaries and every link that a stream passes; ``wires_of`` its width in bits."""
    rows = [("from", "to", "kind", "bits", "wires", "Gb/s", "channel")]
    for c in partition.crossings:
        wires = f"{wires_of(c.width_bits):,}" if c.kind == "sll" else ""
        rows.append((c.source, c.target, c.kind, f"{c.width_bits:,}", wires, f"{c.gbps:.3g}", c.channel))
    none = ["none: every module lies in the same slot as its neighbours"]
    return table(rows, left=2) if partition.crossings else none


def far_streams(hops: HopsEntry, asked: int | None, *, built: bool) -> list[str]:
    """Return the streams over several SLR boundaries of an FPGA, the registers that they rely on, and why they may."""
    if not hops.streams:
        return wrapped([f"no stream crosses more than one SLR boundary of an FPGA; {_why(hops, asked)}"])
    rows = [("from", "to", "boundaries", "flip-flops", "channel")]
    rows += [
        (s.source, s.target, str(s.hops), f"{sum(r.flip_flops for r in s.registers):,}", s.channel)
        for s in hops.streams
    ]
    stages = {r.boundary: r.stages for s in hops.streams for r in s.registers}
    places = ", ".join(f"{count} at {name}" for name, count in sorted(stages.items()))
    what = "FIFOs of two words, which are built" if built else "register stages that no tool inserts by itself"
    relies = f"they rely on {what}: {places}"
    return [*wrapped([_why(hops, asked), relies]), *table(rows, left=2)]


@dataclass(frozen=True)
class RegistersAtBoundary:
    """What the streams over an SLR boundary have there: so many register stages each, which a tool builds or none."""

    boundary: str
    streams: int
    stages: int
    built: bool


BUILT_AS = (
    "FIFOs of two words, built on each side: data and valid leave a register, ready an inverter behind one; timed as "
    "register to logic, no Laguna pair"
)
NOT_BUILT = "registers that are planned are in no build: no tool inserts them by itself"


def at_boundaries(rows: Sequence[RegistersAtBoundary]) -> list[str]:
    """Return the SLR boundaries that streams cross, with registers and without."""
    if not rows:
        return []
    words = [BUILT_AS] * any(row.built for row in rows)
    words += [NOT_BUILT] * any(row.stages and not row.built for row in rows)
    cells = [("boundary", "streams", "registers each", "")]
    cells += [
        (
            row.boundary,
            str(row.streams),
            str(row.stages),
            "built as FIFOs" if row.built else "planned, not built" if row.stages else "none",
        )
        for row in rows
    ]
    return [*wrapped(words), *table(cells)]


def evenness(found: EvennessEntry | None) -> list[str]:
    """Return both ends of the trade between fullness and crossings, and what was taken by which rule."""
    if found is None:
        return []
    rows = [("", "fullest, of its limit", "bound", "cost of crossings", "bound", "over links", "status, method")]
    for row in found.rows:
        bounds = ("-" if row.fullness.bound is None else f"{row.fullness.bound:.1%}", number(row.crossings.bound))
        cost, method = number(row.crossings.objective), f"{row.crossings.status}, {row.crossings.method}"
        rows.append((row.end, f"{row.fullness.objective or 0:.1%}", bounds[0], cost, bounds[1], str(row.links), method))
    passed = [f"no floorplan was found for what is {rule}" for rule in found.passed]
    return [*wrapped([RULES[found.rule], *passed, "only what was taken is placed"]), *table(rows)]


def _why(hops: HopsEntry, asked: int | None) -> str:
    """Say what allows a stream to cross so many boundaries."""
    if hops.proof:
        return f"up to {hops.most} are allowed, for {hops.proof}"
    return f"--max-hops {asked} allows {asked}" if asked is not None else "--max-hops N would allow more"


def loads(partition: PartitionEntry) -> list[str]:
    """Return what every SLR boundary and link carries."""
    units = {"sll": "SLL wires", "link": "Gb/s"}
    rows = [("boundary or link", "used", "of", "share", "")]
    rows += [
        (load.name, number(load.use), number(load.capacity), f"{load.share:.1%}", units[load.kind])
        for load in partition.loads
    ]
    return table(rows) if partition.loads else []


@dataclass(frozen=True)
class SlotUse:
    """Demand of a slot and its limits: ``cap`` x available, and ``fill`` x what pblocks in it can hold together."""

    name: str
    demand: Resources
    cap_limit: Resources
    pblock_limit: Resources

    @property
    def limit(self) -> Resources:
        """The smaller of the two limits."""
        return self.cap_limit.least(self.pblock_limit)

    @property
    def fullest(self) -> tuple[float, str]:
        """Largest share of a limit and its resource; (0, "LUT") in an empty slot."""
        demand, limit = self.demand.as_dict(), self.limit.as_dict()
        shares = [(demand[r] / limit[r], r) for r in RESOURCE_NAMES if limit[r]]
        return max(shares, key=lambda share: share[0], default=(0.0, "LUT"))


def slots(partition: PartitionEntry, caps: Mapping[str, float], uses: Sequence[SlotUse]) -> list[str]:
    """Return the use of each slot against what is available and what is allowed."""
    rows: list[tuple[str, ...]] = [("of what is available", *RESOURCE_NAMES, "fullest, of its limit")]
    for use in uses:
        shares = partition.utilisation[use.name]
        rows.append((use.name, *(f"{shares[r]:.0%}" for r in RESOURCE_NAMES), _fullest(use)))
    return table([*rows, ("allowed", *(f"{caps[r]:.0%}" for r in RESOURCE_NAMES), "")])


def _fullest(slot: SlotUse) -> str:
    used, name = slot.fullest
    if not used:
        return "empty"
    return f"{name}: {slot.demand.as_dict()[name]:,} of {slot.limit.as_dict()[name]:,} ({used:.0%})"


class FitEntry(PlanModel):
    """How likely a slot holds what lies in it; one outcome in ten needs less than ``low``, one more than ``high``."""

    likelihood: Annotated[float, Field(ge=0, le=1)]
    low: Amounts
    high: Amounts


def fits(entries: Mapping[str, FitEntry], available: Mapping[str, Amounts], least_likely: str) -> list[str]:
    """Return the least likely pblock and slot, and what each slot may need; nothing where costs know no error.

    ``available``: of each slot; ``least_likely``: the pblock, in words.
    """
    likely = {name: fit for name, fit in entries.items() if any(fit.high.model_dump().values())}
    if not likely:
        return []
    worst = min(likely, key=lambda name: likely[name].likelihood)
    have = {name: amounts.model_dump() for name, amounts in available.items()}
    rows: list[tuple[str, ...]] = [("eight of ten lie in", "likely to fit", *RESOURCE_NAMES)]
    for name, fit in likely.items():
        low, high = fit.low.model_dump(), fit.high.model_dump()
        spans = [_span(low[r], high[r], have[name][r]) for r in RESOURCE_NAMES]
        rows.append((name, chance(fit.likelihood), *spans))
    whole = f"least likely slot: {worst}, {chance(likely[worst].likelihood)}; shares are of what is available there"
    return [*wrapped([*([f"least likely pblock: {least_likely}"] if least_likely else []), whole]), *table(rows)]


def _span(low: int, high: int, have: int) -> str:
    return f"{low / have:.0%} to {high / have:.0%}" if have else "-"
