"""What links several networks on a card: v++ would take it, and link.sh stops where the kernels are not the plan's."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import floorflow as ff
from floorflow.verify import check
from tests.conftest import made_once
from tests.emit.test_next import faults
from tests.emit.test_relink import TOOL
from tests.plans import EXAMPLES, FAST, TFC
from tests.verify.mutants import LINKED
from tests.verify.planting import Mutant
from tests.verify.tiny import write_folder
from tests.vitis_config import Card, Way, problems


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan of two networks on a U250, both over several SLRs, with FIFOs at the boundaries."""

    def make(place: Path) -> Path:
        models = [TFC, EXAMPLES / "zoo" / "tfc.onnx"]
        ff.plan(models, "alveo-u250", cap={"LUT": 0.15}, **FAST).save(place / "out")
        return place / "out"

    return made_once(tmp_path_factory, "two_networks_linked", make)


def config(folder: Path) -> str:
    return (folder / "vitis" / "floorflow.cfg").read_text()


def joined(text: str) -> list[list[str]]:
    """Return the streams: sending unit and port, receiving unit and port."""
    return [re.split("[.:]", line) for line in re.findall("^stream_connect=(.*)$", text, re.M)]


def test_the_plan_is_legal_and_says_that_it_is_built(both: Path) -> None:
    assert check(both) == []
    plan = json.loads((both / "plan.json").read_text())
    assert not any("cannot be built" in told or "not charged" in told for told in plan["warnings"])
    beside = Counter(item["name"] for item in plan["platform"]["infrastructure"])
    assert (beside["input_dma"], beside["output_dma"], beside["DDR[0] controller"]) == (2, 2, 1)
    told = (both / "NEXT.md").read_text()
    assert faults(both, told) == []
    assert "each build has the kernels of its network" in told
    assert "bash vitis/link.sh" in told


def test_what_nothing_links_still_ends_at_stitched_ips() -> None:
    made = ff.plan([TFC, EXAMPLES / "zoo" / "tfc.onnx"], "zcu104", **FAST)
    assert made.plan.warnings[0].startswith("cannot be built yet: FINN makes one design of one network")
    assert not [name for name in made.files if name.startswith(("vitis/", "host/"))]
    assert b"step_synthesize_bitfile" not in made.files["finn/tfc/build.py"]
    assert any("those of 1 more network are not charged" in told for told in made.plan.warnings)


def test_v_takes_the_configuration(both: Path) -> None:
    text = config(both)
    kernels: dict[str, dict[str, Way]] = {}
    unit_of = {}
    for kernel, unit in re.findall(r"^nk=(\w+):1:(\w+)$", text, re.M):
        unit_of[unit] = kernel
        kernels[kernel] = {"m_axi_gmem0": "memory"} if "dma" in unit else {}
    for source, out, target, into in joined(text):
        kernels[unit_of[source]][out] = "out"
        kernels[unit_of[target]][into] = "in"
    assert len(kernels) == len(unit_of) >= 7
    assert problems(text, Card(kernels, {"DDR": 4}, 4, 2)) == []


def test_steps_make_kernels_and_link_nothing(both: Path) -> None:
    for network in ("tfc_1w1a", "tfc"):
        for name in ("build.py", "build.yaml"):
            text = (both / "finn" / network / name).read_text()
            assert "floorflow_kernels" in text
            assert not re.search(
                "step_synthesize_bitfile|step_prepare_synthesis|floorflow_link|floorflow_constrain", text
            )
    data = [json.loads((both / "finn" / n / "floorflow_plan.json").read_text()) for n in ("tfc_1w1a", "tfc")]
    assert [one["kernel_prefix"] for one in data] == ["network0_", "network1_"]


@pytest.fixture
def builds(both: Path, tmp_path: Path) -> list[Path]:
    """Return what the two builds would leave, and beside it a v++ that only writes down what it is asked."""
    text, found = config(both), []
    unit_of = {unit: kernel for kernel, unit in re.findall(r"^nk=(\w+):1:(\w+)$", text, re.M)}
    for number in (0, 1):
        folder = tmp_path / f"build{number}" / "kernels"
        folder.mkdir(parents=True)
        own = {unit: kernel for unit, kernel in unit_of.items() if kernel.startswith(f"network{number}_")}
        for kernel in own.values():
            (folder / f"{kernel}.xo").write_text("")
        rows = [f"stream_connect={own[a]}.{i}:{own[b]}.{j}\n" for a, i, b, j in joined(text) if a in own]
        (folder / "connections.txt").write_text("".join(sorted(rows)))
        found.append(folder.parent)
    (tmp_path / "bin").mkdir()
    for name, script in (("v++", TOOL), ("xclbinutil", "#!/bin/bash\necho info\n")):
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)
    return found


def link(both: Path, builds: list[Path], *, version: str = "2022.2") -> subprocess.CompletedProcess[str]:
    root = builds[0].parent
    tool = root / "bin" / "v++"
    tool.write_text(tool.read_text().replace("2022.2", version))
    path = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", str(both / "vitis" / "link.sh"), str(root / "link"), *map(str, builds)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})


def test_the_kernels_of_both_are_linked_at_once(both: Path, builds: list[Path]) -> None:
    done = link(both, builds)
    assert done.returncode == 0, done.stderr
    asked = (builds[0].parent / "link" / "asked").read_text()
    assert "--platform xilinx_u250_gen3x16_xdma_4_1_202210_1" in asked
    assert "--kernel_frequency 250 " in asked
    assert sorted(re.findall(r"(\w+)\.xo", asked)) == sorted(re.findall(r"^nk=(\w+):", config(both), re.M))
    lines = (builds[0].parent / "link" / "floorflow.cfg").read_text()
    assert "@" not in lines
    assert "OPT_DESIGN.TCL.PRE" not in lines


def test_the_same_kernels_are_not_linked_anew(both: Path, builds: list[Path]) -> None:
    asked = builds[0].parent / "link" / "asked"
    said = []
    for _ in range(2):
        assert link(both, builds).returncode == 0
        said.append("--from_step vpl.impl" in asked.read_text())
    next((builds[0] / "kernels").glob("*.xo")).write_text("another")
    assert link(both, builds).returncode == 0
    assert [*said, "--from_step vpl.impl" in asked.read_text()] == [False, True, False]


def test_kernels_that_are_not_the_plans_are_not_linked(both: Path, builds: list[Path]) -> None:
    one = next((builds[1] / "kernels").glob("*.xo"))
    assert "of 2 builds, not 1" in link(both, builds[:1]).stderr
    assert "this is Vitis 2024.1" in link(both, builds, version="2024.1").stderr
    rows = builds[0] / "kernels" / "connections.txt"
    before = rows.read_text()
    rows.write_text(before.replace("m_axis_0", "m_axis_1", 1))
    assert "joins its kernels otherwise" in link(both, builds).stderr
    rows.write_text(before)
    one.unlink()
    assert "made other kernels" in link(both, builds).stderr
    rows.unlink()
    done = link(both, builds)
    assert (done.returncode, "holds no kernels" in done.stderr) == (2, True)
    assert not (builds[0].parent / "link").exists()


def test_the_host_says_how_it_runs_both(both: Path) -> None:
    command = [sys.executable, "-I", "-S", str(both / "host" / "run.py"), "--dry-run", "--output", "tfc=out.npy"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("tfc_1w1a and tfc on 1 x alveo-u250")
    assert said.count("load fpga0") == 1
    assert re.search(r"run [\d,]+ frames of tfc_1w1a and [\d,]+ frames of tfc at once", said)
    assert "write out.npy" in said
    done = subprocess.run([*command[:-1], "out.npy"], capture_output=True, text=True, check=False)
    assert (done.returncode, "give --output NETWORK=..." in done.stderr) == (2, True)


@pytest.mark.parametrize("mutant", LINKED.mutants, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, both: Path, tmp_path: Path) -> None:
    plan = json.loads((both / "plan.json").read_text(encoding="utf-8"))
    files = {
        str(path.relative_to(both)): path.read_text(encoding="utf-8")
        for path in sorted(both.rglob("*"))
        if path.is_file() and path.name != "plan.json"
    }
    mutant.spoil(plan, files)
    assert mutant.expected in {violation.name for violation in check(write_folder(tmp_path, plan, files))}
