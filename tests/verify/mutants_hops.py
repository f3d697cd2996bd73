"""Planted mistakes in what plans say of streams over several SLR boundaries, and of where the host's streams end."""

from __future__ import annotations

import yaml

from tests.verify.planting import LINK_CORES, TWO_SLRS, Files, NotApplicable, Plan, first, mutant, phase_of

PROOF = "no assignment of engines to slots lets every stream cross at most 1 SLR boundary of an FPGA"


def hops_of(plan: Plan) -> Plan:
    hops: Plan = phase_of(plan)["partition"]["hops"]
    return hops


def far_stream(plan: Plan) -> Plan:
    """Return the first stream that is listed for crossing several boundaries."""
    stream: Plan = first(hops_of(plan)["streams"])
    return stream


def board_file(plan: Plan) -> str:
    return f"platform/boards/{first(plan['platform']['fpgas'])['board']}.yaml"


@mutant("too-many-hops", LINK_CORES)
def stream_over_two_boundaries_that_nobody_allowed(plan: Plan, files: Files) -> None:
    far_stream(plan)
    plan["options"]["max_hops"] = None
    hops_of(plan)["most"] = 1


@mutant("too-many-hops", LINK_CORES)
def stream_over_more_boundaries_than_were_asked_for(plan: Plan, files: Files) -> None:
    far_stream(plan)
    plan["options"]["max_hops"] = hops_of(plan)["most"] = 1


@mutant("wrong-hops")
def more_hops_than_the_options_allow(plan: Plan, files: Files) -> None:
    hops_of(plan)["most"] += 1


@mutant("wrong-hops", LINK_CORES)
def proof_beside_an_option(plan: Plan, files: Files) -> None:
    far_stream(plan)
    hops_of(plan)["proof"] = PROOF


@mutant("wrong-hops")
def proof_that_nothing_needs(plan: Plan, files: Files) -> None:
    plan["options"]["max_hops"] = None
    hops_of(plan)["most"], hops_of(plan)["proof"] = 1, PROOF


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


@mutant("wrong-hops", LINK_CORES)
def far_stream_not_listed(plan: Plan, files: Files) -> None:
    hops_of(plan)["streams"].remove(far_stream(plan))


@mutant("wrong-hops", LINK_CORES)
def far_stream_listed_twice(plan: Plan, files: Files) -> None:
    hops_of(plan)["streams"].append(far_stream(plan))


@mutant("wrong-hops", TWO_SLRS)
def near_stream_listed_as_far(plan: Plan, files: Files) -> None:
    crossing = first(c for c in phase_of(plan)["partition"]["crossings"] if c["kind"] == "sll" and c["hops"] == 1)
    entry = {key: crossing[key] for key in ("channel", "source", "target")}
    hops_of(plan)["streams"].append({**entry, "hops": 2, "registers": []})


@mutant("wrong-hops", LINK_CORES)
def boundary_without_its_registers(plan: Plan, files: Files) -> None:
    del far_stream(plan)["registers"][0]


@mutant("wrong-hops", LINK_CORES)
def stage_that_the_board_does_not_have(plan: Plan, files: Files) -> None:
    far_stream(plan)["registers"][0]["stages"] += 1


@mutant("wrong-hops", LINK_CORES)
def flip_flops_of_data_alone(plan: Plan, files: Files) -> None:
    registers = far_stream(plan)["registers"][0]
    registers["flip_flops"] -= 2 * registers["stages"]


@mutant("wrong-cost", LINK_CORES)
def second_boundary_as_cheap_as_the_first(plan: Plan, files: Files) -> None:
    partition, far = phase_of(plan)["partition"], far_stream(plan)
    wires = far["registers"][0]["flip_flops"] // far["registers"][0]["stages"]
    partition["cost"] -= wires * (far["hops"] * (far["hops"] + 1) // 2 - far["hops"])
    partition["stats"] |= {"objective": partition["cost"], "bound": 0.0, "gap": 1.0, "status": "feasible"}


@mutant("infrastructure-mismatch", TWO_SLRS)
def dma_engine_forgotten(plan: Plan, files: Files) -> None:
    items = plan["platform"]["infrastructure"]
    items.remove(first(item for item in items if item["name"] == "input_dma"))


@mutant("infrastructure-mismatch", TWO_SLRS)
def memory_controller_in_another_slot(plan: Plan, files: Files) -> None:
    slots = [slot["name"] for slot in first(plan["platform"]["fpgas"])["slots"]]
    item = first(item for item in plan["platform"]["infrastructure"] if item["name"].endswith(" controller"))
    item["slot"] = first(slot for slot in slots if slot != item["slot"])


@mutant("infrastructure-mismatch", LINK_CORES)
def link_core_away_from_the_transceivers(plan: Plan, files: Files) -> None:
    item = first(item for item in plan["platform"]["infrastructure"] if item["name"].startswith("link core"))
    item["slot"] = first(plan["platform"]["fpgas"])["slots"][-1]["name"]


@mutant("platform-mismatch", TWO_SLRS)
def host_at_another_channel_than_was_asked_for(plan: Plan, files: Files) -> None:
    memories = yaml.safe_load(files[board_file(plan)]).get("memories", [])
    plan["options"]["host_port"] = first(memories[1:])["name"]


@mutant("platform-mismatch", TWO_SLRS)
def host_said_to_be_at_another_channel(plan: Plan, files: Files) -> None:
    first(fpga for fpga in plan["platform"]["fpgas"] if fpga["host_memory"])["host_memory"] = "DDR[3]"


@mutant("platform-malformed")
def channel_that_the_board_does_not_have(plan: Plan, files: Files) -> None:
    plan["options"]["host_port"] = "HBM[0]"


@mutant("platform-malformed", TWO_SLRS)
def board_with_two_words_on_the_host(plan: Plan, files: Files) -> None:
    board = yaml.safe_load(files[board_file(plan)])
    first(board.get("memories", []))
    files[board_file(plan)] = yaml.safe_dump({**board, "host_slr": "SLR0"})


@mutant("wrong-link", LINK_CORES)
def lossy_link_called_reliable(plan: Plan, files: Files) -> None:
    first(plan["platform"]["links"])["reliable"] ^= True
