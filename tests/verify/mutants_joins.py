"""Planted mistakes in FIFOs, where branches join, in loads and in what is said of the search."""

from __future__ import annotations

from collections import Counter

from tests.verify.planting import JOIN, TWO_SLRS, Files, NotApplicable, Plan, crossing, first, mutant, part_of, phase_of


def homes(plan: Plan) -> dict[str, str]:
    return {engine: module["name"] for module in phase_of(plan)["modules"] for engine in module["engines"]}


def branches(plan: Plan) -> list[Plan]:
    """Return the channels into the first join, the deepest FIFO first: that of a shorter branch."""
    channels = phase_of(plan)["channels"]
    inputs = Counter(channel["target"] for channel in channels if not channel["target"].startswith("host:"))
    join = first(name for name, count in inputs.items() if count > 1)
    into = [channel for channel in channels if channel["target"] == join]
    return sorted(into, key=lambda channel: -channel["fifo_depth"])


@mutant("wrong-fifo-depth")
def fifo_without_depth(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][0]["fifo_depth"] = 0


@mutant("wrong-fifo-depth")
def fifo_without_the_words_of_the_full_rate(plan: Plan, files: Files) -> None:
    channel = phase_of(plan)["channels"][0]
    channel["fifo_needed"] = channel["fifo_depth"] + 1


@mutant("wrong-fifo-depth")
def shallow_fifo_between_modules(plan: Plan, files: Files) -> None:
    home = homes(plan)
    channels = phase_of(plan)["channels"]
    ends = ((c, home.get(c["source"]), home.get(c["target"])) for c in channels)
    between = (c for c, source, target in ends if source and target and source != target)
    first(between)["fifo_depth"] = 2


@mutant("wrong-fifo-depth")
def shallow_fifo_from_the_host(plan: Plan, files: Files) -> None:
    first(c for c in phase_of(plan)["channels"] if c["source"].startswith("host:"))["fifo_depth"] -= 30


@mutant("wrong-fifo-depth", TWO_SLRS)
def fifo_without_the_words_of_a_boundary(plan: Plan, files: Files) -> None:
    crossing(plan)[1]["fifo_depth"] -= 4


@mutant("wrong-fifo-depth", JOIN)
def short_branch_as_shallow_as_any(plan: Plan, files: Files) -> None:
    deepest = branches(plan)[0]
    if deepest["fifo_depth"] <= 32:
        raise NotApplicable
    deepest["fifo_depth"] = 32


@mutant("wrong-fifo-depth", JOIN)
def short_branch_one_word_too_shallow(plan: Plan, files: Files) -> None:
    branches(plan)[0]["fifo_depth"] -= 1


@mutant("wrong-fifo-depth", JOIN)
def long_branch_deepened_instead(plan: Plan, files: Files) -> None:
    short, *_, long = branches(plan)
    short["fifo_depth"], long["fifo_depth"] = long["fifo_depth"], short["fifo_depth"]
    if short["fifo_depth"] == long["fifo_depth"]:
        raise NotApplicable


@mutant("port-mismatch", JOIN)
def output_of_a_duplicate_used_twice(plan: Plan, files: Files) -> None:
    channels = phase_of(plan)["channels"]
    first(c for c in channels if c["source"].startswith("Duplicate") and c["source_port"] == 1)["source_port"] = 0


@mutant("port-mismatch", JOIN)
def duplicate_with_an_open_output(plan: Plan, files: Files) -> None:
    engines = plan["networks"][0]["engines"]
    duplicate = first(e for e in engines if e["kind"].startswith("DuplicateStreams"))["attributes"]
    duplicate["NumOutputStreams"] = duplicate.get("NumOutputStreams", 2) + 1


@mutant("type-width-mismatch", JOIN)
def duplicate_that_widens_its_stream(plan: Plan, files: Files) -> None:
    first(e for e in plan["networks"][0]["engines"] if e["kind"].startswith("DuplicateStreams"))["output_bits"] += 1


@mutant("wrong-stream-width", JOIN)
def second_input_of_a_join_too_wide(plan: Plan, files: Files) -> None:
    first(c for c in phase_of(plan)["channels"] if c["target_port"] == 1)["target_width_bits"] += 1


@mutant("stream-mismatch", JOIN)
def concat_of_other_elements(plan: Plan, files: Files) -> None:
    engines = plan["networks"][0]["engines"]
    concat = first(e for e in engines if e["kind"].startswith("StreamingConcat"))["attributes"]
    concat["ElemsPerStream"][0] += 1


@mutant("port-mismatch")
def input_of_the_host_misnumbered(plan: Plan, files: Files) -> None:
    channels = phase_of(plan)["channels"]
    first(c for c in channels if c["source"].startswith("host:"))["source"] = "host:in7"


@mutant("port-mismatch", JOIN)
def input_of_the_host_used_twice(plan: Plan, files: Files) -> None:
    first(c for c in phase_of(plan)["channels"] if c["source"] == "host:in1")["source"] = "host:in0"


@mutant("load-missing", TWO_SLRS)
def load_of_a_boundary_not_listed(plan: Plan, files: Files) -> None:
    first(phase_of(plan)["partition"]["loads"])
    phase_of(plan)["partition"]["loads"].pop()


@mutant("plan-malformed")
def loads_left_out(plan: Plan, files: Files) -> None:
    del phase_of(plan)["partition"]["loads"]


@mutant("load-needless", TWO_SLRS)
def load_listed_twice(plan: Plan, files: Files) -> None:
    loads = phase_of(plan)["partition"]["loads"]
    loads.append(first(loads))


@mutant("load-needless")
def load_of_a_boundary_that_is_not_there(plan: Plan, files: Files) -> None:
    ghost = {"name": "fpga0.SLR8-fpga0.SLR9", "kind": "sll", "use": 0, "capacity": 1}
    phase_of(plan)["partition"]["loads"].append(ghost)


@mutant("wrong-load", TWO_SLRS)
def load_understated_by_a_wire(plan: Plan, files: Files) -> None:
    crossing(plan)
    first(load for load in phase_of(plan)["partition"]["loads"] if load["use"])["use"] -= 1


@mutant("wrong-load", TWO_SLRS)
def capacity_of_a_load_overstated(plan: Plan, files: Files) -> None:
    first(phase_of(plan)["partition"]["loads"])["capacity"] += 1


@mutant("floorplan-missing")
def empty_fpga_left_out_of_the_floorplan(plan: Plan, files: Files) -> None:
    floorplan = phase_of(plan)["floorplan"]
    del floorplan[plan["platform"]["fpgas"][-1]["name"]]


@mutant("constraints-unplanned")
def constraints_left_over_from_another_plan(plan: Plan, files: Files) -> None:
    files["fpga9/pblocks.xdc"] = files[f"{plan['platform']['fpgas'][0]['name']}/pblocks.xdc"]


@mutant("rate-missed")
def slower_than_asked(plan: Plan, files: Files) -> None:
    plan["options"]["fps"] = part_of(plan)["estimates"]["fps"] * 1.00001


@mutant("search-unexplained")
def search_that_ended_for_no_reason(plan: Plan, files: Files) -> None:
    plan["networks"][0]["search"]["ended_by"] = " "


@mutant("bound-above-objective")
def bound_above_the_interval(plan: Plan, files: Files) -> None:
    plan["networks"][0]["search"]["bound_cycles"] = plan["networks"][0]["search"]["interval_cycles"] + 1


@mutant("wrong-gap")
def gap_of_the_search_understated(plan: Plan, files: Files) -> None:
    plan["networks"][0]["search"] |= {"bound_cycles": plan["networks"][0]["search"]["interval_cycles"] // 2, "gap": 0.0}
