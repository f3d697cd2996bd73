"""A phase: what is on the platform at one time, with the folding of each network in it, and where all of it lies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.channel import ChannelEntry
from floorflow.facts.ports import PlacedPortEntry, SllColumnsEntry
from floorflow.facts.values import Amount, Amounts, AttributeValue, PlainName, PlanModel, RectangleEntry, Stats


class ParallelismEntry(PlanModel):
    """How parallel an engine is in one way: the attribute of the back end, its value and the most it can have."""

    name: str
    value: int
    most: int


class DoubtEntry(PlanModel):
    """What an engine may need less and more than told: by versions that were not given, or as one build alone shows."""

    less: Amounts
    more: Amounts


class FoldedEntry(PlanModel):
    """The folding of one engine; ``attributes`` are the back end's own, by its own names.

    ``products`` are those that an engine of high-level synthesis forms at once, 0 for others; ``beyond_known_builds``:
    no engine with so many is known to have been built. ``doubt`` is null where there is none.
    """

    cycles: int
    resources: Amounts
    attributes: dict[str, AttributeValue]
    parallelism: list[ParallelismEntry]
    products: Amount = 0
    beyond_known_builds: bool = False
    doubt: DoubtEntry | None = None


class FoldingEntry(PlanModel):
    """The folding of a network's engines; ``resources`` count converters and FIFOs of the least depth as well.

    ``fullness`` is of the largest share of all slots' limits together that these take.
    """

    engines: dict[str, FoldedEntry]
    resources: Amounts
    budget: Amounts
    fullness: Stats
    stats: Stats
    whole_budget_bound: float | None


class ShallowEntry(PlanModel):
    """A FIFO with fewer words than the full rate needs."""

    channel: str
    planned: int
    needed: int


class ThroughputEntry(PlanModel):
    """What one frame takes in cycles with the planned FIFOs; a number that is not known is null.

    ``full_rate_cycles`` is the interval that deep enough FIFOs reach, ``deadlock`` names the channels that stop each
    other, ``not_analysed`` says why something is not known.
    """

    full_rate_cycles: int | None
    interval_cycles: int | None
    first_word_cycles: int | None
    first_frame_cycles: int | None
    deadlock: list[str]
    shallow: list[ShallowEntry]
    not_analysed: str

    @property
    def loses_rate(self) -> bool:
        """Whether the planned FIFOs are known not to be enough for the full rate."""
        return bool(self.deadlock or self.shallow)


class LikelyClockEntry(PlanModel):
    """Between which clocks the routed design is likely to end; ``engine`` has the slowest path, ``path`` in words.

    ``engine`` is empty if that path is common to all designs.
    """

    low_mhz: float
    high_mhz: float
    engine: str
    path: str


class EstimatesEntry(PlanModel):
    """What is promised of a network; ``expected_cycles`` is the interval to believe, with what starts anew each frame.

    It is the sustained one where FIFOs were analysed. The interval of the engines leaves start-ups out, as FINN does.
    ``fps`` is of the engines; ``sustained_fps`` is what the planned FIFOs keep: null if not known, 0 in a deadlock.
    ``throughput`` is of the planned FIFOs.
    """

    clock_mhz: float
    fps: float
    sustained_fps: float | None
    latency_us: float
    bottleneck: str
    expected_cycles: int | None
    throughput: ThroughputEntry | None
    likely_clock: LikelyClockEntry | None = None


class HostWeightsEntry(PlanModel):
    """The engines whose weights the host writes at run time, where these are to be few, and what they buy.

    ``least``: no folding at this interval has fewer. ``bound_cycles``: the folding bound if any engine may be written,
    ``without_bound_cycles``: if none may; null: nothing fits, 0: not worked out. ``without_cycles``: of the design that
    was found without, if one was ``sought``. Cycles are intervals, or latencies if that is the objective.
    """

    engines: list[str]
    least: Amount
    bound_cycles: Amount | None
    without_bound_cycles: Amount | None
    without_cycles: Amount | None
    sought: bool


class PhaseNetworkEntry(PlanModel):
    """What runs of a network in a phase, its initiation interval, folding and estimates."""

    network: str
    interval_cycles: int
    folding: FoldingEntry
    estimates: EstimatesEntry
    host_weights: HostWeightsEntry | None = None


class ModuleEntry(PlanModel):
    """Engines that share one pblock.

    ``like`` and ``implementation``: the first module of equal kinds, dimensions and folding, and the one that it is
    made with; ``why_not``: why it is not ``reused`` where others are like it.
    """

    name: str
    engines: list[str]
    like: str
    implementation: str
    reused: bool
    why_not: str
    resources: Amounts


class MemoryChoiceEntry(PlanModel):
    """Another memory that the same weights or FIFO could lie in, and what the engine or the FIFO would then use."""

    style: str
    resources: Amounts


class MemoryEntry(PlanModel):
    """A large memory: the weights of an engine or the FIFO of a channel, by their id or name.

    ``style`` is where it lies, in the back end's own word; ``resources`` are the engine's or the FIFO's.
    """

    name: str
    kind: Literal["weights", "fifo"]
    bits: Amount
    style: str
    resources: Amounts
    others: list[MemoryChoiceEntry]


class JoinedEntry(PlanModel):
    """A module whose parts, ``modules`` as they were clustered, share a pblock because rectangles did not fit."""

    module: str
    modules: Annotated[list[str], Field(min_length=2)]
    slot: str
    why: str


class PortEntry(PlanModel):
    """A stream port of an implementation."""

    channel: str
    direction: Literal["in", "out"]
    width_bits: int


class ImplementationEntry(PlanModel):
    """A module as it is made once: its window in columns and rows, and its ports."""

    name: str
    window: dict[str, int]
    ports: list[PortEntry]


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


SlotStyle = Literal["none", "slr", "soft", "hard"]


class PblockEntry(PlanModel):
    """Where a module sits: disjoint rectangles, most often one.

    ``likelihood`` that it holds its module is null where the cost model knows no error. ``short``: it has less room
    than it should have, and its slot has no more for it. ``pins_per_row``: wires of a port to each of its rows, or to
    two of its columns.
    """

    slot: str
    rectangles: Annotated[list[RectangleEntry], Field(min_length=1)]
    ranges: list[str]
    anchor: str
    demand: Amounts
    supply: Amounts
    likelihood: Annotated[float | None, Field(ge=0, le=1)]
    short: bool
    ports: list[PlacedPortEntry]
    pins_per_row: Annotated[int, Field(ge=1)]

    @property
    def box(self) -> RectangleEntry:
        """The least rectangle around all of them."""
        return RectangleEntry(
            left=min(rect.left for rect in self.rectangles),
            bottom=min(rect.bottom for rect in self.rectangles),
            right=max(rect.right for rect in self.rectangles),
            top=max(rect.top for rect in self.rectangles),
        )


class PlacementTerms(PlanModel):
    """A number for each term of placement's objective: weights, or the terms in bit-tiles."""

    wire: float
    reach: float
    congestion: float


RoutingRow = Annotated[str, Field(pattern=r"^\d+( \d+)*$")]


class RoutingMapEntry(PlanModel):
    """How much wire each bin of a die has to carry (docs/plan.md, *Routing map*).

    A bin has so many columns and rows. ``capacity`` is the most that a bin offers, ``peak`` and ``mean`` what one
    carries, ``peak_at`` which carries the peak, ``over`` how many carry more than they offer. ``demand``: a row of bins
    each, the lowest first, from left to right, in whole numbers.
    """

    unit: Literal["bit-tiles"]
    bin_columns: int
    bin_rows: int
    capacity: float
    peak: float
    peak_at: RectangleEntry
    mean: float
    over: Amount
    demand: Annotated[list[RoutingRow], Field(min_length=1)]


class LongStreamEntry(PlanModel):
    """A long stream: columns and rows from end to end, and from one register to the next at the most.

    ``unsliced_tiles``: the latter without slices; ``way_tiles``: with the planned ``slices``. One cycle reaches over
    ``reach_tiles``.
    """

    channel: str
    tiles: float
    unsliced_tiles: float
    way_tiles: float
    reach_tiles: float
    slices: Amount


class FloorplanEntry(PlanModel):
    """The pblocks of one FPGA; ``port_length`` is the wire length from port to port, ``hpwl`` from middle to middle.

    ``longest``: the five longest of the streams between pblocks and the host's port. The objective of ``stats`` is the
    sum of the terms, each times its weight.
    """

    pblocks: dict[str, PblockEntry]
    hpwl: float
    port_length: float
    sll_columns: list[SllColumnsEntry]
    longest: list[LongStreamEntry]
    weights: PlacementTerms
    terms: PlacementTerms
    congestion: RoutingMapEntry
    stats: Stats


class FitEntry(PlanModel):
    """How likely a slot holds what lies in it; one outcome in ten needs less than ``low``, one more than ``high``."""

    likelihood: Annotated[float, Field(ge=0, le=1)]
    low: Amounts
    high: Amounts


class PhaseEntry(PlanModel):
    """What is on the platform at one time; ``bands`` and ``fits`` are empty where the cost model knows no error.

    ``fifo_kind``: what FIFOs are called in ``bands``. ``constraint_styles``: what constraint files say of each slot.
    ``slices_built``: whether the tool builds register slices from what is emitted.
    ``region``: that it is loaded into, once the phase ``loads_after`` has run there; null where the device is loaded as
    a whole, or where it is the first in its region.
    """

    name: PlainName
    region: PlainName | None = None
    loads_after: PlainName | None = None
    networks: list[PhaseNetworkEntry]
    channels: list[ChannelEntry]
    modules: list[ModuleEntry]
    joined: list[JoinedEntry]
    implementations: list[ImplementationEntry]
    memories: list[MemoryEntry]
    partition: PartitionEntry
    floorplan: dict[str, FloorplanEntry]
    constraint_styles: dict[str, SlotStyle]
    fifo_kind: str
    bands: dict[str, dict[str, tuple[float, float]]]
    fits: dict[str, FitEntry]
    slices_built: bool

    def network(self, name: str) -> PhaseNetworkEntry:
        """Return the part of that name."""
        return next(part for part in self.networks if part.network == name)

    @property
    def engines(self) -> dict[str, FoldedEntry]:
        """The folding of every engine, by id."""
        return {name: entry for part in self.networks for name, entry in part.folding.engines.items()}

    @property
    def slot_of(self) -> dict[str, str]:
        """The slot of every engine, by id."""
        return {engine: self.partition.assignment[m.name] for m in self.modules for engine in m.engines}
