"""An open design: its cells, its pblocks, and what each Vivado command does to them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from .arguments import Arguments, VivadoError, parse_arguments
from .block_designs import BlockDesign
from .checkpoints import Dfx
from .pblocks import LEGAL_VALUES, Pblock, ancestors
from .projects import Project
from .sites import Sites
from .stitching import Stitching

DESIGN = "model_design"
_BELOW = re.compile(r'NAME =~ "([^"]+)" && IS_PRIMITIVE == 0')
"""Hierarchical cells by a pattern whose ``*`` spans levels, as in filters (UG835, get_cells)."""
_FILTER = re.compile(r'\s*(NAME|IS_BLACKBOX)\s*==\s*"?([^"\s]+)"?\s*')
Answer = str | tuple[str, ...]
Streams = tuple[Sequence[int], Sequence[int]]
"""Bits of each stream into and out of a cell."""


class Design:
    """What the commands work on; ``split_list`` is the Tcl interpreter's reading of a list."""

    def __init__(
        self,
        sites: Sites,
        cells: Iterable[str],
        existing_pblocks: Mapping[str, Sequence[str]],
        part: str,
        split_list: Callable[[str], Sequence[object]],
        streams: Mapping[str, Streams] | None = None,
        black_boxes: Collection[str] = (),
    ) -> None:
        self._black_boxes = frozenset(black_boxes)
        self._sites = sites
        self._part = part
        self._split_list = split_list
        self._cells = sorted({above for cell in (*cells, *black_boxes) for above in _with_ancestors(cell)})
        self.table: dict[str, Pblock] = {}
        self.slr_of: dict[str, str] = {}
        self.project: Project | None = None
        self.dfx: Dfx | None = None
        self.stitching: Stitching | None = None
        self.block: BlockDesign | None = None
        self._pins = {cell: dict(_pins(*widths)) for cell, widths in (streams or {}).items()}
        for name, ranges in sorted(existing_pblocks.items()):
            pblock = self.table[name] = Pblock(name, existing=True)
            for text in ranges:
                change = pblock.remove if text.startswith("-") else pblock.add
                change(text.removeprefix("-"), sites)

    def run(self, command: str, words: Sequence[str]) -> Answer:
        """Run one command of ``commands.json``; raises VivadoError."""
        arguments = parse_arguments(command, words)
        stitched = None if self.stitching is None else self.stitching.run(command, arguments)
        return self._otherwise(command, words, arguments) if stitched is None else stitched

    def _otherwise(self, command: str, words: Sequence[str], arguments: Arguments) -> Answer:
        if not any(hasattr(other, f"_{command}") for other in (BlockDesign, Dfx, Project, Design)):
            raise VivadoError(f"{command}: there are no modules to be stitched in this model")
        if hasattr(BlockDesign, f"_{command}"):
            if self.block is None:
                raise VivadoError(f"{command}: there is no block design in this model")
            words = self.words(command, arguments.positionals.get("objects", ""))
            return self.block.run(command, arguments, words)
        if self.dfx is not None:
            if hasattr(Dfx, f"_{command}"):
                return self.dfx.run(command, arguments)
            self.dfx.open_design(command)
            self._cells, self._part = self.dfx.cells, self.dfx.open_design(command).part
        elif hasattr(Dfx, f"_{command}") and not hasattr(Project, f"_{command}"):
            raise VivadoError(f"{command}: there are no checkpoints in this model")
        if hasattr(Project, f"_{command}"):
            if self.project is None:
                raise VivadoError(f"{command}: there is no project in this model")
            return self.project.run(command, arguments)
        answer: Answer = getattr(self, f"_{command}")(arguments)
        return answer

    def words(self, command: str, text: str) -> tuple[str, ...]:
        try:
            return tuple(str(word) for word in self._split_list(text))
        except ValueError as error:
            raise VivadoError(f"{command}: '{text}' is not a Tcl list: {error}") from error

    def _one_pblock(self, command: str, text: str, *, change: bool = True) -> Pblock:
        names = self.words(command, text)
        if len(names) != 1:
            raise VivadoError(f"{command}: expected one pblock, got {len(names)}: '{text}'")
        if names[0] not in self.table:
            raise VivadoError(f"{command}: pblock '{names[0]}' does not exist")
        pblock = self.table[names[0]]
        if change and pblock.existing:
            raise VivadoError(f"{command}: pblock '{pblock.name}' comes with the shell and must not be changed")
        return pblock

    def _one_cell(self, command: str, text: str) -> str:
        names = self.words(command, text)
        if len(names) != 1:
            raise VivadoError(f"{command}: expected one cell, got {len(names)}: '{text}'")
        if names[0] not in self._cells:
            raise VivadoError(f"{command}: cell '{names[0]}' does not exist")
        return names[0]

    def _create_pblock(self, arguments: Arguments) -> Answer:
        name = arguments.positionals["name"]
        if re.fullmatch(r"[A-Za-z_][\w.\-]*", name) is None:
            raise VivadoError(f"create_pblock: illegal name '{name}'")
        if name in self.table:
            raise VivadoError(f"create_pblock: pblock '{name}' exists already")
        self.table[name] = Pblock(name)
        return name

    def _delete_pblock(self, arguments: Arguments) -> Answer:
        pblock = self._one_pblock("delete_pblock", arguments.positionals["pblock"])
        children = [other.name for other in self.table.values() if other.parent == pblock.name]
        if children:
            raise VivadoError(f"delete_pblock: pblock '{pblock.name}' is the parent of {children}")
        del self.table[pblock.name]
        return ""

    def _resize_pblock(self, arguments: Arguments) -> Answer:
        pblock = self._one_pblock("resize_pblock", arguments.positionals["pblock"])
        if len(arguments.values) != 1:
            raise VivadoError("resize_pblock: expected one of -add and -remove")
        ((option, text),) = arguments.values.items()
        ranges = self.words("resize_pblock", text)
        if not ranges:
            raise VivadoError(f"resize_pblock: no range is given for pblock '{pblock.name}'")
        for word in ranges:
            (pblock.add if option == "-add" else pblock.remove)(word, self._sites)
        return pblock.name

    def _add_cells_to_pblock(self, arguments: Arguments) -> Answer:
        pblock = self._one_pblock("add_cells_to_pblock", arguments.positionals["pblock"])
        if "cells" not in arguments.positionals or "-top" in arguments.flags:
            raise VivadoError("[Common 17-163] add_cells_to_pblock: missing positional argument 'cells'")
        cell = self._one_cell("add_cells_to_pblock", arguments.positionals["cells"])
        for other in self.table.values():
            if cell in other.cells:
                raise VivadoError(
                    f"add_cells_to_pblock: cell '{cell}' is in pblock '{other.name}' already, "
                    f"cannot add it to '{pblock.name}'"
                )
        pblock.cells.append(cell)
        return ""

    def _remove_cells_from_pblock(self, arguments: Arguments) -> Answer:
        pblock = self._one_pblock("remove_cells_from_pblock", arguments.positionals["pblock"])
        cell = self._one_cell("remove_cells_from_pblock", arguments.positionals["cells"])
        if cell not in pblock.cells:
            raise VivadoError(f"remove_cells_from_pblock: cell '{cell}' is not in pblock '{pblock.name}'")
        pblock.cells.remove(cell)
        return ""

    def _get_pblocks(self, arguments: Arguments) -> Answer:
        pool = list(self.table)
        if "-of_objects" in arguments.values:
            cell = self._one_cell("get_pblocks", arguments.values["-of_objects"])
            pool = [name for name, pblock in self.table.items() if cell in pblock.cells]
        return self._matching("get_pblocks", "pblock", arguments, pool, pool)

    def _get_cells(self, arguments: Arguments) -> Answer:
        pool, keys = self._cells, self._cells
        if "-hierarchical" in arguments.flags:
            if "/" in arguments.positionals.get("patterns", ""):
                raise VivadoError("get_cells: with -hierarchical a pattern is matched level by level and holds no '/'")
            keys = [cell.rpartition("/")[2] for cell in pool]
        if "-filter" in arguments.values:
            text = arguments.values["-filter"]
            below = _BELOW.fullmatch(text)
            if below is not None and "patterns" not in arguments.positionals:
                return tuple(cell for cell in pool if fnmatchcase(cell, below[1]))
            wanted = _FILTER.fullmatch(text)
            if wanted is None:
                raise VivadoError(f"get_cells: filter '{text}' is not modelled; expected NAME or IS_BLACKBOX == value")
            name, value = wanted.groups()
            pairs = zip(pool, keys, strict=True)
            kept = [(cell, key) for cell, key in pairs if self._properties(cell)[name] == value]
            pool, keys = [cell for cell, _ in kept], [key for _, key in kept]
        return self._matching("get_cells", "cell", arguments, pool, keys)

    def _get_pins(self, arguments: Arguments) -> Answer:
        """UG835: the pins of a cell are one object a bit, by the cell's name and their own."""
        if "-of_objects" not in arguments.values or arguments.positionals:
            raise VivadoError("get_pins: only -of_objects is modelled, without patterns")
        cell = self._one_cell("get_pins", arguments.values["-of_objects"])
        found = tuple(f"{cell}/{pin}" for pin in self._pins.get(cell, ()))
        if not found and not arguments.quiet:
            raise VivadoError(f"get_pins: cell '{cell}' has no pins (Vivado only warns)")
        return found

    def _matching(
        self, command: str, kind: str, arguments: Arguments, pool: Sequence[str], keys: Sequence[str]
    ) -> Answer:
        """Return the members of ``pool`` whose key matches a pattern; each pattern must match unless -quiet."""
        found: list[str] = []
        for pattern in self.words(command, arguments.positionals.get("patterns", "*")):
            glob = _glob(pattern)
            matches = [name for name, key in zip(pool, keys, strict=True) if glob.fullmatch(key)]
            if not matches and not arguments.quiet:
                raise VivadoError(f"{command}: no {kind} matches '{pattern}' (Vivado only warns)")
            found += [name for name in matches if name not in found]
        if not found and not arguments.quiet:
            raise VivadoError(f"{command}: no pattern is given")
        return tuple(found)

    def _set_property(self, arguments: Arguments) -> Answer:
        if "-dict" in arguments.values and self.block is not None and len(arguments.positionals) == 1:
            settings = self.words("set_property", arguments.values["-dict"])
            self.block.set_settings(settings, arguments.positionals["name"])
            return ""
        if "-dict" in arguments.values or len(arguments.positionals) != 3:
            raise VivadoError("[Common 17-163] set_property: expected name, value and objects, or -dict and objects")
        name, value = arguments.positionals["name"], arguments.positionals["value"]
        if name == "USER_SLR_ASSIGNMENT":
            cell = self._one_cell("set_property USER_SLR_ASSIGNMENT", arguments.positionals["objects"])
            if value not in self._sites.slrs or len(self._sites.slrs) == 1:
                raise VivadoError(f"set_property USER_SLR_ASSIGNMENT: '{value}' is none of several SLRs of the part")
            self.slr_of[cell] = value
            return ""
        if self.project is not None and self.project.knows(arguments.positionals["objects"]):
            self.project.set_property(name, value, arguments.positionals["objects"])
            return ""
        if self.dfx is not None and name.startswith("HD."):
            self.dfx.set_cell_property(name, value, arguments.positionals["objects"])
            return ""
        pblock = self._one_pblock("set_property", arguments.positionals["objects"])
        if name == "PARENT":
            self._set_parent(pblock, self._one_pblock("set_property PARENT", value, change=False))
        elif name not in LEGAL_VALUES:
            raise VivadoError(f"set_property: a pblock has no property '{name}' that can be set")
        elif value.upper() not in LEGAL_VALUES[name]:
            legal = ", ".join(LEGAL_VALUES[name])
            raise VivadoError(f"set_property: illegal value '{value}' of property {name}; expected one of {legal}")
        else:
            pblock.properties[name] = LEGAL_VALUES[name][value.upper()]
        return ""

    def _reset_property(self, arguments: Arguments) -> Answer:
        name, objects = arguments.positionals["name"], arguments.positionals["objects"]
        if name != "USER_SLR_ASSIGNMENT":
            raise VivadoError(f"reset_property: '{name}' is not modelled; expected USER_SLR_ASSIGNMENT")
        self.slr_of.pop(self._one_cell("reset_property", objects), None)
        return ""

    def _get_slrs(self, arguments: Arguments) -> Answer:
        return self._matching("get_slrs", "SLR", arguments, self._sites.slrs, self._sites.slrs)

    def _set_parent(self, child: Pblock, parent: Pblock) -> None:
        if child is parent or child.name in ancestors(self.table, parent.name):
            raise VivadoError(f"set_property PARENT: pblock '{child.name}' would be its own ancestor")
        child.parent = parent.name

    def _get_property(self, arguments: Arguments) -> Answer:
        name, words = arguments.positionals["name"], self.words("get_property", arguments.positionals["object"])
        if len(words) != 1:
            raise VivadoError(f"get_property: expected one object, got {len(words)}")
        known = self._properties(words[0])
        if name not in known and arguments.quiet:
            return ""
        if name not in known:
            raise VivadoError(f"get_property: '{words[0]}' has no property '{name}'")
        return known[name]

    def _properties(self, thing: str) -> dict[str, str]:
        """Return the readable properties of a design, pblock or cell."""
        if self.project is not None and self.project.knows(thing):
            return self.project.properties(thing)
        if self.block is not None and self.block.knows(thing):
            return self.block.properties(thing)
        if thing == DESIGN:
            return {"NAME": DESIGN, "PART": self._part}
        if thing in self.table:
            pblock = self.table[thing]
            return {name: pblock.property(name) for name in LEGAL_VALUES} | {
                "NAME": thing,
                "PARENT": pblock.parent or "ROOT",
                "GRID_RANGES": " ".join(pblock.ranges),
            }
        if thing in self._cells:
            own = {"NAME": thing, "IS_BLACKBOX": str(int(thing in self._black_boxes))}
            return own | (self.dfx.cell_properties(thing) if self.dfx is not None else {})
        if self.dfx is not None and thing in self.dfx.broken_rules:
            return {"NAME": thing, "SEVERITY": self.dfx.broken_rules[thing]}
        cell, _, pin = thing.rpartition("/")
        if pin in self._pins.get(cell, {}):
            return {"NAME": thing, "REF_PIN_NAME": pin, "DIRECTION": self._pins[cell][pin]}
        raise VivadoError(f"get_property: object '{thing}' does not exist")

    def _current_design(self, arguments: Arguments) -> Answer:
        if arguments.positionals.get("design", DESIGN) != DESIGN:
            raise VivadoError(f"current_design: design '{arguments.positionals['design']}' does not exist")
        return DESIGN


def _pins(into: Sequence[int], out: Sequence[int]) -> Iterable[tuple[str, str]]:
    """Yield the pins of a cell with streams of these bits, and a few more; FINN's HLS writes TDATA, its RTL tdata."""
    yield from (("ap_clk", "IN"), ("ap_rst_n", "IN"))
    for widths, name, mine, other in ((into, "in", "IN", "OUT"), (out, "out", "OUT", "IN")):
        for number, bits in enumerate(widths):
            data = "TDATA" if number % 2 else "tdata"
            yield from ((f"{name}{number}_V_{data}[{bit}]", mine) for bit in range(bits))
            yield from ((f"{name}{number}_V_tvalid", mine), (f"{name}{number}_V_tready", other))


def _with_ancestors(cell: str) -> Iterable[str]:
    parts = cell.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _glob(pattern: str) -> re.Pattern[str]:
    """Translate Vivado's glob: ``*`` and ``?`` stay within one level of hierarchy, brackets are literal."""
    signs = {"*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(sign, re.escape(sign)) for sign in pattern))
