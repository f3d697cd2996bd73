"""The floorplan of a phase: rectangles, ranges, supply, overlap, shell, and areas that the options state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.hardware.boards import Board
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
from floorflow.verify.hardware.ranges import (
    judge_range,
    left_out,
    overlapping,
    parse_range,
    sites_of,
    slrs_of,
)
from floorflow.verify.hardware.routes import Slot
from floorflow.verify.records import Amounts, Record, add, amounts
from floorflow.verify.rules.outcomes import Outcomes
from floorflow.verify.rules.ports import check_ports, check_sll_columns, wires_on
from floorflow.verify.rules.room import Block, Rules, check_room, check_styles
from floorflow.verify.rules.routing import check_objective
from floorflow.verify.rules.sums import module_totals
from floorflow.verify.violations import Findings


def areas_on(fpga: str, areas: Iterable[str]) -> tuple[str, ...]:
    """Return the ranges that concern an FPGA: its own, after its name, and those without one."""
    parted = (area.rpartition("/") for area in areas)
    return tuple(_spelt_out(text) for name, _, text in parted if name in ("", fpga))


def _spelt_out(text: str) -> str:
    """Return a range of one site as one with two corners."""
    return text if ":" in text else f"{text}:{text}"


def check_fixed(phase: PhaseFacts, fpga: str, device: Device, fixed: Mapping[str, str], findings: Findings) -> None:
    """Judge that the pblocks on an FPGA that the options fix hold just the sites that they are told to."""
    held = phase.raw["floorplan"][fpga]["pblocks"]
    for name, area in fixed.items():
        where = f"{phase.where} pblock {name}"
        if name not in phase.modules:
            findings.add("fixed-pblock", where, f"the options fix {area}, and there is no module {name}")
        owner = area.rpartition("/")[0]
        if name not in held or name not in phase.modules:
            if owner == fpga and name in phase.modules:
                findings.add("fixed-pblock", where, f"the options fix {area}, and it is not on {fpga}")
            continue
        span = parse_range(_spelt_out(area.rpartition("/")[2]))
        if span is None or owner not in ("", fpga):
            findings.add("fixed-pblock", where, f"the options fix {area}, which is no range of {fpga}")
            continue
        named = [parse_range(text) for text in held[name]["ranges"]]
        own = sites_of(device, [one for one in named if one is not None])
        wanted, own = (_of_kind(sites, span.kind) for sites in (sites_of(device, [span]), own))
        other = union(difference(wanted, own), difference(own, wanted))
        if other:
            findings.add("fixed-pblock", where, f"the options fix {area}; it differs in {describe(other)}")


def _of_kind(sites: Sites, kind: str) -> Sites:
    """Return the sites of a type, or all that pblocks hold of a clock region's."""
    every = kind == "CLOCKREGION"
    return {key: mask for key, mask in sites.items() if (key[0] not in FREE_SITE_TYPES if every else key[0] == kind)}


@dataclass(frozen=True, slots=True)
class Placed:
    """One pblock: what its rectangles hold and what its ranges name."""

    name: str
    where: str
    entry: Record
    areas: list[Rectangle]
    inside: Sites
    named: Sites

    @property
    def sites(self) -> Sites:
        """What its ranges name."""
        return self.named

    @property
    def box(self) -> Rectangle:
        """The least rectangle around all of its own."""
        return reduce(Rectangle.around, self.areas)

    def supply(self, device: Device) -> Amounts:
        """Count what its rectangles hold, each by itself."""
        return reduce(add, map(device.resources, self.areas))


def check_floorplan(
    phase: PhaseFacts, boards: Mapping[str, Board], options: Record, outcomes: Outcomes, findings: Findings
) -> None:
    """Check the pblocks of every FPGA of a phase, and how its slots are constrained."""
    _check_membership(phase, findings)
    styles: dict[str, str] = {}
    for fpga in phase.fpgas:
        if fpga not in phase.raw["floorplan"]:
            findings.add("floorplan-missing", f"{phase.where}.floorplan", f"{fpga} has no entry")
    for fpga, floorplan in phase.raw["floorplan"].items():
        if fpga not in boards:
            findings.add("platform-mismatch", f"{phase.where}.floorplan", f"{fpga} is no FPGA with readable files")
            continue
        board = boards[fpga]
        placed = []
        for name, entry in floorplan["pblocks"].items():
            where = f"{phase.where} pblock {name}"
            areas = _areas(board.device, entry, where, findings)
            if areas:
                named = _check_ranges(board.device, entry["ranges"], where, findings)
                inside = reduce(union, map(board.device.sites, areas))
                placed.append(Placed(name, where, entry, areas, inside, named))
        rules, blocks = Rules.of(board, options, outcomes), _check_each(phase, board, placed, findings)
        check_room(rules, blocks, findings)
        here = [slot for slot in phase.slots.values() if slot.fpga == fpga]
        styles |= {slot.name: rules.style(slot, blocks) for slot in here}
        _check_overlaps(placed, findings)
        check_fixed(phase, fpga, board.device, options.get("fix_pblock", {}), findings)
        boxes = {block.name: block.box for block in placed}
        wires = list(wires_on(phase, board, fpga, boxes))
        check_objective(phase, board, fpga, wires=wires, options=options, findings=findings)
        check_ports(phase, board, fpga, boxes, findings)
        check_sll_columns(phase, board, fpga, findings)
    check_styles(phase.where, phase.raw["constraint_styles"], list(phase.slots.values()), styles, findings)


def _areas(device: Device, entry: Record, where: str, findings: Findings) -> list[Rectangle]:
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


def _check_membership(phase: PhaseFacts, findings: Findings) -> None:
    homes: dict[str, list[str]] = {}
    for fpga, floorplan in phase.raw["floorplan"].items():
        for name, entry in floorplan["pblocks"].items():
            homes.setdefault(name, []).append(fpga)
            where = f"{phase.where} pblock {name}"
            slot = phase.slots.get(entry["slot"])
            assigned = phase.raw["partition"]["assignment"].get(name)
            if name not in phase.modules:
                findings.add("module-unknown", where, "the pblock belongs to no module")
            if slot is None or slot.fpga != fpga or entry["slot"] != assigned:
                findings.add("slr-mismatch", where, f"slot {entry['slot']} on {fpga}, the module is in {assigned}")
    for name in phase.modules:
        if name not in homes:
            findings.add("pblock-missing", phase.where, f"module {name} has no pblock")
        elif len(homes[name]) > 1:
            findings.add("pblock-repeated", phase.where, f"module {name} has pblocks on {homes[name]}")


def _check_ranges(device: Device, ranges: list[str], where: str, findings: Findings) -> Sites:
    """Check each range and return all sites that they name."""
    named: Sites = {}
    for text in ranges:
        answer = judge_range(device, text)
        if answer.fault is not None:
            findings.add(answer.fault[0], where, answer.fault[1])
        named = union(named, answer.sites)
    return named


def _check_each(phase: PhaseFacts, board: Board, placed: list[Placed], findings: Findings) -> list[Block]:
    """Judge each pblock by itself; return what was counted of those that belong to a module."""
    totals, blocks = module_totals(phase), []
    for block in placed:
        _check_sites(block, findings)
        if f"pblock_{block.name}" in board.shell_pblocks:
            findings.add("pblock-parent", block.where, "its name in Vivado is that of a pblock of the shell")
        touched, _ = board.keep_out.touched(block)
        if touched:
            findings.add("shell-touched", block.where, f"holds {touched} that must stay free")
        slot = phase.slots.get(block.entry["slot"])
        if slot is not None:
            _check_slr(block, slot, board.device, findings)
        supply = block.supply(board.device)
        findings.expect("wrong-supply", block.where, "supply", amounts(block.entry["supply"]), supply)
        demand = totals.get(block.name, amounts(block.entry["demand"]))
        findings.expect("wrong-demand", block.where, "demand", amounts(block.entry["demand"]), demand)
        if block.name in phase.modules:
            blocks.append(Block(block.name, block.where, block.entry, slot, block.areas, supply, demand))
    return blocks


def _check_slr(block: Placed, slot: Slot, device: Device, findings: Findings) -> None:
    if slot.slr >= len(device.raw["slrs"]):
        return  # reported where the platform is checked
    slrs = slrs_of(device, block)
    if slrs != [slot.slr]:
        findings.add("slr-mismatch", block.where, f"it lies in SLR {slrs}, its slot in {slot.slr}")


def _check_sites(block: Placed, findings: Findings) -> None:
    lacking = left_out(block.inside, block.named)
    for kind in lacking.kinds:
        findings.add("site-type-unconstrained", block.where, f"its rectangles hold {kind}, no range does")
    if lacking.some:
        findings.add("range-mismatch", block.where, f"ranges leave out {describe(lacking.some)}")
    extra = difference(block.named, block.inside)
    if extra:
        findings.add("range-mismatch", block.where, f"ranges add {describe(extra)}")
    findings.expect("wrong-anchor", block.where, "anchor", block.entry["anchor"], anchor_of(block.inside))


def _check_overlaps(placed: list[Placed], findings: Findings) -> None:
    for first, second, both in overlapping(placed):
        findings.add("pblock-overlap", first.where, f"overlaps {second.name}; they share {describe(both)}")
