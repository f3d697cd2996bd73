"""Small networks that share a platform, and their plans, for several tests."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import floorflow as ff
from tests.plans import TFC


def copies(folder: Path, *names: str) -> list[Path]:
    """Write a small network to files of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.onnx" for name in names]
    for path in paths:
        shutil.copy(TFC, path)
    return paths


def planned(folder: Path, *names: str, fps: Mapping[str, float] | None = None, **options: Any) -> ff.Plan:
    """Plan copies of a small network on a PYNQ-Z1."""
    asked: dict[str, Any] = {"effort": "fast", "plots": False, **options}
    return ff.plan(copies(folder, *names), "pynq-z1", fps=fps, **asked)
