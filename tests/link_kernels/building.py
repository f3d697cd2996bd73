"""Link kernels in a bench: SystemVerilog of two cards, built by Verilator and run."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from floorflow.emit.link_kernels import link_files
from floorflow.facts.link_kernels import LinkKernel, LinkStream
from tests.tools import need_module, need_program

HERE = Path(__file__).parent
WARNINGS = ("-Wall", "-Wno-DECLFILENAME", "-Wno-PINCONNECTEMPTY", "-Wno-UNUSED", "-Wno-MULTITOP")
"""What lint asks of the kernels: all but one file a module, open outputs of macros, and bits that nobody reads."""

Wires = dict[str, str]
"""Of each port of a unit the wire at it."""


@dataclass(frozen=True)
class Bench:
    """A built simulation."""

    program: Path

    def run(self, **settings: int) -> dict[str, int]:
        """Return the counts at the end; ``settings`` as in bench.cpp, times in nanoseconds."""
        arguments = [f"{name}={value}" for name, value in settings.items()]
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=True, timeout=120)
        rows = (line.split() for line in done.stdout.splitlines() if line.startswith("count "))
        return {name: int(count) for _, name, count in rows}


def built(folder: Path, sources: Mapping[str, str], units: Iterable[str], ends: Iterable[str]) -> Bench:
    """Build a bench of some units in the folder; ``ends`` are its counts, each a name and the wire that holds it."""
    verilator = need_program("verilator")
    for name, text in sources.items():
        (folder / name).write_text(text)
    (folder / "bench_top.sv").write_text(_TOP.format(units="".join(units), ends="".join(ends)))
    files = [*sorted(sources), "bench_top.sv", *(str(HERE / name) for name in ("xpm.sv", "bench.sv", "bench.cpp"))]
    command = [verilator, "--cc", "--exe", "--build", "-O3", "-Wno-fatal", "-Wno-lint", "--x-initial", "unique"]
    # To compile takes longer than to run, most of it for headers: one file holds all that is made of a bench.
    command += ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 VM_PARALLEL_BUILDS=0"]
    command += ["--top-module", "bench", "--Mdir", "made", "-j", "2", *files]
    made, kept = folder / "made", folder.parent / "verilated"
    for own in kept.glob("*.o"):
        made.mkdir(exist_ok=True)
        shutil.copy2(own, made)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kept.mkdir(exist_ok=True)
    for own in made.glob("verilated*.o"):  # Verilator's own code, the same in all benches of a session
        shutil.copy2(own, kept)
    return Bench(made / "Vbench")


_TOP = """\
module bench (
    input wire clk_0, clk_1, clk_2, rst_n_0, rst_n_1, rst_n_2,
    input wire [8:0] odds_in, odds_out, odds_link,
    input wire [15:0] latency,
    input wire [31:0] most, held, idle,
    input wire stop, flip, test
);
{units}
  final begin
{ends}  end
endmodule
"""


def wire(name: str, bits: int = 1) -> str:
    return f"  wire [{bits - 1}:0] {name};\n"


def unit(module: str, name: str, ports: Mapping[str, str], parameters: str = "") -> str:
    joined = ", ".join(f".{port}({at})" for port, at in ports.items())
    return f"  {module} {f'#({parameters}) ' if parameters else ''}{name} ({joined});\n"


def count(name: str) -> str:
    return f'    $display("count {name} %0d", {name});\n'


def clocked(card: int) -> Wires:
    return {"clk": f"clk_{card}", "rst_n": f"rst_n_{card}"}


def stream_wires(name: str, bits: int) -> str:
    return wire(f"{name}_data", bits) + wire(f"{name}_valid") + wire(f"{name}_ready")


def source(card: int, name: str, bits: int, seed: int, pace: int = 256) -> tuple[str, str]:
    """Return a counting source, which sends nothing while the bit of its seed is ``idle``; ``pace``: of its odds."""
    odds = f"idle[{seed}] ? 9'd0 : 9'((32'(odds_in) * {pace}) >> 8)"
    ports = {"most": "most", "odds": odds, "sent": f"sent_{name}"}
    ports |= {each: f"{name}_{each}" for each in ("data", "valid", "ready")}
    text = wire(f"sent_{name}", 32) + unit("bench_source", f"source_{name}", clocked(card) | ports, f"{bits}, {seed}")
    return text, count(f"sent_{name}")


def sink(card: int, name: str, bits: int, seed: int) -> tuple[str, str]:
    """Return a reader, which waits as long as the bit of its seed is ``held``."""
    counts = ("got", "wrong", "first", "last")
    ports = {"odds": f"held[{seed}] ? 9'd0 : odds_out"} | {each: f"{each}_{name}" for each in counts}
    ports |= {each: f"{name}_{each}" for each in ("data", "valid", "ready")}
    text = "".join(wire(f"{each}_{name}", 32) for each in counts)
    text += unit("bench_sink", f"sink_{name}", clocked(card) | ports, f"{bits}, {seed}")
    return text, "".join(count(f"{each}_{name}") for each in counts)


def axis(port: str, name: str) -> Wires:
    """Return the wires of a stream at a kernel's port."""
    return {f"{port}_t{each}": f"{name}_{each}" for each in ("data", "valid", "ready")}


def link_axis(port: str, name: str) -> Wires:
    return {f"{port}_t{each}": f"{name}_{each}" for each in ("data", "keep", "last", "valid", "ready")}


def cable(name: str, source: str, target: str) -> tuple[str, str]:
    """Return one direction of a link between the wires of two kernels."""
    text, counts = "", ("lost", "unsteady", "words")
    for end in (source, target):
        text += stream_wires(end, 512) + wire(f"{end}_keep", 64) + wire(f"{end}_last")
    text += "".join(wire(f"{each}_{name}", 32) for each in counts)
    ports = clocked(2) | {"latency": "latency", "odds": "odds_link", "stop": "stop", "flip": "flip"}
    ports |= {f"{way}_{each}": f"{end}_{each}" for way, end in (("in", source), ("out", target)) for each in _LINK}
    ports |= {each: f"{each}_{name}" for each in counts}
    text += unit("bench_cable", f"cable_{name}", ports, f"512, {len(name) + ord(name[-1])}")
    return text, "".join(count(f"{each}_{name}") for each in counts)


_LINK = ("data", "keep", "last", "valid", "ready")
_HOST = {
    "aw": ("addr", "valid", "ready"),
    "w": ("data", "strb", "valid", "ready"),
    "b": ("resp", "valid", "ready"),
    "ar": ("addr", "valid", "ready"),
    "r": ("data", "resp", "valid", "ready"),
}
_BITS = {"addr": 6, "data": 32, "strb": 4, "resp": 2}


def end(card: int, kernel: str, streams: Wires) -> tuple[str, str]:
    """Return a link kernel on a card with its host; its wires to the link are ``tx_<card>`` and ``rx_<card>``."""
    host = [f"{channel}{each}" for channel, parts in _HOST.items() for each in parts]
    bits = {f"{channel}{each}": _BITS.get(each, 1) for channel, parts in _HOST.items() for each in parts}
    counts = ("status", "tested", "wrong")
    text = "".join(wire(f"host_{card}_{name}", bits[name]) for name in host)
    text += "".join(wire(f"{each}_{card}", 32) for each in counts)
    ports = {name: f"host_{card}_{name}" for name in host} | {each: f"{each}_{card}" for each in counts}
    text += unit("bench_host", f"host_{card}", clocked(card) | {"test": "test"} | ports)
    own = {"ap_clk": f"clk_{card}", "ap_rst_n": f"rst_n_{card}", "ap_clk_2": "clk_2", "ap_rst_n_2": f"rst_n_{card}"}
    own |= streams | link_axis("link_tx", f"tx_{card}") | link_axis("link_rx", f"rx_{card}")
    own |= {f"s_axi_control_{name}": f"host_{card}_{name}" for name in host}
    return text + unit(kernel, f"end_{card}", own), "".join(count(f"{each}_{card}") for each in counts)


def pair(folder: Path, there: Sequence[LinkStream], back: Sequence[LinkStream]) -> Bench:
    """Build two kernels at the ends of a link, with a counting source and a reader at each stream."""
    kernels = [LinkKernel("near", tuple(there), tuple(back)), LinkKernel("far", tuple(back), tuple(there))]
    parts = [cable("there", "tx_0", "rx_1"), cable("back", "tx_1", "rx_0")]
    ports: list[Wires] = [{}, {}]
    for card, streams in enumerate((there, back)):
        for at, one in enumerate(streams):
            for side, port in ((card, f"s_axis_{at}"), (1 - card, f"m_axis_{at}")):
                ports[side] |= axis(port, f"{one.name}_{port[0]}")
            ends = (f"{one.name}_s", f"{one.name}_m")
            seed = 10 * card + at + 1
            parts += [(stream_wires(name, one.bits), "") for name in ends]
            parts += [source(card, ends[0], one.bits, seed), sink(1 - card, ends[1], one.bits, seed)]
    parts += [end(card, kernel.name, ports[card]) for card, kernel in enumerate(kernels)]
    return built(folder, link_files(kernels), (text for text, _ in parts), (ends for _, ends in parts))


def lint(folder: Path, sources: Mapping[str, str], top: str) -> str:
    """Return what Verilator's lint says of a kernel."""
    verilator = need_program("verilator")
    for name, text in sources.items():
        (folder / name).write_text(text)
    # The stand-ins for AMD's macros are no sources of ours.
    (folder / "macros.vlt").write_text('`verilator_config\nlint_off -file "*/xpm.sv"\n')
    command = [verilator, "--lint-only", *WARNINGS, "--top-module", top, "macros.vlt", str(HERE / "xpm.sv")]
    done = subprocess.run([*command, *sorted(sources)], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def counted(sources: Mapping[str, str], top: str, folder: Path) -> tuple[int, int]:
    """Return the flip-flops and bits of memory that pyosys counts in a kernel."""
    need_module("pyosys", "pyosys counts flip-flops and bits of memory")
    from pyosys import libyosys

    design = libyosys.Design()
    for name, text in sources.items():
        (folder / name).write_text(text)
    files = " ".join(str(path) for path in [*(folder / name for name in sorted(sources)), HERE / "xpm.sv"])
    whole = f"hierarchy -check -top {top}"
    for command in (f"read_verilog -sv {files}", whole, "proc", "flatten", "opt -full", "check -assert"):
        libyosys.run_pass(f"tee -q -o {folder / 'log'} {command}", design)
    libyosys.run_pass(f"tee -q -o {folder / 'count.json'} stat -json -width", design)
    found = json.loads((folder / "count.json").read_text())["design"]
    flip_flops = sum(int(n.rpartition("_")[2]) * k for n, k in found["num_cells_by_type"].items() if "dff" in n)
    return flip_flops, found["num_memory_bits"]
