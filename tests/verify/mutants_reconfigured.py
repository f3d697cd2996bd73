"""Planted mistakes in a plan of partitions in time that floorflow made: loads, memory, buffers, claims."""

from __future__ import annotations

import copy
import json

from tests.verify.planting import Files, Mutant, Plan, Registry

__all__ = ["RECONFIGURED", "Files", "Mutant", "Plan"]
RECONFIGURED = Registry()
mutant = RECONFIGURED.mutant
BUFFERS = "phases/p1/buffers.json"


@mutant("engine-in-two-partitions")
def engine_folded_in_both_partitions(plan: Plan, files: Files) -> None:
    first, second = (phase["networks"][0]["folding"]["engines"] for phase in plan["phases"])
    name = next(iter(first))
    second[name] = copy.deepcopy(first[name])


@mutant("engine-missing")
def engine_of_no_partition(plan: Plan, files: Files) -> None:
    engines = plan["phases"][0]["networks"][0]["folding"]["engines"]
    del engines[next(iter(engines))]


@mutant("wrong-load-time")
def load_that_takes_half_as_long(plan: Plan, files: Files) -> None:
    step = plan["schedule"]["steps"][1]
    plan["schedule"]["period_us"] -= step["load_us"] / 2
    plan["schedule"]["stats"]["objective"] = plan["schedule"]["period_us"]
    step["load_us"] /= 2


@mutant("wrong-load-time")
def second_batch_without_a_load(plan: Plan, files: Files) -> None:
    plan["schedule"]["reload_us"] = 0.0


@mutant("wrong-load-time")
def memory_of_another_board(plan: Plan, files: Files) -> None:
    plan["schedule"]["memory_gbps"] *= 2


@mutant("too-fast-for-memory")
def memory_that_carries_too_little(plan: Plan, files: Files) -> None:
    board = "platform/boards/quick.yaml"
    files[board] = files[board].replace("memory_gbps: 16.8", "memory_gbps: 0.001")
    plan["schedule"]["memory_gbps"] = 0.001


@mutant("wrong-schedule")
def batch_that_was_not_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["batch"] = 255


@mutant("wrong-schedule")
def latency_of_a_batch(plan: Plan, files: Files) -> None:
    plan["schedule"]["objective"] = "latency"


@mutant("wrong-schedule")
def no_schedule_though_asked_for(plan: Plan, files: Files) -> None:
    plan["schedule"] = None


@mutant("wrong-objective")
def time_of_a_batch_that_is_not_the_period(plan: Plan, files: Files) -> None:
    plan["schedule"]["stats"]["objective"] *= 0.9
    plan["schedule"]["stats"] |= {"bound": None, "gap": None, "status": "heuristic"}


@mutant("bound-above-objective")
def proof_of_more_than_the_plan_takes(plan: Plan, files: Files) -> None:
    plan["schedule"]["stats"]["bound"] = 2 * plan["schedule"]["period_us"]


@mutant("file-missing")
def partition_without_its_buffers(plan: Plan, files: Files) -> None:
    del files[BUFFERS]


@mutant("wrong-buffers")
def buffer_of_half_a_batch(plan: Plan, files: Files) -> None:
    content = json.loads(files[BUFFERS])
    content["loads"][0]["bytes_per_batch"] //= 2
    files[BUFFERS] = json.dumps(content)


@mutant("wrong-buffers")
def buffer_left_out(plan: Plan, files: Files) -> None:
    content = json.loads(files[BUFFERS])
    content["loads"].clear()
    files[BUFFERS] = json.dumps(content)


@mutant("wrong-buffers")
def buffers_of_another_form(plan: Plan, files: Files) -> None:
    files[BUFFERS] = json.dumps({"loads": 1})


@mutant("memory-unwritten")
def buffer_that_no_partition_fills(plan: Plan, files: Files) -> None:
    channels = plan["phases"][1]["channels"]
    next(c for c in channels if c["source"].startswith("memory:"))["source"] = "memory:elsewhere"


@mutant("memory-unwritten")
def partitions_in_the_wrong_order(plan: Plan, files: Files) -> None:
    plan["phases"].reverse()
    plan["schedule"]["steps"].reverse()
