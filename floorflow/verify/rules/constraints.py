"""The constraint files of one FPGA, XDC and the script of calls to the Tcl library, against the plan."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from floorflow.verify.hardware.ranges import parse_range
from floorflow.verify.phase_records import PblockRecord
from floorflow.verify.records import repeated
from floorflow.verify.tcl.values import CONTROL_FLOW
from floorflow.verify.tcl.words import UnreadableError, Word, Words, bracketed, commands, list_items
from floorflow.verify.violations import Findings

NO_CONSTRAINT = CONTROL_FLOW | frozenset(("else", "elseif", "exec", "expr", "set", "subst", "unset", "variable"))
"""Commands that compute what another one states."""
MAX_CHARACTERS = 8_000_000
"""How long a script may be; those of plans are a thousandth of it."""
_NOT_PLAIN = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters but tab and newline, and Unicode's separators of lines and paragraphs."""
PATTERN_CHARACTERS = re.compile(r"[*?{}\\$\s]")
"""Characters with which a name handed to get_cells is no longer one exact name; Vivado takes brackets literally."""


class Refusal(Exception):  # noqa: N818 - a finding about one command, caught in this module
    """A command that must not stand in a constraint file; holds the violation's name."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(slots=True)
class Stated:
    """What a constraint file says, by pblock in the order of creation.

    ``cells`` are ``(pblock, cell)``, ``slrs`` are ``(SLR, cell)``, ``ports`` are ``(cell, widths in, widths out)``.
    """

    created: Counter[str] = field(default_factory=Counter)
    ranges: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    soft: dict[str, str] = field(default_factory=dict)
    cells: list[tuple[str, str]] = field(default_factory=list)
    slrs: list[tuple[str, str]] = field(default_factory=list)
    ports: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    early: list[str] = field(default_factory=list)

    def use(self, pblock: str) -> str:
        """Note that a command names a pblock, which must have been created before."""
        if pblock not in self.created:
            self.early.append(pblock)
        return pblock


def read_commands(text: str) -> list[tuple[int, Words]]:
    """Return the line and words of each command of one of our own files, which are plainer than anybody's.

    UnreadableError if it is no Tcl, longer than `MAX_CHARACTERS`, or holds what may be taken for the end of a line,
    word or file.
    """
    text = text.replace("\r\n", "\n")
    if len(text) > MAX_CHARACTERS:
        raise UnreadableError(1, f"the file is longer than the limit of {MAX_CHARACTERS:,} characters")
    if found := _NOT_PLAIN.search(text):
        raise UnreadableError(text.count("\n", 0, found.start()) + 1, f"control character U+{ord(found.group()):04X}")
    read = list(commands(text))
    for line, words in read:
        if any(_is_bracketed(word) and len(list(commands(word.text[1:-1]))) != 1 for word in words):
            raise UnreadableError(line, "a pair of brackets does not hold one command")
    return read


def _items(text: str) -> list[str]:
    if "\\" in text:
        raise Refusal("malformed-command", "a list holds a backslash")
    return list_items(text)


def static(words: Iterable[Word]) -> list[str]:
    """Return plain texts; anything that Tcl would substitute is refused."""
    texts = []
    for word in words:
        if word.substituted:
            raise Refusal("control-flow", f"{word.text!r} is computed, expected a plain word")
        texts.append(word.text)
    return texts


def expect_words(words: Words, count: int, form: str) -> None:
    """Refuse a command unless it has that many words."""
    if len(words) != count:
        raise Refusal("malformed-command", f"expected {form}")


def _inner(word: Word, name: str) -> str:
    """Return the one argument of ``[name argument]``; a bare word stands for itself."""
    if not _is_bracketed(word):
        return static([word])[0]
    ((_, inside),) = commands(word.text[1:-1])
    if inside[0].text != name:
        raise Refusal("malformed-command", f"expected [{name} ...], found {word.text}")
    arguments = static(inside[1:])
    if any(argument.startswith("-") for argument in arguments) and name == "get_cells":
        raise Refusal("cell-pattern-ambiguous", f"{word.text} selects cells by options")
    if len(arguments) != 1:
        raise Refusal("malformed-command", f"{word.text}: expected one argument")
    return arguments[0]


def _is_bracketed(word: Word) -> bool:
    return word.substituted and word.text.startswith("[") and bracketed(word.text, 0, 0) == len(word.text)


def _create(words: Words, stated: Stated) -> None:
    expect_words(words, 2, "create_pblock NAME")
    stated.created[static(words[1:])[0]] += 1


def _resize(words: Words, stated: Stated) -> None:
    expect_words(words, 4, "resize_pblock [get_pblocks NAME] -add {RANGES}")
    pblock = stated.use(_inner(words[1], "get_pblocks"))
    option, ranges = static(words[2:])
    if option != "-add":
        raise Refusal("malformed-command", f"option {option}, expected -add")
    stated.ranges.setdefault(pblock, []).extend(_items(ranges))


def _set_property(words: Words, stated: Stated) -> None:
    expect_words(words, 4, "set_property NAME VALUE [get_pblocks NAME]")
    name = static(words[1:2])[0].upper()
    if name == "USER_SLR_ASSIGNMENT":
        if not _is_bracketed(words[3]):
            raise Refusal("malformed-command", "expected set_property USER_SLR_ASSIGNMENT SLR [get_cells {CELL}]")
        (slr,) = static(words[2:3])
        stated.slrs.extend((slr, cell) for cell in _items(_inner(words[3], "get_cells")))
        return
    pblock = stated.use(_inner(words[3], "get_pblocks"))
    value = _inner(words[2], "get_pblocks")
    if name == "PARENT":
        stated.parents.setdefault(pblock, []).append(value)
    elif name == "IS_SOFT":
        stated.soft[pblock] = value.upper()
    else:
        raise Refusal("unknown-command", f"property {name}, expected PARENT, IS_SOFT or USER_SLR_ASSIGNMENT")


def _add_cells(words: Words, stated: Stated) -> None:
    expect_words(words, 3, "add_cells_to_pblock [get_pblocks NAME] [get_cells {CELL}]")
    pblock = stated.use(_inner(words[1], "get_pblocks"))
    if not _is_bracketed(words[2]):
        raise Refusal("malformed-command", "expected [get_cells {CELL}]")
    cells = _items(_inner(words[2], "get_cells"))
    stated.cells.extend((pblock, cell) for cell in cells)


Handler = Callable[[Words, Stated], None]

_XDC: dict[str, Handler] = {
    "create_pblock": _create,
    "resize_pblock": _resize,
    "set_property": _set_property,
    "add_cells_to_pblock": _add_cells,
}


def read_xdc(text: str, where: str, _part: str, findings: Findings) -> Stated:
    """Return what an XDC file states; commands that it must not hold are reported."""
    stated = Stated()
    for line, words in read_commands(text):
        handle_command(words, _XDC, stated, f"{where} line {line}", findings)
    return stated


def handle_command(words: Words, known: Mapping[str, Handler], stated: Stated, place: str, findings: Findings) -> None:
    """Let the handler of a command note what it states; report commands without one and those that are refused."""
    try:
        name = static(words[:1])[0].removeprefix("::")
        handler = known.get(name)
        if handler is not None:
            handler(words, stated)
        elif name in NO_CONSTRAINT:
            findings.add("control-flow", place, f"command {name}")
        else:
            findings.add("unknown-command", place, f"command {name}")
    except Refusal as refusal:
        findings.add(refusal.name, place, str(refusal))
    except UnreadableError as problem:
        findings.add("malformed-command", place, str(problem))


@dataclass(frozen=True, slots=True)
class Planned:
    """What the plan says of one FPGA: pblocks by full name, which are soft, parents, and where each cell is put.

    ``cells`` gives the pblock of each cell, ``slrs`` the SLR of each that is in none; None: cells are not known.
    ``ports`` are widths of the streams into and out of cells, which a script has to compare.
    """

    pblocks: dict[str, PblockRecord]
    soft: dict[str, bool]
    parents: dict[str, str | None]
    cells: dict[str, str] | None
    slrs: dict[str, str]
    ports: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)


def compare_ports(stated: Stated, planned: Planned, where: str, findings: Findings) -> None:
    """Check that a script compares the streams of every engine's cell with those of the plan, ascending."""
    told = {cell: (into, out) for cell, into, out in stated.ports}
    for cell in sorted({*told} | {*planned.ports}):
        widths = planned.ports.get(cell)
        expected = None if widths is None else tuple(tuple(map(str, sorted(bits))) for bits in widths)
        if told.get(cell) != expected:
            message = f"streams of {cell} are said to have {told.get(cell)} bits, the plan has {expected}"
            findings.add("cell-ports-differ", where, message)


def compare(stated: Stated, planned: Planned, where: str, findings: Findings) -> None:
    """Check a constraint file against the plan."""
    for name in sorted({*stated.created} - {*planned.pblocks}):
        findings.add("pblock-unplanned", where, f"{name} is created, the plan does not have it")
    for name in sorted({*stated.early}):
        rule = "pblock-uncreated" if name in planned.pblocks else "pblock-unplanned"
        findings.add(rule, where, f"{name} is used and not created before")
    for name, entry in planned.pblocks.items():
        if name not in stated.created:
            findings.add("pblock-uncreated", where, f"{name} is not created")
            continue
        _compare_pblock(name, entry, stated, where, findings)
        # It must be said, though Vivado takes a pblock for soft otherwise.
        allowed = ("TRUE", "1") if planned.soft[name] else ("FALSE", "0")
        if stated.soft.get(name) not in allowed:
            findings.add("pblock-soft", f"{where} {name}", f"IS_SOFT {allowed[0]} is not set")
        parents = stated.parents.get(name, [])
        expected = [planned.parents[name]] if planned.parents.get(name) else []
        if parents != expected:
            findings.add("pblock-parent", f"{where} {name}", f"parents {parents}, expected {expected}")
    if planned.cells is not None:
        _compare_cells(stated, planned.cells, where, findings)
        _compare_slrs(stated, planned.slrs, where, findings)


def _compare_pblock(name: str, entry: PblockRecord, stated: Stated, file: str, findings: Findings) -> None:
    where = f"{file} {name}"
    if stated.created[name] > 1:
        findings.add("pblock-repeated", where, f"created {stated.created[name]} times")
    ranges = stated.ranges.get(name, [])
    for text in ranges:
        if parse_range(text) is None:
            findings.add("range-malformed", where, f"{text} is not lower-left:upper-right of one site type")
    if sorted(ranges) != sorted(entry["ranges"]):
        differing = sorted(set(ranges) ^ set(entry["ranges"]))
        findings.add("pblock-ranges-differ", where, f"{', '.join(differing) or 'a range is repeated'}")


def _plain_cells(
    said: Sequence[tuple[str, str]], how: str, where: str, findings: Findings
) -> Iterator[tuple[str, str]]:
    """Report cells that are named several times or by a pattern; yield the others with what is said of each."""
    for cell, count in repeated(cell for _, cell in said):
        findings.add("cell-repeated", where, f"{cell} is {how} {count} times")
    for place, cell in said:
        if PATTERN_CHARACTERS.search(cell):
            findings.add("cell-pattern-ambiguous", where, f"{cell} could take two cells")
        else:
            yield place, cell


def _compare_slrs(stated: Stated, planned: dict[str, str], where: str, findings: Findings) -> None:
    for slr, cell in _plain_cells(stated.slrs, "given an SLR", where, findings):
        if planned.get(cell) != slr:
            findings.add("wrong-slr", where, f"{cell} is given {slr}, the plan says {planned.get(cell, 'nothing')}")
    for cell in sorted({*planned} - {cell for _, cell in stated.slrs}):
        findings.add("wrong-slr", where, f"{cell} is given no SLR, the plan says {planned[cell]}")


def _compare_cells(stated: Stated, planned: dict[str, str], where: str, findings: Findings) -> None:
    for pblock, cell in _plain_cells(stated.cells, "added", where, findings):
        if cell not in planned:
            findings.add("cell-unknown", where, f"{cell} belongs to no engine")
        elif planned[cell] != pblock:
            findings.add("cell-misplaced", where, f"{cell} is in {pblock}, the plan says {planned[cell]}")
    added = {cell for _, cell in stated.cells}
    for cell in sorted({*planned} - added):
        findings.add("cell-missing", where, f"{cell} is added to no pblock")


LIBRARY_PATH = "file join [file dirname [file normalize [info script]]] {up} vivado floorflow.tcl"
"""What stands in the brackets behind ``source``, with as many steps up as there are folders around the script."""

OPTIONS = ("-ranges", "-parent", "-soft", "-cells")


def _library_call(words: Words, stated: Stated) -> None:
    given = static(words[1:])
    if len(given) % 2 == 0:
        raise Refusal("malformed-command", "expected floorflow::pblock NAME -option VALUE ...")
    pblock, names, values = given[0], given[1::2], given[2::2]
    stated.created[pblock] += 1
    stated.soft[pblock] = "FALSE"  # what the library does unless it is told
    for name in names:
        if name not in OPTIONS or names.count(name) > 1:
            raise Refusal("malformed-command", f"option {name}, expected each of {', '.join(OPTIONS)} at most once")
    for option, value in zip(names, values, strict=True):
        if option == "-ranges":
            stated.ranges.setdefault(pblock, []).extend(_items(value))
        elif option == "-parent":
            stated.parents.setdefault(pblock, []).append(value)
        elif option == "-soft":
            stated.soft[pblock] = value
        else:
            stated.cells.extend((pblock, cell) for cell in _items(value))


def _slr_call(words: Words, stated: Stated) -> None:
    given = static(words[1:])
    if len(given) != 3 or given[1] != "-cells":
        raise Refusal("malformed-command", "expected floorflow::slr SLR -cells CELLS")
    stated.slrs.extend((given[0], cell) for cell in _items(given[2]))


def _ports_call(words: Words, stated: Stated) -> None:
    given = static(words[1:])
    if len(given) != 5 or (given[1], given[3]) != ("-in", "-out"):
        raise Refusal("malformed-command", "expected floorflow::ports CELL -in WIDTHS -out WIDTHS")
    stated.ports.append((given[0], tuple(_items(given[2])), tuple(_items(given[4]))))


def _begin(words: Words, part: str, *, unbound: bool) -> None:
    expected = ["-part", part, *(["-unbound", "TRUE"] if unbound else [])]
    if static(words[1:]) != expected:
        raise Refusal("malformed-command", f"expected floorflow::begin {' '.join(expected)}")


def _end(words: Words, stated: Stated) -> None:
    """Refuse an end whose counts, at which the library stops, are not those of the calls before it."""
    expected = ["-pblocks", str(sum(stated.created.values())), "-assigned", str(len(stated.slrs))]
    expected += ["-ports", str(len(stated.ports))] if stated.ports else []
    if static(words[1:]) != expected:
        raise Refusal("malformed-command", f"expected floorflow::end {' '.join(expected)}")


def read_tcl(text: str, where: str, part: str, findings: Findings, *, unbound: bool = False) -> Stated:
    """Return what calls to floorflow's Tcl library state; other commands are reported.

    An ``unbound`` script says so where it begins.
    """
    stated = Stated()
    calls: dict[str, Handler] = {
        "floorflow::begin": lambda words, _: _begin(words, part, unbound=unbound),
        "floorflow::ports": _ports_call,
        "floorflow::pblock": _library_call,
        "floorflow::slr": _slr_call,
        "floorflow::end": _end,
    }
    order: list[str] = []
    path = LIBRARY_PATH.format(up=" ".join([".."] * where.count("/")))
    for line, words in read_commands(text):
        if words == [Word("source", substituted=False), Word(f"[{path}]", substituted=True)]:
            order.append("source")
            continue
        handle_command(words, calls, stated, f"{where} line {line}", findings)
        order.append(words[0].text.removeprefix("::").removeprefix("floorflow::"))
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
