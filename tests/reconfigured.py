"""A board that is loaded anew in no time, on which a small network pays in two partitions.

How much of the board it may use is told in terms of what it takes at least, so that it pays whatever engines cost.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from floorflow.assets import asset_folder
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.folding import shortage
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare
from tests.plans import TFC

LOAD_MS = 0.02
BATCH = 256


def quick_board(folder: Path, **facts: Any) -> Path:
    """Write a PYNQ-Z1 with other facts, of which None takes one away."""
    text = (asset_folder("platforms") / "boards" / "pynq-z1.yaml").read_text(encoding="utf-8")
    board = yaml.safe_load(text) | {"name": "quick", "reconfiguration": {"kind": "full", "ms": LOAD_MS}} | facts
    path = folder / "quick.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in board.items() if value is not None}), encoding="utf-8")
    return path


@cache
def least_share() -> float:
    """Return the share of a PYNQ-Z1's LUTs that TFC takes in one piece, however slow it is."""
    context = prepare(read_source(TFC), Request(TFC, "pynq-z1"), 1)
    problem = context.problem
    short = shortage(problem.with_budget(replace(problem.budget, lut=1)), problem.intervals()[-1])
    assert short is not None
    assert short.resource == "LUT"
    return short.need / context.platform.slots[0].available.lut


def quick_request(folder: Path, lut: float | None = None, **options: Any) -> Request:
    """Return the request for TFC on that board, of which it may use a share of the LUTs.

    By default that is a quarter more than it needs in one piece, which is then three times as slow as two partitions.
    """
    lut = 1.25 * least_share() if lut is None else lut
    facts = options.pop("facts", {})
    asked = {"reconfigure": "full", "batch": BATCH, "plots": False} | options
    return Request(TFC, quick_board(folder, **facts), cap={"LUT": lut}, **asked)
