"""Planted mistakes in names, membership and structure: things twice, unknown, missing or in a circle."""

from __future__ import annotations

import copy

import yaml

from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    crossing,
    edit_json,
    first,
    mutant,
    part_of,
    pblocks,
    phase_of,
    xdc,
)


@mutant("plan-malformed")
def capacity_as_text(plan: Plan, files: Files) -> None:
    capacity = plan["platform"]["fpgas"][0]["slots"][0]["capacity"]
    capacity["LUT"] = str(capacity["LUT"])


@mutant("file-missing")
def constraints_not_emitted(plan: Plan, files: Files) -> None:
    del files[xdc(plan)]


@mutant("unknown-kind")
def kind_that_finn_does_not_have(plan: Plan, files: Files) -> None:
    plan["networks"][0]["engines"][0]["kind"] = "MVAU_vhdl"


@mutant("engine-malformed")
def attribute_left_out(plan: Plan, files: Files) -> None:
    engines = plan["networks"][0]["engines"]
    first(e for e in engines if "numInputVectors" in e["attributes"])["attributes"]["numInputVectors"] = "many"


@mutant("engine-unknown")
def folding_of_a_ghost(plan: Plan, files: Files) -> None:
    engines = part_of(plan)["folding"]["engines"]
    engines["ghost"] = copy.deepcopy(first(engines.values()))


@mutant("module-repeated")
def two_modules_of_one_name(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    modules.append({**modules[0], "engines": []})


@mutant("module-unknown")
def fifo_in_a_ghost(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][0]["fifo_module"] = "ghost"


@mutant("module-unassigned")
def module_without_slot(plan: Plan, files: Files) -> None:
    assignment = phase_of(plan)["partition"]["assignment"]
    del assignment[first(assignment)]


def lead_in_a_circle(plan: Plan) -> tuple[str, str]:
    """Let two modules feed each other and return them, the larger one first."""
    modules = phase_of(plan)["modules"]
    longest = max(modules, key=lambda module: len(module["engines"]))
    if len(longest["engines"]) < 3 or len(modules) < 2:
        raise NotApplicable
    other = first(module for module in modules if module is not longest)
    other["engines"].append(longest["engines"].pop(1))
    return longest["name"], other["name"]


@mutant("module-cycle")
def modules_in_a_circle(plan: Plan, files: Files) -> None:
    longest, other = lead_in_a_circle(plan)
    # Modules over whole slots may feed each other.
    assignment = phase_of(plan)["partition"]["assignment"]
    assignment[other] = assignment[longest]


def join(plan: Plan, **changes: object) -> None:
    """Say of the module of most engines that it was joined, with one thing wrong."""
    module = max(phase_of(plan)["modules"], key=lambda module: len(module["engines"]))
    if len(module["engines"]) < 2:
        raise NotApplicable
    slot = phase_of(plan)["partition"]["assignment"][module["name"]]
    entry = {"module": module["name"], "modules": ["former", "latter"], "slot": slot, "why": "no room"}
    phase_of(plan)["joined"].append(entry | changes)


@mutant("wrong-joined")
def joined_module_that_is_not_there(plan: Plan, files: Files) -> None:
    join(plan, module="ghost")


@mutant("wrong-joined")
def joined_in_another_slot(plan: Plan, files: Files) -> None:
    join(plan, slot="fpga0.SLR9")


@mutant("wrong-joined")
def joined_of_one_part(plan: Plan, files: Files) -> None:
    join(plan, modules=["former"])


@mutant("wrong-joined")
def joined_twice(plan: Plan, files: Files) -> None:
    join(plan)
    join(plan)


@mutant("wrong-joined")
def joined_without_a_reason(plan: Plan, files: Files) -> None:
    join(plan, why="")


@mutant("implementation-unknown")
def implementation_left_out(plan: Plan, files: Files) -> None:
    phase_of(plan)["implementations"].pop()


@mutant("pblock-repeated")
def pblock_created_twice(plan: Plan, files: Files) -> None:
    files[xdc(plan)] += f"create_pblock {{pblock_{first(pblocks(plan))}}}\n"


@mutant("channel-repeated")
def two_channels_of_one_name(plan: Plan, files: Files) -> None:
    channels = phase_of(plan)["channels"]
    channels[1]["name"] = channels[0]["name"]


@mutant("channel-end-unknown")
def channel_from_a_ghost(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][1]["source"] = "ghost"


@mutant("cyclic-dataflow")
def engines_in_a_circle(plan: Plan, files: Files) -> None:
    inner = [c for c in phase_of(plan)["channels"] if "host:" not in c["source"] + c["target"]]
    start = first(inner)
    back = first(c for c in inner if c["source"] == start["target"])
    back["target"], back["target_port"] = start["source"], 0


@mutant("stream-mismatch")
def consumer_of_other_elements(plan: Plan, files: Files) -> None:
    target = first(c for c in phase_of(plan)["channels"] if not c["source"].startswith("host:"))["target"]
    engines = [engine for network in plan["networks"] for engine in network["engines"]]
    first(engine for engine in engines if engine["name"] == target)["input_bits"] += 1


@mutant("converter-needless")
def converter_between_equal_widths(plan: Plan, files: Files) -> None:
    channels = phase_of(plan)["channels"]
    channel = first(c for c in channels if c["source_width_bits"] == c["target_width_bits"])
    channel |= {"converter": "StreamingDataWidthConverter_rtl", "converter_module": channel["fifo_module"]}


@mutant("converter-illegal")
def converter_that_splits_a_pixel_unevenly(plan: Plan, files: Files) -> None:
    channel = first(c for c in phase_of(plan)["channels"] if c["target"].startswith("MVAU"))
    folding = part_of(plan)["folding"]["engines"][channel["target"]]["attributes"]
    attributes = first(e for e in plan["networks"][0]["engines"] if e["name"] == channel["target"])["attributes"]
    folding["SIMD"] = first(n for n in range(2, attributes["MW"]) if attributes["MW"] % n)


@mutant("crossing-needless")
def crossing_of_a_channel_at_home(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    crossed = {entry["channel"] for entry in phase["partition"]["crossings"]}
    channel = first(c for c in phase["channels"] if c["name"] not in crossed)
    slot = first(phase["partition"]["assignment"].values())
    ends = {"channel": channel["name"], "source": slot, "target": slot, "width_bits": channel["width_bits"]}
    phase["partition"]["crossings"].append({**ends, "gbps": 0.0, "hops": 0, "kind": "sll"})


@mutant("crossing-needless", TWO_SLRS)
def crossing_listed_twice(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["crossings"].append(crossing(plan)[0])


@mutant("link-mismatch")
def link_inside_one_fpga(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][0]["link"] = "pcie"


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


@mutant("platform-mismatch")
def part_of_another_board(plan: Plan, files: Files) -> None:
    plan["platform"]["fpgas"][0]["part"] = "xcvu9p-flga2104-2L-e"


@mutant("platform-malformed")
def board_without_clock(plan: Plan, files: Files) -> None:
    name = f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"
    board = yaml.safe_load(files[name])
    del board["clock_mhz"]
    files[name] = yaml.safe_dump(board)


@mutant("infrastructure-mismatch")
def infrastructure_that_the_board_does_not_have(plan: Plan, files: Files) -> None:
    slot = plan["platform"]["fpgas"][0]["slots"][0]
    plan["platform"]["infrastructure"].append({"name": "ghost", "slot": slot["name"], "resources": slot["capacity"]})


@mutant("malformed-command")
def part_of_a_range_removed(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = files[xdc(plan)].replace(" -add ", " -remove ", 1)


@mutant("finn-node-unknown")
def ghost_in_the_folding_file(plan: Plan, files: Files) -> None:
    edit_json(files, "finn/folding_config.json", lambda content: content.update(ghost={"PE": 1}))
