"""The RTL of the FIFOs and crossings that floorflow's steps insert, as FINN+ writes it, in Verilator."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import pytest
from onnx import helper

from tests.tools import need_program
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_verification import planned  # noqa: F401 - a fixture

pytestmark = pytest.mark.tools
HERE = Path(__file__).parent
Fifo = tuple[int, int, str]
"""Bits, words and memory."""
MEMORIES: Mapping[str, Sequence[Fifo]] = {
    "shift": [(24, 16, "srl")],
    "crossing": [(24, 32, "auto"), (24, 2, "auto"), (24, 2, "auto")],
    "distributed": [(24, 100, "distributed")],
    "block": [(40, 600, "block"), (40, 2, "auto")],
    "block of two": [(8, 1500, "block")],
    "ultra": [(72, 5000, "ultra"), (72, 2, "auto"), (72, 2, "auto")],
}
"""Chains of FIFOs in each memory, some with those of an SLR boundary behind them."""


def simulated(
    chains: Mapping[str, Sequence[Fifo]], folder: Path, finn_plus: FinnPlus, mistake: tuple[str, str] | None = None
) -> dict[str, dict[str, int]]:
    """Simulate each chain of FIFOs as FINN+ writes them, and return its counts."""
    verilator = need_program("verilator")
    rows = [(name, place, fifo) for name, chain in chains.items() for place, fifo in enumerate(chain)]
    modules = {(name, place): f"fifo_{number}" for number, (name, place, _) in enumerate(rows)}
    asked = [[modules[name, place], *fifo] for name, place, fifo in rows]
    answer = finn_plus.ask(do="hdl", fifos=asked, folder=folder, part="xcu250-figd2104-2L-e")
    assert "error" not in answer, answer["error"]
    (source,) = (Path(path) for path in answer["sources"])
    text = readable(source.read_text(encoding="utf-8"))
    if mistake:
        assert mistake[0] in text
        text = text.replace(*mistake)
    (folder / source.name).write_text(text)
    (folder / "bench.sv").write_text(bench(chains, modules))
    files = [*(f"{name}.v" for name in modules.values()), source.name, "bench.sv", str(HERE / "stream_test.sv")]
    command = [verilator, "--binary", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--assert", "--top-module", "bench"]
    command += ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "--Mdir", "made", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    run = subprocess.run([folder / "made" / "Vbench"], capture_output=True, text=True, check=False, timeout=120)
    told = re.findall(r"stream (.+) errors (\d+) stored (\d+) gaps (\d+)", run.stdout)
    keys = ("errors", "stored", "gaps")
    return {name: dict(zip(keys, map(int, counts), strict=True)) for name, *counts in told}


def readable(text: str) -> str:
    """Let Verilator 5.006 read FINN+'s fifo.sv: a struct and five arrays are packed, no statement is another."""
    text, structs = re.subn(r"typedef struct \{", "typedef struct packed {", text)
    text, arrays = re.subn(r"(dat_t|logic)(\s+)(A|ODatLo|ODatHi|OSelLo|OVld)\[(\w+)\]", r"\1 [0:\4-1]\2\3", text)
    assert (structs, arrays) == (1, 5)
    return text


def bench(chains: Mapping[str, Sequence[Fifo]], modules: Mapping[tuple[str, int], str]) -> str:
    lines = ["module bench;", "  logic clk = 0;", "  always #1 clk = !clk;", f"  wire [{len(chains) - 1}:0] done;"]
    for number, (name, chain) in enumerate(chains.items()):
        bits, depth = chain[0][0], sum(words for _, words, _ in chain)
        lines.append(f"  wire rst_{number};")
        joints = [f"{number}_{place}" for place in range(len(chain) + 1)]
        lines += [f"  wire [{bits - 1}:0] d_{joint}; wire v_{joint}, r_{joint};" for joint in joints]
        for place in range(len(chain)):
            ends = ((way, f"{number}_{place + after}") for after, way in enumerate(("in0", "out0")))
            ports = "".join(
                f", .{way}_V_TDATA(d_{e}), .{way}_V_TVALID(v_{e}), .{way}_V_TREADY(r_{e})" for way, e in ends
            )
            lines.append(f"  {modules[name, place]} f_{number}_{place} (.ap_clk(clk), .ap_rst_n(rst_{number}){ports});")
        first, last = f"{number}_0", f"{number}_{len(chain)}"
        lines.append(
            f'  stream_test #(.BITS({bits}), .DEPTH({depth}), .NAME("{name}")) t_{number} (clk, rst_{number}, '
            f"d_{first}, v_{first}, r_{first}, d_{last}, v_{last}, r_{last}, done[{number}]);"
        )
    return "\n".join([*lines, "  always @(posedge clk) if (&done) $finish;", "endmodule", ""])


def chains_in(graph: Path) -> dict[str, list[Fifo]]:
    """Return what FIFOs of a graph stand one behind another, by the name of the first."""
    nodes = [node for node in onnx.load(graph).graph.node if node.op_type == "StreamingFIFO_rtl"]
    makers = {node.output[0]: node for node in nodes}
    found: dict[str, list[Fifo]] = {}
    first: dict[str, str] = {}
    for node in nodes:
        told = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        bits = int(told["folded_shape"][-1]) * int(re.sub(r"\D", "", told["dataType"].decode()) or 1)
        before = makers.get(node.input[0])
        first[node.name] = node.name if before is None else first[before.name]
        found.setdefault(first[node.name], []).append((bits, told["depth"], told["ram_style"].decode()))
    return found


def assert_sound(chains: Mapping[str, Sequence[Fifo]], counts: Mapping[str, Mapping[str, int]]) -> None:
    """All words come, in order, once, at full rate where nothing stops them, and as many stay as are planned."""
    assert set(counts) == set(chains)
    for name, chain in chains.items():
        assert counts[name]["errors"] == 0, name
        assert counts[name]["gaps"] == 0, name
        assert counts[name]["stored"] >= sum(words for _, words, _ in chain), name


def test_fifos_of_every_memory_lose_and_mix_nothing_under_back_pressure(tmp_path: Path, finn_plus: FinnPlus) -> None:
    assert_sound(MEMORIES, simulated(MEMORIES, tmp_path, finn_plus))


def test_a_fifo_that_forgets_to_wait_is_found(tmp_path: Path, finn_plus: FinnPlus) -> None:
    chains = {"crossing": MEMORIES["crossing"]}
    mistake = ("uwire  bload = !Vld || ordy;", "uwire  bload = 1;")
    assert simulated(chains, tmp_path, finn_plus, mistake)["crossing"]["errors"] > 0


@pytest.mark.parametrize("planned", ["tfc"], indirect=True)
def test_every_stream_of_a_built_plan_passes_its_fifos_and_crossings(
    planned: tuple[Path, Path],  # noqa: F811 - the fixture
    tmp_path: Path,
    finn_plus: FinnPlus,
) -> None:
    finn_plus.build(*planned, tmp_path / "build", "step_generate_hardware", network=True)
    chains = chains_in(tmp_path / "build" / "intermediate_models" / "step_generate_hardware.onnx")
    assert max(map(len, chains.values())) >= 3  # a FIFO of its own and one on each side of a boundary
    assert_sound(chains, simulated(chains, tmp_path, finn_plus))
