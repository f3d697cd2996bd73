"""The plan as facts: ends of channels, slots, links, and for each phase what lies where. Nothing is checked here.

What follows from an engine the back end's part of the judge says.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from floorflow.verify.back_end import BackEnd, EngineFacts, Judge, PlannedEngine, Row
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.hardware.routes import NO_ROADS, Link, Roads, Route, Slot, has_kernels, links_on, roads
from floorflow.verify.phase_records import ChannelRecord, EstimatesRecord, ModuleRecord, PartRecord, PhaseRecord
from floorflow.verify.plan_records import CopyRecord, FpgaRecord, MemoryScheduleRecord, PlanRecord
from floorflow.verify.records import SIDES, Amounts, Side, add, amounts
from floorflow.verify.violations import Findings

Kind = Literal["engine", "host", "memory", "phase"]

_HOST = {"source": re.compile(r"in(?:0|[1-9][0-9]{0,5})"), "target": re.compile(r"out(?:0|[1-9][0-9]{0,5})")}
_NAME = re.compile(r"[A-Za-z0-9_.\-]+")


@dataclass(frozen=True, slots=True)
class End:
    """One end of a channel; ``name`` is an engine, a port of the host or a buffer; ``phase`` that of a phase end."""

    network: str
    kind: Kind
    name: str
    phase: str = ""


def is_outside(text: str) -> bool:
    """Whether an end is no engine: names of engines and networks have no colon."""
    return ":" in text


def read_end(text: str, side: str, networks: Sequence[str]) -> End | None:
    """Take an end (``side`` is source or target) of a plan with these networks apart; None if it is none."""
    network, rest = networks[0] if networks else "", text
    if len(networks) > 1:
        network, _, rest = text.partition("/")
        if network not in networks:
            return None
    owner, colon, name = rest.partition(":")
    if not colon:
        return End(network, "engine", rest) if rest and "/" not in rest else None
    if owner == "host":
        return End(network, "host", name) if _HOST[side].fullmatch(name) else None
    if owner == "memory":
        return End(network, "memory", name) if _NAME.fullmatch(name) else None
    phase, slash, name = name.partition("/")
    if owner != "phase" or not slash or not _NAME.fullmatch(name):
        return None
    return End(network, "phase", name, phase)


def engine_id(network: str, engine: str, *, several: bool) -> str:
    """Return how phases name an engine: with its network where the plan has several."""
    return f"{network}/{engine}" if several else engine


SLL_HEADER_WIRES = 2
"""Wires of a stream besides its data: valid and ready."""


def padded(width_bits: int) -> int:
    """Round a stream's width up to whole bytes, as its wires are."""
    return -(-width_bits // 8) * 8


FIFO_OF_A_WIRE = {"LUT": 1, "FF": 2}
"""What a FIFO of two words takes for each wire of a stream."""


def stream_wires(width_bits: int) -> int:
    """Wires, and flip-flops a stage, of a stream: padded data, valid and ready."""
    return padded(width_bits) + SLL_HEADER_WIRES


def slots_of(plan: PlanRecord) -> dict[str, Slot]:
    """Return the slots by name; those without a readable SLR are left out."""
    slots: dict[str, Slot] = {}
    for number, fpga in enumerate(plan["platform"]["fpgas"]):
        for entry in fpga["slots"]:
            match = re.fullmatch(r"SLR(0|[1-9][0-9]{0,2})", entry["slr"])
            slr = int(match.group(1)) if match else None
            if slr is not None:
                slots[entry["name"]] = Slot(entry["name"], fpga["name"], number, slr, entry)
    return slots


def links_of(plan: PlanRecord, slots: dict[str, Slot]) -> dict[tuple[int, int], Link]:
    """Return the links by the numbers of the two FPGAs, the lower first; those that join nothing are left out."""
    links: dict[tuple[int, int], Link] = {}
    for entry in plan["platform"]["links"]:
        lower, upper = slots.get(entry["source"]), slots.get(entry["target"])
        if lower and upper and lower.fpga_number < upper.fpga_number:
            kernels = has_kernels(entry["kind"], plan["platform"]["fpgas"])
            links.setdefault((lower.fpga_number, upper.fpga_number), Link(lower, upper, entry, kernels))
    return links


STAGES_OF_A_SLICE = 4


def stages_of(board: Board, *, fifos: bool, slices: bool) -> int:
    """Return the register stages at a board's SLR boundaries; a single FIFO would stand on one side alone."""
    stated: int = board.raw["crossing_registers"]
    if slices and stated:
        return STAGES_OF_A_SLICE
    return 2 if fifos and stated == 1 else stated


@dataclass(frozen=True)
class PhaseFacts:
    """One phase with look-up tables; entries that the plan lacks are simply absent.

    ``networks`` are all of the plan; ``fpgas`` are in the order of their numbers; ``links`` go by the numbers of their
    FPGAs, the lower first;
    ``register_stages`` are those of each FPGA's board at its SLR boundaries, ``crossing_fifos``: each is a FIFO,
    ``crossing_slices``: they are vendor's register slices;
    ``back_end`` is None if no part of the judge is installed for the plan's.
    """

    where: str
    raw: PhaseRecord
    slots: dict[str, Slot]
    links: dict[tuple[int, int], Link]
    fpgas: dict[str, FpgaRecord]
    register_stages: dict[str, int]
    folded: dict[str, PlannedEngine]
    clock_mhz: float
    findings: Findings
    networks: tuple[str, ...] = ()
    back_end: BackEnd | None = None
    roads: Roads = NO_ROADS
    crossing_fifos: bool = False
    crossing_slices: bool = False
    copies: Mapping[str, CopyRecord] = field(default_factory=dict)
    """Where the host's streams of each copy of a network end, by its name."""

    def host_of(self, board: Board, end: str) -> Board:
        """Return the board as the network has it that an end outside belongs to."""
        copy = self.copies.get(end.partition("/")[0])
        return board if copy is None else board.at(copy["memory"])

    def add(self, name: str, where: str, message: str) -> None:
        """Record one violation."""
        self.findings.add(name, where, message)

    def expect(self, name: str, where: str, what: str, stated: object, derived: object) -> None:
        """Record ``name`` unless the stated value equals the derived one."""
        self.findings.expect(name, where, what, stated, derived)

    def compare(self, name: str, where: str, stated: Mapping[str, object], derived: Mapping[str, object]) -> None:
        """Record ``name`` for each derived value that the stated one of its key does not equal."""
        self.findings.compare(name, where, stated, derived)

    @property
    def name(self) -> str:
        """The phase's name."""
        return self.raw["name"]

    @cached_property
    def parts(self) -> dict[str, PartRecord]:
        """What runs in the phase, by network."""
        return {part["network"]: part for part in self.raw["networks"]}

    def end(self, channel: ChannelRecord, side: Side) -> End | None:
        """Return a channel's ``source`` or ``target``, taken apart; None if it is no end."""
        return read_end(channel[side], side, self.networks)

    def network_of(self, channel: ChannelRecord) -> str | None:
        """Return the network of a channel, that of its first end that can be read."""
        ends = (self.end(channel, side) for side in SIDES)
        return next((end.network for end in ends if end is not None), None)

    def channels_of(self, network: str) -> list[ChannelRecord]:
        """Return the channels of a network."""
        return [channel for channel in self.channels if self.network_of(channel) == network]

    def engines_of(self, network: str) -> dict[str, PlannedEngine]:
        """Return the engines of a network, by their ids, in its order."""
        return {name: engine for name, engine in self.folded.items() if engine.row["network"] == network}

    def interval_cycles(self, channel: ChannelRecord) -> int:
        """Return the interval of a channel's network in this phase, 0 if that is unknown."""
        part = self.parts.get(self.network_of(channel) or "")
        return part["interval_cycles"] if part else 0

    @property
    def channels(self) -> list[ChannelRecord]:
        """The phase's channels."""
        return self.raw["channels"]

    @cached_property
    def modules(self) -> dict[str, ModuleRecord]:
        """Modules by name."""
        return {module["name"]: module for module in self.raw["modules"]}

    @cached_property
    def module_of(self) -> dict[str, str]:
        """Module of each engine."""
        return {engine: module["name"] for module in self.raw["modules"] for engine in module["engines"]}

    def slot_of_module(self, module: str | None) -> Slot | None:
        """Return the slot that a module is assigned to."""
        return self.slots.get(self.raw["partition"]["assignment"].get(module or "", ""))

    def slot_of_end(self, end: str, *, enters: bool) -> Slot | None:
        """Return where an end of a channel lies; what is outside: in the host's slot of the first FPGA or the last."""
        if not is_outside(end):
            return self.slot_of_module(self.module_of.get(end))
        copy = self.copies.get(end.partition("/")[0])
        if copy is not None:
            return self.slots.get(copy["slot"])
        fpgas = list(self.fpgas.values())
        return self.slots.get(fpgas[0 if enters else -1]["host_slot"])

    def ends(self, channel: ChannelRecord) -> tuple[Slot, Slot] | None:
        """Return the slots of a channel's source and target, None if one is unknown."""
        source = self.slot_of_end(channel["source"], enters=True)
        target = self.slot_of_end(channel["target"], enters=False)
        return (source, target) if source and target else None

    def route(self, channel: ChannelRecord) -> Route | None:
        """Return the route of a channel, empty inside one slot; None if an end or a link on it is unknown."""
        ends = self.ends(channel)
        return self.roads.route(*ends) if ends else None

    def boundaries(self, route: Route) -> Iterator[tuple[Slot, Slot]]:
        """Yield ``(lower, upper)`` for each SLR boundary on a route, in the order in which it is crossed."""
        for step in route:
            yield from (pair for pair in step.boundaries if pair[0].slr != pair[1].slr)

    def stages(self, route: Route) -> int:
        """Return how many register stages stand on a route: the board's at each SLR boundary that it crosses."""
        return sum(self.register_stages[lower.fpga] for lower, _ in self.boundaries(route))

    def link_cycles(self, route: Route) -> int:
        """Return the cycles of a word on the links of a route, each of them rounded up."""
        return sum(link.cycles(self.clock_mhz) for link in links_on(route))

    @property
    def stage_of_a_wire(self) -> dict[str, int]:
        """What a register stage at an SLR boundary takes for each wire."""
        return FIFO_OF_A_WIRE if self.crossing_fifos or self.crossing_slices else {"FF": 1}

    @cached_property
    def port_registers(self) -> dict[str, Amounts]:
        """What modules have at their ports where they are stitched: a FIFO of two words for each stream."""
        found = {name: amounts({}) for name in self.modules}
        if self.back_end is None or not self.back_end.stitches(self.where):
            return found
        for channel in self.channels:
            ends = [self.module_of.get(channel[side]) for side in SIDES]
            price = amounts({name: stream_wires(channel["width_bits"]) * n for name, n in FIFO_OF_A_WIRE.items()})
            for module in ends if ends[0] != ends[1] else ():
                if module is not None and module in found:
                    found[module] = add(found[module], price)
        return found

    def registers(self, channel: ChannelRecord) -> list[tuple[str, Amounts]]:
        """Return slot and price of every register stage of a channel, in the order in which a word passes them."""
        found, wires = [], stream_wires(channel["width_bits"])
        price = amounts({name: wires * count for name, count in self.stage_of_a_wire.items()})
        for step in self.route(channel) or ():
            rises = step.source.slr <= step.target.slr
            for lower, upper in self.boundaries((step,)):
                stages = self.register_stages[lower.fpga]
                slots = [lower.name] * ((stages + 1) // 2) + [upper.name] * (stages // 2)
                found += [(slot, price) for slot in (slots if rises else reversed(slots))]
        return found

    def gbps(self, channel: ChannelRecord) -> float:
        """Return the rate of a channel in Gb/s: words of whole bytes at the frame rate of its network in this phase."""
        bits = channel["words_per_frame"] * padded(channel["width_bits"])
        part = self.parts.get(self.network_of(channel) or "")
        return bits * part["estimates"]["fps"] / 1e9 if part else 0.0

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        """Engines that each engine feeds."""
        following: dict[str, list[str]] = {name: [] for name in self.folded}
        for channel in self.channels:
            if channel["source"] in following and channel["target"] in following:
                following[channel["source"]].append(channel["target"])
        return following


Phases = Sequence[PhaseFacts]
"""All phases of a plan, in its order."""


def phases_of(plan: PlanRecord, boards: Boards, judge: Judge | None, findings: Findings) -> list[PhaseFacts]:
    """Return every phase with what the back end's part of the judge, if there is one, says of its engines."""
    slots = slots_of(plan)
    fpgas = {fpga["name"]: fpga for fpga in plan["platform"]["fpgas"]}
    links, clock_mhz = links_of(plan, slots), plan["options"]["clock_mhz"]
    between = roads(slots, ((b["lower"], b["upper"]) for b in plan["platform"]["boundaries"]), links.values())
    # An FPGA whose board cannot be read is reported already.
    stated = {name: fpga["crossing"]["registers"] for name, fpga in fpgas.items()}
    fifos = any(fpga["crossing"]["fifos"] for fpga in fpgas.values())
    slices = any(fpga["crossing"]["slices"] for fpga in fpgas.values())
    stages = stated | {name: stages_of(board, fifos=fifos, slices=slices) for name, board in boards.items()}
    phases = []
    networks = tuple(network["name"] for network in plan["networks"])
    for number, raw in enumerate(plan["phases"]):
        where = f"phases[{number}]"
        rows = _rows(plan, raw, slots)
        back_end = _back_end(plan, boards, judge, rows, findings)
        folded = folded_engines(rows, back_end, where)
        phase = PhaseFacts(
            where,
            raw,
            slots,
            links,
            fpgas,
            stages,
            folded,
            clock_mhz,
            findings,
            networks,
            back_end,
            between,
            fifos,
            slices,
            {copy["network"]: copy for copy in (plan.get("replicas") or {"placed": []})["placed"]},
        )
        phases.append(phase)
    return phases


def _back_end(
    plan: PlanRecord, boards: Boards, judge: Judge | None, rows: Mapping[str, Row], findings: Findings
) -> BackEnd | None:
    if judge is None:
        return None
    context = {
        "options": plan["options"]["backend_options"],
        "parts": [fpga["part"] for fpga in plan["platform"]["fpgas"]],
        "several_networks": len(plan["networks"]) > 1,
        "copies": [copy["network"] for copy in (plan.get("replicas") or {"placed": []})["placed"]],
        "keep_folding": plan["options"].get("keep_folding") is True,
        "written_later": plan["options"].get("reuse", "no") != "no",
        "engines": rows,
        "slots": {name: (slot.fpga_number, slot.slr) for name, slot in slots_of(plan).items()},
        "cell_patterns": {fpga: board.raw["cell_pattern"] for fpga, board in boards.items()},
        "boards": {fpga: board.raw["name"] for fpga, board in boards.items()},
        "shells": {fpga: board.shell.get("name", "") for fpga, board in boards.items()},
        "memories": {fpga["name"]: fpga.get("host_memory") for fpga in plan["platform"]["fpgas"]},
        "hierarchies": {fpga: board.hierarchy for fpga, board in boards.items()},
    }
    return BackEnd(plan["options"]["backend"], judge, findings, context)


def folded_engines(rows: Mapping[str, Row], back_end: BackEnd | None, where: str) -> dict[str, PlannedEngine]:
    """Return the engines that have a folding, in the order of the networks."""
    folded: dict[str, PlannedEngine] = {}
    for name, row in rows.items():
        facts = EngineFacts() if back_end is None else back_end.engine(row, f"{where} engine {name}")
        folded[name] = PlannedEngine(name, row, facts)
    return folded


def _rows(plan: PlanRecord, phase: PhaseRecord, slots: Mapping[str, Slot]) -> dict[str, Row]:
    """Return what the back end's part of the judge is told of each engine that has a folding in a phase, by its id."""
    parts = {part["network"]: part["folding"]["engines"] for part in phase["networks"]}
    module_of = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    rows: dict[str, Row] = {}
    for network in plan["networks"]:
        folding = parts.get(network["name"], {})
        for engine in network["engines"]:
            name = engine_id(network["name"], engine["name"], several=len(plan["networks"]) > 1)
            if name not in folding:
                continue
            module = module_of.get(name)
            slot = slots.get(phase["partition"]["assignment"].get(module or "", ""))
            rows[name] = {
                "id": name,
                "network": network["name"],
                "entry": engine,
                "folding": folding[name],
                "module": module,
                "slot": slot.name if slot else None,
                "slr": slot.slr if slot else None,
                "dies": len({other.slr for other in slots.values() if other.fpga == slot.fpga}) if slot else 0,
                "style": phase["constraint_styles"].get(slot.name) if slot else None,
                "fpga": slot.fpga if slot else None,
                "fpga_number": slot.fpga_number if slot else None,
                "part": plan["platform"]["fpgas"][slot.fpga_number if slot else 0]["part"],
            }
    return rows


def frames_of(shared: MemoryScheduleRecord, network: str) -> float | None:
    """Return the rate that a schedule gives a network, from its repetitions and the period."""
    entry = next((each for each in shared["networks"] if each["network"] == network), None)
    return None if entry is None or shared["period_us"] <= 0 else entry["repetitions"] * 1e6 / shared["period_us"]


def parts_of(plan: PlanRecord, network: str) -> list[tuple[PhaseRecord, PartRecord]]:
    """Return each phase in which a network runs, with its part there."""
    return [(phase, part) for phase in plan["phases"] for part in phase["networks"] if part["network"] == network]


def believed_fps(estimates: EstimatesRecord) -> float:
    """Return the rate of the interval to believe; of the engines where none is stated, 0 in a deadlock."""
    timed, cycles = estimates["throughput"], estimates["expected_cycles"]
    if timed is not None and timed["deadlock"]:
        return 0.0
    return estimates["clock_mhz"] * 1e6 / cycles if cycles else estimates["fps"]


def believed_latency_us(estimates: EstimatesRecord) -> float:
    """Return the latency of a frame that was followed through FIFOs that are deep enough; else of every engine."""
    timed = estimates["throughput"]
    first = None if timed is None or timed["shallow"] else timed["first_frame_cycles"]
    return estimates["latency_us"] if first is None else first / estimates["clock_mhz"]


def frames_per_second(plan: PlanRecord, network: str) -> float | None:
    """Return the rate of a network: of its engines, or with a schedule of the whole period; None if there is none."""
    parts, schedule = parts_of(plan, network), plan["schedule"]
    shared = plan.get("memory_schedule")
    if shared is not None:
        return frames_of(shared, network)
    if schedule is not None:
        return schedule["batch"] * 1e6 / schedule["period_us"] if schedule["period_us"] > 0 else None
    longest = max((part["interval_cycles"] for _, part in parts), default=0)
    return plan["options"]["clock_mhz"] * 1e6 / longest if longest else None
