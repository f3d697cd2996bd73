"""Let open tools place a plan of floorflow, and count how many cells lie in the boxes that it gave them.

    python examples/open_proof/proof.py OUT

plans ``chain.json`` for a GateMate of two dies and for an xc7z020, synthesises the plan's own RTL with pyosys, and lets
nextpnr place it without boxes, in the plan's, and in the same boxes dealt out badly, each by three seeds. Plans,
netlists, placements, ``table.md`` and ``placed.png`` are in OUT.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # boxkit is here, as if it had been installed

import floorflow as ff  # noqa: E402

SOURCES = [*sorted((HERE / "rtl").glob("*.sv")), HERE.parents[1] / "rtl" / "floorflow_link_prbs.sv"]
FLOORPLANS = ("free", "planned", "scrambled")
SEEDS = (1, 2, 3)
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_FIXED = 4
"""nextpnr's STRENGTH_FIXED: its placer moves no such cell."""
_MOST_SECONDS = 300
_INSTANCE = re.compile(r"(?:\$flatten\\)?([A-Za-z]\w*)[.]")
_SITES = re.compile(r"SLICE_X(\d+)Y(\d+):SLICE_X(\d+)Y(\d+)")
_PLACE = re.compile(r"X(\d+)Y(\d+)[/_]")
_FMAX = re.compile(r"Max frequency for clock .*?: ([\d.]+) MHz")


@dataclass(frozen=True)
class Box:
    """A rectangle in columns and rows of a tool's grid, inclusive."""

    left: int
    bottom: int
    right: int
    top: int

    def holds(self, x: int, y: int) -> bool:
        """Whether a place is inside."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


Boxes = Mapping[str, Box]


@dataclass(frozen=True)
class Placement:
    """What a tool placed.

    ``cells`` are those that its placer was free to place, as the instance in top.sv (empty: none, clock buffers and
    pads) and the place of each. ``wire`` is half the perimeter around each net, summed, without clock and reset;
    ``fmax_mhz`` what the tool tells by its delays over the distances of the placement: nothing is routed.
    """

    cells: Sequence[tuple[str, int, int]]
    wire: int
    fmax_mhz: float

    def inside(self, boxes: Boxes) -> tuple[int, int]:
        """Return how many cells lie in the box of their instance, and how many have one."""
        boxed = [(boxes[name], x, y) for name, x, y in self.cells if name in boxes]
        return sum(box.holds(x, y) for box, x, y in boxed), len(boxed)


class GateMate:
    """CCGM1A2 of Cologne Chip: two dies one above the other, placed by nextpnr-himbaechel-gatemate."""

    name = "gatemate"
    title = "GateMate CCGM1A2"
    platform = str(HERE / "gatemate-a2.yaml")
    cap = 0.03  # of each die, so that the chain is too much for one
    effort = "default"
    edges = (132,)  # between the dies, in the tool's rows

    def box(self, pblock: Any) -> Box:
        """Return a pblock in the tool's grid: the first CPE is at 3,3, and 6 rows of edges lie between the dies."""
        left, bottom, right, top = map(int, _SITES.fullmatch(pblock.ranges[0]).groups())
        up = 9 if bottom >= 128 else 3
        return Box(left + 3, bottom + up, right + 3, top + up)

    def synthesise(self, top: Path, netlist: Path) -> None:
        """Map module by module and flatten afterwards, so that each cell's name tells its instance."""
        mapped = "synth_gatemate -top top -luttree -nomx8 -nobram -nomult -noflatten -noiopad -noclkbuf"
        pads = "iopadmap -bits -inpad CC_IBUF Y:I -outpad CC_OBUF A:O"
        _yosys(top, [mapped, _FLATTEN, pads, "clkbufmap -buf CC_BUFG O:I", "clean"], netlist)

    def place(self, netlist: Path, boxes: Boxes, folder: Path, seed: int) -> Placement:
        """Place a netlist with the boxes of instances in a CCF file; all else is left alone."""
        scopes = {scope: boxes[name] for scope, name in _scopes(netlist).items() if name in boxes}
        # The tool adds 2 to what it reads.
        texts = {s: f"x{b.left - 2}y{b.bottom - 2}x{b.right - 2}y{b.top - 2}" for s, b in sorted(scopes.items())}
        lines = ["start floorplanning", *(f"top {s}; pb:{t}" for s, t in texts.items()), "end floorplanning", ""]
        (folder / "boxes.ccf").write_text("\n".join(lines))
        options = ["--device", "CCGM1A2", "--vopt", "allow-unconstrained", "--vopt", "ccf=boxes.ccf"]
        return _placed("yowasp-nextpnr-himbaechel-gatemate", options, netlist, folder, seed)


class Generic:
    """The columns of an xc7z020 as floorflow knows them, placed by nextpnr-generic; wires and delays are not AMD's."""

    name = "generic"
    title = "columns of an xc7z020"
    platform = "xc7z020"
    cap = 0.7
    effort = "fast"  # the proof that no placement is better takes a minute here
    edges = ()

    def box(self, pblock: Any) -> Box:
        """Return a pblock, which is in the grid's own columns and rows."""
        (only,) = pblock.rectangles
        return Box(only.left, only.bottom, only.right, only.top)

    def synthesise(self, top: Path, netlist: Path) -> None:
        """Map to LUTs of six inputs and plain flip-flops."""
        files = HERE / "nextpnr"
        mapped = [
            "synth -top top",
            "dfflegalize -cell $_DFF_P_ x",
            "abc -lut 6",
            "clean",
            f"techmap -map {files}/map.v",
        ]
        _yosys(top, [f"read_verilog -lib {files}/cells.v", *mapped, _FLATTEN, "clean"], netlist)

    def place(self, netlist: Path, boxes: Boxes, folder: Path, seed: int) -> Placement:
        """Place a netlist on the die's CLBs, with pads where floorflow takes the streams of a bare part to end."""
        (folder / "fabric.json").write_text(json.dumps(_fabric(ff.platform(self.platform).loaded.fpgas[0])))
        places = {name: [box.left, box.bottom, box.right, box.top] for name, box in boxes.items()}
        (folder / "boxes.json").write_text(json.dumps({"boxes": places, "instance": _INSTANCE.pattern}))
        hooks = {"--pre-pack": "fabric.py", "--pre-place": "boxes.py"}
        options = [word for hook, file in hooks.items() for word in (hook, str(HERE / "nextpnr" / file))]
        # At the density that it takes by itself, 0.9, version 0.4 does not end for some seeds.
        options += ["--placer-heap-beta", "1.0"]
        return _placed("nextpnr-generic", options, netlist, folder, seed)


Tool = GateMate | Generic
TOOLS: tuple[Tool, ...] = (GateMate(), Generic())


@dataclass(frozen=True, eq=False)
class Proof:
    """A plan of the chain on a die: modules in the stream's order, the module of each instance, its box by floorplan.

    Each engine has a module of its own name.
    """

    tool: Tool
    out: Path
    modules: Sequence[str]
    cells: Mapping[str, str]
    boxes: Mapping[str, Boxes]

    @classmethod
    def of(cls, tool: Tool, out: Path) -> Proof:
        """Plan, let floorflow judge the plan, and synthesise what its back end wrote."""
        plan = ff.plan(
            str(HERE / "chain.json"),
            tool.platform,
            backend="boxkit",
            fps=20_000,
            cap={"LUT": tool.cap, "FF": tool.cap},
            granularity="layer",
            keep_granularity=True,
            confidence="none",  # boxes as full as fill says, which do not grow
            fill={"LUT": 0.7},
            effort=tool.effort,
            bargains="none",
            plots=False,
        )
        plan.save(out / "plan", force=True, extras=False)
        if not ff.check(out / "plan"):
            sys.exit(f"floorflow check {out / 'plan'} finds violations")
        made = out / "plan" / "boxkit"
        tool.synthesise(made / "top.sv", out / "netlist.json")
        cells = json.loads((made / "cells.json").read_text())
        dealt = _dealt(tool, plan.plan.phases[0], cells)
        boxes = {name: {c: of[m] for c, m in cells.items() if m in of} for name, of in dealt.items()}
        return cls(tool, out, [engine.name for engine in plan.plan.networks[0].engines], cells, boxes)

    def place(self, floorplan: str, seed: int) -> Placement:
        """Place the netlist in the boxes of a floorplan."""
        folder = self.out / f"{floorplan}_{seed}"
        folder.mkdir(exist_ok=True)
        return self.tool.place(self.out / "netlist.json", self.boxes[floorplan], folder, seed)


def _dealt(tool: Tool, phase: Any, cells: Mapping[str, str]) -> dict[str, Boxes]:
    """Return the box of each module by floorplan: none, the plan's, and those of the plan dealt out badly.

    Badly: of all ways in which each module fits its box, that with the longest streams from middle to middle.
    """
    blocks = phase.pblocks
    boxes = {name: tool.box(block) for name, block in blocks.items()}
    streams = [(cells[c.source], cells[c.target]) for c in phase.channels if {c.source, c.target} <= set(cells)]

    def fits(order: Sequence[str]) -> bool:
        pairs = [(blocks[name].demand, blocks[other].supply) for name, other in zip(blocks, order, strict=True)]
        return all(demand.LUT <= supply.LUT and demand.FF <= supply.FF for demand, supply in pairs)

    def length(order: Sequence[str]) -> float:
        at = {name: boxes[other].middle for name, other in zip(blocks, order, strict=True)}
        return sum(abs(a - b) for one, other in streams for a, b in zip(at[one], at[other], strict=True))

    worst = max(filter(fits, permutations(blocks)), key=length)
    scrambled = {name: boxes[other] for name, other in zip(blocks, worst, strict=True)}
    return dict(zip(FLOORPLANS, ({}, boxes, scrambled), strict=True))


_FLATTEN = "flatten -noscopeinfo -scopename"


def _yosys(top: Path, commands: Sequence[str], netlist: Path) -> None:
    """Run yosys over the RTL of a plan, and write the netlist as JSON."""
    from pyosys import libyosys

    design = libyosys.Design()
    files = " ".join(map(str, [*SOURCES, top]))
    for command in (f"read_verilog -sv {files}", *commands, f"write_json {netlist}"):
        libyosys.run_pass(f"tee -q -o {netlist.with_suffix('.log')} {command}", design)


def _cells(netlist: Path) -> dict[str, Any]:
    """Return the cells of a netlist in JSON."""
    cells: dict[str, Any] = json.loads(netlist.read_text())["modules"]["top"]["cells"]
    return cells


def _instance(cell: str) -> str:
    """Return the instance of top.sv that a flattened cell lies in; empty for the top's own."""
    found = _INSTANCE.match(cell)
    return found[1] if found else ""


def _scopes(netlist: Path) -> dict[str, str]:
    """Return the scopes, as nextpnr tells them from attributes, in which cells of instances lie, and the instance."""
    named = {name: cell["attributes"] for name, cell in _cells(netlist).items() if _instance(name)}
    return {told.get("scopename", told.get("hdlname")): _instance(name) for name, told in named.items()}


def _fabric(fpga: Any) -> dict[str, Any]:
    """Return what ``nextpnr/fabric.py`` makes a device of: where CLBs and pads are."""
    device = fpga.device
    rows, layouts = device.rows_per_clock_region, enumerate(device.layouts)
    kinds = [(x, y * rows, device.legend[char].kind) for y, layout in layouts for x, char in enumerate(layout)]
    clbs = [(x, y + row) for x, y, kind in kinds if kind == "clb" for row in range(rows)]
    port = fpga.host_port
    pads = [(port.left, row) for row in range(port.bottom, port.top + 1)]
    return {"columns": device.column_count, "rows": device.row_count, "clbs": clbs, "pads": pads}


def _placed(program: str, options: Sequence[str], netlist: Path, folder: Path, seed: int) -> Placement:
    """Run nextpnr, and read back its netlist with the places, and the frequency that it told last.

    The program is that of the environment FLOORFLOW_NEXTPNR, if it has one, else that of the PATH.
    """
    own = Path(os.environ.get("FLOORFLOW_NEXTPNR", ""), "bin")
    # By its Python: an environment that was moved since has programs that name one which is gone.
    found = [str(own / "python"), str(own / program)] if (own / program).exists() else [shutil.which(program) or ""]
    if found == [""]:
        sys.exit(f"{program} is not installed, see {HERE / 'README.md'}")
    files = ["--json", os.path.relpath(netlist, folder), "--write", "placed.json"]
    words = [*found, *files, "--no-route", "--seed", str(seed), *options]
    try:
        done = subprocess.run(  # noqa: S603
            words, cwd=folder, capture_output=True, text=True, check=False, timeout=_MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        sys.exit(f"{program} did not end within {_MOST_SECONDS} s: {folder}")
    (folder / "log.txt").write_text(done.stdout + done.stderr)
    if done.returncode:
        sys.exit(f"{program} failed, see {folder / 'log.txt'}")
    return _read_back(folder / "placed.json", float(_FMAX.findall(done.stdout + done.stderr)[-1]))


def _read_back(placed: Path, fmax_mhz: float) -> Placement:
    cells: list[tuple[str, int, int]] = []
    nets: dict[int | str, set[tuple[str, int, int]]] = {}
    for name, cell in _cells(placed).items():
        x, y = map(int, _PLACE.match(cell["attributes"]["NEXTPNR_BEL"]).groups())
        at = (_instance(name), x, y)
        if int(cell["attributes"]["BEL_STRENGTH"], 2) < _FIXED:
            cells.append(at)
        for bit in (bit for bits in cell["connections"].values() for bit in bits):
            nets.setdefault(bit, set()).add(at)
    # Clock and reset go everywhere; all else joins a FIFO and the engine beside it, or a pad.
    local = [ends for ends in nets.values() if len({name for name, _, _ in ends}) <= 2]
    axes = [[end[axis] for end in ends] for ends in local for axis in (1, 2)]
    return Placement(cells, sum(max(axis) - min(axis) for axis in axes), fmax_mhz)


def table(proofs: Mapping[Proof, Mapping[str, Sequence[Placement]]]) -> str:
    """Return a table in Markdown: cells of the seed that leaves most outside, medians of wire and frequency."""
    lines = ["| die | floorplan | cells in their boxes | wire | MHz | of seeds |", "|---|---|---|---|---|---|"]
    for proof, found in proofs.items():
        for name, placements in found.items():
            inside, boxed = min(one.inside(proof.boxes[name]) for one in placements)
            mhz = [one.fmax_mhz for one in placements]
            numbers = (
                f"{median(one.wire for one in placements):,} | {median(mhz):.0f} | {min(mhz):.0f} to {max(mhz):.0f}"
            )
            cells = f"{inside:,} of {boxed:,}" if boxed else "no boxes"
            lines.append(f"| {proof.tool.title} | {name} | {cells} | {numbers} |")
    return "\n".join([*lines, ""])


def draw(proofs: Mapping[Proof, Mapping[str, Sequence[Placement]]], file: Path) -> None:
    """Draw the boxes, and the cells that the first seed placed: a panel for each die and floorplan."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(12, 7), layout="constrained")
    for part, (proof, found) in zip(figure.subfigures(1, len(proofs)), proofs.items(), strict=True):
        axes = part.subplots(1, len(found), sharex=True, sharey=True)
        for axis, (name, placements) in zip(axes, found.items(), strict=True):
            _panel(axis, proof, proof.boxes[name], placements[0])
            axis.set_title(f"{name}\nwire {placements[0].wire:,}\n{placements[0].fmax_mhz:.0f} MHz")
        axes[0].set_ylabel("rows")
        part.suptitle(proof.tool.title)
        part.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, markerscale=4)
    figure.savefig(file, dpi=80)


def _panel(axis: Any, proof: Proof, boxes: Boxes, placement: Placement) -> None:
    from matplotlib.patches import Rectangle

    for colour, module in zip(_COLOURS, proof.modules, strict=True):
        at = [(x, y) for name, x, y in placement.cells if proof.cells.get(name) == module]
        axis.scatter(*zip(*at, strict=True), s=2, color=colour, label=module)
        if box := boxes.get(module):
            size = (box.right - box.left + 1, box.top - box.bottom + 1)
            corner = (box.left - 0.5, box.bottom - 0.5)
            axis.add_patch(Rectangle(corner, *size, fill=False, linewidth=1.5, edgecolor=colour))
    for edge in proof.tool.edges:
        axis.axhspan(edge - 1.5, edge + 4.5, color="0.85")
    axis.set_aspect("equal")


def main(out: Path) -> None:
    """Prove it on both dies, and write the table and the picture."""
    proofs = {}
    for tool in TOOLS:
        (out / tool.name).mkdir(parents=True, exist_ok=True)
        proof = Proof.of(tool, out / tool.name)
        proofs[proof] = {name: [proof.place(name, seed) for seed in SEEDS] for name in FLOORPLANS}
    (out / "table.md").write_text(table(proofs))
    draw(proofs, out / "placed.png")
    print((out / "table.md").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
