"""What the judge of XDC files can find: names, how grave each is unless a rule knows better, and what to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from floorflow.verify.hardware.geometry import Sites

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)
MOST_OF_A_NAME = 200
"""So many findings of one name are kept; the rest are counted."""
MOST_CHARACTERS = 1_000
"""So much is told of what was found."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; ``number`` is the file's among those that are read, from 0."""

    file: str
    line: int
    number: int = 0

    @property
    def order(self) -> tuple[int, int]:
        """What comes first is read first."""
        return self.number, self.line

    def __str__(self) -> str:
        """Return it as compilers write it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a finding is, its severity unless it says otherwise, and what to do about it."""

    severity: str
    text: str
    todo: str


def _error(text: str, todo: str) -> Meaning:
    return Meaning(ERROR, text, todo)


def _warning(text: str, todo: str) -> Meaning:
    return Meaning(WARNING, text, todo)


def _note(text: str, todo: str) -> Meaning:
    return Meaning(NOTE, text, todo)


FINDINGS: dict[str, Meaning] = {
    # how the files are written
    "control-flow": _error(
        "an XDC file holds control flow, which Vivado skips with its whole body (UG903, Designutils 20-1307)",
        "write the commands out, or move them to a Tcl script (read_xdc -unmanaged runs all of Tcl)",
    ),
    "command-not-allowed": _error(
        "an XDC file holds a command that Vivado does not accept there (UG903)", "move it to a Tcl script"
    ),
    "command-unknown": _error("a command does not exist", "correct its name"),
    "command-malformed": _error("a command lacks an argument or has one too many", "see its syntax in UG835"),
    "not-evaluated": _note(
        "what only Vivado or the rest of a script can tell was not judged", "judge what `write_xdc` writes instead"
    ),
    "variable-unset": _error("a variable is used that was not set before", "set it before, or correct its name"),
    # order of commands
    "used-before-created": _error(
        "a command names a pblock that is created only later, so that Vivado drops it", "create the pblock before"
    ),
    "pblock-not-created": _error("a pblock is named that no file creates", "create it, or give its file as well"),
    "pblock-created-twice": _error("create_pblock names a pblock that exists", "create it once"),
    # properties
    "property-unknown": _error("a pblock has no such property (UG912)", "correct its name"),
    "property-value": _error("a property cannot have this value (UG912)", "give one of its values"),
    "property-without-effect": _warning(
        "a property needs another one to do anything", "set IS_SOFT FALSE, or leave the property out"
    ),
    # ranges
    "range-malformed": _error("a range is not two opposite corners of one site type", "correct it"),
    "range-outside-device": _error(
        "a range names sites that the part does not have (Place 30-8520)", "end it at the last site"
    ),
    "range-corner-missing": _error(
        "a corner of a range is a hole in the device", "begin and end at sites that exist; split the range there"
    ),
    "site-type-unknown": _error("the part has no sites of this type", "name the sites as the part does"),
    "removed-nothing": _warning("-remove names sites that the pblock did not have", "add before removing"),
    # contents of a pblock
    "site-type-unconstrained": _warning(
        "the area holds sites of a type of which no range is given, so that cells of the type may lie anywhere (UG906)",
        "add ranges of the type, or make sure that no cell needs it",
    ),
    "sites-left-out": _note("the area holds more sites of a type than its ranges name", "widen the ranges, if meant"),
    "block-ram-ranges-differ": _warning(
        "RAMB18 and RAMB36 ranges hold different tiles", "give both types the same tiles"
    ),
    "pblock-without-ranges": _warning("a pblock holds no site, and constrains nothing", "give it ranges"),
    "pblock-without-cells": _warning("no cell is added to a pblock", "add its cells, or take it out"),
    # shell
    "shell-touched": _error("a pblock holds sites of the shell's static region", "keep clear of it"),
    "reserved-touched": _note(
        "a pblock holds sites where the shell's memory controllers are placed if they are in use", "keep clear of them"
    ),
    "shell-pblock-created": _error("a pblock has the name of one that the shell brings", "use another name"),
    "cell-prefix": _error("cells are named as under another shell, and match nothing", "use the prefix of the shell"),
    # between pblocks
    "pblock-overlap": _warning(
        "two pblocks share sites and neither is the other's parent", "part them, or nest one in the other by PARENT"
    ),
    "nested-without-parent": _warning(
        "a pblock lies inside another, and PARENT does not say so", "set PARENT of the inner one"
    ),
    "child-outside-parent": _error("a pblock has sites that its parent has not", "keep it inside its parent"),
    "parent-circle": _error("a pblock is its own ancestor", "correct PARENT"),
    # cells
    "cell-in-two-pblocks": _warning("a cell is added to two pblocks, of which the last holds", "add it to one"),
    "cell-repeated": _note("a cell is added twice to one pblock", "add it once"),
    "cell-pattern-ambiguous": _warning(
        "a pattern ends in a digit and a star, and takes 1 and 10 to 19", "name the cells, or end the pattern in /*"
    ),
    "cell-unmatched": _error("the report has no cell of this name, and Vivado would only warn", "correct the name"),
    "cell-and-slr": _error("a cell's SLR and its pblock contradict each other", "keep one of the two"),
    # dies
    "slr-unknown": _error("the part has no such SLR", "name an SLR of the part"),
    "crosses-slr": _warning(
        "a pblock lies in several SLRs, so that placement may cut any path in it", "one pblock an SLR"
    ),
    "laguna-left-out": _warning(
        "cells that ask for Laguna registers are in a pblock without LAGUNA sites", "add LAGUNA ranges or clock regions"
    ),
    "laguna-without-wires": _note(
        "LAGUNA sites at an edge of the device have no wires to another SLR", "leave them out"
    ),
    # what dynamic function exchange asks for (UG909)
    "interconnect-split": _warning(
        "an edge separates two columns that share their interconnect", "move the edge by one column"
    ),
    "tile-split": _warning("an edge cuts a block RAM, DSP or UltraRAM tile", "move it to a multiple of 5 rows (15)"),
    "clock-region-alignment": _error(
        "a reconfigurable pblock with RESET_AFTER_RECONFIG does not fill whole clock regions", "align bottom and top"
    ),
    "frame-shared": _error(
        "two reconfigurable pblocks share a column of a clock region, which one frame configures", "part them"
    ),
    # with a report
    "pblock-overfull": _error("the cells of a pblock need more than it holds", "enlarge it, or move cells out"),
    "pblock-nearly-full": _warning(
        "the cells of a pblock need more than 85% of what it holds, above which placing is hard", "enlarge it"
    ),
}
"""Every finding that there can be."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: where, what was found and expected, what to do; ``sites`` show where it is on the die."""

    name: str
    severity: str
    place: Place
    pblock: str
    found: str
    expected: str
    todo: str
    sites: Sites = field(default_factory=dict)


@dataclass
class Findings:
    """The findings so far; equal ones are kept once, and of one name the first `MOST_OF_A_NAME`."""

    kept: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    by_name: Counter[str] = field(default_factory=Counter)
    _seen: set[tuple[str, Place, str, str]] = field(default_factory=set)

    def add(
        self,
        name: str,
        place: Place,
        found: str,
        expected: str,
        *,
        pblock: str = "",
        severity: str = "",
        todo: str = "",
        sites: Sites | None = None,
    ) -> None:
        """Note a finding; a name without a meaning is a mistake in the judge itself (KeyError)."""
        meaning = FINDINGS[name]
        found, expected = found[:MOST_CHARACTERS], expected[:MOST_CHARACTERS]
        key = name, place, pblock, found
        if key in self._seen:
            return
        severity = severity or meaning.severity
        self.counts[severity] += 1
        self.by_name[name] += 1
        if self.by_name[name] > MOST_OF_A_NAME:
            return
        self._seen.add(key)
        kept = Finding(name, severity, place, pblock, found, expected, todo or meaning.todo, sites or {})
        self.kept.append(kept)

    @property
    def left_out(self) -> dict[str, int]:
        """How many findings of a name were counted and not kept."""
        return {name: count - MOST_OF_A_NAME for name, count in self.by_name.items() if count > MOST_OF_A_NAME}

    def in_order(self) -> list[Finding]:
        """Return them by severity, then as they were read."""
        return sorted(self.kept, key=lambda one: (SEVERITIES.index(one.severity), one.place.order))
