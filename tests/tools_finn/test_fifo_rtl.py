"""The RTL of the FIFOs and crossings that floorflow's steps insert, as FINN+ or FINN main has it, in Verilator."""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import pytest
from onnx import helper

import floorflow as ff
from tests.plans import FAST, TFC
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
    modules = modules_of(chains)
    asked = [[modules[name, place], *fifo] for name, chain in chains.items() for place, fifo in enumerate(chain)]
    answer = finn_plus.ask(do="hdl", fifos=asked, folder=folder, part="xcu250-figd2104-2L-e")
    assert "error" not in answer, answer["error"]
    (source,) = (Path(path) for path in answer["sources"])
    text = readable(source.read_text(encoding="utf-8"))
    if mistake:
        assert mistake[0] in text
        text = text.replace(*mistake)
    (folder / source.name).write_text(text)
    return counted(chains, [*(f"{name}.v" for name in modules.values()), source.name], folder)


def modules_of(chains: Mapping[str, Sequence[Fifo]]) -> dict[tuple[str, int], str]:
    """Return what the module of each FIFO is called, by chain and place in it."""
    places = [(name, place) for name, chain in chains.items() for place in range(len(chain))]
    return {place: f"fifo_{number}" for number, place in enumerate(places)}


def counted(chains: Mapping[str, Sequence[Fifo]], sources: Sequence[str], folder: Path) -> dict[str, dict[str, int]]:
    """Simulate the modules of each chain, and return its counts."""
    verilator = need_program("verilator")
    (folder / "bench.sv").write_text(bench(chains, modules_of(chains)))
    command = [verilator, "--binary", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--assert", "--top-module", "bench"]
    command += ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 VM_PARALLEL_BUILDS=0", "--Mdir", "made"]
    command += [*sources, "bench.sv", str(HERE / "stream_test.sv")]
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


@pytest.mark.slow
def test_a_fifo_that_forgets_to_wait_is_found(tmp_path: Path, finn_plus: FinnPlus) -> None:
    chains = {"crossing": MEMORIES["crossing"]}
    mistake = ("uwire  bload = !Vld || ordy;", "uwire  bload = 1;")
    assert simulated(chains, tmp_path, finn_plus, mistake)["crossing"]["errors"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("planned", ["residual"], indirect=True)
def test_every_stream_of_a_built_plan_passes_its_fifos_and_crossings(
    planned: tuple[Path, Path],  # noqa: F811 - the fixture
    tmp_path: Path,
    finn_plus: FinnPlus,
) -> None:
    finn_plus.build(*planned, tmp_path / "build", "step_generate_hardware", network=True)
    chains = chains_in(tmp_path / "build" / "intermediate_models" / "step_generate_hardware.onnx")
    assert max(map(len, chains.values())) >= 3  # a FIFO of its own and one on each side of a boundary
    assert_sound(chains, simulated(chains, tmp_path, finn_plus))


OF_MAIN = """\
module {name} (
    input ap_clk, input ap_rst_n,
    input [{high}:0] in0_V_TDATA, input in0_V_TVALID, output in0_V_TREADY,
    output [{high}:0] out0_V_TDATA, output out0_V_TVALID, input out0_V_TREADY
);
  Q_srl #(.depth({depth}), .width({bits})) queue (
      .clock(ap_clk), .reset(!ap_rst_n), .count(), .maxcount(),
      .i_d(in0_V_TDATA), .i_v(in0_V_TVALID), .i_r(in0_V_TREADY),
      .o_d(out0_V_TDATA), .o_v(out0_V_TVALID), .o_r(out0_V_TREADY)
  );
endmodule
"""
"""A FIFO as FINN main's fifo_template.v has it: a Q_srl, which is its FIFO of up to 256 words."""
LONGEST = 256


def queues_of_main(
    chains: Mapping[str, Sequence[Fifo]], folder: Path, mistake: tuple[str, str] | None = None
) -> dict[str, dict[str, int]]:
    """Simulate each chain by the Q_srl.v of the checkout of FINN main that FLOORFLOW_FINN_MAIN names."""
    named = os.environ.get("FLOORFLOW_FINN_MAIN")
    if named is None:
        pytest.skip("FLOORFLOW_FINN_MAIN names no checkout of FINN main (0.10 or 39f0c9a), which is no package")
    text = (Path(named) / "finn-rtllib" / "fifo" / "hdl" / "Q_srl.v").read_text(encoding="utf-8")
    if mistake:
        assert mistake[0] in text
        text = text.replace(*mistake)
    (folder / "Q_srl.v").write_text(text)
    modules = modules_of(chains)
    own = [
        OF_MAIN.format(name=modules[name, place], high=bits - 1, bits=bits, depth=depth)
        for name, chain in chains.items()
        for place, (bits, depth, _) in enumerate(chain)
    ]
    (folder / "fifos.v").write_text("".join(own))
    return counted(chains, ["fifos.v", "Q_srl.v"], folder)


def chains_of(steps: Path) -> dict[str, list[Fifo]]:
    """Return the FIFO and slices of each stream that the steps insert, those alone that FINN main builds in RTL."""
    streams = json.loads(steps.read_text())["streams"]
    found = {}
    for stream in streams:
        depths = [stream["depth"], *(2 for _ in stream["slices"])]
        bits = -(-stream["target_width"] // 8) * 8
        found[stream["name"]] = [(bits, max(2, depth), "auto") for depth in depths if depth <= LONGEST]
    return {name: chain for name, chain in found.items() if chain}


def test_finn_mains_queues_lose_and_mix_nothing_at_any_depth(tmp_path: Path) -> None:
    depths = (2, 3, 4, 16, 17, 33, 100, LONGEST)
    chains = {f"{depth} words": [(24, depth, "auto")] for depth in depths}
    chains["crossing"] = [(24, 32, "auto"), (24, 2, "auto"), (24, 2, "auto")]
    assert_sound(chains, queues_of_main(chains, tmp_path))


def test_a_queue_that_forgets_to_wait_is_found(tmp_path: Path) -> None:
    chains = {"crossing": [(24, 32, "auto"), (24, 2, "auto"), (24, 2, "auto")]}
    assert queues_of_main(chains, tmp_path, ("assign i_b = i_b_reg;", "assign i_b = 0;"))["crossing"]["errors"] > 0


def test_every_stream_of_a_plan_for_finn_main_passes_its_fifos_and_crossings(tmp_path: Path) -> None:
    wishes = tmp_path / "wishes.yaml"
    wishes.write_text("fix: {MVAU_hls_0: fpga0.SLR0, MVAU_hls_1: fpga0.SLR1}\n")
    made = ff.plan(TFC, "alveo-u250", constraints=wishes, fps=1e6, **FAST)
    steps = tmp_path / "floorflow_plan.json"
    steps.write_bytes(made.files["finn/floorflow_plan.json"])
    chains = chains_of(steps)
    assert max(map(len, chains.values())) >= 3  # a FIFO of its own and one on each side of a boundary
    assert_sound(chains, queues_of_main(chains, tmp_path))
