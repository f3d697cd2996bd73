"""Planted mistakes in sums, slots, the partition and what solvers claim."""

from __future__ import annotations

import math

from tests.verify.planting import TWO_SLRS, Files, Plan, charge, crossing, first, mutant, part_of, phase_of

NO_THROUGHPUT = {
    **dict.fromkeys(("full_rate_cycles", "interval_cycles", "first_word_cycles", "first_frame_cycles")),
    "deadlock": [],
    "shallow": [],
    "not_analysed": "",
}
"""What a plan says of a rate that was not analysed."""


@mutant("wrong-sum")
def module_cheaper_than_its_parts(plan: Plan, files: Files) -> None:
    module = phase_of(plan)["modules"][0]
    module["resources"]["LUT"] -= 1


@mutant("wrong-utilisation")
def utilisation_understated(plan: Plan, files: Files) -> None:
    slot = phase_of(plan)["partition"]["assignment"][phase_of(plan)["modules"][0]["name"]]
    phase_of(plan)["partition"]["utilisation"][slot]["LUT"] *= 0.9


@mutant("capacity-mismatch")
def silicon_overstated(plan: Plan, files: Files) -> None:
    plan["platform"]["fpgas"][0]["slots"][0]["capacity"]["LUT"] += 8


@mutant("available-mismatch")
def shell_forgotten(plan: Plan, files: Files) -> None:
    plan["platform"]["fpgas"][0]["slots"][0]["available"]["FF"] += 16


@mutant("cap-exceeded")
def slot_over_its_limit_by_one(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    module = phase["modules"][0]["name"]
    slot = first(
        s for s in plan["platform"]["fpgas"][0]["slots"] if s["name"] == phase["partition"]["assignment"][module]
    )
    limit = math.floor(plan["options"]["cap"]["LUT"] * slot["available"]["LUT"] + 1e-9)
    used = round(phase["partition"]["utilisation"][slot["name"]]["LUT"] * slot["available"]["LUT"])
    charge(plan, module, "LUT", limit + 1 - used)


@mutant("shipped-file-differs")
def platform_file_edited(plan: Plan, files: Files) -> None:
    files[f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"] += "# edited\n"


@mutant("fraction-out-of-range")
def cap_above_one(plan: Plan, files: Files) -> None:
    plan["options"]["cap"]["URAM"] = 1.5


@mutant("crossing-missing", TWO_SLRS)
def crossing_not_listed(plan: Plan, files: Files) -> None:
    first(phase_of(plan)["partition"]["crossings"])
    phase_of(plan)["partition"]["crossings"].pop(0)


@mutant("wrong-crossing", TWO_SLRS)
def crossing_rate_understated(plan: Plan, files: Files) -> None:
    crossing(plan)[0]["gbps"] *= 0.5


@mutant("wrong-cost")
def partition_cost_understated(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["cost"] += 1


@mutant("wrong-crossing-registers", TWO_SLRS)
def crossing_registers_forgotten(plan: Plan, files: Files) -> None:
    channel = crossing(plan)[1]
    channel["crossing_registers"], channel["crossing_resources"] = 0, {}


def short_stream(plan: Plan) -> Plan:
    """Return a channel between modules without slices that is in the list of the longest."""
    phase = phase_of(plan)
    listed = [row for floorplan in phase["floorplan"].values() for row in floorplan["longest"]]
    name = first(row["channel"] for row in listed if not row["slices"])
    return first(channel for channel in phase["channels"] if channel["name"] == name)


def sliced_stream(plan: Plan) -> Plan:
    return first(channel for channel in phase_of(plan)["channels"] if channel["slices"])


@mutant("wrong-slices")
def slice_on_a_short_stream(plan: Plan, files: Files) -> None:
    channel = short_stream(plan)
    slot = phase_of(plan)["partition"]["assignment"][channel["fifo_module"]]
    price = dict.fromkeys(("LUT", "FF", "BRAM18", "URAM", "DSP"), 0) | {"FF": 2 * channel["width_bits"]}
    channel |= {"slices": 1, "slice_slots": [slot], "slice_resources": {slot: price}}


@mutant("wrong-slices", TWO_SLRS)
def long_stream_without_its_slices(plan: Plan, files: Files) -> None:
    sliced_stream(plan).update({"slices": 0, "slice_slots": [], "slice_resources": {}})


@mutant("slices-left-out", TWO_SLRS)
def slices_left_out_where_there_is_room(plan: Plan, files: Files) -> None:
    channel = first(c for c in phase_of(plan)["channels"] if c["slices"] and not c["crossing_registers"])
    channel.update({"slices": 0, "slice_slots": [], "slice_resources": {}, "slices_left_out": channel["slices"]})


@mutant("wrong-slice-resources", TWO_SLRS)
def slice_of_one_word(plan: Plan, files: Files) -> None:
    for price in sliced_stream(plan)["slice_resources"].values():
        price["FF"] //= 2


@mutant("wrong-utilisation", TWO_SLRS)
def slices_forgotten_in_their_slot(plan: Plan, files: Files) -> None:
    for price in sliced_stream(plan)["slice_resources"].values():
        price["FF"] += 5000


@mutant("wrong-slices", TWO_SLRS)
def slice_in_another_slot_than_its_stream_passes(plan: Plan, files: Files) -> None:
    channel = sliced_stream(plan)
    slots = reversed(plan["platform"]["fpgas"][0]["slots"])
    other = first(slot["name"] for slot in slots if slot["name"] not in channel["slice_slots"])
    channel["slice_resources"] = {other: channel["slice_resources"][channel["slice_slots"][0]]}
    channel["slice_slots"] = [other]


@mutant("wrong-estimate", TWO_SLRS)
def first_frame_before_its_words_passed_the_slices(plan: Plan, files: Files) -> None:
    on_the_way = sum(channel["crossing_registers"] + channel["slices"] for channel in phase_of(plan)["channels"])
    sliced_stream(plan)
    throughput = part_of(plan)["estimates"]["throughput"] or dict(NO_THROUGHPUT)
    part_of(plan)["estimates"]["throughput"] = throughput | {"first_frame_cycles": on_the_way - 1}


@mutant("wrong-longest")
def longest_stream_told_shorter(plan: Plan, files: Files) -> None:
    first(f["longest"] for f in phase_of(plan)["floorplan"].values() if f["longest"])[0]["way_tiles"] -= 10


@mutant("wrong-longest")
def longest_stream_forgotten(plan: Plan, files: Files) -> None:
    first(f["longest"] for f in phase_of(plan)["floorplan"].values() if f["longest"]).pop(0)


@mutant("wrong-slices-built")
def slices_said_to_be_built(plan: Plan, files: Files) -> None:
    phase_of(plan)["slices_built"] = not phase_of(plan)["slices_built"]


@mutant("wrong-fifo-depth", TWO_SLRS)
def no_room_for_the_words_in_crossing_registers(plan: Plan, files: Files) -> None:
    listed, channel = crossing(plan)
    channel["fifo_depth"], channel["fifo_needed"] = 32 + 4 * listed["hops"] - 1, 0


@mutant("wrong-estimate", TWO_SLRS)
def first_frame_before_its_words_crossed(plan: Plan, files: Files) -> None:
    registers = crossing(plan)[1]["crossing_registers"]
    throughput = part_of(plan)["estimates"]["throughput"] or dict(NO_THROUGHPUT)
    part_of(plan)["estimates"]["throughput"] = throughput | {"first_frame_cycles": registers - 1}


@mutant("sll-overload", TWO_SLRS)
def more_wires_than_the_boundary_has(plan: Plan, files: Files) -> None:
    channel = crossing(plan)[1]
    channel["width_bits"] = sum(sll["wires"] for sll in plan["platform"]["boundaries"])


@mutant("sll-capacity-mismatch", TWO_SLRS)
def boundary_with_invented_wires(plan: Plan, files: Files) -> None:
    first(plan["platform"]["boundaries"])["wires"] += 1


@mutant("slot-unknown")
def module_in_a_slot_that_is_not_there(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    phase["partition"]["assignment"][phase["modules"][0]["name"]] = "fpga0.SLR9"


@mutant("wrong-gap")
def gap_that_does_not_follow(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["stats"] = {
        "method": "x",
        "status": "feasible",
        "objective": 10.0,
        "bound": 5.0,
        "gap": 0.25,
    }


@mutant("wrong-status")
def optimal_with_a_gap(plan: Plan, files: Files) -> None:
    part_of(plan)["folding"]["stats"] = {
        "method": "x",
        "status": "optimal",
        "objective": 10.0,
        "bound": 5.0,
        "gap": 0.5,
    }


@mutant("bound-above-objective")
def bound_above_the_objective(plan: Plan, files: Files) -> None:
    part_of(plan)["folding"]["stats"] = {
        "method": "x",
        "status": "feasible",
        "objective": 5.0,
        "bound": 10.0,
        "gap": 0.0,
    }
