"""Planted mistakes in what several networks that share a platform were to reach, and what each gets."""

from __future__ import annotations

from tests.verify.planting import Files, Plan, Registry

TARGETS = Registry()
mutant = TARGETS.mutant


def row(plan: Plan, network: str) -> Plan:
    """Return the target of a network."""
    found: Plan = next(row for row in plan["targets"]["networks"] if row["network"] == network)
    return found


@mutant("wrong-target")
def a_target_of_another_rate(plan: Plan, files: Files) -> None:
    row(plan, "left")["target_cycles"] += 1


@mutant("wrong-target")
def a_share_that_is_not_reached(plan: Plan, files: Files) -> None:
    row(plan, "right")["share"] = 1.0


@mutant("wrong-target")
def a_rate_that_nobody_asked_for(plan: Plan, files: Files) -> None:
    row(plan, "left")["fps"] *= 2


@mutant("wrong-target")
def a_starved_network_that_is_not_said_to_be(plan: Plan, files: Files) -> None:
    row(plan, "right")["starved"] = not row(plan, "right")["starved"]


@mutant("wrong-target")
def a_network_without_a_target(plan: Plan, files: Files) -> None:
    del plan["targets"]["networks"][0]


@mutant("wrong-target")
def targets_left_out(plan: Plan, files: Files) -> None:
    del plan["targets"]


@mutant("wrong-target")
def a_rate_of_no_network(plan: Plan, files: Files) -> None:
    plan["options"]["rates"]["middle"] = 1.0


@mutant("wrong-target")
def least_resources_without_all_rates(plan: Plan, files: Files) -> None:
    plan["options"]["objective"] = "resources"
    del plan["options"]["rates"]["left"]
    row(plan, "left")["fps"] = None


@mutant("rate-missed")
def a_target_that_is_missed_at_least_resources(plan: Plan, files: Files) -> None:
    plan["options"]["objective"] = "resources"


@mutant("rate-missed")
def a_least_rate_that_is_not_kept(plan: Plan, files: Files) -> None:
    plan["options"]["min_rate"]["right"] = row(plan, "right")["least_fps"] = row(plan, "right")["fps"]


@mutant("bound-above-objective")
def a_bound_alone_above_the_interval(plan: Plan, files: Files) -> None:
    row(plan, "right")["alone_cycles"] = 10**6


@mutant("wrong-objective")
def a_worst_network_that_is_not_so_bad(plan: Plan, files: Files) -> None:
    plan["targets"]["stretch"] |= {"objective": 1.0, "bound": 1.0}


@mutant("wrong-interval")
def a_network_with_the_interval_of_the_other(plan: Plan, files: Files) -> None:
    left, right = plan["phases"][0]["networks"]
    right["interval_cycles"] = left["interval_cycles"]


@mutant("wrong-estimate")
def a_network_at_the_rate_of_the_other(plan: Plan, files: Files) -> None:
    left, right = (part["estimates"] for part in plan["phases"][0]["networks"])
    right["fps"] = left["fps"]


@mutant("channel-astray")
def a_host_stream_of_the_other_network(plan: Plan, files: Files) -> None:
    channel = next(c for c in plan["phases"][0]["channels"] if c["source"] == "right/host:in0")
    channel["source"] = "left/host:in1"
    channel["name"] = channel["name"].replace("right/host:in0", "left/host:in1", 1)


@mutant("module-mixed")
def a_module_of_both_networks(plan: Plan, files: Files) -> None:
    modules = plan["phases"][0]["modules"]
    own = next(m for m in modules if m["engines"][0].startswith("left/"))
    own["engines"] += next(m for m in modules if m["engines"][0].startswith("right/"))["engines"]
