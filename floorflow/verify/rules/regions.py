"""The rules for regions: each by itself, all of them together, what stays outside, and what is loaded into them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from floorflow.verify.facts import PhaseFacts, Phases
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.hardware.geometry import Rectangle, Sites, describe, difference, union
from floorflow.verify.hardware.ranges import exists, parse_range, sites_of_range, within_device
from floorflow.verify.plan_records import PlanRecord, ReconfigurableRecord, RegionRecord
from floorflow.verify.records import RESOURCE_NAMES, add, amounts, excess, limit_of
from floorflow.verify.rules.claims import check_stats
from floorflow.verify.rules.region_fabric import Fabric
from floorflow.verify.violations import Findings

DECOUPLER, PORT = "decoupler", "configuration port"
"""What must be among the parts that stay: a decoupler for each region, and what drives the port."""


@dataclass(frozen=True)
class Region:
    """A region with what was counted."""

    raw: RegionRecord
    where: str
    area: Rectangle
    fabric: Fabric

    @cached_property
    def owned(self) -> set[tuple[int, int]]:
        """Columns, by rows of clock regions, that it has."""
        return self.fabric.owned(self.area)

    @cached_property
    def supply(self) -> dict[str, int]:
        """What these hold."""
        return amounts(self.fabric.supply(self.owned, self.area))

    @property
    def stated(self) -> list[Rectangle]:
        """What it is said to own."""
        return [Rectangle.of(entry) for entry in self.raw["owned"]]

    @property
    def sites(self) -> Sites:
        """All sites of what it owns."""
        found: Sites = {}
        height, device = self.fabric.device.region_rows, self.fabric.device
        for column, row in sorted(self.owned):
            bottom, top = max(self.area.bottom, row * height), min(self.area.top, (row + 1) * height - 1)
            found = union(found, device.sites(Rectangle(column, bottom, column, top)))
        return found


def check_regions(plan: PlanRecord, phases: Phases, boards: Boards, findings: Findings) -> None:
    """Judge the regions of a plan, and the phases that are loaded into them; plans without any are left alone."""
    entry = plan.get("reconfigurable")
    if entry is None:
        for phase in phases:
            if phase.raw.get("region") is not None:
                findings.add("region-unknown", phase.where, f"the plan has no region {phase.raw['region']}")
        return
    check_stats(entry["stats"], "reconfigurable.stats", findings)
    regions = list(_readable(entry, boards, findings))
    for region in regions:
        board = boards[region.raw["fpga"]]
        _check_shape(region, board, findings)
        _check_content(region, entry["fill"], findings)
        _check_load(region, board, findings)
    _check_apart(regions, findings)
    _check_static(entry, regions, boards, findings)
    _check_phases(entry, regions, phases, findings)


def _readable(entry: ReconfigurableRecord, boards: Boards, findings: Findings) -> Iterator[Region]:
    """Yield the regions that lie on a die; others are reported."""
    names = [region["name"] for region in entry["regions"]]
    cells = [region["cell"] for region in entry["regions"]]
    for raw in entry["regions"]:
        where = f"region {raw['name']}"
        if names.count(raw["name"]) > 1 or cells.count(raw["cell"]) > 1:
            findings.add("region-repeated", where, f"its name or cell {raw['cell']} is that of another")
        board, area = boards.get(raw["fpga"]), Rectangle.of(raw["rectangle"])
        if board is None or not board.device.contains(area):
            findings.add("region-outside-device", where, f"{area} is not on {raw['fpga']}")
            continue
        yield Region(raw, where, area, Fabric(board.device))


def _check_shape(region: Region, board: Board, findings: Findings) -> None:
    area, device, fabric = region.area, board.device, region.fabric
    slrs = [device.slr_rows(number) for number in range(len(device.raw["slrs"]))]
    if not any(bottom <= area.bottom and area.top <= top for bottom, top in slrs):
        findings.add("region-outside-device", region.where, f"{area} is in no single SLR")
    step = device.region_rows if fabric.is_series_7 else _tallest(region)
    if area.bottom % step or (area.top + 1) % step:
        rule = "region-clock-regions" if fabric.is_series_7 else "region-cuts-tiles"
        findings.add(rule, region.where, f"rows {area.bottom}..{area.top} are not whole multiples of {step}")
    rows = device.regions_in(area)
    left, right = fabric.partners(area.left), fabric.partners(area.right)
    if left.start < area.left or right.stop - 1 > area.right:
        split = area.left if left.start < area.left else area.right
        told = f"column {split} shares interconnect with columns {[*fabric.partners(split)]}"
        findings.add("region-splits-interconnect", region.where, told)
    for column in (area.left, area.right):
        if not fabric.may_edge(column, rows):
            told = f"column {column} or one that shares its interconnect is no logic in all rows"
            findings.add("region-edge-static", region.where, told)
    never = fabric.never(area)
    if never:
        findings.add("region-over-processor", region.where, f"column {never[0][0]}, row of clock regions {never[0][1]}")
    for kept in board.keep_outs:
        if kept.overlaps(area):
            findings.add("region-shell-touched", region.where, f"overlaps {kept} that must stay free")
    if board.host_port.overlaps(area):
        findings.add("region-over-port", region.where, f"overlaps {board.host_port}")


def _tallest(region: Region) -> int:
    device, area = region.fabric.device, region.area
    return max(
        int(device.legend_at(column, row).get("tile_rows") or 1)
        for row in device.regions_in(area)
        for column in range(area.left, area.right + 1)
    )


def _check_content(region: Region, fill: dict[str, float], findings: Findings) -> None:
    device, stated = region.fabric.device, region.stated
    height = device.region_rows
    covered = {
        (column, row)
        for area in stated
        if device.contains(area)
        for row in device.regions_in(area)
        for column in range(area.left, area.right + 1)
    }
    # A gap on 7 series may be said to be owned: none of its sites is named.
    logic = {(column, row) for column, row in covered if region.fabric.owns(column, row)}
    tall = all(area.bottom >= region.area.bottom and area.top <= region.area.top for area in stated)
    whole = all(area.bottom % height == region.area.bottom % height for area in stated)
    twice = any(first.overlaps(second) for first, second in combinations(stated, 2))
    foreign = covered - logic if not region.fabric.is_series_7 else set()
    if logic != region.owned or foreign or twice or not tall or not whole:
        wrong = sorted(logic ^ region.owned) or sorted(foreign)
        findings.add("region-owned", region.where, f"it differs from its rectangle, first at {wrong[:1]}")
    _check_ranges(region, findings)
    findings.expect("region-supply", region.where, "supply", amounts(region.raw["supply"]), region.supply)
    over = excess(amounts(region.raw["need"]), limit_of(fill, region.supply))
    if over:
        findings.add("region-too-full", region.where, over)
    property_ = _property(region)
    if property_:
        findings.add("region-property", region.where, property_)


def _check_ranges(region: Region, findings: Findings) -> None:
    device, named = region.fabric.device, Sites()
    for text in region.raw["ranges"]:
        span = parse_range(text)
        if span is None or not within_device(device, span):
            findings.add("region-ranges", region.where, f"{text} is no range of the die")
            continue
        corners = ((span.left, span.bottom), (span.right, span.top))
        if not all(exists(device, span.kind, x, y) for x, y in corners):
            findings.add("region-ranges", region.where, f"a corner of {text} is a hole")
        named = union(named, sites_of_range(device, span))
    sites = {key: mask for key, mask in region.sites.items() if key[0] != "LAGUNA"}
    for told, other in (("leave out", difference(sites, named)), ("add", difference(named, sites))):
        if other:
            findings.add("region-ranges", region.where, f"they {told} {describe(other)}")


def _property(region: Region) -> str:
    """Return what is wrong with the properties of a region's pblock; empty if nothing."""
    series_7 = region.fabric.is_series_7
    snapping = "ROUTING" if series_7 and region.fabric.has_gap(region.area) else "ON"
    if region.raw["snapping_mode"] != snapping:
        return f"SNAPPING_MODE is {region.raw['snapping_mode']}, expected {snapping}"
    if region.raw["reset_after_reconfig"] != series_7:
        return f"RESET_AFTER_RECONFIG is {region.raw['reset_after_reconfig']}, expected {series_7}"
    return ""


def _check_load(region: Region, board: Board, findings: Findings) -> None:
    fabric, raw = region.fabric, region.raw
    findings.expect("region-frames", region.where, "frames", raw["frames"], fabric.frames(region.area))
    size = fabric.bitstream_bytes(region.area)
    findings.expect("region-frames", region.where, "bitstream_bytes", raw["bitstream_bytes"], size)
    if raw["assumed"] == fabric.is_series_7:
        findings.add("region-frames", region.where, f"assumed is {raw['assumed']}, but only 7 series is documented")
    stated = board.raw.get("reconfiguration")
    if stated is None or stated["kind"] != "partial" or not stated.get("bytes"):
        findings.add("region-load-time", region.where, f"the file of {board.raw['name']} has no rate for a part of it")
        return
    whole_us, offset_us = stated.get("us_per_area"), stated.get("offset_us")
    expected = size / stated["bytes"] * (stated["ms"] * 1e3 if whole_us is None else whole_us) + (offset_us or 0.0)
    findings.expect("region-load-time", region.where, "load_us", raw["load_us"], expected)


def _check_apart(regions: Sequence[Region], findings: Findings) -> None:
    for first, second in combinations(regions, 2):
        if first.raw["fpga"] != second.raw["fpga"]:
            continue
        device = first.fabric.device
        across = range(max(first.area.left, second.area.left), min(first.area.right, second.area.right) + 1)
        rows = set(device.regions_in(first.area)) & set(device.regions_in(second.area))
        if first.area.overlaps(second.area):
            findings.add("region-overlap", first.where, f"overlaps region {second.raw['name']}")
        elif across and rows:
            told = f"shares column {across[0]} of a row of clock regions with region {second.raw['name']}"
            findings.add("region-shares-frames", first.where, told)


def _check_static(entry: ReconfigurableRecord, regions: Sequence[Region], boards: Boards, findings: Findings) -> None:
    where, names = "reconfigurable.static", [part["name"] for part in entry["static"]]
    used = {region.raw["fpga"] for region in regions}
    if len(used) != 1:
        return
    board = boards[used.pop()]
    stated = {part["name"]: amounts(part["resources"]) for part in entry["static"]}
    for item in board.infrastructure:
        needed = {name: item["resources"].get(name, 0) for name in RESOURCE_NAMES}
        if stated.get(item["name"]) != needed:
            findings.add("region-static-missing", where, f"{item['name']} of the board is not there, or other")
    decouplers = sum(name.startswith(DECOUPLER) for name in names)
    if decouplers < len(regions):
        told = f"{decouplers} parts are called {DECOUPLER}, there are {len(regions)} regions"
        findings.add("region-static-missing", where, told)
    if PORT not in names:
        findings.add("region-static-missing", where, f"no part is called {PORT}")
    left = board.device.resources(board.device.whole)
    for kept in board.keep_outs:
        left = _less(left, board.device.resources(kept))
    for region in regions:
        left = _less(left, region.supply)
    findings.expect("region-static-left", "reconfigurable", "static_left", amounts(entry["static_left"]), left)
    need = dict.fromkeys(left, 0)
    for part in entry["static"]:
        need = add(need, amounts(part["resources"]))
    over = excess(need, limit_of(entry["fill"], left))
    if over:
        findings.add("region-static-short", "reconfigurable", over)


def _less(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: amount - second[name] for name, amount in first.items()}


def _check_phases(entry: ReconfigurableRecord, regions: Sequence[Region], phases: Phases, findings: Findings) -> None:
    by_name = {region.raw["name"]: region for region in regions}
    known = {region["name"] for region in entry["regions"]}
    last: dict[str, str] = {}
    for phase in phases:
        name = str(phase.raw.get("region"))
        if name not in known:
            findings.add("region-unknown", phase.where, f"it is loaded into {name}, expected one of {sorted(known)}")
            _check_static_modules(phase, regions)
            continue
        before = last.get(name)
        if phase.raw.get("loads_after") != before:
            told = f"loads_after is {phase.raw.get('loads_after')}, expected {before}"
            findings.add("region-order", phase.where, told)
        last[name] = phase.name
        if name in by_name:
            _check_modules(phase, by_name[name])
    for name in sorted(known - {*last}):
        findings.add("region-unknown", f"region {name}", "no phase is loaded into it")
    for region in regions:
        _check_need(region, phases, findings)


def _check_modules(phase: PhaseFacts, region: Region) -> None:
    """Judge that every pblock of a phase lies on what its region owns."""
    device = region.fabric.device
    for name, area, fpga in _pblocks(phase):
        where = f"{phase.where} pblock {name}"
        if fpga != region.raw["fpga"] or not device.contains(area):
            phase.add("region-module-outside", where, f"it is on {fpga}, its region on {region.raw['fpga']}")
            continue
        tall = region.area.bottom <= area.bottom and area.top <= region.area.top
        logic = {
            (column, row)
            for row in device.regions_in(area)
            for column in range(area.left, area.right + 1)
            if device.legend_at(column, row).get("tile_rows")
        }
        outside = sorted(logic - region.owned)
        if outside or not tall:
            told = (
                f"column {outside[0][0]} is not the region's" if outside else f"rows {area.bottom}..{area.top} leave it"
            )
            phase.add("region-module-outside", where, told)


def _check_static_modules(phase: PhaseFacts, regions: Sequence[Region]) -> None:
    for name, area, fpga in _pblocks(phase):
        for region in regions:
            if fpga == region.raw["fpga"] and area.overlaps(region.area):
                told = f"overlaps region {region.raw['name']}"
                phase.add("region-module-static", f"{phase.where} pblock {name}", told)


def _pblocks(phase: PhaseFacts) -> Iterator[tuple[str, Rectangle, str]]:
    for fpga, floorplan in phase.raw["floorplan"].items():
        for name, entry in floorplan["pblocks"].items():
            for area in entry["rectangles"]:
                yield name, Rectangle.of(area), fpga


def _check_need(region: Region, phases: Phases, findings: Findings) -> None:
    """Judge that a region's need is the most of each resource that the modules of a phase in it need together."""
    most = dict.fromkeys(amounts(region.raw["need"]), 0)
    for phase in phases:
        if phase.raw.get("region") != region.raw["name"]:
            continue
        needed = dict.fromkeys(most, 0)
        for module in phase.raw["modules"]:
            needed = add(needed, amounts(module["resources"]))
        most = {name: max(amount, needed[name]) for name, amount in most.items()}
    findings.expect("region-need", region.where, "need", amounts(region.raw["need"]), most)
