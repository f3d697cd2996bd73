"""Design checkpoints and Dynamic Function eXchange, by UG909 and UG835 (2022.2): the software flow without a project.

Strict: what UG909 warns of or recommends is asked for. A checkpoint is a small JSON file. What stays is identified by
the run that placed and routed it, so that pr_verify can tell whether it is the same in two configurations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .arguments import Arguments, VivadoError
from .pblocks import Pblock, check_partition, check_partitions_apart
from .sites import Sites

ORDER = ("linked", "optimised", "placed", "routed")
LEVELS = ("logical", "placement", "routing")
RULE_DECKS = ("default", "opt_checks", "placer_checks", "router_checks", "bitstream_checks")
"""UG906: containers of design rules."""


@dataclass(frozen=True)
class Cell:
    """A cell that a module can stand in: its ports, what stands there, and whether that is routed and locked."""

    ports: tuple[str, ...]
    module: str | None = None
    routed_in: str = ""
    is_reconfigurable: bool = False
    is_locked: bool = False


@dataclass
class Checkpoint:
    """A design, or with ``is_module`` one that stands in a cell of another."""

    part: str
    stage: str = "linked"
    is_module: bool = False
    ports: tuple[str, ...] = ()
    name: str = ""
    static_run: str = ""
    is_locked: bool = False
    cells: dict[str, Cell] = field(default_factory=dict)
    pblocks: dict[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        content = {**self.__dict__, "cells": {name: cell.__dict__ for name, cell in self.cells.items()}}
        path.write_text(json.dumps(content), encoding="utf-8")

    @classmethod
    def read(cls, command: str, text: str) -> Checkpoint:
        path = Path(text)
        if not path.is_file():
            raise VivadoError(f"{command}: there is no checkpoint '{text}'")
        content = json.loads(path.read_text(encoding="utf-8"))
        cells = {name: Cell(**{**cell, "ports": tuple(cell["ports"])}) for name, cell in content.pop("cells").items()}
        return cls(**{**content, "ports": tuple(content["ports"]), "cells": cells})


class Dfx:
    """The open design of a Vivado without a project.

    ``table`` are the pblocks that the placement commands work on. ``silent``: commands that run and make nothing.
    """

    def __init__(
        self, sites: Sites, table: dict[str, Pblock], split: Callable[[str, str], Sequence[str]], silent: Sequence[str]
    ) -> None:
        self._sites, self._table, self._split, self._silent = sites, table, split, silent
        self.design: Checkpoint | None = None
        self.log: list[str] = []
        self.verified: set[Path] = set()
        self.broken_rules: dict[str, str] = {}
        """Severity of each violation that report_drc finds, by its name."""
        self._rules_named: set[str] = set()
        self._ruled: set[tuple[str, ...]] = set()
        self._opened = Path()
        self._configurations: set[Path] = set()
        self._runs = 0

    def run(self, command: str, arguments: Arguments) -> str | tuple[str, ...]:
        """Run one of the commands; raises VivadoError."""
        self.log.append(command)
        answer: str | tuple[str, ...] = getattr(self, f"_{command}")(arguments)
        return answer

    def open_design(self, command: str) -> Checkpoint:
        if self.design is None:
            raise VivadoError(f"{command}: no design is open")
        return self.design

    @property
    def cells(self) -> list[str]:
        return sorted(self.design.cells) if self.design else []

    def cell_properties(self, name: str) -> dict[str, str]:
        cell = self.open_design("get_property").cells[name]
        return {"IS_BLACKBOX": str(int(cell.module is None)), "HD.RECONFIGURABLE": str(int(cell.is_reconfigurable))}

    def set_cell_property(self, name: str, value: str, text: str) -> None:
        """UG909: HD.RECONFIGURABLE is set on a hierarchical cell before the design is implemented."""
        design, cell = self.open_design("set_property"), self._cell("set_property", text)
        if name != "HD.RECONFIGURABLE":
            raise VivadoError(f"set_property: '{name}' of a cell is not modelled")
        if value.upper() not in ("TRUE", "1"):
            raise VivadoError(f"set_property: HD.RECONFIGURABLE is '{value}', expected TRUE")
        if design.stage != "linked":
            raise VivadoError(f"set_property: HD.RECONFIGURABLE on '{cell}' after the design is {design.stage}")
        for other, held in design.cells.items():
            if held.is_reconfigurable and (other.startswith(f"{cell}/") or cell.startswith(f"{other}/")):
                raise VivadoError(f"set_property: '{cell}' and '{other}' would be reconfigurable one inside the other")
        design.cells[cell] = replace(design.cells[cell], is_reconfigurable=True)

    def _cell(self, command: str, text: str) -> str:
        names, design = self._split(command, text), self.open_design(command)
        if len(names) != 1 or names[0] not in design.cells:
            raise VivadoError(f"{command}: '{text}' is not one cell that a module can stand in")
        return names[0]

    def _open_checkpoint(self, arguments: Arguments) -> str:
        if self.design is not None:
            raise VivadoError("open_checkpoint: a design is open; close_design first")
        design = Checkpoint.read("open_checkpoint", arguments.positionals["file"])
        self.design, self._opened = design, Path(arguments.positionals["file"])
        self._table.clear()
        for name, held in design.pblocks.items():
            pblock = self._table[name] = Pblock(name)
            for text in held["ranges"]:
                pblock.add(text, self._sites)
            pblock.cells += held["cells"]
            pblock.properties |= held["properties"]
        return "model_design"

    def _close_design(self, _: Arguments) -> str:
        self.open_design("close_design")
        self.design = None
        self._table.clear()
        return ""

    def _read_checkpoint(self, arguments: Arguments) -> str:
        """UG909, Method 3: the cell must be a black box; -strict compares ports, and is needed for what is routed."""
        design = self.open_design("read_checkpoint")
        if "-cell" not in arguments.values:
            raise VivadoError("read_checkpoint: without -cell it is not modelled")
        name = self._cell("read_checkpoint", arguments.values["-cell"])
        module = Checkpoint.read("read_checkpoint", arguments.positionals["file"])
        cell = design.cells[name]
        if cell.module is not None:
            raise VivadoError(f"read_checkpoint: cell '{name}' is not a black box")
        if not module.is_module:
            raise VivadoError(f"read_checkpoint: '{arguments.positionals['file']}' is a whole design")
        if module.part != design.part:
            raise VivadoError(f"read_checkpoint: the checkpoint is for part {module.part}, not {design.part}")
        if module.stage == "routed" and "-strict" not in arguments.flags:
            raise VivadoError("read_checkpoint: a checkpoint of an implemented module needs -strict (UG909)")
        if sorted(module.ports) != sorted(cell.ports):
            raise VivadoError(f"read_checkpoint: ports of '{module.name}' are not those of cell '{name}'")
        if module.stage == "routed" and module.static_run != design.static_run:
            raise VivadoError(f"read_checkpoint: '{module.name}' was routed beside another static part")
        if "read_checkpoint" not in self._silent:
            design.cells[name] = replace(cell, module=module.name, routed_in=module.static_run)
        return ""

    def _update_design(self, arguments: Arguments) -> str:
        """UG835: -black_box empties a cell, -buffer_ports puts buffers into one that is empty."""
        design = self.open_design("update_design")
        if "-cell" not in arguments.values or "-black_box" not in arguments.flags:
            raise VivadoError("update_design: only -cell with -black_box is modelled")
        name = self._cell("update_design", arguments.values["-cell"])
        cell = design.cells[name]
        if not cell.is_reconfigurable:
            raise VivadoError(f"update_design: cell '{name}' has no HD.RECONFIGURABLE: it is part of what stays")
        if cell.module is None:
            raise VivadoError(f"update_design: cell '{name}' is a black box already")
        design.cells[name] = replace(cell, module=None, routed_in="", is_locked=False)
        return ""

    def _lock_design(self, arguments: Arguments) -> str:
        """UG909, Preserving Implementation Data: the only level for this flow is routing."""
        design = self.open_design("lock_design")
        level = arguments.values.get("-level", "placement")
        if level not in LEVELS:
            raise VivadoError(f"lock_design: -level is '{level}', expected one of {', '.join(LEVELS)}")
        if level != "routing":
            raise VivadoError(f"lock_design: level {level} is not enough for this flow; only routing is (UG909)")
        if "cell" in arguments.positionals:
            name = self._cell("lock_design", arguments.positionals["cell"])
            if not design.cells[name].routed_in:
                raise VivadoError(f"lock_design: what stands in cell '{name}' is not routed")
            design.cells[name] = replace(design.cells[name], is_locked=True)
            return ""
        if design.stage != "routed":
            raise VivadoError("lock_design: the design is not routed; nothing would be locked")
        full = [name for name, cell in design.cells.items() if cell.is_reconfigurable and cell.module is not None]
        if full:
            raise VivadoError(f"lock_design: the module in '{full[0]}' would be locked too; empty the cell first")
        design.is_locked, design.stage = True, "linked"
        return ""

    def _opt_design(self, _: Arguments) -> str:
        design = self.open_design("opt_design")
        for name, cell in design.cells.items():
            if cell.module is None:
                raise VivadoError(f"[DRC INBB-3] opt_design: cell '{name}' is a black box")
        partitions = []
        for name, cell in design.cells.items():
            if cell.is_reconfigurable:
                pblock = next((p for p in self._table.values() if name in p.cells), None)
                check_partition(name, pblock, self._sites)
                partitions.append(pblock)
        check_partitions_apart([p for p in partitions if p is not None], self._sites)
        if not partitions:
            raise VivadoError("opt_design: no cell is reconfigurable; the design would be implemented flat")
        if design.static_run and not design.is_locked:
            raise VivadoError("opt_design: what stays was routed before and is not locked")
        return self._step("opt_design", "linked", "optimised")

    def _place_design(self, _: Arguments) -> str:
        return self._step("place_design", "optimised", "placed")

    def _route_design(self, _: Arguments) -> str:
        design = self.open_design("route_design")
        self._step("route_design", "placed", "routed")
        if not design.is_locked:
            self._runs += 1
            design.static_run = f"run {self._runs}"
        design.cells = {
            name: replace(cell, routed_in=design.static_run) if cell.module is not None else cell
            for name, cell in design.cells.items()
        }
        return ""

    def _step(self, command: str, before: str, after: str) -> str:
        design = self.open_design(command)
        if design.stage != before:
            raise VivadoError(f"{command}: the design is {design.stage}, expected {before}")
        design.stage = after
        return ""

    def _write_checkpoint(self, arguments: Arguments) -> str:
        design, path = self.open_design("write_checkpoint"), Path(arguments.positionals["file"])
        self._may_write("write_checkpoint", path, arguments)
        if "-cell" in arguments.values:
            name = self._cell("write_checkpoint", arguments.values["-cell"])
            cell = design.cells[name]
            if cell.module is None:
                raise VivadoError(f"write_checkpoint: cell '{name}' is a black box")
            module = Checkpoint(
                design.part, design.stage, is_module=True, ports=cell.ports, name=cell.module, static_run=cell.routed_in
            )
            if "write_checkpoint" not in self._silent:
                module.write(path)
            return ""
        design.pblocks = {
            name: {"ranges": p.ranges, "cells": p.cells, "properties": p.properties} for name, p in self._table.items()
        }
        if "write_checkpoint" not in self._silent:
            design.write(path)
        if design.stage == "routed":
            self._configurations.add(path)
        return ""

    def _pr_verify(self, arguments: Arguments) -> str:
        """UG909, Verifying Configurations: routed designs whose static part and partition pins are the same."""
        if self.design is not None:
            raise VivadoError("pr_verify: a design is open; it loads the checkpoints itself")
        if arguments.positionals or "-initial" not in arguments.values or "-additional" not in arguments.values:
            raise VivadoError("pr_verify: -initial and -additional are what is modelled")
        files = [arguments.values["-initial"], *self._split("pr_verify", arguments.values["-additional"])]
        if len(set(files)) < 2 or len(set(files)) < len(files):
            raise VivadoError("pr_verify: needs two checkpoints, each named once")
        designs = [_configuration(file) for file in files]
        first = designs[0]
        told = []
        for file, design in zip(files[1:], designs[1:], strict=True):
            if design.static_run != first.static_run or design.pblocks != first.pblocks:
                raise VivadoError(f"[Vivado 12-3254] pr_verify: {files[0]} and {file} differ in what stays")
            told.append(f"INFO: [Vivado 12-3253] PR_VERIFY: check points {files[0]} and {file} are compatible\n")
        if "-file" not in arguments.values:
            raise VivadoError("pr_verify: without -file the result is lost in batch mode")
        if "pr_verify" not in self._silent:
            Path(arguments.values["-file"]).write_text("".join(told), encoding="utf-8")
        self.verified |= {Path(file) for file in files}
        return ""

    def _write_bitstream(self, arguments: Arguments) -> str:
        """UG909: of full design checkpoints alone; with -cell only the partial one, else the full one and all partial.

        That pr_verify comes before is UG909's advice, which the project flow follows of itself.
        """
        design, path = self.open_design("write_bitstream"), Path(arguments.positionals["file"])
        self._may_write("write_bitstream", path, arguments)
        if path.suffix != ".bit":
            raise VivadoError(f"write_bitstream: '{path.name}' does not end in .bit")
        if design.is_module:
            raise VivadoError("write_bitstream: the checkpoint is of a module: unsuitable partial files (UG909)")
        if design.stage != "routed":
            raise VivadoError(f"write_bitstream: the design is {design.stage}, expected routed")
        if _modules(design) not in self._ruled:
            raise VivadoError("write_bitstream: report_drc has not looked at this configuration with bitstream_checks")
        errors = [name for name, severity in self.broken_rules.items() if severity in ("Error", "Fatal")]
        if errors:
            raise VivadoError(f"[DRC {errors[0]}] write_bitstream: the design breaks rules")
        empty = [name for name, cell in design.cells.items() if cell.module is None]
        if empty:
            raise VivadoError(f"write_bitstream: cell '{empty[0]}' is a black box")
        if len(self._configurations) > 1 and self._opened not in self.verified:
            raise VivadoError("write_bitstream: pr_verify has not compared this configuration with the others")
        told = self._written(design, arguments)
        if "write_bitstream" not in self._silent:
            path.write_text(told, encoding="utf-8")
        return ""

    def _written(self, design: Checkpoint, arguments: Arguments) -> str:
        """Return what is in the bitstream that is asked for."""
        cell = arguments.values.get("-cell")
        if cell is not None and "-no_partial_bitfile" in arguments.flags:
            raise VivadoError("write_bitstream: -cell and -no_partial_bitfile leave nothing to write")
        if cell is None and "-no_partial_bitfile" not in arguments.flags:
            raise VivadoError("write_bitstream: without -cell or -no_partial_bitfile it names partial files itself")
        if cell is None:
            return f"all of {design.static_run}"
        name = self._cell("write_bitstream", cell)
        if not design.cells[name].is_reconfigurable:
            raise VivadoError(f"write_bitstream: cell '{name}' has no HD.RECONFIGURABLE")
        return f"{design.cells[name].module} in {name} beside {design.static_run}"

    def _write_cfgmem(self, arguments: Arguments) -> str:
        """UG909, Formatting BIN Files: for PCAP -format BIN, -interface SMAPx32 and -disablebitswap."""
        path = Path(arguments.positionals["file"])
        self._may_write("write_cfgmem", path, arguments)
        if arguments.values.get("-format", "").upper() != "BIN":
            raise VivadoError("write_cfgmem: -format is not BIN")
        if arguments.values.get("-interface") != "SMAPx32" or "-disablebitswap" not in arguments.flags:
            raise VivadoError("write_cfgmem: PCAP needs -interface SMAPx32 and -disablebitswap (UG909)")
        words = self._split("write_cfgmem", arguments.values.get("-loadbit", ""))
        if len(words) != 3 or words[:2] != ("up", "0x0") or not Path(words[2]).is_file():
            raise VivadoError(
                f"write_cfgmem: -loadbit is '{arguments.values.get('-loadbit')}', expected up 0x0 FILE.bit"
            )
        if "write_cfgmem" not in self._silent:
            path.write_text(f"bin of {Path(words[2]).read_text(encoding='utf-8')}", encoding="utf-8")
        return ""

    def _report_timing_summary(self, arguments: Arguments) -> str:
        return self._report("report_timing_summary", arguments)

    def _report_utilization(self, arguments: Arguments) -> str:
        if "-hierarchical_depth" in arguments.values and "-hierarchical" not in arguments.flags:
            raise VivadoError("report_utilization: -hierarchical_depth needs -hierarchical")
        return self._report("report_utilization", arguments)

    def _report_drc(self, arguments: Arguments) -> str:
        """UG835: violations are objects, by the name that the results are given."""
        decks = self._split("report_drc", arguments.values.get("-ruledecks", "default"))
        unknown = [deck for deck in decks if deck not in RULE_DECKS]
        if unknown:
            raise VivadoError(f"report_drc: there is no rule deck '{unknown[0]}'")
        if "-file" not in arguments.values or "-name" not in arguments.values:
            raise VivadoError("report_drc: without -file and -name the result is lost in batch mode")
        self._rules_named.add(arguments.values["-name"])
        if "bitstream_checks" in decks:
            self._ruled.add(_modules(self.open_design("report_drc")))
        return self._report("report_drc", arguments)

    def _get_drc_violations(self, arguments: Arguments) -> tuple[str, ...]:
        name = arguments.values.get("-name", "")
        if name not in self._rules_named:
            raise VivadoError(f"get_drc_violations: report_drc made no results named '{name}' (Vivado only warns)")
        if not self.broken_rules and not arguments.quiet:
            raise VivadoError("get_drc_violations: there are none (Vivado only warns)")
        return tuple(self.broken_rules)

    def _report(self, command: str, arguments: Arguments) -> str:
        if self.open_design(command).stage != "routed":
            raise VivadoError(f"{command}: the design is not routed")
        if command not in self._silent:
            Path(arguments.values["-file"]).write_text(f"{command}\n", encoding="utf-8")
        return ""

    def _may_write(self, command: str, path: Path, arguments: Arguments) -> None:
        if not path.parent.is_dir():
            raise VivadoError(f"{command}: there is no folder for '{path}'")
        if path.exists() and "-force" not in arguments.flags:
            raise VivadoError(f"{command}: '{path}' exists already; -force replaces it")


def _modules(design: Checkpoint) -> tuple[str, ...]:
    """Return what tells a configuration from others: the module in each cell."""
    return tuple(f"{name}={cell.module}" for name, cell in sorted(design.cells.items()))


def _configuration(file: str) -> Checkpoint:
    """Read the checkpoint of a configuration that pr_verify is given."""
    design = Checkpoint.read("pr_verify", file)
    if design.is_module:
        raise VivadoError(f"pr_verify: '{file}' is the checkpoint of a module, not of a configuration")
    if design.stage != "routed":
        raise VivadoError(f"pr_verify: '{file}' is not routed")
    return design
