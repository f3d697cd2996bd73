"""Bind a plan's constraints to the cells of the kernels that FINN has made: names are read, not predicted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.backends.finn.step.filled import filled
from floorflow.backends.finn.step.kernel_files import Kernels
from floorflow.backends.finn.step.kernels import PREFIX, NotBuildable, check_acyclic
from floorflow.backends.finn.step.match import Mismatch
from floorflow.backends.finn.step.settings import (
    Bound,
    StepPlan,
    bound,
    check_converters,
    folding_differences,
    placements,
    port_widths,
)
from floorflow.backends.finn.step.slices import slice_nodes


@dataclass(frozen=True)
class BoundPlan:
    """What binding found: ``files`` by path, the cell of every engine, and what FINN calls otherwise than the plan.

    ``streams`` is the module of each cell that is a FIFO or a converter, ``channels`` the stream that it is on;
    ``slices`` the stream of each register slice, which is in no module.
    """

    files: Mapping[str, str]
    cells: Mapping[str, str]
    streams: Mapping[str, str]
    channels: Mapping[str, str]
    slices: Mapping[str, str]
    renamed: Sequence[tuple[str, str]]
    notes: Sequence[str]


def bind_kernels(plan: StepPlan, kernels: Kernels) -> BoundPlan:
    """Return the plan's constraints with the cells that its engines, FIFOs and converters have.

    Raises
    ------
    Mismatch
        If the kernels are not those of the plan, or an engine may be several nodes.
    NotBuildable
        If a kernel lies in another SLR than planned, or kernels wait for each other.

    """
    one = bound(plan, kernels.graph, strict=True)
    apart = folding_differences(one)
    if apart:
        raise Mismatch(f"built with another folding than planned: {apart[0]}")
    check_converters(one)
    if not kernels.is_whole:
        check_acyclic(kernels.graph.nodes, {node: node.kernel for node in kernels.graph.nodes})
        _check_slrs(one)
    renamed = [(str(e["id"]), kernels.names[one.nodes[str(e["id"])]]) for e in plan["engines"]]
    apart_by_name = [(old, new) for old, new in renamed if old.rpartition("/")[2] != new]
    parts = [_on_fpga(one, kernels, fpga) for fpga in plan["fpgas"]]
    return BoundPlan(
        {name: text for part in parts for name, text in part.files.items()},
        {name: cell for part in parts for name, cell in part.cells.items()},
        {cell: module for part in parts for cell, module in part.streams.items()},
        {cell: stream for part in parts for cell, stream in part.channels.items()},
        {cell: stream for part in parts for cell, stream in part.slices.items()},
        apart_by_name,
        list(_notes(one)),
    )


def _on_fpga(one: Bound, kernels: Kernels, fpga: Mapping[str, Any]) -> BoundPlan:
    """Return what is bound on one FPGA."""
    pattern, modules = str(fpga["cell_pattern"]), one.module_of
    home = {str(e["module"]): str(e["fpga"]) for e in one.plan["engines"]}
    named = {node: pattern.format(engine=kernels.names[node], partition=node.kernel) for node in modules}
    members: dict[str, list[str]] = {}
    for node in kernels.graph.nodes:
        if node in modules:
            members.setdefault(modules[node], []).append(named[node])
    here = {module for module, name in home.items() if name == fpga["name"]}
    devices = {int(one.plan["modules"][module]["device"]) for module in here}
    widths = {one.nodes[name]: found for name, found in port_widths(one).items()}
    ports = {cell: widths[node] for node, cell in named.items() if node in widths and modules[node] in here}
    channel_of = {node: str(stream["name"]) for stream, link in one.links for node in link.chain}
    return BoundPlan(
        {f"{fpga['name']}/{name}": filled(str(text), members, ports) for name, text in fpga["constraints"].items()},
        {name: named[node] for name, node in one.nodes.items() if modules[node] in here},
        {named[node]: module for node, module in modules.items() if node.passes and module in here},
        {named[n]: channel_of[n] for n, module in modules.items() if n in channel_of and module in here},
        {
            pattern.format(engine=kernels.names[node], partition=node.kernel): channel_of[node]
            for node, (device, _) in one.slice_homes.items()
            if device in devices
        },
        [],
        [],
    )


def _check_slrs(one: Bound) -> None:
    """Compare SLRs where there are several; on one die FINN leaves them at -1."""
    if one.plan["single_slr"]:
        return
    for node, place in placements(one).items():
        built = int(node.attributes.get("slr", -1))
        if built != place["slr"]:
            where = f"{PREFIX}{node.kernel}"
            raise NotBuildable(
                f"node '{node.name}' of {where} is built in SLR {built}, the plan has it in SLR {place['slr']}"
            )


def _notes(one: Bound) -> list[str]:
    """Say which FIFOs are not as deep as planned."""
    found = []
    for stream, link in one.links:
        depths = [int(node.attributes.get("depth", 0)) for node in link.chain if node.is_fifo]
        if depths and max(depths) < int(stream["depth"]):
            found.append(f"the FIFO of {stream['name']} holds {max(depths)} words, the plan has {stream['depth']}")
        if not depths and int(stream["depth"]) > 0:
            found.append(f"{stream['name']} has no FIFO, the plan has one of {stream['depth']} words")
        planned = len(stream.get("slices", ()))
        if planned and not slice_nodes(stream, link):
            found.append(f"{stream['name']} has none of the {planned} register slices of the plan")
    return found


def as_files(result: BoundPlan) -> dict[str, str]:
    """Return the constraints and bound.json, which tells the cell of every engine, by path."""
    told = {
        "cells": dict(result.cells),
        "streams": dict(result.streams),
        "channels": dict(result.channels),
        "slices": dict(result.slices),
        "renamed": [{"engine": old, "node": new} for old, new in result.renamed],
        "notes": list(result.notes),
    }
    return {**result.files, "bound.json": json.dumps(told, indent=2, sort_keys=True) + "\n"}


def write_bound(result: BoundPlan, folder: Path) -> None:
    """Write the files."""
    for name, text in as_files(result).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
