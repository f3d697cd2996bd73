"""A network planned in two phases inside a region of a PYNQ-Z1, from the model to the files."""

from pathlib import Path

import yaml

from floorflow import flow
from floorflow.assets import asset_folder
from floorflow.facts import Plan
from floorflow.output import write
from floorflow.request import Request
from tests.plans import TFC
from tests.reconfigured import least_share


def quick_board(folder: Path) -> Path:
    """Write a PYNQ-Z1 of which a part is loaded in no time."""
    text = (asset_folder("platforms") / "boards" / "pynq-z1.yaml").read_text(encoding="utf-8")
    board = yaml.safe_load(text)
    board |= {
        "name": "quick",
        "reconfiguration": {"kind": "partial", "ms": 0.02, "bytes": board["reconfiguration"]["bytes"]},
    }
    path = folder / "quick.yaml"
    path.write_text(yaml.safe_dump(board), encoding="utf-8")
    return path


def partial_request(folder: Path, **options: object) -> Request:
    """Return the request for TFC in chunks on that board, of which it may use a part."""
    asked: dict[str, object] = {"reconfigure": "partial", "plots": False, "constraint_style": "hard", "effort": "fast"}
    asked["tie_break"] = "scarcity"  # the quicker one
    # Of which it may use 70%: in two parts it is half as fast again as in one.
    asked["area"] = 3.5 * least_share()
    return Request(TFC, quick_board(folder), **{**asked, **options})


def planned_in_region(out: Path) -> Plan:
    """Write the plan's folder."""
    made = flow.plan(partial_request(out.parent))
    write(out, made.files, {})
    return made.plan
