"""One network of a phase as FINN builds it: its nodes by their own names, and what joins them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floorflow.verify.back_end import Row
from floorflow.verify.finn.engines import FoldedEngine, is_versal
from floorflow.verify.hardware.boards import has_uram
from floorflow.verify.records import Record

FOLDER = "finn"
OUTSIDE = ("host:", "memory:", "phase:")
"""What names begin with, behind the network's, that are no engine's: FINN has a DMA engine for each."""


@dataclass(frozen=True)
class BuiltNetwork:
    """A network's engines by the names of FINN's nodes, in their order, with their rows, followers and inputs.

    ``folder`` holds its files, a path in the phase's folder.
    """

    folder: str
    nodes: dict[str, FoldedEngine]
    rows: dict[str, Row]
    successors: dict[str, list[str]]
    input_count: int


def as_built(phase: Mapping[str, Any]) -> Record:
    """Return a phase as FINN is told of it: without register slices where none are built."""
    if phase["slices_built"]:
        return dict(phase)
    channels = [channel | {"slices": 0, "slice_slots": []} for channel in phase["channels"]]
    return {**phase, "channels": channels}


def folded_engine(row: Row, options: Mapping[str, Any]) -> FoldedEngine:
    """Return an engine as FINN's rules see it, on the part that it lies on."""
    flavour, part = str(options.get("finn", "main")), str(row["part"])
    return FoldedEngine(
        row["entry"]["name"],
        row["entry"],
        row["folding"]["attributes"],
        flavour,
        has_uram(part),
        is_versal(part, flavour),
    )


def networks_of(phase: Mapping[str, Any], context: Mapping[str, Any]) -> list[BuiltNetwork]:
    """Return the networks of a phase that have engines there."""
    rows: dict[str, dict[str, Row]] = {}
    for row in context["engines"].values():
        rows.setdefault(row["network"], {})[row["id"]] = row
    several = context["several_networks"]
    return [
        _built(f"{FOLDER}/{name}" if several else FOLDER, engines, phase["channels"], context["options"])
        for name, engines in rows.items()
    ]


def _built(folder: str, rows: Mapping[str, Row], channels: list[Record], options: Mapping[str, Any]) -> BuiltNetwork:
    names = {engine: row["entry"]["name"] for engine, row in rows.items()}
    successors: dict[str, list[str]] = {name: [] for name in names.values()}
    inputs = 0
    for channel in channels:
        source, target = channel["source"], channel["target"]
        if source in names and target in names:
            successors[names[source]].append(names[target])
        inputs += target in names and (source.startswith(OUTSIDE) or source.partition("/")[2].startswith(OUTSIDE))
    nodes = {names[engine]: folded_engine(row, options) for engine, row in rows.items()}
    return BuiltNetwork(folder, nodes, {names[engine]: row for engine, row in rows.items()}, successors, inputs)
