"""What is packed for whoever looks for a fault: all that was decided, nothing that was trained."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

import floorflow as ff
from floorflow import api
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.plans import PLANS


@pytest.fixture
def zynq(planned: Planned) -> Path:
    return planned(PLANS["TFC on a Zynq"])


def test_a_report_holds_the_plan_the_options_the_versions_and_the_verdict(zynq: Path, tmp_path: Path) -> None:
    names = api.bug_report(zynq, tmp_path / "bug.zip")
    with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
        assert tuple(archive.namelist()) == names
        assert archive.read("plan.json") == (zynq / "plan.json").read_bytes()
        assert archive.read("run.json") == (zynq / "run.json").read_bytes()
        assert json.loads(archive.read("check.json"))["verdict"] == "legal"
        assert json.loads(archive.read("versions.json"))["packages"]["floorflow"] == ff.__version__
    assert not [name for name in names if name.endswith((".onnx", ".dat", ".npy", ".png", ".py"))]
    again = tmp_path / "again.zip"
    api.bug_report(zynq, again)
    assert again.read_bytes() == (tmp_path / "bug.zip").read_bytes()


def test_a_plan_that_check_cannot_read_is_packed_as_it_is(zynq: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(zynq, tmp_path / "broken")
    (broken / "plan.json").write_text("{}")
    done = floorflow("bug-report", broken, "-o", tmp_path / "bug.zip")
    assert done.returncode == 0, done.stderr
    assert "no weights" in done.stdout
    with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
        assert archive.read("plan.json") == b"{}"
        told = json.loads(archive.read("check.json"))
        assert told["verdict"] != "legal"
        assert told["violations"][0]["name"] == "plan-malformed"


def test_nothing_is_overwritten_and_no_plan_is_no_report(zynq: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.zip"
    kept.write_text("mine")
    for folder, out in ((zynq, kept), (tmp_path, tmp_path / "new.zip")):
        done = floorflow("bug-report", folder, "-o", out)
        assert (done.returncode, done.stdout) == (2, "")
        assert "hint:" in done.stderr
    assert kept.read_text() == "mine"
    assert not (tmp_path / "new.zip").exists()
