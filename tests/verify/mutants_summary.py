"""Planted mistakes in the schedule and the summary of the plan of two networks and two phases."""

from __future__ import annotations

from tests.verify.mutants_phases import PHASES, part
from tests.verify.planting import Files, Plan

mutant = PHASES.mutant


@mutant("wrong-schedule")
def phases_without_a_schedule(plan: Plan, files: Files) -> None:
    plan["schedule"] = None


@mutant("wrong-schedule")
def schedule_of_a_kind_that_nobody_knows(plan: Plan, files: Files) -> None:
    plan["schedule"]["kind"] = "magic"


@mutant("wrong-schedule")
def batch_of_no_frames(plan: Plan, files: Files) -> None:
    plan["schedule"]["batch"] = 0


@mutant("wrong-schedule")
def phase_that_is_never_loaded(plan: Plan, files: Files) -> None:
    schedule = plan["schedule"]
    step = schedule["steps"].pop()
    schedule["period_us"] -= step["load_us"] + step["run_us"]


@mutant("wrong-schedule")
def steps_in_another_order(plan: Plan, files: Files) -> None:
    plan["schedule"]["steps"].reverse()


@mutant("wrong-schedule")
def run_as_long_as_the_faster_network(plan: Plan, files: Files) -> None:
    schedule = plan["schedule"]
    step = schedule["steps"][1]
    run_us = schedule["batch"] * part(plan, 1, 0)["interval_cycles"] / plan["options"]["clock_mhz"]
    schedule["period_us"] += run_us - step["run_us"]
    step["run_us"] = run_us


@mutant("wrong-schedule")
def period_without_the_loads(plan: Plan, files: Files) -> None:
    plan["schedule"]["period_us"] = sum(step["run_us"] for step in plan["schedule"]["steps"])


@mutant("wrong-schedule")
def phase_loaded_before_it_begins(plan: Plan, files: Files) -> None:
    schedule = plan["schedule"]
    schedule["period_us"] -= 2 * schedule["steps"][0]["load_us"]
    schedule["steps"][0]["load_us"] *= -1


@mutant("summary-differs")
def rate_while_a_phase_runs_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["networks"][0]["fps"] = part(plan, 0, 0)["estimates"]["fps"]


@mutant("summary-differs")
def latency_of_one_phase_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["networks"][0]["latency_us"] = part(plan, 0, 0)["estimates"]["latency_us"]


@mutant("summary-differs")
def interval_of_the_last_phase_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["networks"][0]["interval_cycles"] = part(plan, 1, 0)["interval_cycles"]


@mutant("summary-differs")
def bottleneck_of_the_second_of_equal_phases(plan: Plan, files: Files) -> None:
    plan["summary"]["networks"][1]["bottleneck"] = part(plan, 1, 1)["estimates"]["bottleneck"]


@mutant("summary-differs")
def network_left_out_of_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["networks"].pop()


@mutant("summary-differs")
def one_phase_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["phases"] = 1


@mutant("summary-differs")
def fullest_slot_of_the_emptier_phase(plan: Plan, files: Files) -> None:
    fullest = plan["summary"]["fullest"]
    fullest["phase"] = "p1" if fullest["phase"] == "p0" else "p0"


@mutant("summary-differs")
def nothing_full_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["fullest"] = None


@mutant("summary-differs")
def warning_that_the_summary_does_not_count(plan: Plan, files: Files) -> None:
    plan["warnings"].append("the sky is falling")


@mutant("summary-differs")
def interrupted_search_passed_off_as_whole(plan: Plan, files: Files) -> None:
    plan["interrupted"] = True
