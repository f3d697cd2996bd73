"""The judge's own specification of plan.json, but for its phases: written by hand, and never from floorflow's models.

A test compares the two. Types say what rules read, to mypy and to a reader; `schema.departures` holds a file to them.
Fields may be null only where that is said, and more fields than these are allowed.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from floorflow.verify.phase_records import PhaseRecord, StatsRecord
from floorflow.verify.records import (
    Amounts,
    Confidence,
    Count,
    EngineId,
    FileName,
    FolderName,
    FpgaCount,
    Fractions,
    MostProducts,
    Name,
    PlainName,
    Positive,
    PositiveCount,
    Preset,
    Probability,
    Reconfigure,
    RectangleRecord,
    Refused,
    ReportPath,
    Sha256,
    Share,
    SomeFractions,
    Stage,
    Terms,
)


class PlanRecord(TypedDict):
    schema: str
    summary: SummaryRecord
    version: str
    seed: int
    options: OptionsRecord
    inputs: list[InputRecord]
    calibration: CalibrationRecord | None
    platform: PlatformRecord
    networks: list[NetworkRecord]
    phases: list[PhaseRecord]
    schedule: ScheduleRecord | None
    targets: NotRequired[TargetsRecord | None]
    reconfigurable: NotRequired[ReconfigurableRecord | None]
    memory_schedule: NotRequired[MemoryScheduleRecord | None]
    replicas: NotRequired[ReplicasRecord | None]
    limits_lifted: list[LiftedLimitRecord]
    power: PowerRecord
    warnings: list[str]
    interrupted: bool


class PowerRecord(TypedDict):
    cards: list[CardPowerRecord]
    times: PositiveCount
    low_w: float
    likely_w: float
    high_w: float
    assumptions: PowerAssumptionsRecord


class CardPowerRecord(TypedDict):
    fpga: FolderName
    static_w: float
    dynamic_w: float
    low_w: float
    likely_w: float
    high_w: float


class PowerAssumptionsRecord(TypedDict):
    clock_mhz: float
    band: float
    families: dict[str, PowerFiguresRecord]


class PowerFiguresRecord(TypedDict):
    leakage_nw_per_lut: float
    dynamic_nw_per_mhz: dict[str, float]


class SummaryRecord(TypedDict):
    platform: str
    fpgas: Count
    clock_mhz: float
    phases: Count
    networks: list[NetworkSummaryRecord]
    fullest: FullestRecord | None
    fullness: FullnessRecord | None
    warnings: Count
    interrupted: bool


class NetworkSummaryRecord(TypedDict):
    network: str
    fps: float
    sustained_fps: float | None
    interval_cycles: Count
    bound_cycles: Count
    joint_bound_cycles: Count | None
    gap: float
    latency_us: float | None
    bottleneck: str


class FullestRecord(TypedDict):
    phase: str
    slot: str
    resource: str
    share: float


class FullnessRecord(FullestRecord):
    bound: float | None


class OptionsRecord(TypedDict):
    cap: Fractions
    epsilon: NotRequired[Share | None]
    fill: SomeFractions
    confidence: Confidence
    constraint_style: Literal["auto", "none", "slr", "soft", "hard"]
    max_products: MostProducts
    max_engine_share: Fractions
    clock_mhz: float
    effort: Literal["fast", "default", "best"]
    fps: float | None
    granularity: Literal["stage", "block", "layer", "slot"]
    keep_granularity: bool
    reuse: NotRequired[Literal["no", "prefer", "require"]]
    max_hops: Count | None
    allow_cycles: bool
    link_streams: Count | None
    keep_out: NotRequired[list[str]]
    fix_pblock: NotRequired[dict[str, str]]
    place_weights: Terms
    host_port: str | None
    replicas: NotRequired[FpgaCount | None]
    link: FolderName | None
    objective: str
    reconfigure: NotRequired[Reconfigure]
    batch: NotRequired[Count | None]
    regions: NotRequired[Count | None]
    area: NotRequired[float]
    tie_break: str
    topology: str
    models: list[FileName]
    rates: NotRequired[dict[str, Positive]]
    min_rate: NotRequired[dict[str, Positive]]
    platform: FileName
    preset: Preset
    fpgas: FpgaCount
    seed: int
    backend: str
    backend_options: dict[str, Any]
    bargains: NotRequired[Literal["fold", "plan", "none"] | None]
    fold_method: NotRequired[str]
    folding: NotRequired[str | None]
    keep_folding: NotRequired[bool]
    max_fpgas: NotRequired[PositiveCount]
    partition_method: NotRequired[str]
    place_method: NotRequired[str]
    plots: NotRequired[bool]
    time_limit: NotRequired[float | None]
    jobs: NotRequired[int]
    start_from: NotRequired[str | None]
    gap: NotRequired[Share]
    cache: NotRequired[str | None]
    risk: NotRequired[Probability | None]
    stay_near: NotRequired[str | None]
    constraints: NotRequired[str | None]


class InputRecord(TypedDict):
    path: FileName
    sha256: Sha256


class CalibrationRecord(TypedDict):
    measured: list[EngineId]
    factors: dict[str, dict[str, float]]
    reports: list[ReportRecord]


class ReportRecord(TypedDict):
    path: ReportPath
    sha256: Sha256


class PlatformRecord(TypedDict):
    name: str
    fpgas: list[FpgaRecord]
    links: list[LinkRecord]
    infrastructure: list[InfrastructureRecord]
    boundaries: list[BoundaryRecord]
    files: list[str]


class CrossedRecord(TypedDict):
    registers: Count
    fifos: bool
    slices: bool


class FpgaRecord(TypedDict):
    name: FolderName
    board: FolderName
    part: str
    device: FolderName
    host_slot: str
    host_port: RectangleRecord
    host_memory: str | None
    link_port: RectangleRecord | None
    crossing: CrossedRecord
    power_limit_w: float | None
    power_base_w: float | None
    unstated: list[str]
    slots: list[SlotRecord]


class SlotRecord(TypedDict):
    name: str
    fpga: str
    slr: str
    half: str
    capacity: Amounts
    available: Amounts


class LinkRecord(TypedDict):
    name: str
    kind: str
    source: str
    target: str
    gbps: float
    latency_us: float
    assumed: bool
    reliable: bool
    overhead: float


class InfrastructureRecord(TypedDict):
    name: str
    slot: str
    resources: Amounts


class BoundaryRecord(TypedDict):
    name: str
    lower: str
    upper: str
    wires: Count
    kind: str


class NetworkRecord(TypedDict):
    name: PlainName
    operations: list[OperationRecord]
    engines: list[EngineRecord]
    search: SearchRecord
    trace: list[TraceRecord]


class OperationRecord(TypedDict):
    name: str
    type: str
    inputs: list[str]
    outputs: list[str]
    macs: int


class SearchRecord(TypedDict):
    interval_cycles: Count
    bound_cycles: Count
    joint_bound_cycles: Count | None
    gap: float
    ended_by: str
    without_balance: NotRequired[WithoutBalanceRecord | None]
    other_order: NotRequired[OtherOrderRecord | None]
    ended_at: EndedAtRecord | None


class TraceRecord(TypedDict):
    phase: PlainName
    interval_cycles: Count
    verdict: Literal["legal", "proven infeasible", "not found within the limit"]
    stage: Stage
    detail: str
    refusals: list[RefusalRecord]


class EngineRecord(TypedDict):
    name: Name
    kind: str
    label: str
    role: Literal["core", "front", "behind"]
    operation: str
    attributes: dict[str, Any]
    weight_bits: Count
    input_bits: Count
    output_bits: Count


class OtherOrderRecord(TypedDict):
    """What the other order of FPGAs would give: an interval, or none, and whether that is proven."""

    cycles: Count | None
    proven: bool


class WithoutBalanceRecord(TypedDict):
    bound_cycles: Count | None
    folding_bound: float | None


class RefusalRecord(TypedDict):
    what: Refused
    resource: str
    place: str
    needed: float | None
    allowed: float | None
    proven: bool
    names: list[str]


class EndedAtRecord(TypedDict):
    interval_cycles: Count
    stage: Stage
    refusals: list[RefusalRecord]


class ScheduleRecord(TypedDict):
    kind: str
    objective: NotRequired[str]
    batch: Count
    period_us: float
    reload_us: NotRequired[float]
    memory_gbps: NotRequired[float | None]
    alone_us: NotRequired[float | None]
    stats: NotRequired[StatsRecord | None]
    steps: list[StepRecord]


class StepRecord(TypedDict):
    phase: str
    load_us: float
    run_us: float
    load_start_us: NotRequired[float | None]
    run_start_us: NotRequired[float | None]


class TargetsRecord(TypedDict):
    networks: list[TargetRecord]
    stretch: StatsRecord


class TargetRecord(TypedDict):
    network: PlainName
    fps: float | None
    least_fps: float | None
    target_cycles: Count
    alone_cycles: Count
    share: float
    starved: bool


class ReplicasRecord(TypedDict):
    network: PlainName
    copies: PositiveCount
    cards: PositiveCount
    fps: float
    bound_fps: float
    placed: list[CopyRecord]
    tried: list[str]


class CopyRecord(TypedDict):
    network: PlainName
    fpga: str
    slot: str
    memory: str | None
    port: RectangleRecord


class ReconfigurableRecord(TypedDict):
    regions: list[RegionRecord]
    static: list[StaticRecord]
    static_left: Amounts
    fill: Fractions
    stats: StatsRecord


class StaticRecord(TypedDict):
    name: str
    resources: Amounts


class RegionRecord(TypedDict):
    name: PlainName
    fpga: str
    slot: str
    cell: str
    rectangle: RectangleRecord
    owned: list[RectangleRecord]
    ranges: list[str]
    need: Amounts
    supply: Amounts
    frames: Count
    bitstream_bytes: Count
    load_us: float
    assumed: bool
    snapping_mode: str
    reset_after_reconfig: bool


class MemoryScheduleRecord(TypedDict):
    memory_gbs: float
    bandwidth_gbs: float
    fairness: str
    two_sided: bool
    burst_beats: Count
    slots_total: Count
    period_us: float
    error: float
    error_bound: float
    limits_share: float
    choice: StatsRecord
    schedule: StatsRecord
    networks: list[SharingRecord]
    transfers: list[TransferRecord]
    front: list[FrontRecord]


class FrontRecord(TypedDict):
    share: float
    fps: dict[str, float]
    stats: StatsRecord


class SharingRecord(TypedDict):
    network: PlainName
    engine: EngineId
    repetitions: Count
    first: Count
    asked_fps: float | None
    target_fps: float
    least_fps: float
    must: bool
    alone_fps: float
    fps: float
    unaware_fps: float
    latency_us: float
    starved: bool
    subgraphs: list[SubgraphRecord]


class SubgraphRecord(TypedDict):
    name: str
    latency_us: float
    traffic_bytes: float


class TransferRecord(TypedDict):
    network: PlainName
    run: Count
    subgraph: str
    start_us: float
    end_us: float
    traffic_bytes: float
    slots: Count
    speed: float


class LiftedLimitRecord(TypedDict):
    phase: PlainName
    engine: EngineId
    limit: str
    value: Count
    allowed: Count
    reason: str
