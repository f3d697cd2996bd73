"""Planted mistakes in pblocks: rectangles, ranges, supply, demand."""

from __future__ import annotations

import math

from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.hardware.ranges import SiteRange, clock_region_rectangle
from tests.verify.dies import ranges_of
from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    area_of,
    board_of,
    charge,
    die,
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


@mutant("range-mismatch")
def range_one_column_short(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    sites = die(plan, files).sites(area_of(entry))
    rightmost = max(x for kind, x in sites if kind == "SLICE")
    others = {key: mask for key, mask in sites.items() if key != ("SLICE", rightmost)}
    name_ranges(plan, files, name, ranges_of(others))


@mutant("range-malformed")
def range_turned_over(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    turned = [":".join(reversed(text.split(":"))) for text in entry["ranges"][:1]]
    name_ranges(plan, files, name, [*turned, *entry["ranges"][1:]])


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


@mutant("shell-touched", TWO_SLRS)
def pblock_on_the_shell(plan: Plan, files: Files) -> None:
    static = board_of(plan, files).get("shell", {}).get("static", {})
    text = first(text for ranges in static.values() for text in ranges if text.startswith("CLOCKREGION"))
    x, y = text.split(":")[0].split("_X")[1].split("Y")
    corner = SiteRange("CLOCKREGION", int(x), int(y), int(x), int(y))
    place(plan, files, first(pblocks(plan)), clock_region_rectangle(die(plan, files), corner))


@mutant("slr-mismatch", TWO_SLRS)
def slot_changed_in_the_pblock_only(plan: Plan, files: Files) -> None:
    entry = first(pblocks(plan).values())
    slots = [slot["name"] for slot in plan["platform"]["fpgas"][0]["slots"]]
    entry["slot"] = first(slot for slot in slots if slot != entry["slot"])


@mutant("slr-mismatch", TWO_SLRS)
def slr_changed_in_the_plan_but_not_in_the_constraints(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    slots = [slot["name"] for slot in plan["platform"]["fpgas"][0]["slots"]]
    entry["slot"] = first(slot for slot in slots if slot != entry["slot"])
    phase_of(plan)["partition"]["assignment"][name] = entry["slot"]


@mutant("fill-exceeded")
def fill_exceeded_by_one(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    limit = math.floor(0.85 * entry["supply"]["LUT"] + 1e-9)
    charge(plan, name, "LUT", limit + 1 - entry["demand"]["LUT"])


@mutant("wrong-supply")
def supply_overstated(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["supply"]["DSP"] += 2


@mutant("wrong-demand")
def demand_understated(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["demand"]["LUT"] -= 1


@mutant("wrong-anchor")
def anchor_elsewhere(plan: Plan, files: Files) -> None:
    entry = first(pblocks(plan).values())
    x, y = entry["anchor"].removeprefix("SLICE_X").split("Y")
    entry["anchor"] = f"SLICE_X{int(x) + 1}Y{y}"


@mutant("pblock-missing")
def module_without_pblock(plan: Plan, files: Files) -> None:
    blocks = pblocks(plan)
    del blocks[first(blocks)]


@mutant("wrong-hpwl")
def wire_length_understated(plan: Plan, files: Files) -> None:
    first(phase_of(plan)["floorplan"].values())["hpwl"] -= 1


def floorplan_of(plan: Plan) -> Plan:
    return first(phase_of(plan)["floorplan"].values())


@mutant("wrong-weights")
def weight_that_nobody_asked_for(plan: Plan, files: Files) -> None:
    entry = floorplan_of(plan)
    entry["weights"] = {**entry["weights"], "reach": entry["weights"]["reach"] + 1}


@mutant("wrong-terms")
def late_stream_hushed_up(plan: Plan, files: Files) -> None:
    terms = floorplan_of(plan)["terms"]
    terms["reach"] = terms["reach"] + 512


@mutant("wrong-terms")
def congestion_made_up(plan: Plan, files: Files) -> None:
    floorplan_of(plan)["terms"]["congestion"] += 10


@mutant("wrong-objective")
def objective_without_its_reach(plan: Plan, files: Files) -> None:
    entry = floorplan_of(plan)
    entry["stats"]["objective"] -= 1
    entry["stats"]["bound"] = min(entry["stats"]["bound"], entry["stats"]["objective"])
    entry["stats"]["status"] = "feasible"


@mutant("wrong-routing-map")
def peak_elsewhere(plan: Plan, files: Files) -> None:
    found = floorplan_of(plan)["congestion"]
    rows = [[int(number) for number in row.split()] for row in found["demand"]]
    column, row = min(
        ((x, y) for y, numbers in enumerate(rows) for x in range(len(numbers))), key=lambda at: rows[at[1]][at[0]]
    )
    found["peak_at"] = {"left": 15 * column, "bottom": 15 * row, "right": 15 * column + 14, "top": 15 * row + 14}


@mutant("wrong-routing-map")
def bin_relieved(plan: Plan, files: Files) -> None:
    demand = floorplan_of(plan)["congestion"]["demand"]
    number = max(range(len(demand)), key=lambda row: max(map(int, demand[row].split())))
    bins = demand[number].split()
    fullest = max(range(len(bins)), key=lambda column: int(bins[column]))
    demand[number] = " ".join([*bins[:fullest], str(int(bins[fullest]) - 2), *bins[fullest + 1 :]])


@mutant("wrong-routing-map")
def peak_understated(plan: Plan, files: Files) -> None:
    floorplan_of(plan)["congestion"]["peak"] -= 1


@mutant("wrong-routing-map")
def capacity_overstated(plan: Plan, files: Files) -> None:
    floorplan_of(plan)["congestion"]["capacity"] *= 2


@mutant("wrong-routing-map")
def map_without_its_upper_rows(plan: Plan, files: Files) -> None:
    floorplan_of(plan)["congestion"]["demand"].pop()
