"""A bound plan against the build that it is bound to: every name is followed to its node, and that is judged.

bound.json tells the cell of each engine, FIFO and converter, and here each must be a node of the right kind, shape,
folding, SLR and streams. Names that nodes do not have yet are derived from the kernels as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorflow.verify.finn.build_engines import kernel_problems, node_problems, slr_problems
from floorflow.verify.finn.build_streams import stream_problems
from floorflow.verify.finn.built_nodes import NoBuild, Node
from floorflow.verify.finn.fifo_file import sets_fifos
from floorflow.verify.finn.kernels import read_build
from floorflow.verify.judge import Row

Problem = tuple[str, str]
FINDINGS = {
    "build-unreadable": "the build that is given cannot be read, or it cannot be told what its nodes are called",
    "build-cell-missing": "a cell of the plan is no node of the build",
    "build-engine-differs": "a cell is another engine in the build, or is folded otherwise",
    "build-engine-unplanned": "a node of the build is no engine, FIFO or converter of the plan",
    "build-slr-differs": "a node of the build lies in another SLR than its module",
    "build-stream-differs": "the streams of the build are not those of the plan",
    "build-slice-missing": "a stream of the build lacks register slices of the plan, FIFOs of two words",
    "build-fifo-differs": "a FIFO of the build is missing, shallower, or in another memory than planned",
}


def judge_build(
    phase: Mapping[str, Any],
    folder: Path,
    told: tuple[Mapping[str, str], Mapping[str, str]],
    context: Mapping[str, Any],
) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong; ``told`` are the cell of each engine and the module of each FIFO and converter."""
    patterns: Mapping[str, str] = context["cell_patterns"]
    try:
        nodes = read_build(folder, kernels=any("{partition}" in pattern for pattern in patterns.values()))
    except NoBuild as problem:
        yield "build-unreadable", str(folder), str(problem)
        return
    if not sets_fifos(context["options"]):
        # FINN sizes FIFOs as it builds: what the plan has is foreseen, and no promise of its depths.
        phase = {**phase, "channels": [{**c, "fifo_depth": 0, "fifo_style": ""} for c in phase["channels"]]}
    for name, message in _problems(phase, context["engines"], nodes, patterns, told):
        yield name, str(folder), message


def _slices(phase: Mapping[str, Any], nodes: list[Node], known: set[Node]) -> set[Node]:
    """Return the FIFOs of two words that are in no module, if there are no more than the plan has slices."""
    shallow = {n for n in nodes if n.is_a("StreamingFIFO") and n.attributes.get("depth") == 2 and n not in known}
    return shallow if len(shallow) <= sum(channel["slices"] for channel in phase["channels"]) else set()


def _problems(
    phase: Mapping[str, Any],
    rows: Mapping[str, Row],
    nodes: list[Node],
    patterns: Mapping[str, str],
    told: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[Problem]:
    if not any(row["entry"]["kind"].startswith("Reshape") for row in rows.values()):
        nodes = [replace(node, is_transparent=node.is_a("Reshape")) for node in nodes]
    cells, streams = told
    by_cell = {p.format(engine=node.name, partition=node.kernel): node for p in patterns.values() for node in nodes}
    for cell in (*cells.values(), *streams):
        if cell not in by_cell:
            yield "build-cell-missing", f"no node of the build is {cell}"
    engines = {name: by_cell[cell] for name, cell in cells.items() if cell in by_cell and name in rows}
    passing = {by_cell[cell]: module for cell, module in streams.items() if cell in by_cell}
    for name, node in engines.items():
        yield from node_problems(name, node, rows[name])
    known = {*engines.values(), *passing} | _slices(phase, nodes, {*passing})
    for node in nodes:
        if node not in known and not node.is_a("IODMA"):
            message = f"{node.called} ({node.kind}) is named nowhere in the plan's constraints"
            yield "build-engine-unplanned", message
    home = {row["module"]: row for row in rows.values()}
    for node, module in passing.items():
        if not node.passes or node.is_a("IODMA"):
            yield "build-engine-differs", f"{node.called} is {node.kind}, the plan takes it for a FIFO"
        if module in home:
            yield from slr_problems(node, home[module])
    yield from kernel_problems(nodes, rows)
    yield from stream_problems(phase["channels"], rows, nodes, engines)
