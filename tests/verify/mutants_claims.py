"""Planted mistakes in what a plan claims beside its floorplan: interfaces, expectations, bounds, options, inputs."""

from __future__ import annotations

import json

from tests.verify.mutants_phases import PHASES, part
from tests.verify.planting import Files, Plan, first, mutant, part_of, phase_of

THROUGHPUT = {
    "full_rate_cycles": None,
    "interval_cycles": None,
    "first_word_cycles": None,
    "first_frame_cycles": None,
    "deadlock": [],
    "shallow": [],
    "not_analysed": "too many steps",
}


def implementation(plan: Plan) -> Plan:
    made: Plan = phase_of(plan)["implementations"][0]
    return made


@mutant("implementation-needless")
def implementation_of_no_module(plan: Plan, files: Files) -> None:
    phase_of(plan)["implementations"].append({**implementation(plan), "name": "spare"})


@mutant("implementation-port")
def port_of_the_other_direction(plan: Plan, files: Files) -> None:
    port = implementation(plan)["ports"][0]
    port["direction"] = "out" if port["direction"] == "in" else "in"


@mutant("implementation-port")
def port_left_out(plan: Plan, files: Files) -> None:
    implementation(plan)["ports"].pop()


@mutant("implementation-window")
def window_turned(plan: Plan, files: Files) -> None:
    window = implementation(plan)["window"]
    window["columns"], window["rows"] = window["rows"] + 1, window["columns"]


@PHASES.mutant("module-mixed")
def module_of_two_networks(plan: Plan, files: Files) -> None:
    front, track = plan["phases"][0]["modules"]
    front["engines"] += track["engines"]


@mutant("wrong-band")
def band_turned_over(plan: Plan, files: Files) -> None:
    phase_of(plan)["bands"] = {"MVAU_hls": {"LUT": [1.25, 0.8]}}


def fits(plan: Plan) -> Plan:
    found: Plan = phase_of(plan)["fits"]
    return found


@mutant("wrong-fit")
def likelihood_in_percent(plan: Plan, files: Files) -> None:
    first(fits(plan).values())["likelihood"] = 97.0


@mutant("wrong-fit")
def low_above_high(plan: Plan, files: Files) -> None:
    fit = first(fits(plan).values())
    fit["low"]["LUT"] = fit["high"]["LUT"] + 1


@mutant("slot-unknown")
def fit_of_a_ghost(plan: Plan, files: Files) -> None:
    made = fits(plan)
    made["ghost"] = first(made.values())


@mutant("wrong-calibration")
def measured_engine_of_another_plan(plan: Plan, files: Files) -> None:
    plan["calibration"] = {"measured": ["MVAU_hls_99"], "factors": {}, "reports": []}


@mutant("wrong-calibration")
def factor_of_nothing(plan: Plan, files: Files) -> None:
    plan["calibration"] = {"measured": [], "factors": {"MVAU_hls": {"LUT": 0.0}}, "reports": []}


@mutant("wrong-budget")
def budget_above_the_platform(plan: Plan, files: Files) -> None:
    slots = [slot for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]]
    part_of(plan)["folding"]["budget"]["LUT"] = sum(slot["available"]["LUT"] for slot in slots)


@mutant("wrong-budget")
def bound_below_nothing(plan: Plan, files: Files) -> None:
    part_of(plan)["folding"]["whole_budget_bound"] = -1.0


@mutant("wrong-bound")
def bound_of_a_search_for_few_resources(plan: Plan, files: Files) -> None:
    search = plan["networks"][0]["search"]
    plan["options"]["objective"] = "resources"
    search["bound_cycles"] = search["interval_cycles"] // 2
    search["gap"] = 1 - search["bound_cycles"] / search["interval_cycles"]
    plan["summary"]["networks"][0] |= {"bound_cycles": search["bound_cycles"], "gap": search["gap"]}


@mutant("wrong-bound")
def joint_bound_of_a_search_for_low_latency(plan: Plan, files: Files) -> None:
    search = plan["networks"][0]["search"]
    plan["options"]["objective"] = "latency"
    search |= {"bound_cycles": search["interval_cycles"], "gap": 0.0}
    with_joint_bound(plan, search["interval_cycles"])


@mutant("wrong-bound")
def joint_bound_below_the_folding_bound(plan: Plan, files: Files) -> None:
    with_joint_bound(plan, plan["networks"][0]["search"]["bound_cycles"] - 1)


@mutant("bound-above-objective")
def joint_bound_above_the_interval(plan: Plan, files: Files) -> None:
    with_joint_bound(plan, plan["networks"][0]["search"]["interval_cycles"] + 1)


@mutant("summary-differs")
def joint_bound_of_the_summary_alone(plan: Plan, files: Files) -> None:
    with_joint_bound(plan, plan["networks"][0]["search"]["interval_cycles"])
    plan["summary"]["networks"][0]["joint_bound_cycles"] = None


def with_joint_bound(plan: Plan, cycles: int) -> None:
    search, figures = plan["networks"][0]["search"], plan["summary"]["networks"][0]
    search["joint_bound_cycles"] = figures["joint_bound_cycles"] = cycles


@mutant("search-unexplained")
def search_ended_by_a_try_that_was_not_made(plan: Plan, files: Files) -> None:
    ended_at = {"interval_cycles": 1, "stage": "fold", "refusals": []}
    plan["networks"][0]["search"]["ended_at"] = ended_at


@mutant("search-unexplained")
def search_ended_by_a_try_for_other_reasons(plan: Plan, files: Files) -> None:
    network = plan["networks"][0]
    row = first(row for row in network["trace"] if row["refusals"])
    refusals = [refusal | {"place": "elsewhere"} for refusal in row["refusals"]]
    ended_at = {"interval_cycles": row["interval_cycles"], "stage": row["stage"], "refusals": refusals}
    network["search"]["ended_at"] = ended_at


@mutant("search-unexplained")
def search_ended_by_a_try_that_did_well(plan: Plan, files: Files) -> None:
    network = plan["networks"][0]
    row = {**network["trace"][0], "interval_cycles": 123, "verdict": "legal", "stage": "place", "refusals": []}
    network["trace"].append(row)
    network["search"]["ended_at"] = {"interval_cycles": 123, "stage": "place", "refusals": []}


@mutant("wrong-objective")
def small_objective_half_a_percent_off(plan: Plan, files: Files) -> None:
    stats = part_of(plan)["folding"]["stats"]
    stats |= dict.fromkeys(("objective", "bound"), stats["objective"] * 0.995)


@mutant("wrong-estimate")
def expected_cycles_below_the_interval(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["expected_cycles"] = part_of(plan)["interval_cycles"] - 1


@mutant("wrong-estimate")
def likely_clock_from_high_to_low(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["likely_clock"] = {"low_mhz": 120, "high_mhz": 90, "engine": "", "path": "counters"}


@mutant("wrong-estimate")
def likely_clock_of_an_engine_that_does_not_run(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["likely_clock"] = {"low_mhz": 90, "high_mhz": 120, "engine": "nobody", "path": "sum"}


@mutant("wrong-estimate")
def expected_cycles_that_the_planned_fifos_do_not_keep(plan: Plan, files: Files) -> None:
    first_word_behind_its_frame(plan, files)
    estimates, interval = part_of(plan)["estimates"], part_of(plan)["interval_cycles"]
    estimates["throughput"]["first_word_cycles"] = 10**6
    estimates["expected_cycles"] = interval + 1


@mutant("wrong-estimate")
def unknown_throughput_without_a_reason(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["throughput"] = {**THROUGHPUT, "not_analysed": ""}


@mutant("wrong-estimate")
def known_throughput_with_an_excuse(plan: Plan, files: Files) -> None:
    estimates, interval = part_of(plan)["estimates"], part_of(plan)["interval_cycles"]
    estimates["sustained_fps"] = plan["summary"]["networks"][0]["sustained_fps"] = estimates["fps"]
    estimates["throughput"] = THROUGHPUT | {name: interval for name in THROUGHPUT if name.endswith("_cycles")}
    estimates["throughput"] |= {"first_word_cycles": 10**6, "first_frame_cycles": 10**6}


@mutant("wrong-estimate")
def first_word_behind_its_frame(plan: Plan, files: Files) -> None:
    estimates, interval = part_of(plan)["estimates"], part_of(plan)["interval_cycles"]
    estimates["sustained_fps"] = plan["summary"]["networks"][0]["sustained_fps"] = estimates["fps"]
    estimates["throughput"] = THROUGHPUT | {name: interval for name in THROUGHPUT if name.endswith("_cycles")}
    estimates["throughput"] |= {"first_word_cycles": 10**6 + 1, "first_frame_cycles": 10**6, "not_analysed": ""}


@mutant("wrong-option")
def seed_of_another_run(plan: Plan, files: Files) -> None:
    plan["options"]["seed"] = plan["seed"] + 1


@mutant("wrong-option")
def more_fpgas_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["fpgas"] = len(plan["platform"]["fpgas"]) + 1


@mutant("plan-malformed")
def platform_with_its_folder(plan: Plan, files: Files) -> None:
    plan["options"]["platform"] = "/home/me/tiny.yaml"


@mutant("operation-unknown")
def engine_of_no_operation(plan: Plan, files: Files) -> None:
    plan["networks"][0]["engines"][0]["operation"] = "Conv_99"


@mutant("plan-malformed")
def input_with_its_folder(plan: Plan, files: Files) -> None:
    plan["inputs"] = [{"path": "/home/me/tiny.onnx", "sha256": "0" * 64}]


@mutant("plan-malformed")
def input_with_half_a_digest(plan: Plan, files: Files) -> None:
    plan["inputs"] = [{"path": "tiny.onnx", "sha256": "0" * 32}]


@PHASES.mutant("wrong-budget")
def budget_of_a_second_network_above_the_platform(plan: Plan, files: Files) -> None:
    part(plan, 0, 1)["folding"]["budget"]["FF"] = 10**8


@mutant("platform-file-needless")
def file_that_no_fpga_is_made_of(plan: Plan, files: Files) -> None:
    files["platform/boards/spare.yaml"] = "schema: floorflow-board/1\n"


@mutant("platform-file-needless")
def board_listed_twice(plan: Plan, files: Files) -> None:
    plan["platform"]["files"].append(plan["platform"]["files"][0])


@mutant("platform-mismatch")
def platform_file_called_as_a_shipped_board(plan: Plan, files: Files) -> None:
    name = plan["platform"]["name"]
    boards = [{"board": fpga["board"]} for fpga in plan["platform"]["fpgas"]]
    content = {"schema": "floorflow-platform/1", "name": name, "fpgas": boards}
    files[f"platform/platforms/{name}.yaml"] = json.dumps(content)
    plan["platform"]["files"].append(f"platforms/{name}.yaml")


@mutant("plan-malformed")
def finn_of_another_name(plan: Plan, files: Files) -> None:
    plan["options"]["backend_options"]["finn"] = "next"


@mutant("plan-malformed")
def vivado_without_a_release(plan: Plan, files: Files) -> None:
    plan["options"]["backend_options"]["vivado"] = "2022"


@mutant("illegal-folding")
def run_time_weights_that_were_ruled_out(plan: Plan, files: Files) -> None:
    plan["options"]["backend_options"]["runtime_weights"] = "never"
    engines = part_of(plan)["folding"]["engines"]
    name = first(name for name in engines if name.startswith("MVAU"))
    engines[name]["attributes"]["runtime_writeable_weights"] = 1


@mutant("wrong-parallelism")
def way_of_parallelism_left_out(plan: Plan, files: Files) -> None:
    rows = [entry["parallelism"] for entry in part_of(plan)["folding"]["engines"].values()]
    first(r for r in rows if r).pop()


@mutant("wrong-parallelism")
def most_of_another_size(plan: Plan, files: Files) -> None:
    rows = [entry["parallelism"] for entry in part_of(plan)["folding"]["engines"].values()]
    first(r for r in rows if r)[0]["most"] *= 2
