"""Mistakes in reconfigurable regions, each with the finding that tells of it; not every plan has what to make it in."""

from tests.verify.planting import Files, NotApplicable, Plan, Registry

REGIONS = Registry()
plants = REGIONS.mutant


def first(plan: Plan) -> Plan:
    region: Plan = plan["reconfigurable"]["regions"][0]
    return region


def two(plan: Plan) -> tuple[Plan, Plan]:
    regions = plan["reconfigurable"]["regions"]
    if len(regions) < 2:
        raise NotApplicable
    return regions[0], regions[1]


def series_7(plan: Plan, wanted: bool = True) -> None:
    if first(plan)["reset_after_reconfig"] != wanted:
        raise NotApplicable


@plants("region-edge-static")
def an_edge_lies_in_the_clock_column(plan: Plan, files: Files) -> None:
    series_7(plan)
    if not first(plan)["rectangle"]["left"] < 33 < first(plan)["rectangle"]["right"]:
        raise NotApplicable
    first(plan)["rectangle"]["right"] = 33


@plants("region-edge-static")
def an_edge_lies_in_an_io_column(plan: Plan, files: Files) -> None:
    series_7(plan, wanted=False)
    if not first(plan)["rectangle"]["left"] < 123 < first(plan)["rectangle"]["right"]:
        raise NotApplicable
    first(plan)["rectangle"]["right"] = 124


@plants("region-over-port")
def the_ports_column_is_inside(plan: Plan, files: Files) -> None:
    first(plan)["rectangle"]["left"] = 16 if first(plan)["reset_after_reconfig"] else 84
    first(plan)["rectangle"]["bottom"], first(plan)["rectangle"]["top"] = 0, first(plan)["rectangle"]["top"] + 0
    if first(plan)["reset_after_reconfig"]:
        first(plan)["rectangle"]["top"] = 149


@plants("region-shares-frames")
def two_regions_are_stacked_in_a_clock_region(plan: Plan, files: Files) -> None:
    one, other = two(plan)
    middle = one["rectangle"]["bottom"] + 30
    other["rectangle"] = {**one["rectangle"], "bottom": middle, "top": one["rectangle"]["bottom"] + 49}
    one["rectangle"] = {**one["rectangle"], "top": middle - 1}


@plants("region-module-outside")
def a_module_lies_over_the_gap_of_its_region(plan: Plan, files: Files) -> None:
    if first(plan)["reset_after_reconfig"] or len(first(plan)["owned"]) < 2:
        raise NotApplicable
    plan["phases"][0]["floorplan"]["fpga0"]["pblocks"]["m0"]["rectangles"] = [dict(first(plan)["rectangle"])]
