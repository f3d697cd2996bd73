"""Where the toy back end is not installed, its plans are refused in one clear sentence."""

from __future__ import annotations

import json
from pathlib import Path

from tests.backends.toy.toolbox import EDGES, TOY, floorflow, plan


def test_check_says_what_to_install_and_judges_the_rest(on_u250: Path) -> None:
    told = floorflow("check", on_u250, "--json", installed=False)
    assert told.returncode == 1
    (found,) = json.loads(told.stdout)["violations"]
    assert found["name"] == "backend-unknown"
    assert found["message"].startswith("no part of the judge is installed for the back end 'toykit'; install")


def test_planning_says_that_it_is_unknown() -> None:
    told = floorflow("plan", EDGES, "--backend", "toykit", "-p", "zcu104", "-o", "never", installed=False)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.splitlines() == [
        "error: --backend toykit: unknown back end",
        (
            "hint: known are fcnnx, finn, fpgaconvnet, hls4ml; another is there once the package that brings it is "
            "installed (docs/backends.md)"
        ),
    ]


def test_its_plan_cannot_be_loaded(on_u250: Path, tmp_path: Path) -> None:
    told = floorflow("calibrate", on_u250, "--reports", tmp_path, "-o", tmp_path / "new", installed=False)
    assert told.returncode == 2
    assert f"{on_u250 / 'plan.json'}: options: --backend toykit: unknown back end" in told.stderr


def test_two_of_one_name_are_refused(on_u250: Path, tmp_path: Path) -> None:
    other = tmp_path / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text(
        "[floorflow.backends]\ntoykit = other:TOY\n[floorflow.judges]\ntoykit = other.judge\n"
    )
    told = floorflow("inspect", EDGES, "--backend", "toykit", path=(TOY, tmp_path))
    assert (told.returncode, "registered twice" in told.stderr) == (2, True)
    judged = floorflow("check", on_u250, path=(TOY, tmp_path))
    assert (judged.returncode, "other.judge and toykit.judge" in judged.stdout) == (1, True)


def test_an_old_folder_of_it_is_replaced_by_another_back_end(tmp_path: Path) -> None:
    made = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--no-plots", "--effort", "fast")
    assert made.returncode == 0, made.stderr
    tfc = EDGES.parents[2] / "examples" / "tfc_1w1a.onnx"
    words = ("-p", "pynq-z1", "--no-plots", "--effort", "fast", "--fps", "100", "-o", tmp_path / "out")
    assert floorflow("plan", tfc, *words, installed=False).returncode == 2
    told = floorflow("plan", tfc, *words, "--force", installed=False)
    assert told.returncode == 0, told.stderr
    assert not (tmp_path / "out" / "toykit").exists()


def test_a_model_of_another_back_end_that_is_installed_gets_a_hint_at_it() -> None:
    told = floorflow("inspect", EDGES)
    assert told.returncode == 2
    assert "--backend: toykit" in told.stderr
    assert "--backend" not in floorflow("inspect", EDGES, installed=False).stderr
    assert "--backend:" not in floorflow("inspect", EDGES, "--backend", "finn").stderr
