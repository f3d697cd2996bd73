"""`floorflow sweep`: rows of plans and of points without one, resumed where it was killed, here and on Slurm."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

import floorflow as ff
from floorflow.facts import read_plan
from floorflow.facts.diff import FIGURES, diff_plans
from floorflow.jobs.points import POINTS, ROWS
from floorflow.verify import check
from tests.command_line import floorflow
from tests.jobs.slurm import PROFILE, slurm
from tests.jobs.test_kills import kill_groups
from tests.plans import ROOT, TFC
from tests.tools import need_module

pytestmark = pytest.mark.tools
QUICK = {"effort": "fast", "bargains": "none", "plots": False}
SIX = {
    "models": "tfc.onnx",
    "platforms": ["pynq-z1", "zcu104"],
    "options": {"fps": [1000, 5e6], **QUICK},
    "time_limit": 100,
    "also": {
        "two-cards": {"model": "tfc.onnx", "platform": "pynq-z1", "options": {"fpgas": 2}},
        "crowded": {"model": "tfc.onnx", "platform": "pynq-z1", "options": {"cap": {"LUT": 0.005}, "clock-mhz": 50}},
    },
}
FASTER = 60
"""Plans of the slow sweep."""


def written(folder: Path, content: Mapping[str, Any] = SIX) -> Path:
    """Write a sweep's file beside its model."""
    need_module("snakemake", "Snakemake is not installed: pip install -e '.[jobs]'")
    folder.mkdir(exist_ok=True)
    shutil.copyfile(TFC, folder / "tfc.onnx")
    (folder / "spec.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return folder / "spec.yaml"


def started(spec: Path, out: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "floorflow", "sweep", str(spec), "-o", str(out), "-j", "2"]
    with (spec.parent / "log").open("ab") as log:
        return subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)


def killed(spec: Path, out: Path, more: int) -> set[str]:
    """Kill a sweep with all that it started when some rows more are there; return the rows."""
    run, rows = started(spec, out), out / "jobs" / ROWS
    wanted = len([*rows.glob("*.json")]) + more
    while run.poll() is None and len([*rows.glob("*.json")]) < wanted:
        time.sleep(0.05)
    kill_groups(run, out / "jobs/lock")
    return {path.name for path in rows.glob("*.json")}


def table(out: Path) -> list[dict[str, str]]:
    with (out / "table.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


def kept(out: Path) -> dict[str, bytes]:
    """Return all files but those that tell times, and how the work went."""
    names = (path.relative_to(out) for path in out.rglob("*") if path.is_file())
    apart = {"times.csv", "run.json"}
    told = [name for name in names if name.parts[0] != "jobs" and name.name not in apart]
    return {str(name): (out / name).read_bytes() for name in told if not any(p[0] == "." for p in name.parts)}


def test_six_points_killed_once_are_planned_once_and_told_in_one_table(tmp_path: Path) -> None:
    spec, out = written(tmp_path), tmp_path / "out"
    there = killed(spec, out, 2)
    assert 2 <= len(there) < 6
    before = {name: (out / "jobs" / ROWS / name).stat().st_mtime_ns for name in there}
    done = floorflow("sweep", spec, "-o", out, "-j", "2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["planned_now"] == 6 - len(there)
    assert {name: (out / "jobs" / ROWS / name).stat().st_mtime_ns for name in there} == before
    rows = {row["point"]: row for row in told["rows"]}
    assert [(name, row["code"]) for name, row in rows.items()] == [
        ("tfc-pynq-z1-fps_1000", 0),
        ("tfc-pynq-z1-fps_5000000", 0),
        ("tfc-zcu104-fps_1000", 0),
        ("tfc-zcu104-fps_5000000", 0),
        ("two-cards", 2),
        ("crowded", 3),
    ]
    assert rows["crowded"]["option_cap"] == "LUT=0.005"
    assert " LUT" in rows["crowded"]["message"]
    assert "its boards have no link to one another" in rows["two-cards"]["message"]
    for name in (name for name, row in rows.items() if row["code"] == 0):
        plan = read_plan(out / POINTS / name / "plan.json")
        known = diff_plans(plan, plan, ("", "")).quantities
        assert {key: rows[name][key] for key in FIGURES} == {key: known[key] for key in FIGURES}
        assert check(out / POINTS / name) == []
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in told["rows"]] == [
        {k: {"false": "False"}.get(v, v) for k, v in row.items()} for row in table(out)
    ]
    page = (out / "index.html").read_text()
    assert all((out / link).is_file() for link in re.findall(r'href="([^"]+)"', page))
    assert "<script" not in page
    assert "default-src 'none'" in unescape(page)
    assert {path.name for path in (out / "pictures").iterdir()} == {
        f"{name}.{end}" for name in ("rate_fullest", "rate_lut") for end in ("png", "svg")
    }
    made = kept(out)
    again = ff.sweep(spec, out)
    assert again.planned_now == 0
    assert [dict(row) for row in again.rows] == told["rows"]
    assert kept(out) == made
    changes_are_planned_again(spec, out)


def changes_are_planned_again(spec: Path, out: Path) -> None:
    """Of a point's options, of the model for all, and of a plan that somebody took away."""

    def left() -> list[str]:
        return json.loads(floorflow("sweep", spec, "-o", out, "--json", "--dry-run").stdout)["to_plan"]

    name = "tfc-zcu104-fps_1000"
    (out / POINTS / name / "plan.json").rename(out / POINTS / name / "elsewhere")
    assert left() == [name]
    spec.write_text(spec.read_text().replace("fpgas: 2", "fpgas: 3"))
    assert left() == [name, "two-cards"]
    (spec.parent / "tfc.onnx").write_bytes((spec.parent / "tfc.onnx").read_bytes() + b"\x72\x00")
    assert len(left()) == 6


WRONG: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a field": (lambda spec: spec.update(modles=1), "modles: unknown field; did you mean models?"),
    "an option": (lambda spec: spec["options"].update(efort="fast"), "options.efort: unknown"),
    "an option of a point": (
        lambda spec: spec["also"]["crowded"]["options"].update({"clock": 50}),
        "also.crowded.options.clock: unknown",
    ),
    "a value of all": (lambda spec: spec["options"].update(effort="fsat"), "effort fsat: expected fast, default or"),
    "a flag": (lambda spec: spec["options"].update(plots="never"), "options.plots: expected true or false"),
    "no value": (lambda spec: spec["options"].update(fps=[]), "options.fps: expected at least one value"),
    "a model": (lambda spec: spec.update(models="tfd.onnx"), "models: "),
    "a board": (lambda spec: spec.update(platforms="pynq-z9"), "platforms: unknown platform 'pynq-z9'"),
    "resources alone": (lambda spec: spec.update(platforms="samo:zc706"), "nothing is placed on it"),
    "no point": (lambda spec: [spec.pop(name) for name in ("models", "platforms", "also")], "expected at least one"),
    "a limit": (lambda spec: spec.update(time_limit=0), "time_limit"),
    "a name": (lambda spec: spec["also"].update({"../x": spec["also"]["crowded"]}), "also.../x: expected a name"),
}


@pytest.mark.parametrize(("change", "told"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_the_file_is_told_before_anything_is_planned(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], told: str
) -> None:
    content = json.loads(json.dumps(SIX))
    change(content)
    spec = written(tmp_path, content)
    done = floorflow("sweep", spec, "-o", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{spec}: " in done.stderr
    assert told in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_near_name_is_told(tmp_path: Path) -> None:
    spec = written(tmp_path, {**SIX, "options": {"efort": "fast"}})
    assert "did you mean effort?" in floorflow("sweep", spec, "-o", tmp_path / "out").stderr


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    spec = written(tmp_path)
    done = floorflow("sweep", spec, "-o", tmp_path)
    assert done.returncode == 2
    assert "holds other files than those of a sweep" in done.stderr


def test_the_sweep_that_ships_is_one_of_cards(tmp_path: Path) -> None:
    done = floorflow("sweep", ROOT / "examples/sweeps/cards.yaml", "-o", tmp_path / "out", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("5 points: 0 done, 5 to plan\n")


@pytest.fixture
def sixty() -> dict[str, Any]:
    """Return sixty points, of which the fastest have no plan."""
    rates = [round(1000 * 2.1**power) for power in range(FASTER // 4)]
    return {
        "models": "tfc.onnx",
        "platforms": ["pynq-z1", "zcu104", "kv260", "u250"],
        "options": {"fps": rates, **QUICK},
        "time_limit": 300,
    }


@pytest.mark.slow
def test_sixty_points_killed_three_times_equal_the_uninterrupted_ones(tmp_path: Path, sixty: dict[str, Any]) -> None:
    calm, wild = written(tmp_path / "calm", sixty), written(tmp_path / "wild", sixty)
    first, second = calm.parent / "out", wild.parent / "out"
    assert started(calm, first).wait() == 0
    rng, there = random.Random(45), 0
    for _ in range(3):
        rows = killed(wild, second, rng.randint(1, 15))
        assert there < len(rows) < FASTER
        there = len(rows)
    assert started(wild, second).wait() == 0
    assert len(table(first)) == FASTER
    assert {row["code"] for row in table(first)} == {"0", "3"}
    assert kept(first) == kept(second)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="daemons of Slurm are started by root")
def test_slurm_runs_the_points(tmp_path: Path) -> None:
    spec = written(tmp_path)
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile/config.yaml").write_text(PROFILE)
    with slurm(tmp_path / "slurm"):
        done = floorflow("sweep", spec, "-o", tmp_path / "out", "-j", "3", "--profile", tmp_path / "profile")
        words = ["squeue", "-h", "-t", "all", "-o", "%T %m %C %l"]
        jobs = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert done.returncode == 0, done.stderr + (tmp_path / "out/jobs/snakemake.log").read_text()[-4000:]
    assert jobs.splitlines() == ["COMPLETED 2000M 1 4:00"] * 6
    assert [row["code"] for row in table(tmp_path / "out")] == ["0", "0", "0", "0", "2", "3"]
