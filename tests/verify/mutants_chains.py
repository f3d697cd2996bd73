"""Planted mistakes on platforms of several FPGAs: links, their cores, what passes them, and files for each FPGA."""

from __future__ import annotations

import yaml

from tests.verify.planting import (
    LINK_CORES,
    LINK_COST,
    TWO_FPGAS,
    Files,
    NotApplicable,
    Plan,
    drop_first,
    edit_json,
    edit_lines,
    first,
    mutant,
    part_of,
    phase_of,
    stream_wires,
)


def link_of(plan: Plan) -> Plan:
    link: Plan = first(plan["platform"]["links"])
    return link


def over_links(plan: Plan) -> list[Plan]:
    """Return the channels that pass a link; there is at least one."""
    over_links = [channel for channel in phase_of(plan)["channels"] if channel["link"]]
    first(over_links)
    return over_links


def crossing_of_kind(plan: Plan, kind: str) -> Plan:
    """Return the first crossing of a kind on a channel over a link."""
    names = {channel["name"] for channel in over_links(plan)}
    crossings = phase_of(plan)["partition"]["crossings"]
    crossing: Plan = first(c for c in crossings if c["kind"] == kind and c["channel"] in names)
    return crossing


def second_fpga(plan: Plan) -> str:
    """Return the name of an FPGA that is not the first and holds a module."""
    floorplans = phase_of(plan)["floorplan"]
    name: str = first(f["name"] for f in plan["platform"]["fpgas"][1:] if floorplans[f["name"]]["pblocks"])
    return name


@mutant("wrong-link", TWO_FPGAS)
def link_not_listed(plan: Plan, files: Files) -> None:
    plan["platform"]["links"].remove(link_of(plan))


@mutant("link-unknown", TWO_FPGAS)
def channels_between_fpgas_without_a_link(plan: Plan, files: Files) -> None:
    over_links(plan)
    plan["platform"]["links"].clear()


@mutant("wrong-link", TWO_FPGAS)
def link_listed_twice(plan: Plan, files: Files) -> None:
    plan["platform"]["links"].append(link_of(plan))


@mutant("wrong-link", TWO_FPGAS)
def link_faster_than_the_board_says(plan: Plan, files: Files) -> None:
    link_of(plan)["gbps"] *= 2


@mutant("wrong-link", TWO_FPGAS)
def link_without_latency(plan: Plan, files: Files) -> None:
    link_of(plan)["latency_us"] = 0


@mutant("wrong-link", TWO_FPGAS)
def guess_called_a_fact(plan: Plan, files: Files) -> None:
    link_of(plan)["assumed"] ^= True


@mutant("wrong-link", LINK_CORES)
def link_that_ends_in_the_slot_of_the_host(plan: Plan, files: Files) -> None:
    link = link_of(plan)
    host_slot = plan["platform"]["fpgas"][0]["host_slot"]
    if link["source"] == host_slot:
        raise NotApplicable
    link["source"] = host_slot


@mutant("platform-malformed", TWO_FPGAS)
def board_whose_link_ends_nowhere(plan: Plan, files: Files) -> None:
    link_of(plan)
    name = f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"
    board = yaml.safe_load(files[name])
    board["link"]["slr"] = "SLR9"
    files[name] = yaml.safe_dump(board)


@mutant("wrong-link", TWO_FPGAS)
def board_that_ends_no_link(plan: Plan, files: Files) -> None:
    link_of(plan)
    name = f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"
    board = yaml.safe_load(files[name])
    board["link"]["max_links"] = 0
    files[name] = yaml.safe_dump(board)


@mutant("wrong-link")
def topology_of_another_world(plan: Plan, files: Files) -> None:
    plan["options"]["topology"] = "torus"


@mutant("file-missing")
def kind_of_link_without_its_file(plan: Plan, files: Files) -> None:
    plan["options"]["link"] = "aurora-100g"


@mutant("wrong-link", TWO_FPGAS)
def kind_of_link_that_was_asked_for_and_not_used(plan: Plan, files: Files) -> None:
    link_of(plan)
    figures = {"gbps": 1000, "latency_us": 0.1, "assumed": True}
    files["platform/links/mine.yaml"] = yaml.safe_dump({"schema": "floorflow-link/1", "name": "mine", **figures})
    plan["platform"]["files"].append("links/mine.yaml")
    plan["options"]["link"] = "mine"


@mutant("platform-mismatch", TWO_FPGAS)
def second_fpga_of_another_kind(plan: Plan, files: Files) -> None:
    first(plan["platform"]["fpgas"][1:])["part"] = "xcvu9p-flga2104-2L-e"


@mutant("platform-mismatch", TWO_FPGAS)
def second_fpga_of_another_name(plan: Plan, files: Files) -> None:
    first(plan["platform"]["fpgas"][1:])["name"] = "fpga7"


@mutant("infrastructure-mismatch", LINK_CORES)
def link_core_forgotten_at_one_end(plan: Plan, files: Files) -> None:
    items = plan["platform"]["infrastructure"]
    items.remove(first(item for item in items if item["name"].startswith("link core") and "fpga1." in item["slot"]))


@mutant("available-mismatch", LINK_CORES)
def link_core_not_subtracted(plan: Plan, files: Files) -> None:
    core = first(item for item in plan["platform"]["infrastructure"] if item["name"].startswith("link core"))
    slot = first(s for fpga in plan["platform"]["fpgas"] for s in fpga["slots"] if s["name"] == core["slot"])
    slot["available"] = {name: amount + core["resources"][name] for name, amount in slot["available"].items()}


@mutant("infrastructure-mismatch", LINK_CORES)
def infrastructure_of_the_last_fpga_forgotten(plan: Plan, files: Files) -> None:
    items = plan["platform"]["infrastructure"]
    last = f"{first(reversed(plan['platform']['fpgas'][1:]))['name']}."
    items.remove(first(i for i in items if i["slot"].startswith(last) and not i["name"].startswith("link core")))


@mutant("link-mismatch", TWO_FPGAS)
def channel_without_its_link(plan: Plan, files: Files) -> None:
    over_links(plan)[0]["link"] = None


@mutant("link-mismatch", TWO_FPGAS)
def link_named_backwards(plan: Plan, files: Files) -> None:
    channel = over_links(plan)[0]
    channel["link"] = "-".join(reversed(channel["link"].split(",")[0].split("-")))


@mutant("wrong-fifo-depth", TWO_FPGAS)
def fifo_without_the_words_of_a_round_trip(plan: Plan, files: Files) -> None:
    over_links(plan)[0]["fifo_depth"] = 32


@mutant("wrong-fifo-depth", TWO_FPGAS)
def fifo_with_the_words_of_half_a_round_trip(plan: Plan, files: Files) -> None:
    channel = over_links(plan)[0]
    channel["fifo_depth"] = 32 + (channel["fifo_depth"] - 32) // 2


@mutant("crossing-missing", TWO_FPGAS)
def crossing_of_a_link_not_listed(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["crossings"].remove(crossing_of_kind(plan, "link"))


@mutant("crossing-missing", LINK_CORES)
def run_to_the_link_not_listed(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["crossings"].remove(crossing_of_kind(plan, "sll"))


@mutant("wrong-crossing", LINK_CORES)
def crossings_out_of_order(plan: Plan, files: Files) -> None:
    crossings = phase_of(plan)["partition"]["crossings"]
    run = first(
        crossing
        for place, crossing in enumerate(crossings)
        if crossing["kind"] == "sll" and crossing["channel"] in {later["channel"] for later in crossings[place + 1 :]}
    )
    crossings.remove(run)
    crossings.append(run)


@mutant("wrong-crossing", TWO_FPGAS)
def link_called_a_boundary(plan: Plan, files: Files) -> None:
    crossing_of_kind(plan, "link")["kind"] = "sll"


@mutant("wrong-crossing", TWO_FPGAS)
def link_passed_in_two_hops(plan: Plan, files: Files) -> None:
    crossing_of_kind(plan, "link")["hops"] = 2


@mutant("wrong-crossing", TWO_FPGAS)
def link_passed_in_the_other_direction(plan: Plan, files: Files) -> None:
    crossing = crossing_of_kind(plan, "link")
    crossing["source"], crossing["target"] = crossing["target"], crossing["source"]


@mutant("wrong-cost", TWO_FPGAS)
def link_as_cheap_as_a_boundary(plan: Plan, files: Files) -> None:
    partition = phase_of(plan)["partition"]
    partition["cost"] -= (LINK_COST - 1) * stream_wires(crossing_of_kind(plan, "link")["width_bits"])


@mutant("link-overload", TWO_FPGAS)
def more_bits_than_the_link_carries(plan: Plan, files: Files) -> None:
    over_links(plan)[0]["width_bits"] *= 10**6


@mutant("wrong-load", TWO_FPGAS)
def load_of_the_other_direction(plan: Plan, files: Files) -> None:
    loads = {load["name"]: load for load in phase_of(plan)["partition"]["loads"] if load["kind"] == "link"}
    there = first(loads.values())
    back = loads[">".join(reversed(there["name"].split(">")))]
    if there["use"] == back["use"]:
        raise NotApplicable
    there["use"], back["use"] = back["use"], there["use"]


@mutant("load-missing", TWO_FPGAS)
def link_judged_in_one_direction_only(plan: Plan, files: Files) -> None:
    loads = phase_of(plan)["partition"]["loads"]
    loads.remove(first(load for load in reversed(loads) if load["kind"] == "link"))


@mutant("wrong-estimate", TWO_FPGAS)
def latency_without_the_links(plan: Plan, files: Files) -> None:
    estimates, engines = part_of(plan)["estimates"], part_of(plan)["folding"]["engines"]
    over_links(plan)
    chain = sum(engine["cycles"] for engine in engines.values()) / estimates["clock_mhz"]
    if estimates["latency_us"] <= chain:
        raise NotApplicable
    estimates["latency_us"] = chain


@mutant("wrong-estimate", TWO_FPGAS)
def latency_without_the_last_link(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["latency_us"] -= link_of(plan)["latency_us"]


@mutant("finn-slr-differs", TWO_FPGAS)
def finn_engine_on_the_first_device(plan: Plan, files: Files) -> None:
    def move(content: Plan) -> None:
        first(entry for entry in content.values() if entry.get("device_id"))["device_id"] = 0

    edit_json(files, "finn/floorplan.json", move)


@mutant("finn-kernel-split", TWO_FPGAS)
def one_partition_on_two_devices(plan: Plan, files: Files) -> None:
    link_of(plan)

    def merge(content: Plan) -> None:
        for name, entry in content.items():
            if name != "Defaults":
                entry["partition_id"] = 1

    edit_json(files, "finn/floorplan.json", merge)


@mutant("cell-unknown", TWO_FPGAS)
def cell_of_another_fpga(plan: Plan, files: Files) -> None:
    other = f"{second_fpga(plan)}/pblocks.xdc"
    line = first(line for line in files[other].split("\n") if line.startswith("add_cells_to_pblock"))
    block = first(phase_of(plan)["floorplan"][plan["platform"]["fpgas"][0]["name"]]["pblocks"])
    cells = line[line.index("[get_cells") :]
    files[f"{plan['platform']['fpgas'][0]['name']}/pblocks.xdc"] += (
        f"add_cells_to_pblock [get_pblocks {{pblock_{block}}}] {cells}\n"
    )


@mutant("pblock-unplanned", TWO_FPGAS)
def constraints_of_another_fpga(plan: Plan, files: Files) -> None:
    name = second_fpga(plan)
    files[f"{name}/pblocks.tcl"] = files[f"{plan['platform']['fpgas'][0]['name']}/pblocks.tcl"]


@mutant("cell-missing", TWO_FPGAS)
def cell_missing_on_the_second_fpga(plan: Plan, files: Files) -> None:
    edit_lines(files, f"{second_fpga(plan)}/pblocks.xdc", lambda lines: drop_first(lines, "add_cells_to_pblock"))


@mutant("file-missing", TWO_FPGAS)
def second_fpga_without_constraints(plan: Plan, files: Files) -> None:
    del files[f"{second_fpga(plan)}/pblocks.tcl"]


@mutant("slr-mismatch", TWO_FPGAS)
def pblock_listed_under_another_fpga(plan: Plan, files: Files) -> None:
    floorplans = phase_of(plan)["floorplan"]
    pblocks = floorplans[second_fpga(plan)]["pblocks"]
    name = first(pblocks)
    floorplans[plan["platform"]["fpgas"][0]["name"]]["pblocks"][name] = pblocks.pop(name)
