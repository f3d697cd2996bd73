"""Mistakes in reconfigurable regions, each with the finding that tells of it; not every plan has what to make it in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Plan = dict[str, Any]


class DoesNotApply(Exception):  # noqa: N818 - no error: the plan has nothing to spoil in this way
    """The plan has not what the mistake is made in."""


@dataclass(frozen=True)
class Mutant:
    title: str
    expected: str
    spoil: Callable[[Plan], None]


REGION_MUTANTS: list[Mutant] = []


def plants(expected: str) -> Callable[[Callable[[Plan], None]], Callable[[Plan], None]]:
    def register(spoil: Callable[[Plan], None]) -> Callable[[Plan], None]:
        REGION_MUTANTS.append(Mutant(spoil.__name__.replace("_", " "), expected, spoil))
        return spoil

    return register


def first(plan: Plan) -> Plan:
    region: Plan = plan["reconfigurable"]["regions"][0]
    return region


def two(plan: Plan) -> tuple[Plan, Plan]:
    regions = plan["reconfigurable"]["regions"]
    if len(regions) < 2:
        raise DoesNotApply
    return regions[0], regions[1]


def series_7(plan: Plan, wanted: bool = True) -> None:
    if first(plan)["reset_after_reconfig"] != wanted:
        raise DoesNotApply


@plants("region-unknown")
def a_phase_is_loaded_into_no_region(plan: Plan) -> None:
    plan["phases"][0]["region"] = "nowhere"


@plants("region-unknown")
def a_region_has_no_phase(plan: Plan) -> None:
    name = first(plan)["name"]
    plan["phases"] = [phase for phase in plan["phases"] if phase["region"] != name]


@plants("region-unknown")
def a_plan_without_regions_has_a_phase_in_one(plan: Plan) -> None:
    plan["reconfigurable"] = None


@plants("region-repeated")
def two_regions_are_one_cell(plan: Plan) -> None:
    one, other = two(plan)
    other["cell"] = one["cell"]


@plants("region-outside-device")
def a_region_leaves_the_die(plan: Plan) -> None:
    first(plan)["rectangle"]["top"] += 10_000


@plants("region-outside-device")
def a_region_is_on_no_fpga(plan: Plan) -> None:
    first(plan)["fpga"] = "fpga7"


@plants("region-clock-regions")
def a_region_is_less_high_than_its_clock_region(plan: Plan) -> None:
    series_7(plan)
    first(plan)["rectangle"]["top"] -= 5


@plants("region-cuts-tiles")
def a_region_cuts_a_block_ram_in_two(plan: Plan) -> None:
    series_7(plan, wanted=False)
    first(plan)["rectangle"]["top"] -= 3


@plants("region-splits-interconnect")
def the_left_edge_parts_two_columns(plan: Plan) -> None:
    first(plan)["rectangle"]["left"] += 1


@plants("region-splits-interconnect")
def the_right_edge_parts_two_columns(plan: Plan) -> None:
    first(plan)["rectangle"]["right"] -= 1


@plants("region-edge-static")
def an_edge_lies_in_the_clock_column(plan: Plan) -> None:
    series_7(plan)
    if not first(plan)["rectangle"]["left"] < 33 < first(plan)["rectangle"]["right"]:
        raise DoesNotApply
    first(plan)["rectangle"]["right"] = 33


@plants("region-edge-static")
def an_edge_lies_in_an_io_column(plan: Plan) -> None:
    series_7(plan, wanted=False)
    if not first(plan)["rectangle"]["left"] < 123 < first(plan)["rectangle"]["right"]:
        raise DoesNotApply
    first(plan)["rectangle"]["right"] = 124


@plants("region-over-processor")
def the_processor_is_inside(plan: Plan) -> None:
    area = first(plan)["rectangle"]
    series = first(plan)["reset_after_reconfig"]
    area["left"], area["top"] = (2, 149) if series else (88 - 82, 359)
    area["bottom"] = 0


@plants("region-over-port")
def the_ports_column_is_inside(plan: Plan) -> None:
    first(plan)["rectangle"]["left"] = 16 if first(plan)["reset_after_reconfig"] else 84
    first(plan)["rectangle"]["bottom"], first(plan)["rectangle"]["top"] = 0, first(plan)["rectangle"]["top"] + 0
    if first(plan)["reset_after_reconfig"]:
        first(plan)["rectangle"]["top"] = 149


@plants("region-overlap")
def one_region_lies_on_another(plan: Plan) -> None:
    one, other = two(plan)
    other["rectangle"] = dict(one["rectangle"])


@plants("region-shares-frames")
def two_regions_are_stacked_in_a_clock_region(plan: Plan) -> None:
    one, other = two(plan)
    middle = one["rectangle"]["bottom"] + 30
    other["rectangle"] = {**one["rectangle"], "bottom": middle, "top": one["rectangle"]["bottom"] + 49}
    one["rectangle"] = {**one["rectangle"], "top": middle - 1}


@plants("region-owned")
def a_region_owns_a_column_less(plan: Plan) -> None:
    first(plan)["owned"][0]["left"] += 1


@plants("region-owned")
def a_region_owns_what_is_outside_of_it(plan: Plan) -> None:
    first(plan)["owned"][-1]["right"] = first(plan)["rectangle"]["right"] + 2


@plants("region-ranges")
def no_range_of_block_ram(plan: Plan) -> None:
    first(plan)["ranges"] = [text for text in first(plan)["ranges"] if not text.startswith("RAMB18")]


@plants("region-ranges")
def a_range_names_a_slice_more(plan: Plan) -> None:
    first(plan)["ranges"].append("SLICE_X0Y0:SLICE_X0Y0" if first(plan)["reset_after_reconfig"] else "")


@plants("region-ranges")
def a_range_is_no_range(plan: Plan) -> None:
    first(plan)["ranges"][0] = first(plan)["ranges"][0].split(":")[0]


@plants("region-supply")
def a_supply_is_larger(plan: Plan) -> None:
    first(plan)["supply"]["LUT"] += 400


@plants("region-too-full")
def a_need_is_all_of_the_region(plan: Plan) -> None:
    first(plan)["need"] = dict(first(plan)["supply"])
    plan["phases"][0]["modules"][0]["resources"] = dict(first(plan)["supply"])


@plants("region-need")
def a_phase_needs_more_than_is_said(plan: Plan) -> None:
    plan["phases"][0]["modules"][0]["resources"]["FF"] += 10_000


@plants("region-frames")
def frames_are_fewer(plan: Plan) -> None:
    first(plan)["frames"] -= 36


@plants("region-frames")
def bytes_are_fewer(plan: Plan) -> None:
    first(plan)["bitstream_bytes"] //= 2


@plants("region-frames")
def an_assumption_is_not_told(plan: Plan) -> None:
    first(plan)["assumed"] = not first(plan)["assumed"]


@plants("region-load-time")
def a_load_takes_no_time(plan: Plan) -> None:
    first(plan)["load_us"] = 1.0


@plants("region-property")
def the_wrong_snapping_mode(plan: Plan) -> None:
    first(plan)["snapping_mode"] = {"ON": "ROUTING", "ROUTING": "ON"}[first(plan)["snapping_mode"]]


@plants("region-property")
def the_wrong_reset(plan: Plan) -> None:
    first(plan)["reset_after_reconfig"] = not first(plan)["reset_after_reconfig"]


@plants("region-static-missing")
def a_region_has_no_decoupler(plan: Plan) -> None:
    static = plan["reconfigurable"]["static"]
    plan["reconfigurable"]["static"] = [part for part in static if not part["name"].startswith("decoupler r0")]


@plants("region-static-missing")
def the_dma_engine_is_not_among_what_stays(plan: Plan) -> None:
    static = plan["reconfigurable"]["static"]
    plan["reconfigurable"]["static"] = [part for part in static if part["name"] != "input_dma"]


@plants("region-static-missing")
def nothing_drives_the_port(plan: Plan) -> None:
    static = plan["reconfigurable"]["static"]
    plan["reconfigurable"]["static"] = [part for part in static if part["name"] != "configuration port"]


@plants("region-static-left")
def more_is_left_than_there_is(plan: Plan) -> None:
    plan["reconfigurable"]["static_left"]["BRAM18"] += 2


@plants("region-static-short")
def what_stays_does_not_fit(plan: Plan) -> None:
    part = next(p for p in plan["reconfigurable"]["static"] if p["name"].startswith("decoupler"))
    part["resources"]["LUT"] += plan["reconfigurable"]["static_left"]["LUT"]


@plants("region-module-outside")
def a_module_is_beside_its_region(plan: Plan) -> None:
    block = plan["phases"][0]["floorplan"]["fpga0"]["pblocks"]["m0"]
    block["rectangles"][0]["left"] -= 2 if first(plan)["reset_after_reconfig"] else 3


@plants("region-module-outside")
def a_module_lies_over_the_gap_of_its_region(plan: Plan) -> None:
    if first(plan)["reset_after_reconfig"] or len(first(plan)["owned"]) < 2:
        raise DoesNotApply
    plan["phases"][0]["floorplan"]["fpga0"]["pblocks"]["m0"]["rectangles"] = [dict(first(plan)["rectangle"])]


@plants("region-module-outside")
def a_module_is_on_another_fpga(plan: Plan) -> None:
    floorplan = plan["phases"][0]["floorplan"]
    floorplan["fpga1"] = floorplan.pop("fpga0")


@plants("region-module-static")
def a_phase_that_stays_lies_in_a_region(plan: Plan) -> None:
    plan["phases"][0]["region"] = None


@plants("region-order")
def a_phase_is_loaded_before_the_one_in_its_place_has_run(plan: Plan) -> None:
    plan["phases"][-1]["loads_after"] = None


@plants("region-shell-touched")
def a_region_lies_where_the_board_keeps_room(plan: Plan) -> None:
    plan["kept"] = dict(first(plan)["rectangle"])
