"""A build of FINN as the judge reads it: the kernels that CreateDataflowPartition has written, and what joins them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from floorflow.verify.files.reader import read_plain
from floorflow.verify.finn.built_nodes import NoBuild, Node
from floorflow.verify.finn.kernel_names import in_order, named_as_built

PLACES = ("", "kernel_partitions", "intermediate_models/kernel_partitions", "floorflow/kernel_partitions")
"""Where kernels lie below the folder that is given."""
WHOLE = (
    *("step_create_stitched_ip.onnx", "step_set_fifo_depths.onnx", "step_generate_hardware.onnx"),
    *("floorflow_fifos.onnx", "graph_with_fifos.onnx"),
)
"""FINN's models with FIFOs and without kernels, for parts without a shell."""
_BASES = ("", "intermediate_models")
_FILE = re.compile(r"partition_(\d+)\.onnx$")
_NAMED = re.compile(r"StreamingDataflowPartition_(\d+)_(.+)")
_KERNEL = re.compile(r"StreamingDataflowPartition_(\d+)")


@dataclass(frozen=True)
class _Around:
    """What the graph of kernels says of files: the number of each kernel, and what it calls the tensors at its ends."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    tensors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_build(folder: Path, *, kernels: bool) -> list[Node]:
    """Return all nodes of a build, of kernels or of one graph, by the names that they have or will have.

    Raises
    ------
    NoBuild
        If there is none, or it cannot be told how its kernels are joined or will be numbered.

    """
    if not kernels:
        paths = [folder] if folder.is_file() else [folder / base / name for name in WHOLE for base in _BASES]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise NoBuild(f"{folder} holds no graph with FIFOs")
        return list(_nodes(_load(path), "", {}))
    place = next((folder / place for place in PLACES if any((folder / place).glob("partition_*.onnx"))), None)
    if place is None:
        raise NoBuild(f"{folder} holds no partition_<number>.onnx")
    graphs = {path.name: _load(path) for path in sorted(place.glob("partition_*.onnx")) if _FILE.search(path.name)}
    around = _parent_beside(place, graphs) or _by_own_names(place, graphs)
    nodes = {file: list(_nodes(graph, file, around.tensors.get(file, {}))) for file, graph in graphs.items()}
    return _named(place, nodes) or named_as_built(nodes, around.numbers)


def _named(place: Path, kernels: Mapping[str, Sequence[Node]]) -> list[Node]:
    """Return the nodes with the kernels that their names tell; none if no kernel has named them yet."""
    found, without = [], []
    for file, nodes in kernels.items():
        for node in nodes:
            match = _NAMED.fullmatch(node.name)
            if match:
                found.append(replace(node, kernel=int(match[1]), name=match[2]))
            else:
                without.append(f"{place / file}: node '{node.name}'")
    if found and without:
        raise NoBuild(f"{without[0]} is not named by a kernel, as others are; let FINN's build go on")
    return found


MOST_BYTES = 2**31 - 1
"""Protocol buffers hold no more."""


def _load(path: Path) -> Any:
    import onnx

    try:
        return onnx.load_model_from_string(read_plain(path, MOST_BYTES)).graph
    except Exception as error:
        raise NoBuild(f"{path} is no ONNX model: {error}") from error


def _nodes(graph: Any, file: str, outer: Mapping[str, str]) -> Iterator[Node]:
    """Yield each node; tensors inside are told apart by their file."""
    from onnx import helper

    made = {tensor for node in graph.node for tensor in node.output}
    weights = {tensor.name for tensor in graph.initializer}
    ends = {value.name for value in (*graph.input, *graph.output)} - weights
    data = (made | ends) - weights

    def called(tensor: str) -> str:
        return outer.get(tensor, tensor) if tensor in ends or not file else f"{file}:{tensor}"

    for node in graph.node:
        told = {attribute.name: _plain(helper.get_attribute_value(attribute)) for attribute in node.attribute}
        ports = tuple(port for port, tensor in enumerate(node.input) if tensor in data)
        into = tuple(called(node.input[port]) for port in ports)
        yield Node(None, node.name, node.op_type, told, into, tuple(map(called, node.output)), ports)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _parent_beside(place: Path, graphs: Mapping[str, Any]) -> _Around | None:
    """Return what the first model beside that has all these files as kernels says of them."""
    models = sorted(p for base in (place.parent, place.parent / "intermediate_models") for p in base.glob("*.onnx"))
    for path in models:
        try:
            parent = _load(path)
        except NoBuild:
            continue
        around = _told_by(parent, graphs)
        if {*around.numbers} == {*graphs}:
            return around
    return None


def _told_by(parent: Any, graphs: Mapping[str, Any]) -> _Around:
    numbers: dict[str, int] = {}
    tensors: dict[str, dict[str, str]] = {}
    for node in in_order(parent.node):
        told = {a.name: a.s.decode("utf-8", "replace") for a in node.attribute if a.name == "model"}
        file = re.split(r"[/\\]", told.get("model", ""))[-1]
        if file in graphs:
            named = _KERNEL.fullmatch(node.name)
            numbers[file] = int(named[1]) if named else len(numbers)
            inner = [*_ends(graphs[file])[: len(node.input)], *graphs[file].output]
            tensors[file] = {i.name: o for i, o in zip(inner, [*node.input, *node.output], strict=False)}
    return _Around(numbers, tensors)


def _ends(graph: Any) -> list[Any]:
    """Return a graph's inputs that are no parameters."""
    weights = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def _by_own_names(place: Path, graphs: Mapping[str, Any]) -> _Around:
    """Return how kernels are joined where no graph of them is kept: by their tensors' own names, if these differ.

    FINN+ calls the ends of all kernels alike. Kernels of one stream in and one out are then joined as they are
    numbered, if there is one that takes from outside by a DMA engine, and one that gives to outside.
    """
    sent = Counter(value.name for graph in graphs.values() for value in graph.output)
    twice = next((name for name, count in sent.items() if count > 1), None)
    if twice is None:
        return _Around()
    by_number = {int(m[1]): file for file, g in graphs.items() if (m := _NAMED.fullmatch(g.node[0].name))}
    chain = [graphs[by_number[number]] for number in sorted(by_number)]
    ends = [place for place, graph in enumerate(chain) if any(n.op_type.startswith("IODMA") for n in graph.node)]
    is_line = all(len(_ends(graph)) == len(graph.output) == 1 for graph in chain)
    if len(chain) < len(graphs) or not is_line or ends != [0, len(chain) - 1]:
        raise NoBuild(f"{place}: several kernels call what they send '{twice}'; keep FINN's graph of kernels beside it")
    tensors = {}
    for number, (graph, at) in enumerate(zip(chain, sorted(by_number), strict=True)):
        tensors[by_number[at]] = {_ends(graph)[0].name: f"link {number}", graph.output[0].name: f"link {number + 1}"}
    return _Around({}, tensors)
