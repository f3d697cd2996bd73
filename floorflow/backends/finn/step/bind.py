"""Bind a plan's constraints to the cells of the kernels that FINN has made: names are read, not predicted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from floorflow.backends.finn.step.graph import BuiltGraph, BuiltNode, attributes_of, joined, read_nodes
from floorflow.backends.finn.step.kernels import (
    PREFIX,
    NotBuildable,
    check_acyclic,
    global_order,
    inner_name,
    kernel_number,
    kernel_order,
    local_names,
)
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

MEMBERS = "members:"
"""What stands in the plan's constraints for the cells of a module, before its name."""
_MEMBERS = re.compile(rf"{MEMBERS}([^ }}]+)")
_FILE = re.compile(r"partition_(\d+)\.onnx")


@dataclass(frozen=True)
class BoundPlan:
    """What binding found: ``files`` by path, the cell of every engine, and what FINN calls otherwise than the plan.

    ``streams`` is the module of each cell that is a FIFO or a converter, ``channels`` the stream that it is on.
    """

    files: Mapping[str, str]
    cells: Mapping[str, str]
    streams: Mapping[str, str]
    channels: Mapping[str, str]
    renamed: Sequence[tuple[str, str]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Kernels:
    """The nodes of all kernels as one graph, and what each is called in the linked design: kernel and inner name."""

    graph: BuiltGraph
    names: Mapping[BuiltNode, str]
    is_whole: bool = False


def read_partitions(folder: Path, parent: onnx.GraphProto | None = None) -> Kernels:
    """Read the ``partition_<id>.onnx`` that CreateDataflowPartition writes and FINN's build may have named.

    ``parent`` is the graph of kernels, from which FINN+ alone tells how they are joined once it has renamed tensors;
    if it is not given it is looked for beside the folder.

    Raises
    ------
    NotBuildable
        If there are none, or how they are joined cannot be told.

    """
    paths = {int(match[1]): path for path in folder.glob("partition_*.onnx") if (match := _FILE.fullmatch(path.name))}
    if not paths:
        raise NotBuildable(f"{folder} holds no partition_<number>.onnx")
    files = {number: _graph(paths[number]) for number in sorted(paths)}
    outer = _outer(parent, files) or _outer(_parent_beside(folder, files), files)
    _check_tensors(folder, files, outer)
    by_id = {}
    for number, graph in files.items():
        tensors = outer[number][1] if number in outer else {}
        by_id[number] = read_nodes(graph, f"partition_{number}", tensors)
    return _joined(folder, by_id, {number: name for number, (name, _) in outer.items()})


_Outer = dict[int, tuple[int, dict[str, str]]]
"""Of each file the number of its kernel, and what the graph of kernels calls the tensors at its ends."""


def _outer(parent: onnx.GraphProto | None, files: Mapping[int, onnx.GraphProto]) -> _Outer:
    """Return what a graph of kernels says of each file; nothing if it is not theirs."""
    nodes = [node for node in parent.node if node.op_type == PREFIX.rstrip("_")] if parent is not None else []
    found: _Outer = {}
    for index, node in enumerate(nodes):
        model = str(attributes_of(node).get("model", ""))
        match = _FILE.fullmatch(re.split(r"[/\\]", model)[-1])
        number = int(match[1]) if match else -1
        if number not in files or number in found:
            return {}
        graph, named = files[number], re.fullmatch(rf"{PREFIX}(\d+)", node.name)
        if len(graph.output) != len(node.output):
            return {}
        ends = [*zip(graph.input, node.input, strict=False), *zip(graph.output, node.output, strict=True)]
        found[number] = (int(named[1]) if named else index), {inner.name: name for inner, name in ends}
    return found if len(found) == len(files) else {}


def _parent_beside(folder: Path, files: Mapping[int, onnx.GraphProto]) -> onnx.GraphProto | None:
    """Return the graph of kernels among the models that FINN keeps of each step."""
    paths = sorted(
        path for place in (folder.parent, folder.parent / "intermediate_models") for path in place.glob("*.onnx")
    )
    for path in paths:
        try:
            graph = _graph(path)
        except NotBuildable:
            continue
        if _outer(graph, files):
            return graph
    return None


def _check_tensors(folder: Path, files: Mapping[int, onnx.GraphProto], outer: _Outer) -> None:
    """Refuse files whose tensors are called the same at their ends, which a graph of kernels would tell apart."""
    made = [value.name for graph in files.values() for value in graph.output]
    if not outer and len(set(made)) < len(made):
        raise NotBuildable(
            f"{folder}: several kernels call what they send '{max(made, key=made.count)}', so that it cannot be told "
            "how they are joined; keep the folder beside FINN's intermediate models, of which one has their graph"
        )


def _joined(folder: Path, by_id: Mapping[int, list[BuiltNode]], told: Mapping[int, int]) -> Kernels:
    """Return the graph of all kernels, and what their nodes are called."""
    numbers = {number: kernel_number(nodes) for number, nodes in by_id.items()}
    nodes = [node for members in by_id.values() for node in members]
    ids = {node: number for number, members in by_id.items() for node in members}
    named = [number for number in numbers.values() if number is not None]
    if named and len(named) < len(numbers):
        raise NotBuildable(f"{folder}: some kernels are named and others are not; the build was stopped halfway")
    if not named:
        return Kernels(joined(global_order(nodes)), _unnamed(nodes, ids, told))
    twice = [number for number in named if named.count(number) > 1]
    if twice:
        raise NotBuildable(f"{folder}: two files hold kernel {twice[0]}")
    for node in nodes:
        node.kernel = int(numbers[ids[node]] or 0)
    return Kernels(joined(global_order(nodes)), {node: inner_name(node) for node in nodes})


def _graph(path: Path) -> onnx.GraphProto:
    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as problem:
        raise NotBuildable(f"{path} is no ONNX model: {problem}") from problem
    if not graph.node:
        raise NotBuildable(f"{path} holds no node")
    return graph


def _unnamed(nodes: Sequence[BuiltNode], ids: Mapping[BuiltNode, int], told: Mapping[int, int]) -> dict[BuiltNode, str]:
    """Return what nodes will be called, after numbering their kernels unless the graph of kernels tells."""
    order = dict(told) or kernel_order(global_order(nodes), ids)
    names: dict[BuiltNode, str] = {}
    for number in order:
        members = [node for node in nodes if ids[node] == number]
        names |= local_names(members)
        for node in members:
            node.kernel = order[number]
    return names


def read_whole(path: Path) -> Kernels:
    """Read the graph behind FINN's stitched IP, which is one design with the names of the graph."""
    nodes = read_nodes(_graph(path))
    return Kernels(joined(nodes), {node: node.name for node in nodes}, is_whole=True)


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
    members: dict[str, list[BuiltNode]] = {}
    modules = one.module_of
    for node in kernels.graph.nodes:
        if node in modules:
            members.setdefault(modules[node], []).append(node)
    widths = {one.nodes[name]: found for name, found in port_widths(one).items()}
    files: dict[str, str] = {}
    cells: dict[str, str] = {}
    streams: dict[str, str] = {}
    channels: dict[str, str] = {}
    channel_of = {node: str(stream["name"]) for stream, link in one.links for node in link.chain}
    for fpga in plan["fpgas"]:
        pattern = str(fpga["cell_pattern"])
        named = {node: _cell(pattern, node, kernels) for node in modules}
        by_module = {module: [named[node] for node in nodes] for module, nodes in members.items()}
        here = {module for module, home in plan["modules"].items() if _on(plan, module) == fpga["name"]}
        ports = {named[node]: widths[node] for node in modules if node in widths and modules[node] in here}
        for name, text in fpga["constraints"].items():
            files[f"{fpga['name']}/{name}"] = _filled(str(text), by_module, ports)
        cells |= {name: named[node] for name, node in one.nodes.items() if modules[node] in here}
        streams |= {named[node]: module for node, module in modules.items() if node.passes and module in here}
        channels |= {named[n]: channel_of[n] for n, module in modules.items() if n in channel_of and module in here}
    renamed = [(str(e["id"]), kernels.names[one.nodes[str(e["id"])]]) for e in plan["engines"]]
    apart_by_name = [(old, new) for old, new in renamed if old.rpartition("/")[2] != new]
    return BoundPlan(files, cells, streams, channels, apart_by_name, list(_notes(one)))


def _on(plan: StepPlan, module: str) -> str:
    """Return the FPGA that a module lies on."""
    return next(str(engine["fpga"]) for engine in plan["engines"] if engine["module"] == module)


def _cell(pattern: str, node: BuiltNode, kernels: Kernels) -> str:
    return pattern.format(engine=kernels.names[node], partition=node.kernel)


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
    return found


Ports = Mapping[str, tuple[Sequence[int], Sequence[int]]]
"""Bits of the streams into and out of each engine's cell."""


def _filled(text: str, members: Mapping[str, Sequence[str]], ports: Ports) -> str:
    """Put cells for members: in a Tcl list all at once, in XDC a line each; and count those assigned to SLRs.

    A Tcl script also compares the streams of the engines' cells before it makes anything.
    """

    def cells(match: re.Match[str]) -> str:
        return " ".join(members[match[1]])

    lines: list[str] = []
    for line in text.splitlines():
        tokens = _MEMBERS.findall(line)
        if not tokens or "get_cells" not in line:
            lines.append(_MEMBERS.sub(cells, line))
            if line.startswith("floorflow::begin "):
                lines += [_port_call(cell, ports[cell]) for cell in ports]
            continue
        lines += [line.replace(f"{MEMBERS}{tokens[0]}", cell) for cell in members[tokens[0]]]
    filled = "\n".join(lines) + "\n"
    assigned = re.findall(r"floorflow::slr \{[^}]*\} \\\n\s+-cells \{([^}]*)\}", filled)
    count = sum(len(one.split()) for one in assigned)
    return re.sub(r"-assigned \d+", f"-assigned {count}" + (f" -ports {len(ports)}" if ports else ""), filled)


def _port_call(cell: str, widths: tuple[Sequence[int], Sequence[int]]) -> str:
    into, out = (" ".join(map(str, bits)) for bits in widths)
    return f"floorflow::ports {{{cell}}} -in {{{into}}} -out {{{out}}}"


def as_files(result: BoundPlan) -> dict[str, str]:
    """Return the constraints and bound.json, which tells the cell of every engine, by path."""
    told = {
        "cells": dict(result.cells),
        "streams": dict(result.streams),
        "channels": dict(result.channels),
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
