"""The back end that docs/backends.md shows is laid into a folder as it stands there, and plans its own model."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from floorflow.resources import Resources
from tests import command_line
from tests.command_line import Ended
from tests.plans import TFC
from tests.study import report_samples as samples

ROOT = Path(__file__).resolve().parents[2]
_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("example")
    for name, content in _FILE.findall((ROOT / "docs" / "backends.md").read_text(encoding="utf-8")):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(content)
    return made


def floorflow(folder: Path, *words: str) -> Ended:
    return command_line.floorflow(*words, path=(folder,), folder=folder)


@pytest.fixture(scope="module")
def planned(folder: Path) -> subprocess.CompletedProcess[str]:
    """Planned by a process of its own, which knows the back end by Python's path alone."""
    options = ("--backend", "mytool", "--backend-option", "lanes=16", "--no-plots", "--effort", "fast", "-o", "out")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    command = [sys.executable, "-m", "floorflow", "plan", "chain.json", "-p", "pynq-z1", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_it_plans_its_own_model(folder: Path, planned: subprocess.CompletedProcess[str]) -> None:
    assert planned.returncode == 0, planned.stderr
    assert "source fpga0/pblocks.tcl in it" in (folder / "out" / "NEXT.md").read_text()
    plan = json.loads((folder / "out" / "plan.json").read_text())
    assert (plan["options"]["backend"], plan["options"]["backend_options"]) == ("mytool", {"lanes": 16})
    # 4,096 values in 16 lanes, 9 cycles each; both engines need no fewer cycles than that.
    assert plan["summary"]["networks"][0]["interval_cycles"] == 4096 // 16 * 9
    assert [(e["kind"], e["role"], e["label"]) for e in plan["networks"][0]["engines"]] == [
        ("filter", "core", "filter")
    ] * 2
    assert json.loads((folder / "out" / "mytool" / "lanes.json").read_text())["sharpen"] == 16
    files = {path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*")}
    assert not any("finn" in name for name in files)
    assert plan["phases"][0]["networks"][0]["estimates"]["throughput"]["not_analysed"] == ""
    assert floorflow(folder, "check", "out").returncode == 0


def test_its_engines_are_cells_of_their_own_names_inside_the_shell(
    folder: Path, planned: subprocess.CompletedProcess[str]
) -> None:
    options = ("--backend", "mytool", "--no-plots", "--effort", "fast", "-o", "shell")
    assert floorflow(folder, "plan", "chain.json", "-p", "alveo-u250", *options).returncode == 0
    assert floorflow(folder, "check", "shell").returncode == 0
    constraints = folder / "shell" / "fpga0" / "pblocks.xdc"
    assert constraints.read_text().count("{level0_i/level1/level1_i/ulp/sharpen}") == 1
    assert "{sharpen}" in (folder / "out" / "fpga0" / "pblocks.xdc").read_text()
    constraints.write_text(constraints.read_text().replace("level0_i/level1/level1_i/ulp/sharpen", "level0_i/sharpen"))
    told = floorflow(folder, "check", "shell")
    assert (told.returncode, "cell-unknown" in told.stdout) == (1, True)


def test_its_part_of_the_judge_finds_what_is_wrong(folder: Path) -> None:
    options = ("--backend", "mytool", "--no-plots", "--effort", "fast", "-o", "wrong")
    assert floorflow(folder, "plan", "chain.json", "-p", "pynq-z1", *options).returncode == 0
    lanes = folder / "wrong" / "mytool" / "lanes.json"
    lanes.write_text(lanes.read_text().replace("64", "32"))
    told = floorflow(folder, "check", "wrong")
    assert (told.returncode, "mytool-lanes-differ" in told.stdout) == (1, True)


def test_it_is_inspected_and_compared(folder: Path) -> None:
    shown = floorflow(folder, "inspect", "chain.json", "--backend", "mytool", "--json")
    assert json.loads(shown.stdout)["engines"][0]["legal"]["lanes"] == [1, 2, 4, 8, 16, 32, 64]
    told = floorflow(folder, "compare", "chain.json", "-p", "pynq-z1", "--backend", "mytool", "--json")
    # Of the methods that are compared unless told, those that it has.
    assert [entry["method"] for entry in json.loads(told.stdout)["methods"]] == ["exact", "cpsat", "rule", "annealing"]


def test_it_is_calibrated_by_the_names_of_its_cells(folder: Path, planned: subprocess.CompletedProcess[str]) -> None:
    assert planned.returncode == 0
    smooth = Resources(2000, 3000, dsp=16)
    lines = [(0, "top", Resources(2100, 3100, dsp=16)), (1, "smooth", smooth), (1, "xbar", Resources(5))]
    (folder / "reports").mkdir()
    (folder / "reports" / "util.rpt").write_text(samples.hierarchy_text(lines))
    (folder / "reports" / "post_synth_resources.json").write_text("FINN's, and none of this tool's")
    ended = floorflow(folder, "calibrate", "out", "--reports", "reports", "--no-plots", "--json", "-o", "new")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    # 150 LUT and 200 FF a lane were estimated.
    assert found["engines"]["smooth"]["estimate"] == Resources(2400, 3200, dsp=16).as_dict()
    assert found["engines"]["smooth"]["measured"] == smooth.as_dict()
    assert [row["instance"] for row in found["unmatched"]["reports"]] == ["top/xbar"]
    assert (found["unmatched"]["plan"], found["aside"]) == (["sharpen"], ["post_synth_resources.json"])
    kept = floorflow(folder, "calibrate", "out", "--reports", "reports", "--keep-folding", "-o", "never")
    assert (kept.returncode, "back end mytool writes no file of its folding" in kept.stderr) == (2, True)


def test_each_back_end_refuses_files_of_the_other_in_its_own_words(folder: Path) -> None:
    others = floorflow(folder, "inspect", str(TFC), "--backend", "mytool")
    assert (others.returncode, "is no chain of filters" in others.stderr) == (2, True)
    assert "ONNX model" not in others.stderr
    own = floorflow(folder, "inspect", "chain.json")
    assert (own.returncode, "chain.json: the file is not an ONNX model" in own.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--backend mytool: it prices no single engines"),
        (("--costs", "finn"), "--costs: only back end finn has this option"),
        (("--backend-option", "lanes=0"), "--backend-option lanes 0: expected at least 1"),
    ],
)
def test_single_engines_are_asked_of_it(folder: Path, options: tuple[str, ...], message: str) -> None:
    (folder / "lines.jsonl").write_text("{}\n")
    ended = floorflow(folder, "cost", "lines.jsonl", "--backend", "mytool", *options)
    assert (ended.returncode, message in ended.stderr) == (2, True), ended.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--folding", "chain.json"), "--folding chain.json: back end mytool reads no folding files"),
        (("--finn", "plus"), "--finn: only back end finn has this option"),
        (("--backend-option", "lanes=0"), "--backend-option lanes 0: expected at least 1 and at most 1,024"),
        (("--keep-folding",), "--keep-folding: back end mytool reads no foldings"),
        (("--fold-method", "finn"), "--fold-method finn: unknown method"),
    ],
)
def test_what_it_does_not_have_is_refused(folder: Path, options: tuple[str, ...], message: str) -> None:
    ended = floorflow(folder, "plan", "chain.json", "-p", "pynq-z1", "--backend", "mytool", *options, "-o", "never")
    assert ended.returncode == 2
    assert message in ended.stderr
