"""A library of many modules, killed and resumed, and two builds at once: it ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import onnx
import pytest

from floorflow.request import Request
from floorflow.verify import check
from tests.conftest import make_plan, placing
from tests.jobs.projects import Project, contents
from tests.plans import FAST, ROOT
from tests.residual_models import ModelBuilder

pytestmark = pytest.mark.tools
ROUNDS = 12
"""Runs of the same command in which what fails by chance has to be made."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan of at least 30 modules."""
    folder = tmp_path_factory.mktemp("many")
    builder = ModelBuilder("long", (1, 3, 8, 8))
    builder.quantise(4, narrow=False)
    for _ in range(9):
        builder.conv(8, (3, 3), 4, pads=(1, 1, 1, 1))
        builder.relu()
        builder.quantise(4, signed=False, narrow=False)
    onnx.save(builder.model(), folder / "long.onnx")
    with placing():
        request = Request(folder / "long.onnx", "xcku5p", flow="stitch", granularity="layer", **FAST)
        return make_plan(folder / "plan", request)


def started(project: Project, *more: str | Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "floorflow", *project.command(*more)]
    with (project.out.parent / "log").open("ab") as log:
        return subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)


def kill_groups(run: subprocess.Popen[bytes], lock: Path) -> None:
    """Kill a run with all that it started, as a machine does that loses its power."""
    groups = [run.pid, *([int(lock.read_text())] if lock.exists() and lock.read_text() else [])]
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    run.wait()
    time.sleep(0.2)


def whole(project: Project, *more: str | Path) -> Path:
    """Build until all is made, whatever fails on the way."""
    for _ in range(ROUNDS):
        if started(project, *more).wait() == 0:
            return project.library
    raise AssertionError((project.out.parent / "log").read_text()[-4000:])


def kills(project: Project, count: int, rng: random.Random) -> Iterator[int]:
    """Kill builds when some modules more are made; yield how many were there."""
    for _ in range(count):
        build, before = started(project), len([*project.library.glob("*/entry.json")])
        wanted = before + rng.randint(1, 4)
        while build.poll() is None and len([*project.library.glob("*/entry.json")]) < wanted:
            time.sleep(0.05)
        kill_groups(build, project.out / "jobs/lock")
        yield len([*project.library.glob("*/entry.json")])


def equal(first: Path, second: Path) -> None:
    """Compare two stores byte by byte; what a killed writer left beside is none of them."""
    one, other = (
        {name: data for name, data in contents(folder).items() if not name.startswith(".incoming-")}
        for folder in (first, second)
    )
    assert one == other


@pytest.mark.slow
def test_a_library_of_thirty_killed_three_times_equals_the_uninterrupted_one(many: Path, tmp_path: Path) -> None:
    calm, wild = Project(many, tmp_path / "calm"), Project(many, tmp_path / "wild")
    assert len(calm.cells()) >= 30
    assert check(many) == []
    assert started(calm).wait() == 0
    wild.goes(fail=0.15, seconds=0.1)
    there = list(kills(wild, 3, random.Random(44)))
    assert there == sorted(there)
    assert there[-1] < len(wild.cells())
    equal(whole(wild), calm.library)
    assert {path.stem for path in (wild.out / "jobs/cards").glob("*")} == {
        path.stem for path in (calm.out / "jobs/cards").glob("*")
    }


@pytest.mark.slow
def test_two_projects_fill_one_library_at_once(many: Path, tmp_path: Path) -> None:
    first, second = (Project(many, tmp_path / name) for name in ("first", "second"))
    shared = tmp_path / "shared"
    builds = [started(project, "--library", shared) for project in (first, second)]
    assert [build.wait() for build in builds] == [0, 0]
    assert started(first).wait() == 0
    equal(shared, first.library)
    second.ran()
    assert started(second, "--library", shared).wait() == 0
    assert second.ran() == []
