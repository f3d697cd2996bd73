"""The Plan itself: everything a run decided. Reading a plan.json, and the JSON Schema of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from floorflow.errors import InputError
from floorflow.facts.channel import ChannelEntry, LongStream, slots_on_way
from floorflow.facts.folding import LiftedEntry
from floorflow.facts.memory_schedule import MemoryScheduleEntry
from floorflow.facts.network import EngineEntry, NetworkEntry
from floorflow.facts.options import Options
from floorflow.facts.partition import RegistersAtBoundary
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.platform import PlatformEntry, SlotEntry
from floorflow.facts.power import PowerEntry
from floorflow.facts.region import ReconfigurableEntry, slots_in
from floorflow.facts.replicas import ReplicasEntry
from floorflow.facts.schedule import ScheduleEntry
from floorflow.facts.summary import SummaryEntry
from floorflow.facts.targets import TargetsEntry
from floorflow.facts.text import filled
from floorflow.facts.values import InputFile, PlanModel, engine_id, first_fault
from floorflow.reading import read_text

Entry = TypeVar("Entry")

SCHEMA: Literal["floorflow-plan/2"] = "floorflow-plan/2"

UNBUILT = "cannot be built yet: "
"""Begins a warning that says what keeps the tools from building the plan; these come before all others."""


class CalibrationEntry(PlanModel):
    """What a build told of its engines; all other resources are estimates, corrected by the factors of their kinds."""

    measured: list[str]
    factors: dict[str, dict[str, float]]
    reports: list[InputFile]


class Plan(PlanModel):
    """Everything a run decided; ``interrupted``: a signal or --time-limit cut the search short: more might be found."""

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
    replicas: ReplicasEntry | None = None
    limits_lifted: list[LiftedEntry] = Field(default_factory=list)
    power: PowerEntry
    warnings: list[str]
    interrupted: bool

    def network(self, name: str) -> NetworkEntry:
        """Return the network of that name."""
        return next(network for network in self.networks if network.name == name)

    def engine_id(self, network: str, engine: str) -> str:
        """Return how phases name an engine: ``network/engine``, or the engine's name where there is one network."""
        return engine_id(network, engine, several=len(self.networks) > 1)

    @property
    def unbuilt(self) -> list[str]:
        """The warnings that say what keeps the tools from building the plan; none if they can."""
        return [warning for warning in self.warnings if warning.startswith(UNBUILT)]

    @property
    def copy_memories(self) -> list[str | None]:
        """The memory channel of each copy of a network on a card; none where there are no copies."""
        return [] if self.replicas is None else [copy.memory for copy in self.replicas.placed]

    @property
    def dma_memories(self) -> list[str | None]:
        """The memory channels of what has DMA engines of its own on a card, None for where the host's streams end.

        That are copies of a network, or several networks; nothing where one network is there or several cards are.
        """
        alike = self.targets is not None and len(self.platform.fpgas) == 1
        return [None] * len(self.networks) if alike else self.copy_memories

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

    def layer_of(self, engine: str) -> str:
        """Return the layer of the user's model that an engine, by its id, computes; empty where that is its name."""
        entry = self.engines.get(engine)
        return "" if entry is None or entry.operation == entry.name else entry.operation

    def named(self, engine: str, more: str = "") -> str:
        """Return an engine's id with its layer, and more of it, in parentheses."""
        inside = "; ".join(filter(None, (self.layer_of(engine), more)))
        return f"{engine} ({inside})" if inside else engine

    @property
    def fpga_of(self) -> dict[str, str]:
        """The FPGA of every slot."""
        return {slot.name: slot.fpga for fpga in self.platform.fpgas for slot in fpga.slots}

    def slots_in(self, phase: PhaseEntry) -> list[SlotEntry]:
        """Return the slots as a phase sees them: where it is loaded into a region, no more than that is available."""
        return slots_in(self.reconfigurable, phase.region, self.platform.slots)

    @property
    def build_ends(self) -> bool:
        """Whether a build of what is written ends: of several FPGAs not where something keeps the tool from it."""
        return len(self.platform.fpgas) == 1 or not self.unbuilt

    def crossings_built(self, phase: PhaseEntry) -> bool:
        """Whether what is planned at SLR boundaries is built: FIFOs, which a step inserts as it does slices."""
        return phase.slices_built and any(fpga.crossing.fifos for fpga in self.platform.fpgas)

    def registers_at_boundaries(self, phase: PhaseEntry) -> list[RegistersAtBoundary]:
        """Return of each SLR boundary that streams cross what they have there."""
        place = {slot.name: number for number, slot in enumerate(self.platform.slots)}
        stages = {fpga.name: fpga.crossing.registers for fpga in self.platform.fpgas}
        runs = [c for c in phase.partition.crossings if c.kind == "sll"]
        ends = [sorted((place[c.source], place[c.target])) for c in runs]
        found = []
        for boundary in self.platform.boundaries:
            streams = sum(low <= place[boundary.lower] < high for low, high in ends)
            count = stages[self.fpga_of[boundary.lower]]
            built = count > 0 and self.crossings_built(phase) and self.build_ends
            if streams and boundary.kind == "sll":
                found.append(RegistersAtBoundary(boundary.name, streams, count, built))
        return found

    def fullest_in(self, phase: PhaseEntry) -> str:
        """Return how full the plan's fullest place is, by shares of what is available; empty if in no such phase."""
        found = self.summary.fullness
        if found is None or found.phase != phase.name:
            return ""
        used = phase.partition.utilisation[found.slot][found.resource]
        return filled(f"{found.resource} of {found.slot}", used, used / found.share)

    def longest_streams(self, phase: PhaseEntry) -> list[LongStream]:
        """Return the long streams of a phase as they are built, the longest between registers first."""
        slices, fifos = (made and self.build_ends for made in (phase.slices_built, self.crossings_built(phase)))
        registers, found = {channel.name: channel.crossing_registers for channel in phase.channels}, []
        for fpga, rows in phase.longest.items():
            for row in rows:
                count = registers[row.channel]
                bare = count > 0 and not fifos
                tiles = row.tiles if bare else row.way_tiles if slices else row.unsliced_tiles
                found.append(LongStream(fpga, row, tiles, count if fifos else 0, slices, bare))
        return sorted(found, key=lambda one: -one.tiles)

    def built_slices(self, phase: PhaseEntry, channel: ChannelEntry) -> tuple[str, ...]:
        """Return the slot of each FIFO of two words that is built on a stream: at SLR boundaries, and slices."""
        crossing = channel.crossing_slots if self.crossings_built(phase) else []
        slices = channel.slice_slots if phase.slices_built else []
        source = phase.slot_of.get(channel.source, self.platform.fpgas[0].host_slot)
        return slots_on_way(crossing, slices, [slot.name for slot in self.platform.slots], source)

    def phase_folder(self, number: int) -> str:
        """Return the folder of a phase's files: empty, or with a slash at its end where there are several phases."""
        return "" if len(self.phases) == 1 else f"phases/{self.phases[number].name}/"

    def parts(self, network: str) -> list[tuple[PhaseEntry, PhaseNetworkEntry]]:
        """Return each phase in which a network runs, with its part there."""
        return [(phase, part) for phase in self.phases for part in phase.networks if part.network == network]

    def slowest_phase(self, network: str) -> PhaseEntry:
        """Return the phase of a network's longest interval, the first of equal ones: its bottleneck is there."""
        return max(self.parts(network), key=lambda pair: pair[1].interval_cycles)[0]

    def to_json(self) -> str:
        """Return plan.json's text: sorted keys but `schema` and `summary` first, two spaces, a newline at the end."""
        content = without_several(self.model_dump(by_alias=True))
        first = {key: _sorted(content.pop(key)) for key in ("schema", "summary")}
        return json.dumps(first | _sorted(content), indent=2, allow_nan=False) + "\n"


def without_several(content: dict[str, Any]) -> dict[str, Any]:
    """Return what a plan holds without the fields of several networks, or of link kernels, where it has them not."""
    absent = {key for key in ("targets", "memory_schedule") if content[key] is None}
    kept = {key: value for key, value in content.items() if key not in absent}
    kept["phases"] = [{k: v for k, v in p.items() if v or k != "link_kernels"} for p in kept["phases"]]
    if content["replicas"] is None:
        del kept["replicas"]
        kept["options"] = {key: value for key, value in kept["options"].items() if key != "replicas"}
    if len(absent) == 2:
        kept["options"] = {k: v for k, v in kept["options"].items() if k not in ("rates", "min_rate")}
    own = without_usual(kept["options"]["backend_options"])
    kept["options"] = {**without_usual(kept["options"]), "backend_options": own}
    return kept


_LEFT_OUT = [("reuse", "no"), ("thresholds", "fused")]
"""Options that plan.json leaves out where they have these values: those that came later."""


def without_usual(options: dict[str, Any]) -> dict[str, Any]:
    """Return options, the request's or a back end's, without those that came later and have their usual values."""
    return {key: value for key, value in options.items() if (key, value) not in _LEFT_OUT}


def _only(entries: list[Entry], what: str) -> Entry:
    if len(entries) > 1:
        raise InputError(f"the plan has {len(entries)} {what}, expected one", hint=f"plan one of its {what} alone")
    return entries[0]


def _sorted(value: Any) -> Any:
    """Return plain data with the keys of every object in order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def read_plan(path: Path) -> Plan:
    """Read plan.json.

    Raises InputError if the file is missing, is no plan or is of another version; the message names the first wrong
    field.
    """
    text = read_text(path, "plan", "give a folder that plan wrote")
    _require_version(path, text)
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}", hint="give a plan.json of this version") from error
    except InputError as error:  # its back end is not installed, or has other options
        raise InputError(f"{path}: options: {error}", hint=error.hint) from error


def _require_version(path: Path, text: str) -> None:
    """Refuse the plan of another version of floorflow, before its fields are held against those of this one."""
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError):
        return
    found = plan.get("schema") if isinstance(plan, dict) else None
    if isinstance(found, str) and found.startswith("floorflow-plan/") and found != SCHEMA:
        by = f", written by floorflow {plan['version']}" if isinstance(plan.get("version"), str) else ""
        raise InputError(
            f"{path}: is a {found}{by}; this floorflow reads {SCHEMA}", hint="plan again (--force replaces the folder)"
        )


def json_schema() -> str:
    """Return the JSON Schema of plan.json as text."""
    return json.dumps(Plan.model_json_schema(by_alias=True), indent=2, sort_keys=True) + "\n"
