"""Plans of the zoo with the back ends hls4ml and fpgaConvNet, made once in a session."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.command_line import floorflow
from tests.conftest import ROOT

ZOO = ROOT / "examples" / "zoo"


def plan(folder: Path, model: str, backend: str, *words: str, platform: str = "zcu104") -> Path:
    """Return the folder of a plan, which must succeed."""
    out = folder / "_".join([backend, model, platform, *(word.strip("-").replace("=", "_") for word in words)])
    named = (f"{ZOO / model}.onnx", "--backend", backend, "-p", platform, "-o", out, "--effort", "fast")
    if not (out / "plan.json").exists():
        ended = floorflow("plan", *named, *(() if "--plots" in words else ("--no-plots",)), *words_of(words))
        assert ended.returncode == 0, ended.stderr
    return out


@cache
def words_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of the command line, without that which asks for pictures."""
    return tuple(word for word in words if word != "--plots")


def assert_legal(out: Path) -> None:
    """Let the judge find nothing."""
    told = floorflow("check", out)
    assert (told.returncode, "legal" in told.stdout) == (0, True), told.stdout
