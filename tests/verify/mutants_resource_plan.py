"""Planted mistakes in a plan on a platform of resources alone: partitions, sums, times, memory, files, claims."""

from __future__ import annotations

import copy
import json

from tests.verify.planting import Files, Mutant, Plan, Registry

__all__ = ["ON_RESOURCES", "Files", "Mutant", "Plan"]
ON_RESOURCES = Registry()
mutant = ON_RESOURCES.mutant
CONFIG = "phases/p1/hls4ml/hls_config.json"


def first_engine(plan: Plan, partition: int = 0) -> Plan:
    engine: Plan = next(iter(plan["partitions"][partition]["engines"].values()))
    return engine


@mutant("engine-in-two-partitions")
def engine_in_both(plan: Plan, files: Files) -> None:
    first, second = (part["engines"] for part in plan["partitions"])
    name = next(iter(first))
    second[name] = copy.deepcopy(first[name])


@mutant("engine-missing")
def engine_in_none(plan: Plan, files: Files) -> None:
    engines = plan["partitions"][0]["engines"]
    del engines[next(iter(engines))]


@mutant("engine-unknown")
def engine_of_another_network(plan: Plan, files: Files) -> None:
    plan["partitions"][0]["engines"]["stranger"] = copy.deepcopy(first_engine(plan))


@mutant("illegal-folding")
def reuse_factor_that_divides_nothing(plan: Plan, files: Files) -> None:
    first_engine(plan)["attributes"]["ReuseFactor"] = 7919


@mutant("wrong-cycles")
def engine_twice_as_fast_as_it_can_be(plan: Plan, files: Files) -> None:
    part = plan["partitions"][1]
    slowest = max(part["engines"].values(), key=lambda engine: engine["cycles"])
    slowest["cycles"] //= 2


@mutant("wrong-interval")
def interval_of_half_the_slowest_engine(plan: Plan, files: Files) -> None:
    plan["partitions"][1]["interval_cycles"] //= 2


@mutant("wrong-sum")
def partition_that_needs_one_lut_less(plan: Plan, files: Files) -> None:
    plan["partitions"][0]["resources"]["LUT"] -= 1


@mutant("resources-too-few")
def engine_with_fewer_multipliers_than_products(plan: Plan, files: Files) -> None:
    part, engine = plan["partitions"][0], first_engine(plan)
    taken, engine["resources"]["DSP"] = engine["resources"]["DSP"], 0
    part["resources"]["DSP"] -= taken
    part["shares"]["DSP"] = part["resources"]["DSP"] / plan["platform"]["limits"]["DSP"]


@mutant("cap-exceeded")
def partition_above_the_limit(plan: Plan, files: Files) -> None:
    part, limits = plan["partitions"][0], plan["platform"]["limits"]
    first_engine(plan)["resources"]["FF"] += limits["FF"]
    part["resources"]["FF"] += limits["FF"]
    part["shares"]["FF"] = part["resources"]["FF"] / limits["FF"]


@mutant("wrong-utilisation")
def share_of_another_limit(plan: Plan, files: Files) -> None:
    plan["partitions"][0]["shares"]["LUT"] *= 0.5


@mutant("platform-mismatch")
def platform_that_is_larger_than_its_file(plan: Plan, files: Files) -> None:
    for key in ("resources", "limits"):
        plan["platform"][key]["DSP"] *= 2
    for part in plan["partitions"]:
        part["shares"]["DSP"] /= 2


@mutant("wrong-budget")
def limits_that_no_cap_gives(plan: Plan, files: Files) -> None:
    plan["platform"]["limits"]["FF"] -= 1000
    for part in plan["partitions"]:
        part["shares"]["FF"] = part["resources"]["FF"] / plan["platform"]["limits"]["FF"]


@mutant("wrong-load-time")
def load_that_takes_half_as_long(plan: Plan, files: Files) -> None:
    taken = plan["partitions"][1]["load_us"] / 2
    plan["partitions"][1]["load_us"] -= taken
    plan["period_us"] -= taken


@mutant("wrong-schedule")
def period_without_the_load(plan: Plan, files: Files) -> None:
    plan["period_us"] -= plan["partitions"][1]["load_us"]
    plan["stats"] |= {"objective": plan["period_us"], "bound": plan["period_us"]}


@mutant("wrong-schedule")
def batch_that_was_not_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["batch"] -= 1


@mutant("wrong-schedule")
def cut_though_one_partition_was_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["reconfigure"] = "none"


@mutant("wrong-objective")
def time_that_is_not_the_period(plan: Plan, files: Files) -> None:
    plan["stats"] |= {"objective": plan["period_us"] * 0.9, "bound": None, "gap": None, "status": "heuristic"}


@mutant("bound-above-objective")
def proof_of_more_than_the_plan_takes(plan: Plan, files: Files) -> None:
    plan["stats"]["bound"] = 2 * plan["period_us"]


@mutant("memory-unwritten")
def buffer_that_nobody_writes(plan: Plan, files: Files) -> None:
    stream = next(s for s in plan["partitions"][1]["streams"] if s["source"].startswith("memory:"))
    stream["source"] = "memory:nowhere.0"
    stream["name"] = stream["name"].replace(stream["name"].split("->")[0], "memory:nowhere.0.0")


@mutant("wrong-buffers")
def half_of_what_is_loaded(plan: Plan, files: Files) -> None:
    plan["partitions"][1]["loaded_bits"] //= 2


@mutant("too-fast-for-memory")
def memory_that_carries_next_to_nothing(plan: Plan, files: Files) -> None:
    plan["platform"]["memory_gbps"] = 1e-6


@mutant("stream-mismatch")
def stream_of_half_a_frame(plan: Plan, files: Files) -> None:
    stream = next(s for s in plan["partitions"][1]["streams"] if ":" not in s["source"] + s["target"])
    stream["elements"] //= 2


@mutant("wrong-fifo-depth")
def fifo_of_one_word(plan: Plan, files: Files) -> None:
    plan["partitions"][0]["streams"][0]["fifo_depth"] = 1


@mutant("port-mismatch")
def stream_left_out(plan: Plan, files: Files) -> None:
    streams = plan["partitions"][1]["streams"]
    streams.remove(next(s for s in streams if ":" not in s["source"] + s["target"]))


@mutant("hls4ml-config-differs")
def file_with_another_reuse_factor(plan: Plan, files: Files) -> None:
    config = json.loads(files[CONFIG])
    next(iter(config["LayerName"].values()))["ReuseFactor"] += 1
    files[CONFIG] = json.dumps(config)


@mutant("file-missing")
def partition_without_its_file(plan: Plan, files: Files) -> None:
    del files[CONFIG]


@mutant("phase-unknown")
def files_of_a_third_partition(plan: Plan, files: Files) -> None:
    files[CONFIG.replace("p1", "p2")] = files[CONFIG]


@mutant("file-missing")
def no_report(plan: Plan, files: Files) -> None:
    del files["report.txt"]


@mutant("plan-malformed")
def partitions_that_are_no_list(plan: Plan, files: Files) -> None:
    plan["partitions"] = {}
