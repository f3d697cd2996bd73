"""A board that is loaded anew in no time, on which a small network pays in two partitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from floorflow.assets import asset_folder
from floorflow.request import Request
from tests.conftest import TFC

LOAD_MS = 0.02
BATCH = 256


def quick_board(folder: Path, **facts: Any) -> Path:
    """Write a PYNQ-Z1 with other facts, of which None takes one away."""
    text = (asset_folder("platforms") / "boards" / "pynq-z1.yaml").read_text(encoding="utf-8")
    board = yaml.safe_load(text) | {"name": "quick", "reconfiguration": {"kind": "full", "ms": LOAD_MS}} | facts
    path = folder / "quick.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in board.items() if value is not None}), encoding="utf-8")
    return path


def quick_request(folder: Path, lut: float = 0.1, **options: Any) -> Request:
    """Return the request for TFC on that board, of which it may use a share of the LUTs."""
    facts = options.pop("facts", {})
    asked = {"reconfigure": "full", "batch": BATCH, "plots": False} | options
    return Request(TFC, quick_board(folder, **facts), cap={"LUT": lut}, **asked)
