"""Register slices through FINN: which plans have them built, and what floorflow_plan.json tells the steps of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floorflow.verify.finn.built import BuiltNetwork
from floorflow.verify.finn.fifo_file import knows_depths, sets_fifos
from floorflow.verify.finn.files import ANY_SLR
from floorflow.verify.judge import Files
from floorflow.verify.violations import Findings

STEP_PLAN = "floorflow_plan.json"


def builds_slices(phase: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether the step that sets FIFOs, which inserts slices, runs for all networks of a phase."""
    return sets_fifos(options) and all(knows_depths(part) for part in phase["networks"])


def check_step_plan(
    folder: Files,
    phase: Mapping[str, Any],
    built: BuiltNetwork,
    homes: Mapping[str, tuple[int, int]],
    findings: Findings,
) -> None:
    """Judge that the steps are told of each slice, with FPGA and SLR; ``homes`` are those of slots."""
    path = f"{built.folder}/{STEP_PLAN}"
    content = (folder.json(path) if folder.exists(path) else None) or {}
    ids = {row["id"] for row in built.rows.values()}
    told = {stream["name"]: stream.get("slices", []) for stream in content.get("streams", ())}
    for channel in phase["channels"]:
        if not {channel["source"], channel["target"]} & ids:
            continue
        styles = phase["constraint_styles"]
        wanted = [_home(slot, homes, styles) for slot in channel["slice_slots"] if slot in homes]
        found = told.get(channel["name"], [])
        if found != wanted:
            message = f"slices of {channel['name']} are {found!r:.80}, the plan has {wanted!r:.80}"
            findings.add("finn-slices-differ", folder.path(path), message)


def _home(slot: str, homes: Mapping[str, tuple[int, int]], styles: Mapping[str, str]) -> list[int]:
    fpga, slr = homes[slot]
    several = sum(other == fpga for other, _ in homes.values()) > 1
    return [fpga, ANY_SLR if several and styles.get(slot) == "none" else slr]
