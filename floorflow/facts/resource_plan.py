"""A network cut and folded for a platform of resources alone, as schedule.json holds it (docs/reconfigure.md)."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from floorflow.facts.network import EngineEntry
from floorflow.facts.phase import ParallelismEntry
from floorflow.facts.values import Amount, Amounts, AttributeValue, InputFile, PlainName, PlanModel, Stats

RESOURCE_PLAN_SCHEMA: Literal["floorflow-schedule/1"] = "floorflow-schedule/1"
RESOURCE_PLAN_FILE = "schedule.json"


class ResourceOptions(PlanModel):
    """What was asked for; ``cap`` is null where all of the platform's resources may be used."""

    models: Annotated[list[str], Field(min_length=1)]
    platform: str
    backend: str
    backend_options: dict[str, Any]
    reconfigure: Literal["none", "full"]
    batch: int | None
    objective: Literal["throughput", "latency"]
    clock_mhz: float
    cap: dict[str, float] | None
    seed: int


class ResourceFacts(PlanModel):
    """The platform: what it has, and ``limits`` of it that each partition may use; ``board``: one of the same silicon.

    ``reconfiguration_us``: what loading it takes; ``memory_gbps``: what its memory carries both ways together.
    """

    name: str
    board: str
    part: str
    memory_gbps: float
    reconfiguration_us: float
    resources: Amounts
    limits: Amounts


class FoldedEngine(PlanModel):
    """The folding of an engine; ``attributes`` are the back end's own."""

    cycles: Amount
    resources: Amounts
    attributes: dict[str, AttributeValue]
    parallelism: list[ParallelismEntry]


class StreamEntry(PlanModel):
    """A stream between engines, or with an end in memory: ``host:in0``, ``memory:<engine>.<port>``.

    ``converter``: the kind of the width converter, null where both ends are equally wide; ``fifo_style``: the FIFO's
    memory, in the back end's own word.
    """

    name: str
    source: str
    source_port: Amount
    target: str
    target_port: Amount
    elements: Amount
    element_bits: Amount
    source_width_bits: Amount
    target_width_bits: Amount
    converter: str | None
    converter_resources: Amounts
    fifo_depth: Amount
    fifo_style: str
    fifo_resources: Amounts


class PartitionInTime(PlanModel):
    """What the device holds at a time. ``shares`` are of the limits; bits are those of a frame.

    ``load_us``: what loading takes before it runs, ``run_us``: the whole batch.
    """

    name: PlainName
    interval_cycles: Amount
    load_us: float
    run_us: float
    engines: dict[str, FoldedEngine]
    streams: list[StreamEntry]
    resources: Amounts
    shares: dict[str, float]
    loaded_bits: Amount
    stored_bits: Amount
    gbps: float
    folding: Stats


class ResourceNetwork(PlanModel):
    """The network by its engines, in order."""

    name: PlainName
    engines: list[EngineEntry]


class ResourcePlan(PlanModel):
    """Everything a run decided; ``stats`` are of ``period_us``, the time of a batch (SAMO, eq. 3 and 4).

    ``reload_us``: what loading the first partition again takes where batch follows batch.
    """

    schema_: Literal["floorflow-schedule/1"] = Field(RESOURCE_PLAN_SCHEMA, alias="schema")
    version: str
    options: ResourceOptions
    inputs: list[InputFile]
    platform: ResourceFacts
    network: ResourceNetwork
    batch: int = Field(ge=1)
    period_us: float
    reload_us: float
    fps: float
    stats: Stats
    partitions: Annotated[list[PartitionInTime], Field(min_length=1)]
    warnings: list[str]
    interrupted: bool

    def to_json(self) -> str:
        """Return schedule.json's text: keys in order, two spaces, a newline at the end."""
        return json.dumps(self.model_dump(by_alias=True), indent=2, sort_keys=True, allow_nan=False) + "\n"
