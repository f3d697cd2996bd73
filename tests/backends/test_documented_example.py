"""The back end that docs/backends.md shows is laid into a folder as it stands there, and plans its own model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("example")
    for name, content in _FILE.findall((ROOT / "docs" / "backends.md").read_text(encoding="utf-8")):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(content)
    return made


def floorflow(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    command = [sys.executable, "-m", "floorflow", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_it_plans_its_own_model(folder: Path) -> None:
    options = ("--backend", "mytool", "--backend-option", "lanes=16", "--no-plots", "-o", "out")
    ended = floorflow(folder, "plan", "chain.json", "-p", "pynq-z1", *options)
    assert ended.returncode == 0, ended.stderr
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


def test_its_part_of_the_judge_finds_what_is_wrong(folder: Path) -> None:
    options = ("--backend", "mytool", "--no-plots", "-o", "wrong")
    assert floorflow(folder, "plan", "chain.json", "-p", "pynq-z1", *options).returncode == 0
    lanes = folder / "wrong" / "mytool" / "lanes.json"
    lanes.write_text(lanes.read_text().replace("64", "32"))
    told = floorflow(folder, "check", "wrong")
    assert (told.returncode, "mytool-lanes-differ" in told.stdout) == (1, True)


def test_it_is_inspected_and_compared(folder: Path) -> None:
    shown = floorflow(folder, "inspect", "chain.json", "--backend", "mytool", "--json")
    assert json.loads(shown.stdout)["engines"][0]["legal"]["lanes"] == [1, 2, 4, 8, 16, 32, 64]
    told = floorflow(folder, "compare", "chain.json", "-p", "pynq-z1", "--backend", "mytool", "--methods", "exact,rule")
    assert (told.returncode, "exact" in told.stdout) == (0, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--folding", "chain.json"), "--folding chain.json: back end mytool reads no folding files"),
        (("--finn", "plus"), "--finn: only back end finn has this option"),
        (("--backend-option", "lanes=0"), "--backend-option lanes 0: expected at least 1 and at most 1,024"),
        (("--fold-method", "finn"), "--fold-method finn: unknown method"),
    ],
)
def test_what_it_does_not_have_is_refused(folder: Path, options: tuple[str, ...], message: str) -> None:
    ended = floorflow(folder, "plan", "chain.json", "-p", "pynq-z1", "--backend", "mytool", *options, "-o", "never")
    assert ended.returncode == 2
    assert message in ended.stderr
