"""Planted mistakes in the plan of two networks and two phases: names, what runs where, and what passes between."""

from __future__ import annotations

import copy

from tests.verify.planting import Files, Plan, Registry, first
from tests.verify.two_by_two import NAMES

PHASES = Registry()
mutant = PHASES.mutant


def part(plan: Plan, phase: int, network: int) -> Plan:
    found: Plan = plan["phases"][phase]["networks"][network]
    return found


def channel(plan: Plan, phase: int, name: str) -> Plan:
    """Return a channel by the short name that it has in two_by_two."""
    full_name = NAMES[f"p{phase}", name]
    found: Plan = first(c for c in plan["phases"][phase]["channels"] if c["name"] == full_name)
    return found


@mutant("name-repeated")
def two_phases_of_one_name(plan: Plan, files: Files) -> None:
    plan["phases"][1]["name"] = "p0"


@mutant("name-repeated")
def two_networks_of_one_name(plan: Plan, files: Files) -> None:
    plan["networks"].append(copy.deepcopy(plan["networks"][1]))


@mutant("engine-repeated")
def two_engines_of_one_name_in_a_network(plan: Plan, files: Files) -> None:
    engines = plan["networks"][1]["engines"]
    engines.append(engines[0])


@mutant("plan-malformed")
def phase_named_as_the_folder_above(plan: Plan, files: Files) -> None:
    plan["phases"][1]["name"] = ".."


@mutant("plan-malformed")
def network_with_a_slash_in_its_name(plan: Plan, files: Files) -> None:
    plan["networks"][1]["name"] = "radar/left"


@mutant("plan-malformed")
def engine_of_two_networks_in_a_module(plan: Plan, files: Files) -> None:
    plan["phases"][0]["modules"][0]["engines"].append("camera/radar/MVAU_hls_0")


@mutant("plan-malformed")
def engine_of_no_role(plan: Plan, files: Files) -> None:
    plan["networks"][0]["engines"][0]["role"] = "window"


@mutant("phase-networks")
def network_twice_in_a_phase(plan: Plan, files: Files) -> None:
    networks = plan["phases"][0]["networks"]
    networks.append(networks[1])


@mutant("phase-networks")
def networks_in_another_order(plan: Plan, files: Files) -> None:
    plan["phases"][0]["networks"].reverse()


@mutant("phase-networks")
def network_that_the_plan_does_not_have(plan: Plan, files: Files) -> None:
    part(plan, 1, 0)["network"] = "ghost"


@mutant("phase-networks")
def phase_of_nothing(plan: Plan, files: Files) -> None:
    plan["phases"][1]["networks"] = []


@mutant("trace-phase")
def trace_of_a_phase_that_the_plan_does_not_have(plan: Plan, files: Files) -> None:
    plan["networks"][0]["trace"][-1]["phase"] = "p2"


@mutant("trace-phase")
def trace_of_a_phase_without_the_network(plan: Plan, files: Files) -> None:
    plan["phases"][1]["networks"].pop(0)


@mutant("network-missing")
def network_that_never_runs(plan: Plan, files: Files) -> None:
    plan["networks"].append({**plan["networks"][1], "name": "sonar", "engines": []})


@mutant("engine-missing")
def engine_that_never_runs(plan: Plan, files: Files) -> None:
    engines = plan["networks"][0]["engines"]
    engines.append({**engines[-1], "name": "MVAU_hls_2"})


@mutant("engine-unknown")
def engine_folded_with_the_other_network(plan: Plan, files: Files) -> None:
    camera, radar = (part(plan, 0, number)["folding"]["engines"] for number in (0, 1))
    camera["radar/MVAU_hls_0"] = radar["radar/MVAU_hls_0"]


@mutant("channel-astray")
def channel_from_network_to_network(plan: Plan, files: Files) -> None:
    channel(plan, 0, "radar_tracks")["target"] = "camera/phase:p1/tracks"


@mutant("channel-astray")
def channel_past_all_engines(plan: Plan, files: Files) -> None:
    channel(plan, 1, "camera_out")["source"] = "camera/memory:features"


@mutant("channel-end-unknown")
def end_without_its_network(plan: Plan, files: Files) -> None:
    channel(plan, 0, "camera_in")["source"] = "host:in0"


@mutant("channel-end-unknown")
def buffer_with_a_slash_in_its_name(plan: Plan, files: Files) -> None:
    channel(plan, 0, "camera_features")["target"] = "camera/memory:features/left"


@mutant("channel-end-unknown")
def input_of_the_host_as_a_target(plan: Plan, files: Files) -> None:
    channel(plan, 1, "camera_out")["target"] = "camera/host:in0"


@mutant("channel-end-unknown")
def engine_of_another_phase(plan: Plan, files: Files) -> None:
    channel(plan, 0, "camera_features")["target"] = "camera/MVAU_hls_1"


@mutant("memory-unwritten")
def buffer_that_nobody_wrote(plan: Plan, files: Files) -> None:
    channel(plan, 1, "camera_features")["source"] = "camera/memory:other"


@mutant("memory-unwritten")
def buffer_read_before_it_is_written(plan: Plan, files: Files) -> None:
    plan["phases"].reverse()
    plan["schedule"]["steps"].reverse()


@mutant("memory-unwritten")
def buffer_of_the_other_network(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_tracks")["source"] = "radar/memory:features"


@mutant("memory-unread")
def buffer_that_nobody_reads(plan: Plan, files: Files) -> None:
    channel(plan, 1, "camera_out")["target"] = "camera/memory:result"


@mutant("memory-rewritten")
def buffer_written_by_both_phases(plan: Plan, files: Files) -> None:
    channel(plan, 1, "camera_out")["target"] = "camera/memory:features"


@mutant("frame-mismatch")
def buffer_read_in_part(plan: Plan, files: Files) -> None:
    channel(plan, 1, "camera_features")["words_per_frame"] -= 1


@mutant("frame-mismatch")
def stream_handed_over_in_part(plan: Plan, files: Files) -> None:
    channel(plan, 0, "radar_tracks")["words_per_frame"] //= 2


@mutant("frame-mismatch")
def host_port_of_two_tensors(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_echo")["words_per_frame"] *= 2


@mutant("frame-mismatch")
def port_of_an_engine_with_other_words_in_another_phase(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_levels")["words_per_frame"] += 1


@mutant("phase-unknown")
def stream_handed_to_a_ghost(plan: Plan, files: Files) -> None:
    channel(plan, 0, "radar_tracks")["target"] = "radar/phase:p9/tracks"


@mutant("phase-unknown")
def stream_handed_to_its_own_phase(plan: Plan, files: Files) -> None:
    channel(plan, 0, "radar_tracks")["target"] = "radar/phase:p0/tracks"


@mutant("handover-mismatch")
def stream_taken_under_another_name(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_tracks")["source"] = "radar/phase:p0/echoes"


@mutant("handover-mismatch")
def stream_taken_twice(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_echo")["source"] = "radar/phase:p0/tracks"


@mutant("handover-mismatch")
def stream_handed_over_and_read_from_memory(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_tracks")["source"] = "radar/memory:tracks"


@mutant("port-mismatch")
def host_inputs_from_one(plan: Plan, files: Files) -> None:
    for phase in (0, 1):
        channel(plan, phase, "radar_echo")["source"] = "radar/host:in1"


@mutant("port-mismatch")
def host_input_for_two_engines(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_tracks")["source"] = "radar/host:in0"


@mutant("port-mismatch")
def engine_without_one_of_its_channels_in_a_phase(plan: Plan, files: Files) -> None:
    channels = plan["phases"][1]["channels"]
    channels.remove(channel(plan, 1, "radar_echo"))


@mutant("wrong-interval")
def interval_of_the_shorter_phase_as_the_search_found(plan: Plan, files: Files) -> None:
    plan["networks"][0]["search"] |= {"interval_cycles": 72, "bound_cycles": 72}


@mutant("wrong-interval")
def interval_of_the_other_network(plan: Plan, files: Files) -> None:
    part(plan, 0, 1)["interval_cycles"] = part(plan, 0, 0)["interval_cycles"]


@mutant("wrong-estimate")
def rate_of_the_other_network(plan: Plan, files: Files) -> None:
    part(plan, 0, 1)["estimates"]["fps"] = part(plan, 0, 0)["estimates"]["fps"]


@mutant("wrong-estimate")
def bottleneck_without_its_network(plan: Plan, files: Files) -> None:
    part(plan, 0, 1)["estimates"]["bottleneck"] = "MVAU_hls_0"


@mutant("wrong-estimate")
def latency_of_both_phases_in_one(plan: Plan, files: Files) -> None:
    part(plan, 0, 0)["estimates"]["latency_us"] += part(plan, 1, 0)["estimates"]["latency_us"]


@mutant("wrong-estimate")
def sustained_rate_that_nobody_analysed(plan: Plan, files: Files) -> None:
    estimates = part(plan, 0, 0)["estimates"]
    estimates["sustained_fps"] = estimates["fps"]


@mutant("wrong-crossing")
def crossing_at_the_rate_of_the_other_network(plan: Plan, files: Files) -> None:
    crossing = first(plan["phases"][0]["partition"]["crossings"])
    camera, radar = (part(plan, 0, number)["estimates"]["fps"] for number in (0, 1))
    crossing["gbps"] *= camera / radar


@mutant("wrong-objective")
def folding_objective_of_both_networks(plan: Plan, files: Files) -> None:
    camera, radar = (part(plan, 0, number)["folding"]["stats"] for number in (0, 1))
    total = camera["objective"] + radar["objective"]
    camera |= {"objective": total, "bound": total}


@mutant("wrong-sum")
def folding_that_counts_no_converters(plan: Plan, files: Files) -> None:
    folding = part(plan, 0, 1)["folding"]
    folding["resources"]["LUT"] = sum(engine["resources"]["LUT"] for engine in folding["engines"].values())


@mutant("rate-missed")
def rate_that_only_one_phase_keeps(plan: Plan, files: Files) -> None:
    plan["options"] |= {"objective": "resources", "fps": part(plan, 0, 0)["estimates"]["fps"]}


@mutant("wrong-parallelism")
def parallelism_of_another_folding(plan: Plan, files: Files) -> None:
    part(plan, 1, 1)["folding"]["engines"]["radar/Thresholding_rtl_0"]["parallelism"][0]["value"] = 2


@mutant("wrong-parallelism")
def parallelism_above_its_most(plan: Plan, files: Files) -> None:
    row = {"name": "lanes", "value": 9, "most": 8}
    part(plan, 1, 1)["folding"]["engines"]["radar/Thresholding_rtl_0"]["parallelism"].append(row)


@mutant("wrong-parallelism")
def parallelism_told_twice(plan: Plan, files: Files) -> None:
    rows = part(plan, 1, 1)["folding"]["engines"]["radar/Thresholding_rtl_0"]["parallelism"]
    rows.append(rows[0])


@mutant("cap-exceeded")
def networks_that_fit_only_one_at_a_time(plan: Plan, files: Files) -> None:
    available = plan["platform"]["fpgas"][0]["slots"][0]["available"]["LUT"]
    for network, engine, module in ((0, "camera/MVAU_hls_1", "back"), (1, "radar/AddStreams_hls_0", "fuse")):
        amount = int(available * plan["options"]["cap"]["LUT"] * 0.6)
        folding = part(plan, 1, network)["folding"]
        entry = first(m for m in plan["phases"][1]["modules"] if m["name"] == module)
        demand = plan["phases"][1]["floorplan"]["fpga0"]["pblocks"][module]["demand"]
        for amounts in (folding["engines"][engine]["resources"], folding["resources"], folding["budget"]):
            amounts["LUT"] += amount
        entry["resources"]["LUT"] += amount
        demand["LUT"] += amount
        plan["phases"][1]["partition"]["utilisation"]["fpga0.SLR0"]["LUT"] += amount / available


@mutant("pblock-overlap")
def networks_on_one_place(plan: Plan, files: Files) -> None:
    blocks = plan["phases"][1]["floorplan"]["fpga0"]["pblocks"]
    blocks["back"] |= {key: blocks["fuse"][key] for key in ("rectangles", "ranges", "anchor", "supply")}
