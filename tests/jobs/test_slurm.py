"""Builds on a real Slurm, of one node, by Snakemake's profile."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.command_line import floorflow
from tests.conftest import Planned
from tests.jobs.projects import Project
from tests.jobs.slurm import PROFILE, slurm
from tests.plans import PLANS

pytestmark = [pytest.mark.tools, pytest.mark.skipif(os.geteuid() != 0, reason="daemons of Slurm are started by root")]


def built(project: Project, folder: Path) -> str:
    """Build on a Slurm; return what it says of the jobs that it ran."""
    (folder / "profile").mkdir()
    (folder / "profile/config.yaml").write_text(PROFILE)
    with slurm(folder / "slurm"):
        done = floorflow(*project.command("-j", "4", "--profile", folder / "profile"))
        words = ["squeue", "-h", "-t", "all", "-o", "%T %m %C"]
        jobs = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert done.returncode == 0, done.stderr + (project.out / "jobs/snakemake.log").read_text()[-4000:]
    return jobs


def test_slurm_runs_the_jobs_of_a_small_build(planned: Planned, tmp_path: Path) -> None:
    """Of the modules alone: it takes Snakemake long to see that a job has ended, and cards wait for modules."""
    project = Project(planned(PLANS["TFC stitched on three cards"]), tmp_path)
    for script in project.out.glob("fpga*/top/assemble.tcl"):
        script.unlink()
    jobs = built(project, tmp_path).splitlines()
    assert {*jobs} == {"COMPLETED 4600M 4"}
    assert len(project.ran()) == len(jobs)
    assert {path.parent.name.rpartition("-")[0] for path in project.library.glob("*/entry.json")} == project.cells()


@pytest.mark.slow
def test_slurm_runs_a_larger_build(planned: Planned, tmp_path: Path) -> None:
    project = Project(planned(PLANS["CNV stitched over several SLRs"]), tmp_path)
    jobs = built(project, tmp_path).splitlines()
    assert sorted(jobs) == ["COMPLETED 32000M 4", *["COMPLETED 4600M 4"] * len(project.cells())]
    assert len(list((project.out / "jobs/cards").iterdir())) == 1
