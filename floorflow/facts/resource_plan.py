"""A network cut and folded for a platform of resources alone, as schedule.json holds it (docs/reconfigure.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from floorflow.facts.brief import Line, gap_told, ten_lines
from floorflow.facts.folding import ParallelismEntry
from floorflow.facts.network import EngineEntry
from floorflow.facts.text import number, rate, table
from floorflow.facts.values import Amount, Amounts, AttributeValue, InputFile, PlainName, PlanModel, Stats
from floorflow.resources import RESOURCE_NAMES

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

    @property
    def again(self) -> str:
        """The rate of batch after batch, for which the first partition is loaded again."""
        return f"{rate(self.batch * 1e6 / (self.period_us + self.reload_us))} frames/s"

    @property
    def frames(self) -> str:
        """The frames of a batch."""
        return f"{self.batch:,} frame{'s' * (self.batch != 1)}"


def resource_report(plan: ResourcePlan) -> str:
    """Return report.txt: what a batch takes and what is proven, each partition, each engine."""
    title = f"{plan.network.name} on {plan.platform.name}, floorflow {plan.version}"
    sections = {
        "In figures": resource_figures(plan),
        "What was read and assumed": _assumed(plan),
        "A batch": _batch(plan),
        "Partitions": table([_HEAD, *(_row(part) for part in plan.partitions)]),
        **{f"Engines of {part.name}": _engines(part) for part in plan.partitions},
    }
    body = [f"{heading}\n{'-' * len(heading)}\n" + "\n".join(lines) for heading, lines in sections.items() if lines]
    head = f"{title}\n{'=' * len(title)}\n{resource_summary(plan)}"
    return "\n\n".join([head, *body]) + "\n"


_HEAD = ["partition", "cycles", "load us", "run us", *RESOURCE_NAMES, "loads bits", "stores bits", "Gb/s"]


def _row(part: PartitionInTime) -> list[str]:
    used = part.resources.model_dump()
    shares = [f"{used[name]:,} ({part.shares[name]:.1%})" if name in part.shares else "-" for name in RESOURCE_NAMES]
    times = [f"{part.interval_cycles:,}", number(part.load_us), number(part.run_us)]
    return [part.name, *times, *shares, f"{part.loaded_bits:,}", f"{part.stored_bits:,}", number(part.gbps)]


def _assumed(plan: ResourcePlan) -> list[str]:
    facts = plan.platform
    model, load = plan.inputs[0], number(facts.reconfiguration_us)
    return [
        f"model      {model.path}, sha256 {model.sha256}",
        f"back end   {plan.options.backend}, for a part as on {facts.board}",
        f"platform   resources alone, SAMO's numbers: {facts.resources}; nothing is placed",
        f"allowed    {facts.limits}",
        f"memory     {facts.memory_gbps:g} Gb/s both ways together; loading the device takes {load} us",
        f"clock      {plan.options.clock_mhz:g} MHz",
        "FIFOs have the least depth, more where branches join; their resources and those of converters are counted",
    ]


def _batch(plan: ResourcePlan) -> list[str]:
    stats = plan.stats
    lines = [
        f"{plan.frames} in {number(plan.period_us)} us, {rate(plan.fps)} frames/s",
        f"{stats.status}: bound {number(stats.bound)} us, gap {'unknown' if stats.gap is None else f'{stats.gap:.2%}'}",
    ]
    if plan.reload_us:
        lines.append(f"batch after batch, the first partition loaded again: {plan.again}")
    return lines


def _engines(part: PartitionInTime) -> list[str]:
    rows = [["engine", "cycles", *RESOURCE_NAMES, "folding"]]
    for name, engine in part.engines.items():
        used = engine.resources.model_dump()
        folding = ", ".join(f"{key} {value}" for key, value in engine.attributes.items())
        rows.append([name, f"{engine.cycles:,}", *(f"{used[each]:,}" for each in RESOURCE_NAMES), folding])
    return table(rows)


def resource_summary(plan: ResourcePlan, ways: Iterable[Line] = ()) -> str:
    """Return the summary, with ``ways`` on from it: rate, what limits it, how full partitions are, what is proven."""
    slowest = max(plan.partitions, key=lambda part: part.interval_cycles)
    bottleneck = next(name for name, each in slowest.engines.items() if each.cycles == slowest.interval_cycles)
    layer = next(engine.operation for engine in plan.network.engines if engine.name == bottleneck)
    share, name, fullest = max((share, name, p.name) for p in plan.partitions for name, share in p.shares.items())
    batch = f"a batch of {plan.frames} in {plan.period_us / 1000:,.3f} ms"
    phases = f"{len(plan.partitions)} partition{'s' * (len(plan.partitions) != 1)}"
    clock = f"at {plan.options.clock_mhz:g} MHz (assumed)"
    lines = [
        Line("", f"{plan.network.name} on {plan.platform.name}: {rate(plan.fps)} frames/s {clock}; {batch}"),
        Line(
            "limited by", f"layer {layer} ({bottleneck}) in {slowest.name}: {slowest.interval_cycles:,} cycles a frame"
        ),
        Line("fullest", f"{name} of {fullest}: {share:.1%} used; {phases}, nothing is placed"),
        Line("proven", gap_told(plan.stats.gap, "schedule", "faster")),
        *(Line("assumed", warning, rank=3) for warning in plan.warnings[:1]),
    ]
    return ten_lines([*lines, *ways])


def resource_figures(plan: ResourcePlan) -> list[str]:
    """Return the rate with its bound, then partition by partition what it takes, and notes."""
    stats, count = plan.stats, len(plan.partitions)
    slowest = max(plan.partitions, key=lambda part: part.interval_cycles)
    bottleneck = next(name for name, each in slowest.engines.items() if each.cycles == slowest.interval_cycles)
    interval = f"interval {slowest.interval_cycles:,} cycles at {plan.options.clock_mhz:g} MHz"
    lines = [f"{plan.network.name} on {plan.platform.name}: {rate(plan.fps)} frames/s ({interval}, {bottleneck})"]
    batch = f"batch {plan.frames}, period {plan.period_us / 1000:,.3f} ms"
    bound = "" if stats.bound is None else f", bound {stats.bound / 1000:,.3f} ms, gap {stats.gap or 0:.1%}"
    lines.append(f"  schedule  {batch}; {count} partition{'s' * (count != 1)}, {stats.status}{bound}")
    if plan.reload_us:
        lines.append(f"            batch after batch, the first phase loaded again: {plan.again}")
    for part in plan.partitions:
        used = [f"{name} {share:.0%}" for name, share in part.shares.items() if share]
        times = f"load {part.load_us / 1000:,.3f} ms, run {part.run_us / 1000:,.3f} ms"
        lines.append(f"  {part.name}        {part.interval_cycles:,} cycles, {times}; {', '.join(used)}")
    lines.append("  placement none: of the platform its resources alone are known")
    return [*lines, *(f"  note: {warning}" for warning in plan.warnings)]
