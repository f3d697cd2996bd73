"""Planted mistakes in how much room pblocks have, how likely they are to fit, and how slots are constrained."""

from __future__ import annotations

import math
import re

from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    charge,
    constraint_files,
    edit_lines,
    first,
    mutant,
    part_of,
    pblocks,
    phase_of,
)
from tests.verify.tiny_network import RESOURCES

FULL, FULLER = 0.84, 0.95
"""LUTs at which no module is likely enough to fit, and BRAM18 at which no pblock may be hard."""
SOUGHT = 0.99


def slots_of(plan: Plan) -> list[str]:
    return [slot["name"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]]


def fill_up(plan: Plan, share: float, resource: str) -> Plan:
    """Let the first module need a share of what its pblock holds; return the pblock."""
    name, entry = first((name, entry) for name, entry in pblocks(plan).items() if entry["supply"][resource])
    charge(plan, name, resource, max(0, math.floor(share * entry["supply"][resource]) - entry["demand"][resource]))
    return entry


@mutant("pblock-without-room")
def module_that_fills_its_pblock_and_may_need_more(plan: Plan, files: Files) -> None:
    plan["options"]["confidence"] = SOUGHT
    fill_up(plan, FULL, "LUT")


@mutant("pblock-without-room")
def confidence_that_no_pblock_has(plan: Plan, files: Files) -> None:
    fill_up(plan, 0.7, "LUT")
    plan["options"]["confidence"] = 1 - 1e-12


@mutant("pblock-without-room")
def block_ram_of_a_hard_pblock_nearly_all_in_use(plan: Plan, files: Files) -> None:
    plan["options"]["confidence"] = "none"
    fill_up(plan, FULLER, "BRAM18")


@mutant("wrong-short")
def pblock_with_room_called_short(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["short"] = True


@mutant("wrong-short", TWO_SLRS)
def short_pblock_in_a_slot_with_room(plan: Plan, files: Files) -> None:
    if len(plan["platform"]["fpgas"][0]["slots"]) == 1:
        raise NotApplicable  # a slot that all modules share may have none
    plan["options"]["confidence"] = SOUGHT
    name, entry = min(pblocks(plan).items(), key=lambda item: item[1]["supply"]["LUT"])
    charge(plan, name, "LUT", max(0, math.floor(FULL * entry["supply"]["LUT"]) - entry["demand"]["LUT"]))
    entry["short"] = True


@mutant("wrong-likelihood")
def likelihood_rounded_up(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["likelihood"] = 1.0


@mutant("wrong-likelihood")
def likelihood_kept_back(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["likelihood"] = None


@mutant("wrong-fit")
def slot_that_is_certain_to_fit(plan: Plan, files: Files) -> None:
    fits = phase_of(plan)["fits"]
    first(fit for fit in fits.values() if fit["high"]["LUT"])["likelihood"] = 1.0


@mutant("wrong-fit")
def upper_tenth_left_out(plan: Plan, files: Files) -> None:
    fit = first(fit for fit in phase_of(plan)["fits"].values() if fit["high"]["LUT"])
    fit["high"]["LUT"] = (fit["low"]["LUT"] + fit["high"]["LUT"]) // 2


@mutant("wrong-band")
def band_left_out(plan: Plan, files: Files) -> None:
    phase_of(plan)["bands"].pop(phase_of(plan)["fifo_kind"])


@mutant("wrong-constraint-style")
def slot_of_another_style(plan: Plan, files: Files) -> None:
    styles = phase_of(plan)["constraint_styles"]
    slot = first(styles)
    styles[slot] = "hard" if styles[slot] != "hard" else "soft"


@mutant("wrong-constraint-style")
def style_that_was_not_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["constraint_style"] = "soft"


@mutant("wrong-constraint-style")
def slot_of_no_style(plan: Plan, files: Files) -> None:
    phase_of(plan)["constraint_styles"].pop(slots_of(plan)[0])


@mutant("slot-unknown")
def style_of_a_ghost(plan: Plan, files: Files) -> None:
    phase_of(plan)["constraint_styles"]["ghost"] = "hard"


@mutant("constraints-unplanned")
def files_although_nothing_is_constrained(plan: Plan, files: Files) -> None:
    plan["options"]["constraint_style"] = "none"
    phase_of(plan)["constraint_styles"] = dict.fromkeys(slots_of(plan), "none")


@mutant("finn-slr-differs", TWO_SLRS)
def dies_for_finn_although_nothing_is_constrained(plan: Plan, files: Files) -> None:
    if all(len(fpga["slots"]) == 1 for fpga in plan["platform"]["fpgas"]):
        raise NotApplicable
    files_although_nothing_is_constrained(plan, files)


@mutant("pblock-soft")
def hard_pblock_in_a_script_of_soft_ones(plan: Plan, files: Files) -> None:
    plan["options"]["constraint_style"] = "soft"
    phase_of(plan)["constraint_styles"] = dict.fromkeys(slots_of(plan), "soft")


@mutant("malformed-command")
def softness_of_another_word(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace(" -cells ", " -softness TRUE -cells ", 1)


def by_slr_alone(plan: Plan, files: Files) -> None:
    """Make of the plan one that assigns SLRs and makes no pblocks."""
    styles = phase_of(plan)["constraint_styles"]
    if set(styles.values()) != {"hard"} or len(plan["platform"]["fpgas"][0]["slots"]) == 1:
        raise NotApplicable
    plan["options"]["constraint_style"] = "slr"
    phase_of(plan)["constraint_styles"] = dict.fromkeys(styles, "slr")
    slrs = {slot["name"]: slot["slr"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}
    for fpga, floorplan in phase_of(plan)["floorplan"].items():
        slr_of = {f"pblock_{name}": slrs[entry["slot"]] for name, entry in floorplan["pblocks"].items()}
        edit_lines(files, f"{fpga}/pblocks.xdc", lambda lines, slr_of=slr_of: _assigned(lines, slr_of))  # type: ignore[misc]
        edit_lines(files, f"{fpga}/pblocks.tcl", lambda lines, slr_of=slr_of: _called(lines, slr_of))  # type: ignore[misc]


def _assigned(lines: list[str], slr_of: dict[str, str]) -> list[str]:
    added = re.compile(r"add_cells_to_pblock \[get_pblocks \{(\w+)\}\] (\[get_cells .*\])")
    found = filter(None, map(added.fullmatch, lines))
    return [f"set_property USER_SLR_ASSIGNMENT {slr_of[match[1]]} {match[2]}" for match in found]


def _called(lines: list[str], slr_of: dict[str, str]) -> list[str]:
    text = "\n".join(lines).replace("\\\n", " ")
    calls = re.findall(r"floorflow::pblock \{(\w+)\}.*-cells \{(.*)\}", text)
    start = [line for line in lines if line.startswith(("source", "floorflow::begin", "floorflow::ports"))]
    count = sum(len(cells.split()) for _, cells in calls)
    made = [f"floorflow::slr {slr_of[name]} -cells {{{cells}}}" for name, cells in calls]
    compared = sum(line.startswith("floorflow::ports") for line in start)
    ports = f" -ports {compared}" if compared else ""
    return [*start, *made, f"floorflow::end -pblocks 0 -assigned {count}{ports}", ""]


@mutant("wrong-slr", TWO_SLRS)
def cell_of_another_slr(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[0]
    files[name] = re.sub(
        r"USER_SLR_ASSIGNMENT SLR(\d)",
        lambda match: f"USER_SLR_ASSIGNMENT SLR{3 - int(match[1])}",
        files[name],
        count=1,
    )


@mutant("wrong-slr", TWO_SLRS)
def cell_of_no_slr(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[0]
    edit_lines(files, name, lambda lines: lines[1:])


@mutant("cell-repeated", TWO_SLRS)
def cell_of_two_slrs(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[0]
    edit_lines(files, name, lambda lines: [*lines, lines[0]])


@mutant("cell-pattern-ambiguous", TWO_SLRS)
def slr_for_all_cells_of_a_kind(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[0]
    files[name] = re.sub(r"_0\}\]", "_*}]", files[name], count=1)


@mutant("malformed-command", TWO_SLRS)
def script_that_counts_cells_wrongly(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[1]
    files[name] = re.sub(r"-assigned (\d+)", lambda match: f"-assigned {int(match[1]) + 1}", files[name])


@mutant("malformed-command", TWO_SLRS)
def slr_for_what_is_no_cell(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[0]
    files[name] = re.sub(r"\[get_cells \{(\S+)\}\]", r"\1", files[name], count=1)


@mutant("malformed-command", TWO_SLRS)
def slr_without_cells(plan: Plan, files: Files) -> None:
    by_slr_alone(plan, files)
    name = constraint_files(plan)[1]
    files[name] = files[name].replace(" -cells ", " ", 1)


@mutant("wrong-fit")
def doubt_that_the_tenths_leave_out(plan: Plan, files: Files) -> None:
    none = dict.fromkeys(RESOURCES, 0)
    engine = first(part_of(plan)["folding"]["engines"].values())
    engine["doubt"] = {"less": none, "more": {**none, "LUT": 10_000}}
