"""Plans whose modules are implemented alone: the table of names, each module's script, tops and their scripts.

What a top joins is traced from each stream's source over its registers to its target.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import isclose
from typing import Any

from floorflow.verify.facts import PhaseFacts, padded
from floorflow.verify.files import Folder, PhaseFolder, shipped_file
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.hardware.geometry import Device, Rectangle, difference
from floorflow.verify.hardware.interconnect import Interconnect
from floorflow.verify.hardware.ranges import parse_range, sites_of
from floorflow.verify.phase_records import ChannelRecord, PblockRecord
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.rules import stitch_moves
from floorflow.verify.rules.emitted import phase_prefix
from floorflow.verify.schema import file_record, holds
from floorflow.verify.verilog import Instance, VerilogModule, read_verilog

NAMES, MODULE, TOP, ASSEMBLY = (
    "stitch-names-differ",
    "stitch-module-differs",
    "stitch-top-differs",
    "stitch-script-differs",
)
TABLE, SCHEMA = "cells.json", "floorflow-cells/1"
KINDS = ("slice", "stage", "landing", "reset")
PREFIX = "floorflow_stitch_"
MOVES = "floorflow_rapidwright.py"
BENCHES = ("rtl/floorflow_stitch_bench.sv", "rtl/floorflow_words.py")
REACH_TILES_MHZ, MOST_OF_CYCLE, MOST_BESIDE = 60_000, 0.8, 12
"""Columns and rows in a cycle times MHz, the share of one that a way lasts at the most; and how far from its port's
tiles a pin may lie."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,199}")
_PAIR = re.compile(r"(\w+) \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_PORT = re.compile(r"\{(\w+) \{([^{}]*)\} (\d+\.\d{3})\}")
_BENCH_END = re.compile(r'#\(\.BITS\((\d+)\).*?\.FILE\("(\w+)\.hex"\)\)')
_BENCH_WORDS = re.compile(r'floorflow_words\.py" "\$(\d+)" (\w+)\.hex (\d+) (\d+)$', re.M)
_ROW = re.compile(r"^lappend (\w+) \{(\w+) \{?([\w ]*)\}?\}$", re.M)


def check_stitched(folder: Folder, plan: PlanRecord, phase: PhaseFacts, boards: Boards) -> None:
    """Judge the files of a plan that is stitched, and that others have none."""
    files = PhaseFolder(folder, phase.findings, phase_prefix(plan, phase))
    stitched = phase.back_end is not None and phase.back_end.stitches(phase.where)
    if not stitched:
        if files.exists(TABLE):
            phase.add(NAMES, files.path(TABLE), "the plan's modules are not stitched; a left-over of another plan?")
        return
    for path, kind, name in (
        *((f"rtl/{PREFIX}{kind}.v", "rtl", f"{PREFIX}{kind}.v") for kind in KINDS),
        ("vivado/floorflow_stitch.tcl", "tcl", "floorflow_stitch.tcl"),
        *((path, path.partition("/")[0], path.rpartition("/")[2]) for path in BENCHES if files.exists(path)),
    ):
        text, shipped = files.text(path), shipped_file(kind, name)
        if text is not None and shipped is not None and text != shipped.read_text(encoding="utf-8"):
            phase.add("shipped-file-differs", files.path(path), "floorflow ships another file of this name")
    table = files.json(TABLE)
    if table is None or not holds(table, file_record("cells_file"), phase.findings, NAMES, files.path(TABLE)):
        return
    data = folder.data("plan.json", phase.findings)
    phase.expect(NAMES, files.path(TABLE), "plan_sha256", table["plan_sha256"], sha256(data or b"").hexdigest())
    try:
        _Judged(files, phase, boards, table).judge()
    except (LookupError, TypeError, AttributeError, ValueError, StopIteration, RuntimeError) as problem:
        phase.add(NAMES, files.path(TABLE), f"is none that plan wrote ({problem!r:.80})")


@dataclass(frozen=True)
class _Way:
    """What a stream passes on a card: modules at its ends (empty: the edge), slots of stages and of slices."""

    channel: ChannelRecord
    source: str
    target: str
    stages: list[str]
    slices: list[str]


@dataclass(frozen=True)
class _Judged:
    files: PhaseFolder
    phase: PhaseFacts
    boards: Boards
    table: Mapping[str, Any]

    def judge(self) -> None:
        phase, where = self.phase, self.files.path(TABLE)
        phase.expect(NAMES, where, "schema", self.table["schema"], SCHEMA)
        self._check_names(where)
        for name in dict.fromkeys(row["implementation"] for row in self.rows.values()):
            self._check_implementation(name)
        for fpga in self.table["cards"]:
            self._check_card(fpga)

    @cached_property
    def rows(self) -> dict[str, Mapping[str, Any]]:
        """What the table says of each module."""
        return {name: row for card in self.table["cards"].values() for name, row in card["modules"].items()}

    @property
    def period_ns(self) -> float:
        return 1000 / self.phase.clock_mhz

    def _check_names(self, where: str) -> None:
        phase = self.phase
        phase.expect(NAMES, where, "modules", sorted(self.rows), sorted(phase.modules))
        cells = [row["cell"] for row in self.rows.values()]
        for card in self.table["cards"].values():
            own = [row["cell"] for row in card["modules"].values()] + [*card["resets"].values()]
            own += [cell for row in card["streams"].values() for cell in row["registers"]]
            for cell in own:
                if _NAME.fullmatch(cell) is None or sum(cell.lower() == other.lower() for other in own) > 1:
                    phase.add(NAMES, where, f"{cell!r:.60} is no name for all tools, or of two cells")
        if len({*cells}) < len(cells):
            phase.add(NAMES, where, "two modules have one cell")
        made: dict[str, set[str]] = {}
        for name, row in self.rows.items():
            if name in phase.modules:
                made.setdefault(row["implementation"], set()).add(phase.modules[name]["implementation"])
        planned = {module["implementation"] for module in phase.modules.values()}
        if any(len(own) > 1 for own in made.values()) or len(made) != len(planned):
            phase.add(NAMES, where, "modules are made of other implementations than the plan's")

    def _members(self, implementation: str) -> list[str]:
        """Return the modules of an implementation, the plan's first of them first."""
        found = [name for name, row in self.rows.items() if row["implementation"] == implementation]
        return sorted(found, key=[*self.phase.modules].index)

    def _board(self, module: str) -> tuple[str, Board]:
        slot = self.phase.slot_of_module(module)
        if slot is None:
            raise ValueError(f"{module} is in no slot")
        return slot.fpga, self.boards[slot.fpga]

    def _ports(self, module: str) -> dict[str, tuple[str, int]]:
        """Return direction and bits of every port of a module, by what the table calls its streams."""
        channels = {channel["name"]: channel for channel in self.phase.channels}
        return _ports_of({name: channels[told] for name, told in self.rows[module]["ports"].items()})

    # Modules

    def _check_implementation(self, name: str) -> None:
        phase = self.phase
        members = self._members(name)
        text = self.files.text(f"ooc/{name}/run.tcl")
        source = self.files.text(f"ooc/{name}/{name}.v")
        where = self.files.path(f"ooc/{name}/run.tcl")
        for module in members:
            stated = {
                (self.rows[module]["ports"][port], "in" if port[0] == "s" else "out")
                for port in self.rows[module]["ports"]
            }
            placed = {(p["channel"], p["direction"]) for p in self._pblock(module)["ports"]}
            if stated != placed or self._ports(module) != self._ports(members[0]):
                phase.add(NAMES, self.files.path(TABLE), f"ports of {module} are not those of its streams")
        if source is not None:
            self._check_wrapper(name, self._ports(members[0]), source)
        if text is None:
            return
        flat = text.replace(" \\\n    ", " ")
        part = f"-name {{{name}}} -part {{{self._board(members[0])[1].raw['part']}}} -period {self.period_ns:.3f} "
        if part not in flat:
            phase.add(MODULE, where, f"is not for this module, part or clock, expected {part}")
        blocks = [dict(_PAIR.findall(line)) for line in flat.splitlines() if line.startswith("lappend places ")]
        of = {self.rows[module]["cell"]: module for module in members}
        phase.expect(MODULE, where, "places", sorted(one.get("name", "") for one in blocks), sorted(of))
        for block in blocks:
            if (planned := of.get(block.get("name", ""))) is not None:
                self._check_place(planned, block, where)

    def _pblock(self, module: str) -> PblockRecord:
        return self.phase.raw["floorplan"][self._board(module)[0]]["pblocks"][module]

    def _check_place(self, module: str, block: Mapping[str, str], where: str) -> None:
        phase, pblock, device = self.phase, self._pblock(module), self._board(module)[1].device
        phase.expect(MODULE, f"{where} {module}", "ranges", block.get("ranges"), " ".join(pblock["ranges"]))
        spans = [span for text in pblock["ranges"] if (span := parse_range(text)) is not None]
        own = sites_of(device, spans)
        for split in list(Interconnect(device).splits(own))[:1]:
            phase.add(
                MODULE, f"{where} {module}", f"its pblock has column {split.inside} and not {split.outside} of a pair"
            )
        told = {port: (sites, float(outside)) for port, sites, outside in _PORT.findall(block.get("ports", ""))}
        ports = self.rows[module]["ports"]
        phase.expect(MODULE, f"{where} {module}", "streams", sorted(told), sorted(ports))
        for port in sorted({*told} & {*ports}):
            sites, outside = told[port]
            at = next(
                p
                for p in pblock["ports"]
                if (p["channel"], p["direction"][0]) == (ports[port], "i" if port[0] == "s" else "o")
            )
            found = [parse_range(text) for text in sites.split()]
            named = sites_of(device, [span for span in found if span is not None])
            away = difference(named, own)
            beside = _strip(at, pblock)
            columns = [(_columns(device, kind)[x], rows) for (kind, x), rows in named.items()]
            near = all(beside.left - MOST_BESIDE <= column <= beside.right + MOST_BESIDE for column, _ in columns)
            rows = ((1 << (beside.top - beside.bottom + 1)) - 1) << beside.bottom
            if not named or None in found or away or not near or any(mask & ~rows for _, mask in columns):
                phase.add(
                    MODULE,
                    f"{where} {module}",
                    f"pins of {port} are not on the {at['side']} of its pblock: {sites:.80}",
                )
            expected = self._outside_ns(module, ports[port])
            if not isclose(outside, expected, abs_tol=1.5e-3):
                phase.add(MODULE, f"{where} {module}", f"{outside} ns of {port} pass outside, derived {expected:.3f}")

    def _check_wrapper(self, name: str, ports: Mapping[str, tuple[str, int]], text: str) -> None:
        """Judge that every stream passes a slice between the port and the core, which has the reset of a register."""
        where, found = self.files.path(f"ooc/{name}/{name}.v"), read_verilog(text)
        if [module.name for module in found] != [name] or found[0].left or found[0].ports != ports:
            self.phase.add(MODULE, where, "its ports are not those of the plan's module, or it holds something else")
            return
        (module,) = found
        of = {one.name: one for one in module.instances}
        streams = sorted({port.rpartition("_")[0] for port in ports} - {"ap", "ap_rst"})
        core = {"ap_clk": "ap_clk", "ap_rst_n": "rst_n"}
        wanted = {
            "reset": Instance(
                f"{PREFIX}reset", "reset", {"STAGES": "2"}, {"clk": "ap_clk", "in_n": "ap_rst_n", "out_n": "rst_n"}
            )
        }
        for stream in streams:
            inner, bits = f"inner_{stream}", ports[f"{stream}_tdata"][1]
            ends = (stream, inner) if stream.startswith("s_") else (inner, stream)
            joined = {"clk": "ap_clk", "rst_n": "rst_n"}
            joined |= {
                f"{way}_{end}": f"{at}_t{end}" for way, at in zip(("in", "out"), ends, strict=True) for end in _ENDS
            }
            wanted[f"slice_{stream}"] = Instance(f"{PREFIX}slice", f"slice_{stream}", {"BITS": str(bits)}, joined)
            core |= {f"{stream}_t{end}": f"{inner}_t{end}" for end in _ENDS}
            if module.wires.get(f"{inner}_tdata") != bits:
                self.phase.add(MODULE, where, f"the wires of {stream} inside are not as wide")
        wanted["core"] = Instance(f"{name}_core", "core", {}, core)
        if of != wanted or module.assigned:
            odd = sorted(key for key in of.keys() | wanted.keys() if of.get(key) != wanted.get(key))
            self.phase.add(MODULE, where, f"{odd} are not joined as ports with a slice each")

    def _outside_ns(self, module: str, channel: str) -> float:
        """Return what of a cycle a stream's way to the next register takes, and half of what that leaves."""
        fpga, board = self._board(module)
        way = next(one for one in self._ways(fpga) if one.channel["name"] == channel)
        points = [
            self._point(fpga, board, end, channel, enters=enters)
            for end, enters in ((way.source, False), (way.target, True))
        ]
        tiles = sum(abs(a - b) for a, b in zip(*points, strict=True)) / (1 + len(way.stages) + len(way.slices))
        share: float = min(MOST_OF_CYCLE, tiles * self.phase.clock_mhz / REACH_TILES_MHZ)
        return self.period_ns * (1 + share) / 2

    def _point(self, fpga: str, board: Board, module: str, channel: str, *, enters: bool) -> tuple[float, float]:
        if module:
            pblock = self._pblock(module)
            at = next(
                p for p in pblock["ports"] if (p["channel"], p["direction"]) == (channel, "in" if enters else "out")
            )
            strip = _strip(at, pblock)
        else:
            linked = any(
                c["channel"] == channel and c["kind"] == "link" for c in self.phase.raw["partition"]["crossings"]
            )
            numbers = list(self.phase.fpgas)
            row = next(c for c in self.phase.channels if c["name"] == channel)
            end = self.phase.end(row, "target" if enters else "source")
            host = end is not None and end.kind == "host" and fpga == numbers[-1 if enters else 0]
            strip = board.link_port if linked and not host and board.link_port else board.host_port
        return (strip.left + strip.right) / 2, (strip.bottom + strip.top) / 2

    # Cards

    def _ways(self, fpga: str) -> Iterator[_Way]:
        """Yield the streams of a card that leave a module, as the judge's own routes have them."""
        phase = self.phase
        for channel in phase.channels:
            source, target = (phase.module_of.get(channel[side], "") for side in ("source", "target"))
            if source and source == target:
                continue
            ends, route = phase.ends(channel), phase.route(channel)
            if ends is None or route is None:
                raise ValueError(f"no route of {channel['name']}")
            passed = {ends[0].fpga, ends[1].fpga, *(slot.fpga for step in route for slot in (step.source, step.target))}
            if fpga not in passed:
                continue
            stages = [slot for slot, _ in phase.registers(channel) if phase.slots[slot].fpga == fpga]
            slices = [slot for slot in channel["slice_slots"] if phase.slots[slot].fpga == fpga]
            here = [name if name and self._board(name)[0] == fpga else "" for name in (source, target)]
            # A card that only hands a stream on has a slice for it.
            alone = (
                []
                if here[0] or here[1] or stages or slices
                else [next(s.name for s in phase.slots.values() if s.fpga == fpga)]
            )
            yield _Way(channel, here[0], here[1], stages, slices or alone)

    def _check_card(self, fpga: str) -> None:
        phase, card, ways = self.phase, self.table["cards"][fpga], list(self._ways(fpga))
        where = self.files.path(f"{fpga}/top/top.v")
        text, script = self.files.text(f"{fpga}/top/top.v"), self.files.text(f"{fpga}/top/assemble.tcl")
        clock, stubs = self.files.text(f"{fpga}/top/clock.xdc"), self.files.text(f"{fpga}/top/stubs.v")
        if (
            clock is not None
            and f"\ncreate_clock -name ap_clk -period {self.period_ns:.3f} [get_ports ap_clk]\n" not in clock
        ):
            phase.add(ASSEMBLY, self.files.path(f"{fpga}/top/clock.xdc"), f"its period is not {self.period_ns:.3f} ns")
        if stubs is not None:
            stated = {one.name: one.ports for one in read_verilog(stubs)}
            wanted = {row["implementation"]: self._ports(name) for name, row in card["modules"].items()}
            if stated != wanted:
                phase.add(TOP, self.files.path(f"{fpga}/top/stubs.v"), "its modules have not the ports of the plan's")
        found = read_verilog(text or "")
        if text is not None and ([one.name for one in found] != [card["top"]] or found[0].left):
            phase.add(TOP, where, f"is not the one module {card['top']}, or holds something else")
        elif text is not None:
            slrs = _Traced(self, fpga, found[0], where).check(ways)
            if script is not None:
                self._check_script(fpga, script, slrs)
        self._check_moves(fpga, ways)
        self._check_bench(fpga)

    def _first(self, module: str) -> str:
        """Return the cell whose checkpoint a module shares; nothing if no other shares its own."""
        members = self._members(self.rows[module]["implementation"])
        return str(self.rows[members[0]]["cell"]) if len(members) > 1 else ""

    def _check_moves(self, fpga: str, ways: list[_Way]) -> None:
        """Judge the scripts that move checkpoints, which a card without such has none of."""
        card, path = self.table["cards"][fpga], f"rapidwright/stitch_{fpga}.py"
        own = [name for name in self.phase.modules if name in card["modules"] and self._first(name)]
        where = self.files.path(path)
        if not own:
            if self.files.exists(path):
                self.phase.add(ASSEMBLY, where, "no module of this card shares a checkpoint")
            return
        text, library = self.files.text(path), self.files.text(f"rapidwright/{MOVES}")
        shipped = shipped_file("tcl", MOVES)
        if library is not None and shipped is not None and library != shipped.read_text(encoding="utf-8"):
            self.phase.add("shipped-file-differs", f"rapidwright/{MOVES}", "floorflow ships another file of this name")
        name_of = {row["cell"]: name for name, row in self.rows.items()}
        channels = {channel["name"]: padded(channel["width_bits"]) for channel in self.phase.channels}
        moved = [
            stitch_moves.Moved(
                self.rows[name]["cell"],
                self.rows[name]["implementation"],
                self._first(name),
                self._pblock(name_of[self._first(name)])["ranges"],
                self._pblock(name)["ranges"],
                {port: channels[told] for port, told in self.rows[name]["ports"].items()},
            )
            for name in own
        ]
        streams = [
            (self._end(way.source, way.channel["name"], "m"), self._end(way.target, way.channel["name"], "s"))
            for way in ways
            if {way.source, way.target} <= {*own} and not way.stages and not way.slices
        ]
        for fault in () if text is None else stitch_moves.faults(text, card["top"], moved, streams):
            self.phase.add(ASSEMBLY, where, fault)

    def _check_bench(self, fpga: str) -> None:
        """Judge the words and files of the bench, which there is where all edges are the network's."""
        card, channels = self.table["cards"][fpga], {channel["name"]: channel for channel in self.phase.channels}
        if len(self.table["cards"]) > 1 or not card["edges"]:
            return
        edges = sorted(card["edges"], key=lambda port: (port[0] != "s", int(port.rpartition("_")[2])))
        bench, script = (self.files.text(f"{fpga}/sim/{name}") for name in ("testbench.sv", "run.sh"))
        wanted = {port: str(padded(channels[card["edges"][port]]["width_bits"])) for port in edges}
        if bench is not None and {port: bits for bits, port in re.findall(_BENCH_END, bench)} != wanted:
            self.phase.add(TOP, self.files.path(f"{fpga}/sim/testbench.sv"), "its ends are not the card's")
        words = [
            (str(number + 2), port, str(channels[told]["width_bits"]), str(channels[told]["words_per_frame"]))
            for number, port in enumerate(edges)
            for told in [card["edges"][port]]
        ]
        if script is not None and sorted(re.findall(_BENCH_WORDS, script)) != sorted(words):
            self.phase.add(ASSEMBLY, self.files.path(f"{fpga}/sim/run.sh"), f"its words are not those of {edges}")

    def _end(self, module: str, channel: str, side: str) -> tuple[str, str]:
        row = self.rows[module]
        return row["cell"], next(p for p, told in row["ports"].items() if told == channel and p[0] == side)

    def _check_script(self, fpga: str, text: str, slrs: Mapping[str, int]) -> None:
        where, card = self.files.path(f"{fpga}/top/assemble.tcl"), self.table["cards"][fpga]
        flat = text.replace(" \\\n    ", " ")
        expected = f"-top {{{card['top']}}} -part {{{self.boards[fpga].raw['part']}}} "
        if expected not in flat:
            self.phase.add(ASSEMBLY, where, f"is for another top or part, expected {expected}")
        cells, stated = dict[str, str](), dict[str, int]()
        for kind, name, rest in _ROW.findall(flat):
            if kind == "cells":
                cells[name] = rest
            elif kind == "slrs":
                stated |= dict.fromkeys(rest.split(), int(name.removeprefix("SLR")))
        wanted = {row["cell"]: f"{row['cell']} {self._first(name)}".strip() for name, row in card["modules"].items()}
        self.phase.expect(ASSEMBLY, where, "cells", cells, wanted)
        self.phase.expect(ASSEMBLY, where, "registers by SLR", stated, dict(slrs))


@dataclass(frozen=True)
class _Traced:
    """The top of a card, followed stream by stream."""

    judged: _Judged
    fpga: str
    module: VerilogModule
    where: str

    def check(self, ways: list[_Way]) -> dict[str, int]:
        """Judge modules, streams and resets; return the SLR of every register and reset that the plan has."""
        phase, card = self.judged.phase, self.judged.table["cards"][self.fpga]
        modules = {row["cell"]: row["implementation"] for row in card["modules"].values()}
        own = {name: one.module for name, one in self.of.items() if not one.module.startswith(PREFIX)}
        phase.expect(TOP, self.where, "modules", own, modules)
        channels = {way.channel["name"]: way.channel for way in ways}
        if self.module.ports != _ports_of({port: channels[told] for port, told in card["edges"].items()}):
            phase.add(TOP, self.where, "its ports are not the streams at the card's edges")
        if any(one.joined.get("ap_clk" if name in modules else "clk") != "ap_clk" for name, one in self.of.items()):
            phase.add(TOP, self.where, "a cell has another clock")
        slrs, used = dict[str, int](), {*modules}
        for way in ways:
            cells = self._follow(way)
            expected = card["streams"][way.channel["name"]]["registers"]
            phase.expect(TOP, self.where, f"registers of {way.channel['name']}", [cell for cell, _ in cells], expected)
            slrs |= dict(cells)
            used |= {cell for cell, _ in cells}
        resets = self._resets({*slrs.values()}, card["modules"])
        used |= {*resets, card["resets"].get("", "")}
        for cell in sorted({*self.of} - used):
            phase.add(TOP, self.where, f"cell {cell} is on no stream of the plan")
        return slrs | resets

    @cached_property
    def of(self) -> dict[str, Instance]:
        """The instances by their names."""
        return {one.name: one for one in self.module.instances}

    def _reset_of(self, slr: int) -> str:
        return f"{self.judged.table['cards'][self.fpga]['resets'].get(f'SLR{slr}')}_n"

    def _follow(self, way: _Way) -> list[tuple[str, int]]:
        """Return the registers of a stream as they follow one another, each with its SLR, after judging each."""
        phase, name, bits = self.judged.phase, way.channel["name"], padded(way.channel["width_bits"])
        wires = self._wires_at(way.source, name, enters=False)
        cells, stages, slices = list[tuple[str, int]](), list(way.stages), list(way.slices)
        chain: list[str] = []
        while (register := self._reading(wires)) is not None:
            kind = register.module.removeprefix(PREFIX)
            at = (slices or [""])[0] if kind == "slice" else (stages or [""])[0]
            if kind == "landing":
                at = self._beyond(way, chain, stages)
            elif kind == "slice":
                slices = slices[1:]
            else:
                chain, stages = [*chain, at], stages[1:]
            slot = phase.slots.get(at)
            for fault in self._faults(register, wires, bits, chain, self._reset_of(slot.slr if slot else -1)):
                phase.add(TOP, f"{self.where} {name}", f"{register.name}: {fault}")
            if slot is None or len(cells) > len(self.of):
                phase.add(TOP, f"{self.where} {name}", f"{register.name} is more than the plan has")
                break
            cells.append((register.name, slot.slr))
            if kind == "landing":
                chain = []
            wires = register.joined.get("out_data", "").removesuffix("_tdata")
        if stages or slices or chain:
            phase.add(TOP, f"{self.where} {name}", f"it lacks {len(stages)} stages, {len(slices)} slices or a landing")
        if wires != self._wires_at(way.target, name, enters=True) or self.module.wires.get(f"{wires}_tdata") != bits:
            phase.add(TOP, f"{self.where} {name}", "it does not end at the plan's target, or not as wide")
        return cells

    def _beyond(self, way: _Way, chain: list[str], left: list[str]) -> str:
        """Return the slot behind the boundary that a chain of stages crosses."""
        if not chain or chain[-1] != chain[0]:
            return (chain or [""])[-1]
        phase, slots = self.judged.phase, [name for name, s in self.judged.phase.slots.items() if s.fpga == self.fpga]
        ends = phase.ends(way.channel)
        goal = left[0] if left else ends[1].name if ends and ends[1].fpga == self.fpga else chain[0]
        here = slots.index(chain[0])
        up = 1 if goal in slots and slots.index(goal) >= here else -1
        return slots[here + up] if 0 <= here + up < len(slots) else ""

    @staticmethod
    def _faults(one: Instance, wires: str, bits: int, chain: list[str], reset: str) -> Iterator[str]:
        kind = one.module.removeprefix(PREFIX)
        starts = kind == "stage" and len(chain) == 1
        valid = f"{wires}_tvalid && {wires}_tready" if starts else f"{wires}_tvalid"
        out = one.joined.get("out_data", "").removesuffix("_tdata")
        back, forth = ("in_room", "out_ready") if kind == "landing" else ("in_ready", "out_ready")
        if kind == "stage":
            back, forth = "in_room", "out_room"
        wanted = {"clk": "ap_clk", "in_data": f"{wires}_tdata", "in_valid": valid, back: f"{wires}_tready"}
        wanted |= {"out_data": f"{out}_tdata", "out_valid": f"{out}_tvalid", forth: f"{out}_tready"}
        wanted |= {} if kind == "stage" else {"rst_n": reset}
        if one.joined != wanted:
            odd = sorted(port for port in one.joined.keys() | wanted.keys() if one.joined.get(port) != wanted.get(port))
            yield f"ports {odd} are joined otherwise than a {kind} of the stream's"
        if one.parameters.get("BITS") != str(bits):
            yield f"has {one.parameters.get('BITS')} bits, the stream {bits}"
        if kind == "landing":
            depth, stages = (int(one.parameters.get(name, "0")) for name in ("DEPTH", "STAGES"))
            # As many words are under way each way as there are stages, and one in each register of the landing.
            if stages != len(chain) or depth & (depth - 1) or depth < 2 * stages + 4:
                yield f"has {depth} words for {stages} stages, the chain has {len(chain)}"

    def _wires_at(self, module: str, channel: str, *, enters: bool) -> str:
        """Return the wires at a module's port of a stream, or at the edge, where all three of it are joined."""
        card = self.judged.table["cards"][self.fpga]
        side = "s" if enters else "m"
        if module:
            row = card["modules"][module]
            port = next(p for p, told in row["ports"].items() if told == channel and p[0] == side)
            joined = self.of[row["cell"]].joined
            ends = {joined.get(f"{port}_t{end}", "").removesuffix(f"_t{end}") for end in _ENDS}
        else:
            way = "m" if enters else "s"
            port = next(p for p, told in card["edges"].items() if told == channel and p[0] == way)
            pairs = [*self.module.assigned.items()]
            inward = [(f"_t{end}", (end == "ready") != (way == "m")) for end in _ENDS]
            ends = {
                (left if not outward else right).removesuffix(end)
                for end, outward in inward
                for left, right in pairs
                if (right if not outward else left) == f"{port}{end}"
            }
        return ends.pop() if len(ends) == 1 else ""

    def _reading(self, wires: str) -> Instance | None:
        found = [one for one in self.module.instances if one.joined.get("in_data") == f"{wires}_tdata"]
        return found[0] if len(found) == 1 else None

    def _resets(self, held: set[int], modules: Mapping[str, Any]) -> dict[str, int]:
        """Judge that each SLR has a reset of its own, fed from the next towards the host's; return their SLRs."""
        phase, resets = self.judged.phase, self.judged.table["cards"][self.fpga]["resets"]
        host = phase.slots[phase.fpgas[self.fpga]["host_slot"]].slr
        for name, row in modules.items():
            slot = phase.slot_of_module(name)
            held = held | ({slot.slr} if slot is not None else set())
            if slot is None or self.of[row["cell"]].joined.get("ap_rst_n") != self._reset_of(slot.slr):
                phase.add(TOP, self.where, f"{row['cell']} has not the reset of its SLR")
        span = range(min({host, *held}), max({host, *held}) + 1)
        phase.expect(TOP, self.where, "resets", sorted(resets), sorted(["", *(f"SLR{slr}" for slr in span)]))
        feeds = {"": "ap_rst_n"}
        feeds |= {
            f"SLR{slr}": f"{resets.get('' if slr == host else f'SLR{slr + (1 if slr < host else -1)}')}_n"
            for slr in span
        }
        for key, source in feeds.items():
            cell = resets.get(key, "")
            joined = self.of[cell].joined if cell in self.of else {}
            if joined != {"clk": "ap_clk", "in_n": source, "out_n": f"{cell}_n"}:
                phase.add(TOP, self.where, f"the reset {cell or key} does not come from {source}")
        return {resets[f"SLR{slr}"]: slr for slr in span if f"SLR{slr}" in resets}


_ENDS = ("data", "valid", "ready")


def _ports_of(streams: Mapping[str, ChannelRecord]) -> dict[str, tuple[str, int]]:
    """Return direction and bits of clock, reset and every wire of some streams, by what these are called."""
    ports = {"ap_clk": ("input", 1), "ap_rst_n": ("input", 1)}
    for name, channel in streams.items():
        there, back = ("input", "output") if name.startswith("s_axis_") else ("output", "input")
        ports |= {f"{name}_tdata": (there, padded(channel["width_bits"])), f"{name}_tvalid": (there, 1)}
        ports[f"{name}_tready"] = (back, 1)
    return ports


def _strip(port: Any, pblock: PblockRecord) -> Rectangle:
    """Return the tiles of a port at the edge of its pblock's box."""
    areas = [Rectangle.of(one) for one in pblock["rectangles"]]
    box = areas[0]
    for area in areas[1:]:
        box = box.around(area)
    side, first, last = port["side"], port["first"], port["last"]
    if side in ("left", "right"):
        return Rectangle(getattr(box, side), first, getattr(box, side), last)
    return Rectangle(first, getattr(box, side), last, getattr(box, side))


def _columns(device: Device, kind: str) -> list[int]:
    found: list[int] = device.raw["site_columns"][kind]
    return found
