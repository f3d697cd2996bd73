"""pblocks.tcl of one FPGA: one line that sources floorflow's Tcl library, then calls to it and nothing else."""

from __future__ import annotations

from floorflow.verify.files.constraints import Handler, Refusal, Stated, handle_command, static
from floorflow.verify.files.tcl import Command, list_items, parse_commands
from floorflow.verify.violations import Findings

LIBRARY_PATH = "file join [file dirname [file normalize [info script]]] {up} vivado floorflow.tcl"
"""What stands in the brackets behind ``source``, with as many steps up as there are folders around the script."""

OPTIONS = ("-ranges", "-parent", "-soft", "-cells")


def _library_call(command: Command, stated: Stated) -> None:
    words = static(command.words[1:])
    if len(words) % 2 == 0:
        raise Refusal("malformed-command", "expected floorflow::pblock NAME -option VALUE ...")
    pblock, names, values = words[0], words[1::2], words[2::2]
    stated.created[pblock] += 1
    stated.soft[pblock] = "FALSE"  # what the library does unless it is told
    for name in names:
        if name not in OPTIONS or names.count(name) > 1:
            raise Refusal("malformed-command", f"option {name}, expected each of {', '.join(OPTIONS)} at most once")
    for option, value in zip(names, values, strict=True):
        if option == "-ranges":
            stated.ranges.setdefault(pblock, []).extend(list_items(value))
        elif option == "-parent":
            stated.parents.setdefault(pblock, []).append(value)
        elif option == "-soft":
            stated.soft[pblock] = value
        else:
            stated.cells.extend((pblock, cell) for cell in list_items(value))


def _slr_call(command: Command, stated: Stated) -> None:
    words = static(command.words[1:])
    if len(words) != 3 or words[1] != "-cells":
        raise Refusal("malformed-command", "expected floorflow::slr SLR -cells CELLS")
    stated.slrs.extend((words[0], cell) for cell in list_items(words[2]))


def _ports_call(command: Command, stated: Stated) -> None:
    words = static(command.words[1:])
    if len(words) != 5 or (words[1], words[3]) != ("-in", "-out"):
        raise Refusal("malformed-command", "expected floorflow::ports CELL -in WIDTHS -out WIDTHS")
    stated.ports.append((words[0], tuple(list_items(words[2])), tuple(list_items(words[4]))))


def _is_library_source(command: Command, path: str) -> bool:
    """Whether the command sources the library that lies in the plan's folder, spelt as floorflow spells it."""
    words = command.words
    if len(words) != 2 or words[0].nested is not None or words[1].nested is None:
        return False
    return words[0].text == "source" and words[1].text == path


def _begin(command: Command, part: str, *, unbound: bool) -> None:
    expected = ["-part", part, *(["-unbound", "TRUE"] if unbound else [])]
    if static(command.words[1:]) != expected:
        raise Refusal("malformed-command", f"expected floorflow::begin {' '.join(expected)}")


def _end(command: Command, stated: Stated) -> None:
    """Refuse an end whose counts, at which the library stops, are not those of the calls before it."""
    expected = ["-pblocks", str(sum(stated.created.values())), "-assigned", str(len(stated.slrs))]
    expected += ["-ports", str(len(stated.ports))] if stated.ports else []
    if static(command.words[1:]) != expected:
        raise Refusal("malformed-command", f"expected floorflow::end {' '.join(expected)}")


def read_tcl(text: str, where: str, part: str, findings: Findings, *, unbound: bool = False) -> Stated:
    """Return what calls to floorflow's Tcl library state; other commands are reported.

    An ``unbound`` script says so where it begins.
    """
    stated = Stated()
    calls: dict[str, Handler] = {
        "floorflow::begin": lambda command, _: _begin(command, part, unbound=unbound),
        "floorflow::ports": _ports_call,
        "floorflow::pblock": _library_call,
        "floorflow::slr": _slr_call,
        "floorflow::end": _end,
    }
    order: list[str] = []
    path = LIBRARY_PATH.format(up=" ".join([".."] * where.count("/")))
    for command in parse_commands(text):
        if _is_library_source(command, path):
            order.append("source")
            continue
        handle_command(command, calls, stated, where, findings)
        order.append(command.name.removeprefix("::").removeprefix("floorflow::"))
        if order[-1] == "source":
            order[-1] = "another source"
    _check_order(order, path, where, findings)
    return stated


def _check_order(order: list[str], path: str, where: str, findings: Findings) -> None:
    if order[:1] != ["source"] or order.count("source") > 1:
        message = f"the file does not begin with `source [{path}]`, once"
        findings.add("library-missing", where, message)
    calls = [name for name in order if name != "source"]
    inner = calls[1:-1]
    if len(calls) < 2 or calls[0] != "begin" or calls[-1] != "end" or {"begin", "end"} & {*inner}:
        findings.add("malformed-command", where, "pblocks must stand between one begin and one end, the last command")
