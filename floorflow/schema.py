"""The Plan: everything a run decided, as plan.json holds it (docs/plan.md says what each field means).

Pydantic models, because plan.json is a border: other programs and people write and read it. ``python -m
floorflow.schema`` prints the JSON Schema that ``docs/plan.schema.json`` holds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from floorflow.errors import InputError, What
from floorflow.request import Objective, Request

SCHEMA: Literal["floorflow-plan/1"] = "floorflow-plan/1"

_RENAMED_ATTRIBUTES = {"PE": "pe", "SIMD": "simd", "resType": "res_type"}
"""FINN's folding attributes that plan.json spells in lower case; the others keep their names."""


def plan_attribute(finn_name: str) -> str:
    """Return plan.json's name of a FINN folding attribute."""
    return _RENAMED_ATTRIBUTES.get(finn_name, finn_name)


def finn_attribute(plan_name: str) -> str:
    """Return FINN's name of a folding attribute of plan.json."""
    return {name: finn for finn, name in _RENAMED_ATTRIBUTES.items()}.get(plan_name, plan_name)


Amount = Annotated[int, Field(ge=0)]
AttributeValue = int | str | list[int] | list[str]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Amounts(_Model):
    """An amount of each resource."""

    LUT: Amount = 0
    FF: Amount = 0
    BRAM18: Amount = 0
    URAM: Amount = 0
    DSP: Amount = 0


class Stats(_Model):
    """What a solver says about its answer."""

    method: str
    status: Literal["optimal", "feasible", "infeasible", "heuristic"]
    objective: float | None
    bound: float | None
    gap: float | None


class Options(Request):
    """The request of the run, files by their names alone, with what it left open as it was taken."""

    clock_mhz: float
    objective: Objective


class InputFile(_Model):
    """A file that was read."""

    path: str
    sha256: str


class SlotEntry(_Model):
    """A slot of an FPGA."""

    name: str
    slr: str
    capacity: Amounts
    available: Amounts


class RectangleEntry(_Model):
    """Physical columns and CLB rows, inclusive."""

    left: int
    bottom: int
    right: int
    top: int


class FpgaEntry(_Model):
    """An FPGA of the platform; wires to the host and to links end in the middle of its ports."""

    name: str
    board: str
    part: str
    device: str
    host_slot: str
    host_port: RectangleEntry
    link_port: RectangleEntry | None
    crossing_registers: int
    unstated: list[str] = []
    slots: list[SlotEntry]


class InfrastructureEntry(_Model):
    """Logic that the board needs beside the network."""

    name: str
    slot: str
    resources: Amounts


class SllEntry(_Model):
    """The SLL wires between two neighbouring slots."""

    lower: str
    upper: str
    wires: int


class LinkEntry(_Model):
    """A link between two slots of different FPGAs; ``gbps`` holds in each direction."""

    name: str
    kind: str
    source: str
    target: str
    gbps: float
    latency_us: float
    assumed: bool


class PlatformEntry(_Model):
    """The platform as the run saw it."""

    name: str
    fpgas: list[FpgaEntry]
    links: list[LinkEntry]
    infrastructure: list[InfrastructureEntry]
    slls: list[SllEntry]
    files: list[str]


class OperationEntry(_Model):
    """An operation of the network."""

    name: str
    type: str
    inputs: list[str]
    outputs: list[str]
    macs: int


class EngineEntry(_Model):
    """A hardware engine."""

    name: str
    kind: str
    operation: str
    attributes: dict[str, AttributeValue]
    weight_bits: int
    input_bits: int
    output_bits: int


class NetworkEntry(_Model):
    """A network and the engines that compute it."""

    name: str
    operations: list[OperationEntry]
    engines: list[EngineEntry]


class FoldedEntry(BaseModel):
    """The folding of one engine; folding attributes in lower case stand beside these fields."""

    model_config = ConfigDict(extra="allow", frozen=True)

    cycles: int
    resources: Amounts


class FoldingEntry(_Model):
    """The folding of all engines; ``resources`` count converters and FIFOs of the least depth as well."""

    engines: dict[str, FoldedEntry]
    cycles: int
    resources: Amounts
    budget: Amounts
    stats: Stats
    whole_budget_bound: float | None


class ChannelEntry(_Model):
    """A realised stream; ``fifo_needed`` is the depth that the full rate needs, 0 if not known."""

    name: str
    source: str
    source_port: int
    target: str
    target_port: int
    width_bits: int
    words_per_frame: int
    source_width_bits: int
    target_width_bits: int
    converter: str | None
    converter_module: str | None
    fifo_depth: int
    fifo_needed: int = 0
    fifo_module: str
    crossing_registers: int
    link: str | None
    resources: Amounts
    converter_resources: Amounts
    fifo_resources: Amounts
    crossing_resources: dict[str, Amounts]


class ModuleEntry(_Model):
    """Engines that share one pblock."""

    name: str
    engines: list[str]
    implementation: str
    reused: bool
    resources: Amounts


class PortEntry(_Model):
    """A stream port of an implementation."""

    channel: str
    direction: Literal["in", "out"]
    width_bits: int


class ImplementationEntry(_Model):
    """A module as it is made once: its window in columns and rows, and its ports."""

    name: str
    window: dict[str, int]
    ports: list[PortEntry]


class CrossingEntry(_Model):
    """A run of SLR boundaries in one FPGA, or a link, that a channel passes."""

    channel: str
    source: str
    target: str
    width_bits: int
    gbps: float
    hops: int
    kind: Literal["sll", "link"]


class LoadEntry(_Model):
    """What an SLR boundary (wires) or one direction of a link (Gb/s) carries, and what it can."""

    name: str
    kind: Literal["sll", "link"]
    use: float
    capacity: float


class PartitionEntry(_Model):
    """Which slot each module lies in."""

    assignment: dict[str, str]
    utilisation: dict[str, dict[str, float]]
    crossings: list[CrossingEntry]
    loads: list[LoadEntry]
    cost: int
    stats: Stats


class PblockEntry(_Model):
    """Where a module sits."""

    slot: str
    rectangle: RectangleEntry
    ranges: list[str]
    anchor: str
    demand: Amounts
    supply: Amounts


class FloorplanEntry(_Model):
    """The pblocks of one FPGA."""

    pblocks: dict[str, PblockEntry]
    hpwl: float
    congestion: dict[str, float]
    stats: Stats


class PhaseEntry(_Model):
    """One configuration of the FPGAs."""

    folding: FoldingEntry
    channels: list[ChannelEntry]
    modules: list[ModuleEntry]
    implementations: list[ImplementationEntry]
    partition: PartitionEntry
    floorplan: dict[str, FloorplanEntry]
    estimates: EstimatesEntry


class FitEntry(_Model):
    """How likely a slot holds what lies in it; one outcome in ten needs less than ``low``, one more than ``high``."""

    likelihood: Annotated[float, Field(ge=0, le=1)]
    low: Amounts
    high: Amounts


class ShallowEntry(_Model):
    """A FIFO with fewer words than the full rate needs."""

    channel: str
    planned: int
    needed: int


class ThroughputEntry(_Model):
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


class EstimatesEntry(_Model):
    """What the plan promises; ``expected_cycles`` counts start-ups, which ``cycles`` leave out as FINN does.

    ``fps`` is of the engines; ``sustained_fps`` is what the planned FIFOs keep: null if not known, 0 in a deadlock.
    ``bands`` and ``fits`` are empty where the cost model knows no error. ``throughput`` is of the planned FIFOs.
    """

    clock_mhz: float
    cycles: int
    fps: float
    sustained_fps: float | None = None
    latency_us: float
    bottleneck: str
    expected_cycles: int | None = None
    throughput: ThroughputEntry | None = None
    bands: dict[str, dict[str, tuple[float, float]]] = Field(default={})
    fits: dict[str, FitEntry] = Field(default={})


class RefusalEntry(_Model):
    """Why a stage had no answer: what stood in the way, short of which resource, where, and by how much.

    ``resource`` and ``place`` are empty and ``needed`` and ``allowed`` null where they do not apply or are not known;
    ``names`` are the engines, modules or edges concerned.
    """

    what: What
    resource: str
    place: str
    needed: int | float | None
    allowed: int | float | None
    proven: bool
    names: list[str]


class TraceEntry(_Model):
    """One interval that the search tried; ``detail`` is the sentence that ``refusals`` make."""

    interval_cycles: int
    verdict: Literal["legal", "proven infeasible", "not found within the limit"]
    stage: Literal["fold", "partition", "place"]
    detail: str
    refusals: list[RefusalEntry]


class IntervalBound(_Model):
    """How far the interval is from the folding optimum under the platform's summed limits."""

    interval_cycles: int
    bound_cycles: int
    gap: float
    ended_by: str


class CalibrationEntry(_Model):
    """What a build told of its engines; all other resources are estimates, corrected by the factors of their kinds."""

    measured: list[str]
    factors: dict[str, dict[str, float]]
    reports: list[InputFile]


class Plan(_Model):
    """Everything a run decided; ``interrupted``: Ctrl-C ended the search, so that more might have been found."""

    schema_: Literal["floorflow-plan/1"] = Field(SCHEMA, alias="schema")
    version: str
    seed: int
    options: Options
    inputs: list[InputFile]
    calibration: CalibrationEntry | None = None
    platform: PlatformEntry
    networks: list[NetworkEntry]
    phases: list[PhaseEntry]
    search: IntervalBound
    trace: list[TraceEntry]
    warnings: list[str]
    interrupted: bool = False

    def to_json(self) -> str:
        """Return plan.json's text: sorted keys, two spaces, a newline at the end."""
        return json.dumps(self.model_dump(by_alias=True), indent=2, sort_keys=True, allow_nan=False) + "\n"


def read_plan(path: Path) -> Plan:
    """Read plan.json.

    Raises
    ------
    InputError
        If the file is missing or is no plan; the message names the first wrong field.

    """
    try:
        return Plan.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})", hint="give a folder that plan wrote") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"{path}: {field}: {first['msg']}", hint="give a plan.json of this version") from error


def json_schema() -> str:
    """Return the JSON Schema of plan.json as text."""
    return json.dumps(Plan.model_json_schema(by_alias=True), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(json_schema())
