"""Planted mistakes in the emitted files: constraints and FINN's."""

from __future__ import annotations

from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    constraint_files,
    drop_first,
    edit_json,
    edit_lines,
    first,
    mutant,
    pblocks,
    phase_of,
    xdc,
)


@mutant("cell-pattern-ambiguous")
def pattern_that_takes_two_cells(plan: Plan, files: Files) -> None:
    text = files[xdc(plan)]
    end = text.index("}", text.index("get_cells {"))
    files[xdc(plan)] = f"{text[: end - 1]}*{text[end:]}"


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


@mutant("cell-ports-differ")
def streams_of_another_engine(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace(" -out {", " -out {7777 ", 1)


@mutant("cell-ports-differ")
def cell_whose_streams_are_not_compared(plan: Plan, files: Files) -> None:
    edit_lines(files, constraint_files(plan)[1], lambda lines: drop_first(lines, "floorflow::ports"))


@mutant("cell-unknown")
def fifo_of_no_module(plan: Plan, files: Files) -> None:
    edit_json(
        files, "bound.json", lambda told: told.setdefault("streams", {}).update({"top/StreamingFIFO_rtl_99": "x"})
    )


@mutant("cell-missing")
def fifo_that_the_constraints_forget(plan: Plan, files: Files) -> None:
    module = first(pblocks(plan))
    cell = "top/StreamingFIFO_rtl_99"
    edit_json(files, "bound.json", lambda told: told.setdefault("streams", {}).update({cell: module}))


@mutant("slice-missing")
def cell_of_a_slice_that_is_not_planned(plan: Plan, files: Files) -> None:
    stream = phase_of(plan)["channels"][0]["name"]
    edit_json(files, "bound.json", lambda told: told.update(slices={"top/StreamingFIFO_rtl_99": stream}))


@mutant("pblock-soft")
def pblock_left_soft(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = files[xdc(plan)].replace("IS_SOFT FALSE", "IS_SOFT TRUE", 1)


@mutant("pblock-parent", TWO_SLRS)
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
    edit_lines(
        files, constraint_files(plan)[1], lambda lines: [line for line in lines if not line.startswith("source")]
    )
