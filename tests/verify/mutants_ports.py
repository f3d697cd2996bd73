"""Planted mistakes in ports and in the wires that end there."""

from __future__ import annotations

import yaml

from tests.verify.planting import TWO_FPGAS, Files, NotApplicable, Plan, die, first, mutant, pblocks, phase_of


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
    floorplan["hpwl"] -= channel["width_bits"] * (across + along) / 2
    floorplan["stats"] |= {"objective": floorplan["hpwl"], "bound": 0.0, "gap": 1.0, "status": "feasible"}


@mutant("wrong-hpwl")
def wire_to_the_host_left_out(plan: Plan, files: Files) -> None:
    channel = first(c for c in phase_of(plan)["channels"] if c["source"].startswith("host:"))
    leave_out_wire(plan, channel["name"], "host_port")


@mutant("wrong-hpwl", TWO_FPGAS)
def wire_over_a_link_left_out(plan: Plan, files: Files) -> None:
    channel = first(c for c in phase_of(plan)["channels"] if c["link"])
    leave_out_wire(plan, channel["name"], "link_port")


@mutant("platform-mismatch")
def host_port_moved(plan: Plan, files: Files) -> None:
    first(plan["platform"]["fpgas"])["host_port"]["left"] -= 1


@mutant("platform-mismatch")
def link_port_moved(plan: Plan, files: Files) -> None:
    first(fpga for fpga in plan["platform"]["fpgas"] if fpga["link_port"])["link_port"]["top"] += 60


@mutant("platform-mismatch")
def link_port_forgotten(plan: Plan, files: Files) -> None:
    first(fpga for fpga in plan["platform"]["fpgas"] if fpga["link_port"])["link_port"] = None


@mutant("platform-malformed")
def port_outside_its_slr(plan: Plan, files: Files) -> None:
    name = f"platform/boards/{first(plan['platform']['fpgas'])['board']}.yaml"
    board = yaml.safe_load(files[name])
    port = board["memories"][0]["port"] if "memories" in board else board["host_port"]
    port["top"] = die(plan, files).rows
    files[name] = yaml.safe_dump(board)


@mutant("platform-malformed")
def host_in_an_slr_that_is_not_there(plan: Plan, files: Files) -> None:
    name = f"platform/boards/{first(plan['platform']['fpgas'])['board']}.yaml"
    board = yaml.safe_load(files[name])
    board["host_slr"] = "SLR9"
    files[name] = yaml.safe_dump(board)
