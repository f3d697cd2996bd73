"""A board file that says nothing of shell, infrastructure and host port is planned with a warning in every output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from floorflow.assets import asset_folder
from floorflow.cli.main import app
from floorflow.hardware import load_platform
from floorflow.verify import check
from floorflow.view.pictures.floorplan import floorplan
from tests.conftest import TFC


@pytest.mark.parametrize("stated", [False, True])
def test_the_warning_is_in_summary_report_plan_and_picture_unless_the_file_says_none(
    stated: bool, tmp_path: Path
) -> None:
    text = (asset_folder("platforms") / "boards" / "xcku5p.yaml").read_text(encoding="utf-8")
    text = text.replace("name: xcku5p", "name: mine", 1)
    if not stated:
        text = re.sub(r"^(shell|infrastructure|host_port): .*\n", "", text, flags=re.MULTILINE)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["plan", TFC, "-p", tmp_path / "mine.yaml", "-o", out, "--no-plots", "--effort", "fast"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    plan = json.loads((out / "plan.json").read_text())
    figure = floorplan(plan, load_platform(tmp_path / "mine.yaml"), "fpga0")
    drawn = " ".join(text.text for text in figure.texts)
    shown = [result.stdout + result.stderr, (out / "report.txt").read_text(), " ".join(plan["warnings"]), drawn]
    fields = "shell, infrastructure, host_port"
    assert [fields in " ".join(where.split()) for where in shown] == [not stated] * 4
    assert check(out) == []
    plan["platform"]["fpgas"][0]["unstated"] = ["shell"] if stated else []
    (out / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert "platform-mismatch" in {violation.name for violation in check(out)}
