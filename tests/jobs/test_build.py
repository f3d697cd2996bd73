"""`floorflow build` by Snakemake with a stand-in for Vivado: what is made, what is not made again, what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from floorflow.jobs import snakemake
from floorflow.verify import check
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.jobs.projects import Project, contents
from tests.plans import PLANS

pytestmark = pytest.mark.tools
THREE_CARDS = PLANS["TFC stitched on three cards"]


@pytest.fixture
def project(planned: Planned, tmp_path: Path) -> Project:
    return Project(planned(THREE_CARDS), tmp_path)


def test_what_fails_is_told_and_alone_made_again_and_what_changed_too(project: Project, planned: Planned) -> None:
    cells = sorted(project.cells())
    project.goes(always=cells[:1])
    first = floorflow(*project.command())
    assert first.returncode == 4
    assert f"1 not made:\n  {cells[0]}: {cells[0]} misses its clock by 0.5 ns" in first.stderr
    assert f"{len(cells)} modules in {len(cells)} implementations: 0 from the library, {len(cells) - 1} made" in (
        first.stdout
    )
    assert {json.loads(path.read_text())["cell"] for path in project.library.glob("*/entry.json")} == {*cells[1:]}
    assert first.stdout.count("not stitched") == 1  # other cards do not wait for it
    project.ran()
    project.goes()
    second = floorflow(*project.command())
    assert second.returncode == 0, second.stderr
    assert f"{len(cells) - 1} from the library, 1 made in 1 run of Vivado" in second.stdout
    assert len(project.ran()) == 2  # the module, and its card
    assert floorflow(*project.command()).returncode == 0
    assert project.ran() == []
    script = next((project.out / "ooc").glob(f"*{cells[-1]}/run.tcl"))
    script.write_text(re.sub(r"-period \d", "-period 9", script.read_text()))
    assert "1 made in 1 run" in floorflow(*project.command()).stdout
    assert len(project.ran()) == 2
    script.write_text((planned(THREE_CARDS) / script.relative_to(project.out)).read_text())
    assert check(project.out) == []  # what a build leaves is none of the plan's business


@pytest.mark.slow
def test_a_second_project_takes_the_library_whole(planned: Planned, tmp_path: Path) -> None:
    """Its IP was packaged at another time, which changes nothing; another Vivado would."""
    shared = tmp_path / "shared"
    first, second = (Project(planned(THREE_CARDS), tmp_path / name, packaged=name) for name in ("first", "second"))
    assert floorflow(*first.command("--library", shared)).returncode == 0
    before = contents(shared)
    done = floorflow(*second.command("--library", shared, "--json"))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert not any(one["made"] for one in told["modules"].values())
    assert {Path(name).name for name in second.ran()} == {"assemble.tcl"}
    assert all(Path(card["checkpoint"]).is_file() for card in told["cards"].values())
    assert contents(shared) == before
    second.goes(release="2023.1")
    again = json.loads(floorflow(*second.command("--library", shared, "--json", "--dry-run")).stdout)
    assert all(one["made"] for one in again["modules"].values())
    entry = json.loads(next(iter(before[name] for name in before if name.endswith("entry.json"))))
    assert (entry["vivado"], entry["resources"]["BRAM18"], entry["reached_mhz"] > entry["clock_mhz"]) == (
        "2022.2",
        5,
        True,
    )


def test_a_dry_run_writes_the_jobs_and_runs_nothing(project: Project) -> None:
    done = floorflow(*project.command("--dry-run"))
    assert done.returncode == 0, done.stderr
    assert "to make in" in done.stdout
    assert "predicted" in done.stdout
    config = yaml.safe_load((project.out / "jobs/config.yaml").read_text())
    named = [cell for run in config["runs"].values() for cells in run["implementations"].values() for cell in cells]
    assert sorted(named) == sorted(project.cells())
    assert project.ran() == []


def not_stitched(project: Project, planned: Planned) -> None:
    plan = planned(PLANS["TFC on a Kintex"]) / "plan.json"
    (project.out / "plan.json").write_text(plan.read_text())


def without_ip(project: Project, _: Planned) -> None:
    (project.out / "finn/build/modules").rename(project.out / "elsewhere")


def without_vivado(project: Project, _: Planned) -> None:
    project.vivado.unlink()


def another_program(project: Project, _: Planned) -> None:
    project.vivado.write_text("#!/bin/sh\necho hello\n")


REFUSED: dict[str, tuple[Callable[[Project, Planned], None], int, str]] = {
    "a plan that is not stitched": (not_stitched, 2, "plan with --flow stitch"),
    "no IP": (without_ip, 2, "run the back end's build first"),
    "no Vivado": (without_vivado, 4, "name the program by --vivado"),
    "another program": (another_program, 4, "does not tell a release of Vivado"),
}


@pytest.mark.parametrize(("change", "code", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_built_is_refused(
    project: Project, planned: Planned, change: Callable[[Project, Planned], None], code: int, told: str
) -> None:
    change(project, planned)
    done = floorflow(*project.command())
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr


def test_without_snakemake_the_extra_is_named(project: Project) -> None:
    with patch.object(snakemake, "find_spec", lambda _: None):
        done = floorflow(*project.command())
    assert done.returncode == 2
    assert "pip install 'floorflow[jobs]'" in done.stderr


def test_two_builds_of_a_folder_do_not_meet(project: Project) -> None:
    (project.out / "jobs").mkdir()
    with snakemake.held_alone(project.out / "jobs"):
        done = floorflow(*project.command())
    assert done.returncode == 2
    assert "another run works in it" in done.stderr


def test_a_profile_that_is_not_there_is_told(project: Project) -> None:
    done = floorflow(*project.command("--profile", "nowhere"))
    assert done.returncode == 4
    assert "Snakemake failed" in done.stderr
