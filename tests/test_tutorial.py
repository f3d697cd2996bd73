"""Every command of docs/tutorial.md that can run here runs, in order, as a user would go through it."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from floorflow.facts import read_plan
from tests.built_kernels import built, write
from tests.command_line import floorflow
from tests.emit.test_relink import LINK, OF_ONE, TOOL
from tests.plans import ROOT
from tests.test_documents import QUICKER

TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for line in TEXT.splitlines() if line.startswith("    ")]
ELSEWHERE = {
    "from brevitas.export": "needs PyTorch",
    "export_qonnx(": "needs PyTorch",
    "cd out/card/finn && PYTHONPATH=. finn build": "tests/tools_finn/test_steps.py",
    "vivado -mode batch": "tests/tcl/test_zynq_flow.py",
}
"""What begins so is not run here, and where it is."""


def run(command: str, folder: Path) -> None:
    if command.startswith("floorflow "):
        words = shlex.split(command)[1:]
        done = floorflow(*words, *QUICKER.get(words[0], ()), folder=folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    elif command.startswith(("bash ", "python3 ")):
        ran = subprocess.run(
            [{"python3": sys.executable}.get(word, word) for word in shlex.split(command)],
            cwd=folder,
            env={"PATH": f"{folder / 'bin'}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    else:
        assert any(command.startswith(start) for start in ELSEWHERE), f"nobody runs: {command}"


def stand_in(folder: Path, plan: str) -> None:
    """Lay down what FINN would have built of a plan."""
    out = folder / plan
    if out.exists() and not (out / "finn" / "build").exists():
        write(built(read_plan(out / "plan.json")), out / "finn" / "build")


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "run_link.sh").write_text(LINK)
    (tmp_path / "link_of_one").mkdir()
    (tmp_path / "link_of_one" / "run_link.sh").write_text(LINK)
    of_plus = re.sub(r"([io]dma)0", r"\1_0", OF_ONE).replace("stream_connect=", "sc=")
    (tmp_path / "link_of_one" / "config.txt").write_text(of_plus)
    (tmp_path / "bin").mkdir()
    for name, text in (("v++", TOOL), ("xclbinutil", "#!/bin/bash\necho 'xclbin: Frequency: 250 MHz'\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "reports").mkdir()
    used = {"LUT": 1000, "SRL": 0, "FF": 900, "BRAM_36K": 0, "BRAM_18K": 1, "URAM": 0, "DSP": 0}
    (tmp_path / "reports" / "post_synth_resources.json").write_text(
        json.dumps({"MVAU_hls_0": used, "VVAU_hls_0": used})
    )
    return tmp_path


@pytest.mark.parametrize("network", ["tfc_1w1a", pytest.param("", id="its own", marks=pytest.mark.slow)])
def test_the_way_can_be_walked(network: str, workplace: Path) -> None:
    for command in COMMANDS:
        run(re.sub("cnv_2w2a|mobilenet_v1_w4a4", network or r"\g<0>", command), workplace)
        for plan in ("out/card", "out/zynq"):
            stand_in(workplace, plan)
    steps = (workplace / "out" / "card" / "finn" / "floorflow_step.py").read_text()
    assert all(f"def {step}(" in steps for step in re.findall(r"`(floorflow_\w+)`", TEXT))
    assert (workplace / "link" / "a.xclbin").exists()
    assert (workplace / "link_of_one" / "a.xclbin").exists()
    assert (workplace / "out" / "zynq_bound" / "vivado" / "zynq_impl.tcl").exists()


def test_what_is_said_to_be_run_elsewhere_is_there() -> None:
    for place in ELSEWHERE.values():
        assert place == "needs PyTorch" or (ROOT / place).exists()
    assert len(COMMANDS) >= 12
