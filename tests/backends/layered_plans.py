"""Plans of the zoo with the back ends hls4ml and fpgaConvNet, made once in a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx

from tests.command_line import floorflow
from tests.conftest import ROOT
from tests.residual_models import residual_network

ZOO = ROOT / "examples" / "zoo"


def residual(folder: Path) -> Path:
    """Write the residual network to a folder, as the model ``residual``."""
    path = folder / "residual.onnx"
    if not path.exists():
        onnx.save(residual_network(), path)
    return path


def model_of(folder: Path, name: str) -> Path:
    """Return the file of a network of the zoo, or of the residual one."""
    return residual(folder) if name == "residual" else ZOO / f"{name}.onnx"


def plan(folder: Path, model: str, backend: str, *words: str, platform: str = "zcu104") -> Path:
    """Return the folder of a plan, which must succeed."""
    out = folder / "_".join([backend, model, platform, *(word.strip("-").replace("=", "_") for word in words)])
    named = (model_of(folder, model), "--backend", backend, "-p", platform, "-o", out, "--effort", "fast")
    if not (out / "plan.json").exists():
        plots = () if "--plots" in words else ("--no-plots",)
        ended = floorflow("plan", *named, *plots, *(word for word in words if word != "--plots"))
        assert ended.returncode == 0, ended.stderr
    return out


def read(out: Path) -> dict[str, Any]:
    """Return a plan's JSON."""
    return json.loads((out / "plan.json").read_text())


def foldings(made: dict[str, Any]) -> dict[str, Any]:
    """Return the folding of each engine."""
    return made["phases"][0]["networks"][0]["folding"]["engines"]


def assert_legal(out: Path) -> None:
    """Let the judge find nothing."""
    told = floorflow("check", out)
    assert (told.returncode, "legal" in told.stdout) == (0, True), told.stdout
