"""Mistakes in floorplans, ports and room that are no row of the table, and what rows need for theirs."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import yaml

from floorflow.verify.facts import stream_wires
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.hardware.ranges import SiteRange, clock_region_rectangle
from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    area_of,
    board_of,
    charge,
    constraint_files,
    die,
    edit_lines,
    first,
    mutant,
    name_ranges,
    pblocks,
    phase_of,
    place,
)


@mutant("pblock-overlap")
def overlap_by_one_column(plan: Plan, files: Files) -> None:
    blocks = pblocks(plan)
    if len(blocks) < 2:
        raise NotApplicable
    moved, fixed = first(blocks), area_of(list(blocks.values())[1])
    last = die(plan, files).columns - 1
    width = area_of(blocks[moved]).right - area_of(blocks[moved]).left
    place(plan, files, moved, Rectangle(fixed.right, fixed.bottom, min(last, fixed.right + width), fixed.top))


@mutant("rectangle-outside-device")
def rectangle_off_the_device(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["rectangles"][0]["right"] = die(plan, files).columns


@mutant("range-outside-device")
def site_off_the_device(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    columns = len(die(plan, files).raw["site_columns"]["SLICE"])
    last = max(int(text.split("Y")[-1]) for text in entry["ranges"] if text.startswith("SLICE"))
    extra = f"SLICE_X{columns - 1}Y{last}:SLICE_X{columns}Y{last}"
    name_ranges(plan, files, name, [*entry["ranges"], extra])


@mutant("site-type-unconstrained")
def site_type_left_out(plan: Plan, files: Files) -> None:
    name, ranges = first(
        (name, entry["ranges"])
        for name, entry in pblocks(plan).items()
        if any(text.startswith("RAMB18") for text in entry["ranges"])
    )
    name_ranges(plan, files, name, [text for text in ranges if not text.startswith("RAMB18")])


@mutant("range-corner-missing", TWO_SLRS)
def corner_in_a_laguna_hole(plan: Plan, files: Files) -> None:
    device = die(plan, files)
    name, entry = first(pblocks(plan).items())
    height = device.region_rows - 1
    hole, y = first(
        (x, region * device.region_rows)
        for region in range(len(device.raw["clock_region_layouts"]))
        for x, column in enumerate(device.raw["site_columns"]["SLICE"])
        if device.legend_at(column, region)["kind"] != "clb"
    )
    name_ranges(plan, files, name, [*entry["ranges"], f"SLICE_X{hole}Y{y}:SLICE_X{hole + 1}Y{y + height}"])


def floorplan_of(plan: Plan) -> Plan:
    return first(phase_of(plan)["floorplan"].values())


@mutant("wrong-routing-map")
def peak_elsewhere(plan: Plan, files: Files) -> None:
    found = floorplan_of(plan)["congestion"]
    rows = [[int(number) for number in row.split()] for row in found["demand"]]
    column, row = min(
        ((x, y) for y, numbers in enumerate(rows) for x in range(len(numbers))), key=lambda at: rows[at[1]][at[0]]
    )
    found["peak_at"] = {"left": 15 * column, "bottom": 15 * row, "right": 15 * column + 14, "top": 15 * row + 14}


FULL, FULLER = 0.84, 0.95
"""LUTs at which no module is likely enough to fit, and BRAM18 at which no pblock may be hard."""
SOUGHT = 0.99


def slots_of(plan: Plan) -> list[str]:
    return [slot["name"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]]


def fill_up(plan: Plan, share: float, resource: str) -> Plan:
    """Let the first module need a share of what its pblock holds; return the pblock."""
    name, entry = first((name, entry) for name, entry in pblocks(plan).items() if entry["supply"][resource])
    charge(plan, name, resource, max(0, math.floor(share * entry["supply"][resource]) - entry["demand"][resource]))
    return entry


@mutant("wrong-short", TWO_SLRS)
def short_pblock_in_a_slot_with_room(plan: Plan, files: Files) -> None:
    if len(plan["platform"]["fpgas"][0]["slots"]) == 1:
        raise NotApplicable  # a slot that all modules share may have none
    plan["options"]["confidence"] = SOUGHT
    name, entry = min(pblocks(plan).items(), key=lambda item: item[1]["supply"]["LUT"])
    charge(plan, name, "LUT", max(0, math.floor(FULL * entry["supply"]["LUT"]) - entry["demand"]["LUT"]))
    entry["short"] = True


@mutant("finn-slr-differs", TWO_SLRS)
def dies_for_finn_although_nothing_is_constrained(plan: Plan, files: Files) -> None:
    if all(len(fpga["slots"]) == 1 for fpga in plan["platform"]["fpgas"]):
        raise NotApplicable
    plan["options"]["constraint_style"] = "none"
    phase_of(plan)["constraint_styles"] = dict.fromkeys(slots_of(plan), "none")


def by_slr_alone(plan: Plan, files: Files) -> None:
    """Make of the plan one that assigns SLRs and makes no pblocks."""
    styles = phase_of(plan)["constraint_styles"]
    if set(styles.values()) != {"hard"} or len(plan["platform"]["fpgas"][0]["slots"]) == 1:
        raise NotApplicable
    plan["options"]["constraint_style"] = "slr"
    phase_of(plan)["constraint_styles"] = dict.fromkeys(styles, "slr")
    slrs = {slot["name"]: slot["slr"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}
    for fpga, floorplan in phase_of(plan)["floorplan"].items():
        slr_of = {f"pblock_{name}": slrs[entry["slot"]] for name, entry in floorplan["pblocks"].items()}
        edit_lines(files, f"{fpga}/pblocks.xdc", lambda lines, slr_of=slr_of: _assigned(lines, slr_of))  # type: ignore[misc]
        edit_lines(files, f"{fpga}/pblocks.tcl", lambda lines, slr_of=slr_of: _called(lines, slr_of))  # type: ignore[misc]


def _assigned(lines: list[str], slr_of: dict[str, str]) -> list[str]:
    added = re.compile(r"add_cells_to_pblock \[get_pblocks \{(\w+)\}\] (\[get_cells .*\])")
    found = filter(None, map(added.fullmatch, lines))
    return [f"set_property USER_SLR_ASSIGNMENT {slr_of[match[1]]} {match[2]}" for match in found]


def _called(lines: list[str], slr_of: dict[str, str]) -> list[str]:
    text = "\n".join(lines).replace("\\\n", " ")
    calls = re.findall(r"floorflow::pblock \{(\w+)\}.*-cells \{(.*)\}", text)
    start = [line for line in lines if line.startswith(("source", "floorflow::begin", "floorflow::ports"))]
    count = sum(len(cells.split()) for _, cells in calls)
    made = [f"floorflow::slr {slr_of[name]} -cells {{{cells}}}" for name, cells in calls]
    compared = sum(line.startswith("floorflow::ports") for line in start)
    ports = f" -ports {compared}" if compared else ""
    return [*start, *made, f"floorflow::end -pblocks 0 -assigned {count}{ports}", ""]


@mutant("wrong-slr", TWO_SLRS)
def cell_of_another_slr(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[0]
    files[name] = re.sub(
        r"USER_SLR_ASSIGNMENT SLR(\d)",
        lambda match: f"USER_SLR_ASSIGNMENT SLR{3 - int(match[1])}",
        files[name],
        count=1,
    )


STEP = 15
"""Rows that no hard block's tile leaves, counted from the bottom of a die."""


def halves(plan: Plan) -> tuple[str, Rectangle, Rectangle]:
    """Return the first pblock of one rectangle that is high enough, and that rectangle's lower and upper part."""
    for name, entry in pblocks(plan).items():
        area = area_of(entry)
        if len(entry["rectangles"]) == 1 and area.top - area.bottom + 1 >= 2 * STEP:
            middle = area.bottom + STEP
            lower = Rectangle(area.left, area.bottom, area.right, middle - 1)
            return name, lower, Rectangle(area.left, middle, area.right, area.top)
    raise NotApplicable


def cut(plan: Plan, files: Files) -> None:
    """Make two rectangles of a pblock's one, which is as legal."""
    name, lower, upper = halves(plan)
    place(plan, files, name, lower, upper)


@mutant("pblock-rectangles")
def rectangles_of_one_pblock_overlap(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    place(plan, files, name, lower, Rectangle(upper.left, upper.bottom - STEP, upper.right, upper.top))


@mutant("slr-mismatch", TWO_SLRS)
def second_rectangle_in_another_slot(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    device = die(plan, files)
    bottom, top = first(
        rows for rows in map(device.slr_rows, range(len(device.raw["slrs"]))) if not rows[0] <= upper.bottom <= rows[1]
    )
    place(plan, files, name, lower, Rectangle(upper.left, bottom, upper.right, top))


@mutant("shell-touched", TWO_SLRS)
def second_rectangle_on_the_shell(plan: Plan, files: Files) -> None:
    static = board_of(plan, files).get("shell", {}).get("static", {})
    text = first(text for ranges in static.values() for text in ranges if text.startswith("CLOCKREGION"))
    x, y = text.split(":")[0].split("_X")[1].split("Y")
    corner = SiteRange("CLOCKREGION", int(x), int(y), int(x), int(y))
    name, entry = first(pblocks(plan).items())
    place(plan, files, name, area_of(entry), clock_region_rectangle(die(plan, files), corner))


@mutant("wrong-supply")
def supply_of_the_box_around_two_rectangles(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    whole = pblocks(plan)[name]["supply"]
    if upper.bottom + STEP > upper.top:
        raise NotApplicable
    place(plan, files, name, lower, Rectangle(upper.left, upper.bottom + STEP, upper.right, upper.top))
    pblocks(plan)[name]["supply"] = whole


@mutant("pblock-overlap")
def second_rectangle_on_another_pblock(plan: Plan, files: Files) -> None:
    blocks = list(pblocks(plan).items())
    if len(blocks) < 2:
        raise NotApplicable
    (name, entry), (_, other) = blocks[:2]
    place(plan, files, name, area_of(entry), area_of(other))


def leave_out_wire(plan: Plan, name: str, port: str) -> None:
    """Give the first FPGA the wire length of a planner that does not see a channel's end at a port."""
    phase, fpga, blocks = phase_of(plan), first(plan["platform"]["fpgas"]), pblocks(plan)
    home = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    floorplan, place = phase["floorplan"][fpga["name"]], fpga[port]
    channel = first(c for c in phase["channels"] if c["name"] == name)
    area = first(
        blocks[m]["rectangles"][0] for m in map(home.get, (channel["source"], channel["target"])) if m in blocks
    )
    across = abs(area["left"] + area["right"] - place["left"] - place["right"])
    along = abs(area["bottom"] + area["top"] - place["bottom"] - place["top"])
    if not across + along:
        raise NotApplicable
    floorplan["hpwl"] -= max(64, stream_wires(channel["width_bits"])) * (across + along) / 2
    floorplan["stats"] |= {"objective": floorplan["hpwl"], "bound": 0.0, "gap": 1.0, "status": "feasible"}


@mutant("platform-malformed")
def port_outside_its_slr(plan: Plan, files: Files) -> None:
    name = f"platform/boards/{first(plan['platform']['fpgas'])['board']}.yaml"
    board = yaml.safe_load(files[name])
    port = board["memories"][0]["port"] if "memories" in board else board["host_port"]
    port["top"] = die(plan, files).rows
    files[name] = yaml.safe_dump(board)


ALONG = {"left": ("bottom", "top"), "right": ("bottom", "top"), "bottom": ("left", "right"), "top": ("left", "right")}


def port_and_box(plan: Plan) -> tuple[Plan, Plan]:
    """Return the first port of the first pblock with any, and the pblock's one rectangle."""
    block = first(b for b in pblocks(plan).values() if b["ports"] and len(b["rectangles"]) == 1)
    return block["ports"][0], block["rectangles"][0]


def crossing_of(plan: Plan) -> Plan:
    entry: Plan = first(e for f in phase_of(plan)["floorplan"].values() for e in f["sll_columns"])
    return entry


@mutant("port-off-fabric")
def port_in_the_corner_that_a_pblock_leaves_out(plan: Plan, files: Files) -> None:
    module, block = first((name, block) for name, block in pblocks(plan).items() if block["ports"])
    area = area_of(block)
    middle = (area.bottom + area.top) // 2
    place(plan, files, module, replace(area, top=middle), replace(area, left=area.right - 2, bottom=middle + 1))
    block["ports"][0].update(side="left", first=area.top, last=area.top)


@mutant("port-overlap")
def two_ports_in_one_place(plan: Plan, files: Files) -> None:
    for block in pblocks(plan).values():
        for one in block["ports"]:
            for other in block["ports"]:
                if one is not other and one["side"] == other["side"]:
                    other["first"], other["last"] = one["first"], one["last"]
                    return
    raise NotApplicable


@mutant("port-turned-away")
def port_on_the_far_side(plan: Plan, files: Files) -> None:
    """Move a port between two pblocks to the side that is opposite to the one that faces the other."""
    blocks = pblocks(plan)
    for name, block in blocks.items():
        for port in block["ports"]:
            for other, there in blocks.items():
                keys = {(p["channel"], p["direction"]) for p in there["ports"]}
                if other != name and (port["channel"], {"in": "out", "out": "in"}[port["direction"]]) in keys:
                    here, beyond = area_of(block), area_of(there)
                    if beyond.left > here.right or beyond.right < here.left:
                        port["side"] = "left" if beyond.left > here.right else "right"
                        return
                    port["side"] = "bottom" if beyond.bottom > here.top else "top"
                    return
    raise NotApplicable


def along(port: Plan, box: Plan, side: str) -> float:
    """Return where a port is along a side: its middle, or its edge if it is on a side across."""
    return (port["first"] + port["last"]) / 2 if ALONG[port["side"]] == ALONG[side] else float(box[port["side"]])


def moves(plan: Plan) -> Iterator[tuple[Plan, int]]:
    """Yield ports with a step on their side that changes the length of their wire: not to the other side of its end."""
    blocks = [block for block in pblocks(plan).values() if len(block["rectangles"]) == 1]
    placed = [(port, block["rectangles"][0]) for block in blocks for port in block["ports"]]
    for (port, box), (other, there), step in product(placed, placed, (1, -1)):
        low, high = (box[name] for name in ALONG[port["side"]])
        off = along(port, box, port["side"]) - along(other, there, port["side"])
        is_inside = low <= port["first"] + step and port["last"] + step <= high
        if other is not port and other["channel"] == port["channel"] and is_inside and abs(off + step) != abs(off):
            yield port, step


@mutant("sll-column-unknown", TWO_SLRS)
def crossing_in_a_column_of_the_shell(plan: Plan, files: Files) -> None:
    entry = crossing_of(plan)
    if not entry["boundary"].endswith("SLR0-fpga0.SLR1"):
        raise NotApplicable
    entry["columns"][0]["column"] = max(die(plan, files).raw["sll"]["columns"])


@mutant("sll-column-overload", TWO_SLRS)
def more_wires_in_a_column_than_it_has(plan: Plan, files: Files) -> None:
    crossing_of(plan)["columns"][0]["wires"] += die(plan, files).raw["sll"]["wires_per_column"]


def sites_of(entry: Plan) -> str:
    """Return the first range of SLICEs of a pblock."""
    return str(first(text for text in entry["ranges"] if text.startswith("SLICE")))
