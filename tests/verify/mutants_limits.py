"""Planted mistakes in limits on single engines, and in weights that the host writes."""

from __future__ import annotations

from tests.verify.planting import Files, Plan, charge, edit_json, first, folded, mutant, part_of, phase_of


def unit(plan: Plan) -> tuple[str, Plan]:
    """Return id and folding entry of the HLS unit of most products."""
    engines = part_of(plan)["folding"]["engines"]
    name = max((n for n in engines if engines[n]["products"]), key=lambda n: engines[n]["products"], default="")
    return first([(name, engines[name])] if name else [])


def listed(plan: Plan, **changes: object) -> Plan:
    """Make the largest unit exceed a limit on products, and list it with these changes."""
    name, entry = unit(plan)
    plan["options"]["max_products"] = entry["products"] - 1
    row = {"phase": phase_of(plan)["name"], "engine": name, "limit": "products"}
    row |= {"value": entry["products"], "allowed": entry["products"] - 1, "reason": "none of the engine"}
    plan["limits_lifted"].append({**row, **changes})
    return plan["limits_lifted"][-1]


@mutant("engine-above-limit")
def more_products_than_asked_for(plan: Plan, files: Files) -> None:
    listed(plan)
    plan["limits_lifted"].clear()


@mutant("engine-above-limit")
def more_products_than_operands_as_wide_may_have(plan: Plan, files: Files) -> None:
    listed(plan)
    plan["limits_lifted"].clear()
    plan["options"]["max_products"] = f"1:{plan['options']['max_products']},17:1000000"


@mutant("engine-above-limit")
def more_of_a_slot_than_an_engine_may_have(plan: Plan, files: Files) -> None:
    engines = part_of(plan)["folding"]["engines"]
    first(name for name in engines if engines[name]["resources"]["BRAM18"])
    plan["options"]["max_engine_share"]["BRAM18"] = 1e-9


@mutant("engine-above-limit")
def one_lut_more_than_every_engine_may_have(plan: Plan, files: Files) -> None:
    module = phase_of(plan)["modules"][0]
    own = part_of(plan)["folding"]["engines"][module["engines"][0]]["resources"]["LUT"]
    plan["options"]["max_engine_share"]["LUT"] = 1e-9
    charge(plan, module["name"], "LUT", 20_001 - own)


@mutant("engine-above-limit")
def limit_lifted_in_another_phase(plan: Plan, files: Files) -> None:
    listed(plan, phase="later")


@mutant("limit-lifted-wrongly")
def limit_lifted_for_an_engine_within_it(plan: Plan, files: Files) -> None:
    listed(plan)
    plan["options"]["max_products"] = "none"


@mutant("limit-lifted-wrongly")
def limit_lifted_that_is_another(plan: Plan, files: Files) -> None:
    listed(plan)["allowed"] += 1


@mutant("limit-lifted-wrongly")
def engine_less_above_its_limit_than_it_is(plan: Plan, files: Files) -> None:
    listed(plan)["value"] -= 1


@mutant("limit-lifted-wrongly")
def limit_lifted_twice(plan: Plan, files: Files) -> None:
    plan["limits_lifted"].append(dict(listed(plan)))


@mutant("limit-lifted-wrongly")
def limit_lifted_for_no_reason(plan: Plan, files: Files) -> None:
    listed(plan, reason="")


@mutant("limit-lifted-wrongly")
def limit_lifted_for_a_folding_that_was_not_kept(plan: Plan, files: Files) -> None:
    listed(plan, reason="folding kept")


@mutant("limit-lifted-wrongly")
def kept_folding_for_want_of_another(plan: Plan, files: Files) -> None:
    listed(plan)
    plan["options"]["keep_folding"] = True


@mutant("wrong-products")
def products_left_out(plan: Plan, files: Files) -> None:
    unit(plan)[1]["products"] = 0


@mutant("wrong-products")
def small_engine_beyond_all_that_is_known(plan: Plan, files: Files) -> None:
    unit(plan)[1]["beyond_known_builds"] = True


@mutant("plan-malformed")
def products_limited_from_two_bits_on_alone(plan: Plan, files: Files) -> None:
    plan["options"]["max_products"] = "2:4096"


@mutant("plan-malformed")
def products_limited_to_none_at_all(plan: Plan, files: Files) -> None:
    plan["options"]["max_products"] = 0


def written(plan: Plan, files: Files, **changes: object) -> Plan:
    """Let the host write the last unit with weights, rightly, but for these changes."""
    engines = part_of(plan)["folding"]["engines"]
    name = first([name for name in engines if "mem_mode" in engines[name]["attributes"]][-1:])
    engines[name]["attributes"]["runtime_writeable_weights"] = 1
    edit_json(files, "finn/folding_config.json", lambda content: content[name].update(runtime_writeable_weights=1))
    stated = {"engines": [name], "least": 1, "bound_cycles": 1, "sought": False}
    longer = 2 * part_of(plan)["interval_cycles"]
    stated |= {"without_bound_cycles": longer, "without_cycles": None, **changes}
    part_of(plan)["host_weights"] = stated
    return stated


@mutant("host-weights-differ")
def run_time_weights_that_are_not_told(plan: Plan, files: Files) -> None:
    written(plan, files)
    part_of(plan)["host_weights"] = None


@mutant("host-weights-differ")
def run_time_weights_of_no_engine(plan: Plan, files: Files) -> None:
    written(plan, files, engines=[], least=0)


@mutant("host-weights-differ")
def run_time_weights_of_another_engine(plan: Plan, files: Files) -> None:
    other = folded(plan)[0]
    written(plan, files, engines=[other])


@mutant("host-weights-differ")
def run_time_weights_spared_though_they_were_asked_for(plan: Plan, files: Files) -> None:
    written(plan, files)
    plan["options"]["backend_options"]["runtime_weights"] = "always"


@mutant("host-weights-differ")
def design_without_run_time_weights_that_was_not_sought(plan: Plan, files: Files) -> None:
    written(plan, files, without_cycles=4 * part_of(plan)["interval_cycles"])


@mutant("host-weights-needless")
def run_time_weights_for_a_tenth_of_the_rate(plan: Plan, files: Files) -> None:
    written(plan, files, without_bound_cycles=part_of(plan)["interval_cycles"] * 10 // 9)


@mutant("host-weights-needless")
def run_time_weights_although_a_design_without_was_found(plan: Plan, files: Files) -> None:
    cycles = part_of(plan)["interval_cycles"]
    written(plan, files, without_bound_cycles=cycles, without_cycles=cycles + 1, sought=True)


@mutant("bound-above-objective")
def fewer_run_time_weights_than_are_possible(plan: Plan, files: Files) -> None:
    written(plan, files, least=2)


@mutant("wrong-bound")
def faster_without_run_time_weights(plan: Plan, files: Files) -> None:
    written(plan, files, bound_cycles=part_of(plan)["interval_cycles"], without_bound_cycles=1)


@mutant("plan-malformed")
def run_time_weights_as_a_flag(plan: Plan, files: Files) -> None:
    plan["options"]["backend_options"]["runtime_weights"] = True
