"""Cards of a few modules in a row, made by hand, and benches of them and of planned ones by Verilator."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from floorflow.assets import asset_folder
from floorflow.emit.stitch.circuit import Card, Joint, Register
from floorflow.emit.stitch.verilog import LIBRARY, top, wrapper
from floorflow.facts.stitched import Port, StitchedModule, core_name
from tests.link_kernels.building import Bench, axis, built, sink, source, stream_wires, unit
from tests.tools import need_program

SHIPPED = {f"floorflow_stitch_{kind}.v": (asset_folder("rtl") / f"floorflow_stitch_{kind}.v") for kind in LIBRARY}
SLRS = {f"fpga0.SLR{number}": f"SLR{number}" for number in range(7)}


def port(channel: str, bits: int, *, enters: bool) -> Port:
    """Return the one port of a module or card its way."""
    return Port(channel, enters, 0, bits)


def row(bits: int, slices: int, crossings: Sequence[int]) -> Card:
    """Return a card with a module in the first SLR, slices, and a module behind boundaries with so many stages each."""
    slots = [*SLRS][: len(crossings) + 1]
    modules = [
        StitchedModule(
            f"m{at}", f"m{at}", f"impl_m{at}", slot, (port(into, bits, enters=True), port(out, bits, enters=False))
        )
        for at, (slot, into, out) in enumerate([(slots[0], "a", "b"), (slots[-1], "b", "c")])
    ]
    registers = [Register("slice", f"stream_1_slice_{at}", slots[0]) for at in range(slices)]
    for at, stages in enumerate(crossings):
        sides = [slots[at]] * ((stages + 1) // 2) + [slots[at + 1]] * (stages // 2)
        registers += [Register("stage", f"stream_1_stage_{at}_{n}", slot) for n, slot in enumerate(sides)]
        registers.append(Register("landing", f"stream_1_landing_{at}", slots[at + 1], stages))
    edges = (port("a", bits, enters=True), port("c", bits, enters=False))
    joints = (
        Joint("a", "stream_0", "", edges[0], "m0", modules[0].ports[0], ()),
        Joint("b", "stream_1", "m0", modules[0].ports[1], "m1", modules[1].ports[0], tuple(registers)),
        Joint("c", "stream_2", "m1", modules[1].ports[1], "", edges[1], ()),
    )
    resets = {SLRS[slot]: SLRS[slots[at - 1]] if at else "" for at, slot in enumerate(slots)}
    return Card("fpga0", "top_fpga0", tuple(modules), joints, edges, resets, SLRS)


def sources_of(card: Card) -> dict[str, str]:
    """Return the Verilog of a card, with modules that pass words on at once."""
    own = {module.implementation: module.ports for module in card.modules}
    texts = {name: path.read_text(encoding="utf-8") for name, path in SHIPPED.items()}
    texts |= {f"{name}.v": wrapper("made by hand", name, ports) for name, ports in own.items()}
    texts |= {f"{name}_core.v": passing(texts[f"{name}.v"], name) for name in own}
    return texts | {"top.v": top("made by hand", card)}


def passing(text: str, implementation: str) -> str:
    """Return a core for the wrapper in a text: what enters leaves at once, as many of its bits as fit."""
    head = text[text.index(f"module {implementation} (") : text.index(");") + 2]
    head = head.replace(f"module {implementation} (", f"module {core_name(implementation)} (")
    lines = [f"assign m_axis_0_{part} = s_axis_0_{part};" for part in ("tdata", "tvalid")]
    return "\n".join([head, *lines, "assign s_axis_0_tready = m_axis_0_tready;", "endmodule"]) + "\n"


def bench_of(folder: Path, sources: Mapping[str, str], top_name: str) -> Bench:
    """Build a bench of a card with one stream in and one out; words are compared by the bits that both have."""
    bits = {name: int(most) + 1 for most, name in re.findall(r"\[(\d+):0\] (\w)_axis_0_tdata", sources["top.v"])}
    narrow = min(bits.values())
    sent, came = source(0, "one", narrow, 3), sink(0, "one_out", narrow, 3)
    joined = {"ap_clk": "clk_0", "ap_rst_n": "rst_n_0"} | axis("s_axis_0", "wide") | axis("m_axis_0", "back")
    more = [stream_wires(name, bits[way]) for name, way in (("wide", "s"), ("back", "m"))]
    more += [stream_wires(name, narrow) for name in ("one", "one_out")]
    more.append(
        "  assign {wide_data, wide_valid, one_ready} = {"
        f"{bits['s']}'(one_data), one_valid, wide_ready}};\n"
        "  assign {one_out_data, one_out_valid, back_ready} = {"
        f"back_data[{narrow - 1}:0], back_valid, one_out_ready}};\n"
    )
    units = [*more, sent[0], came[0], unit(top_name, "card", joined)]
    return built(folder, sources, units, (sent[1], came[1]))


def lint(folder: Path, sources: Mapping[str, str], top_name: str) -> str:
    """Return what Verilator's lint says of all that is no stub."""
    for name, text in sources.items():
        (folder / name).write_text(text)
    off = "".join(f'lint_off -file "{name}"\n' for name in ("stubs.v", "*_core.v"))
    (folder / "stubs.vlt").write_text(f"`verilator_config\n{off}")
    command = [need_program("verilator"), "--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", top_name]
    done = subprocess.run(
        [*command, "stubs.vlt", *sorted(sources)], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr
