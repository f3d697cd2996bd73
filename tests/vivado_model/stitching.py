"""A Vivado without a project file that implements modules out of context and assembles them, by the guides (2022.2).

UG905 (hierarchical design), UG896 (IP without a project), UG835 (commands), UG912 (properties), UG904 (order of steps).
Strict: what Vivado would do with a warning and nobody means is refused. Verilog is read as far as this needs it: ports
of modules, and instances. A checkpoint is a small JSON file.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .arguments import Arguments, VivadoError
from .pblocks import Pblock
from .sites import Sites

STEPS = ("synth_design", "opt_design", "place_design", "phys_opt_design", "route_design")
"""UG904: phys_opt_design may be run behind placement and behind routing."""
CLOCK, DESIGN, PROJECT = "ap_clk", "model_design", "model_project"
_MODULE = re.compile(r"(\(\* black_box[^)]*\*\)\s*)?\bmodule (\w+)\s*(?:#\(.*?\)\s*)?\((.*?)\);(.*?)\bendmodule", re.S)
_PORT = re.compile(r"(input|output)\s+(?:wire|reg)?\s*(?:\[(\d+):0\])?\s*(\w+)")
_INSTANCE = re.compile(r"^\s*(\w+)(?: #\(.*\))? (\w+) \(\n([^;]*)\);$", re.M)
_JOINED = re.compile(r"\.(\w+)\(([^()]*)\)")
_TERM = re.compile(r'\s*(\w+)\s*(==|!=|=~)\s*"?([^"\s]*)"?\s*')
Answer = str | tuple[str, ...]


@dataclass
class Module:
    """A Verilog module: direction and bits of its ports, modules by the instances of them in it."""

    ports: dict[str, tuple[str, int]]
    instances: dict[str, str]
    joined: dict[str, dict[str, str]]
    """The wires at the ports of each instance."""
    is_box: bool


@dataclass
class Open:
    """The open design."""

    part: str
    top: str
    in_context: bool
    ports: dict[str, tuple[str, int]]
    cells: dict[str, str]
    """The module of each instance."""
    leaves: dict[str, str]
    """The site of each primitive cell, empty before it is placed."""
    boxes: set[str] = field(default_factory=set)
    step: str = "synth_design"
    locked: bool = False
    clocks: dict[str, float] = field(default_factory=dict)
    clock_source: str = ""
    part_pins: dict[str, str] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    pblock: dict[str, Any] = field(default_factory=dict)
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What was read into each cell."""
    slrs: dict[str, str] = field(default_factory=dict)
    pins: dict[str, str] = field(default_factory=dict)
    box_ports: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    """The ports of each black box, and in ``joined`` the wires at them."""
    joined: dict[str, dict[str, str]] = field(default_factory=dict)

    def dump(self) -> dict[str, Any]:
        return {**self.__dict__, "boxes": sorted(self.boxes)}


def primitives(cells: Mapping[str, str]) -> dict[str, str]:
    """Return two primitive cells of each instance, and the two constants, which have no place."""
    return {f"{cell}/{name}": "" for cell in cells for name in ("lut[0]", "reg[0]")} | {"VCC": "", "GND": ""}


class Stitching:
    """One process of Vivado; ``fault`` names what goes wrong in it, with its value."""

    def __init__(
        self,
        sites: Sites,
        table: dict[str, Pblock],
        split: Callable[[str, str], Sequence[str]],
        ips: Mapping[Path, str],
        fault: Mapping[str, Any],
    ) -> None:
        self._sites, self._table, self._split, self._ips, self.fault = sites, table, split, ips, fault
        self.design: Open | None = None
        self.written: dict[str, dict[str, Any]] = {}
        """What each checkpoint held, by its file's name."""
        self.log: list[str] = []
        self._part = ""
        self._repository: list[Path] = []
        self._catalogued: list[Path] = []
        self._made: dict[str, str] = {}
        self._verilog: dict[str, Module] = {}
        self._constraints: list[Path] = []

    def run(self, command: str, arguments: Arguments) -> Answer | None:
        """Run one of the commands; None: it is one of those on pblocks alone."""
        method = getattr(self, f"_{command}", None)
        if method is None:
            return None
        answer: Answer | None = method(arguments)
        if answer is not None and not command.startswith("get_"):
            self.log.append(command)
        return answer

    # A project in memory, and its IP (UG835 create_project; UG896, Using IP in non-project flows)

    def _create_project(self, arguments: Arguments) -> str:
        if self._part:
            raise VivadoError("create_project: a project is open already")
        if "-in_memory" not in arguments.flags or "-part" not in arguments.values:
            raise VivadoError("create_project: expected -in_memory and -part")
        if arguments.values["-part"].split("-")[0] not in self._sites.part and "-" not in arguments.values["-part"]:
            raise VivadoError(f"create_project: part '{arguments.values['-part']}' is unknown")
        self._part = arguments.values["-part"]
        self._repository, self._catalogued, self._made, self._verilog, self._constraints = [], [], {}, {}, []
        return PROJECT

    def _set_param(self, arguments: Arguments) -> str:
        """UG904, Multithreading: general.maxThreads from 1 to 8."""
        name, value = arguments.positionals["name"], arguments.positionals["value"]
        if name != "general.maxThreads" or value not in "12345678":
            raise VivadoError(f"set_param: '{name} {value}' is not modelled, expected general.maxThreads from 1 to 8")
        return ""

    def _close_project(self, _: Arguments) -> str:
        self._project("close_project")
        self._part, self.design = "", None
        self._table.clear()
        return ""

    def _current_project(self, _: Arguments) -> str:
        self._project("current_project")
        return PROJECT

    def _project(self, command: str) -> None:
        if not self._part:
            raise VivadoError(f"{command}: no project is open")

    def _update_ip_catalog(self, _: Arguments) -> str:
        self._project("update_ip_catalog")
        self._catalogued = list(self._repository)
        return ""

    def _get_ipdefs(self, arguments: Arguments) -> tuple[str, ...]:
        """UG896: what is in a repository is known once the catalogue is updated."""
        known = {name: f"model:finn:{name}:1.0" for path, name in self._ips.items() if path in self._catalogued}
        term = _TERM.fullmatch(arguments.values.get("-filter", ""))
        if term is None or term[1] != "NAME" or term[2] != "==":
            raise VivadoError("get_ipdefs: expected -filter NAME == name")
        return tuple(vlnv for name, vlnv in known.items() if name == term[3])

    def _create_ip(self, arguments: Arguments) -> str:
        name = arguments.values.get("-module_name", "")
        if arguments.values.get("-vlnv") not in {f"model:finn:{known}:1.0" for known in self._ips.values()}:
            raise VivadoError(f"create_ip: -vlnv '{arguments.values.get('-vlnv')}' is not in the catalogue")
        if not name or not Path(arguments.values.get("-dir", "")).is_dir():
            raise VivadoError("create_ip: expected -module_name and an existing folder -dir")
        self._made[name] = "created"
        return name

    def _get_ips(self, arguments: Arguments) -> tuple[str, ...]:
        wanted = arguments.positionals.get("patterns", "*")
        found = tuple(name for name in self._made if fnmatchcase(name, wanted))
        if not found:
            raise VivadoError(f"get_ips: no IP matches '{wanted}'")
        return found

    def _generate_target(self, arguments: Arguments) -> str:
        self._advance("generate_target", arguments.positionals["objects"], "created", "generated")
        return ""

    def _synth_ip(self, arguments: Arguments) -> str:
        """UG896: output products first."""
        self._advance("synth_ip", arguments.positionals["objects"], "generated", "synthesised")
        return ""

    def _advance(self, command: str, name: str, before: str, after: str) -> None:
        if self._made.get(name) != before:
            raise VivadoError(f"{command}: IP '{name}' is {self._made.get(name, 'unknown')}, expected {before}")
        self._made[name] = after

    def _read_verilog(self, arguments: Arguments) -> str:
        self._project("read_verilog")
        for text in self._split("read_verilog", arguments.positionals["files"]):
            path = Path(text)
            if not path.is_file():
                raise VivadoError(f"read_verilog: there is no file '{text}'")
            for box, name, head, body in _MODULE.findall(_without_comments(path.read_text(encoding="utf-8"))):
                if name in self._verilog:
                    raise VivadoError(f"read_verilog: module '{name}' is there twice")
                ports = {port: (way, int(most or 0) + 1) for way, most, port in _PORT.findall(head)}
                found = _INSTANCE.findall(body)
                instances = {cell: module for module, cell, _ in found}
                if len(instances) != len(found):
                    raise VivadoError(f"read_verilog: two instances in '{name}' have one name")
                joined = {cell: dict(_JOINED.findall(text)) for _, cell, text in found}
                self._verilog[name] = Module(ports, instances, joined, bool(box))
        return ""

    def _read_xdc(self, arguments: Arguments) -> str:
        self._project("read_xdc")
        path = Path(arguments.positionals["file"])
        if not path.is_file():
            raise VivadoError(f"read_xdc: there is no file '{path}'")
        self._constraints.append(path)
        return ""

    def _synth_design(self, arguments: Arguments) -> str:
        """UG901, UG905: out of context no I/O buffers are made; what an instance is of has to be known."""
        self._project("synth_design")
        top, part = arguments.values.get("-top", ""), arguments.values.get("-part", "")
        if top not in self._verilog:
            raise VivadoError(f"[Synth 8-439] synth_design: module '{top}' was not read")
        if part != self._part:
            raise VivadoError(f"synth_design: -part is '{part}', the project's is '{self._part}'")
        mode = arguments.values.get("-mode", "default")
        if mode not in ("default", "out_of_context"):
            raise VivadoError(f"synth_design: -mode '{mode}'")
        module = self._verilog[top]
        unread = {name for name, state in self._made.items() if state != "synthesised"}
        if unread:
            raise VivadoError(f"synth_design: IP {sorted(unread)} is not synthesised; synth_ip first")
        for cell, name in module.instances.items():
            if name not in self._verilog and name not in self._made:
                raise VivadoError(f"[Synth 8-439] synth_design: '{cell}' is of module '{name}', which was not read")
        cells = dict(module.instances)
        boxes = {cell for cell, name in cells.items() if name in self._verilog and self._verilog[name].is_box}
        for cell in self.fault.get("trimmed", ()):
            cells.pop(cell, None)
        leaves = primitives({cell: name for cell, name in cells.items() if cell not in boxes})
        leaves |= dict.fromkeys(self.fault.get("buffers", ()), "")
        self.design = Open(part, top, mode == "default", dict(module.ports), cells, leaves, boxes)
        self.design.box_ports = {cell: self._verilog[cells[cell]].ports for cell in boxes}
        self.design.joined = {cell: module.joined[cell] for cell in boxes}
        if mode == "default":
            self.design.leaves["ap_clk_IBUF_BUFG_inst"] = ""
        for path in self._constraints:
            self._apply(path)
        return ""

    def _apply(self, path: Path) -> None:
        """Apply a constraints file: clocks, delays, places of pins, one command a line."""
        design = self._design("read_xdc")
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line or line.startswith("#"):
                continue
            clock = re.fullmatch(r"create_clock -name (\w+) -period ([\d.]+) \[get_ports (\w+)\]", line)
            delay = re.fullmatch(r"set_(input|output)_delay -clock (\w+) ([\d.]+) \[get_ports \{(.*)\}\]", line)
            pin = re.fullmatch(r"set_property PACKAGE_PIN (\w+) \[get_ports \{?([\w\[\]*]+)\}?\]", line)
            if clock is not None:
                self._clock(clock[3], float(clock[2]))
            elif delay is not None:
                names = self._ports_like("read_xdc", delay[4].removesuffix("[*]"))
                self._delay(f"set_{delay[1]}_delay", names, delay[2], float(delay[3]), delay[1])
            elif pin is not None:
                design.pins |= dict.fromkeys(self._ports_like("read_xdc", pin[2].removesuffix("[*]")), pin[1])
            else:
                raise VivadoError(f"read_xdc: {path.name}: '{line}' is not modelled")

    # The open design

    def _design(self, command: str) -> Open:
        if self.design is None:
            raise VivadoError(f"{command}: no design is open")
        return self.design

    def _open_checkpoint(self, arguments: Arguments) -> str:
        if self.design is not None:
            raise VivadoError("open_checkpoint: a design is open; close_design first")
        held = _checkpoint("open_checkpoint", arguments.positionals["file"])
        ports = {name: (way, bits) for name, (way, bits) in held["ports"].items()}
        self.design = Open(**{**held, "ports": ports, "boxes": set(held["boxes"])})
        return DESIGN

    def _close_design(self, _: Arguments) -> str:
        self._design("close_design")
        self.design = None
        self._table.clear()
        return ""

    def _current_design(self, _: Arguments) -> str:
        self._design("current_design")
        return DESIGN

    def _get_ports(self, arguments: Arguments) -> tuple[str, ...]:
        found = self._ports_like("get_ports", arguments.positionals.get("patterns", "*"), quiet=arguments.quiet)
        if "-filter" in arguments.values:
            found = [name for name in found if _holds(arguments.values["-filter"], self._of_port(name))]
        if not found and not arguments.quiet:
            raise VivadoError("get_ports: no port is left by the filter (Vivado only warns)")
        return tuple(found)

    def _of_port(self, name: str) -> dict[str, str]:
        return {"NAME": name, "DIRECTION": {"input": "IN", "output": "OUT"}[self._design("get_ports").ports[name][0]]}

    def _ports_like(self, command: str, pattern: str, *, quiet: bool = False) -> list[str]:
        found = [name for name in self._design(command).ports if fnmatchcase(name, pattern)]
        if not found and not quiet:
            raise VivadoError(f"{command}: no port matches '{pattern}' (Vivado only warns)")
        return found

    def _create_clock(self, arguments: Arguments) -> str:
        (port,) = self._split("create_clock", arguments.positionals.get("objects", "")) or ("",)
        if arguments.values.get("-name") != CLOCK:
            raise VivadoError("create_clock: delays name another clock")
        self._clock(port, float(arguments.values["-period"]))
        return CLOCK

    def _clock(self, port: str, period: float) -> None:
        design = self._design("create_clock")
        if port not in design.ports or design.ports[port] != ("input", 1) or period <= 0:
            raise VivadoError(f"create_clock: '{port}' is no input of one bit, or {period} no period")
        design.clocks[port] = period

    def _set_input_delay(self, arguments: Arguments) -> str:
        return self._io("set_input_delay", arguments)

    def _set_output_delay(self, arguments: Arguments) -> str:
        return self._io("set_output_delay", arguments)

    def _io(self, command: str, arguments: Arguments) -> str:
        names = self._split(command, arguments.positionals["objects"])
        way = command.split("_")[1]
        self._delay(command, names, arguments.values.get("-clock", ""), float(arguments.positionals["delay"]), way)
        return ""

    def _delay(self, command: str, names: Sequence[str], clock: str, value: float, way: str) -> None:
        design = self._design(command)
        if clock not in design.clocks:
            raise VivadoError(f"{command}: there is no clock '{clock}'; create_clock first")
        for name in names:
            if name not in design.ports or design.ports[name][0] != way or name in design.clocks:
                raise VivadoError(f"{command}: '{name}' is no {way}, or a clock")
            if not 0 <= value < design.clocks[clock]:
                raise VivadoError(f"{command}: {value} ns leave nothing of a cycle of {design.clocks[clock]} ns")
            design.delays[name] = value

    def _get_sites(self, arguments: Arguments) -> tuple[str, ...]:
        """UG835 get_sites: of pblocks; clock buffers by their type (UG572: 24 BUFGCE a clock region at its side)."""
        if "-of_objects" in arguments.values:
            (name,) = self._split("get_sites", arguments.values["-of_objects"])
            return tuple(_sites_in(self._table[name]))
        term = _TERM.fullmatch(arguments.values.get("-filter", ""))
        if term is None or term[1] != "SITE_TYPE":
            raise VivadoError("get_sites: expected -of_objects, or -filter SITE_TYPE == type")
        return tuple(self._buffers().get(term[3], ()))

    def _buffers(self) -> dict[str, list[str]]:
        if self._sites.is_series_7:
            return {"BUFGCTRL": [f"BUFGCTRL_X0Y{y}" for y in range(32)]}
        return {"BUFGCE": [f"BUFGCE_X0Y{y}" for y in range(24 * len(self._sites.letters))]}

    def _get_slrs(self, _: Arguments) -> tuple[str, ...]:
        return self._sites.slrs

    def _get_cells(self, arguments: Arguments) -> tuple[str, ...]:
        design = self._design("get_cells")
        known = {name: self._of_cell(name) for name in (*design.cells, *design.leaves)}
        pattern = arguments.positionals.get("patterns")
        if "-hierarchical" not in arguments.flags:
            found = [name for name in known if pattern is not None and name == pattern]
        else:
            found = [name for name, of in known.items() if _holds(arguments.values.get("-filter", ""), of)]
        if not found and not arguments.quiet:
            raise VivadoError(f"get_cells: no cell matches '{pattern}' (Vivado only warns)")
        return tuple(found)

    def _of_cell(self, name: str) -> dict[str, str]:
        design = self._design("get_property")
        if name in design.leaves:
            buffer = "BUFGCE" if "BUFG" in name else "FDRE"
            kind = name.rpartition("/")[2]
            reference = kind if kind in ("VCC", "GND") else buffer
            return {"NAME": name, "IS_PRIMITIVE": "1", "REF_NAME": reference, "LOC": design.leaves[name]}
        box = str(int(name in design.boxes))
        return {"NAME": name, "IS_PRIMITIVE": "0", "REF_NAME": design.cells[name], "IS_BLACKBOX": box}

    def _get_property(self, arguments: Arguments) -> str | None:
        name, thing = arguments.positionals["name"], arguments.positionals["object"]
        (thing,) = self._split("get_property", thing) or (thing,)
        design = self._design("get_property")
        if thing.startswith("path_"):
            return str(self.fault.get("whs" if thing.endswith("hold") else "wns", 0.1))
        if thing in design.cells or thing in design.leaves:
            return self._of_cell(thing)[name]
        if thing == DESIGN and name == "PART":
            return design.part
        return None

    def _set_property(self, arguments: Arguments) -> str | None:
        name, value = arguments.positionals["name"], arguments.positionals.get("value", "")
        things = self._split("set_property", arguments.positionals.get("objects", ""))
        if name == "ip_repo_paths":
            self._project("set_property")
            if things != (PROJECT,):
                raise VivadoError("set_property ip_repo_paths: is one of the project")
            self._repository = [Path(text) for text in self._split("set_property", value)]
            return ""
        if name.startswith("HD."):
            self._hierarchical(name, value, things)
            return ""
        if name == "USER_SLR_ASSIGNMENT":
            design = self._design("set_property")
            if value not in self._sites.slrs or not {*things} <= {*design.cells} or design.step != "synth_design":
                raise VivadoError(f"set_property USER_SLR_ASSIGNMENT: '{value}' of {things}: no SLR, cell or too late")
            design.slrs |= dict.fromkeys(things, value)
            return ""
        return None

    def _hierarchical(self, name: str, value: str, things: Sequence[str]) -> None:
        """UG905, Context Constraints."""
        design = self._design(f"set_property {name}")
        if design.step != "synth_design" or design.in_context:
            raise VivadoError(f"set_property {name}: the design is implemented already, or not out of context")
        for port in things:
            if port not in design.ports:
                raise VivadoError(f"set_property {name}: there is no port '{port}'")
        if name == "HD.CLK_SRC":
            if not {*things} <= {*design.clocks}:
                raise VivadoError("set_property HD.CLK_SRC: the port must have a clock before (UG905)")
            if value not in {site for sites in self._buffers().values() for site in sites}:
                raise VivadoError(f"set_property HD.CLK_SRC: '{value}' is no site of a clock buffer")
            design.clock_source = value
        elif name == "HD.PARTPIN_RANGE":
            if {*things} & {*design.clocks} or not value:
                raise VivadoError("set_property HD.PARTPIN_RANGE: never on a clock (UG905), or without a range")
            try:
                _spanned(name, value, self._sites)
            except VivadoError as error:
                raise VivadoError(f"set_property HD.PARTPIN_RANGE: {error}") from error
            design.part_pins |= dict.fromkeys(things, value)
        else:
            raise VivadoError(f"set_property: '{name}' is not modelled")

    def _add_cells_to_pblock(self, arguments: Arguments) -> str:
        """UG835: -top puts the whole design into it, in the place of cells."""
        if "-top" not in arguments.flags or "cells" in arguments.positionals:
            raise VivadoError("add_cells_to_pblock: a module out of context is in its pblock as a whole: -top")
        self._table[arguments.positionals["pblock"]].cells.append(self._design("add_cells_to_pblock").top)
        return ""

    # Implementation

    def _opt_design(self, _: Arguments) -> str:
        design = self._design("opt_design")
        if design.boxes:
            raise VivadoError(f"[DRC INBB-3] opt_design: {sorted(design.boxes)} are black boxes")
        if not design.clocks:
            raise VivadoError("opt_design: there is no clock; nothing would be timed")
        if not design.in_context:
            if not design.clock_source:
                raise VivadoError("opt_design: no HD.CLK_SRC: the clock's skew would not be seen (UG905)")
            timed = {name for name in design.ports if name not in design.clocks}
            if timed - {*design.delays}:
                raise VivadoError(
                    f"opt_design: ports {sorted(timed - {*design.delays})} have no delay: not constrained"
                )
        if self._made:  # with IP of its own it is a module, else what modules are stitched into
            self._check_module(design)
        return self._step("opt_design")

    def _check_module(self, design: Open) -> None:
        """UG905, Build an Effective Floorplan: a pblock, routing inside it, and places of all pins."""
        if len(self._table) != 1:
            raise VivadoError("opt_design: a module out of context must have one pblock (UG905)")
        (pblock,) = self._table.values()
        if pblock.cells != [design.top] or not pblock.ranges:
            raise VivadoError(f"opt_design: pblock '{pblock.name}' does not hold the module, or has no ranges")
        for name, wanted in (("CONTAIN_ROUTING", "TRUE"), ("IS_SOFT", "FALSE")):
            if pblock.property(name) != wanted:
                raise VivadoError(f"opt_design: {name} of pblock '{pblock.name}' is not {wanted}: routes may leave it")
        odd = _odd_columns(self._sites, pblock)
        if odd:
            raise VivadoError(f"opt_design: pblock '{pblock.name}' cuts the INT pair beside column {odd[0]}")
        timed = {name for name in design.ports if name not in design.clocks and name != "ap_rst_n"}
        if timed - {*design.part_pins}:
            raise VivadoError(f"opt_design: ports {sorted(timed - {*design.part_pins})} have no HD.PARTPIN_RANGE")
        inside = {*_sites_in(pblock)}
        for port, text in design.part_pins.items():
            if not {*_sites_in(_spanned(port, text, self._sites))} <= inside:
                raise VivadoError(f"opt_design: HD.PARTPIN_RANGE of '{port}' leaves the pblock")
        design.pblock = {"name": pblock.name, "ranges": list(pblock.ranges), "properties": dict(pblock.properties)}

    def _place_design(self, _: Arguments) -> str:
        design = self._design("place_design")
        self._step("place_design")
        sites = next((_sites_in(pblock) for pblock in self._table.values()), ["SLICE_X1Y1"])
        outside = ["SLICE_X999Y999"] if self.fault.get("outside") else sites
        names = [name for name, site in design.leaves.items() if not site and name not in ("VCC", "GND")]
        for number, name in enumerate(name for name in names if not name.endswith(("/VCC", "/GND"))):
            design.leaves[name] = outside[number % len(outside)]
        for name in self.fault.get("unplaced", ()):
            if name in design.leaves:
                design.leaves[name] = ""
        return ""

    def _phys_opt_design(self, _: Arguments) -> str:
        design = self._design("phys_opt_design")
        if design.step not in ("place_design", "route_design"):
            raise VivadoError(f"phys_opt_design: behind {design.step}; expected placement or routing")
        if design.step == "place_design":
            design.step = "phys_opt_design"
        return ""

    def _route_design(self, _: Arguments) -> str:
        self._step("route_design")
        return ""

    def _step(self, command: str) -> str:
        design = self._design(command)
        before = STEPS[STEPS.index(command) - 1]
        if design.step != before:
            raise VivadoError(f"{command}: behind {design.step}, expected {before}")
        design.step = command
        return ""

    def _report_route_status(self, arguments: Arguments) -> str:
        if "-return_string" not in arguments.flags:
            raise VivadoError("report_route_status: without -return_string or -file the result is lost")
        if self._design("report_route_status").step != "route_design":
            raise VivadoError("report_route_status: the design is not routed")
        count = self.fault.get("unrouted", 0)
        if count is None:
            return "Design Route Status\n"
        return (
            "Design Route Status\n                                               :      # nets :\n"
            f"       # of routable nets..................... :         100 :\n"
            f"           # of fully routed nets............. :         {100 - count} :\n"
            f"       # of nets with routing errors.......... :           {count} :\n"
        )

    def _get_timing_paths(self, arguments: Arguments) -> tuple[str, ...]:
        design = self._design("get_timing_paths")
        if design.step != "route_design":
            raise VivadoError("get_timing_paths: before routing wires are estimates")
        if self.fault.get("no_paths"):
            return ()
        return ("path_1_hold" if "-hold" in arguments.flags else "path_1_setup",)

    def _lock_design(self, arguments: Arguments) -> str:
        """UG905, Setting Preservation Level: routing is kept only of what had CONTAIN_ROUTING."""
        design = self._design("lock_design")
        if arguments.values.get("-level") != "routing":
            raise VivadoError("lock_design: level placement, the default, lets routes change; expected routing")
        if "cell" not in arguments.positionals:
            if design.step != "route_design" or not design.pblock:
                raise VivadoError("lock_design: the design is not routed in a pblock")
            design.locked = True
            return ""
        (cell,) = self._split("lock_design", arguments.positionals["cell"])
        if cell not in design.held:
            raise VivadoError(f"lock_design: nothing was read into '{cell}'")
        design.held[cell]["locked_here"] = True
        return ""

    def _read_checkpoint(self, arguments: Arguments) -> str:
        """UG905, Assembly: into a black box, with -strict; modules may not overlap, and have one clock source."""
        design = self._design("read_checkpoint")
        cell = arguments.values.get("-cell", "")
        file = arguments.positionals["file"]
        held = _checkpoint("read_checkpoint", file)
        if cell not in design.boxes:
            raise VivadoError(f"read_checkpoint: cell '{cell}' is no black box")
        if "-strict" not in arguments.flags:
            raise VivadoError("read_checkpoint: an implemented module is read with -strict")
        self._check_read(design, cell, held, file)
        if not self.fault.get("still_empty"):
            design.boxes.discard(cell)
        design.held[cell] = {**held, "file": Path(file).name}
        lost = self.fault.get("lost", 0) if len(design.held) == 1 else 0
        leaves = {name: site for name, site in held["leaves"].items() if name not in ("VCC", "GND")}
        for name in list(leaves)[: len(leaves) - lost]:
            design.leaves[f"{cell}/{name}"] = "" if self.fault.get("loses_places") else leaves[name]
        return ""

    def _check_read(self, design: Open, cell: str, held: Mapping[str, Any], file: str) -> None:
        box = {name: tuple(port) for name, port in design.box_ports[cell].items()}
        clock_source = held["clock_source"] if design.in_context else design.clock_source
        for wrong, told in (
            (held["step"] != "route_design" or not held["locked"], "is not routed and locked"),
            (held["part"] != design.part, f"is for part {held['part']}, not {design.part}"),
            (held["top"] != design.cells[cell], f"is '{held['top']}', '{cell}' is a '{design.cells[cell]}'"),
            ({n: tuple(port) for n, port in held["ports"].items()} != box, f"has not the ports of cell '{cell}'"),
            (held["clocks"] != design.clocks, f"was made for another clock: {held['clocks']}"),
            (held["clock_source"] != clock_source, f"has its clock from {held['clock_source']}"),
        ):
            if wrong:
                raise VivadoError(f"read_checkpoint: '{file}' {told}")
        own, *others = (
            {*_sites_in(_spanned(name, " ".join(one["pblock"]["ranges"]), self._sites))}
            for name, one in ((cell, held), *design.held.items())
        )
        for other, sites in zip(design.held, others, strict=True):
            if own & sites:
                raise VivadoError(f"read_checkpoint: '{cell}' and '{other}' overlap")

    # What is written

    def _write_checkpoint(self, arguments: Arguments) -> str:
        design, path = self._design("write_checkpoint"), Path(arguments.positionals["file"])
        self._writable("write_checkpoint", path, arguments)
        if design.step != "synth_design" and not design.locked and self._made:
            raise VivadoError("write_checkpoint: the module is not locked")
        if any(not held.get("locked_here") for held in design.held.values()):
            raise VivadoError("write_checkpoint: a module that was read is not locked")
        if "write_checkpoint" not in self.fault.get("silent", ()):
            content = design.dump()
            path.write_text(json.dumps(content), encoding="utf-8")
            self.written[path.name] = content
        return ""

    def _write_verilog(self, arguments: Arguments) -> str:
        path = Path(arguments.positionals["file"])
        self._writable("write_verilog", path, arguments)
        if arguments.values.get("-mode") != "funcsim":
            raise VivadoError("write_verilog: without -mode funcsim it is no netlist for simulation (UG835)")
        self._routed("write_verilog")
        return self._told("write_verilog", path)

    def _write_bitstream(self, arguments: Arguments) -> str:
        """UG908, and DRC NSTD-1 and UCIO-1: every port has its pin."""
        design, path = self._design("write_bitstream"), Path(arguments.positionals["file"])
        self._writable("write_bitstream", path, arguments)
        self._routed("write_bitstream")
        if not design.in_context or {*design.ports} - {*design.pins}:
            raise VivadoError("[DRC UCIO-1] write_bitstream: ports have no pins, or the design is out of context")
        return self._told("write_bitstream", path)

    def _report_utilization(self, arguments: Arguments) -> str:
        if arguments.values.get("-format") != "xml" or "-hierarchical" not in arguments.flags:
            raise VivadoError("report_utilization: expected -hierarchical -format xml")
        self._routed("report_utilization")
        return self._told("report_utilization", Path(arguments.values["-file"]))

    def _report_timing_summary(self, arguments: Arguments) -> str:
        self._routed("report_timing_summary")
        return self._told("report_timing_summary", Path(arguments.values["-file"]))

    def _routed(self, command: str) -> None:
        if self._design(command).step != "route_design":
            raise VivadoError(f"{command}: the design is not routed")

    def _told(self, command: str, path: Path) -> str:
        if not path.parent.is_dir():
            raise VivadoError(f"{command}: there is no folder for '{path}'")
        if command not in self.fault.get("silent", ()):
            path.write_text(f"{command}\n", encoding="utf-8")
        return ""

    def _writable(self, command: str, path: Path, arguments: Arguments) -> None:
        if not path.parent.is_dir() or (path.exists() and "-force" not in arguments.flags):
            raise VivadoError(f"{command}: there is no folder for '{path}', or it exists and -force is not given")


def _checkpoint(command: str, file: str) -> dict[str, Any]:
    if not Path(file).is_file():
        raise VivadoError(f"{command}: there is no checkpoint '{file}'")
    return dict(json.loads(Path(file).read_text(encoding="utf-8")))


def _without_comments(text: str) -> str:
    return re.sub(r"//.*", "", text)


def _holds(text: str, properties: Mapping[str, str]) -> bool:
    """Whether properties are as a filter says; a property that an object has not is never as it says (UG894)."""
    for part in text.split("&&"):
        term = _TERM.fullmatch(part)
        if term is None:
            raise VivadoError(f"filter '{text}' is not modelled")
        value = properties.get(term[1])
        found = value is not None and (fnmatchcase(value, term[3]) if term[2] == "=~" else value == term[3])
        if value is None or found == (term[2] == "!="):
            return False
    return True


def _spanned(name: str, text: str, sites: Sites) -> Pblock:
    """Return what some ranges add up to."""
    found = Pblock(name)
    for span in text.split():
        found.add(span, sites)
    return found


def _sites_in(pblock: Pblock) -> list[str]:
    """Return the SLICEs of a pblock by their names."""
    mask = pblock.masks.get("SLICE")
    return [] if mask is None else [f"SLICE_X{x}Y{y}" for x, y in zip(*mask.nonzero(), strict=True)]


def _odd_columns(sites: Sites, pblock: Pblock) -> list[int]:
    """Return INT columns of which a pblock has one neighbour and not the other, where both hold logic (UG909)."""
    if sites.is_series_7:
        return []
    mask, found = pblock.masks.get("SLICE"), set[int]()
    for row, letters in enumerate(sites.letters if mask is not None else ()):
        assert mask is not None
        held = {sites.column("SLICE", x) for x in sites.in_row("SLICE", mask, row).any(axis=1).nonzero()[0]}
        logic = {p for p, letter in enumerate(letters) if letter in "LlMm"}
        joining = (p for p, letter in enumerate(letters) if letter == "I" and held)
        found |= {p for p in joining if {p - 1, p + 1} <= logic and len({p - 1, p + 1} & held) == 1}
    return sorted(found)
