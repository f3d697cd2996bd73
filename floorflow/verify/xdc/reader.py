"""What Vivado's commands in a file do to the floorplan: pblocks, their ranges, cells and properties, in order."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from floorflow.verify.hardware.geometry import Sites, add_to, take_from
from floorflow.verify.tcl.commands import OF_SCRIPTS, OF_XDC
from floorflow.verify.tcl.interpreter import Handler, Interpreter
from floorflow.verify.tcl.values import (
    OTHER,
    PATTERN,
    PBLOCK_PROPERTIES,
    BadCommandError,
    Cells,
    Selection,
    Unknown,
    Value,
    arguments,
    is_followed,
)
from floorflow.verify.tcl.words import MAX_NAME, LimitError, Place, list_items
from floorflow.verify.xdc.findings import Findings
from floorflow.verify.xdc.floorplan import ROOT, TRUE, Floorplan, Pblock
from floorflow.verify.xdc.ranges import RangeBook

_NAME_FILTER = re.compile(r"\s*NAME\s*(=~|==)\s*(\S+?)\s*", re.IGNORECASE)
_RANGE_COST, _COLUMN_COST = 200, 60
"""What a range and each column of sites in it count for, as characters that are read."""
_LONGEST_TOLD = 100
_HOWS = ("name", "glob", "leaf", "regexp", "filter")
CELL_PROPERTIES = ("HD.RECONFIGURABLE", "USER_SLR_ASSIGNMENT", "USER_SLL_REG", "PBLOCK")


@dataclass
class Reader:
    """Reads files into one floorplan; ``brought`` are pblocks that a shell may bring."""

    book: RangeBook
    findings: Findings
    brought: frozenset[str] = frozenset()
    floorplan: Floorplan = field(default_factory=Floorplan)
    used_early: dict[str, Place] = field(default_factory=dict)
    variables: dict[str, Value] = field(default_factory=dict)
    files: int = 0
    _scope: str = ""

    def read(self, name: str, text: str) -> None:
        """Read one file; one that ends in ``.tcl`` may hold all of Tcl; UnreadableError if it is no Tcl."""
        handlers: dict[str, Handler] = {
            "create_pblock": self._create,
            "resize_pblock": self._resize,
            "add_cells_to_pblock": self._add_cells,
            "remove_cells_from_pblock": self._remove_cells,
            "delete_pblock": self._delete,
            "delete_pblocks": self._delete,
            "get_pblocks": self._get_pblocks,
            "get_cells": self._get_cells,
            "set_property": self._set_property,
            "current_instance": self._current_instance,
        }
        is_xdc = not name.lower().endswith(".tcl")
        self._scope = ""
        interpreter = Interpreter(
            name,
            is_xdc,
            handlers,
            self.findings.add,
            OF_XDC if is_xdc else OF_SCRIPTS,
            self.variables,
            number=self.files,
            work=self.floorplan.work,
            exists=self._exists,
        )
        self.files += 1
        interpreter.run(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
        self.floorplan.commands += interpreter.count
        self.floorplan.other_commands += interpreter.others

    def _exists(self, name: str) -> bool | None:
        """Whether there is a pblock; None if a shell may bring it."""
        block = self.floorplan.pblocks.get(name)
        return True if block is not None and block.created is not None else None if name in self.brought else False

    # pblocks

    def _block(self, name: str, place: Place) -> Pblock:
        """Return a pblock that a command names, which should have been created before."""
        block = self.floorplan.pblocks.get(name)
        if block is None or block.created is None:
            self.used_early.setdefault(name, place)
        if block is None:
            block = self.floorplan.pblocks[name] = Pblock(name, place, brought=name in self.brought)
        return block

    def _one_block(self, value: Value, place: Place, what: str) -> Pblock | None:
        """Return the one pblock that a command is to change; None, after a note, if only Vivado knows it."""
        if isinstance(value, Unknown) or value == OTHER:
            self._unknown(
                f"{what} of a pblock that {value.why if isinstance(value, Unknown) else 'is computed'}", place
            )
            return None
        names = value.pblocks if isinstance(value, Selection) else tuple(list_items(value))
        if len(names) != 1:
            raise BadCommandError("command-malformed", f"{len(names)} pblocks", "one pblock")
        return self._block(names[0], place)

    def _unknown(self, what: str, place: Place) -> None:
        self.findings.add("not-evaluated", place, what, "names that can be read without Vivado")

    def _create(self, given: Sequence[Value], place: Place) -> Value:
        (name,) = arguments("create_pblock", given).rest
        if not isinstance(name, str):
            self._unknown("create_pblock with a name that is computed", place)
            return OTHER
        block = self.floorplan.pblocks.setdefault(name, Pblock(name, place, brought=name in self.brought))
        if block.created is not None:
            self.findings.add(
                "pblock-created-twice", place, name, f"created once; it is at {block.created}", pblock=name
            )
        elif name in self.used_early:
            found = f"{name} is used, and created at {place}"
            self.findings.add("used-before-created", self.used_early.pop(name), found, "the other order", pblock=name)
        block.created = block.created or place
        return Selection("pblocks", (name,))

    def _resize(self, given: Sequence[Value], place: Place) -> Value:
        found = arguments("resize_pblock", given)
        block = self._one_block(found.rest[0], place, "resize_pblock")
        ways = [way for way in ("-add", "-remove", "-from", "-to") if way in found.values]
        drawn = [way for way in ("-add_rect", "-remove_rect") if way in found.values]
        if drawn and block is not None:
            self._unknown(f"{drawn[0]} of {block.name}, in the coordinates of Vivado's window", place)
            block.unjudged.add("rectangles of the window")
        elif not ways:
            raise BadCommandError("command-malformed", "no ranges", "-add or -remove with ranges")
        for way in ways:
            value = found.values[way]
            if block is None:
                continue
            block.resized = place
            if block.brought and block.created is None:
                self._unknown(f"what is left of {block.name}, which the shell brings", place)
            if not isinstance(value, str):
                self._unknown(f"ranges of {block.name} that are computed", place)
                block.unjudged.add("computed ranges")
                continue
            if "-replace" in found.flags and way == "-add":
                block.sites, block.area = {}, {}
            for text in value.replace(",", " ").split() if "," in value else list_items(value):
                self._range(block, text, place, removed=way in ("-remove", "-from"))
        return ""

    def _range(self, block: Pblock, text: str, place: Place, *, removed: bool) -> None:
        facts = self.book.facts(text)
        columns = len(facts.sites) + len(facts.area)
        self.floorplan.work.charge(_RANGE_COST + _COLUMN_COST * columns, place.line)
        block.ranges += 1
        block.names_laguna |= text.startswith("LAGUNA_") and not removed
        if facts.unjudged:
            block.unjudged.add(facts.unjudged)
            if not facts.is_hard:
                self._unknown(f"ranges of {facts.unjudged} of {block.name}: no such type is on record", place)
        if facts.fault is not None:
            name, found, expected = facts.fault
            self.findings.add(name, place, found, expected, pblock=block.name)
        if not removed:
            add_to(block.sites, facts.sites)
            add_to(block.area, facts.area)
            return
        taken: Sites = take_from(block.sites, facts.sites)
        take_from(block.area, facts.area)
        if not taken and facts.fault is None and not facts.unjudged:
            found = f"-remove {text}, none of which is in {block.name}"
            self.findings.add("removed-nothing", place, found, "sites that were added before", pblock=block.name)

    def _delete(self, given: Sequence[Value], place: Place) -> Value:
        found = arguments("delete_pblock", given)
        for value in found.rest:
            if isinstance(value, Unknown):
                self._unknown("delete_pblock of what is computed", place)
                continue
            for name in value.pblocks if isinstance(value, Selection) else list_items(value):
                block = self.floorplan.pblocks.pop(name, None)
                if block is not None:
                    block.held.clear()
                quiet = "-quiet" in found.flags or (isinstance(value, Selection) and value.quiet)
                if (block is None or block.created is None) and not quiet:
                    self.used_early.setdefault(name, place)
        return ""

    def _get_pblocks(self, given: Sequence[Value], _place: Place) -> Value:
        found = arguments("get_pblocks", given)
        value = found.rest[0] if found.rest else "*"
        if not isinstance(value, str):
            return value
        patterns = [Cells(item, "glob" if PATTERN.search(item) else "name") for item in list_items(value)]
        if "-filter" in found.values and not found.rest:
            patterns = list(_filtered(found.values["-filter"]))
        if "-of_objects" in found.values or ("-filter" in found.values and found.rest) or "-regexp" in found.flags:
            patterns = [Cells("", "unknown")]
        if any(pattern.how == "unknown" for pattern in patterns):
            return Unknown("get_pblocks with -filter or -of_objects selects")
        names: list[str] = []
        for pattern in patterns:
            taken = [pattern.text] if pattern.is_exact else self._created(pattern)
            if not taken and any(map(pattern.taking(), self.brought)):
                return Unknown("get_pblocks selects among those of a shell")
            names += taken
        return Selection("pblocks", tuple(names), quiet="-quiet" in found.flags)

    def _created(self, pattern: Cells) -> list[str]:
        self.floorplan.work.charge(pattern.cost(self.floorplan.pblocks))
        takes, there = pattern.taking(), self.floorplan.pblocks.items()
        return [name for name, block in there if (block.created or block.brought) and takes(name)]

    # cells

    def _current_instance(self, given: Sequence[Value], _place: Place) -> Value:
        """Set the cell below which names are looked up, as files written for a cell do."""
        found = arguments("current_instance", given)
        name = found.rest[0] if found.rest else ""
        if isinstance(name, Selection) and len(name.cells) == 1:
            name = name.cells[0].text
        if name == "..":
            self._scope = self._scope.rpartition("/")[0]
        elif isinstance(name, str):
            self._scope = name and self._scoped(name)
        return self._scope

    def _scoped(self, name: str) -> str:
        if len(self._scope) + len(name) > MAX_NAME:
            raise LimitError(0, f"the name of a cell is longer than the limit of {MAX_NAME:,} characters")
        return f"{self._scope}/{name}" if self._scope else name

    def _get_cells(self, given: Sequence[Value], _place: Place) -> Value:
        found = arguments("get_cells", given)
        value = found.rest[0] if found.rest else "*"
        if isinstance(value, Selection):
            return value
        if isinstance(value, Unknown) or "-of_objects" in found.values:
            why = value.why if isinstance(value, Unknown) else "-of_objects"
            return Selection("cells", cells=(Cells(why[:_LONGEST_TOLD], "unknown"),))
        if "-filter" in found.values:
            return Selection("cells", cells=tuple(_filtered(found.values["-filter"])))
        how = "regexp" if "-regexp" in found.flags else "leaf" if "-hierarchical" in found.flags else "glob"
        return Selection("cells", cells=tuple(self._cells(list_items(value), how)))

    def _cells(self, names: Iterable[str], how: str) -> Iterable[Cells]:
        for name in names:
            if how == "regexp":
                yield Cells(name, how) if is_followed(name) else Cells(f"-regexp {name:.{_LONGEST_TOLD}}", "unknown")
            elif how == "leaf":
                yield Cells(name, "leaf")
            else:
                yield Cells(self._scoped(name), "glob" if PATTERN.search(name) else "name")

    def _selected(self, value: Value) -> tuple[Cells, ...]:
        if isinstance(value, Selection):
            return value.cells or (Cells("objects", "unknown"),)
        if isinstance(value, Unknown):
            return (Cells(value.why[:_LONGEST_TOLD], "unknown"),)
        return tuple(self._cells(list_items(value), "glob"))

    def _add_cells(self, given: Sequence[Value], place: Place) -> Value:
        found = arguments("add_cells_to_pblock", given)
        if len(found.rest) < 2 and "-top" not in found.flags:
            raise BadCommandError("command-malformed", "no cells", "add_cells_to_pblock PBLOCK CELLS|-top")
        block = self._one_block(found.rest[0], place, "cells")
        if block is None:
            return ""
        if "-top" in found.flags:
            block.has_top = True
        for cell in self._selected(found.rest[1]) if len(found.rest) > 1 else ():
            if cell.how == "unknown":
                self._unknown(f"cells of {block.name}: {cell.text:.60}", place)
                block.has_unknown_cells = True
            else:
                self.floorplan.add_cell(cell, block, place)
        return ""

    def _remove_cells(self, given: Sequence[Value], place: Place) -> Value:
        found = arguments("remove_cells_from_pblock", given)
        block = self._one_block(found.rest[0], place, "cells")
        if block is not None:
            for one in self._selected(found.rest[1]):
                self._remove(one, block, place)
        return ""

    def _remove(self, one: Cells, block: Pblock, place: Place) -> None:
        if one.how == "unknown":
            self._unknown(f"cells to take out of {block.name}: {one.text:.60}", place)
        elif one.is_exact:
            for how in _HOWS:
                block.held.pop(Cells(one.text, how), None)
        else:
            self.floorplan.work.charge(one.cost(cell.text for cell in block.held), place.line)
            takes = one.taking()
            for cell in [cell for cell in block.held if cell == one or takes(cell.text)]:
                del block.held[cell]

    # properties

    def _set_property(self, given: Sequence[Value], place: Place) -> Value:
        found = arguments("set_property", given)
        pairs: list[tuple[str, Value]] = []
        named = found.values.get("-dict")
        if isinstance(named, str):
            items = list_items(named)
            pairs += zip(items[::2], items[1::2], strict=False)
        rest = list(found.rest)
        if "-name" in found.values and isinstance(found.values["-name"], str):
            pairs.append((found.values["-name"], found.values.get("-value", "")))
        elif named is None:
            if len(rest) != 3:
                raise BadCommandError("command-malformed", f"{len(rest)} arguments", "set_property NAME VALUE OBJECTS")
            name, value = rest[0], rest[1]
            if isinstance(name, str):
                pairs.append((name, value))
        objects = rest[-1] if rest else OTHER
        for name, value in pairs:
            self._property(name.upper(), value, objects, place)
        return ""

    def _property(self, name: str, value: Value, objects: Value, place: Place) -> None:
        if isinstance(objects, str):
            names = [one for one in objects.split() if one in self.floorplan.pblocks]
            objects = Selection("pblocks", tuple(names)) if names else OTHER
        if isinstance(objects, Unknown):
            if name in PBLOCK_PROPERTIES or name in CELL_PROPERTIES:
                self._unknown(f"{name} of objects that are computed", place)
        elif objects.kind == "pblocks":
            for block in objects.pblocks:
                self._pblock_property(self._block(block, place), name, value, place)
        elif objects.kind == "cells" and name in CELL_PROPERTIES:
            self._cell_property(name, value, objects.cells, place)

    def _pblock_property(self, block: Pblock, name: str, value: Value, place: Place) -> None:
        if name not in PBLOCK_PROPERTIES:
            self.findings.add(
                "property-unknown", place, f"{name} of a pblock", "a property of pblocks", pblock=block.name
            )
            return
        if name == "PARENT":
            names = value.pblocks if isinstance(value, Selection) else (value,) if isinstance(value, str) else ()
            if len(names) != 1:
                self._unknown(f"PARENT of {block.name}, which is computed", place)
            elif names[0].upper() == ROOT:
                block.parent = None
            else:
                block.parent = names[0], place
                self._block(names[0], place)
            return
        if not isinstance(value, str):
            self._unknown(f"{name} of {block.name}, which is computed", place)
            return
        allowed = PBLOCK_PROPERTIES[name]
        if allowed and value.upper() not in allowed:
            expected = f"one of {', '.join(allowed)}"
            self.findings.add("property-value", place, f"{name} {value}", expected, pblock=block.name)
            return
        block.properties[name] = value, place

    def _cell_property(self, name: str, value: Value, cells: tuple[Cells, ...], place: Place) -> None:
        text = value.upper() if isinstance(value, str) else ""
        known = [cell for cell in cells if cell.how != "unknown"]
        if len(known) < len(cells) or isinstance(value, Unknown):
            self._unknown(f"{name} of cells that are computed", place)
        if name == "HD.RECONFIGURABLE" and text in TRUE:
            self.floorplan.reconfigurable |= dict.fromkeys(known)
        elif name == "USER_SLL_REG" and text in TRUE:
            self.floorplan.sll_registers += [(cell, place) for cell in known]
        elif name == "USER_SLR_ASSIGNMENT":
            self.floorplan.slrs += [(text[:_LONGEST_TOLD], cell, place) for cell in cells]
        elif name == "PBLOCK":
            named = value.pblocks if isinstance(value, Selection) else ()
            for block in list_items(value) if isinstance(value, str) else named:
                for cell in known:
                    self.floorplan.add_cell(cell, self._block(block, place), place)


def _filtered(value: Value) -> Iterable[Cells]:
    """Yield the patterns of a filter by names alone; anything else only Vivado can select."""
    if not isinstance(value, str):
        yield Cells("a filter that is computed", "unknown")
        return
    for part in value.split("||"):
        match = _NAME_FILTER.fullmatch(part.strip().strip("()"))
        if match is None:
            yield Cells(f"-filter {value:.{_LONGEST_TOLD}}", "unknown")
            return
        text = match[2].strip("\"'{}")
        yield Cells(text, "filter" if match[1] == "=~" and PATTERN.search(text) else "name")
