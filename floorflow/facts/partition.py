"""Which slot each module lies in, what passes between slots, and how full and how likely to hold all of it they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from floorflow.errors import some
from floorflow.facts.text import chance, filled, number, rate, table, wrapped
from floorflow.facts.values import Amounts, PlanModel, Stats
from floorflow.resources import RESOURCE_NAMES, Resources


class CrossingEntry(PlanModel):
    """A run of SLR boundaries in one FPGA, of none but a line between halves, or a link, that a channel passes."""

    channel: str
    source: str
    target: str
    width_bits: int
    gbps: float
    hops: int
    kind: Literal["sll", "half", "link"]


class LoadEntry(PlanModel):
    """What an SLR boundary (wires) or one direction of a link (Gb/s) carries, and what it can."""

    name: str
    kind: Literal["sll", "half", "link"]
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


class WithoutWishEntry(PlanModel):
    """The plan's modules assigned without a wish, the largest share of a slot's cap, and a bound on the interval.

    ``bound_cycles``: no plan without the wish has a shorter interval; null where the highest rate was not sought.
    """

    stats: Stats
    fullness: Annotated[float, Field(ge=0)]
    bound_cycles: int | None


class WishEntry(PlanModel):
    """A line of the file of wishes: what stands there, the engines that it means, and the slots that are left to them.

    ``slots`` is empty where they are to lie together or apart; ``without`` is null where that was not solved.
    """

    kind: Literal["fix", "forbid", "together", "apart", "beside"]
    names: list[str]
    places: list[str]
    engines: list[str]
    slots: list[str]
    without: WithoutWishEntry | None

    def __str__(self) -> str:
        return wish_line(self.kind, self.names, self.places)


def wish_line(kind: str, names: Sequence[str], places: Sequence[str]) -> str:
    """Return a line of the file of wishes as it is told."""
    return f"{kind} {', '.join(names)}" + (f": {', '.join(places)}" if places else "")


class WishesEntry(PlanModel):
    """All wishes, with the plan's modules assigned under all of them, and how full the fullest slot is then.

    ``stats`` and ``fullness`` are null where that was not solved.
    """

    stats: Stats | None
    fullness: float | None
    lines: list[WishEntry]


EvennessEnd = Literal["least full", "fewest crossings", "taken"]
EvennessRule = Literal["comfortable", "nearly least full", "all limits"]
RULES: Mapping[EvennessRule, str] = {
    "comfortable": "every slot stays below 60% of its LUT and 75% of its BRAM18, so that crossings alone decide",
    "nearly least full": "none found stays comfortable: crossings are fewest within a tenth of the least fullness",
    "all limits": "crossings are fewest within all limits, for nothing was found or placed within less",
}


class WeighedEntry(PlanModel):
    """A partition: its largest share of a limit, what its crossings cost, streams over links, and their wires."""

    end: EvennessEnd
    fullness: Stats
    crossings: Stats
    links: int
    link_wires: int


class EvennessEntry(PlanModel):
    """What fullness costs in crossings with the plan's foldings; ``passed``: rules whose designs had no floorplan."""

    rule: EvennessRule
    passed: list[EvennessRule]
    rows: list[WeighedEntry]


class PartitionEntry(PlanModel):
    """Which slot each module lies in; ``fullness`` is of the largest share of any limit of any slot.

    ``waiting_bits``: the least of FIFOs that, where branches meet, hold what waits for streams over longer routes.
    """

    assignment: dict[str, str]
    utilisation: dict[str, dict[str, float]]
    crossings: list[CrossingEntry]
    loads: list[LoadEntry]
    hops: HopsEntry
    waiting_bits: Annotated[int, Field(ge=0)]
    cost: int
    fullness: Stats
    stats: Stats
    wishes: WishesEntry | None = None
    evenness: EvennessEntry | None = None

    @property
    def counted(self) -> str:
        """How many runs of SLR boundaries and links streams pass."""
        kinds = [crossing.kind for crossing in self.crossings]
        halves = f", {kinds.count('half')} from half to half" if "half" in kinds else ""
        links = f", {kinds.count('link')} over links" if "link" in kinds else ""
        return f"{kinds.count('sll')} SLR crossings{halves}{links}"


def wishes(found: WishesEntry | None, interval_cycles: int) -> list[str]:
    """Return each wish with its engines and what the plan would be without it."""
    if found is None:
        return []
    rows = [
        ("wish", "engines", "crossing cost", "fullest, of its limit", "interval"),
        ("all of them", "", *_wished(found), ""),
    ]
    rows += [
        (f"without {line}", some(line.engines, 2), *_wished(line.without), _rate(line, interval_cycles))
        for line in found.lines
    ]
    told = "modules, foldings and FIFOs as they are, assigned anew with all wishes and without one"
    skipped = "not priced: so many modules and lines take longer than the plan" if found.stats is None else told
    return [*wrapped([skipped]), *table(rows, left=2)]


def _wished(solved: WishesEntry | WithoutWishEntry | None) -> tuple[str, str]:
    if solved is None or solved.stats is None or solved.fullness is None:
        return "", ""
    least = "" if solved.stats.status == "optimal" else f" (at least {number(solved.stats.bound or 0)})"
    return f"{number(solved.stats.objective)}{least}", f"{solved.fullness:.1%}"


def _rate(line: WishEntry, interval_cycles: int) -> str:
    bound = None if line.without is None else line.without.bound_cycles
    if bound is None:
        return ""
    return "no shorter" if bound == interval_cycles else f"not below {bound:,} cycles"


def order_of_fpgas(partition: PartitionEntry, fpga_of: Mapping[str, int], least: int) -> tuple[str, bool]:
    """Tell how many streams pass links and which way, and whether none goes back.

    ``fpga_of``: by slot, its number; ``least``: how many pass links in every plan, each link for itself.
    """
    over = [c for c in partition.crossings if c.kind == "link"]
    back = sum(fpga_of[c.source] > fpga_of[c.target] for c in over)
    streams = f"{len(over)} stream{'s' * (len(over) != 1)} over links, {sum(c.width_bits for c in over):,} bits"
    streams += ", and no plan has fewer" if len(over) == least else ""
    order = f"cards not in order: {back} of them go back" if back else "cards in order: none goes back"
    return f"{order}; {streams}", not back


def crossings(partition: PartitionEntry, wires_of: Callable[[int], int], names: Mapping[str, str]) -> list[str]:
    """Return every run of SLR boundaries and every link that a stream passes; ``wires_of`` its width in bits."""
    rows = [("from", "to", "kind", "bits", "wires", "Gb/s", "channel")]
    for c in partition.crossings:
        wires = "" if c.kind == "link" else f"{wires_of(c.width_bits):,}"
        rows.append((c.source, c.target, c.kind, f"{c.width_bits:,}", wires, f"{c.gbps:.3g}", names[c.channel]))
    none = ["none: every module lies in the same slot as its neighbours"]
    return table(rows, left=2) if partition.crossings else none


def far_streams(hops: HopsEntry, asked: int | None, names: Mapping[str, str], *, built: bool) -> list[str]:
    """Return the streams over several SLR boundaries of an FPGA, the registers that they rely on, and why they may."""
    if not hops.streams:
        return wrapped([f"no stream crosses more than one SLR boundary of an FPGA; {_why(hops, asked)}"])
    rows = [("from", "to", "boundaries", "flip-flops", "channel")]
    rows += [
        (s.source, s.target, str(s.hops), f"{sum(r.flip_flops for r in s.registers):,}", names[s.channel])
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
NOT_BUILT = "registers that are planned are in no build: no tool inserts them by itself, or no build of the plan ends"
BY_SCRIPT = (
    "AMD's axis_register_slice, one a boundary with a register on each side: vitis/crossings.tcl inserts them when "
    "vitis/relink.sh links; the script has never run in Vivado, and only that run shows whether they are there"
)


def at_boundaries(rows: Sequence[RegistersAtBoundary], *, by_script: bool = False) -> list[str]:
    """Return the SLR boundaries that streams cross, with registers and without; a script is to insert some."""
    if not rows:
        return []
    words = [BUILT_AS] * any(row.built for row in rows)
    words += [BY_SCRIPT if by_script else NOT_BUILT] * any(row.stages and not row.built for row in rows)
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
    crossings = ("cost of crossings", "bound", "over links", "wires there", "status, method")
    rows = [("", "fullest, of its limit", "bound", *crossings)]
    for row in found.rows:
        bounds = ("-" if row.fullness.bound is None else f"{row.fullness.bound:.1%}", number(row.crossings.bound))
        cost, method = number(row.crossings.objective), f"{row.crossings.status}, {row.crossings.method}"
        links = (str(row.links), number(row.link_wires))
        rows.append((row.end, f"{row.fullness.objective or 0:.1%}", bounds[0], cost, bounds[1], *links, method))
    passed = [f"no floorplan was found for what is {rule}" for rule in found.passed]
    return [*wrapped([RULES[found.rule], *passed, "only what was taken is placed"]), *table(rows)]


def _why(hops: HopsEntry, asked: int | None) -> str:
    """Say what allows a stream to cross so many boundaries."""
    if hops.proof:
        return f"up to {hops.most} are allowed, for {hops.proof}"
    return f"--max-hops {asked} allows {asked}" if asked is not None else "--max-hops N would allow more"


def loads(partition: PartitionEntry) -> list[str]:
    """Return what every SLR boundary and link carries."""
    units = {"sll": "SLL wires", "half": "long wires", "link": "Gb/s"}
    rows = [("boundary or link", "used", "of", "share", "")]
    rows += [
        (load.name, number(load.use), number(load.capacity), f"{load.share:.1%}", units[load.kind])
        for load in partition.loads
    ]
    return table(rows) if partition.loads else []


@dataclass(frozen=True)
class SlotUse:
    """Demand of a slot and its limits: ``cap`` x available, and ``fill`` x what pblocks in it can hold together.

    ``used`` and ``caps`` are shares of what is available there.
    """

    name: str
    demand: Resources
    cap_limit: Resources
    pblock_limit: Resources
    used: Mapping[str, float]
    caps: Mapping[str, float]

    @property
    def limit(self) -> Resources:
        """The smaller of the two limits."""
        return self.cap_limit.least(self.pblock_limit)

    def filled(self, name: str) -> str:
        """Tell how full a resource is."""
        return filled(name, self.used[name], self.caps[name])

    @property
    def fullest(self) -> str:
        """How full the resource is that is nearest to its cap; "empty" where nothing is used."""
        name = max(RESOURCE_NAMES, key=lambda r: self.used[r] / (self.caps[r] or 1))
        return self.filled(name) if self.used[name] else "empty"

    @property
    def tightest(self) -> tuple[float, str]:
        """Largest share of a limit, that of pblocks too, and its resource; (0, "LUT") in an empty slot."""
        demand, limit = self.demand.as_dict(), self.limit.as_dict()
        shares = [(demand[r] / limit[r], r) for r in RESOURCE_NAMES if limit[r]]
        return max(shares, key=lambda share: share[0], default=(0.0, "LUT"))


def slots(caps: Mapping[str, float], uses: Sequence[SlotUse]) -> list[str]:
    """Return the use of each slot against what is available and what is allowed."""
    rows: list[tuple[str, ...]] = [("of what is available", *RESOURCE_NAMES, "fullest")]
    rows += [(use.name, *(f"{use.used[r]:.1%}" for r in RESOURCE_NAMES), use.fullest) for use in uses]
    return table([*rows, ("allowed", *(f"{caps[r]:.0%}" for r in RESOURCE_NAMES), "")])


class FitEntry(PlanModel):
    """How likely a slot holds what lies in it; one outcome in ten needs less than ``low``, one more than ``high``."""

    likelihood: Annotated[float, Field(ge=0, le=1)]
    low: Amounts
    high: Amounts


class LessLikelyEntry(PlanModel):
    """What was found before each slot and pblock had to be likely enough to fit, and its least likely one."""

    interval_cycles: int
    likelihood: Annotated[float, Field(ge=0, le=1)]
    place: str


class ConfidenceEntry(PlanModel):
    """Whether each slot and pblock is as likely to fit as is sought, which is least likely to, and what that cost.

    ``without``: null where the search without it came to this plan.
    """

    held: bool
    likelihood: Annotated[float, Field(ge=0, le=1)]
    place: str
    without: LessLikelyEntry | None


def confidence_words(entry: ConfidenceEntry | None, sought: float | None, clock_mhz: float) -> str:
    """Tell what likelihoods cost, with both rates, or that they are not held; empty where they cost nothing."""
    if entry is None or sought is None:
        return ""
    if not entry.held:
        return (
            f"{entry.place} holds what lies in it with probability {chance(entry.likelihood)}: {sought:.0%} is sought "
            "(--confidence), and no plan that holds it was found, though none is proven impossible; this is the most "
            "likely one found; a lower --fps, a larger platform or more FPGAs leave more room"
        )
    free = entry.without
    if free is None:
        return ""
    fps = f"{rate(clock_mhz * 1e6 / free.interval_cycles)} frames/s ({free.interval_cycles:,} cycles)"
    least = f"{free.place} holds what lies in it with probability {chance(free.likelihood)}"
    return (
        f"each slot and pblock at least {sought:.0%} (--confidence {sought:g}), least {entry.place}, "
        f"{chance(entry.likelihood)}; without that {fps}, where {least} (--confidence none)"
    )


def fits(entries: Mapping[str, FitEntry], available: Mapping[str, Amounts]) -> list[str]:
    """Return what each slot may need, by what is ``available`` there; nothing where costs know no error."""
    likely = {name: fit for name, fit in entries.items() if any(fit.high.model_dump().values())}
    if not likely:
        return []
    have = {name: amounts.model_dump() for name, amounts in available.items()}
    rows: list[tuple[str, ...]] = [("eight of ten lie in", "likely to fit", *RESOURCE_NAMES)]
    for name, fit in likely.items():
        low, high = fit.low.model_dump(), fit.high.model_dump()
        spans = [_span(low[r], high[r], have[name][r]) for r in RESOURCE_NAMES]
        rows.append((name, chance(fit.likelihood), *spans))
    return [*wrapped(["shares are of what is available there"]), *table(rows)]


def _span(low: int, high: int, have: int) -> str:
    return f"{low / have:.0%} to {high / have:.0%}" if have else "-"
