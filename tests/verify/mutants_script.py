"""Planted mistakes in the Tcl of the constraint files: the library, the order of calls, brackets and spellings."""

from __future__ import annotations

import re

from tests.verify.planting import (
    Files,
    Plan,
    constraint_files,
    edit_lines,
    first,
    mutant,
    name_ranges,
    pblocks,
    xdc,
)


@mutant("library-missing")
def other_library_sourced(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace(".. vivado floorflow.tcl", ".. .. floorflow.tcl")


@mutant("library-missing")
def library_sourced_twice(plan: Plan, files: Files) -> None:
    def repeat(lines: list[str]) -> list[str]:
        at = first(i for i, line in enumerate(lines) if line.startswith("source"))
        return [*lines[: at + 1], *lines[at:]]

    edit_lines(files, constraint_files(plan)[1], repeat)


@mutant("unknown-command")
def script_of_a_stranger_sourced(plan: Plan, files: Files) -> None:
    files[constraint_files(plan)[1]] += "source [file join [file dirname [info script]] stranger.tcl]\n"


@mutant("malformed-command")
def script_begun_twice(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    part = plan["platform"]["fpgas"][0]["part"]
    files[name] = files[name].replace("floorflow::end", f"floorflow::begin -part {{{part}}}\nfloorflow::end")


@mutant("malformed-command")
def script_not_ended(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace("floorflow::end", "")


@mutant("malformed-command")
def script_that_counts_one_pblock_too_few(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = re.sub(r"-pblocks (\d+)", lambda match: f"-pblocks {int(match[1]) - 1}", files[name])


@mutant("malformed-command")
def script_that_does_not_count(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = re.sub(r" -pblocks \d+", "", files[name])


@mutant("malformed-command")
def script_ended_twice(plan: Plan, files: Files) -> None:
    files[constraint_files(plan)[1]] += "floorflow::end\n"


@mutant("malformed-command")
def option_given_twice(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace(" -cells ", " -cells {} -cells ", 1)


@mutant("control-flow")
def command_that_another_one_names(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace("floorflow::end", "[floorflow::end]")


@mutant("shipped-file-differs")
def library_that_does_nothing(plan: Plan, files: Files) -> None:
    files["vivado/floorflow.tcl"] += "proc floorflow::pblock {args} {}\n"


@mutant("file-missing")
def library_left_out(plan: Plan, files: Files) -> None:
    del files["vivado/floorflow.tcl"]


@mutant("file-corrupt")
def thousands_of_brackets(plan: Plan, files: Files) -> None:
    files[xdc(plan)] += "[" * 5000 + "\n"


@mutant("file-corrupt")
def second_command_in_brackets(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = files[xdc(plan)].replace("[get_cells {", "[get_cells\n{", 1)


@mutant("file-corrupt")
def line_end_that_only_tcl_sees(plan: Plan, files: Files) -> None:
    files[xdc(plan)] = f"# made by hand\rdelete_pblock [get_pblocks]\n{files[xdc(plan)]}"


@mutant("cell-unknown")
def semicolon_in_a_list_of_cells(plan: Plan, files: Files) -> None:
    name = constraint_files(plan)[1]
    files[name] = files[name].replace(" -cells {", " -cells {; ", 1)


@mutant("range-malformed")
def range_with_leading_zeros(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    name_ranges(plan, files, name, [entry["ranges"][0].replace("_X", "_X0"), *entry["ranges"][1:]])
