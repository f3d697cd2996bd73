"""Planted mistakes in the schedule of a shared memory: order, bytes, speeds, slots, rates, engines and files."""

from __future__ import annotations

import json

from tests.verify.planting import ONE_NETWORK, Files, Mutant, Plan, Registry, first

__all__ = ["AT_MEMORY", "Files", "Mutant", "Plan"]
AT_MEMORY = Registry()
mutant = AT_MEMORY.mutant
TABLE, ROWS = "fcnnx/mcnn_hs.json", "fcnnx/mcnn_hs.csv"


def shared(plan: Plan) -> Plan:
    found: Plan = plan["memory_schedule"]
    return found


def network(plan: Plan, number: int = 0) -> Plan:
    found: Plan = shared(plan)["networks"][number]
    return found


def transfers(plan: Plan, number: int = 0) -> list[Plan]:
    name = network(plan, number)["network"]
    return [entry for entry in shared(plan)["transfers"] if entry["network"] == name]


@mutant("memory-schedule-missing")
def no_schedule_of_the_memory(plan: Plan, files: Files) -> None:
    plan["memory_schedule"] = None


@ONE_NETWORK.mutant("memory-schedule-needless")
def schedule_of_a_memory_that_no_engine_works_from(plan: Plan, files: Files) -> None:
    stats = {"method": "exact", "status": "optimal", "objective": 1.0, "bound": 1.0, "gap": 0.0}
    plan["memory_schedule"] = {
        "memory_gbs": 1.0,
        "bandwidth_gbs": 0.9,
        "fairness": "fps-error",
        "two_sided": False,
        "burst_beats": 1024,
        "limits_share": 1.0,
        "slots_total": 64,
        "period_us": 1.0,
        "error": 0.0,
        "error_bound": 0.0,
        "choice": stats,
        "schedule": stats,
        "networks": [],
        "transfers": [],
        "front": [],
    }


@mutant("wrong-memory-networks")
def schedule_without_a_network(plan: Plan, files: Files) -> None:
    shared(plan)["networks"].pop()


@mutant("wrong-memory-networks")
def engine_of_another_network_at_the_memory(plan: Plan, files: Files) -> None:
    network(plan)["engine"] = network(plan, 1)["engine"]


@mutant("wrong-memory-networks")
def transfer_of_a_network_that_is_not_there(plan: Plan, files: Files) -> None:
    transfers(plan)[-1]["network"] = "stranger"


@mutant("wrong-bandwidth")
def all_of_the_peak_is_planned_with(plan: Plan, files: Files) -> None:
    shared(plan)["bandwidth_gbs"] = shared(plan)["memory_gbs"]


@mutant("wrong-subgraphs")
def subgraph_of_half_its_bytes(plan: Plan, files: Files) -> None:
    network(plan)["subgraphs"][0]["traffic_bytes"] /= 2


@mutant("wrong-subgraphs")
def subgraph_in_half_its_time(plan: Plan, files: Files) -> None:
    network(plan, 1)["subgraphs"][-1]["latency_us"] /= 2


@mutant("wrong-subgraphs")
def subgraph_that_is_left_out(plan: Plan, files: Files) -> None:
    network(plan)["subgraphs"].pop()


@mutant("wrong-transfer-order")
def transfer_that_begins_before_the_one_before_it_has_ended(plan: Plan, files: Files) -> None:
    before, entry = transfers(plan)[:2]
    entry["start_us"] -= (before["end_us"] - before["start_us"]) / 2


@mutant("wrong-transfer-order")
def two_subgraphs_in_each_others_place(plan: Plan, files: Files) -> None:
    a, b = transfers(plan)[:2]
    a["subgraph"], b["subgraph"] = b["subgraph"], a["subgraph"]


@mutant("wrong-transfer-order")
def one_inference_less_than_stated(plan: Plan, files: Files) -> None:
    count = len(network(plan)["subgraphs"])
    last = transfers(plan)[-1]["run"]
    kept = [
        e for e in shared(plan)["transfers"] if e["network"] != network(plan)["network"] or e["run"] <= last - count
    ]
    shared(plan)["transfers"] = kept


@mutant("wrong-transfer-order")
def transfer_beyond_the_end_of_the_period(plan: Plan, files: Files) -> None:
    transfers(plan)[-1]["end_us"] = shared(plan)["period_us"] * 1.01


@mutant("wrong-transfer-bytes")
def run_with_a_tenth_of_its_bytes_left_out(plan: Plan, files: Files) -> None:
    transfers(plan)[0]["traffic_bytes"] *= 0.9


@mutant("transfer-too-fast")
def more_bytes_than_slots_carry(plan: Plan, files: Files) -> None:
    entry = max(transfers(plan), key=lambda each: each["slots"])
    entry["slots"] = max(1, entry["slots"] // 2)


@mutant("transfer-too-fast")
def speed_of_twice_what_the_engine_does(plan: Plan, files: Files) -> None:
    transfers(plan)[0]["speed"] *= 2


@mutant("transfer-too-fast")
def run_in_less_than_its_least_time(plan: Plan, files: Files) -> None:
    entry = transfers(plan, 1)[-1]
    length = entry["end_us"] - entry["start_us"]
    entry["start_us"] = entry["end_us"] - length * entry["speed"] * 0.9
    entry["slots"] = shared(plan)["slots_total"]


@mutant("memory-overloaded")
def round_of_fewer_slots_than_are_taken(plan: Plan, files: Files) -> None:
    shared(plan)["slots_total"] -= 5


@mutant("wrong-memory-rate")
def rate_above_what_the_period_gives(plan: Plan, files: Files) -> None:
    network(plan)["fps"] *= 1.01


@mutant("wrong-memory-rate")
def target_below_what_was_asked_for(plan: Plan, files: Files) -> None:
    network(plan)["target_fps"] *= 0.9


@mutant("wrong-memory-rate")
def least_rate_below_half_the_target(plan: Plan, files: Files) -> None:
    network(plan, 1)["least_fps"] *= 0.9


@mutant("wrong-memory-rate")
def most_alone_below_what_the_engine_reaches(plan: Plan, files: Files) -> None:
    own = network(plan)
    own["alone_fps"] = own["target_fps"] = own["fps"] * 0.5


@mutant("wrong-memory-rate")
def latency_of_half_of_what_a_frame_takes(plan: Plan, files: Files) -> None:
    network(plan)["latency_us"] /= 2


@mutant("wrong-memory-rate")
def unaware_rate_above_the_engines_own(plan: Plan, files: Files) -> None:
    network(plan)["unaware_fps"] = 2e6


@mutant("wrong-memory-rate")
def fairness_that_nobody_knows(plan: Plan, files: Files) -> None:
    shared(plan)["fairness"] = "equal-shares"


@mutant("wrong-memory-rate")
def asked_rates_that_are_not_the_options(plan: Plan, files: Files) -> None:
    name = network(plan)["network"]
    plan["options"]["rates"][name] *= 2


@mutant("wrong-memory-error")
def error_that_is_not_that_of_the_rates(plan: Plan, files: Files) -> None:
    shared(plan)["error"] += 0.01


@mutant("bound-above-objective")
def bound_on_the_error_above_it(plan: Plan, files: Files) -> None:
    shared(plan)["error_bound"] = shared(plan)["error"] + 0.5


@mutant("wrong-objective")
def period_of_the_solver_below_all_bytes_at_full_bandwidth(plan: Plan, files: Files) -> None:
    stats = shared(plan)["schedule"]
    stats |= {"status": "optimal", "objective": stats["objective"] / 2, "bound": stats["objective"] / 2, "gap": 0.0}


@mutant("wrong-objective")
def period_of_the_solver_above_that_of_the_table(plan: Plan, files: Files) -> None:
    stats = shared(plan)["schedule"]
    stats |= {
        "status": "feasible",
        "objective": stats["objective"] * 2,
        "gap": 1 - stats["bound"] / stats["objective"] / 2,
    }


@mutant("wrong-sum")
def engines_of_more_than_the_share_that_they_were_chosen_in(plan: Plan, files: Files) -> None:
    shared(plan)["limits_share"] = 0.01


@mutant("starved-unnamed")
def starved_network_that_is_not_named(plan: Plan, files: Files) -> None:
    own = network(plan)
    own["starved"] = not own["starved"]


@mutant("rate-missed")
def rate_that_must_be_kept_and_is_not(plan: Plan, files: Files) -> None:
    own = network(plan)
    own |= {"must": True, "least_fps": own["fps"] * 1.1, "starved": True}


@mutant("summary-differs")
def summary_with_the_rate_of_an_engine_that_never_waits(plan: Plan, files: Files) -> None:
    row = plan["summary"]["networks"][0]
    row["fps"] = first(p for p in plan["phases"][0]["networks"])["estimates"]["fps"] * 1.5


@mutant("illegal-folding")
def engine_of_three_banks(plan: Plan, files: Files) -> None:
    engine_of(plan)["attributes"]["banks"] = 3


@mutant("resources-too-few")
def engine_with_a_multiplier_less(plan: Plan, files: Files) -> None:
    engine_of(plan)["resources"]["DSP"] -= 1


@mutant("engine-malformed")
def layer_that_does_not_take_the_maps_of_the_one_before(plan: Plan, files: Files) -> None:
    plan["networks"][1]["engines"][0]["attributes"]["maps_in"][1] += 1


@mutant("wrong-cycles")
def engine_in_fewer_cycles(plan: Plan, files: Files) -> None:
    engine_of(plan)["cycles"] -= 1


def engine_of(plan: Plan) -> Plan:
    engines: Plan = plan["phases"][0]["networks"][0]["folding"]["engines"]
    found: Plan = next(iter(engines.values()))
    return found


@mutant("scheduler-table-differs")
def table_with_a_slot_more_for_one(plan: Plan, files: Files) -> None:
    table = json.loads(files[TABLE])
    table["entries"][0]["slots"] += 1
    files[TABLE] = json.dumps(table)


@mutant("scheduler-table-differs")
def table_of_another_period(plan: Plan, files: Files) -> None:
    table = json.loads(files[TABLE])
    table["period_us"] += 1
    files[TABLE] = json.dumps(table)


@mutant("scheduler-table-differs")
def rows_that_begin_at_another_byte(plan: Plan, files: Files) -> None:
    lines = files[ROWS].splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",7"
    files[ROWS] = "\n".join(lines)


@mutant("scheduler-table-differs")
def rows_without_the_last(plan: Plan, files: Files) -> None:
    files[ROWS] = "\n".join(files[ROWS].splitlines()[:-1])


@mutant("engine-file-differs")
def parameters_of_a_wider_engine(plan: Plan, files: Files) -> None:
    name = f"fcnnx/{network(plan)['network']}/engine.json"
    parameters = json.loads(files[name])
    parameters["folding"]["N_PE"] += 1
    files[name] = json.dumps(parameters)
