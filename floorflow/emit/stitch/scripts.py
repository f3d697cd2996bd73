"""All files of a stitched plan, and the data of its scripts; ``tcl/floorflow_stitch.tcl`` does the rest."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from floorflow.assets import asset_folder
from floorflow.emit.constraints import tcl_word
from floorflow.emit.stitch.bench import BENCH, WORDS, bench_files
from floorflow.emit.stitch.circuit import Card, Joint, Stitched, reset_of
from floorflow.emit.stitch.moves import MOVES, moves_script
from floorflow.emit.stitch.verilog import LIBRARY, stubs, top, wrapper
from floorflow.facts import Plan
from floorflow.facts.floorplan import PblockEntry, PlacedPortEntry
from floorflow.facts.stitched import RESET, Port, StitchedModule
from floorflow.facts.values import RectangleEntry
from floorflow.hardware import Device, Fpga, Platform, Rect, ranges
from floorflow.hardware.reach import reach_tiles

TABLE = "cells.json"
SCRIPTS = "vivado/floorflow_stitch.tcl"
MOST_OF_CYCLE = 0.8
"""Share of a cycle that a stream's way between two registers is taken to last at the most."""

_RUN = Path(__file__).with_name("run.tcl.in").read_text(encoding="utf-8")
_ASSEMBLE = Path(__file__).with_name("assemble.tcl.in").read_text(encoding="utf-8")


def stitch_files(plan: Plan, platform: Platform, header: str, plan_sha256: str) -> dict[str, str]:
    """Return the files of a plan that is stitched, none of others."""
    if not plan.options.backend_options.stitches:
        return {}
    stitched, fpgas = Stitched(plan), {fpga.name: fpga for fpga in platform.fpgas}
    names = [f"floorflow_stitch_{kind}.v" for kind in LIBRARY]
    files = {f"rtl/{name}": _shipped("rtl", name) for name in names}
    files[SCRIPTS] = _shipped("tcl", "floorflow_stitch.tcl")
    files[TABLE] = cells_json(plan_sha256, stitched)
    for name, modules in stitched.implementations.items():
        files[f"ooc/{name}/{name}.v"] = wrapper(header, name, modules[0].ports)
        files[f"ooc/{name}/run.tcl"] = run_script(header, stitched, name, fpgas)
    for name, card in stitched.cards.items():
        folder, part = f"{name}/top", fpgas[name].board.part
        files[f"{folder}/top.v"] = top(header, card)
        files[f"{folder}/stubs.v"] = stubs(header, card.modules)
        files[f"{folder}/clock.xdc"] = clock_xdc(header, stitched, card)
        files[f"{folder}/assemble.tcl"] = assemble_script(header, card, part, stitched.first_of)
        bench = bench_files(header, stitched, card)
        files |= bench | {f"rtl/{name}": _shipped("rtl", name) for name in (BENCH, WORDS) if bench}
        moves = moves_script(header, stitched, card)
        if moves is not None:
            files[f"rapidwright/stitch_{name}.py"] = moves
            files[f"rapidwright/{MOVES}"] = _shipped("tcl", MOVES)
    return files


def _shipped(folder: str, name: str) -> str:
    return (asset_folder(folder) / name).read_text(encoding="utf-8")


def run_script(header: str, stitched: Stitched, name: str, fpgas: Mapping[str, Fpga]) -> str:
    """Return the script of an implementation."""
    modules = stitched.implementations[name]
    # Modules of one implementation lie on one kind of die, whose parts may differ in name alone.
    part = fpgas[stitched.plan.fpga_of[modules[0].slot]].board.part
    return _RUN.format(
        header=header,
        name=name,
        told=", ".join(module.name for module in modules),
        places="\n".join(_place(stitched, module, fpgas) for module in modules),
        part=tcl_word(part),
        period=_ns(period_ns(stitched)),
        cells=" ".join(["reset", *(f"slice_{port.name}" for port in modules[0].ports), "core"]),
    )


def assemble_script(header: str, card: Card, part: str, first_of: Mapping[str, str]) -> str:
    """Return the script that stitches a card."""
    slrs: dict[str, list[str]] = {}
    for slr in card.resets:
        slrs.setdefault(slr, []).append(reset_of(slr))
    for joint in card.joints:
        for register in joint.registers:
            slrs.setdefault(card.slr_of[register.slot], []).append(register.cell)
    return _ASSEMBLE.format(
        header=header,
        card=card.name,
        cells="\n".join(
            f"lappend cells {{{' '.join(filter(None, (cell, cell, first_of.get(cell))))}}}"
            for cell in (module.cell for module in card.modules)
        ),
        slrs="\n".join(f"lappend slrs {{{slr} {{{' '.join(cells)}}}}}" for slr, cells in slrs.items()),
        top=tcl_word(card.top),
        part=tcl_word(part),
    )


def clock_xdc(header: str, stitched: Stitched, card: Card) -> str:
    """Return the clock of a card, and half a cycle for what lies beyond its edges."""
    period = period_ns(stitched)
    lines = [f"# {header}", f"create_clock -name ap_clk -period {_ns(period)} [get_ports ap_clk]"]
    half = _ns(period / 2)
    enters, leaves = ["ap_rst_n"], list[str]()
    for port in card.edges:
        there, back = (enters, leaves) if port.enters else (leaves, enters)
        there += [f"{port.name}_tdata[*]", f"{port.name}_tvalid"]
        back.append(f"{port.name}_tready")
    for command, ports in (("set_input_delay", enters), ("set_output_delay", leaves)):
        lines += [f"{command} -clock ap_clk {half} [get_ports {{{port}}}]" for port in ports]
    return "\n".join(lines) + "\n"


def cells_json(plan_sha256: str, stitched: Stitched) -> str:
    """Return the table of names: what modules, streams and registers of the plan are called in files."""
    cards = {name: _card_names(card) for name, card in stitched.cards.items()}
    content = {"schema": "floorflow-cells/1", "plan_sha256": plan_sha256, "cards": cards}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _card_names(card: Card) -> dict[str, object]:
    modules = {
        module.name: {
            "cell": module.cell,
            "implementation": module.implementation,
            "ports": {port.name: port.channel for port in module.ports},
        }
        for module in card.modules
    }
    streams = {
        joint.channel: {"wires": joint.name, "registers": [one.cell for one in joint.registers]}
        for joint in card.joints
    }
    edges = {port.name: port.channel for port in card.edges}
    resets = {"": RESET, **{slr: reset_of(slr) for slr in card.resets}}
    return {"top": card.top, "modules": modules, "streams": streams, "edges": edges, "resets": resets}


def period_ns(stitched: Stitched) -> float:
    """Return the clock's period."""
    return 1000.0 / stitched.plan.options.clock_mhz


def _ns(value: float) -> str:
    return f"{value:.3f}"


def _place(stitched: Stitched, module: StitchedModule, fpgas: Mapping[str, Fpga]) -> str:
    fpga = fpgas[stitched.plan.fpga_of[module.slot]]
    pblock, card = stitched.phase.pblocks[module.name], stitched.cards[fpga.name]
    placed = {(port.channel, port.direction): port for port in pblock.ports}
    joints = {joint.channel: joint for joint in card.joints}
    ports = []
    for port in module.ports:
        at = placed[port.channel, "in" if port.enters else "out"]
        outside = outside_ns(stitched, joints[port.channel], fpga)
        sites = " ".join(pin_sites(fpga.device, pblock, at))
        ports.append(f"{{{port.name} {{{sites}}} {_ns(outside)}}}")
    values = {
        "name": tcl_word(module.cell),
        "pblock": tcl_word(f"pblock_{module.cell}"),
        "ranges": tcl_word(" ".join(pblock.ranges)),
        "ports": f"{{{' '.join(ports)}}}",
    }
    words = " \\\n    ".join(f"{key} {value}" for key, value in values.items())
    return f"lappend places [dict create \\\n    {words}]"


def pin_sites(device: Device, pblock: PblockEntry, port: PlacedPortEntry) -> list[str]:
    """Return the ranges of SLICEs at which the pins of a port lie: on its tiles, else on the nearest columns."""
    box = pblock.box
    flat = {"bottom": box.bottom, "top": box.top}.get(port.side)
    left, right = (port.first, port.last) if flat is not None else (box.left, box.left)
    if port.side == "right":
        left = right = box.right
    bottom, top = (flat, flat) if flat is not None else (port.first, port.last)
    while True:
        strip = Rect(left, bottom, right, top)
        parts = [part for one in pblock.rectangles if (part := _both(strip, one)) is not None]
        found = [text for text in ranges(device, *parts) if text.startswith("SLICE_")]
        if found or (left <= box.left and right >= box.right):
            return found
        left, right = max(left - 1, box.left), min(right + 1, box.right)


def _both(one: Rect, other: RectangleEntry) -> Rect | None:
    left, right = max(one.left, other.left), min(one.right, other.right)
    bottom, top = max(one.bottom, other.bottom), min(one.top, other.top)
    return Rect(left, bottom, right, top) if left <= right and bottom <= top else None


def outside_ns(stitched: Stitched, joint: Joint, fpga: Fpga) -> float:
    """Return what of a cycle passes outside of a module at one end of a stream.

    That is its way to the next register, at the reach of a cycle, and half of what the way leaves of the cycle. The
    registers between the ends share their way out evenly.
    """
    source, target = (_point(stitched, cell, port, fpga) for cell, port in _ends(joint))
    tiles = (abs(source[0] - target[0]) + abs(source[1] - target[1])) / (sum(_is_clocked(joint)) + 1)
    share = min(MOST_OF_CYCLE, tiles / reach_tiles(stitched.plan.options.clock_mhz))
    return period_ns(stitched) * (1 + share) / 2


def _is_clocked(joint: Joint) -> Iterator[bool]:
    """Yield for each register whether it stands on the way: a landing is beside the last stage before it."""
    return (register.kind != "landing" for register in joint.registers)


def _ends(joint: Joint) -> tuple[tuple[str, Port], tuple[str, Port]]:
    return (joint.source, joint.source_port), (joint.target, joint.target_port)


def _point(stitched: Stitched, cell: str, port: Port, fpga: Fpga) -> tuple[float, float]:
    """Return the column and row of one end of a stream: its module's port, or the card's host or link."""
    if not cell:
        is_link = any(c.channel == port.channel and c.kind == "link" for c in stitched.phase.partition.crossings)
        is_host = _is_host(stitched, port, fpga)
        rect = fpga.link_port if is_link and not is_host and fpga.link_port is not None else fpga.host_port
        return (rect.left + rect.right) / 2, (rect.bottom + rect.top) / 2
    name = next(name for name, module in stitched.of_module.items() if module.cell == cell)
    pblock = stitched.phase.pblocks[name]
    at = next(p for p in pblock.ports if (p.channel, p.direction) == (port.channel, "in" if port.enters else "out"))
    middle, box = (at.first + at.last) / 2, pblock.box
    return {
        "left": (box.left, middle),
        "right": (box.right, middle),
        "bottom": (middle, box.bottom),
        "top": (middle, box.top),
    }[at.side]


def _is_host(stitched: Stitched, port: Port, fpga: Fpga) -> bool:
    """Whether an edge is that of the network on the host's card, not of a link."""
    channel = next(c for c in stitched.phase.channels if c.name == port.channel)
    end = channel.ends[0 if port.enters else 1]
    host = stitched.plan.platform.fpgas[0 if port.enters else -1].name
    return end.outside is not None and fpga.name == host
