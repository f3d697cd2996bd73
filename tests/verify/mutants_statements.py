"""Planted mistakes in what a plan states of itself: objectives, types, spellings, and values that nothing can hold."""

from __future__ import annotations

import yaml

from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    board_of,
    first,
    folded,
    mutant,
    part_of,
    pblocks,
    phase_of,
)


def claim(stats: Plan, objective: float) -> None:
    stats |= {"objective": objective, "bound": objective, "gap": 0.0, "status": "optimal"}


@mutant("wrong-objective")
def partition_objective_that_is_not_the_cost(plan: Plan, files: Files) -> None:
    partition = phase_of(plan)["partition"]
    claim(partition["stats"], partition["cost"] + 1)


@mutant("wrong-objective")
def folding_objective_claimed_without_proof(plan: Plan, files: Files) -> None:
    stats = part_of(plan)["folding"]["stats"]
    stats |= {"objective": stats["objective"] / 2, "bound": 0.0, "gap": 1.0, "status": "feasible"}


@mutant("wrong-objective")
def placement_objective_that_is_not_the_wire_length(plan: Plan, files: Files) -> None:
    floorplan = first(phase_of(plan)["floorplan"].values())
    claim(floorplan["stats"], floorplan["hpwl"] / 2 + 1)


@mutant("wrong-objective")
def folding_objective_that_is_not_the_scarcity(plan: Plan, files: Files) -> None:
    stats = part_of(plan)["folding"]["stats"]
    claim(stats, stats["objective"] * 0.9)


@mutant("wrong-objective")
def scarcity_passed_off_as_latency(plan: Plan, files: Files) -> None:
    plan["options"]["objective"] = "latency"


@mutant("bound-above-objective")
def whole_budget_dearer_than_a_part_of_it(plan: Plan, files: Files) -> None:
    folding = part_of(plan)["folding"]
    folding["whole_budget_bound"] = folding["stats"]["objective"] * 1.01


@mutant("plan-malformed")
def objective_that_nobody_knows(plan: Plan, files: Files) -> None:
    plan["options"]["objective"] = "beauty"


@mutant("plan-malformed")
def highest_rate_at_a_given_one(plan: Plan, files: Files) -> None:
    plan["options"] |= {"objective": "throughput", "fps": 0.001}


@mutant("type-mismatch")
def producer_of_another_type(plan: Plan, files: Files) -> None:
    engines = {engine["name"]: engine for network in plan["networks"] for engine in network["engines"]}
    source, target = first(
        (engines[c["source"]], engines[c["target"]])
        for c in phase_of(plan)["channels"]
        if c["source"] in engines and c["target"] in engines and c["target_port"] == 0
    )
    source["attributes"]["outputDataType"] = f"INT{source['output_bits']}"
    target["attributes"]["inputDataType"] = f"UINT{source['output_bits']}"


@mutant("module-empty")
def module_of_nothing(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    modules.append({**modules[0], "name": "nothing", "engines": []})


@mutant("engine-missing")
def plan_without_engines(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    plan["networks"][0]["engines"], part_of(plan)["folding"]["engines"] = [], {}
    phase["channels"], phase["modules"] = [], []


@mutant("wrong-estimate")
def rate_of_engines_without_channels(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"] = []
    part_of(plan)["estimates"]["latency_us"] *= 2


@mutant("plan-malformed")
def module_with_a_bracket_in_its_name(plan: Plan, files: Files) -> None:
    phase_of(plan)["modules"][0]["name"] = "front[exec ls]"


@mutant("plan-malformed")
def engine_with_a_slash_in_its_name(plan: Plan, files: Files) -> None:
    plan["networks"][0]["engines"][0]["name"] = "../up"


@mutant("pblock-parent", TWO_SLRS)
def module_named_after_the_shell(plan: Plan, files: Files) -> None:
    if "parent_pblock" not in board_of(plan, files).get("shell", {}):
        raise NotApplicable
    blocks = pblocks(plan)
    blocks["dynamic_SLR0"] = blocks.pop(first(blocks))


@mutant("illegal-folding")
def memory_mode_of_a_window(plan: Plan, files: Files) -> None:
    folded(plan, "ConvolutionInputGenerator", "SIMD")[1]["mem_mode"] = "internal_decoupled"


@mutant("illegal-folding")
def attribute_spelt_twice(plan: Plan, files: Files) -> None:
    folded(plan, "MVAU", "resType")[1]["res_type"] = "dsp"


@mutant("illegal-folding")
def flag_that_is_true(plan: Plan, files: Files) -> None:
    folded(plan, "MVAU", "mem_mode")[1]["runtime_writeable_weights"] = True


@mutant("illegal-folding")
def pool_of_no_size(plan: Plan, files: Files) -> None:
    engine = plan["networks"][0]["engines"][0]
    engine |= {"kind": "StreamingMaxPool_hls"}
    engine["attributes"] = {"ImgDim": [4, 4], "PoolDim": [0, 0], "NumChannels": 4}


@mutant("file-corrupt")
def integer_that_nothing_stores(plan: Plan, files: Files) -> None:
    first(e for e in plan["networks"][0]["engines"] if "MW" in e["attributes"])["attributes"]["MW"] = 10**400


@mutant("file-corrupt")
def name_with_half_a_surrogate_pair(plan: Plan, files: Files) -> None:
    phase_of(plan)["modules"][0]["name"] = "front\ud800"


@mutant("file-corrupt")
def platform_file_with_nul(plan: Plan, files: Files) -> None:
    plan["platform"]["files"].append("boards/\0.yaml")


@mutant("type-width-mismatch")
def type_of_thousands_of_digits(plan: Plan, files: Files) -> None:
    engines = [engine for network in plan["networks"] for engine in network["engines"]]
    first(e for e in engines if "inputDataType" in e["attributes"])["attributes"]["inputDataType"] = f"INT{'9' * 9000}"


@mutant("engine-malformed")
def vectors_of_astronomical_number(plan: Plan, files: Files) -> None:
    engines = plan["networks"][0]["engines"]
    attributes = first(e for e in engines if "numInputVectors" in e["attributes"])["attributes"]
    attributes["numInputVectors"] = [2**62] * 60


def rewrite_board(plan: Plan, files: Files, find: str, replace: str) -> None:
    name = f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"
    before = files[name]
    files[name] = before.replace(find, replace, 1)
    if files[name] == before:
        raise NotApplicable


@mutant("file-corrupt")
def date_in_the_board(plan: Plan, files: Files) -> None:
    rewrite_board(plan, files, "schema:", "made: 2024-01-01\nschema:")


@mutant("file-corrupt")
def number_that_is_no_number(plan: Plan, files: Files) -> None:
    rewrite_board(plan, files, "schema:", "made: !!timestamp x\nschema:")


@mutant("platform-mismatch")
def part_of_another_die(plan: Plan, files: Files) -> None:
    name = f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"
    board = yaml.safe_load(files[name])
    board["part"] = plan["platform"]["fpgas"][0]["part"] = "xcvu440-flga2892-2-e"
    files[name] = yaml.safe_dump(board)


def _timed(plan: Plan, interval_cycles: int, planned_words: int | None = None) -> None:
    """Let the plan say that its FIFOs keep an interval, and which of them has how many words too few."""
    phase = phase_of(plan)
    channel = phase["channels"][0]
    words = channel["fifo_depth"] if planned_words is None else planned_words
    numbers = dict.fromkeys(
        ("full_rate_cycles", "first_word_cycles", "first_frame_cycles"), part_of(plan)["interval_cycles"]
    )
    part_of(plan)["estimates"]["throughput"] = {
        **numbers,
        "interval_cycles": interval_cycles,
        "deadlock": [],
        "shallow": [{"channel": channel["name"], "planned": words, "needed": words + 1}],
        "not_analysed": "",
    }
    part_of(plan)["estimates"]["sustained_fps"] = part_of(plan)["estimates"]["clock_mhz"] * 1e6 / interval_cycles


@mutant("wrong-estimate")
def rate_of_the_engines_as_sustained(plan: Plan, files: Files) -> None:
    _timed(plan, 2 * part_of(plan)["interval_cycles"])
    part_of(plan)["estimates"]["sustained_fps"] *= 2


@mutant("wrong-estimate")
def fifos_that_keep_more_than_deeper_ones(plan: Plan, files: Files) -> None:
    _timed(plan, part_of(plan)["interval_cycles"] - 1)


@mutant("wrong-estimate")
def shallow_fifo_of_another_depth(plan: Plan, files: Files) -> None:
    _timed(plan, 2 * part_of(plan)["interval_cycles"], phase_of(plan)["channels"][0]["fifo_depth"] + 1)


@mutant("plan-malformed")
def refusal_without_its_amounts(plan: Plan, files: Files) -> None:
    refused = [row for row in plan["networks"][0]["trace"] if row["refusals"]]
    del first(refused)["refusals"][0]["needed"]


@mutant("plan-malformed")
def trace_that_names_no_phase(plan: Plan, files: Files) -> None:
    del plan["networks"][0]["trace"][0]["phase"]


@mutant("backend-unknown")
def back_end_of_nobody(plan: Plan, files: Files) -> None:
    plan["options"]["backend"] = "nobody"


@mutant("plan-malformed")
def option_of_the_back_end_left_out(plan: Plan, files: Files) -> None:
    del plan["options"]["backend_options"]["costs"]


@mutant("wrong-schedule")
def schedule_of_a_single_phase(plan: Plan, files: Files) -> None:
    step = {"phase": phase_of(plan)["name"], "load_us": 0.0, "run_us": 1.0}
    plan["schedule"] = {"kind": "reconfigure", "batch": 1, "period_us": 1.0, "steps": [step]}


@mutant("summary-differs")
def summary_of_a_faster_plan(plan: Plan, files: Files) -> None:
    plan["summary"]["networks"][0]["fps"] *= 1.1


@mutant("platform-mismatch")
def slot_of_another_fpga(plan: Plan, files: Files) -> None:
    plan["platform"]["fpgas"][0]["slots"][0]["fpga"] = "fpga7"


@mutant("phase-unknown")
def stream_to_a_phase_that_there_is_not(plan: Plan, files: Files) -> None:
    first(c for c in phase_of(plan)["channels"] if c["target"].startswith("host:"))["target"] = "phase:next/out"


@mutant("plan-malformed")
def plan_of_version_1(plan: Plan, files: Files) -> None:
    plan["schema"] = "floorflow-plan/1"
