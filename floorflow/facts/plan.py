"""The Plan itself: everything a run decided, and its summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from floorflow.errors import InputError
from floorflow.facts.memory_schedule import MemoryScheduleEntry
from floorflow.facts.network import EngineEntry, NetworkEntry
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.platform import PlatformEntry, SlotEntry
from floorflow.facts.region import ReconfigurableEntry, slots_in
from floorflow.facts.values import Amount, InputFile, PlainName, PlanModel, Stats, engine_id
from floorflow.request import Objective, Request

Entry = TypeVar("Entry")
SCHEMA: Literal["floorflow-plan/2"] = "floorflow-plan/2"
UNBUILT = "cannot be built yet: "
"""Begins a warning that says what keeps the tools from building the plan; these come before all others."""


class Options(Request):
    """The request of the run, files by their names alone, with what it left open as it was taken.

    ``models`` stands for the request's ``model``, which plan.json does not have. ``rates`` and ``min_rate``, in frames
    a second by network, are those of several networks; a plan of one has neither.
    """

    model: SkipJsonSchema[Path] = Field(Path(), exclude=True)
    models: Annotated[list[str], Field(min_length=1)]
    rates: dict[str, float] = Field(default_factory=dict)
    min_rate: dict[str, float] = Field(default_factory=dict)
    clock_mhz: float
    objective: Objective


class TargetEntry(PlanModel):
    """What a network of several was to reach, and what it does.

    ``fps`` and ``least_fps`` were asked for, null where nothing was. ``target_cycles``: the longest interval that meets
    the target; without one the network's folding bound with the platform to itself, ``alone_cycles``. ``share`` of the
    target, 1 at most. ``starved``: less than half of what was asked for, and no least rate was given.
    """

    network: PlainName
    fps: float | None
    least_fps: float | None
    target_cycles: Annotated[int, Field(ge=1)]
    alone_cycles: Annotated[int, Field(ge=1)]
    share: Annotated[float, Field(gt=0, le=1)]
    starved: bool


class TargetsEntry(PlanModel):
    """What several networks that share a platform were to reach.

    ``stretch`` is of the largest interval over its target's of any network, 1 where all targets are met; as long as a
    rate that was asked for is missed, networks without one do not count.
    """

    networks: Annotated[list[TargetEntry], Field(min_length=2)]
    stretch: Stats


class CalibrationEntry(PlanModel):
    """What a build told of its engines; all other resources are estimates, corrected by the factors of their kinds."""

    measured: list[str]
    factors: dict[str, dict[str, float]]
    reports: list[InputFile]


class LiftedEntry(PlanModel):
    """An engine above a limit on single engines: what it has of ``limit``, what is allowed, and why it may."""

    phase: PlainName
    engine: str
    limit: Annotated[str, Field(pattern=r"^(products|LUT|FF|BRAM18|URAM|DSP)$")]
    value: Amount
    allowed: Amount
    reason: Literal["folding kept", "none of the engine", "none of the network", "no plan found"]


class ScheduleStep(PlanModel):
    """One phase in a period: how long it takes to load, and to run on the whole batch.

    Where phases are loaded into regions it is told when each load and run begins: a region may be loaded while another
    runs. Else the phases follow one another, each loaded and then run.
    """

    phase: str
    load_us: float
    run_us: float
    load_start_us: float | None = None
    run_start_us: float | None = None


class ScheduleEntry(PlanModel):
    """How phases follow one another: each is loaded and run on ``batch`` frames, then the next.

    The first phase is on the device when a batch comes; to run another batch it is loaded again, in ``reload_us``.
    ``memory_gbps``: what the board's memory carries. ``alone_us``: what one phase alone would take at least, null where
    none is possible. ``stats`` are of ``period_us``; null where nothing was sought.
    """

    kind: Literal["reconfigure"]
    objective: Literal["latency", "throughput"] = "throughput"
    batch: int = Field(ge=1)
    period_us: float
    reload_us: float = 0.0
    memory_gbps: float | None = None
    alone_us: float | None = None
    stats: Stats | None = None
    steps: list[ScheduleStep]

    @property
    def loading_share(self) -> float:
        """Share of a period in which nothing runs; a load that hides behind a run takes no time of its own."""
        return max(0.0, 1 - sum(step.run_us for step in self.steps) / self.period_us)


class NetworkSummary(PlanModel):
    """What a network reaches; with several phases its rate is that of the schedule."""

    network: PlainName
    fps: float
    sustained_fps: float | None
    interval_cycles: int
    bound_cycles: int
    joint_bound_cycles: int | None
    gap: float
    latency_us: float | None
    bottleneck: str


class FullestEntry(PlanModel):
    """Where the design is fullest: the share of what is available of a resource in a slot."""

    phase: str
    slot: str
    resource: str
    share: float


class FullnessEntry(PlanModel):
    """The largest share of a limit, cap x available, of a resource in a slot.

    No plan at its interval is below ``bound`` (null: not known).
    """

    phase: str
    slot: str
    resource: str
    share: float
    bound: float | None


class SummaryEntry(PlanModel):
    """The plan in a few figures, for people and dashboards; all of them follow from the rest of the plan."""

    platform: str
    fpgas: Amount
    clock_mhz: float
    phases: Amount
    networks: list[NetworkSummary]
    fullest: FullestEntry | None
    fullness: FullnessEntry | None
    warnings: Amount
    interrupted: bool


class Plan(PlanModel):
    """Everything a run decided; ``interrupted``: Ctrl-C ended the search, so that more might have been found."""

    schema_: Literal["floorflow-plan/2"] = Field(SCHEMA, alias="schema")
    summary: SummaryEntry
    version: str
    seed: int
    options: Options
    inputs: list[InputFile]
    calibration: CalibrationEntry | None
    platform: PlatformEntry
    networks: Annotated[list[NetworkEntry], Field(min_length=1)]
    phases: Annotated[list[PhaseEntry], Field(min_length=1)]
    schedule: ScheduleEntry | None
    targets: TargetsEntry | None = None
    reconfigurable: ReconfigurableEntry | None = None
    memory_schedule: MemoryScheduleEntry | None = None
    limits_lifted: list[LiftedEntry] = Field(default_factory=list)
    warnings: list[str]
    interrupted: bool

    def network(self, name: str) -> NetworkEntry:
        """Return the network of that name."""
        return next(network for network in self.networks if network.name == name)

    def phase(self, name: str) -> PhaseEntry:
        """Return the phase of that name."""
        return next(phase for phase in self.phases if phase.name == name)

    def engine_id(self, network: str, engine: str) -> str:
        """Return how phases name an engine: ``network/engine``, or the engine's name where there is one network."""
        return engine_id(network, engine, several=len(self.networks) > 1)

    @property
    def unbuilt(self) -> list[str]:
        """The warnings that say what keeps the tools from building the plan; none if they can."""
        return [warning for warning in self.warnings if warning.startswith(UNBUILT)]

    @property
    def only_network(self) -> NetworkEntry:
        """The network of a plan that has one; InputError if it has several."""
        return _only(self.networks, "networks")

    @property
    def only_phase(self) -> PhaseEntry:
        """The phase of a plan that has one; InputError if it has several."""
        return _only(self.phases, "phases")

    @property
    def engines(self) -> dict[str, EngineEntry]:
        """All engines by their ids, network by network."""
        return {self.engine_id(n.name, e.name): e for n in self.networks for e in n.engines}

    @property
    def fpga_of(self) -> dict[str, str]:
        """The FPGA of every slot."""
        return {slot.name: slot.fpga for fpga in self.platform.fpgas for slot in fpga.slots}

    def slots_in(self, phase: PhaseEntry) -> list[SlotEntry]:
        """Return the slots as a phase sees them: where it is loaded into a region, no more than that is available."""
        return slots_in(self.reconfigurable, phase.region, self.platform.slots)

    def phase_folder(self, number: int) -> str:
        """Return the folder of a phase's files: empty, or with a slash at its end where there are several phases."""
        return "" if len(self.phases) == 1 else f"phases/{self.phases[number].name}/"

    def parts(self, network: str) -> list[tuple[PhaseEntry, PhaseNetworkEntry]]:
        """Return each phase in which a network runs, with its part there."""
        return [(phase, part) for phase in self.phases for part in phase.networks if part.network == network]

    def to_json(self) -> str:
        """Return plan.json's text: sorted keys but `schema` and `summary` first, two spaces, a newline at the end."""
        content = without_several(self.model_dump(by_alias=True))
        first = {key: _sorted(content.pop(key)) for key in ("schema", "summary")}
        return json.dumps(first | _sorted(content), indent=2, allow_nan=False) + "\n"


def without_several(content: dict[str, Any]) -> dict[str, Any]:
    """Return what a plan holds without the fields of several networks where it has them not."""
    absent = {key for key in ("targets", "memory_schedule") if content[key] is None}
    kept = {key: value for key, value in content.items() if key not in absent}
    if len(absent) == 2:
        kept["options"] = {k: v for k, v in content["options"].items() if k not in ("rates", "min_rate")}
    return kept


def _only(entries: list[Entry], what: str) -> Entry:
    if len(entries) > 1:
        raise InputError(f"the plan has {len(entries)} {what}, expected one", hint=f"plan one of its {what} alone")
    return entries[0]


def _sorted(value: Any) -> Any:
    """Return plain data with the keys of every object in order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value
