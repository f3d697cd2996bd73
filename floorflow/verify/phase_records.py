"""A phase in the judge's own specification of plan.json; see `plan_records`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from floorflow.verify.records import (
    Amounts,
    Count,
    Direction,
    EngineId,
    Keys,
    Name,
    Numbers,
    PlainName,
    RectangleRecord,
    Share,
    Style,
    Terms,
)


class PhaseRecord(TypedDict):
    name: PlainName
    region: NotRequired[PlainName | None]
    loads_after: NotRequired[PlainName | None]
    networks: list[PartRecord]
    channels: list[ChannelRecord]
    modules: list[ModuleRecord]
    joined: list[JoinedRecord]
    implementations: list[ImplementationRecord]
    memories: list[MemoryRecord]
    partition: PartitionRecord
    floorplan: dict[str, FloorplanRecord]
    constraint_styles: dict[str, Style]
    fifo_kind: str
    bands: dict[str, dict[str, list[float]]]
    confidence: ConfidenceRecord | None
    fits: dict[str, FitRecord]
    slices_built: bool
    link_kernels: NotRequired[list[LinkKernelRecord]]


class LinkKernelRecord(TypedDict):
    name: str
    slot: str
    sends: list[str]
    receives: list[str]
    resources: Amounts


class ModuleRecord(TypedDict):
    name: Name
    engines: list[EngineId]
    like: str
    implementation: str
    reused: bool
    why_not: str
    resources: Amounts


class JoinedRecord(TypedDict):
    module: Name
    modules: list[Name]
    slot: str
    why: str


class ImplementationRecord(TypedDict):
    name: str
    window: Annotated[dict[str, Count], Keys(("columns", "rows"))]
    ports: list[PortRecord]


class MemoryRecord(TypedDict):
    name: str
    kind: str
    bits: Count
    style: str
    resources: Amounts
    others: list[OtherMemoryRecord]


class OtherMemoryRecord(TypedDict):
    style: str
    resources: Amounts


class LessLikelyRecord(TypedDict):
    interval_cycles: Count
    likelihood: float
    place: str


class ConfidenceRecord(TypedDict):
    held: bool
    likelihood: float
    place: str
    without: LessLikelyRecord | None


class FitRecord(TypedDict):
    likelihood: float
    low: Amounts
    high: Amounts


class PartRecord(TypedDict):
    network: str
    interval_cycles: Count
    folding: FoldingRecord
    estimates: EstimatesRecord
    host_weights: HostWeightsRecord | None


class FoldingRecord(TypedDict):
    engines: dict[EngineId, FoldedRecord]
    resources: Amounts
    budget: Amounts
    fullness: StatsRecord
    stats: StatsRecord
    whole_budget_bound: float | None


class FoldedRecord(TypedDict):
    cycles: Count
    resources: Amounts
    attributes: dict[str, Any]
    parallelism: list[ParallelismRecord]
    products: Count
    beyond_known_builds: bool
    doubt: NotRequired[Annotated[dict[str, Amounts], Keys(("less", "more"))] | None]


class ParallelismRecord(TypedDict):
    name: str
    value: Count
    most: Count


class StatsRecord(TypedDict):
    method: str
    status: str
    objective: float | None
    bound: float | None
    gap: float | None


class EstimatesRecord(TypedDict):
    clock_mhz: float
    fps: float
    sustained_fps: float | None
    latency_us: float
    bottleneck: str
    expected_cycles: Count | None
    throughput: ThroughputRecord | None
    likely_clock: NotRequired[LikelyClockRecord | None]


class ThroughputRecord(TypedDict):
    full_rate_cycles: Count | None
    interval_cycles: Count | None
    first_word_cycles: Count | None
    first_frame_cycles: Count | None
    deadlock: list[str]
    shallow: list[ShallowRecord]
    not_analysed: str


class ShallowRecord(TypedDict):
    channel: str
    planned: Count
    needed: Count


class LikelyClockRecord(TypedDict):
    low_mhz: float
    high_mhz: float
    engine: str
    path: str


class HostWeightsRecord(TypedDict):
    engines: list[EngineId]
    least: Count
    bound_cycles: Count | None
    without_bound_cycles: Count | None
    without_cycles: Count | None
    sought: bool


class ChannelRecord(TypedDict):
    name: str
    source: str
    source_port: Count
    target: str
    target_port: Count
    width_bits: Count
    words_per_frame: Count
    source_width_bits: Count
    target_width_bits: Count
    converter: str | None
    converter_module: str | None
    fifo_depth: Count
    fifo_needed: Count
    fifo_style: str
    fifo_module: str
    crossing_registers: Count
    crossing_slots: list[str]
    link: str | None
    resources: Amounts
    converter_resources: Amounts
    fifo_resources: Amounts
    crossing_resources: dict[str, Amounts]
    slices: Count
    slice_slots: list[str]
    slices_left_out: Count
    slice_resources: dict[str, Amounts]


class PortRecord(TypedDict):
    channel: str
    direction: Direction
    width_bits: Count


class PartitionRecord(TypedDict):
    assignment: dict[str, str]
    utilisation: dict[str, dict[str, float]]
    crossings: list[CrossingRecord]
    cost: float
    fullness: StatsRecord
    hops: HopsRecord
    waiting_bits: Count
    loads: list[LoadRecord]
    stats: StatsRecord
    wishes: NotRequired[WishesRecord | None]
    evenness: EvennessRecord | None


class WishesRecord(TypedDict):
    stats: StatsRecord | None
    fullness: Share | None
    lines: list[WishRecord]


class WishRecord(TypedDict):
    kind: Literal["fix", "forbid", "together", "apart", "beside"]
    names: list[str]
    places: list[str]
    engines: list[str]
    slots: list[str]
    without: WithoutWishRecord | None


class WithoutWishRecord(TypedDict):
    stats: StatsRecord
    fullness: Share
    bound_cycles: Count | None


EvennessRule = Literal["comfortable", "nearly least full", "all limits"]


class EvennessRecord(TypedDict):
    rule: EvennessRule
    passed: list[EvennessRule]
    rows: list[WeighedRecord]


class WeighedRecord(TypedDict):
    end: Literal["least full", "fewest crossings", "taken"]
    fullness: StatsRecord
    crossings: StatsRecord
    links: Count
    link_wires: Count


class CrossingRecord(TypedDict):
    channel: str
    source: str
    target: str
    width_bits: Count
    gbps: float
    hops: Count
    kind: str


class HopsRecord(TypedDict):
    most: Count
    proof: str
    streams: list[FarStreamRecord]


class FarStreamRecord(TypedDict):
    channel: str
    source: str
    target: str
    hops: Count
    registers: list[FarRegisterRecord]


class FarRegisterRecord(TypedDict):
    boundary: str
    stages: Count
    flip_flops: Count


class LoadRecord(TypedDict):
    name: str
    kind: str
    use: float
    capacity: float


class FloorplanRecord(TypedDict):
    pblocks: dict[Name, PblockRecord]
    hpwl: float
    port_length: float
    sll_columns: list[SllColumnsRecord]
    longest: list[LongStreamRecord]
    weights: Terms
    terms: Terms
    congestion: RoutingMapRecord
    stats: StatsRecord


class PblockRecord(TypedDict):
    slot: str
    rectangles: list[RectangleRecord]
    ranges: list[str]
    anchor: str
    demand: Amounts
    supply: Amounts
    likelihood: float | None
    short: bool
    ports: list[PblockPortRecord]
    pins_per_row: Count


class PblockPortRecord(TypedDict):
    channel: str
    direction: Direction
    side: Literal["left", "right", "bottom", "top"]
    first: Count
    last: Count


class SllColumnsRecord(TypedDict):
    channel: str
    boundary: str
    columns: list[Annotated[dict[str, Count], Keys(("column", "wires"))]]


class LongStreamRecord(TypedDict):
    channel: str
    tiles: float
    unsliced_tiles: float
    way_tiles: float
    reach_tiles: float
    comfortable_tiles: float
    slices: Count


class RoutingMapRecord(TypedDict):
    unit: str
    bin_columns: Count
    bin_rows: Count
    capacity: float
    peak: float
    peak_at: RectangleRecord
    mean: float
    over: Count
    demand: list[Numbers]
