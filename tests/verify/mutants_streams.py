"""Mistakes in streams, slots, links and hops that are no row of the table."""

import copy
import math
from collections import Counter

from tests.verify.planting import (
    JOIN,
    LINK_CORES,
    TWO_FPGAS,
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    charge,
    edit_json,
    first,
    mutant,
    part_of,
    phase_of,
)


def homes(plan: Plan) -> dict[str, str]:
    return {engine: module["name"] for module in phase_of(plan)["modules"] for engine in module["engines"]}


def branches(plan: Plan) -> list[Plan]:
    """Return the channels into the first join, the deepest FIFO first: that of a shorter branch."""
    channels = phase_of(plan)["channels"]
    inputs = Counter(channel["target"] for channel in channels if not channel["target"].startswith("host:"))
    join = first(name for name, count in inputs.items() if count > 1)
    into = [channel for channel in channels if channel["target"] == join]
    return sorted(into, key=lambda channel: -channel["fifo_depth"])


@mutant("wrong-fifo-depth", JOIN)
def short_branch_as_shallow_as_any(plan: Plan, files: Files) -> None:
    deepest = branches(plan)[0]
    if deepest["fifo_depth"] <= 32:
        raise NotApplicable
    deepest["fifo_depth"] = 32


@mutant("wrong-fifo-depth", JOIN)
def long_branch_deepened_instead(plan: Plan, files: Files) -> None:
    short, *_, long = branches(plan)
    short["fifo_depth"], long["fifo_depth"] = long["fifo_depth"], short["fifo_depth"]
    if short["fifo_depth"] == long["fifo_depth"]:
        raise NotApplicable


NO_THROUGHPUT = {
    **dict.fromkeys(("full_rate_cycles", "interval_cycles", "first_word_cycles", "first_frame_cycles")),
    "deadlock": [],
    "shallow": [],
    "not_analysed": "",
}
"""What a plan says of a rate that was not analysed."""


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


def short_stream(plan: Plan) -> Plan:
    """Return a channel between modules without slices that is in the list of the longest."""
    phase = phase_of(plan)
    listed = [row for floorplan in phase["floorplan"].values() for row in floorplan["longest"]]
    name = first(row["channel"] for row in listed if not row["slices"])
    return first(channel for channel in phase["channels"] if channel["name"] == name)


def sliced_stream(plan: Plan) -> Plan:
    return first(channel for channel in phase_of(plan)["channels"] if channel["slices"])


@mutant("wrong-slice-resources", TWO_SLRS)
def slice_of_half_a_word(plan: Plan, files: Files) -> None:
    channel = sliced_stream(plan)
    for price in channel["slice_resources"].values():
        price["FF"] = channel["width_bits"] // 2


@mutant("wrong-utilisation", TWO_SLRS)
def slices_forgotten_in_their_slot(plan: Plan, files: Files) -> None:
    for price in sliced_stream(plan)["slice_resources"].values():
        price["FF"] += 5000


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


@mutant("wrong-link", LINK_CORES)
def link_that_ends_in_the_slot_of_the_host(plan: Plan, files: Files) -> None:
    link = link_of(plan)
    host_slot = plan["platform"]["fpgas"][0]["host_slot"]
    if link["source"] == host_slot:
        raise NotApplicable
    link["source"] = host_slot


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


@mutant("wrong-load", TWO_FPGAS)
def load_of_the_other_direction(plan: Plan, files: Files) -> None:
    loads = {load["name"]: load for load in phase_of(plan)["partition"]["loads"] if load["kind"] == "link"}
    there = first(loads.values())
    back = loads[">".join(reversed(there["name"].split(">")))]
    if there["use"] == back["use"]:
        raise NotApplicable
    there["use"], back["use"] = back["use"], there["use"]


@mutant("wrong-estimate", TWO_FPGAS)
def latency_without_the_links(plan: Plan, files: Files) -> None:
    estimates, engines = part_of(plan)["estimates"], part_of(plan)["folding"]["engines"]
    over_links(plan)
    chain = sum(engine["cycles"] for engine in engines.values()) / estimates["clock_mhz"]
    if estimates["latency_us"] <= chain:
        raise NotApplicable
    estimates["latency_us"] = chain


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


PROOF = "no assignment of engines to slots lets every stream cross at most 1 SLR boundary of an FPGA"


def hops_of(plan: Plan) -> Plan:
    hops: Plan = phase_of(plan)["partition"]["hops"]
    return hops


def far_stream(plan: Plan) -> Plan:
    """Return the first stream that is listed for crossing several boundaries."""
    stream: Plan = first(hops_of(plan)["streams"])
    return stream


def wished(plan: Plan) -> Plan:
    """Give a plan wishes that hold: its first engine in its slot, and away from one in another slot; return them."""
    plan["options"]["constraints"] = "pins.yaml"
    partition, modules = phase_of(plan)["partition"], phase_of(plan)["modules"]
    slots = {engine: partition["assignment"][module["name"]] for module in modules for engine in module["engines"]}
    engine, slot = first(slots.items())
    other = first([name for name, place in slots.items() if place != slot] or [engine])
    stats = {"method": "exact", "status": "optimal", "objective": partition["cost"], "bound": partition["cost"]}
    without = {"stats": {**stats, "gap": 0.0}, "fullness": 0.5, "bound_cycles": 1}
    fixed = {"kind": "fix", "names": [engine], "places": [slot], "engines": [engine], "slots": [slot]}
    pair = {"names": [engine, other], "places": [], "engines": [engine, other], "slots": []}
    lines = [fixed] if other == engine else [fixed, {"kind": "apart", **pair}]
    own: Plan = {"stats": {**stats, "gap": 0.0}, "fullness": 0.5, "lines": [{**w, "without": without} for w in lines]}
    partition["wishes"] = copy.deepcopy(own)
    found: Plan = partition["wishes"]
    return found


def board_file(plan: Plan) -> str:
    return f"platform/boards/{first(plan['platform']['fpgas'])['board']}.yaml"


@mutant("false-hop-proof")
def proof_where_no_stream_goes_far(plan: Plan, files: Files) -> None:
    if hops_of(plan)["streams"]:
        raise NotApplicable
    plan["options"]["max_hops"] = None
    hops_of(plan)["most"], hops_of(plan)["proof"] = 2, PROOF


@mutant("false-hop-proof", LINK_CORES)
def proof_that_moving_a_module_refutes(plan: Plan, files: Files) -> None:
    """The module in the host's slot could lie in the next one, from which one boundary leads to the link."""
    far_stream(plan)
    first(plan["platform"]["links"])
    plan["options"]["max_hops"] = None
    hops_of(plan)["proof"] = PROOF
