"""Planted mistakes: each changes a legal plan in memory and names the violation that must be found.

Targets are picked generically (first module, first crossing, ...), so that the table also serves real plans. A mutant
that finds nothing to spoil raises `NotApplicable`. Where a mistake would show in a sum as well, the sums are mended, so
that only the rule in question can catch it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from floorflow.check.geometry import Device, Rectangle, SiteRange, anchor_of, clock_region_rectangle
from tests.check.tiny import RESOURCES, ranges_of

Plan = dict[str, Any]
Files = dict[str, str]


class NotApplicable(Exception):  # noqa: N818 - says so of a mutant, is no error
    """The plan holds nothing that this mutant could spoil."""


@dataclass(frozen=True)
class Mutant:
    """A planted mistake and the violation that it must lead to."""

    title: str
    expected: str
    spoil: Callable[[Plan, Files], None]


MUTANTS: list[Mutant] = []


def mutant(expected: str) -> Callable[[Callable[[Plan, Files], None]], Callable[[Plan, Files], None]]:
    def register(spoil: Callable[[Plan, Files], None]) -> Callable[[Plan, Files], None]:
        MUTANTS.append(Mutant(spoil.__name__, expected, spoil))
        return spoil

    return register


# --- picking and mending ------------------------------------------------------------------------------------------


def phase_of(plan: Plan) -> Plan:
    found: Plan = plan["phases"][0]
    return found


def first(items: Any) -> Any:
    for item in items:
        return item
    raise NotApplicable


def pblocks(plan: Plan) -> Plan:
    found: Plan = phase_of(plan)["floorplan"][plan["platform"]["fpgas"][0]["name"]]["pblocks"]
    return found


def die(plan: Plan, files: Files) -> Device:
    name = plan["platform"]["fpgas"][0]["device"]
    return Device(yaml.load(files[f"platform/devices/{name}.yaml"], Loader=yaml.CSafeLoader))


def board_of(plan: Plan, files: Files) -> Plan:
    found: Plan = yaml.safe_load(files[f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"])
    return found


def folded(plan: Plan, kind: str = "", key: str = "pe") -> tuple[str, Plan, Plan]:
    """Return name, folding and attributes of the first engine of a kind that has the folding attribute."""
    phase = phase_of(plan)
    return first(
        (engine["name"], phase["folding"]["engines"][engine["name"]], engine["attributes"])
        for network in plan["networks"]
        for engine in network["engines"]
        if engine["kind"].startswith(kind) and key in phase["folding"]["engines"][engine["name"]]
    )


def constraint_files(plan: Plan) -> list[str]:
    folder = plan["platform"]["fpgas"][0]["name"]
    return [f"{folder}/pblocks.xdc", f"{folder}/pblocks.tcl"]


def xdc(plan: Plan) -> str:
    return constraint_files(plan)[0]


def edit_lines(files: Files, name: str, edit: Callable[[list[str]], list[str]]) -> None:
    files[name] = "\n".join(edit(files[name].split("\n")))


def edit_json(files: Files, name: str, edit: Callable[[Plan], None]) -> None:
    content = json.loads(files[name])
    edit(content)
    files[name] = json.dumps(content)


def drop_first(lines: list[str], start: str) -> list[str]:
    index = first(i for i, line in enumerate(lines) if line.startswith(start))
    return lines[:index] + lines[index + 1 :]


def charge(plan: Plan, module: str, resource: str, amount: int) -> None:
    """Let the first engine of a module need more, and mend every sum behind it."""
    phase = phase_of(plan)
    entry = first(m for m in phase["modules"] if m["name"] == module)
    phase["folding"]["engines"][entry["engines"][0]]["resources"][resource] += amount
    entry["resources"][resource] += amount
    for floorplan in phase["floorplan"].values():
        if module in floorplan["pblocks"]:
            floorplan["pblocks"][module]["demand"][resource] += amount
    slot = phase["partition"]["assignment"][module]
    for fpga in plan["platform"]["fpgas"]:
        for place in fpga["slots"]:
            if place["name"] == slot and place["available"][resource]:
                phase["partition"]["utilisation"][slot][resource] += amount / place["available"][resource]


def name_ranges(plan: Plan, files: Files, module: str, ranges: list[str]) -> None:
    """Give a pblock other ranges, in the plan and in the constraint files."""
    entry = pblocks(plan)[module]
    for name in constraint_files(plan):
        for separator in (" ", "\n", " \\\n    "):
            files[name] = files[name].replace(separator.join(entry["ranges"]), separator.join(ranges))
    entry["ranges"] = ranges


def place(plan: Plan, files: Files, module: str, area: Rectangle) -> None:
    """Move a pblock, with everything that follows from its rectangle."""
    device, entry = die(plan, files), pblocks(plan)[module]
    sites = device.sites(area)
    name_ranges(plan, files, module, ranges_of(sites))
    entry["rectangle"] = {"left": area.left, "bottom": area.bottom, "right": area.right, "top": area.top}
    entry["anchor"], entry["supply"] = anchor_of(sites) or entry["anchor"], device.resources(area)


def area_of(entry: Plan) -> Rectangle:
    return Rectangle(**entry["rectangle"])


def crossing(plan: Plan) -> tuple[Plan, Plan]:
    """Return the first crossing and its channel."""
    phase = phase_of(plan)
    found = first(phase["partition"]["crossings"])
    return found, first(c for c in phase["channels"] if c["name"] == found["channel"])


# --- engines and rates ---------------------------------------------------------------------------------------------


@mutant("engine-missing")
def engine_left_out_of_its_module(plan: Plan, files: Files) -> None:
    first(m for m in phase_of(plan)["modules"] if len(m["engines"]) > 1)["engines"].pop()


@mutant("engine-missing")
def engine_without_folding(plan: Plan, files: Files) -> None:
    del phase_of(plan)["folding"]["engines"][plan["networks"][0]["engines"][0]["name"]]


@mutant("engine-repeated")
def engine_in_two_modules(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    if len(modules) < 2:
        raise NotApplicable
    modules[1]["engines"].append(modules[0]["engines"][0])


@mutant("illegal-folding")
def pe_that_does_not_divide(plan: Plan, files: Files) -> None:
    name, folding, attributes = folded(plan, "MVAU")
    folding["pe"] = attributes["MH"] + 1
    edit_json(files, "finn/folding_config.json", lambda content: content[name].update(PE=folding["pe"]))


@mutant("illegal-folding")
def simd_that_does_not_divide(plan: Plan, files: Files) -> None:
    _, folding, attributes = folded(plan, "MVAU", "simd")
    folding["simd"] = attributes["MW"] - 1


@mutant("illegal-folding")
def pe_left_out(plan: Plan, files: Files) -> None:
    del folded(plan)[1]["pe"]


@mutant("illegal-folding")
def ultra_ram_without_runtime_weights(plan: Plan, files: Files) -> None:
    _, folding, _ = folded(plan, "MVAU", "mem_mode")
    folding |= {"ram_style": "ultra", "mem_mode": "internal_decoupled", "runtime_writeable_weights": 0}


@mutant("wrong-cycles")
def cycles_of_an_engine_halved(plan: Plan, files: Files) -> None:
    folding = folded(plan)[1]
    folding["cycles"] = folding["cycles"] // 2


@mutant("wrong-interval")
def interval_too_short(plan: Plan, files: Files) -> None:
    phase_of(plan)["folding"]["cycles"] -= 1
    plan["search"]["interval_cycles"] -= 1


@mutant("wrong-estimate")
def rate_too_high(plan: Plan, files: Files) -> None:
    phase_of(plan)["estimates"]["fps"] *= 1.01


@mutant("wrong-estimate")
def latency_of_another_path(plan: Plan, files: Files) -> None:
    phase_of(plan)["estimates"]["latency_us"] *= 0.9


@mutant("zero-resources")
def engine_that_costs_nothing(plan: Plan, files: Files) -> None:
    module = phase_of(plan)["modules"][0]
    resources = phase_of(plan)["folding"]["engines"][module["engines"][0]]["resources"]
    for resource in RESOURCES:
        charge(plan, module["name"], resource, -resources[resource])


# --- channels ------------------------------------------------------------------------------------------------------


def converted(plan: Plan) -> Plan:
    found: Plan = first(c for c in phase_of(plan)["channels"] if c["converter"])
    return found


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
    channel["fifo_module"] = first(
        m["name"] for m in phase_of(plan)["modules"] if m["name"] != channel["fifo_module"]
    )


@mutant("wrong-words")
def word_lost_in_a_stream(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][1]["words_per_frame"] -= 1


@mutant("wrong-stream-width")
def stream_narrower_than_its_engine(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"][0]["target_width_bits"] -= 1


@mutant("port-mismatch")
def channel_left_out(plan: Plan, files: Files) -> None:
    phase_of(plan)["channels"].pop(1)


# --- sums and slots ------------------------------------------------------------------------------------------------


@mutant("wrong-sum")
def module_cheaper_than_its_parts(plan: Plan, files: Files) -> None:
    module = phase_of(plan)["modules"][0]
    module["resources"]["LUT"] -= 1


@mutant("wrong-utilisation")
def utilisation_understated(plan: Plan, files: Files) -> None:
    slot = phase_of(plan)["partition"]["assignment"][phase_of(plan)["modules"][0]["name"]]
    phase_of(plan)["partition"]["utilisation"][slot]["LUT"] *= 0.9


@mutant("capacity-mismatch")
def silicon_overstated(plan: Plan, files: Files) -> None:
    plan["platform"]["fpgas"][0]["slots"][0]["capacity"]["LUT"] += 8


@mutant("available-mismatch")
def shell_forgotten(plan: Plan, files: Files) -> None:
    plan["platform"]["fpgas"][0]["slots"][0]["available"]["FF"] += 16


@mutant("cap-exceeded")
def slot_over_its_limit_by_one(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    module = phase["modules"][0]["name"]
    slot = first(
        s for s in plan["platform"]["fpgas"][0]["slots"] if s["name"] == phase["partition"]["assignment"][module]
    )
    limit = math.floor(plan["options"]["cap"]["LUT"] * slot["available"]["LUT"] + 1e-9)
    used = round(phase["partition"]["utilisation"][slot["name"]]["LUT"] * slot["available"]["LUT"])
    charge(plan, module, "LUT", limit + 1 - used)


@mutant("shipped-file-differs")
def platform_file_edited(plan: Plan, files: Files) -> None:
    files[f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"] += "# edited\n"


@mutant("fraction-out-of-range")
def cap_above_one(plan: Plan, files: Files) -> None:
    plan["options"]["cap"]["URAM"] = 1.5


# --- partition -----------------------------------------------------------------------------------------------------


@mutant("crossing-missing")
def crossing_not_listed(plan: Plan, files: Files) -> None:
    first(phase_of(plan)["partition"]["crossings"])
    phase_of(plan)["partition"]["crossings"].pop(0)


@mutant("wrong-crossing")
def crossing_rate_understated(plan: Plan, files: Files) -> None:
    crossing(plan)[0]["gbps"] *= 0.5


@mutant("wrong-cost")
def partition_cost_understated(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["cost"] += 1


@mutant("wrong-crossing-registers")
def crossing_registers_forgotten(plan: Plan, files: Files) -> None:
    channel = crossing(plan)[1]
    channel["crossing_registers"], channel["crossing_resources"] = 0, {}


@mutant("sll-overload")
def more_wires_than_the_boundary_has(plan: Plan, files: Files) -> None:
    channel = crossing(plan)[1]
    channel["width_bits"] = sum(sll["wires"] for sll in plan["platform"]["slls"])


@mutant("sll-capacity-mismatch")
def boundary_with_invented_wires(plan: Plan, files: Files) -> None:
    first(plan["platform"]["slls"])["wires"] += 1


@mutant("slot-unknown")
def module_in_a_slot_that_is_not_there(plan: Plan, files: Files) -> None:
    phase = phase_of(plan)
    phase["partition"]["assignment"][phase["modules"][0]["name"]] = "fpga0.SLR9"


# --- floorplan -----------------------------------------------------------------------------------------------------


@mutant("pblock-overlap")
def overlap_by_one_column(plan: Plan, files: Files) -> None:
    blocks = pblocks(plan)
    if len(blocks) < 2:
        raise NotApplicable
    moved, kept = list(blocks)[0], area_of(list(blocks.values())[1])
    last = die(plan, files).columns - 1
    width = area_of(blocks[moved]).right - area_of(blocks[moved]).left
    place(plan, files, moved, Rectangle(kept.right, kept.bottom, min(last, kept.right + width), kept.top))


@mutant("rectangle-outside-device")
def rectangle_off_the_device(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["rectangle"]["right"] = die(plan, files).columns


@mutant("range-outside-device")
def site_off_the_device(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    columns = len(die(plan, files).raw["site_columns"]["SLICE"])
    last = max(int(text.split("Y")[-1]) for text in entry["ranges"] if text.startswith("SLICE"))
    extra = f"SLICE_X{columns - 1}Y{last}:SLICE_X{columns}Y{last}"
    name_ranges(plan, files, name, [*entry["ranges"], extra])


@mutant("site-type-unconstrained")
def site_type_left_out(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    name_ranges(plan, files, name, [text for text in entry["ranges"] if not text.startswith("RAMB18")])


@mutant("range-mismatch")
def range_one_column_short(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    sites = die(plan, files).sites(area_of(entry))
    rightmost = max(x for kind, x in sites if kind == "SLICE")
    kept = {key: mask for key, mask in sites.items() if key != ("SLICE", rightmost)}
    name_ranges(plan, files, name, ranges_of(kept))


@mutant("range-malformed")
def range_turned_over(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    turned = [":".join(reversed(text.split(":"))) for text in entry["ranges"][:1]]
    name_ranges(plan, files, name, [*turned, *entry["ranges"][1:]])


@mutant("range-corner-missing")
def corner_in_a_laguna_hole(plan: Plan, files: Files) -> None:
    device = die(plan, files)
    name, entry = first(pblocks(plan).items())
    height = device.region_rows - 1
    hole, y = first(
        (x, region * device.region_rows)
        for region in range(len(device.raw["clock_region_layouts"]))
        for x, column in enumerate(device.raw["site_columns"]["SLICE"])
        if device.legend_at(column, region)["kind"] != "clb"
    )
    name_ranges(plan, files, name, [*entry["ranges"], f"SLICE_X{hole}Y{y}:SLICE_X{hole + 1}Y{y + height}"])


@mutant("shell-touched")
def pblock_on_the_shell(plan: Plan, files: Files) -> None:
    static = board_of(plan, files).get("shell", {}).get("static", {})
    text = first(text for ranges in static.values() for text in ranges if text.startswith("CLOCKREGION"))
    x, y = text.split(":")[0].split("_X")[1].split("Y")
    corner = SiteRange("CLOCKREGION", int(x), int(y), int(x), int(y))
    place(plan, files, first(pblocks(plan)), clock_region_rectangle(die(plan, files), corner))


@mutant("slr-mismatch")
def slot_changed_in_the_pblock_only(plan: Plan, files: Files) -> None:
    entry = first(pblocks(plan).values())
    slots = [slot["name"] for slot in plan["platform"]["fpgas"][0]["slots"]]
    entry["slot"] = first(slot for slot in slots if slot != entry["slot"])


@mutant("slr-mismatch")
def slr_changed_in_the_plan_but_not_in_the_constraints(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    slots = [slot["name"] for slot in plan["platform"]["fpgas"][0]["slots"]]
    entry["slot"] = first(slot for slot in slots if slot != entry["slot"])
    phase_of(plan)["partition"]["assignment"][name] = entry["slot"]


@mutant("fill-exceeded")
def fill_exceeded_by_one(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    limit = math.floor(plan["options"]["fill"]["LUT"] * entry["supply"]["LUT"] + 1e-9)
    charge(plan, name, "LUT", limit + 1 - entry["demand"]["LUT"])


@mutant("wrong-supply")
def supply_overstated(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["supply"]["DSP"] += 2


@mutant("wrong-demand")
def demand_understated(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["demand"]["LUT"] -= 1


@mutant("wrong-anchor")
def anchor_elsewhere(plan: Plan, files: Files) -> None:
    entry = first(pblocks(plan).values())
    x, y = entry["anchor"].removeprefix("SLICE_X").split("Y")
    entry["anchor"] = f"SLICE_X{int(x) + 1}Y{y}"


@mutant("pblock-missing")
def module_without_pblock(plan: Plan, files: Files) -> None:
    blocks = pblocks(plan)
    del blocks[first(blocks)]


@mutant("wrong-hpwl")
def wire_length_understated(plan: Plan, files: Files) -> None:
    first(phase_of(plan)["floorplan"].values())["hpwl"] -= 1


# --- proofs --------------------------------------------------------------------------------------------------------


@mutant("wrong-gap")
def gap_that_does_not_follow(plan: Plan, files: Files) -> None:
    phase_of(plan)["partition"]["stats"] = {
        **{"method": "x", "status": "feasible", "objective": 10.0, "bound": 5.0},
        "gap": 0.25,
    }


@mutant("wrong-status")
def optimal_with_a_gap(plan: Plan, files: Files) -> None:
    phase_of(plan)["folding"]["stats"] = {
        **{"method": "x", "status": "optimal", "objective": 10.0, "bound": 5.0},
        "gap": 0.5,
    }


@mutant("bound-above-objective")
def bound_above_the_objective(plan: Plan, files: Files) -> None:
    phase_of(plan)["folding"]["stats"] = {
        **{"method": "x", "status": "feasible", "objective": 5.0, "bound": 10.0},
        "gap": 0.0,
    }


# --- constraint files ----------------------------------------------------------------------------------------------


@mutant("cell-pattern-ambiguous")
def pattern_that_takes_two_cells(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = files[xdc(plan)].replace("_0}]", "_*}]", 1) if "_0}]" in files[xdc(plan)] else spoil_cell(plan, files)


def spoil_cell(plan: Plan, files: Files) -> str:
    start = files[xdc(plan)].index("get_cells {") + len("get_cells {")
    end = files[xdc(plan)].index("}", start)
    return f"{files[xdc(plan)][: end - 1]}*{files[xdc(plan)][end:]}"


@mutant("cell-pattern-ambiguous")
def cells_selected_by_a_filter(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = files[xdc(plan)].replace("[get_cells {", "[get_cells -hierarchical -filter {NAME =~ ", 1)


@mutant("cell-missing")
def cell_not_constrained(plan: Plan, files: Files) -> None:
    edit_lines(files, xdc(plan), lambda lines: drop_first(lines, "add_cells_to_pblock"))


@mutant("cell-misplaced")
def cell_in_another_pblock(plan: Plan, files: Files) -> None:
    names = [f"pblock_{name}" for name in pblocks(plan)]
    if len(names) < 2:
        raise NotApplicable
    added, get = "add_cells_to_pblock [get_pblocks {%s}]", files[xdc(plan)]
    files[xdc(plan)] = get.replace(added % names[1], added % names[0], 1)
    if files[xdc(plan)] == get:
        raise NotApplicable


@mutant("cell-unknown")
def cell_that_is_no_engine(plan: Plan, files: Files) -> None:
    name = first(pblocks(plan))
    files[xdc(plan)] += f"add_cells_to_pblock [get_pblocks {{pblock_{name}}}] [get_cells {{top/ghost}}]\n"


@mutant("cell-repeated")
def cell_added_twice(plan: Plan, files: Files) -> None:
    line = first(line for line in files[xdc(plan)].split("\n") if line.startswith("add_cells_to_pblock"))
    files[xdc(plan)] += f"{line}\n"


@mutant("pblock-soft")
def pblock_left_soft(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = files[xdc(plan)].replace("IS_SOFT FALSE", "IS_SOFT TRUE", 1)


@mutant("pblock-parent")
def parent_forgotten(plan: Plan, files: Files) -> None:
    edit_lines(files, xdc(plan), lambda lines: drop_first(lines, "set_property PARENT"))


@mutant("pblock-uncreated")
def pblock_not_created(plan: Plan, files: Files) -> None:
    edit_lines(files, xdc(plan), lambda lines: drop_first(lines, "create_pblock"))


@mutant("pblock-unplanned")
def pblock_that_is_not_planned(plan: Plan, files: Files) -> None:
    files[xdc(plan)] += "create_pblock {pblock_ghost}\n"


@mutant("pblock-ranges-differ")
def ranges_differ_in_one_file(plan: Plan, files: Files) -> None:
    name, before = constraint_files(plan)[1], files[constraint_files(plan)[1]]
    entry = first(pblocks(plan).values())
    files[name] = before.replace(f"{entry['ranges'][-1]}", "", 1)


@mutant("unknown-command")
def foreign_command(plan: Plan, files: Files) -> None:
    files[xdc(plan)] += "delete_pblock pblock_front\n"


@mutant("control-flow")
def loop_in_the_constraints(plan: Plan, files: Files) -> None:
    files[xdc(plan)] += "foreach cell [get_cells *] {puts $cell}\n"


@mutant("file-corrupt")
def brace_not_closed(plan: Plan, files: Files) -> None:
    files[xdc(plan)] += "create_pblock {pblock_x\n"


@mutant("library-missing")
def library_not_sourced(plan: Plan, files: Files) -> None:
    edit_lines(files, constraint_files(plan)[1], lambda lines: [line for line in lines if not line.startswith("source")])


# --- FINN's files --------------------------------------------------------------------------------------------------


@mutant("finn-folding-differs")
def folding_file_with_another_pe(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/folding_config.json", lambda content: content[name].update(PE=content[name]["PE"] * 2))


@mutant("finn-entry-malformed")
def folding_file_without_defaults(plan: Plan, files: Files) -> None:
    edit_json(files, "finn/folding_config.json", lambda content: content.pop("Defaults"))


@mutant("finn-node-missing")
def engine_forgotten_in_the_folding_file(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/folding_config.json", lambda content: content.pop(name))


@mutant("finn-slr-differs")
def finn_engine_in_another_slr(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/floorplan.json", lambda content: content[name].update(slr=content[name]["slr"] + 1))


@mutant("finn-partition-split")
def one_partition_in_two_slrs(plan: Plan, files: Files) -> None:
    crossing(plan)

    def merge(content: Plan) -> None:
        for name, entry in content.items():
            if name != "Defaults":
                entry["partition_id"] = 1

    edit_json(files, "finn/floorplan.json", merge)


@mutant("finn-partition-cycle")
def partitions_in_a_cycle(plan: Plan, files: Files) -> None:
    chain = [c for c in phase_of(plan)["channels"] if not c["source"].startswith("host:")]
    middle = first(
        (c["source"], c["target"], d["target"])
        for c in chain
        for d in chain
        if c["target"] == d["source"] and not d["target"].startswith("host:")
    )

    def split(content: Plan) -> None:
        content[middle[0]]["partition_id"] = content[middle[2]]["partition_id"] = 901
        content[middle[1]]["partition_id"] = 902

    edit_json(files, "finn/floorplan.json", split)


@mutant("finn-partition-open")
def runtime_weights_inside_a_partition(plan: Plan, files: Files) -> None:
    engines = phase_of(plan)["folding"]["engines"]
    ids = json.loads(files["finn/floorplan.json"])
    name = first(
        c["source"]
        for c in phase_of(plan)["channels"]
        if c["source"] in engines
        and c["target"] in engines
        and ids[c["source"]]["partition_id"] == ids[c["target"]]["partition_id"]
    )
    engines[name]["runtime_writeable_weights"] = 1
