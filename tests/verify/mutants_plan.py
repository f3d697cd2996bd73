"""Mistakes in what a plan says of itself that are no row of the table: structure, claims, engines, limits."""

import copy

from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    board_of,
    charge,
    edit_json,
    first,
    mutant,
    part_of,
    pblocks,
    phase_of,
)
from tests.verify.tiny_network import RESOURCES


def lead_in_a_circle(plan: Plan) -> tuple[str, str]:
    """Let two modules feed each other and return them, the larger one first."""
    modules = phase_of(plan)["modules"]
    longest = max(modules, key=lambda module: len(module["engines"]))
    if len(longest["engines"]) < 3 or len(modules) < 2:
        raise NotApplicable
    other = first(module for module in modules if module is not longest)
    other["engines"].append(longest["engines"].pop(1))
    return longest["name"], other["name"]


def join(plan: Plan, **changes: object) -> None:
    """Say of the module of most engines that it was joined, with one thing wrong."""
    module = max(phase_of(plan)["modules"], key=lambda module: len(module["engines"]))
    if len(module["engines"]) < 2:
        raise NotApplicable
    slot = phase_of(plan)["partition"]["assignment"][module["name"]]
    entry = {"module": module["name"], "modules": ["former", "latter"], "slot": slot, "why": "no room"}
    phase_of(plan)["joined"].append(entry | changes)


@mutant("crossing-needless")
def crossing_of_a_channel_at_home(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    crossed = {entry["channel"] for entry in phase["partition"]["crossings"]}
    channel = first(c for c in phase["channels"] if c["name"] not in crossed)
    slot = first(phase["partition"]["assignment"].values())
    ends = {"channel": channel["name"], "source": slot, "target": slot, "width_bits": channel["width_bits"]}
    phase["partition"]["crossings"].append({**ends, "gbps": 0.0, "hops": 0, "kind": "sll"})


@mutant("link-unknown")
def module_on_another_fpga_without_a_link(plan: Plan, files: Files) -> None:
    fpgas = plan["platform"]["fpgas"]
    second = json_copy_with_name(fpgas[0], f"fpga{len(fpgas)}")
    fpgas.append(second)
    assignment = phase_of(plan)["partition"]["assignment"]
    if len(assignment) < 2:
        raise NotApplicable
    assignment[list(assignment)[-1]] = second["slots"][0]["name"]


def json_copy_with_name(fpga: Plan, name: str) -> Plan:
    renamed = copy.deepcopy(fpga)
    for slot in renamed["slots"]:
        slot["name"] = slot["name"].replace(fpga["name"], name)
    renamed |= {"name": name, "host_slot": renamed["slots"][0]["name"]}
    return renamed


def claim(stats: Plan, objective: float) -> None:
    stats |= {"objective": objective, "bound": objective, "gap": 0.0, "status": "optimal"}


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


@mutant("pblock-parent", TWO_SLRS)
def module_named_after_the_shell(plan: Plan, files: Files) -> None:
    if "parent_pblock" not in board_of(plan, files).get("shell", {}):
        raise NotApplicable
    blocks = pblocks(plan)
    blocks["dynamic_SLR0"] = blocks.pop(first(blocks))


def rewrite_board(plan: Plan, files: Files, find: str, replace: str) -> None:
    name = f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"
    before = files[name]
    files[name] = before.replace(find, replace, 1)
    if files[name] == before:
        raise NotApplicable


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


def fits(plan: Plan) -> Plan:
    found: Plan = phase_of(plan)["fits"]
    return found


def with_joint_bound(plan: Plan, cycles: int) -> None:
    search, figures = plan["networks"][0]["search"], plan["summary"]["networks"][0]
    search["joint_bound_cycles"] = figures["joint_bound_cycles"] = cycles


@mutant("wrong-estimate")
def first_word_behind_its_frame(plan: Plan, files: Files) -> None:
    estimates, interval = part_of(plan)["estimates"], part_of(plan)["interval_cycles"]
    estimates["sustained_fps"] = plan["summary"]["networks"][0]["sustained_fps"] = estimates["fps"]
    estimates["throughput"] = THROUGHPUT | {name: interval for name in THROUGHPUT if name.endswith("_cycles")}
    estimates["throughput"] |= {"first_word_cycles": 10**6 + 1, "first_frame_cycles": 10**6, "not_analysed": ""}


@mutant("engine-repeated")
def engine_in_two_modules(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    if len(modules) < 2:
        raise NotApplicable
    modules[1]["engines"].append(modules[0]["engines"][0])


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


def fullness(plan: Plan) -> Plan:
    found: Plan = phase_of(plan)["partition"]["fullness"]
    return found


def weighed(plan: Plan) -> Plan:
    """Let the plan be both ends of the trade between fullness and crossings, rightly."""
    part = phase_of(plan)["partition"]
    if len(part["utilisation"]) < 2:
        raise NotApplicable
    links = [-(-crossing["width_bits"] // 8) * 8 + 2 for crossing in part["crossings"] if crossing["kind"] == "link"]
    ends = ("least full", "fewest crossings", "taken")
    row = {"fullness": part["fullness"], "crossings": part["stats"], "links": len(links), "link_wires": sum(links)}
    rows = [copy.deepcopy({"end": end, **row}) for end in ends]
    part["evenness"] = {"rule": "nearly least full", "passed": [], "rows": rows}
    found: Plan = part["evenness"]
    return found


def memory(plan: Plan) -> Plan:
    """Return a large memory, made of the first channel where the plan has none."""
    channel = phase_of(plan)["channels"][0]
    made = {"name": channel["name"], "kind": "fifo", "bits": channel["width_bits"] * channel["fifo_depth"]}
    made |= {"style": channel["fifo_style"], "resources": {**channel["fifo_resources"]}, "others": []}
    phase_of(plan)["memories"] = [made]
    return made


def made_as_the_first(plan: Plan) -> tuple[Plan, Plan]:
    """Say that the second module is made with the first; return both."""
    modules = phase_of(plan)["modules"]
    if len(modules) < 2:
        raise NotApplicable
    original, module = modules[:2]
    module["implementation"] = original["implementation"]
    original["reused"] = module["reused"] = True
    phase_of(plan)["implementations"] = [
        made for made in phase_of(plan)["implementations"] if made["name"] != module["name"]
    ]
    return original, module


@mutant("implementation-constants")
def constants_made_once(plan: Plan, files: Files) -> None:
    for module in made_as_the_first(plan):
        for engine in module["engines"]:
            folding = part_of(plan)["folding"]["engines"][engine]["attributes"]
            if "mem_mode" in folding:
                folding |= {"mem_mode": "internal_embedded", "runtime_writeable_weights": 0}
                return
    raise NotApplicable


@mutant("implementation-moved")
def made_once_on_other_columns(plan: Plan, files: Files) -> None:
    original, module = made_as_the_first(plan)
    placed = pblocks(plan)
    if original["name"] not in placed or module["name"] not in placed:
        raise NotApplicable
    (area, *_), (other, *_) = (placed[one["name"]]["rectangles"] for one in (original, module))
    # As many columns and rows, one column further on.
    other |= {"bottom": area["bottom"], "top": area["top"], "left": area["left"] + 1, "right": area["right"] + 1}


def other_order(plan: Plan, cycles: int | None, *, proven: bool) -> None:
    plan["networks"][0]["search"]["other_order"] = {"cycles": cycles, "proven": proven}


def without_balance(plan: Plan, bound_cycles: int | None) -> None:
    plan["networks"][0]["search"]["without_balance"] = {"bound_cycles": bound_cycles, "folding_bound": None}
