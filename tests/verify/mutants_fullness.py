"""Planted mistakes in how full a plan says that it is, and in what it says of large memories."""

from __future__ import annotations

from tests.verify.mutants_phases import PHASES, part
from tests.verify.planting import Files, Plan, mutant, part_of, phase_of


def fullness(plan: Plan) -> Plan:
    found: Plan = phase_of(plan)["partition"]["fullness"]
    return found


@mutant("wrong-objective")
def fullest_slot_a_tenth_emptier(plan: Plan, files: Files) -> None:
    stats, told = fullness(plan), plan["summary"]["fullness"]
    stats |= {"objective": stats["objective"] * 0.9, "bound": stats["objective"] * 0.9, "gap": 0.0}
    told |= {"share": told["share"] * 0.9, "bound": stats["bound"]}


@mutant("wrong-objective")
def fullness_of_what_is_available_not_of_limits(plan: Plan, files: Files) -> None:
    share = plan["summary"]["fullest"]["share"]
    fullness(plan).update(objective=share, bound=share, gap=0.0)
    plan["summary"]["fullness"].update(share=share, bound=share)


@mutant("wrong-objective")
def folding_a_tenth_emptier(plan: Plan, files: Files) -> None:
    stats = part_of(plan)["folding"]["fullness"]
    stats |= {"objective": stats["objective"] * 0.9, "bound": stats["objective"] * 0.9, "gap": 0.0}


@mutant("wrong-objective")
def fullness_that_is_not_told(plan: Plan, files: Files) -> None:
    fullness(plan).update(status="heuristic", objective=None, bound=None, gap=None)
    plan["summary"]["fullness"]["bound"] = None


@mutant("bound-above-objective")
def bound_on_fullness_above_it(plan: Plan, files: Files) -> None:
    stats = fullness(plan)
    stats["bound"] = stats["objective"] * 1.1
    plan["summary"]["fullness"]["bound"] = stats["bound"]


@PHASES.mutant("bound-above-objective")
def sums_that_are_fuller_than_any_slot(plan: Plan, files: Files) -> None:
    part(plan, 0, 0)["folding"]["fullness"]["bound"] = 1.0


@mutant("wrong-gap")
def gap_of_fullness_left_out(plan: Plan, files: Files) -> None:
    fullness(plan)["bound"] /= 2
    plan["summary"]["fullness"]["bound"] /= 2


@mutant("wrong-status")
def fullness_proven_above_its_bound(plan: Plan, files: Files) -> None:
    fullness(plan)["bound"] /= 2
    fullness(plan)["status"] = "optimal"
    fullness(plan)["gap"] = 1 - fullness(plan)["bound"] / fullness(plan)["objective"]
    plan["summary"]["fullness"]["bound"] /= 2


@mutant("summary-differs")
def fullness_of_another_resource_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["fullness"]["resource"] = "URAM"


@mutant("summary-differs")
def fullness_without_its_bound_in_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["fullness"]["bound"] = None


@mutant("summary-differs")
def fullness_left_out_of_the_summary(plan: Plan, files: Files) -> None:
    plan["summary"]["fullness"] = None


@mutant("plan-malformed")
def tie_broken_by_a_coin(plan: Plan, files: Files) -> None:
    plan["options"]["tie_break"] = "coin"


@mutant("plan-malformed")
def preset_that_there_is_not(plan: Plan, files: Files) -> None:
    plan["options"]["preset"] = "reckless"


def memory(plan: Plan) -> Plan:
    """Return a large memory, made of the first channel where the plan has none."""
    channel = phase_of(plan)["channels"][0]
    made = {"name": channel["name"], "kind": "fifo", "bits": channel["width_bits"] * channel["fifo_depth"]}
    made |= {"style": channel["fifo_style"], "resources": {**channel["fifo_resources"]}, "others": []}
    phase_of(plan)["memories"] = [made]
    return made


@mutant("wrong-memory")
def memory_of_nothing(plan: Plan, files: Files) -> None:
    memory(plan)["name"] = "nobody"


@mutant("wrong-memory")
def fifo_passed_off_as_weights(plan: Plan, files: Files) -> None:
    memory(plan)["kind"] = "weights"


@mutant("wrong-memory")
def memory_with_fewer_bits(plan: Plan, files: Files) -> None:
    memory(plan)["bits"] -= 1


@mutant("wrong-memory")
def memory_elsewhere_than_its_channel_says(plan: Plan, files: Files) -> None:
    memory(plan)["style"] = "ultra"


@mutant("wrong-memory")
def memory_that_takes_less(plan: Plan, files: Files) -> None:
    memory(plan)["resources"]["LUT"] -= 1


@mutant("wrong-memory")
def memory_listed_twice(plan: Plan, files: Files) -> None:
    made = memory(plan)
    phase_of(plan)["memories"].append(made)


@mutant("wrong-memory")
def weights_that_take_less(plan: Plan, files: Files) -> None:
    made, (name, entry) = memory(plan), next(iter(part_of(plan)["folding"]["engines"].items()))
    made |= {"name": name, "kind": "weights", "resources": {**entry["resources"], "LUT": 0}}


@mutant("wrong-memory")
def other_memory_that_is_the_same(plan: Plan, files: Files) -> None:
    made = memory(plan)
    made["others"] = [{"style": made["style"], "resources": made["resources"]}]
