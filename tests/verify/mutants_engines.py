"""Planted mistakes in engines, foldings, rates and channels."""

from __future__ import annotations

from tests.verify.planting import (
    Files,
    NotApplicable,
    Plan,
    charge,
    edit_json,
    first,
    folded,
    mutant,
    part_of,
    phase_of,
)
from tests.verify.tiny_network import RESOURCES


@mutant("engine-missing")
def engine_left_out_of_its_module(plan: Plan, files: Files) -> None:
    first(m for m in phase_of(plan)["modules"] if len(m["engines"]) > 1)["engines"].pop()


@mutant("engine-missing")
def engine_without_folding(plan: Plan, files: Files) -> None:
    del part_of(plan)["folding"]["engines"][plan["networks"][0]["engines"][0]["name"]]


@mutant("engine-repeated")
def engine_in_two_modules(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    if len(modules) < 2:
        raise NotApplicable
    modules[1]["engines"].append(modules[0]["engines"][0])


@mutant("illegal-folding")
def pe_that_does_not_divide(plan: Plan, files: Files) -> None:
    name, folding, attributes = folded(plan, "MVAU")
    folding["PE"] = attributes["MH"] + 1
    edit_json(files, "finn/folding_config.json", lambda content: content[name].update(PE=folding["PE"]))


@mutant("illegal-folding")
def simd_that_does_not_divide(plan: Plan, files: Files) -> None:
    _, folding, attributes = folded(plan, "MVAU", "SIMD")
    folding["SIMD"] = attributes["MW"] - 1


@mutant("illegal-folding")
def pe_left_out(plan: Plan, files: Files) -> None:
    del folded(plan)[1]["PE"]


@mutant("illegal-folding")
def ultra_ram_without_runtime_weights(plan: Plan, files: Files) -> None:
    _, folding, _ = folded(plan, "MVAU", "mem_mode")
    folding |= {"ram_style": "ultra", "mem_mode": "internal_decoupled", "runtime_writeable_weights": 0}


@mutant("wrong-cycles")
def cycles_of_an_engine_halved(plan: Plan, files: Files) -> None:
    folding = part_of(plan)["folding"]["engines"][folded(plan)[0]]
    folding["cycles"] = folding["cycles"] // 2


@mutant("wrong-interval")
def interval_too_short(plan: Plan, files: Files) -> None:
    part_of(plan)["interval_cycles"] -= 1
    plan["networks"][0]["search"]["interval_cycles"] -= 1


@mutant("wrong-estimate")
def rate_too_high(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["fps"] *= 1.01


@mutant("wrong-estimate")
def latency_of_another_path(plan: Plan, files: Files) -> None:
    part_of(plan)["estimates"]["latency_us"] *= 0.9


@mutant("type-width-mismatch")
def input_narrower_than_its_type(plan: Plan, files: Files) -> None:
    engines = [engine for network in plan["networks"] for engine in network["engines"]]
    first(e for e in engines if "inputDataType" in e["attributes"])["input_bits"] += 1


@mutant("implementation-mismatch")
def different_modules_made_once(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    if len(modules) < 2:
        raise NotApplicable
    modules[1]["implementation"] = modules[0]["implementation"]


@mutant("zero-resources")
def engine_that_costs_nothing(plan: Plan, files: Files) -> None:
    module = phase_of(plan)["modules"][0]
    resources = part_of(plan)["folding"]["engines"][module["engines"][0]]["resources"]
    for resource in RESOURCES:
        charge(plan, module["name"], resource, -resources[resource])


def converted(plan: Plan) -> Plan:
    channel: Plan = first(c for c in phase_of(plan)["channels"] if c["converter"])
    return channel


@mutant("converter-missing")
def converter_forgotten(plan: Plan, files: Files) -> None:
    channel = converted(plan)
    for resource, amount in channel["converter_resources"].items():
        channel["resources"][resource] -= amount
    channel["converter"] = channel["converter_module"] = None
    channel["converter_resources"] = dict.fromkeys(RESOURCES, 0)


@mutant("converter-kind")
def converter_of_the_other_kind(plan: Plan, files: Files) -> None:
    channel = converted(plan)
    kinds = {"rtl": "hls", "hls": "rtl"}
    channel["converter"] = channel["converter"][:-3] + kinds[channel["converter"][-3:]]


@mutant("converter-module")
def converter_on_the_wide_side(plan: Plan, files: Files) -> None:
    channel = converted(plan)
    channel["converter_module"] = first(
        m["name"] for m in phase_of(plan)["modules"] if m["name"] != channel["converter_module"]
    )


@mutant("fifo-module")
def fifo_at_its_consumer(plan: Plan, files: Files) -> None:
    channel = phase_of(plan)["channels"][0]
    channel["fifo_module"] = first(m["name"] for m in phase_of(plan)["modules"] if m["name"] != channel["fifo_module"])


@mutant("wrong-words")
def word_lost_in_a_stream(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][1]["words_per_frame"] -= 1


@mutant("wrong-stream-width")
def stream_narrower_than_its_engine(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][0]["target_width_bits"] -= 1


@mutant("port-mismatch")
def channel_left_out(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"].pop(1)
