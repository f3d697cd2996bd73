"""A build of FINN as the judge reads it: the kernels that CreateDataflowPartition has written, and what joins them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLACES = ("", "kernel_partitions", "intermediate_models/kernel_partitions", "floorflow/kernel_partitions")
"""Where kernels lie below the folder that is given."""
WHOLE = ("step_create_stitched_ip.onnx", "step_set_fifo_depths.onnx", "step_generate_hardware.onnx")
"""FINN's models with FIFOs and without kernels, for parts without a shell."""
_FILE = re.compile(r"partition_(\d+)\.onnx$")
_NAMED = re.compile(r"StreamingDataflowPartition_(\d+)_(.+)")
_PASSING = ("StreamingFIFO", "StreamingDataWidthConverter", "IODMA", "TLastMarker", "CheckSum")


class NoBuild(ValueError):  # noqa: N818 - becomes a finding
    """The folder holds no build that can be judged; the text says why."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a build: its number's kernel (None: there are none), its name in it, and the tensors that it joins."""

    kernel: int | None
    name: str
    kind: str
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    is_transparent: bool = False
    """Whether it is a Reshape of FINN+ that the plan does not have as an engine."""

    def is_a(self, kind: str) -> bool:
        """Whether the node is of a kind, hls or rtl."""
        return self.kind.removesuffix("_hls").removesuffix("_rtl") == kind

    @property
    def passes(self) -> bool:
        """Whether what comes out is what went in."""
        return self.is_transparent or any(self.is_a(kind) for kind in _PASSING)


@dataclass(frozen=True)
class Way:
    """A stream: node and port at each end, None outside, and what lies between in order."""

    source: Node | None
    source_port: int
    target: Node | None
    target_port: int
    between: tuple[Node, ...]


def read_build(folder: Path, *, kernels: bool) -> list[Node]:
    """Return all nodes of a build, of kernels or of one graph.

    Raises
    ------
    NoBuild
        If there is none, or its nodes have no names yet.

    """
    if not kernels:
        paths = [folder] if folder.is_file() else [folder / base / name for name in WHOLE for base in _BASES]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise NoBuild(f"{folder} holds no graph with FIFOs")
        return [Node(None, *rest) for rest in _nodes(_load(path), "", {})]
    place = next((folder / place for place in PLACES if any((folder / place).glob("partition_*.onnx"))), None)
    if place is None:
        raise NoBuild(f"{folder} holds no partition_<number>.onnx")
    graphs = {path.name: _load(path) for path in sorted(place.glob("partition_*.onnx")) if _FILE.search(path.name)}
    joined = _joined(place, graphs)
    found: list[Node] = []
    for file, graph in graphs.items():
        for name, *rest in _nodes(graph, file, joined.get(file, {})):
            match = _NAMED.fullmatch(name)
            if match is None:
                raise NoBuild(f"{place / file}: node '{name}' is not named by a kernel yet; let FINN's build go on")
            found.append(Node(int(match[1]), match[2], *rest))
    return found


_BASES = ("", "intermediate_models")


def _load(path: Path) -> Any:
    import onnx

    try:
        return onnx.load(str(path), load_external_data=False).graph
    except Exception as error:
        raise NoBuild(f"{path} is no ONNX model: {error}") from error


def _nodes(graph: Any, file: str, outer: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    """Yield name, kind, attributes and tensors of each node; tensors inside are told apart by their file."""
    from onnx import helper

    made = {tensor for node in graph.node for tensor in node.output}
    weights = {tensor.name for tensor in graph.initializer}
    ends = {value.name for value in (*graph.input, *graph.output)} - weights
    data = (made | ends) - weights

    def called(tensor: str) -> str:
        return outer.get(tensor, tensor) if tensor in ends or not file else f"{file}:{tensor}"

    for node in graph.node:
        told = {attribute.name: _plain(helper.get_attribute_value(attribute)) for attribute in node.attribute}
        into = tuple(called(tensor) for tensor in node.input if tensor in data)
        yield node.name, node.op_type, told, into, tuple(map(called, node.output))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _joined(place: Path, graphs: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return, by file, what the graph of kernels calls the tensors at its ends; nothing if no model beside tells."""
    models = sorted(p for base in (place.parent, place.parent / "intermediate_models") for p in base.glob("*.onnx"))
    for path in models:
        try:
            parent = _load(path)
        except NoBuild:
            continue
        found: dict[str, dict[str, str]] = {}
        for node in parent.node:
            told = {a.name: a.s.decode("utf-8", "replace") for a in node.attribute if a.name == "model"}
            file = re.split(r"[/\\]", told.get("model", ""))[-1]
            if file in graphs:
                inner = [*graphs[file].input[: len(node.input)], *graphs[file].output]
                found[file] = {i.name: o for i, o in zip(inner, [*node.input, *node.output], strict=False)}
        if {*found} == {*graphs}:
            return found
    return {}


def ways(nodes: Sequence[Node]) -> list[Way]:
    """Return every stream into an engine, and those from engines to outside."""
    maker = {tensor: (node, port) for node in nodes for port, tensor in enumerate(node.outputs)}
    read = {tensor for node in nodes for tensor in node.inputs}
    found = []
    for node in nodes:
        if not node.passes:
            found += [_way(tensor, maker, node, port) for port, tensor in enumerate(node.inputs)]
    for node in nodes:
        found += [_way(tensor, maker, None, 0) for tensor in node.outputs if tensor not in read]
    return found


def _way(tensor: str, maker: Mapping[str, tuple[Node, int]], target: Node | None, port: int) -> Way:
    between: list[Node] = []
    while True:
        source, source_port = maker.get(tensor, (None, 0))
        if source is None or not source.passes or source in between:
            return Way(source, source_port, target, port, tuple(reversed(between)))
        between.append(source)
        tensor = source.inputs[0] if source.inputs else ""
