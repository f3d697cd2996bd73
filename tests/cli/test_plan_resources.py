"""`floorflow plan` on a platform of resources alone: what it writes, prints, refuses, and how it ends."""

import json
from pathlib import Path

import pytest

from floorflow.verify import check
from tests.cli.interrupted import interrupted_at
from tests.command_line import floorflow
from tests.plans import EXAMPLES, TFC

ASKED = ("plan", str(TFC), "-p", "samo:zc706")


def test_it_writes_a_legal_plan_and_prints_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = floorflow(*ASKED, "--reconfigure", "full", "--json", "-o", str(out))
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed == json.loads((out / "schedule.json").read_text())
    assert (printed["schema"], printed["batch"]) == ("floorflow-schedule/1", 256)
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert names == {
        *("schedule.json", "report.txt", "run.json", "phases/p0/finn/folding_config.json"),
        *("plots/timeline.png", "plots/timeline.svg"),
    }
    assert check(out) == []
    assert "1 partition, optimal, bound" in (out / "report.txt").read_text()
    assert "No schedule is faster: proven." in done.stderr
    assert floorflow("check", str(out)).stdout.splitlines()[-1] == f"{out}: legal"
    assert floorflow(*ASKED, "-o", str(out)).returncode == 2
    assert floorflow(*ASKED, "--no-plots", "--force", "-o", str(out)).returncode == 0
    assert not (out / "plots").exists()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--fpgas", "2"), 2, "--fpgas: plan on samo:zc706, where nothing is placed, has no such option"),
        (("--effort", "fast"), 2, "--effort: "),
        (("--batch", "4"), 2, "--batch 4: only --reconfigure runs a batch"),
        (("--cap", "LUT=0.001"), 3, "proven infeasible"),
    ],
)
def test_what_it_refuses(words: tuple[str, ...], code: int, told: str, tmp_path: Path) -> None:
    done = floorflow(*ASKED, *words, "-o", str(tmp_path / "out"))
    assert done.returncode == code
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stage", [pytest.param("lowering", marks=pytest.mark.slow), "extras: drawing"])
def test_ctrl_c_leaves_a_legal_plan_or_nothing(stage: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    model = TFC if stage != "lowering" else EXAMPLES / "mobilenet_v1_w4a4.onnx"
    ended = interrupted_at(f"⠋ {stage}", "plan", model, "-p", "samo:u250", "-o", out)
    assert ended.code == 130, ended.said
    if stage == "lowering":
        assert not out.exists()
        return
    assert json.loads((out / "schedule.json").read_text())["interrupted"] is False
    assert not (out / "plots").exists()
    assert check(out) == []
