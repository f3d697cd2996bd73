"""The bench of a card: run on the planned top by Verilator, with arrays as words, by the very commands for Vivado."""

import os
import random
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorflow.assets import asset_folder
from floorflow.backends.finn.host.run import packed
from floorflow.verify import check
from tests.stitch.circuits import passing
from tests.stitch.planted import swap
from tests.stitch.twins import twins
from tests.tools import need_program

WORDS = str(asset_folder("rtl") / "floorflow_words.py")
FRAMES, PIXELS = 2, 64
STAND_IN = """\
#!/bin/sh
echo "$(basename "$0") $*" >> tools.log
case "$(basename "$0")" in
xvlog) for file; do case "$file" in -*) ;; *) [ -s "$file" ] || exit 1 ;; esac; done ;;
xsim) exec "$SIMULATOR" ;;
esac
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The plan's folder, and its bench with modules that pass words on, built by Verilator."""
    verilator, folder = need_program("verilator"), tmp_path_factory.mktemp("bench")
    out = twins(folder)
    sources = [out / "fpga0/top/top.v", out / "fpga0/sim/testbench.sv", *sorted((out / "rtl").glob("*.*v"))]
    for path in sorted((out / "ooc").glob("*/*.v")):
        core = folder / f"{path.stem}_core.v"
        core.write_text(passing(path.read_text(), path.stem))
        sources += [path, core]
    command = [verilator, "--binary", "--timing", "-Wno-fatal", "-Wno-lint", "--top-module", "testbench", "-j", "2"]
    command += ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0 VM_PARALLEL_BUILDS=0", "--Mdir", "made"]
    command += map(str, sources)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out, folder / "made/Vtestbench"


def arrays() -> tuple[Any, Any]:
    """Return frames of bytes, four a word, and what modules pass on of them: 16 bits, as nibbles."""
    sent = np.random.default_rng(1).integers(0, 256, (FRAMES, 8, 8, 4))
    low = sent[..., :2]
    return sent, np.stack([low & 15, low >> 4], axis=-1).reshape(FRAMES, 8, 8, 4)


def _save(folder: Path, sent: Any, expected: Any) -> None:
    for name, array in (("in.npy", sent), ("out.npy", expected)):
        np.save(folder / name, array)


def ran(built: tuple[Path, Path], folder: Path, sent: Any, expected: Any) -> subprocess.CompletedProcess[str]:
    """Run the commands, with stand-ins for Vivado's programs, the last of which runs the bench."""
    out, simulator = built
    _save(folder, sent, expected)
    tools, netlist = folder / "bin", folder / "made/top_fpga0/top_fpga0_funcsim.v"
    for path in (tools, netlist.parent):
        path.mkdir(parents=True)
    netlist.write_text("module top_fpga0; endmodule\n")
    for name in ("xvlog", "xelab", "xsim"):
        (tools / name).write_text(STAND_IN)
        (tools / name).chmod(0o755)
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"  # a python3 that has numpy
    environment = {**os.environ, "PATH": path, "SIMULATOR": str(simulator)}
    command = ["bash", str(out / "fpga0/sim/run.sh"), "made", "in.npy", "out.npy"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.tools
def test_all_words_of_stimuli_pass_the_planned_top(built: tuple[Path, Path], tmp_path: Path) -> None:
    done = ran(built, tmp_path, *arrays())
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"all words are as expected: {FRAMES * PIXELS}\n" in done.stdout.replace("  ", "")
    called = [line.split()[0] for line in (tmp_path / "tools.log").read_text().splitlines()]
    assert called == ["xvlog", "xvlog", "xelab", "xsim"]


def _other(sent: Any, expected: Any) -> tuple[Any, Any]:
    expected[1, 3, 3, 1] ^= 4
    return sent, expected


WRONG: dict[str, tuple[Callable[[Any, Any], tuple[Any, Any]], str]] = {
    "a bit": (_other, "1 words are wrong"),
    "a frame too few": (lambda sent, expected: (sent, expected[:1]), "64 words are wrong"),
    "a frame too many": (lambda sent, expected: (sent[:1], expected), "others did not come"),
    "frames exchanged": (lambda sent, expected: (sent, expected[::-1]), "words are wrong"),
    "a value that is none of its bits": (lambda sent, expected: (sent + 200, expected), "have the values"),
    "elements that fill no words": (lambda sent, expected: (sent[:, :7], expected), "are no 64 words of 32 bits"),
}


@pytest.mark.tools
@pytest.mark.parametrize(("change", "told"), WRONG.values(), ids=WRONG)
def test_what_is_not_as_expected_fails(
    built: tuple[Path, Path], tmp_path: Path, change: Callable[[Any, Any], tuple[Any, Any]], told: str
) -> None:
    done = ran(built, tmp_path, *change(*arrays()))
    assert done.returncode != 0
    assert told in " ".join((done.stdout + done.stderr).split())


TYPES = {"BIPOLAR": (1, -1, 1), "BINARY": (1, 0, 1), "TERNARY": (2, -1, 1), "UINT4": (4, 0, 15), "INT8": (8, -128, 127)}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("each", [1, 3])
def test_words_are_packed_as_for_a_card(kind: str, each: int) -> None:
    """As host/run.py does it, which FINN+'s own packing is compared with (tests/tools_finn/test_packing.py)."""
    bits, least, most = TYPES[kind]
    draw = random.Random(each)
    values = [draw.choice([-1, 1]) if kind == "BIPOLAR" else draw.randint(least, most) for _ in range(4 * 5 * each)]
    end = {"type": kind, "element_bits": bits, "elements_per_word": each, "least": least, "most": most}
    size = -(-bits * each // 8)
    data = packed(values, end)
    expected = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    made = runpy.run_path(WORDS)["words"](np.array(values).reshape(4, -1), bits * each, 5)
    assert list(made) == expected


def test_a_tensor_of_finns_context_is_read(tmp_path: Path) -> None:
    sent, _ = arrays()
    np.savez(tmp_path / "verify_stitched_ip_rtlsim_0_SUCCESS.npz", hidden=sent)
    read = runpy.run_path(WORDS)["read"]
    assert (read(f"{tmp_path}/verify_stitched_ip_rtlsim_0_SUCCESS.npz:hidden") == sent).all()


@pytest.mark.parametrize(
    ("file", "edit", "expected"),
    [
        ("fpga0/sim/run.sh", swap("s_axis_0.hex 32 64", "s_axis_0.hex 32 65"), "stitch-script-differs"),
        ("fpga0/sim/testbench.sv", swap(r"source #\(\.BITS\(32\)", "source #(.BITS(24)"), "stitch-top-differs"),
        ("rtl/floorflow_stitch_bench.sv", swap("!== word", "=== word"), "shipped-file-differs"),
    ],
)
def test_a_planted_mistake_is_judged(tmp_path: Path, file: str, edit: Callable[[str], str], expected: str) -> None:
    path = twins(tmp_path) / file
    path.write_text(edit(path.read_text()))
    assert {violation.name for violation in check(tmp_path / "out")} == {expected}
