"""The floorplan of a phase: rectangles, ranges, supply, overlap, shell, areas that the options state, and room.

Room is judged by the plan's own options: the user's fill of a resource goes before the confidence, and that before the
rule on hard pblocks. A pblock that lacks room must be listed as short, and no rectangle around it that is clear of all
else has it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.hardware.geometry import (
    FREE_SITE_TYPES,
    Device,
    Rectangle,
    Sites,
    anchor_of,
    describe,
    difference,
    union,
)
from floorflow.verify.hardware.interconnect import Floor
from floorflow.verify.hardware.ranges import judge_range, left_out, overlapping, parse_range, sites_of, slrs_of
from floorflow.verify.hardware.routes import Slot
from floorflow.verify.phase_records import PblockRecord
from floorflow.verify.plan_records import OptionsRecord
from floorflow.verify.records import RESOURCE_NAMES, Amounts, add, amounts, excess, limit_of
from floorflow.verify.rules.outcomes import NEAR, Outcomes
from floorflow.verify.rules.ports import check_ports, check_sll_columns, wires_on
from floorflow.verify.rules.routing import check_objective
from floorflow.verify.rules.sums import module_totals
from floorflow.verify.violations import Findings

RECTANGLE_FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}
"""How full a rectangle may be at all."""
HARD_FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
"""How full a hard pblock may be that is not short."""
LARGE_LUT, LARGE_LUT_FILL = 50_000, 0.75
"""The same of LUTs where its module needs more of them than that."""
MOST_OF_SLOT, MOST_OF_FPGA = 0.6, 0.6
"""Shares of a slot's free cells and of an FPGA's planned LUTs beyond which one pblock is constrained otherwise."""


@dataclass(frozen=True, slots=True)
class Block:
    """A pblock as counted: its rectangles and what these hold, what its ranges name, and what its module needs."""

    name: str
    where: str
    entry: PblockRecord
    slot: Slot | None
    areas: Sequence[Rectangle]
    inside: Sites
    sites: Sites
    supply: Amounts
    demand: Amounts

    @property
    def box(self) -> Rectangle:
        """The least rectangle around all of its own."""
        return reduce(Rectangle.around, self.areas)

    @property
    def cells(self) -> int:
        """Columns times rows."""
        return sum((area.right - area.left + 1) * (area.top - area.bottom + 1) for area in self.areas)


@dataclass(frozen=True)
class Rules:
    """How pblocks are judged on one FPGA."""

    board: Board
    options: OptionsRecord
    outcomes: Outcomes
    floors: Mapping[tuple[int, str], Floor]

    @classmethod
    def of(cls, board: Board, options: OptionsRecord, outcomes: Outcomes) -> "Rules":
        """Take the floors of the board's slots."""
        return cls(board, options, outcomes, board.floors)

    @property
    def dies(self) -> int:
        """Number of SLRs."""
        return len(self.board.device.raw["slrs"])

    @property
    def asked(self) -> str:
        """The style that was asked for."""
        return self.options["constraint_style"]

    @property
    def is_hard(self) -> bool:
        """Whether pblocks are sized to be hard: as asked for, else where there are several SLRs."""
        return self.asked == "hard" or (self.asked == "auto" and self.dies > 1)

    def is_whole(self, block: Block) -> bool:
        """Whether a pblock covers all that is free of its slot."""
        floor = self._floor(block)
        return floor is not None and block.cells == floor.free_cells

    def _floor(self, block: Block) -> Floor | None:
        return None if block.slot is None else self.floors.get(_place(block.slot))

    def limit(self, block: Block) -> Amounts:
        """Return the most that a module may need of its pblock, short or not."""
        usual = dict.fromkeys(RESOURCE_NAMES, 1.0) if self.is_whole(block) else RECTANGLE_FILL
        return limit_of(self._given_over(usual), block.supply)

    def lack(self, block: Block, supply: Amounts) -> str:
        """Tell what room a supply lacks for a pblock's module; empty if none."""
        large = {"LUT": LARGE_LUT_FILL} if block.demand["LUT"] > LARGE_LUT else {}
        fill = self._given_over({**HARD_FILL, **large} if self.is_hard else RECTANGLE_FILL)
        over = excess(block.demand, limit_of(fill, supply))
        if over:
            return f"it is too full for a hard pblock: {over}" if self.is_hard else over
        sought, outcomes = self.options["confidence"], self.outcomes
        if sought == "none" or not outcomes.is_known:
            return ""
        judged = [name for name in RESOURCE_NAMES if self.options["fill"][name] is None]
        chance = outcomes.of_module(block.name).chance(supply, judged)
        return "" if chance >= sought - NEAR else f"it holds its module with {chance:.6f}, {sought} is sought"

    def _given_over(self, usual: Mapping[str, float]) -> dict[str, float]:
        given = self.options["fill"]
        return {name: usual[name] if (part := given[name]) is None else part for name in RESOURCE_NAMES}

    def room_around(self, block: Block, others: Sequence[Block]) -> Rectangle | None:
        """Return a rectangle around a pblock, clear of all else, with the room that it lacks; None if there is none."""
        floor = self._floor(block)
        if floor is None or len(block.areas) > 1:
            return None
        taken = [area for other in others if other is not block for area in other.areas]
        for area in floor.around(block.areas[0], taken):
            if not self.lack(block, self.board.device.resources(area)):
                return area
        return None

    def style(self, slot: Slot, blocks: Sequence[Block]) -> str:
        """Return how a slot is constrained; ``blocks`` are all of the FPGA."""
        if self.asked == "auto" and self.dies == 1:
            luts = [block.demand["LUT"] for block in blocks]
            return "none" if max(luts, default=0) > MOST_OF_FPGA * sum(luts) else "soft"
        inside = [block for block in blocks if block.slot is slot]
        if self.asked == "auto":
            place = _place(slot)
            most = MOST_OF_SLOT * self.floors[place].free_cells if place in self.floors else 0
            return "hard" if all(block.cells <= most and not block.entry["short"] for block in inside) else "slr"
        if self.asked == "slr":
            return "slr" if self.dies > 1 else "none"
        return "soft" if self.asked == "hard" and any(map(self.is_whole, inside)) else self.asked


def check_room(rules: Rules, blocks: Sequence[Block], findings: Findings, shared: Collection[str]) -> None:
    """Judge each pblock of an FPGA: its limit, its likelihood, whether it has room, and whether it is rightly short.

    Modules that are ``shared`` stay in windows alike, whatever is free beside one.
    """
    for block in blocks:
        over = excess(block.demand, rules.limit(block))
        if over:
            findings.add("fill-exceeded", block.where, over)
        _check_likelihood(rules, block, findings)
        if rules.is_whole(block):
            if block.entry["short"]:
                findings.add("wrong-short", block.where, "it has all that is free of its slot")
            continue
        lack = rules.lack(block, block.supply)
        if not block.entry["short"]:
            if lack:
                findings.add("pblock-without-room", block.where, f"{lack}, and it is not listed as short")
        elif not lack:
            findings.add("wrong-short", block.where, "it has the room that it should have")
        elif block.name not in shared and (room := rules.room_around(block, blocks)):
            findings.add("wrong-short", block.where, f"{lack}, but {room} is free and has room for it")


def _check_likelihood(rules: Rules, block: Block, findings: Findings) -> None:
    stated, outcomes = block.entry["likelihood"], rules.outcomes
    if not outcomes.is_known:
        if stated is not None and not outcomes.bands:
            findings.add("wrong-likelihood", block.where, f"it is {stated}, but no error of the costs is known")
        return
    if stated is None:
        findings.add("wrong-likelihood", block.where, "it is not stated, though there are bands")
    elif objection := outcomes.of_module(block.name).objection(stated, block.supply):
        findings.add("wrong-likelihood", block.where, objection)


def check_styles(
    phase_where: str, stated: Mapping[str, str], slots: Sequence[Slot], derived: Mapping[str, str], findings: Findings
) -> None:
    """Judge that every slot is said to be constrained as options, pblocks and SLRs give; ``derived`` where known."""
    where, known = f"{phase_where}.constraint_styles", {slot.name for slot in slots}
    for name in sorted({*stated} - known):
        findings.add("slot-unknown", where, f"{name} is no slot")
    for name in sorted(known):
        if name not in stated:
            findings.add("wrong-constraint-style", where, f"{name} has none")
        elif name in derived:
            findings.expect("wrong-constraint-style", f"{where}.{name}", "style", stated[name], derived[name])


def areas_on(fpga: str, areas: Iterable[str]) -> tuple[str, ...]:
    """Return the ranges that concern an FPGA: its own, after its name, and those without one."""
    parted = (area.rpartition("/") for area in areas)
    return tuple(_spelt_out(text) for name, _, text in parted if name in ("", fpga))


def _spelt_out(text: str) -> str:
    """Return a range of one site as one with two corners."""
    return text if ":" in text else f"{text}:{text}"


def check_fixed(phase: PhaseFacts, fpga: str, device: Device, fixed: Mapping[str, str]) -> None:
    """Judge that the pblocks on an FPGA that the options fix hold just the sites that they are told to."""
    held = phase.raw["floorplan"][fpga]["pblocks"]
    for name, area in fixed.items():
        where = f"{phase.where} pblock {name}"
        if name not in phase.modules:
            phase.add("fixed-pblock", where, f"the options fix {area}, and there is no module {name}")
        owner = area.rpartition("/")[0]
        if name not in held or name not in phase.modules:
            if owner == fpga and name in phase.modules:
                phase.add("fixed-pblock", where, f"the options fix {area}, and it is not on {fpga}")
            continue
        span = parse_range(_spelt_out(area.rpartition("/")[2]))
        if span is None or owner not in ("", fpga):
            phase.add("fixed-pblock", where, f"the options fix {area}, which is no range of {fpga}")
            continue
        named = [parse_range(text) for text in held[name]["ranges"]]
        own = sites_of(device, [one for one in named if one is not None])
        wanted, own = (_of_kind(sites, span.kind) for sites in (sites_of(device, [span]), own))
        other = union(difference(wanted, own), difference(own, wanted))
        if other:
            phase.add("fixed-pblock", where, f"the options fix {area}; it differs in {describe(other)}")


def _of_kind(sites: Sites, kind: str) -> Sites:
    """Return the sites of a type, or all that pblocks hold of a clock region's."""
    every = kind == "CLOCKREGION"
    return {key: mask for key, mask in sites.items() if (key[0] not in FREE_SITE_TYPES if every else key[0] == kind)}


def check_floorplan(phase: PhaseFacts, boards: Boards, options: OptionsRecord, outcomes: Outcomes) -> None:
    """Check the pblocks of every FPGA of a phase, and how its slots are constrained."""
    _check_membership(phase)
    styles: dict[str, str] = {}
    for fpga in phase.fpgas:
        if fpga not in phase.raw["floorplan"]:
            phase.add("floorplan-missing", f"{phase.where}.floorplan", f"{fpga} has no entry")
    for fpga, floorplan in phase.raw["floorplan"].items():
        if fpga not in boards:
            phase.add("platform-mismatch", f"{phase.where}.floorplan", f"{fpga} is no FPGA with readable files")
            continue
        board = boards[fpga]
        placed = list(_counted(phase, board.device, floorplan["pblocks"]))
        for block in placed:
            _check_each(phase, board, block)
        rules, blocks = Rules.of(board, options, outcomes), [one for one in placed if one.name in phase.modules]
        shared = {module["name"] for module in phase.raw["modules"] if module["reused"]}
        check_room(rules, blocks, phase.findings, shared)
        here = [slot for slot in phase.slots.values() if slot.fpga == fpga]
        styles |= {slot.name: rules.style(slot, blocks) for slot in here}
        for first, second, both in overlapping(placed):
            phase.add("pblock-overlap", first.where, f"overlaps {second.name}; they share {describe(both)}")
        check_fixed(phase, fpga, board.device, options.get("fix_pblock", {}))
        boxes = {block.name: block.box for block in placed}
        wires = list(wires_on(phase, board, fpga, boxes))
        check_objective(phase, board, fpga, wires=wires, options=options)
        check_ports(phase, board, fpga, boxes)
        check_sll_columns(phase, board, fpga)
    check_styles(phase.where, phase.raw["constraint_styles"], list(phase.slots.values()), styles, phase.findings)


def _areas(device: Device, entry: PblockRecord, where: str, findings: Findings) -> list[Rectangle]:
    areas = list(map(Rectangle.of, entry["rectangles"]))
    if not areas:
        findings.add("pblock-rectangles", where, "it has no rectangle")
    for first, second in combinations(areas, 2):
        if first.overlaps(second):
            findings.add("pblock-rectangles", where, f"{first} overlaps {second}")
    outside = [area for area in areas if not device.contains(area)]
    for area in outside:
        findings.add("rectangle-outside-device", where, f"{area}")
    return [] if outside else areas


def _check_membership(phase: PhaseFacts) -> None:
    homes: dict[str, list[str]] = {}
    for fpga, floorplan in phase.raw["floorplan"].items():
        for name, entry in floorplan["pblocks"].items():
            homes.setdefault(name, []).append(fpga)
            where = f"{phase.where} pblock {name}"
            slot = phase.slots.get(entry["slot"])
            assigned = phase.raw["partition"]["assignment"].get(name)
            if name not in phase.modules:
                phase.add("module-unknown", where, "the pblock belongs to no module")
            if slot is None or slot.fpga != fpga or entry["slot"] != assigned:
                phase.add("slr-mismatch", where, f"slot {entry['slot']} on {fpga}, the module is in {assigned}")
    for name in phase.modules:
        if name not in homes:
            phase.add("pblock-missing", phase.where, f"module {name} has no pblock")
        elif len(homes[name]) > 1:
            phase.add("pblock-repeated", phase.where, f"module {name} has pblocks on {homes[name]}")


def _check_ranges(device: Device, ranges: list[str], where: str, findings: Findings) -> Sites:
    """Check each range and return all sites that they name."""
    named: Sites = {}
    for text in ranges:
        answer = judge_range(device, text)
        if answer.fault is not None:
            findings.add(answer.fault[0], where, answer.fault[1])
        named = union(named, answer.sites)
    return named


def _counted(phase: PhaseFacts, device: Device, pblocks: Mapping[str, PblockRecord]) -> Iterator[Block]:
    """Yield the pblocks that lie on the die, after judging their rectangles and ranges."""
    totals = module_totals(phase)
    for name, entry in pblocks.items():
        where = f"{phase.where} pblock {name}"
        areas = _areas(device, entry, where, phase.findings)
        if areas:
            sites = _check_ranges(device, entry["ranges"], where, phase.findings)
            inside, supply = reduce(union, map(device.sites, areas)), reduce(add, map(device.resources, areas))
            demand = totals.get(name, amounts(entry["demand"]))
            yield Block(name, where, entry, phase.slots.get(entry["slot"]), areas, inside, sites, supply, demand)


def _place(slot: Slot) -> tuple[int, str]:
    return slot.slr, slot.entry["half"]


def _check_each(phase: PhaseFacts, board: Board, block: Block) -> None:
    lacking = left_out(block.inside, block.sites)
    for kind in lacking.kinds:
        phase.findings.add("site-type-unconstrained", block.where, f"its rectangles hold {kind}, no range does")
    if lacking.some:
        phase.findings.add("range-mismatch", block.where, f"ranges leave out {describe(lacking.some)}")
    extra = difference(block.sites, block.inside)
    if extra:
        phase.findings.add("range-mismatch", block.where, f"ranges add {describe(extra)}")
    phase.findings.expect("wrong-anchor", block.where, "anchor", block.entry["anchor"], anchor_of(block.inside))
    if f"pblock_{block.name}" in board.shell_pblocks:
        phase.add("pblock-parent", block.where, "its name in Vivado is that of a pblock of the shell")
    touched, _ = board.keep_out.touched(block)
    if touched:
        phase.add("shell-touched", block.where, f"holds {touched} that must stay free")
    if block.slot is not None and block.slot.slr < len(board.device.raw["slrs"]):  # else the platform is at fault
        slrs = slrs_of(board.device, block)
        if slrs != [block.slot.slr]:
            phase.add("slr-mismatch", block.where, f"it lies in SLR {slrs}, its slot in {block.slot.slr}")
        home = next((p.area for p in board.places if (p.slr, p.half) == _place(block.slot)), None)
        if home is not None and any(area.bottom < home.bottom or area.top > home.top for area in block.areas):
            phase.add("slr-mismatch", block.where, f"it leaves the {block.slot.entry['half']} half of its SLR")
    phase.expect("wrong-supply", block.where, "supply", amounts(block.entry["supply"]), block.supply)
    phase.expect("wrong-demand", block.where, "demand", amounts(block.entry["demand"]), block.demand)
